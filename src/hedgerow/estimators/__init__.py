"""The estimators: scikit-learn's conventions on top of tables, growth, walks and rules."""

from hedgerow.estimators.boundary import BoundaryClassifier
from hedgerow.estimators.cautious import CautiousClassifier, CautiousForestClassifier
from hedgerow.estimators.conformal_classifier import ConformalClassifier
from hedgerow.estimators.conformal_regressor import ConformalRegressor
from hedgerow.estimators.forest_classifier import ForestClassifier
from hedgerow.estimators.forest_regressor import ForestRegressor
from hedgerow.estimators.measured import (
    MeasuredBoostingClassifier,
    MeasuredBoostingRegressor,
    MeasuredForestClassifier,
    MeasuredForestRegressor,
    MeasuredTreeClassifier,
    MeasuredTreeRegressor,
)
from hedgerow.estimators.naive_bayes_tree import NaiveBayesTreeClassifier
from hedgerow.estimators.oblique import ObliqueForestClassifier, ObliqueTreeClassifier, ObliqueTreeRegressor
from hedgerow.estimators.random_trees import RandomTreesClassifier
from hedgerow.estimators.rule_classifier import RuleClassifier
from hedgerow.estimators.trees import TreeClassifier, TreeRegressor

__all__ = [
    "BoundaryClassifier",
    "CautiousClassifier",
    "CautiousForestClassifier",
    "ConformalClassifier",
    "ConformalRegressor",
    "ForestClassifier",
    "ForestRegressor",
    "MeasuredBoostingClassifier",
    "MeasuredBoostingRegressor",
    "MeasuredForestClassifier",
    "MeasuredForestRegressor",
    "MeasuredTreeClassifier",
    "MeasuredTreeRegressor",
    "NaiveBayesTreeClassifier",
    "ObliqueForestClassifier",
    "ObliqueTreeClassifier",
    "ObliqueTreeRegressor",
    "RandomTreesClassifier",
    "RuleClassifier",
    "TreeClassifier",
    "TreeRegressor",
]
