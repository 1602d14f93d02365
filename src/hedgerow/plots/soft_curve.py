"""What trees answer along one column, against the truth."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.plots.canvas import BLACK, BLUE, LIGHT_GREY, VERMILION, axes_or_new, line_style, pyplot, write_note
from hedgerow.plots.flatness import why_flat
from hedgerow.plots.labels import literal_label
from hedgerow.plots.slices import (
    check_measured,
    column_number,
    output_number,
    output_values,
    soft_shares,
    typical_row,
    usual_range,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["SoftCurveDisplay"]

Floats = NDArray[np.float64]


class SoftCurveDisplay:
    """The answers of a tree that knows about errors, of one that does not, and the truth.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    x : ndarray of shape (m,)
        Values of the column, rising.
    soft : ndarray of shape (m,)
        Answers to observed values.
    hard, truth : ndarray of shape (m,) or None
        Answers of a plain tree, and the truth at latent values.
    points : ndarray of shape (n, 2) or None
        Observed values and targets.
    labels : two str
        Of the column and of the answers.
    note : str or None
        A sentence to write into the axes, such as why the answer is the same everywhere.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    soft_line_ : matplotlib Line2D
    hard_line_, truth_line_ : matplotlib Line2D or None
    points_ : matplotlib PathCollection or None

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow import MeasuredTreeRegressor
    >>> from hedgerow.plots import SoftCurveDisplay
    >>> rng = np.random.default_rng(0)
    >>> latent = rng.uniform(size=400)
    >>> X, y = (latent + rng.normal(0, 0.1, size=400)).reshape(-1, 1), np.floor(3 * latent)
    >>> soft, hard = (MeasuredTreeRegressor(sigma, max_leaf_nodes=3).fit(X, y) for sigma in (0.1, 0))
    >>> display = SoftCurveDisplay.from_estimator(soft, X, hard=hard, truth=lambda u: np.floor(3 * u.clip(0, 0.999)))
    >>> len(np.unique(display.hard))
    3
    """

    ax_: Axes
    figure_: Figure
    soft_line_: Any
    hard_line_: Any
    truth_line_: Any
    points_: Any

    def __init__(
        self,
        *,
        x: Floats,
        soft: Floats,
        hard: Floats | None = None,
        truth: Floats | None = None,
        points: Floats | None = None,
        labels: tuple[str, str] = ("x", "answer"),
        note: str | None = None,
    ) -> None:
        self.x = x
        self.soft = soft
        self.hard = hard
        self.truth = truth
        self.points = points
        self.labels = labels
        self.note = note

    def plot(
        self,
        ax: Axes | None = None,
        *,
        legend: bool = True,
        soft_kw: dict[str, Any] | None = None,
        hard_kw: dict[str, Any] | None = None,
        truth_kw: dict[str, Any] | None = None,
    ) -> SoftCurveDisplay:
        """Draw the lines that there are.

        Parameters
        ----------
        ax : matplotlib Axes or None
            None makes a new figure.
        legend : bool
            Whether to say what is what.
        soft_kw, hard_kw, truth_kw : dict or None
            For matplotlib's `plot`, instead of the styles that are built in.
        """
        axes = axes_or_new(ax, f"{type(self).__name__}.plot", layout="constrained")
        self.points_ = None
        if self.points is not None:
            self.points_ = axes.scatter(*self.points.T, s=6, color=LIGHT_GREY, linewidths=0, zorder=1, label="rows")
        looks: dict[str, tuple[Floats | None, dict[str, Any], dict[str, Any] | None]] = {
            "truth": (
                self.truth,
                {"color": BLACK, "linestyle": "--", "linewidth": 1.2, "label": "truth, latent x"},
                truth_kw,
            ),
            "hard": (self.hard, {"color": VERMILION, "linewidth": 1.2, "label": "plain tree"}, hard_kw),
            "soft": (self.soft, {"color": BLUE, "linewidth": 2.2, "label": "tree that knows the errors"}, soft_kw),
        }
        lines = {
            name: None if values is None else axes.plot(self.x, values, **line_style({**look, "zorder": 3}, given))[0]
            for name, (values, look, given) in looks.items()
        }
        self.truth_line_, self.hard_line_, self.soft_line_ = lines["truth"], lines["hard"], lines["soft"]
        axes.set(xlabel=literal_label(self.labels[0]), ylabel=literal_label(self.labels[1]))
        write_note(axes, self.note)
        axes.set_title("Answers to what was observed")
        if legend:
            axes.legend()
        self.ax_, self.figure_ = axes, axes.figure
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike | None = None,
        *,
        hard: Any = None,
        truth: Callable[[Floats], ArrayLike] | None = None,
        features: Any = 0,
        class_label: Any = None,
        grid_resolution: int = 400,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> SoftCurveDisplay:
        """Ask a fitted tree, and a second one, along one column, and draw what they say.

        Parameters
        ----------
        estimator : fitted MeasuredTreeRegressor or MeasuredTreeClassifier
        X : table
            Rows that show the range of the column; the others are held at their medians or most frequent categories.
        y : array-like of shape (n,) or None
            Numbers to draw as points beside the lines.
        hard : fitted tree of the same kind or None
            To compare with, such as one that was fitted with ``sigma=0``.
        truth : function of an array or None
            What is true at values of the column, if somebody knows.
        features : name or number of the column
        class_label : a label or None
            Of a classifier, whose least-squares value to draw; None is the last class.
        grid_resolution : int
            Rows along the column.
        ax : matplotlib Axes or None
        **kwargs
            For :meth:`plot`.
        """
        pyplot(f"{cls.__name__}.from_estimator")
        check_measured(estimator)
        drawn, output = column_number(estimator, features), output_number(estimator, class_label)
        x = np.linspace(*usual_range(estimator, X, drawn), grid_resolution)
        rows = np.tile(typical_row(estimator, X), (grid_resolution, 1))
        rows[:, drawn] = x
        lines = []
        for model in (estimator, hard):
            if model is not None:
                check_measured(model)
            lines.append(None if model is None else soft_shares(model, rows)[1] @ output_values(model, output))
        points = None
        if y is not None:
            observed = estimator.schema_.read(X, estimator=estimator)[:, drawn]
            points = np.column_stack([observed, np.asarray(y, dtype=np.float64)])
        told = f"share of {estimator.classes_[output]}" if hasattr(estimator, "classes_") else "answer"
        display = cls(
            x=x,
            soft=np.asarray(lines[0]),
            hard=lines[1],
            truth=None if truth is None else np.asarray(truth(x), dtype=np.float64),
            points=points,
            labels=(estimator.schema_.names[drawn], told),
            note=why_flat(np.asarray(lines[0]), estimator.forest_, [drawn], estimator.schema_.names),
        )
        return display.plot(ax, **kwargs)
