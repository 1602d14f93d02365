"""Decision trees and forests that say how sure they are."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hedgerow.estimators import (
        BoundaryClassifier,
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

    __version__: str

__all__ = [
    "BoundaryClassifier",
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

# In this order: a file can be loaded only when all estimators are known.
_HOMES = ("hedgerow.estimators", "hedgerow.forest", "hedgerow.storage")


def __getattr__(name: str) -> Any:
    """Names are imported when they are asked for: ``hedgerow --help`` need not wait for scikit-learn."""
    if name == "__version__":
        found: Any = import_module("importlib.metadata").version("hedgerow")
    elif name in __all__:
        homes = [import_module(home) for home in _HOMES]
        found = next(getattr(home, name) for home in homes if hasattr(home, name))
    else:
        raise AttributeError(f"module 'hedgerow' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
