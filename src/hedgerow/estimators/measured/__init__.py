"""Estimators for inputs measured with error."""

from hedgerow.estimators.measured.forest_classifier import MeasuredForestClassifier
from hedgerow.estimators.measured.forest_regressor import MeasuredForestRegressor
from hedgerow.estimators.measured.trees import MeasuredTreeClassifier, MeasuredTreeRegressor

__all__ = [
    "MeasuredForestClassifier",
    "MeasuredForestRegressor",
    "MeasuredTreeClassifier",
    "MeasuredTreeRegressor",
]
