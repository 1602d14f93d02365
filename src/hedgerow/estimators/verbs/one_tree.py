"""Methods of a single tree."""

from __future__ import annotations

from sklearn.utils.validation import check_is_fitted

from hedgerow.estimators.base import TreeBased

__all__ = ["OneTree"]


class OneTree(TreeBased):
    """Abstract."""

    def get_depth(self) -> int:
        """Number of splits on the longest path from the root to a leaf."""
        check_is_fitted(self)
        return int(self.forest_.depths[0])

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        check_is_fitted(self)
        return int(self.forest_.n_leaves)

    def to_text(self, max_depth: int | None = None) -> str:
        """Return the tree as text, with names of columns and categories; what is below `max_depth` is summarised."""
        check_is_fitted(self)
        return str(
            self.forest_.to_text(
                feature_names=self.schema_.names,
                class_names=getattr(self, "classes_", None),
                categories=[column.categories for column in self.schema_.columns],
                leaf_answers=self._leaf_answers(),
                max_depth=max_depth,
            )
        )

    def _leaf_answers(self) -> list[str] | None:
        """Text of each leaf; None where it is the most frequent class or the mean."""
        return None
