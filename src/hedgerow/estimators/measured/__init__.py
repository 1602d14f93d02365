"""Estimators for inputs measured with error."""

from hedgerow.estimators.measured.boosting_classifier import MeasuredBoostingClassifier
from hedgerow.estimators.measured.boosting_regressor import MeasuredBoostingRegressor
from hedgerow.estimators.measured.forest_classifier import MeasuredForestClassifier
from hedgerow.estimators.measured.forest_regressor import MeasuredForestRegressor
from hedgerow.estimators.measured.trees import MeasuredTreeClassifier, MeasuredTreeRegressor

__all__ = [
    "MeasuredBoostingClassifier",
    "MeasuredBoostingRegressor",
    "MeasuredForestClassifier",
    "MeasuredForestRegressor",
    "MeasuredTreeClassifier",
    "MeasuredTreeRegressor",
]
