"""Conformal prediction: scores, thresholds with a promised coverage, groups, and Venn–Abers probabilities.

:class:`hedgerow.ConformalClassifier` and :class:`hedgerow.ConformalRegressor` do it with the held-out answers that
forests have; here are the scores that they can be given, and the functions behind them.

>>> needed_rows(0.95)
19
"""

from hedgerow.conformal.class_scores import Aps, ClassScore, CredalBounds, Lac, Raps, class_score
from hedgerow.conformal.levels import needed_rows
from hedgerow.conformal.number_scores import AbsoluteError, Cqr, NormalizedError, NumberScore, number_score
from hedgerow.conformal.venn_abers import VennAbers

__all__ = [
    "AbsoluteError",
    "Aps",
    "ClassScore",
    "Cqr",
    "CredalBounds",
    "Lac",
    "NormalizedError",
    "NumberScore",
    "Raps",
    "VennAbers",
    "class_score",
    "needed_rows",
    "number_score",
]
