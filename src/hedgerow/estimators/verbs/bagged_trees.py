"""Growth that classification and regression forests share."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._core import DrawScheme
from hedgerow._params import check_choice
from hedgerow.data.training import Training
from hedgerow.estimators.fitting.bagging import draw_scheme, n_draws, scores_out_of_bag
from hedgerow.estimators.fitting.bags import Bags, PoissonBags, UnseenRows
from hedgerow.estimators.fitting.growth_on_gpu import check_grows_on_gpu, grow_on_gpu
from hedgerow.estimators.verbs.many_trees import ManyTrees
from hedgerow.growth import Grown, Growth, grow_forest
from hedgerow.growth.poisson import round_targets
from hedgerow.walk import n_threads

__all__ = ["BaggedTrees"]

Floats = NDArray[np.float64]


class BaggedTrees(ManyTrees):
    """Abstract; final classes have the parameters of bootstrap samples and bins among theirs."""

    def _grow(
        self, training: Training, growth: Growth, criteria: tuple[str, ...], X: Any, y: Any, keep_bags: bool = False
    ) -> tuple[Grown, Bags | PoissonBags | None]:
        """Grow the trees, on a GPU if this model is there; also returns what their bags follow from."""
        options = growth.options(training.sample_weight, training.values.shape[1], criteria, self._seed())
        options.n_trees = self._n_trees()
        max_bins = self._max_bins()
        options.max_bins = max_bins if growth.uses_bins(training.n_categories, max_bins) else 0
        n_rows = len(training.sample_weight)
        options.n_draws = n_draws(self.bootstrap, self.max_samples, self._scores_out_of_bag(), n_rows)
        poisson = self._draws_by_hash()
        if poisson:
            options.draw_scheme = DrawScheme.poisson
        if poisson and training.targets is not None:
            round_targets(options, float(training.targets.min()), float(training.targets.max()))
        options.keep_in_bag = keep_bags or self._keeps_bags()
        options.keep_leaf_rows = training.targets is not None
        options.n_threads = n_threads(self.n_jobs)
        device = self._device if self._grows_on_gpu else None
        if device is not None:
            check_grows_on_gpu(growth, options, training)
        grow: Callable[..., Any] = grow_forest if device is None else partial(grow_on_gpu, device)
        grown = self._with_progress(grow, training, options, X, y)
        bags = PoissonBags if poisson else Bags
        return grown, bags.of(training, options.seed, options.n_draws)

    def _draws_by_hash(self) -> bool:
        """Whether rows are drawn on their own, and sums do not depend on the order of rows."""
        return draw_scheme(self.bootstrap) == DrawScheme.poisson

    def _unseen_of(self, training: Training, used: NDArray[np.bool_], values: Floats, truth: Any) -> UnseenRows:
        """Rows out of the bag of each tree, the training rows given again; `used` are those that were drawn from."""
        bags = vars(self).get("bags_")
        if bags is None:
            raise ValueError(
                "this forest has no bags: it was fitted with bootstrap=False, or by an older version; fit it with "
                "bootstrap=True, or use rows='all' with rows that it has not seen"
            )
        masks = bags.masks(training, self.forest_.n_trees, self.n_jobs)
        rows = np.ascontiguousarray(values[used])
        return UnseenRows(rows, np.asarray(truth, dtype=np.float64)[used], training.sample_weight, masks)

    def _max_bins(self) -> Any:
        """Most bins of a column; None: thresholds are exact."""
        return getattr(self, "max_bins", None)

    def _keeps_bags(self) -> bool:
        return self._scores_out_of_bag()

    def _chooses_size(self) -> bool:
        """Whether nodes are grown as small as they get, for `min_samples_split` to be chosen afterwards."""
        if not isinstance(self.min_samples_split, str):
            return False
        expected = "a whole number of at least 2 rows, a fraction in (0, 1], or 'auto'"
        return bool(check_choice("min_samples_split", self.min_samples_split, ("auto",), expected))

    def _scores_out_of_bag(self) -> bool:
        return scores_out_of_bag(self.oob_score)
