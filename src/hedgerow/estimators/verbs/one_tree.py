"""Methods of a single tree."""

from __future__ import annotations

from sklearn.utils.validation import check_is_fitted

from hedgerow.estimators.verbs.code import CodeOfOne
from hedgerow.estimators.verbs.pictures import PicturesOfOne

__all__ = ["OneTree"]


class OneTree(PicturesOfOne, CodeOfOne):
    """Abstract."""

    def get_depth(self) -> int:
        """Number of splits on the longest path from the root to a leaf.

        Returns
        -------
        int
            Depth; 0 for a tree of one leaf.

        Examples
        --------
        >>> from hedgerow import TreeClassifier
        >>> TreeClassifier().fit([[1], [2], [3]], [0, 0, 1]).get_depth()
        1
        """
        check_is_fitted(self)
        return int(self.forest_.depths[0])

    def get_n_leaves(self) -> int:
        """Number of leaves.

        Returns
        -------
        int
            Number of leaves.

        Examples
        --------
        >>> from hedgerow import TreeClassifier
        >>> TreeClassifier().fit([[1], [2], [3]], [0, 0, 1]).get_n_leaves()
        2
        """
        check_is_fitted(self)
        return int(self.forest_.n_leaves)
