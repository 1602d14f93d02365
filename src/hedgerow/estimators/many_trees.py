"""What all estimators that grow many trees share."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.training import Training
from hedgerow.estimators.base import TreeBased
from hedgerow.estimators.progress import CallbackSupportMixin, TreesProgress
from hedgerow.growth import Grown
from hedgerow.walk import route

__all__ = ["ManyTrees"]


class ManyTrees(CallbackSupportMixin, TreeBased):  # type: ignore[misc]
    """Abstract; final classes have the parameters `n_estimators` and `n_jobs`."""

    def _n_trees(self) -> int:
        if not isinstance(self.n_estimators, Integral) or isinstance(self.n_estimators, bool) or self.n_estimators < 1:
            raise ValueError(f"n_estimators is {self.n_estimators!r}, must be a whole number of at least 1")
        return int(self.n_estimators)

    def _with_progress(self, grow: Callable[..., Grown], training: Training, options: Any, X: Any, y: Any) -> Grown:
        """Grow `options.n_trees` trees, and tell the callbacks how it goes."""
        progress = TreesProgress(self, options.n_trees, X, y)
        grown = grow(training, options, progress.report)
        progress.finish(options.n_trees)
        return grown

    def apply(self, X: Any) -> NDArray[np.int32]:
        """The number of the leaf that each row reaches in each tree, (n, n_trees).

        A row with a missing value that is divided over branches follows the heaviest.
        """
        rows = self._read(X)
        return route(self.forest_, rows, n_jobs=self.n_jobs)
