"""Decision trees and forests that say how sure they are."""

from importlib.metadata import version

from hedgerow.estimators import (
    ForestClassifier,
    ForestRegressor,
    RandomTreesClassifier,
    TreeClassifier,
    TreeRegressor,
)
from hedgerow.forest import Forest
from hedgerow.storage import load, save

__version__ = version("hedgerow")
__all__ = [
    "Forest",
    "ForestClassifier",
    "ForestRegressor",
    "RandomTreesClassifier",
    "TreeClassifier",
    "TreeRegressor",
    "__version__",
    "load",
    "save",
]
