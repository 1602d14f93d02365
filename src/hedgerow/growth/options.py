"""Settings of growth: checks, and translation into the options of the core.

The gain of a split is the decrease in impurity of the training rows (Honavar, Decision Trees and Forests, the slides on
information gain, gain ratio, numeric attributes and missing values; Quinlan, C4.5, 1993, for the details).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log2, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._core import Criterion, GrowOptions, Nominal, RandomGrowOptions, Splitter
from hedgerow._criteria import CRITERIA
from hedgerow._params import check_choice, check_number, check_rows, check_whole, is_fraction, is_whole
from hedgerow.growth.linear import LinearModel
from hedgerow.growth.missing import Fractional, Random, core_policy, missing_values
from hedgerow.growth.stopping import stopping

__all__ = ["Growth", "RandomGrowth", "n_tried_features"]

_SQUARED_ERROR = "squared_error"  # the one criterion of regression
MAX_BINS = 255
_LARGEST_LIMIT = 2**31  # no tree has more nodes


@dataclass(frozen=True)
class Growth:
    """Settings of a tree, with scikit-learn's names and meanings where it has them.

    Parameters
    ----------
    criterion : {"gain_ratio", "c45", "entropy", "gini"}
        Quality of a split: gain ratio, the same with all of C4.5's details, gain in bits, or the Gini index.
    nominal : {"multiway", "binary", "subset"}, default="multiway"
        Splits of nominal columns: a branch for every category, one category against the rest, or some against
        the others.
    missing : {"fractional", "category", "learned", "random"} or an instance from :mod:`hedgerow.growth`, \
default="fractional"
        Rows whose value is missing are spread over the branches; or missing is a value of its own; or they go
        to the side with the larger gain; or each goes down one branch at random.
    max_depth : int or None, default=None
        Largest number of splits on a path; None sets no limit.
    min_samples_split : int or float, default=2
        Smallest number of rows in a node that is split; a float is a fraction of all rows. Rows count, not weights; a
        fraction of a row counts as that fraction.
    min_samples_leaf : int or float, default=1
        Smallest number of rows in a leaf; a float is a fraction of all rows. A split is valid if at least two of its
        branches have that many: the branch of a rare category may have fewer.
    min_weight_fraction_leaf : float, default=0.0
        Smallest share of the total weight in a leaf.
    min_impurity_decrease : float, default=0.0
        A node is split only if that lowers the impurity, weighted by the node's share of the rows, by at
        least this.
    max_leaf_nodes : int or None, default=None
        Largest number of leaves, grown best first; None sets no limit.
    max_features : int, float, "sqrt", "log2" or None, default=None
        Columns tried at each split, drawn anew at each: their number, their share, √d or log₂ d; None tries
        all.
    stopping : None, "chi_square" or :class:`~hedgerow.growth.ChiSquare`, default=None
        Split a node only where the classes in its branches differ significantly, at the level 0.05 or that of the
        instance. None: no test.
    class_costs : array of shape (n_classes, n_classes) or None, default=None
        Cost of predicting class j for class i.
    feature_costs : array of shape (n_features,) or None, default=None
        Cost of measuring each column: splits are ranked by gain²/cost.
    splitter : {"best", "random", "mixed"}, default="best"
        Splits that are tried of a column: all of them, one that is drawn, or drawn ones in every second tree.
    linear_model : LinearModel or None, default=None
        Linear model of oblique splits; None has none.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.growth import Growth
    >>> growth = Growth("gini", max_depth=3, min_samples_leaf=0.1)
    >>> growth.options(np.ones(50), n_features=4, criteria=("gini",), seed=0).min_samples_leaf
    5.0
    """

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
    splitter: Any = "best"
    linear_model: LinearModel | None = None

    def options(
        self, sample_weight: NDArray[np.float64], n_features: int, criteria: tuple[str, ...], seed: int
    ) -> GrowOptions:
        """Return the core's options for data of this size; raise for the first invalid setting.

        Parameters
        ----------
        sample_weight : array of shape (n_rows,)
            Weight of each row.
        n_features : int
            Number of columns.
        criteria : tuple of str
            Criteria that are allowed.
        seed : int
            Seed of the draws.

        Returns
        -------
        GrowOptions
            Settings as the core takes them.

        Raises
        ------
        ValueError
            If a setting is out of its range; the message names it.
        """
        n_rows = int((sample_weight > 0).sum())  # rows of weight 0 only contribute candidate thresholds
        return self.options_of_size(n_rows, float(sample_weight.sum()), n_features, criteria, seed)

    def options_of_size(
        self, n_rows: int, total_weight: float, n_features: int, criteria: tuple[str, ...], seed: int
    ) -> GrowOptions:
        """Return the options given the number of rows of positive weight, and the sum of their weights.

        Parameters
        ----------
        n_rows : int
            Number of rows of positive weight.
        total_weight : float
            Sum of the weights.
        n_features : int
            Number of columns.
        criteria : tuple of str
            Criteria that are allowed.
        seed : int
            Seed of the draws.

        Returns
        -------
        GrowOptions
            Settings as the core takes them.

        Raises
        ------
        ValueError
            If a setting is out of its range; the message names it.
        """
        missing = missing_values(self.missing)
        options = GrowOptions()
        self._set_criterion(options, check_choice("criterion", self.criterion, criteria))
        options.nominal = Nominal[check_choice("nominal", self.nominal, ("multiway", "binary", "subset"))]
        options.splitter = Splitter[check_choice("splitter", self.splitter, ("best", "random", "mixed"))]
        options.missing = core_policy(missing)
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
        options.min_weight_leaf = min_weight_fraction * total_weight
        options.min_impurity_decrease = check_number("min_impurity_decrease", self.min_impurity_decrease, closed="both")
        options.max_features = n_tried_features(self.max_features, n_features)
        options.linear_model = self.linear_model
        options.seed = seed
        return options

    def _set_criterion(self, options: GrowOptions, criterion: str) -> None:
        """Set the criterion, the costs that modify it, and the significance that a split must reach."""
        if criterion == _SQUARED_ERROR:
            options.criterion = Criterion[criterion]
        else:
            options.c45 = CRITERIA[criterion].c45
            options.criterion = CRITERIA[criterion].core
        if self.class_costs is not None and criterion == "gini":
            options.criterion = Criterion["cost_gini"]
            options.class_costs = self.class_costs.ravel().tolist()
        if self.feature_costs is not None:
            # Only ratios matter. The cheapest column costs 1, so that gains keep the scale of the tie tolerance.
            options.feature_costs = (self.feature_costs / self.feature_costs.min()).tolist()
        if self.stopping is not None:
            options.significance = stopping(self.stopping).level

    def uses_bins(self, n_categories: NDArray[np.int32], max_bins: Any) -> bool:
        """Whether trees can be grown from binned columns; raise if `max_bins` is invalid.

        A column can have no more categories there than there are bins; oblique splits need exact thresholds.

        Parameters
        ----------
        n_categories : array of shape (n_features,)
            Number of categories of each column; 0 for numbers.
        max_bins : int or None
            Largest number of bins of a column; None is exact.

        Returns
        -------
        bool
            Whether they can.

        Raises
        ------
        ValueError
            If `max_bins` is not valid.
        """
        if max_bins is None:
            return False
        check_whole("max_bins", max_bins, 2, MAX_BINS, hint=", or None for exact thresholds")
        return (
            self.linear_model is None
            and isinstance(missing_values(self.missing), Random)
            and (self.criterion == _SQUARED_ERROR or CRITERIA[self.criterion].binned)
            and bool((n_categories <= MAX_BINS).all())
        )


@dataclass(frozen=True)
class RandomGrowth:
    """Settings of random decision trees: splits are drawn, and leaves have at least `min_samples_leaf` rows.

    Only the branches of a nominal split may have fewer.

    Parameters
    ----------
    min_samples_leaf : int or float, default=1
        Smallest number of rows in a leaf; a float is a fraction of all rows. A split is valid if at least two of its
        branches have that many: the branch of a rare category may have fewer.
    max_depth : int or None, default=None
        Largest number of splits on a path; None sets no limit.

    Examples
    --------
    >>> from hedgerow.growth import RandomGrowth
    >>> RandomGrowth(min_samples_leaf=2).options(n_rows=50, n_trees=10, seed=0).n_trees
    10
    """

    min_samples_leaf: Any = 1
    max_depth: Any = None

    def options(self, n_rows: int, n_trees: int, seed: int) -> RandomGrowOptions:
        """Return the core's options for this number of rows; raise for the first invalid setting.

        Parameters
        ----------
        n_rows : int
            Number of rows.
        n_trees : int
            Number of trees.
        seed : int
            Seed of the draws.

        Returns
        -------
        RandomGrowOptions
            Settings as the core takes them.

        Raises
        ------
        ValueError
            If a setting is out of its range; the message names it.
        """
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
    """Return the number of features to try: `max_features` as in scikit-learn."""
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
