"""The decision boundary of a tree in two columns, and the probability of a class around it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.plots.boundaries import (
    boundary_of,
    check_boundary,
    class_name,
    class_position,
    column_position,
    rows_around,
)
from hedgerow.plots.canvas import BLACK, BLUE, VERMILION, axes_or_new, pyplot, write_note
from hedgerow.plots.flatness import why_flat
from hedgerow.plots.labels import legend_label, literal_label
from hedgerow.walk import route

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["ProbabilitySurfaceDisplay"]

Floats = NDArray[np.float64]


class ProbabilitySurfaceDisplay:
    """The probability of a class as two columns change, the others staying in the middle, and the tree's boundary.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    x, y : ndarrays of shape (n,) and (m,)
        Values of the two columns.
    probability : ndarray of shape (m, n)
    inside : bool ndarray of shape (m, n)
        Whether the tree answers with the class.
    feature_names : sequence of two str
    class_label : str
    points : ndarray of shape (n_points, 2) or None
        Rows to draw over the surface.
    positive : bool ndarray of shape (n_points,) or None
        Which of them are of the class.
    note : str or None
        A sentence to write into the axes, such as why the probability is the same everywhere.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    surface_ : matplotlib QuadMesh
    boundary_ : matplotlib QuadContourSet or None
        None where the tree has one answer for all.
    points_ : list of matplotlib PathCollection
        Of the class and of others, if there are points.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import BoundaryClassifier
    >>> from hedgerow.plots import ProbabilitySurfaceDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BoundaryClassifier().fit(X[:, 2:], y)
    >>> display = ProbabilitySurfaceDisplay.from_estimator(model, X[:, 2:], y, class_label=1)
    >>> display.probability.shape
    (200, 200)
    """

    ax_: Axes
    figure_: Figure
    surface_: Any
    boundary_: Any
    points_: list[Any]

    def __init__(
        self,
        *,
        x: Floats,
        y: Floats,
        probability: Floats,
        inside: NDArray[np.bool_],
        feature_names: Sequence[str],
        class_label: str,
        points: Floats | None = None,
        positive: NDArray[np.bool_] | None = None,
        note: str | None = None,
    ) -> None:
        self.x = x
        self.y = y
        self.probability = probability
        self.inside = inside
        self.feature_names = feature_names
        self.class_label = class_label
        self.points = points
        self.positive = positive
        self.note = note

    def plot(self, ax: Axes | None = None, *, colorbar: bool = True, legend: bool = True) -> ProbabilitySurfaceDisplay:
        """Draw the surface, the boundary on it, and the rows if there are any.

        Parameters
        ----------
        ax : matplotlib Axes or None
            None makes a new figure.
        colorbar : bool
            Whether to say which colour is which probability.
        legend : bool
            Whether to say what is what.
        """
        from matplotlib.colors import LinearSegmentedColormap
        from matplotlib.lines import Line2D

        axes = axes_or_new(ax, f"{type(self).__name__}.plot", layout="constrained")
        shades = LinearSegmentedColormap.from_list("probability", [VERMILION, "#F7F7F7", BLUE])
        mesh = {"cmap": shades, "vmin": 0.0, "vmax": 1.0, "shading": "nearest", "rasterized": True, "alpha": 0.6}
        self.surface_ = axes.pcolormesh(self.x, self.y, self.probability, **mesh)
        self.boundary_ = None
        handles = []
        if self.inside.any() and not self.inside.all():
            line = {"colors": BLACK, "linewidths": 1.6}
            self.boundary_ = axes.contour(self.x, self.y, self.inside.astype(float), levels=[0.5], **line)
            handles.append(Line2D([], [], color=BLACK, linewidth=1.6, label="the tree's boundary"))
        self.points_ = self._draw_points(axes)
        across, up = map(literal_label, self.feature_names)
        axes.set(xlabel=across, ylabel=up, title=f"Probability of {literal_label(self.class_label)}")
        write_note(axes, self.note)
        axes.set_xlim(self.x[0], self.x[-1])
        axes.set_ylim(self.y[0], self.y[-1])
        if colorbar:
            axes.figure.colorbar(self.surface_, ax=axes, label=f"probability of {literal_label(self.class_label)}")
        if legend and (handles or self.points_):
            axes.legend(handles=[*handles, *self.points_], loc="best", fontsize="small")
        self.ax_, self.figure_ = axes, axes.figure
        return self

    def _draw_points(self, ax: Any) -> list[Any]:
        if self.points is None or self.positive is None:
            return []
        own = legend_label(self.class_label)
        looks = ((self.positive, BLUE, "o", own), (~self.positive, VERMILION, "s", "others"))
        return [
            ax.scatter(
                *self.points[some].T, s=16, c=colour, marker=marker, edgecolors="white", linewidths=0.6, label=name
            )
            for some, colour, marker, name in looks
            if some.any()
        ]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        features: Sequence[Any] = (0, 1),
        class_label: Any = None,
        grid_resolution: int = 200,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> ProbabilitySurfaceDisplay:
        """Ask a fitted boundary classifier for probabilities on a grid, and draw them.

        Parameters
        ----------
        estimator : fitted BoundaryClassifier
        X : table
            The range of the two columns, with a margin, and the middle of the others.
        y : labels or None
            With them the rows are drawn too.
        features : two names or numbers of columns
        class_label : label or None
            Whose probability; None is the last class.
        grid_resolution : int
            Values of each column.
        ax : matplotlib Axes or None
        **kwargs
            For :meth:`plot`.
        """
        pyplot(f"{cls.__name__}.from_estimator")
        check_boundary(estimator)
        if len(features) != 2:
            raise ValueError(f"features has {len(features)} columns, must have two")
        columns = [column_position(estimator, column) for column in features]
        target = class_position(estimator, class_label)
        rows = estimator._read(X)
        x, other = (_range_of(rows[:, column], grid_resolution) for column in columns)
        grid = rows_around(rows, columns, np.stack(np.meshgrid(x, other), axis=-1).reshape(-1, 2))
        boundary = boundary_of(estimator)
        leaves = route(boundary.forest, grid)[:, 0]
        shape = (len(other), len(x))
        probability = estimator._proba(grid)[:, target]
        names = estimator.schema_.names
        display = cls(
            x=x,
            y=other,
            probability=probability.reshape(shape),
            inside=(boundary.labels[leaves] == target).reshape(shape),
            feature_names=[names[column] for column in columns],
            class_label=class_name(estimator, target),
            points=None if y is None else rows[:, columns],
            positive=None if y is None else np.asarray(y) == estimator.classes_[target],
            note=why_flat(probability, estimator.forest_, columns, names),
        )
        return display.plot(ax, **kwargs)


def _range_of(column: Floats, n: int) -> Floats:
    low, high = np.nanmin(column), np.nanmax(column)
    margin = 0.05 * (high - low) or 0.5
    return np.linspace(low - margin, high + margin, n)
