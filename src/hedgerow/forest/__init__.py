"""The one finished tree structure, its invariants, and how to build it by hand."""

from hedgerow.forest.build import build_forest, leaf, multiway, oblique, one_against_rest, subset, threshold, value
from hedgerow.forest.check import InvalidForestError
from hedgerow.forest.counts import DistinctCounts
from hedgerow.forest.forest import Forest
from hedgerow.forest.kinds import MissingPolicy, NodeKind

__all__ = [
    "DistinctCounts",
    "Forest",
    "InvalidForestError",
    "MissingPolicy",
    "NodeKind",
    "build_forest",
    "leaf",
    "multiway",
    "oblique",
    "one_against_rest",
    "subset",
    "threshold",
    "value",
]
