"""Answers and regions of a tree for measured inputs, over two columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hedgerow.plots.display import AxesOrNone, Display, Floats, Keywords
from hedgerow.plots.labels import literal_label
from hedgerow.plots.measured.soft_answers import check_measured, region_shares, region_values
from hedgerow.plots.palette import BLACK, VERMILION
from hedgerow.plots.slices import column_pair, median_row, slice_rows, why_flat

__all__ = ["SoftRegionsDisplay"]

_FAINTEST = 0.02  # regions in which no drawn row has a larger membership are omitted


@dataclass(kw_only=True, eq=False, repr=False)
class SoftRegionsDisplay(Display):
    """Answers of a tree over two columns, and the borders of its regions, across which answers change gradually.

    Create it with :meth:`from_estimator`.

    Parameters
    ----------
    x : ndarray of shape (n,)
        Values of the first column.
    y : ndarray of shape (m,)
        Values of the second column.
    answers : ndarray of shape (resolution, resolution)
        Answer at each y and x.
    bounds : ndarray of shape (k, 2, 2)
        Lower and upper bound of each region in both columns.
    weights : ndarray of shape (k,)
        Largest membership of a drawn row in each region.
    sigma : sequence of two floats
        Standard deviations of the errors.
    labels : sequence of three str
        Labels of the columns and of the answers.
    note : str or None, default=None
        Text in the axes, such as why the answer is constant.

    Attributes
    ----------
    surface_ : matplotlib QuadMesh
    border_lines_ : list of matplotlib Line2D, fainter for regions with small weights
    sigma_line_ : matplotlib ErrorbarContainer, ±1 standard deviation of the errors, or None for exact columns

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

    x: Floats
    y: Floats
    answers: Floats
    bounds: Floats
    weights: Floats
    sigma: Sequence[float]
    labels: Sequence[str]
    note: str | None = None

    def plot(
        self, ax: AxesOrNone = None, *, colorbar: bool = True, surface_kw: Keywords = None, border_kw: Keywords = None
    ) -> Self:
        """Draw answers as colours, borders as lines, and the standard deviations of errors as a cross.

        `surface_kw` and `border_kw` are for matplotlib's `pcolormesh` and `plot`.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.
        colorbar : bool, default=True
            Whether to draw a colour bar.
        surface_kw : dict or None, default=None
            Keywords for the coloured surface.
        border_kw : dict or None, default=None
            Keywords for the borders of the regions.

        Returns
        -------
        self
            The Display, with what was drawn as attributes.
        """
        axes = self._axes(ax, layout="constrained")
        from matplotlib import patheffects as path_effects

        xlabel, ylabel, answer = map(literal_label, self.labels)
        style = {"cmap": "cividis", "shading": "nearest", "rasterized": True, **(surface_kw or {})}
        self.surface_ = axes.pcolormesh(self.x, self.y, self.answers, **style)
        if colorbar:
            axes.figure.colorbar(self.surface_, ax=axes, label=answer)
        # White with a dark outline is visible on every colour.
        outline = path_effects.withStroke(linewidth=2.4, foreground=BLACK)
        style = {"color": "white", "linewidth": 1.1, "path_effects": [outline]}
        limits = [(float(values.min()), float(values.max())) for values in (self.x, self.y)]
        borders = self._borders(limits)
        self.border_lines_ = [self._line(x, y, border_kw, **style, alpha=weight) for x, y, weight in borders]
        self.sigma_line_ = self._draw_cross(limits)
        axes.set(xlim=limits[0], ylim=limits[1], xlabel=xlabel, ylabel=ylabel)
        axes.set_title("Answers change gradually across borders", fontsize="medium")
        self._write_note(self.note)
        return self

    def _borders(self, limits: list[tuple[float, float]]) -> list[tuple[list[float], list[float], float]]:
        """Find the ends of each border, once, and the largest weight of the regions that share it."""
        found: dict[tuple[float, ...], float] = {}
        for region, weight in zip(self.bounds, self.weights, strict=True):
            if weight < _FAINTEST:
                continue
            (left, right), (bottom, top) = (np.clip(region[j], *limits[j]).tolist() for j in (0, 1))
            edges = {
                (left, left, bottom, top): region[0, 0],
                (right, right, bottom, top): region[0, 1],
                (left, right, bottom, bottom): region[1, 0],
                (left, right, top, top): region[1, 1],
            }
            for edge, at in edges.items():
                if np.isfinite(at):
                    found[edge] = max(found.get(edge, 0.0), float(weight))
        return [([a, b], [c, d], min(weight, 1.0)) for (a, b, c, d), weight in found.items()]

    def _draw_cross(self, limits: list[tuple[float, float]]) -> Any:
        if not any(self.sigma):
            return None
        axes: Any = self.ax_
        centre = [low + 0.12 * (high - low) for low, high in limits]
        style = {"color": VERMILION, "ecolor": VERMILION, "elinewidth": 2.2, "capsize": 4, "capthick": 2.2, "zorder": 4}
        cross = axes.errorbar(*centre, xerr=self.sigma[0] or None, yerr=self.sigma[1] or None, fmt="none", **style)
        box = {"facecolor": "white", "alpha": 0.7, "edgecolor": "none", "pad": 1}
        axes.annotate("±σ", centre, (8, 8), textcoords="offset points", color=BLACK, zorder=5).set_bbox(box)
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
        ax: AxesOrNone = None,
        **kwargs: Any,
    ) -> Self:
        """Compute the answers of a fitted tree on a grid, and draw them.

        Parameters
        ----------
        estimator : fitted MeasuredTreeRegressor or MeasuredTreeClassifier
            The model.
        X : array-like or frame of shape (n_samples, n_features)
            Rows that give the ranges of the two columns, and the medians or most frequent categories of the others.
        features : two names or positions of columns, default=(0, 1)
            Two names or positions of columns.
        class_label : label or None, default=None
            Class whose answer is drawn, for a classifier; None is the last.
        grid_resolution : int, default=150
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
        check_measured(estimator)
        schema = estimator.schema_
        columns = column_pair(schema, features)
        values, answer = region_values(estimator, class_label)
        observed = schema.read(X, estimator=estimator)
        (x, y), rows = slice_rows(schema, observed, columns, grid_resolution, others=median_row)
        shares = region_shares(estimator, rows)
        answers = (shares @ values).reshape(grid_resolution, grid_resolution)
        return cls(
            x=x,
            y=y,
            answers=answers,
            bounds=estimator.regions_[:, columns],
            weights=shares.max(axis=0),
            sigma=[float(estimator.sigma_[column]) for column in columns],
            labels=[*(schema.names[column] for column in columns), answer],
            note=why_flat(answers, estimator.forest_, columns, schema.names),
        ).plot(ax, **kwargs)
