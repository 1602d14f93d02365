"""Decision trees and forests that say how sure they are."""

from importlib.metadata import version

from hedgerow.estimators import (
    CautiousClassifier,
    CautiousForestClassifier,
    ForestClassifier,
    ForestRegressor,
    MeasuredTreeClassifier,
    MeasuredTreeRegressor,
    NaiveBayesTreeClassifier,
    RandomTreesClassifier,
    RuleClassifier,
    TreeClassifier,
    TreeRegressor,
)
from hedgerow.forest import Forest
from hedgerow.storage import load, save

__version__ = version("hedgerow")
__all__ = [
    "CautiousClassifier",
    "CautiousForestClassifier",
    "Forest",
    "ForestClassifier",
    "ForestRegressor",
    "MeasuredTreeClassifier",
    "MeasuredTreeRegressor",
    "NaiveBayesTreeClassifier",
    "RandomTreesClassifier",
    "RuleClassifier",
    "TreeClassifier",
    "TreeRegressor",
    "__version__",
    "load",
    "save",
]
