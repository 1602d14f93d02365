"""Metrics of sets, probabilities and intervals, and the cost of predictions.

Every metric of sets takes ``(y_true, sets, *, classes, sample_weight=None)``: labels (n,), bool (n, n_classes) without
an empty row (coverage may have some), as `predict_set` returns, and the labels of the columns. The scorers work with
``cross_validate`` and ``GridSearchCV``.

>>> import numpy as np
>>> sets = np.array([[True, False], [True, True], [False, True]])
>>> round(u65_score(["no", "yes", "no"], sets, classes=["no", "yes"]), 3)  # (1 + 0.65 + 0)/3
0.55
"""

from hedgerow.metrics.costs import check_cost_matrix, total_cost
from hedgerow.metrics.intervals import (
    interval_coverage,
    interval_score,
    mean_interval_width,
    width_stratified_coverage,
)
from hedgerow.metrics.probabilities import expected_calibration_error
from hedgerow.metrics.scorers import (
    SetScorer,
    determinacy_scorer,
    make_set_scorer,
    neg_mean_set_size_scorer,
    set_accuracy_scorer,
    single_accuracy_scorer,
    u65_scorer,
    u80_scorer,
)
from hedgerow.metrics.sets import (
    determinacy,
    mean_set_size,
    set_accuracy,
    set_coverage,
    single_accuracy,
    size_stratified_coverage,
    u65_score,
    u80_score,
)

__all__ = [
    "SetScorer",
    "check_cost_matrix",
    "determinacy",
    "determinacy_scorer",
    "expected_calibration_error",
    "interval_coverage",
    "interval_score",
    "make_set_scorer",
    "mean_interval_width",
    "mean_set_size",
    "neg_mean_set_size_scorer",
    "set_accuracy",
    "set_accuracy_scorer",
    "set_coverage",
    "single_accuracy",
    "single_accuracy_scorer",
    "size_stratified_coverage",
    "total_cost",
    "u65_score",
    "u65_scorer",
    "u80_score",
    "u80_scorer",
    "width_stratified_coverage",
]
