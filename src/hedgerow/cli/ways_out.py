"""``hedgerow explain --change`` and ``--ask-next``: ways out of doubt, as lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hedgerow.cli.errors import CommandError
from hedgerow.estimators.contract import offers

if TYPE_CHECKING:
    from hedgerow.cli.fitted import Loaded

__all__ = ["change_lines", "question_lines"]


def change_lines(loaded: Loaded, row: Any, fixed: list[str], reach: str | None) -> list[str]:
    """A line for the nearest change of a row to each other answer, or to the one that is to be reached."""
    model = loaded.model
    if not offers(model, "counterfactual"):
        raise CommandError(f"{type(model).__name__} has no nearest changes: --change needs a model of plain trees")
    X = row.select([column.name for column in loaded.columns])
    (found,) = model.counterfactual(X, _target(model, reach), immutable=fixed)
    return [f"Nearest change to {one}." for one in found] or ["No allowed change leads to another answer."]


def question_lines(loaded: Loaded, row: Any) -> list[str]:
    """Lines that rank the missing columns of a row."""
    if not offers(loaded.model, "next_question"):
        raise CommandError(f"{type(loaded.model).__name__} has no next question: --ask-next needs plain trees")
    (found,) = loaded.model.next_question(row.select([column.name for column in loaded.columns]))
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
