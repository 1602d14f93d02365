"""Trees as text and as pictures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from hedgerow.drawing import Highlight, Subject, TreeView, scene_to_svg, tree_scene, view_tree
from hedgerow.estimators.base import TreeBased
from hedgerow.estimators.verbs.importance_html import importance_html
from hedgerow.forest.names import Names, number_text

__all__ = ["Pictures", "PicturesOfOne", "PicturesOfSeveral"]

Floats = NDArray[np.float64]

_SHOWN_DEPTH = 4  # of one of several trees in a notebook


class Pictures(TreeBased):
    """Abstract: what pictures of a single tree and of one of several share."""

    def _names(self) -> Names:
        """Names of columns, classes and categories."""
        categories = [column.categories for column in self.schema_.columns]
        return Names.of(self.forest_, self.schema_.names, getattr(self, "classes_", None), categories)

    def _leaf_answers(self) -> list[str] | None:
        """Text of each leaf; None where it is the most frequent class or the mean."""
        return None

    def _error_texts(self) -> list[str]:
        """Sizes of the errors of columns that were measured with error; empty where all are exact."""
        return []

    def _text(self, tree: int, max_depth: int | None) -> str:
        check_is_fitted(self)
        return str(
            self.forest_.to_text(
                tree,
                feature_names=self.schema_.names,
                class_names=getattr(self, "classes_", None),
                categories=[column.categories for column in self.schema_.columns],
                leaf_answers=self._leaf_answers(),
                max_depth=max_depth,
            )
        )

    def _view(self, tree: int, max_depth: Any, row: Any) -> TreeView:
        """Content of a picture of a tree, see :func:`hedgerow.drawing.view_tree`."""
        check_is_fitted(self)
        names = self._names()
        subject = Subject(
            *(self.forest_, tree, names, self._answers_of_leaves(names), self._error_texts()),
            targets=getattr(self, "leaf_samples_", getattr(self, "leaf_targets_", None)),
        )
        return view_tree(subject, max_depth=max_depth, highlight=None if row is None else self._highlight(row, names))

    def _answers_of_leaves(self, names: Names) -> list[str]:
        if self.forest_.leaf_counts is None:
            return []
        found = self._leaf_answers()
        return [names.classes[code] for code in self._leaf_codes()] if found is None else found

    def _leaf_codes(self) -> NDArray[np.intp]:
        """Class that each leaf answers, by its position in `classes_`."""
        codes: NDArray[np.intp] = self.forest_.answer_counts().argmax(axis=1)
        return codes

    def _highlight(self, row: Any, names: Names) -> Highlight:
        rows = self._read(row)
        if len(rows) != 1:
            raise ValueError(f"row has {len(rows)} rows, must have one, such as X[:1]")
        weights: Floats = self._walk.spread(rows).toarray()[0]
        values = [_value_text(value, names.categories[j]) for j, value in enumerate(rows[0].tolist())]
        return Highlight(weights, values, rows[0])

    # Of these two, notebooks ask one: scikit-learn's display of the parameters, and below it what was fitted.

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] += self._fitted_html()
        return bundle

    @property
    def _repr_html_(self) -> Callable[[], str]:
        parameters = super()._repr_html_  # an AttributeError where scikit-learn is configured to show text
        return lambda: parameters() + self._fitted_html()

    def _fitted_html(self) -> str:
        return self._picture_html() if "forest_" in vars(self) else ""

    def _picture_html(self) -> str:
        """HTML of a fitted model for notebooks."""
        raise NotImplementedError


def _value_text(value: float, categories: tuple[str, ...]) -> str:
    if value != value:
        return "missing"
    return categories[int(value)] if value in range(len(categories)) else number_text(value)


def _framed(content: str) -> str:
    """Scroll what is larger than a cell of a notebook."""
    return f'<div style="max-width:100%;max-height:48em;overflow:auto">{content}</div>'


class PicturesOfOne(Pictures):
    """Abstract: a single tree as text and as a picture, which notebooks show."""

    def to_text(self, max_depth: int | None = None) -> str:
        """Return the tree as text, with names of columns and categories; what is below `max_depth` is summarised.

        Parameters
        ----------
        max_depth : int or None, default=None
            Depth below which the tree is summarised; None shows all of it.

        Returns
        -------
        str
            A line for each branch.

        Examples
        --------
        >>> from hedgerow import TreeClassifier
        >>> print(TreeClassifier().fit([[1], [2], [3]], ["no", "no", "yes"]).to_text())
        x0 <= 2.5: no (no 2)
        x0 > 2.5: yes (yes 1)
        """
        return self._text(0, max_depth)

    def to_svg(
        self,
        *,
        max_depth: int | str | None = "auto",
        row: Any = None,
        orientation: str = "auto",
        background: str = "auto",
    ) -> str:
        """Draw the tree as SVG.

        Parameters
        ----------
        max_depth : int, None or "auto", default="auto"
            Draw splits above this depth; None: all. "auto" draws 60 leaves, or what replaces them where a tree has
            more: the splits that most rows meet are drawn, what is below the others is summarised, and a strip shows
            the whole tree.
        row : array-like or frame of one row, or None, default=None
            Row whose path and values are shown; several paths where a value is missing.
        orientation : {"auto", "down", "right"}, default="auto"
            Direction in which the tree grows. To the right it has a line for each leaf; "auto" uses that for more than
            10 leaves.
        background : {"auto", "light", "dark", "transparent"}, default="auto"
            Colours of the picture: "auto" those that the viewer prefers, light or dark; "transparent" the same with
            nothing behind them.

        Returns
        -------
        str
            An SVG document.

        Raises
        ------
        ValueError
            If a choice is not one of those listed, or `row` is not one row.

        Examples
        --------
        >>> from hedgerow import TreeClassifier
        >>> picture = TreeClassifier().fit([[1], [2], [3]], ["no", "no", "yes"]).to_svg(row=[[3]])
        >>> picture.startswith("<svg")
        True
        """
        return scene_to_svg(tree_scene(self._view(0, max_depth, row), orientation), background)

    def _picture_html(self) -> str:
        return _framed(self.to_svg(background="transparent"))


class PicturesOfSeveral(Pictures):
    """Abstract: any of several trees as text and as a picture."""

    def to_text(self, tree: int = 0, max_depth: int | None = None) -> str:
        """Return one of the trees as text; what is below `max_depth` is summarised.

        Parameters
        ----------
        tree : int, default=0
            Number of the tree, from 0.
        max_depth : int or None, default=None
            Depth below which the tree is summarised; None shows all of it.

        Returns
        -------
        str
            A line for each branch.

        Raises
        ------
        ValueError
            If there is no such tree.
        """
        return self._text(tree, max_depth)

    def to_svg(
        self,
        tree: int = 0,
        *,
        max_depth: int | str | None = "auto",
        row: Any = None,
        orientation: str = "auto",
        background: str = "auto",
    ) -> str:
        """Draw one of the trees as SVG; parameters as in :meth:`hedgerow.TreeClassifier.to_svg`.

        Parameters
        ----------
        tree : int, default=0
            Number of the tree, from 0.
        max_depth : int, "auto" or None, default="auto"
            Depth below which the tree is summarised; "auto" draws what a page holds, None everything.
        row : array-like or frame of one row, or None, default=None
            Row whose path and values are shown; several paths where a value is missing.
        orientation : {"auto", "down", "right"}, default="auto"
            Direction in which the tree grows; "auto" is to the right for more than 10 leaves.
        background : {"auto", "light", "dark", "transparent"}, default="auto"
            Colours of the picture: "auto" those that the viewer prefers, light or dark; "transparent" the same with
            nothing behind them.

        Returns
        -------
        str
            An SVG document.

        Raises
        ------
        ValueError
            If there is no such tree, or a choice is not one of those listed.
        """
        return scene_to_svg(tree_scene(self._view(tree, max_depth, row), orientation), background)

    def _picture_html(self) -> str:
        importances = getattr(self, "feature_importances_", None)
        bars = "" if importances is None else importance_html(self.schema_.names, importances)
        tree = self.to_svg(0, max_depth=_SHOWN_DEPTH, background="transparent")
        facts = f"{self.forest_.n_trees:,} trees, {self.forest_.n_leaves:,} leaves"
        return f"<p>{facts}</p>{bars}<details><summary>The first tree, its top</summary>{_framed(tree)}</details>"
