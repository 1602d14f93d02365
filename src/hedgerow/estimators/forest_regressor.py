"""Random forests for regression, with quantiles and intervals."""

from __future__ import annotations

from collections.abc import Mapping
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
from hedgerow.estimators.fitting.progress import with_callbacks
from hedgerow.estimators.stored import storable
from hedgerow.estimators.verbs.answers import NumberAnswers
from hedgerow.estimators.verbs.bagged_trees import BaggedTrees
from hedgerow.folds import Mean
from hedgerow.walk.quantiles import LeafSamples, central_interval, predict_quantiles

__all__ = ["ForestRegressor"]

Floats = NDArray[np.float64]


@storable
class ForestRegressor(NumberAnswers, BaggedTrees):
    """A random forest for regression, with quantiles and intervals from the training targets in its leaves.

    Trees are grown by least squares to leaves of at least five rows, each from rows drawn with replacement, with a
    third of the columns tried at each split.

    Parameters
    ----------
    n_estimators, nominal, missing, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, \
min_impurity_decrease, max_leaf_nodes, max_features, max_bins, bootstrap, max_samples, oob_score, \
feature_costs, categorical_features, n_jobs, random_state
        As in :class:`ForestClassifier`.

    Attributes
    ----------
    forest_ : Forest
    leaf_samples_ : LeafSamples
        The training targets of each leaf.
    bags_ : Bags
        Three numbers from which the bags of the trees are drawn again, for
        :func:`~hedgerow.inspection.permutation_importance`; absent with ``bootstrap=False``.
    oob_score_, oob_prediction_
        Out-of-bag R² (or what `oob_score` computes) and predictions; NaN for rows in the bag of every tree.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = ForestRegressor(random_state=0).fit(X, y)
    >>> forest.predict_interval(X[:1], coverage=0.8).shape
    (1, 2)
    """

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        nominal: str = "multiway",
        missing: Any = "random",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 5,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        max_leaf_nodes: int | None = None,
        splitter: str = "best",
        max_features: Any = 1 / 3,
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
        """Grow the trees."""
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
        growth = self._growth("squared_error", splitter=self.splitter, feature_costs=costs)
        grown, drawn = self._grow(training, growth, ("squared_error",), X, y, keep_bags)
        samples = LeafSamples.of(*grown.leaf_samples, targets[weight > 0])
        found: dict[str, Any] = {"leaf_samples_": samples, "_impurity": "squared_error"}
        found["training_range_"] = training.ranges
        bags = None
        if keep_bags or self._scores_out_of_bag():
            bags = OutOfBag.of(grown, table.values, weight > 0, self.n_jobs)
        if bags is not None and self._scores_out_of_bag():
            folded, n_trees, unseen = bags.fold(Mean().leaf_table(grown.forest.stats, None))
            means = np.full(len(unseen), np.nan)
            means[unseen] = (folded / n_trees)[:, 0]
            metric = oob_metric(self.oob_score, "r2_score")
            found["oob_prediction_"] = means
            found["oob_score_"] = metric(targets[unseen], means[unseen]) if unseen.sum() > 1 else np.nan
        if drawn is not None:
            found["bags_"] = drawn
        self._forget("bags_")
        self._set_fitted(table, grown.forest, **found)
        return bags if keep_bags else None

    def _unseen_rows(self, X: Any, y: Any, sample_weight: Any) -> UnseenRows:
        rows = self._read(X)
        targets = read_targets(y, rows)
        weight = read_weights(sample_weight, rows, exact=self._draws_by_hash())
        training = self._training(Table(np.asfortranarray(rows), self.schema_), weight, targets=targets)
        return self._unseen_of(training, weight > 0, rows, targets)

    def predict_quantiles(self, X: Any, q: ArrayLike = (0.05, 0.5, 0.95)) -> Floats:
        """Quantiles of the target, (n, len(q)): the smallest training target y with F(y|x) ≥ q."""
        rows = self._read(X)
        return predict_quantiles(self.forest_, self.leaf_samples_, rows, q, n_jobs=self.n_jobs)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Floats:
        """Bounds, (n, 2), of the interval with equal probability below and above."""
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
