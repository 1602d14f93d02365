"""The regions of a soft tree in two of its columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.plots.canvas import BLACK, VERMILION, axes_or_new, line_style, pyplot, write_note
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

__all__ = ["SoftRegionsDisplay"]

Floats = NDArray[np.float64]

_FAINTEST = 0.02  # regions that no drawn row is in with more than this are left out


class SoftRegionsDisplay:
    """What a tree answers over two columns, and the borders of its regions, which answers cross gradually.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    x, y : ndarray of shape (resolution,)
        Observed values of the two columns.
    answers : ndarray of shape (resolution, resolution)
        For each y and x.
    bounds : ndarray of shape (k, 2, 2)
        Lower and upper bound of each region in both columns.
    weights : ndarray of shape (k,)
        The largest membership that a drawn row has in it.
    sigma : sequence of two floats
        The sizes of errors.
    labels : sequence of three str
        Of the columns and of the answers.
    note : str or None
        A sentence to write into the axes, such as why the answer is the same everywhere.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    surface_ : matplotlib QuadMesh
    border_lines_ : list of matplotlib Line2D
        The more faint, the less any drawn row is inside.
    sigma_line_ : matplotlib ErrorbarContainer or None
        A cross of ±1 standard deviation of the errors; None if there are none.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow import MeasuredTreeRegressor
    >>> from hedgerow.plots import SoftRegionsDisplay
    >>> rng = np.random.default_rng(0)
    >>> latent = rng.uniform(size=(400, 2))
    >>> X, y = latent + rng.normal(0, 0.08, size=(400, 2)), (latent > 0.5).sum(axis=1)
    >>> model = MeasuredTreeRegressor(0.08, max_leaf_nodes=4).fit(X, y)
    >>> SoftRegionsDisplay.from_estimator(model, X).answers.shape
    (150, 150)
    """

    ax_: Axes
    figure_: Figure
    surface_: Any
    border_lines_: list[Any]
    sigma_line_: Any

    def __init__(
        self,
        *,
        x: Floats,
        y: Floats,
        answers: Floats,
        bounds: Floats,
        weights: Floats,
        sigma: Sequence[float],
        labels: Sequence[str],
        note: str | None = None,
    ) -> None:
        self.x = x
        self.y = y
        self.answers = answers
        self.bounds = bounds
        self.weights = weights
        self.sigma = sigma
        self.labels = labels
        self.note = note

    def plot(
        self,
        ax: Axes | None = None,
        *,
        colorbar: bool = True,
        surface_kw: dict[str, Any] | None = None,
        border_kw: dict[str, Any] | None = None,
    ) -> SoftRegionsDisplay:
        """Draw answers as colours, borders as lines, and the size of errors as a cross.

        Parameters
        ----------
        ax : matplotlib Axes or None
            None makes a new figure.
        colorbar : bool
            Whether to say what the colours mean.
        surface_kw, border_kw : dict or None
            For matplotlib's `pcolormesh`, and its `plot` of borders, instead of the styles that are built in.
        """
        axes = axes_or_new(ax, f"{type(self).__name__}.plot", layout="constrained")
        from matplotlib import patheffects as path_effects

        style = {"cmap": "cividis", "shading": "nearest", "rasterized": True, **(surface_kw or {})}
        self.surface_ = axes.pcolormesh(self.x, self.y, self.answers, **style)
        if colorbar:
            axes.figure.colorbar(self.surface_, ax=axes, label=literal_label(self.labels[2]))
        limits = [(float(ends.min()), float(ends.max())) for ends in (self.x, self.y)]
        # White with a dark rim, to be seen on every colour.
        rim = path_effects.withStroke(linewidth=2.4, foreground=BLACK)
        style = {"color": "white", "linewidth": 1.1, "path_effects": [rim]}
        self.border_lines_ = [
            axes.plot(*line, **line_style({**style, "alpha": weight}, border_kw))[0]
            for line, weight in self._borders(limits)
        ]
        self.sigma_line_ = self._cross(axes, limits)
        axes.set(
            xlim=limits[0], ylim=limits[1], xlabel=literal_label(self.labels[0]), ylabel=literal_label(self.labels[1])
        )
        axes.set_title("Answers cross borders as gradually as errors are large", fontsize="medium")
        write_note(axes, self.note)
        self.ax_, self.figure_ = axes, axes.figure
        return self

    def _borders(self, limits: list[tuple[float, float]]) -> list[tuple[tuple[list[float], list[float]], float]]:
        """Each border once, as strong as the strongest region that has it."""
        found: dict[tuple[float, ...], float] = {}
        for region, weight in zip(self.bounds, self.weights, strict=True):
            if weight < _FAINTEST:
                continue
            (left, right), (bottom, top) = (np.clip(region[j], *limits[j]) for j in (0, 1))
            edges = {
                (left, left, bottom, top): region[0, 0],
                (right, right, bottom, top): region[0, 1],
                (left, right, bottom, bottom): region[1, 0],
                (left, right, top, top): region[1, 1],
            }
            for edge, at in edges.items():
                if np.isfinite(at):
                    place = tuple(float(end) for end in edge)
                    found[place] = max(found.get(place, 0.0), float(weight))
        return [(([a, b], [c, d]), min(weight, 1.0)) for (a, b, c, d), weight in found.items()]

    def _cross(self, axes: Any, limits: list[tuple[float, float]]) -> Any:
        if not any(self.sigma):
            return None
        place = [low + 0.12 * (high - low) for low, high in limits]
        style = {"color": VERMILION, "ecolor": VERMILION, "elinewidth": 2.2, "capsize": 4, "capthick": 2.2, "zorder": 4}
        cross = axes.errorbar(*place, xerr=self.sigma[0] or None, yerr=self.sigma[1] or None, fmt="none", **style)
        axes.annotate("±σ", place, (8, 8), textcoords="offset points", color=BLACK, zorder=5).set_bbox(
            {"facecolor": "white", "alpha": 0.7, "edgecolor": "none", "pad": 1}
        )
        return cross

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        features: Sequence[Any] = (0, 1),
        class_label: Any = None,
        grid_resolution: int = 150,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> SoftRegionsDisplay:
        """Ask a fitted tree about a grid of rows, and draw what it says.

        Parameters
        ----------
        estimator : fitted MeasuredTreeRegressor or MeasuredTreeClassifier
        X : table
            Rows that show the range of the columns. The columns that are not drawn are held at their medians, nominal
            ones at the most frequent category.
        features : two names or numbers of columns
        class_label : a label or None
            Of a classifier, whose least-squares value to draw; None is the last class.
        grid_resolution : int
            Rows of the grid in each direction.
        ax : matplotlib Axes or None
        **kwargs
            For :meth:`plot`.
        """
        pyplot(f"{cls.__name__}.from_estimator")
        check_measured(estimator)
        if len(features) != 2:
            raise ValueError(f"features is {features!r}, must name two columns")
        drawn = [column_number(estimator, feature) for feature in features]
        output = output_number(estimator, class_label)
        x, y = (np.linspace(*usual_range(estimator, X, j), grid_resolution) for j in drawn)
        rows = np.tile(typical_row(estimator, X), (grid_resolution**2, 1))
        rows[:, drawn[0]], rows[:, drawn[1]] = (grid.ravel() for grid in np.meshgrid(x, y))
        regions, shares = soft_shares(estimator, rows)
        answers = (shares @ output_values(estimator, output)).reshape(grid_resolution, grid_resolution)
        names = estimator.schema_.names
        told = f"share of {estimator.classes_[output]}" if hasattr(estimator, "classes_") else "answer"
        display = cls(
            x=x,
            y=y,
            answers=answers,
            bounds=regions.bounds[:, drawn],
            weights=shares.max(axis=0),
            sigma=[float(estimator.sigma_[j]) for j in drawn],
            labels=[names[drawn[0]], names[drawn[1]], told],
            note=why_flat(answers, estimator.forest_, drawn, names),
        )
        return display.plot(ax, **kwargs)
