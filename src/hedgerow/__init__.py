"""Decision trees and forests that say how sure they are."""

from importlib.metadata import version

from hedgerow.estimators import (
    ForestClassifier,
    ForestRegressor,
    RandomTreesClassifier,
    RuleClassifier,
    TreeClassifier,
    TreeRegressor,
)
from hedgerow.forest import Forest

__version__ = version("hedgerow")
__all__ = [
    "Forest",
    "ForestClassifier",
    "ForestRegressor",
    "RandomTreesClassifier",
    "RuleClassifier",
    "TreeClassifier",
    "TreeRegressor",
    "__version__",
]
