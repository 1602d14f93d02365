"""The estimators: scikit-learn's conventions on top of tables, growth and walks."""

from hedgerow.estimators.forests import ForestClassifier, ForestRegressor
from hedgerow.estimators.trees import TreeClassifier, TreeRegressor

__all__ = ["ForestClassifier", "ForestRegressor", "TreeClassifier", "TreeRegressor"]
