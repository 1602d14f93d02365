"""Methods of a single tree."""

from __future__ import annotations

from sklearn.utils.validation import check_is_fitted

from hedgerow.estimators.verbs.code import CodeOfOne
from hedgerow.estimators.verbs.pictures import PicturesOfOne

__all__ = ["OneTree"]


class OneTree(PicturesOfOne, CodeOfOne):
    """Abstract."""

    def get_depth(self) -> int:
        """Number of splits on the longest path from the root to a leaf."""
        check_is_fitted(self)
        return int(self.forest_.depths[0])

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        check_is_fitted(self)
        return int(self.forest_.n_leaves)
