"""Random forests for regression, with quantiles and intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.data.table import Table, read_table
from hedgerow.data.targets import read_targets, read_weights
from hedgerow.estimators.fitting.bagging import (
    OutOfBag,
    draw_scheme,
    oob_metric,
)
from hedgerow.estimators.fitting.bags import UnseenRows
from hedgerow.estimators.fitting.costs import feature_costs
from hedgerow.estimators.fitting.node_sizes import NodeSizes, best_size
from hedgerow.estimators.fitting.progress import with_callbacks
from hedgerow.estimators.stored import storable
from hedgerow.estimators.verbs.answers import NumberAnswers
from hedgerow.estimators.verbs.bagged_trees import BaggedTrees
from hedgerow.folds import Mean
from hedgerow.growth import Growth
from hedgerow.walk.quantiles import LeafSamples, central_interval, predict_quantiles

__all__ = ["ForestRegressor"]

Floats = NDArray[np.float64]

# For min_samples_split="auto". Leaves of single rows have no variance: two would leave nothing to say about noise.
_NODE_SIZES = (4, 8, 16, 32)


@storable
class ForestRegressor(NumberAnswers, BaggedTrees):
    """A random forest for regression, with quantiles and intervals from the training targets in its leaves.

    Trees are grown by least squares from rows drawn with replacement, with 70 % of the columns tried at each split;
    every second one draws its thresholds. Small nodes are made leaves as the rows out of each tree's bag ask for
    (docs/forests.md has the measurements behind the defaults).

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    nominal : {"multiway", "binary", "subset"}, default="binary"
        A branch for every category, one category against the rest, or some against the others.
    missing : {"random", "fractional", "category", "learned"} or an instance from :mod:`hedgerow.growth`, \
default="random"
        By default a row whose value is missing goes down one branch in `fit`, drawn with the weights of the
        branches, and is spread over all of them when predicting; or it is spread in `fit` too, or missing is a
        value of its own, or it goes to the side with the larger gain.
    max_depth : int or None, default=None
        Largest number of splits on a path; None sets no limit.
    min_samples_split : int, float or "auto", default="auto"
        Smallest number of rows in a node that is split; a float is a fraction of all rows. "auto" is the one of 4, 8,
        16 and 32 draws whose out-of-bag squared error is smallest (`min_samples_split_`), or 4 with
        ``bootstrap=False``.
    min_samples_leaf : int or float, default=1
        Smallest number of rows in a leaf; a float is a fraction of all rows. A split is valid if at least two of its
        branches have that many: the branch of a rare category may have fewer.
    min_weight_fraction_leaf : float, default=0.0
        Smallest share of the total weight in a leaf.
    min_impurity_decrease : float, default=0.0
        A node is split only if that lowers the impurity, weighted by the node's share of the rows, by at least
        this.
    max_leaf_nodes : int or None, default=None
        Largest number of leaves, grown best first; None sets no limit.
    splitter : {"best", "random", "mixed"}, default="mixed"
        Splits tried of each column: all of them, or one that is drawn, as in extremely randomized trees (Geurts, Ernst
        and Wehenkel, 2006). "mixed" draws in every second tree, which tries twice as many columns.
    max_features : int, float, "sqrt", "log2" or None, default=0.7
        Columns tried at each split, drawn anew at each: their number, their share, √d or log₂ d; None tries
        all.
    max_bins : int or None, default=255
        Numeric columns with more distinct values are binned into this many bins of equal weight, so that
        thresholds are exact only up to a bin; None is exact, and slower.
    bootstrap : bool or "poisson", default=True
        Whether each tree is grown from rows drawn with replacement. "poisson": every row is drawn for every
        tree on its own, a Poisson number of times, so that :func:`hedgerow.distributed.fit` grows the same
        forest.
    max_samples : int, float or None, default=None
        Rows drawn for each tree: their number, or a fraction of the rows of positive weight; None is all of
        them.
    oob_score : bool or callable, default=False
        Whether `fit` scores the forest on its out-of-bag rows; a callable ``metric(y_true, y_pred)`` computes the
        score.
    feature_costs : array-like of shape (n_features,), mapping of names to costs, or None, default=None
        Cost of measuring each column: splits are ranked by gain²/cost. Where growth uses costs, thresholds are exact:
        columns are not binned.
    categorical_features : "from_dtype", indices, mask, names or None, default="from_dtype"
        Which columns are nominal. By default text columns and unordered categories of a frame, and none of an
        array; None: none.
    n_jobs : int or None, default=None
        Number of threads, one tree each; None is 1, -1 all cores; identical results for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of all that is drawn: the same seed gives the same forest, bit for bit.

    Attributes
    ----------
    forest_ : Forest
        The trees.
    leaf_samples_ : LeafSamples
        The training targets of each leaf.
    min_samples_split_ : int
        Smallest weight of a node that is split, where it was chosen.
    bags_ : Bags
        Three numbers from which the bags of the trees are drawn again, for
        :func:`~hedgerow.inspection.permutation_importance`; absent with ``bootstrap=False``.
    oob_score_, oob_prediction_
        Out-of-bag R² (or what `oob_score` computes) and predictions; NaN for rows in the bag of every tree.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> from hedgerow import ForestRegressor
    >>> forest = ForestRegressor(random_state=0).fit(X, y)
    >>> forest.predict_interval(X[:1], coverage=0.8).shape
    (1, 2)
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        nominal: str = "binary",
        missing: Any = "random",
        max_depth: int | None = None,
        min_samples_split: Any = "auto",
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        max_leaf_nodes: int | None = None,
        splitter: str = "mixed",
        max_features: Any = 0.7,
        max_bins: int | None = 255,
        bootstrap: bool | str = True,
        max_samples: Any = None,
        oob_score: Any = False,
        feature_costs: Any = None,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.nominal = nominal
        self.missing = missing
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.max_leaf_nodes = max_leaf_nodes
        self.splitter = splitter
        self.max_features = max_features
        self.max_bins = max_bins
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.feature_costs = feature_costs
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ForestRegressor:
        """Grow the trees.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weight of each row: a number of rows, if all are whole numbers, else relative and rescaled to a mean of 1;
            None weighs all alike.

        Returns
        -------
        self
            The fitted forest.

        Raises
        ------
        ValueError
            If a parameter is out of its range, X or y can't be read (the message names the column or row), or weights
            are negative or all 0.
        """
        self._fit(X, y, sample_weight)
        return self

    def _fit_and_keep_bags(self, X: Any, y: Any, sample_weight: Any = None) -> OutOfBag | None:
        """Fit, and return the training rows out of each tree's bag; None without bootstrap."""
        return self._fit(X, y, sample_weight, keep_bags=draw_scheme(self.bootstrap) is not None)

    def _fit(self, X: Any, y: Any, sample_weight: Any, *, keep_bags: bool = False) -> OutOfBag | None:
        table = read_table(X, categorical_features=self.categorical_features, estimator=self)
        targets = read_targets(y, table.values)
        weight = read_weights(sample_weight, table.values, exact=self._draws_by_hash())
        training = self._training(table, weight, targets=targets)
        costs = None if self.feature_costs is None else feature_costs(self.feature_costs, table.schema)
        grown, drawn = self._grow(training, self._growth_with(costs), ("squared_error",), X, y, keep_bags)
        found: dict[str, Any] = {"training_range_": training.ranges, "_impurity": "squared_error"}
        forest, leaf_rows, bags = grown.forest, grown.leaf_samples, None
        if keep_bags or self._keeps_bags():
            bags = OutOfBag.of(grown, table.values, weight > 0, self.n_jobs)
        if self._chooses_size():
            size = found["min_samples_split_"] = self._best_size(bags, targets, weight)
            cuts = NodeSizes.of(forest, [size])
            forest, leaf_rows = cuts.cut(size), cuts.gather(leaf_rows, size)
            bags = bags and replace(bags, forest=forest)
        found["leaf_samples_"] = LeafSamples.of(*leaf_rows, targets[weight > 0])
        if bags is not None and self._scores_out_of_bag():
            folded, n_trees, unseen = bags.fold(Mean().leaf_table(forest.stats, None))
            means = np.full(len(unseen), np.nan)
            means[unseen] = (folded / n_trees)[:, 0]
            metric = oob_metric(self.oob_score, "r2_score")
            found["oob_prediction_"] = means
            found["oob_score_"] = metric(targets[unseen], means[unseen]) if unseen.sum() > 1 else np.nan
        if drawn is not None:
            found["bags_"] = drawn
        self._forget("bags_", "min_samples_split_", "oob_score_", "oob_prediction_")
        self._set_fitted(table, forest, **found)
        return bags if keep_bags else None

    def _growth_with(self, costs: Floats | None) -> Growth:
        """Settings of growth; where the size of nodes is chosen afterwards, of the smallest."""
        growth = self._growth("squared_error", splitter=self.splitter, feature_costs=costs)
        return replace(growth, min_samples_split=_NODE_SIZES[0]) if self._chooses_size() else growth

    def _best_size(self, bags: OutOfBag | None, targets: Floats, weight: Floats) -> int:
        """Value of `min_samples_split_`."""
        return _NODE_SIZES[0] if bags is None else best_size(bags, _NODE_SIZES, targets, weight)

    def _keeps_bags(self) -> bool:
        return super()._keeps_bags() or (self._chooses_size() and draw_scheme(self.bootstrap) is not None)

    def _unseen_rows(self, X: Any, y: Any, sample_weight: Any) -> UnseenRows:
        rows = self._read(X)
        targets = read_targets(y, rows)
        weight = read_weights(sample_weight, rows, exact=self._draws_by_hash())
        training = self._training(Table(np.asfortranarray(rows), self.schema_), weight, targets=targets)
        return self._unseen_of(training, weight > 0, rows, targets)

    def predict_quantiles(self, X: Any, q: ArrayLike = (0.05, 0.5, 0.95)) -> Floats:
        """Quantiles of the target, (n, len(q)): the smallest training target y with F(y|x) ≥ q.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.
        q : array-like, default=(0.05, 0.5, 0.95)
            Levels of the quantiles, from 0 to 1.

        Returns
        -------
        ndarray of shape (n_samples, n_quantiles)
            Quantiles, a column for each level.

        Raises
        ------
        ValueError
            If a level is not between 0 and 1.

        Examples
        --------
        >>> from hedgerow import ForestRegressor
        >>> forest = ForestRegressor(50, random_state=0).fit([[float(i)] for i in range(100)], range(100))
        >>> low, median = forest.predict_quantiles([[50.0]], q=(0.1, 0.5))[0]
        >>> bool(low < median)
        True
        """
        rows = self._read(X)
        return predict_quantiles(self.forest_, self.leaf_samples_, rows, q, n_jobs=self.n_jobs)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Floats:
        """Bounds, (n, 2), of the interval with equal probability below and above.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.
        coverage : float, default=0.9
            Probability that the interval is to hold the target. Trees do not promise it:
            :class:`~hedgerow.ConformalRegressor` does.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Lower and upper end.

        Raises
        ------
        ValueError
            If `coverage` is not between 0 and 1.

        Examples
        --------
        >>> from hedgerow import ForestRegressor
        >>> forest = ForestRegressor(50, random_state=0).fit([[float(i)] for i in range(100)], range(100))
        >>> lower, upper = forest.predict_interval([[50.0]], coverage=0.8)[0]
        >>> bool(40 < lower < 50 < upper < 60)
        True
        """
        return self._respond_alone(X, "predict_interval", coverage=coverage)

    def _respond_out_of_bag(
        self, bags: OutOfBag, verbs: Mapping[str, Mapping[str, Any]]
    ) -> tuple[dict[str, Any], NDArray[np.bool_]]:
        folds = {verb: arguments for verb, arguments in verbs.items() if verb != "predict_quantiles"}
        found, unseen = super()._respond_out_of_bag(bags, folds)
        if "predict_quantiles" in verbs:
            q = verbs["predict_quantiles"]["q"]
            quantiles = predict_quantiles(
                self.forest_, self.leaf_samples_, bags.rows, q, skip=bags.seen, n_jobs=self.n_jobs
            )
            found["predict_quantiles"] = quantiles[unseen]
        return found, unseen

    _has_intervals = True

    def _answer(self, verb: str, rows: Floats, reached: Any, **arguments: Any) -> Any:
        if verb == "predict_interval":
            return self._intervals(rows, **arguments)
        if verb == "predict_quantiles":
            return predict_quantiles(self.forest_, self.leaf_samples_, rows, n_jobs=self.n_jobs, **arguments)
        return super()._answer(verb, rows, reached, **arguments)

    def _intervals(self, rows: Floats, coverage: float = 0.9) -> Floats:
        ends = central_interval(coverage)
        return predict_quantiles(self.forest_, self.leaf_samples_, rows, ends, n_jobs=self.n_jobs)

    def _check_fitted(self) -> None:
        super()._check_fitted()
        if not isinstance(vars(self).get("leaf_samples_"), LeafSamples):
            raise ValueError("leaf_samples_ is missing, or something else")
