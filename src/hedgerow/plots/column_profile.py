"""The probability of a class as one column runs through its values, against the truth where it is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.estimators.contract import read_rows, respond_to_rows
from hedgerow.plots.boundaries import check_boundary, class_name, class_position, column_position, rows_around
from hedgerow.plots.canvas import BLACK, BLUE, GREEN, PURPLE, VERMILION, axes_or_new, line_style, pyplot, write_note
from hedgerow.plots.flatness import why_flat
from hedgerow.plots.labels import legend_label, literal_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["ColumnProfileDisplay"]

Floats = NDArray[np.float64]

_LOOKS = ((BLUE, "-"), (VERMILION, "--"), (GREEN, "-."), (PURPLE, ":"))


class ColumnProfileDisplay:
    """The probability of a class along one column, the others staying in the middle (the paper's Figure 3).

    Make one with :meth:`from_estimator`; several on the same axes get different looks.

    Parameters
    ----------
    x, probability : ndarrays of shape (n,)
    truth : ndarray of shape (n,) or None
        The probability that rows were drawn with.
    feature_name, class_label : str
    note : str or None
        A sentence to write into the axes, such as why the probability is the same everywhere.
    name : str or None
        For the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    line_ : matplotlib Line2D
    truth_line_ : matplotlib Line2D or None

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import BoundaryClassifier
    >>> from hedgerow.plots import ColumnProfileDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = BoundaryClassifier().fit(X, y)
    >>> display = ColumnProfileDisplay.from_estimator(model, X, "petal width (cm)", class_label=2)
    >>> bool(display.probability[0] < 0.1 < 0.9 < display.probability[-1])
    True
    """

    ax_: Axes
    figure_: Figure
    line_: Any
    truth_line_: Any

    def __init__(
        self,
        *,
        x: Floats,
        probability: Floats,
        feature_name: str,
        class_label: str,
        truth: Floats | None = None,
        name: str | None = None,
        note: str | None = None,
    ) -> None:
        self.x = x
        self.probability = probability
        self.feature_name = feature_name
        self.class_label = class_label
        self.truth = truth
        self.name = name
        self.note = note

    def plot(
        self, ax: Axes | None = None, *, legend: bool = True, line_kw: dict[str, Any] | None = None
    ) -> ColumnProfileDisplay:
        """Draw the probability, and the truth if it is known and not there yet.

        Parameters
        ----------
        ax : matplotlib Axes or None
            None makes a new figure.
        legend : bool
            Whether to say what is what.
        line_kw : dict or None
            For matplotlib's `plot`, instead of the style that is built in.
        """
        axes = axes_or_new(ax, f"{type(self).__name__}.plot", layout="constrained")
        self.truth_line_ = next((line for line in axes.lines if line.get_label() == "truth"), None)
        if self.truth is not None and self.truth_line_ is None:
            look = {"color": BLACK, "linewidth": 2.4, "alpha": 0.55, "zorder": 1, "label": "truth"}
            (self.truth_line_,) = axes.plot(self.x, self.truth, **look)
        number = len([line for line in axes.lines if line is not self.truth_line_])
        colour, dashes = _LOOKS[number % len(_LOOKS)]
        label = legend_label(self.name or "estimate")
        look = {"color": colour, "linestyle": dashes, "linewidth": 1.8, "zorder": 2, "label": label}
        (self.line_,) = axes.plot(self.x, self.probability, **line_style(look, line_kw))
        axes.set(xlabel=literal_label(self.feature_name), ylim=(-0.03, 1.03))
        axes.set(ylabel=f"probability of {literal_label(self.class_label)}")
        write_note(axes, self.note)
        axes.margins(x=0.01)
        if legend:
            axes.legend(fontsize="small")
        self.ax_, self.figure_ = axes, axes.figure
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        features: Any,
        *,
        class_label: Any = None,
        truth: Callable[[Floats], Floats] | None = None,
        grid_resolution: int = 400,
        name: str | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> ColumnProfileDisplay:
        """Ask a fitted boundary classifier for probabilities along a column, and draw them.

        Parameters
        ----------
        estimator : fitted BoundaryClassifier
        X : table
            The range of the column, and the middle of the others.
        features : name or number of the column
        class_label : label or None
            Whose probability; None is the last class.
        truth : function or None
            From values of the column to the probability that rows were drawn with.
        grid_resolution : int
            Values of the column.
        name : str or None
            For the legend.
        ax : matplotlib Axes or None
        **kwargs
            For :meth:`plot`.
        """
        pyplot(f"{cls.__name__}.from_estimator")
        check_boundary(estimator)
        position = column_position(estimator, features)
        target = class_position(estimator, class_label)
        rows = read_rows(estimator, X)
        x = np.linspace(np.nanmin(rows[:, position]), np.nanmax(rows[:, position]), grid_resolution)
        grid = rows_around(rows, [position], x[:, np.newaxis])
        probability = respond_to_rows(estimator, grid, ["predict_proba"])["predict_proba"][:, target]
        names = estimator.schema_.names
        display = cls(
            x=x,
            probability=probability,
            feature_name=names[position],
            class_label=class_name(estimator, target),
            truth=None if truth is None else np.asarray(truth(x), dtype=np.float64),
            name=name,
            note=why_flat(probability, estimator.forest_, [position], names),
        )
        return display.plot(ax, **kwargs)
