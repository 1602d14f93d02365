"""Walks of rows down trees: the leaf reached (:func:`route`), all leaves with weights (:func:`spread`), leaf tables
folded over trees (:func:`fold`), and class counts per leaf (:func:`tally`).

A combination rule is a :class:`LeafTable` and a finish, so every rule costs one walk; :func:`ask` answers several in
the same walk.
"""

from hedgerow.walk.ask import Query, ask
from hedgerow.walk.engines import ForestWalk, HardWalk, SoftWalk, Walk, weighted_sums
from hedgerow.walk.leaf_table import LeafTable, Link, Op
from hedgerow.walk.points import MOST_POINTS, PointNodes, PointWalk, latin_strata
from hedgerow.walk.soft import SoftForestWalk, SoftNodes
from hedgerow.walk.table_cache import TableCache
from hedgerow.walk.walks import check_n_jobs, check_rows, fold, gather, n_threads, route, spread, tally

__all__ = [
    "MOST_POINTS",
    "ForestWalk",
    "HardWalk",
    "LeafTable",
    "Link",
    "Op",
    "PointNodes",
    "PointWalk",
    "Query",
    "SoftForestWalk",
    "SoftNodes",
    "SoftWalk",
    "TableCache",
    "Walk",
    "ask",
    "check_n_jobs",
    "check_rows",
    "fold",
    "gather",
    "latin_strata",
    "n_threads",
    "route",
    "spread",
    "tally",
    "weighted_sums",
]
