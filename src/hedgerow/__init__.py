"""Decision trees and forests that say how sure they are."""

from importlib.metadata import version

from hedgerow.estimators import TreeClassifier, TreeRegressor
from hedgerow.forest import Forest

__version__ = version("hedgerow")
__all__ = ["Forest", "TreeClassifier", "TreeRegressor", "__version__"]
