"""The estimators: scikit-learn's conventions on top of tables, growth and walks."""

from hedgerow.estimators.trees import TreeClassifier, TreeRegressor

__all__ = ["TreeClassifier", "TreeRegressor"]
