"""The answer in one sentence, and warnings for readers who rely on it."""

from __future__ import annotations

from typing import Any

from hedgerow.report.numbers import to_label
from hedgerow.scoring.evaluation import Evaluation

__all__ = ["make_headline"]

_FEW_ROWS = 100


def make_headline(figures: dict[str, Any], evaluation: Evaluation | None) -> dict[str, Any]:
    """Return the sentence, the figures beside it, and cautions; `evaluation` is that of the deciding model."""
    if evaluation is None:
        return {"sentence": _of_model(figures), "verdict": None, "cautions": []}
    classes = figures["task"] == "classification"
    sentence = _of_classes(figures, evaluation) if classes else _of_numbers(figures, evaluation)
    return {"sentence": sentence, "verdict": _verdict(evaluation), "cautions": _cautions(figures, evaluation)}


def _of_model(figures: dict[str, Any]) -> str:
    kind = figures["deciding"]
    return f"A model ({kind}) of {figures['n_columns']} columns that predicts {figures['target']}."


def _of_classes(figures: dict[str, Any], evaluation: Evaluation) -> str:
    answers, named = figures["answers"], figures["deciding"]
    guess = _guess(figures, "accuracy")
    guessed = to_label(evaluation.guessed)
    baseline = f"always answering “{guessed}” would be right for {_percent(guess)}"
    if not answers["has_sets"]:
        right = _percent(answers["accuracy"]["value"])
        return f"The {named} predicts {figures['target']} correctly for {right} of rows; {baseline}."
    decided = answers["decided"]["value"]
    if decided == 0:
        return f"The {named} would not decide {figures['target']} for any row; {baseline}."
    right = _percent(answers["accuracy_where_decided"]["value"])
    if decided == 1:
        return f"The {named} decides {figures['target']} for all rows and is right for {right}; {baseline}."
    return (
        f"The {named} decides {figures['target']} for {_percent(decided)} of rows, is right for {right} of those, and "
        f"leaves {_percent(1 - decided)} open; {baseline} of all rows."
    )


def _of_numbers(figures: dict[str, Any], evaluation: Evaluation) -> str:
    answers = figures["answers"]
    own, guess = answers["mean_absolute_error"], _guess(figures, "mae")
    said = f"The {figures['deciding']} predicts {figures['target']} with a mean error of {_number(own)}"
    said += f"; always answering the mean would be off by {_number(guess)}"
    if answers["has_intervals"]:
        promised, held = f"{100 * answers['promised']:g} %", _percent(answers["coverage"]["value"])
        said += f"; its {promised} intervals hold the truth for {held} of rows"
    return said + "."


def _guess(figures: dict[str, Any], metric: str) -> float:
    own = next(model for model in figures["models"] if model["name"] == figures["deciding"])
    return float(own["scores"][metric]["baseline"])


def _verdict(evaluation: Evaluation) -> str:
    """Whether the model is better or worse than guessing, beyond noise."""
    if evaluation.worse and not evaluation.better:
        return "worse"
    return "better" if evaluation.better else "unclear"


def _cautions(figures: dict[str, Any], evaluation: Evaluation) -> list[str]:
    found = []
    if not evaluation.better:
        found.append("The model is no better than guessing, as far as these rows can tell.")
    if evaluation.n_rows < _FEW_ROWS:
        found.append(f"Only {evaluation.n_rows} rows: all figures are uncertain; see their intervals.")
    leaks = [column["name"] for column in figures["columns"] if _warned(column, "leak")]
    if leaks:
        names = ", ".join(leaks[:3]) + (f" and {len(leaks) - 3} more" if len(leaks) > 3 else "")
        said, known = (
            ("Column {} alone predicts", "it is") if len(leaks) == 1 else ("Columns {} each alone predict", "they are")
        )
        found.append(f"{said.format(names)} the target: make sure that {known} known before the target is.")
    if figures["evaluated"] == "given rows":
        found.append("The model answered the rows as it is: if it was fitted to some of them, figures are too good.")
    return found


def _warned(column: dict[str, Any], kind: str) -> bool:
    return any(warning["kind"] == kind for warning in column["warnings"])


def _percent(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{100 * value:.1f} %" if 0.0005 < value < 0.9995 or value in (0, 1) else f"{100 * value:.2f} %"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
