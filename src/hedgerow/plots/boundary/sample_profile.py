"""Probabilities along a sample of rows: smooth from the boundary, piecewise constant from the leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow.estimators.contract import read_rows
from hedgerow.plots.boundary.probability import check_boundary
from hedgerow.plots.display import AxesOrNone, Display, Floats, Keywords
from hedgerow.plots.labels import literal_label
from hedgerow.plots.palette import BLUE, GREY, ORANGE, VERMILION
from hedgerow.plots.requirements import class_position, laplace_frequency
from hedgerow.plots.slices import why_flat

__all__ = ["SampleProfileDisplay"]


@dataclass(kw_only=True, eq=False, repr=False)
class SampleProfileDisplay(Display):
    """Boundary estimate and Laplace frequency of a class over rows sorted by distance, with the errors of the tree.

    Figure 1 of the paper. Create it with :meth:`from_estimator`.

    Parameters
    ----------
    distance : ndarray of shape (n,)
        Algebraic distance of each row to the class's area, ascending; its boundary estimate; the Laplace frequency of
        its leaf.
    smooth : ndarray of shape (n,)
        Algebraic distance of each row to the class's area, ascending; its boundary estimate; the Laplace frequency of
        its leaf.
    piecewise : ndarray of shape (n,)
        Algebraic distance of each row to the class's area, ascending; its boundary estimate; the Laplace frequency of
        its leaf.
    wrong : bool ndarray of shape (n,)
        Whether the tree misclassifies the row.
    class_label : str
        The class.
    note : str or None, default=None
        Text in the axes, such as why the probability is constant.

    Attributes
    ----------
    smooth_line_, piecewise_line_, error_line_ : matplotlib Line2D
    boundary_line_ : matplotlib Line2D, between the rows inside and outside of the area, or None

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hedgerow import BoundaryClassifier
    >>> from hedgerow.plots import SampleProfileDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = BoundaryClassifier().fit(X[::2], y[::2])
    >>> display = SampleProfileDisplay.from_estimator(model, X[1::2], y[1::2])
    >>> bool((display.wrong.mean() < 0.15) and (display.distance[:-1] <= display.distance[1:]).all())
    True
    """

    distance: Floats
    smooth: Floats
    piecewise: Floats
    wrong: NDArray[np.bool_]
    class_label: str
    note: str | None = None

    def plot(
        self, ax: AxesOrNone = None, *, legend: bool = True, smooth_kw: Keywords = None, piecewise_kw: Keywords = None
    ) -> Self:
        """Draw both probabilities of each row, and a cross on those that the tree misclassifies.

        `smooth_kw` and `piecewise_kw` are for matplotlib's `plot`.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.
        legend : bool, default=True
            Whether to draw a legend.
        smooth_kw : dict or None, default=None
            Keywords for the line of the boundary estimate.
        piecewise_kw : dict or None, default=None
            Keywords for the line of the leaf frequencies.

        Returns
        -------
        self
            The Display, with what was drawn as attributes.
        """
        axes = self._axes(ax, figsize=(7.2, 4.4), layout="constrained")
        order = np.arange(len(self.distance))
        dots = {"color": ORANGE, "marker": ".", "markersize": 4, "linestyle": "", "label": "Laplace frequency"}
        self.piecewise_line_ = self._line(order, self.piecewise, piecewise_kw, **dots)
        solid = {"color": BLUE, "linewidth": 2.0, "label": "boundary estimate"}
        self.smooth_line_ = self._line(order, self.smooth, smooth_kw, **solid)
        cross = {"color": VERMILION, "marker": "x", "linestyle": "", "markersize": 7, "markeredgewidth": 1.8}
        label = f"errors of the tree ({int(self.wrong.sum())})"
        self.error_line_ = self._line(order[self.wrong], self.smooth[self.wrong], **cross, zorder=4, label=label)
        n_inside = int((self.distance < 0).sum())
        self.boundary_line_: Any = None
        if 0 < n_inside < len(order):
            dotted = {"color": GREY, "linestyle": ":", "linewidth": 1.2, "zorder": 0}
            self.boundary_line_ = axes.axvline(n_inside - 0.5, **dotted, label="the tree's boundary")
        label = literal_label(self.class_label)
        axes.set(xlabel=f"rows, from the deepest inside the area of {label} outwards")
        axes.set(ylabel=f"probability of {label}", ylim=(-0.03, 1.03))
        self._write_note(self.note)
        axes.margins(x=0.01)
        if legend:
            axes.legend(fontsize="small")
        return self

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, class_label: Any = None, ax: AxesOrNone = None, **kwargs: Any
    ) -> Self:
        """Compute the probabilities of a fitted boundary classifier for labelled rows, and draw them.

        Parameters
        ----------
        estimator : fitted BoundaryClassifier
            The model.
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Classes, or targets, of the rows.
        class_label : label or None, default=None
            The class; None is the last.
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.
        **kwargs
            Passed on to :meth:`plot`.

        Returns
        -------
        Display
            The Display, drawn.

        Raises
        ------
        ValueError
            If rows and labels differ in number.
        """
        cls._pyplot("from_estimator")
        check_boundary(estimator)
        target = class_position(estimator.classes_, class_label)
        rows = read_rows(estimator, X)
        labels = np.asarray(y)
        if labels.shape != (len(rows),):
            raise ValueError(f"y has shape {labels.shape}, must have a label for each of {len(rows)} rows")
        smooth = estimator.predict_proba(X)[:, target]
        distance = estimator.algebraic_distance(X)[:, target]
        order = np.lexsort((-smooth, distance))
        return cls(
            distance=distance[order],
            smooth=smooth[order],
            piecewise=laplace_frequency(estimator, rows, target)[order],
            wrong=(estimator.estimator_.predict(X) != labels)[order],
            class_label=str(estimator.classes_[target]),
            note=why_flat(smooth, estimator.forest_, range(rows.shape[1]), estimator.schema_.names),
        ).plot(ax, **kwargs)
