"""Probability of a class over two columns, and the decision boundary of the tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow.estimators.contract import read_rows
from hedgerow.plots.boundary.probability import check_boundary, class_probability
from hedgerow.plots.display import AxesOrNone, Display, Floats
from hedgerow.plots.labels import legend_label, literal_label
from hedgerow.plots.palette import BLACK, BLUE, VERMILION
from hedgerow.plots.requirements import class_position
from hedgerow.plots.slices import column_pair, observed_row, slice_rows, why_flat
from hedgerow.walk import route

__all__ = ["ProbabilitySurfaceDisplay"]


@dataclass(kw_only=True, eq=False, repr=False)
class ProbabilitySurfaceDisplay(Display):
    """Probability of a class over two columns, the others held at their medians, and the boundary of the tree.

    Create it with :meth:`from_estimator`.

    Parameters
    ----------
    x : ndarray of shape (n,)
        Values of the first column.
    y : ndarray of shape (m,)
        Values of the second column.
    probability : ndarray of shape (m, n)
        Probability of the class on the grid.
    inside : bool ndarray of shape (m, n)
        Whether the tree predicts the class.
    feature_names : sequence of two str
        Names of the columns.
    class_label : str
        The class.
    points : ndarray of shape (n_points, 2) or None, default=None
        Rows to draw over the surface.
    positive : bool ndarray of shape (n_points,) or None, default=None
        Whether they are of the class.
    note : str or None, default=None
        Text in the axes, such as why the probability is constant.

    Attributes
    ----------
    surface_ : matplotlib QuadMesh
    boundary_ : matplotlib QuadContourSet, or None if the tree predicts the same everywhere
    points_ : list of matplotlib PathCollection, rows of the class and of others

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

    x: Floats
    y: Floats
    probability: Floats
    inside: NDArray[np.bool_]
    feature_names: Sequence[str]
    class_label: str
    points: Floats | None = None
    positive: NDArray[np.bool_] | None = None
    note: str | None = None

    def plot(self, ax: AxesOrNone = None, *, colorbar: bool = True, legend: bool = True) -> Self:
        """Draw the surface, the boundary on it, and the rows.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.
        colorbar : bool, default=True
            Whether to draw a colour bar.
        legend : bool, default=True
            Whether to draw a legend.

        Returns
        -------
        self
            The Display, with what was drawn as attributes.
        """
        axes = self._axes(ax, layout="constrained")
        from matplotlib.colors import LinearSegmentedColormap
        from matplotlib.lines import Line2D

        shades = LinearSegmentedColormap.from_list("probability", [VERMILION, "#F7F7F7", BLUE])
        style = {"cmap": shades, "vmin": 0.0, "vmax": 1.0, "shading": "nearest", "rasterized": True, "alpha": 0.6}
        self.surface_ = axes.pcolormesh(self.x, self.y, self.probability, **style)
        self.boundary_: Any = None
        handles: list[Any] = []
        if self.inside.any() and not self.inside.all():
            contour = {"levels": [0.5], "colors": BLACK, "linewidths": 1.6}
            self.boundary_ = axes.contour(self.x, self.y, self.inside.astype(float), **contour)
            handles.append(Line2D([], [], color=BLACK, linewidth=1.6, label="the tree's boundary"))
        self.points_ = self._draw_points()
        xlabel, ylabel = map(literal_label, self.feature_names)
        label = literal_label(self.class_label)
        axes.set(xlabel=xlabel, ylabel=ylabel, title=f"Probability of {label}")
        self._write_note(self.note)
        axes.set(xlim=(self.x[0], self.x[-1]), ylim=(self.y[0], self.y[-1]))
        if colorbar:
            axes.figure.colorbar(self.surface_, ax=axes, label=f"probability of {label}")
        if legend and (handles or self.points_):
            shown = [*handles, *self.points_]
            axes.legend(handles=shown, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3, fontsize="small")
        return self

    def _draw_points(self) -> list[Any]:
        if self.points is None or self.positive is None:
            return []
        of_class = (self.positive, BLUE, "o", legend_label(self.class_label))
        axes: Any = self.ax_
        style = {"s": 16, "edgecolors": "white", "linewidths": 0.6}
        return [
            axes.scatter(*self.points[some].T, c=color, marker=marker, label=label, **style)
            for some, color, marker, label in (of_class, (~self.positive, VERMILION, "s", "others"))
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
        ax: AxesOrNone = None,
        **kwargs: Any,
    ) -> Self:
        """Compute probabilities of a fitted boundary classifier on a grid, and draw them.

        Parameters
        ----------
        estimator : fitted BoundaryClassifier
            The model.
        X : array-like or frame of shape (n_samples, n_features)
            Rows that give the ranges of the two columns and the medians of the others.
        y : array-like of shape (n_samples,) or None, default=None
            Labels of the rows, which are then drawn; None draws none.
        features : two names or positions of columns, default=(0, 1)
            Two names or positions of columns.
        class_label : label or None, default=None
            The class; None is the last.
        grid_resolution : int, default=200
            Number of values of each column.
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.
        **kwargs
            Passed on to :meth:`plot`.

        Returns
        -------
        Display
            The Display, drawn.
        """
        cls._pyplot("from_estimator")
        check_boundary(estimator)
        schema = estimator.schema_
        columns = column_pair(schema, features)
        target = class_position(estimator.classes_, class_label)
        rows, boundary = read_rows(estimator, X), estimator.boundary_
        values, grid = slice_rows(schema, rows, columns, grid_resolution, others=observed_row, margin=0.05)
        shape = (grid_resolution, grid_resolution)
        probability = class_probability(estimator, grid, target).reshape(shape)
        inside = boundary.labels[route(boundary.forest, grid)[:, 0]] == target
        return cls(
            x=values[0],
            y=values[1],
            probability=probability,
            inside=inside.reshape(shape),
            feature_names=[schema.names[column] for column in columns],
            class_label=str(estimator.classes_[target]),
            points=None if y is None else rows[:, columns],
            positive=None if y is None else np.asarray(y) == estimator.classes_[target],
            note=why_flat(probability, estimator.forest_, columns, schema.names),
        ).plot(ax, **kwargs)
