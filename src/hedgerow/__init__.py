"""Decision trees and forests that say how sure they are."""

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from hedgerow._registry import when_unknown

if TYPE_CHECKING:
    from hedgerow.estimators import (
        BoundaryClassifier,
        CautiousClassifier,
        CautiousForestClassifier,
        ConformalClassifier,
        ConformalRegressor,
        ForestClassifier,
        ForestRegressor,
        MeasuredBoostingClassifier,
        MeasuredBoostingRegressor,
        MeasuredForestClassifier,
        MeasuredForestRegressor,
        MeasuredTreeClassifier,
        MeasuredTreeRegressor,
        NaiveBayesTreeClassifier,
        ObliqueForestClassifier,
        ObliqueTreeClassifier,
        ObliqueTreeRegressor,
        RandomTreesClassifier,
        RuleClassifier,
        TreeClassifier,
        TreeRegressor,
    )
    from hedgerow.forest.forest import Forest
    from hedgerow.storage import load, save

    __version__: str

__all__ = [
    "BoundaryClassifier",
    "CautiousClassifier",
    "CautiousForestClassifier",
    "ConformalClassifier",
    "ConformalRegressor",
    "Forest",
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
    "__version__",
    "load",
    "save",
]

# In this order: a file can be loaded only when all estimators are known.
_HOMES = ("hedgerow.estimators", "hedgerow.forest", "hedgerow.storage")

# Not in __all__: `from hedgerow import *` would import them, and with them what only extras install.
_SUBMODULES = frozenset(
    {
        "adapt",
        "boundary",
        "building",
        "checks",
        "codegen",
        "conformal",
        "counterfactual",
        "contributions",
        "credal",
        "data",
        "datasets",
        "distributed",
        "drawing",
        "estimators",
        "exchange",
        "experiments",
        "explain",
        "folds",
        "forest",
        "gpu",
        "growth",
        "information",
        "inspection",
        "measured",
        "metrics",
        "naive_bayes",
        "onnx_export",
        "plots",
        "probability",
        "pruning",
        "report",
        "rules",
        "scoring",
        "storage",
        "walk",
    }
)

# Modules that register what a file may name; estimators last, since importing scikit-learn takes longest.
for _module in (
    *("hedgerow.data.table", "hedgerow.forest.forest", "hedgerow.estimators"),
    "hedgerow.growth.scikit_splitters",
):
    when_unknown(partial(import_module, _module))


def __getattr__(name: str) -> Any:
    """Import names and submodules on first use: ``hedgerow --help`` need not wait for scikit-learn."""
    if name == "__version__":
        found: Any = import_module("importlib.metadata").version("hedgerow")
    elif name in _SUBMODULES:
        found = import_module(f"hedgerow.{name}")
    elif name in __all__:
        homes = [import_module(home) for home in _HOMES]
        found = next(getattr(home, name) for home in homes if hasattr(home, name))
    else:
        raise AttributeError(f"module 'hedgerow' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_SUBMODULES})
