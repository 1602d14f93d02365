"""Reasons for doubt about an answer, with their shares: one file a reason.

A row's doubt falls, level by level, as more becomes known (:class:`Levels`). Each reason is the step between two of
them, and its share that step's part of all; ``docs/reasons.md`` has the formulas.
"""

import numpy as np

from hedgerow._arrays import Floats
from hedgerow.explain.reasons.conflict import Conflict
from hedgerow.explain.reasons.few_cases import FewCases
from hedgerow.explain.reasons.levels import Levels
from hedgerow.explain.reasons.measurement_error import MeasurementError
from hedgerow.explain.reasons.missing_input import MissingInput
from hedgerow.explain.reasons.mixed_leaves import MixedLeaves
from hedgerow.explain.reasons.near_boundary import NearBoundary
from hedgerow.explain.reasons.reason import Reason
from hedgerow.explain.reasons.record import ReasonForDoubt, Reasons
from hedgerow.explain.reasons.sets import SetSizes
from hedgerow.explain.reasons.unlike_training import UnlikeTraining

__all__ = ["REASONS", "Levels", "Reason", "ReasonForDoubt", "Reasons", "SetSizes", "divide"]

REASONS: tuple[Reason, ...] = (
    *(UnlikeTraining(), NearBoundary(), Conflict(), MeasurementError(), MissingInput(), FewCases(), MixedLeaves()),
)
"""All reasons, in the order of their levels."""


def divide(levels: Levels, doubt: Floats, measure: str) -> Reasons:
    """Divide the doubt about each row, (n,), among the reasons in proportion to their steps.

    Doubt without any step is that of few cases: held-out rows, or a rule, trust the leaves less than their counts say.
    """
    parts = {one.name: one.part(levels) for one in REASONS}
    none = ~np.stack(list(parts.values())).any(axis=0)
    parts[FewCases.name] = np.where(none, np.maximum(doubt, 0.0), parts[FewCases.name])
    return Reasons.of_parts(parts, doubt, measure)
