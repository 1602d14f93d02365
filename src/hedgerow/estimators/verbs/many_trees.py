"""Base of estimators with many trees."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._params import check_whole
from hedgerow.data.training import Training
from hedgerow.estimators.fitting.progress import CallbackSupportMixin, TreesProgress
from hedgerow.estimators.verbs.code import CodeOfSeveral
from hedgerow.estimators.verbs.pictures import PicturesOfSeveral
from hedgerow.growth import Grown

__all__ = ["ManyTrees"]


class ManyTrees(CallbackSupportMixin, PicturesOfSeveral, CodeOfSeveral):  # type: ignore[misc]
    """Abstract; final classes have the parameters `n_estimators` and `n_jobs`."""

    def _n_trees(self) -> int:
        return check_whole("n_estimators", self.n_estimators, 1)

    def _with_progress(self, grow: Callable[..., Grown], training: Training, options: Any, X: Any, y: Any) -> Grown:
        """Grow `options.n_trees` trees, reporting progress to callbacks."""
        progress = TreesProgress(self, options.n_trees, X, y)
        grown = grow(training, options, progress.report)
        progress.finish(options.n_trees)
        return grown

    def apply(self, X: Any) -> NDArray[np.int32]:
        """Number of the leaf that each row reaches in each tree, (n, n_trees).

        A row with a missing value that is spread over branches follows the heaviest.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.

        Returns
        -------
        int32 ndarray of shape (n_samples, n_trees)
            Numbers of leaves, from 0 in each tree.
        """
        rows = self._read(X)
        return self._walk.route(rows)
