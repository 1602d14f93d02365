"""Decision trees and forests that say how sure they are."""

from importlib.metadata import version

from hedgerow.estimators import (
    BoundaryClassifier,
    CautiousClassifier,
    CautiousForestClassifier,
    ForestClassifier,
    ForestRegressor,
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
    "BoundaryClassifier",
    "CautiousClassifier",
    "CautiousForestClassifier",
    "Forest",
    "ForestClassifier",
    "ForestRegressor",
    "NaiveBayesTreeClassifier",
    "RandomTreesClassifier",
    "RuleClassifier",
    "TreeClassifier",
    "TreeRegressor",
    "__version__",
    "load",
    "save",
]
