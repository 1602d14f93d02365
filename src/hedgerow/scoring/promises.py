"""Coverage that sets and intervals promise: what is asked for on the command line, or the model's own."""

from __future__ import annotations

from typing import Any

from hedgerow.estimators.contract import offers

__all__ = ["USUAL_COVERAGE", "column_of_groups", "coverage_arguments", "promised_coverage", "promises"]

USUAL_COVERAGE = 0.9


def promised_coverage(model: Any, asked: float | None) -> float:
    """Coverage that was asked for, else that of a model with such a parameter, else 0.9."""
    return float(getattr(model, "coverage", USUAL_COVERAGE) if asked is None else asked)


def coverage_arguments(model: Any, verb: str, asked: float | None) -> dict[str, Any] | None:
    """Arguments of "predict_set" or "predict_interval"; None for a model without it.

    Sets take a coverage where the model has one as a parameter, and none where they come from bounds.
    """
    if not offers(model, verb):
        return None
    takes = verb == "predict_interval" or hasattr(model, "coverage")
    return {"coverage": promised_coverage(model, asked)} if takes else {}


def promises(model: Any) -> bool:
    """Whether the sets or intervals of a model are to have a coverage."""
    return bool(coverage_arguments(model, "predict_set", None) or coverage_arguments(model, "predict_interval", None))


def column_of_groups(model: Any) -> str | None:
    """Return the column whose values a model keeps its coverage for, each apart; None if there is none."""
    groups = getattr(getattr(model, "calibration_", None), "groups", None)
    return model.schema_.names[groups.column] if groups is not None and groups.column >= 0 else None
