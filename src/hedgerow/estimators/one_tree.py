"""What a single tree can say about itself."""

from __future__ import annotations

from sklearn.utils.validation import check_is_fitted

from hedgerow.estimators.base import TreeBased

__all__ = ["OneTree"]


class OneTree(TreeBased):
    """Abstract."""

    def get_depth(self) -> int:
        """Number of questions on the longest way from the root to a leaf."""
        check_is_fitted(self)
        return int(self.forest_.depths[0])

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        check_is_fitted(self)
        return int(self.forest_.n_leaves)

    def to_text(self, max_depth: int | None = None) -> str:
        """The tree as text, with the names of columns and categories; what is below `max_depth` is summed up."""
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
        """What each leaf answers, where that is not its most frequent class or its mean."""
        return None
