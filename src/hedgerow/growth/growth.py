"""Settings of growth, checked, and the one call into the core that grows a tree.

A question's worth is how much it lowers the impurity of the training rows (Honavar, Decision Trees and Forests, the
slides on information gain, gain ratio, numeric attributes and missing values; Quinlan, C4.5, 1993, for the details).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import log2, sqrt
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow._core import Criterion, GrowOptions, Nominal, RandomGrowOptions, TrainMissing, grow, grow_random
from hedgerow._criteria import CRITERIA
from hedgerow._params import check_choice, check_number, check_rows, check_whole, choose, is_fraction, is_whole
from hedgerow._registry import register
from hedgerow.data.training import Training
from hedgerow.forest.counts import DistinctCounts
from hedgerow.forest.forest import Forest

__all__ = [
    *("Category", "ChiSquare", "Fractional", "Grown", "Growth", "Learned", "Random", "RandomGrowth"),
    *("grow_forest", "grow_random_forest"),
]

Floats: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.int32]


@dataclass(frozen=True)
class Fractional:
    """A row whose value is missing goes down every branch, in proportion to the rows with a value (C4.5).

    A question's gain counts only the rows that can answer it. A part of a row below `min_fraction` is not divided
    further: it follows the heaviest branch.
    """

    min_fraction: float = 1 / 64


@dataclass(frozen=True)
class Category:
    """Missing is a value of its own: it gets a branch, or counts among the rest, also in numeric columns."""


@dataclass(frozen=True)
class Learned:
    """Rows whose value is missing go to the side that gains more; in a multiway split to a branch of their own.

    Where no training row was missing at a node, a missing value is spread over its branches when predicting.
    """


@dataclass(frozen=True)
class Random:
    """A row whose value is missing goes down one branch, drawn in proportion to the rows with a value.

    In expectation the same as :class:`Fractional`, at the cost of a row without missing values: what forests do.
    """


@dataclass(frozen=True)
class ChiSquare:
    """A question is asked only if its branches differ in their classes by more than chance would explain.

    Pearson's test of the table of branches and classes, weighted counts as they are, with (branches − 1)·(classes − 1)
    degrees of freedom (Honavar, Decision Trees and Forests, the slides on early stopping): a node whose best question
    has a p-value above `level` is a leaf.
    """

    level: float = 0.05

    def __post_init__(self) -> None:
        check_number("ChiSquare: level", self.level, 0, 1, hint=", such as 0.05")


for _strategy in (Fractional, Category, Learned, Random, ChiSquare):
    register(_strategy, name=f"hedgerow.growth.{_strategy.__name__}")
_MISSING: dict[str, Fractional | Category | Learned | Random] = {
    "fractional": Fractional(),
    "category": Category(),
    "learned": Learned(),
    "random": Random(),
}
_STOPPING = {"chi_square": ChiSquare()}
_CORE_MISSING = {
    Fractional: TrainMissing.fractional,
    Category: TrainMissing.category,
    Learned: TrainMissing.learned,
    Random: TrainMissing.random,
}
_SQUARED_ERROR = "squared_error"  # the one criterion of regression
MAX_BINS = 255
_LARGEST_LIMIT = 2**31  # no tree has more nodes


@dataclass(frozen=True)
class Growth:
    """How a tree is grown, with scikit-learn's names and meanings where it has them."""

    criterion: Any
    nominal: Any = "multiway"
    missing: Any = "fractional"
    max_depth: Any = None
    min_samples_split: Any = 2
    min_samples_leaf: Any = 1
    min_weight_fraction_leaf: Any = 0.0
    min_impurity_decrease: Any = 0.0
    max_leaf_nodes: Any = None
    max_features: Any = None
    stopping: Any = None
    class_costs: NDArray[np.float64] | None = None
    feature_costs: NDArray[np.float64] | None = None

    def options(
        self, sample_weight: NDArray[np.float64], n_features: int, criteria: tuple[str, ...], seed: int
    ) -> GrowOptions:
        """What the core wants, for data of this size; a clear error for the first setting that makes no sense."""
        n_rows = int((sample_weight > 0).sum())  # those of weight 0 are only looked at for their values
        missing = choose("missing", self.missing, _MISSING, tuple(_CORE_MISSING))
        options = GrowOptions()
        self._set_worth(options, check_choice("criterion", self.criterion, criteria))
        options.nominal = Nominal[check_choice("nominal", self.nominal, ("multiway", "binary", "subset"))]
        options.missing = _CORE_MISSING[type(missing)]
        if isinstance(missing, Fractional):
            options.min_fraction = check_number("min_fraction", missing.min_fraction, 0, 1, closed="both")
        if self.max_depth is not None:
            options.max_depth = _limit("max_depth", self.max_depth, 1)
        if self.max_leaf_nodes is not None:
            options.max_leaf_nodes = _limit("max_leaf_nodes", self.max_leaf_nodes, 2)
        options.min_samples_split = _rows("min_samples_split", self.min_samples_split, 2, n_rows)
        options.min_samples_leaf = _rows("min_samples_leaf", self.min_samples_leaf, 1, n_rows)
        min_weight_fraction = check_number(
            "min_weight_fraction_leaf", self.min_weight_fraction_leaf, 0, 0.5, closed="both"
        )
        options.min_weight_leaf = min_weight_fraction * float(sample_weight.sum())
        options.min_impurity_decrease = check_number("min_impurity_decrease", self.min_impurity_decrease, closed="both")
        options.max_features = n_tried_features(self.max_features, n_features)
        options.seed = seed
        return options

    def _set_worth(self, options: GrowOptions, criterion: str) -> None:
        """Set the criterion of splits, and when a split is good enough."""
        if criterion == _SQUARED_ERROR:
            options.criterion = Criterion[criterion]
        else:
            options.c45 = CRITERIA[criterion].c45
            options.criterion = CRITERIA[criterion].core
        if self.class_costs is not None and criterion == "gini":
            options.criterion = Criterion["cost_gini"]
            options.class_costs = self.class_costs.ravel().tolist()
        if self.feature_costs is not None:
            # Only ratios matter; the cheapest costs 1, which keeps values on the scale that ties are judged on.
            options.feature_costs = (self.feature_costs / self.feature_costs.min()).tolist()
        if self.stopping is not None:
            options.significance = choose("stopping", self.stopping, _STOPPING, (ChiSquare,)).level

    def takes_fast_way(self, n_categories: NDArray[np.int32], max_bins: Any) -> bool:
        """Whether trees can be grown from binned columns; a clear error if `max_bins` makes no sense.

        Columns with categories need two-way splits there, and no more categories than there are bins.
        """
        if max_bins is None:
            return False
        check_whole("max_bins", max_bins, 2, MAX_BINS, hint=", or None for exact thresholds")
        return (
            isinstance(choose("missing", self.missing, _MISSING, tuple(_CORE_MISSING)), Random)
            and (self.criterion == _SQUARED_ERROR or CRITERIA[self.criterion].binned)
            and (self.nominal != "multiway" or not n_categories.any())
            and bool((n_categories <= MAX_BINS).all())
        )


@dataclass(frozen=True)
class RandomGrowth:
    """How random decision trees are grown: leaves of at least `min_samples_leaf` rows, questions drawn.

    Only a branch of a question about categories may hold fewer rows.
    """

    min_samples_leaf: Any = 1
    max_depth: Any = None

    def options(self, n_rows: int, n_trees: int, seed: int) -> RandomGrowOptions:
        """What the core wants, for this many rows; a clear error for the first setting that makes no sense."""
        options = RandomGrowOptions()
        options.min_samples_leaf = _rows("min_samples_leaf", self.min_samples_leaf, 1, n_rows)
        if self.max_depth is not None:
            options.max_depth = _limit("max_depth", self.max_depth, 1)
        options.n_trees = n_trees
        options.seed = seed
        return options


def _limit(name: str, given: Any, least: int) -> int:
    return min(check_whole(name, given, least, hint=", or None for no limit"), _LARGEST_LIMIT)


def _rows(name: str, given: Any, least: int, n_rows: int) -> int:
    return min(check_rows(name, given, least, n_rows), _LARGEST_LIMIT)


def n_tried_features(given: Any, n_features: int) -> int:
    """scikit-learn's `max_features`: a number, a fraction, "sqrt", "log2", or None for all."""
    if given is None:
        return n_features
    if isinstance(given, str) and given in ("sqrt", "log2"):
        return max(1, int(sqrt(n_features) if given == "sqrt" else log2(n_features)))
    if is_whole(given) and 1 <= given <= n_features:
        return int(given)
    if is_fraction(given):
        return max(1, int(given * n_features))
    raise ValueError(
        f"max_features is {given!r}, must be a whole number in 1 .. {n_features} (the columns of X), a fraction "
        'in (0, 1], "sqrt", "log2", or None for all'
    )


@dataclass(frozen=True)
class Grown:
    """A forest and, if they were kept, the rows of trees and of leaves."""

    forest: Forest
    in_bag: NDArray[np.uint8]
    """Bit mask of the rows in each tree's bag, (n_trees, ceil(n_rows / 8))."""
    leaf_rows_start: NDArray[np.int64]
    leaf_rows: NDArray[np.int32]
    leaf_row_weights: NDArray[np.float64]
    """Training rows of leaf i, and their weights there: leaf_rows_start[i] .. leaf_rows_start[i + 1]."""

    @property
    def leaf_samples(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        """Starts, rows and weights of the leaves."""
        return self.leaf_rows_start, self.leaf_rows, self.leaf_row_weights


def grow_forest(training: Training, options: GrowOptions, progress: Callable[[int], object] | None = None) -> Grown:
    """Grow `options.n_trees` trees; `progress` is told now and then how many are finished."""
    grown = grow(*training.arrays, options, progress)
    return _finished(grown, training, options.n_trees)


def grow_random_forest(
    training: Training, options: RandomGrowOptions, progress: Callable[[int], object] | None = None
) -> Grown:
    """Grow `options.n_trees` random decision trees; `progress` is told now and then how many are finished.

    Leaves count the rows without a missing value: the others are added by :func:`hedgerow.walk.tally`, in parts.
    """
    if training.labels is None:
        raise ValueError("random decision trees need labels")
    if not (training.sample_weight > 0).all():
        raise ValueError("random decision trees need positive weights: leave rows of weight 0 out")
    grown = grow_random(
        training.values,
        training.n_categories,
        training.sample_weight,
        training.labels,
        training.n_classes,
        options,
        progress,
    )
    return _finished(grown, training, options.n_trees)


def _finished(grown: dict[str, Any], training: Training, n_trees: int) -> Grown:
    """What the core has grown, as read-only arrays."""
    arrays: dict[str, Any] = grown["forest"]
    leaf_values, count_of = arrays.pop("leaf_values"), grown["count_of"]
    if training.targets is not None:
        leaves: dict[str, Any] = {"leaf_stats": leaf_values.reshape(-1, 3)}
    elif count_of is None:
        leaves = {"leaf_counts": leaf_values.reshape(-1, training.n_classes)}
    else:
        counts = grown["distinct_counts"].reshape(-1, training.n_classes)
        leaves = {"distinct_counts": DistinctCounts(counts, count_of)}
    forest = Forest.trusted(n_features=training.values.shape[1], **arrays, **leaves)
    kept = [grown[name] for name in ("in_bag", "leaf_rows_start", "leaf_rows", "leaf_row_weights")]
    for array in kept:
        array.flags.writeable = False
    in_bag, *leaf_rows = kept
    return Grown(forest, in_bag.reshape(n_trees, -1), *leaf_rows)
