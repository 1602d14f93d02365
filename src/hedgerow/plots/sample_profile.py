"""Probabilities along a sample of rows: smooth from the boundary, piecewise from the leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.estimators.contract import read_rows, respond_to_rows
from hedgerow.plots.boundaries import check_boundary, class_name, class_position, laplace_of
from hedgerow.plots.canvas import BLUE, GREY, ORANGE, VERMILION, axes_or_new, line_style, pyplot, write_note
from hedgerow.plots.flatness import why_flat
from hedgerow.plots.labels import literal_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["SampleProfileDisplay"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class SampleProfileDisplay:
    """Boundary estimate and Laplace frequency of a class over rows in the order of their distance, errors marked.

    The paper's Figure 1. Make one with :meth:`from_estimator`.

    Parameters
    ----------
    distance, smooth, piecewise : ndarrays of shape (n,)
        Algebraic distance of each row to the class's area, its boundary estimate, and the Laplace frequency of its
        leaf; ascending in the distance.
    wrong : bool ndarray of shape (n,)
        Rows that the tree gets wrong.
    class_label : str
    note : str or None
        A sentence to write into the axes, such as why the probability is the same everywhere.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    smooth_line_, piecewise_line_, error_line_ : matplotlib Line2D
    boundary_line_ : matplotlib Line2D or None
        Where the rows change sides.

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

    ax_: Axes
    figure_: Figure
    smooth_line_: Any
    piecewise_line_: Any
    error_line_: Any
    boundary_line_: Any

    def __init__(
        self,
        *,
        distance: Floats,
        smooth: Floats,
        piecewise: Floats,
        wrong: Bools,
        class_label: str,
        note: str | None = None,
    ) -> None:
        self.distance = distance
        self.smooth = smooth
        self.piecewise = piecewise
        self.wrong = wrong
        self.class_label = class_label
        self.note = note

    def plot(
        self,
        ax: Axes | None = None,
        *,
        legend: bool = True,
        smooth_kw: dict[str, Any] | None = None,
        piecewise_kw: dict[str, Any] | None = None,
    ) -> SampleProfileDisplay:
        """Draw both probabilities of each row, and a cross on those that the tree gets wrong.

        Parameters
        ----------
        ax : matplotlib Axes or None
            None makes a new figure.
        legend : bool
            Whether to say what is what.
        smooth_kw, piecewise_kw : dict or None
            For matplotlib's `plot`, of the two, instead of the styles that are built in.
        """
        axes = axes_or_new(ax, f"{type(self).__name__}.plot", figsize=(7.2, 4.4), layout="constrained")
        place = np.arange(len(self.distance))
        dots = {"color": ORANGE, "marker": ".", "markersize": 4, "linestyle": "", "label": "Laplace frequency"}
        (self.piecewise_line_,) = axes.plot(place, self.piecewise, **line_style(dots, piecewise_kw))
        line = {"color": BLUE, "linewidth": 2.0, "label": "boundary estimate"}
        (self.smooth_line_,) = axes.plot(place, self.smooth, **line_style(line, smooth_kw))
        cross = {"color": VERMILION, "marker": "x", "linestyle": "", "markersize": 7, "markeredgewidth": 1.8}
        (self.error_line_,) = axes.plot(place[self.wrong], self.smooth[self.wrong], **cross, zorder=4)
        self.error_line_.set_label(f"errors of the tree ({int(self.wrong.sum())})")
        inside = int((self.distance < 0).sum())
        self.boundary_line_ = None
        if 0 < inside < len(place):
            look = {"color": GREY, "linestyle": ":", "linewidth": 1.2, "zorder": 0, "label": "the tree's boundary"}
            self.boundary_line_ = axes.axvline(inside - 0.5, **look)
        label = literal_label(self.class_label)
        axes.set(xlabel=f"rows, from the deepest inside the area of {label} outwards")
        axes.set(ylabel=f"probability of {label}", ylim=(-0.03, 1.03))
        write_note(axes, self.note)
        axes.margins(x=0.01)
        if legend:
            axes.legend(fontsize="small")
        self.ax_, self.figure_ = axes, axes.figure
        return self

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, class_label: Any = None, ax: Axes | None = None, **kwargs: Any
    ) -> SampleProfileDisplay:
        """Ask a fitted boundary classifier about rows with known labels, and draw what it says.

        Parameters
        ----------
        estimator : fitted BoundaryClassifier
        X, y : table and labels
            Rows that it was not fitted on.
        class_label : label or None
            Whose probability; None is the last class.
        ax : matplotlib Axes or None
        **kwargs
            For :meth:`plot`.
        """
        pyplot(f"{cls.__name__}.from_estimator")
        check_boundary(estimator)
        target = class_position(estimator, class_label)
        rows = read_rows(estimator, X)
        labels = np.asarray(y)
        if labels.shape != (len(rows),):
            raise ValueError(f"y has shape {labels.shape}, must have a label for each of {len(rows)} rows")
        smooth = respond_to_rows(estimator, rows, ["predict_proba"])["predict_proba"][:, target]
        distance = estimator.algebraic_distance(X)[:, target]
        order = np.lexsort((-smooth, distance))
        display = cls(
            distance=distance[order],
            smooth=smooth[order],
            piecewise=laplace_of(estimator, rows, target)[order],
            wrong=(estimator.estimator_.predict(X) != labels)[order],
            class_label=class_name(estimator, target),
            note=why_flat(smooth, estimator.forest_, range(rows.shape[1]), estimator.schema_.names),
        )
        return display.plot(ax, **kwargs)
