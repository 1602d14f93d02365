"""``hedgerow explain --change`` and ``--ask-next``: ways out of doubt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hedgerow.cli.errors import CommandError
from hedgerow.estimators.contract import offers

if TYPE_CHECKING:
    from hedgerow.cli.fitted import Loaded
    from hedgerow.counterfactual import Counterfactual
    from hedgerow.explain.questions import NextQuestion

__all__ = ["change_lines", "find_changes", "find_question", "question_lines"]


def find_changes(loaded: Loaded, X: Any, fixed: list[str], reach: str | None) -> list[Counterfactual]:
    """Find the nearest change of a row to each other answer, or to the one that is to be reached."""
    model = loaded.model
    if not offers(model, "counterfactual"):
        raise CommandError(f"{type(model).__name__} has no nearest changes: --change needs a model of plain trees")
    found: list[Counterfactual] = model.counterfactual(X, _target(model, reach), immutable=fixed)[0]
    return found


def change_lines(found: list[Counterfactual]) -> list[str]:
    """A line for each change."""
    return [f"Nearest change to {one}." for one in found] or ["No allowed change leads to another answer."]


def find_question(loaded: Loaded, X: Any) -> NextQuestion:
    """Rank the missing columns of a row."""
    if not offers(loaded.model, "next_question"):
        raise CommandError(f"{type(loaded.model).__name__} has no next question: --ask-next needs plain trees")
    found: NextQuestion = loaded.model.next_question(X)[0]
    return found


def question_lines(found: NextQuestion) -> list[str]:
    """Lines that rank columns."""
    lines = str(found).split("\n")
    return ["What to measure next:", *lines] if found.ranked else lines


def _target(model: Any, reach: str | None) -> Any:
    if hasattr(model, "classes_"):
        by_text = {str(label): label for label in model.classes_.tolist()}
        return by_text.get(reach, reach) if reach is not None else None
    try:
        low, _, high = (reach or "").partition(":")
        return (float(low) if low else None, float(high) if high else None)
    except ValueError:
        raise CommandError(f"--reach is {reach!r}, must be LOW:HIGH, such as 10:20 or :20") from None
