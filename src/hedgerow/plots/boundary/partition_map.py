"""Subsets of rows that boundary probabilities are estimated from, in two columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow.boundary.partitions import groups, partition
from hedgerow.estimators.contract import read_rows
from hedgerow.plots.boundary.probability import check_boundary
from hedgerow.plots.display import BESIDE, AxesOrNone, Display, Floats
from hedgerow.plots.labels import legend_label, literal_label
from hedgerow.plots.palette import BLACK, BLUE, GREEN, LIGHT_GREY, ORANGE, PURPLE, SKY_BLUE, VERMILION
from hedgerow.plots.requirements import class_position
from hedgerow.plots.slices import column_pair

__all__ = ["PartitionDisplay"]

_COLORS = (BLUE, ORANGE, GREEN, PURPLE, SKY_BLUE, VERMILION)
_STYLES = tuple(zip(_COLORS, ("o", "s", "^", "D", "v", "P"), strict=True))


@dataclass(kw_only=True, eq=False, repr=False)
class PartitionDisplay(Display):
    """Rows by the subset of training rows that their probability is estimated from (Figure 2 of the paper).

    Create it with :meth:`from_estimator`.

    Parameters
    ----------
    points : ndarray of shape (n, 2)
        Rows in the two columns.
    subset : int ndarray of shape (n,)
        Number of the subset of each row; -1 is all training rows.
    subset_names : dict of int to str
        Labels in the legend.
    thresholds : sequence of (0 or 1, float)
        Thresholds on the two columns, drawn as lines.
    feature_names : sequence of two str
        Names of the columns.
    title : str
        Title of the picture.

    Attributes
    ----------
    points_ : list of matplotlib PathCollection, one for each subset
    separator_lines_ : list of matplotlib Line2D

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import BoundaryClassifier
    >>> from hedgerow.plots import PartitionDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BoundaryClassifier(partition="separator").fit(X[:, 2:], y)
    >>> display = PartitionDisplay.from_estimator(model, X[:, 2:], class_label=1)
    >>> sorted(display.subset_names.values())
    ['x0 at 2.45', 'x0 at 4.95', 'x0 at 5.45', 'x1 at 1.55', 'x1 at 1.65', 'x1 at 1.75']
    """

    points: Floats
    subset: NDArray[np.int64]
    subset_names: dict[int, str]
    thresholds: Sequence[tuple[int, float]]
    feature_names: Sequence[str]
    title: str

    def plot(self, ax: AxesOrNone = None, *, legend: bool = True) -> Self:
        """Draw the rows, with a colour and a marker for each subset, and the thresholds of the tree.

        More than twelve subsets have no legend.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.
        legend : bool, default=True
            Whether to draw a legend.

        Returns
        -------
        self
            The Display, with what was drawn as attributes.
        """
        axes = self._axes(ax, layout="constrained")
        self.separator_lines_ = [
            (axes.axvline if side == 0 else axes.axhline)(at, color=BLACK, linewidth=1.0, linestyle="--", zorder=1)
            for side, at in self.thresholds
        ]
        self.points_: list[Any] = []
        for number, name in self.subset_names.items():
            color, marker = _STYLES[len(self.points_) % len(_STYLES)] if number >= 0 else (LIGHT_GREY, "x")
            edge = {} if marker == "x" else {"edgecolors": "white", "linewidths": 0.4}
            style = {"c": color, "marker": marker, "s": 18, "zorder": 2, "label": legend_label(name), **edge}
            self.points_.append(axes.scatter(*self.points[self.subset == number].T, **style))
        xlabel, ylabel = map(literal_label, self.feature_names)
        axes.set(xlabel=xlabel, ylabel=ylabel, title=literal_label(self.title))
        if legend and len(self.points_) <= 2 * len(_STYLES):
            axes.legend(fontsize="small", **BESIDE)
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        features: Sequence[Any] = (0, 1),
        kind: str | None = None,
        class_label: Any = None,
        ax: AxesOrNone = None,
        **kwargs: Any,
    ) -> Self:
        """Find the subset of each row with a fitted boundary classifier, and draw the rows.

        Parameters
        ----------
        estimator : fitted BoundaryClassifier
            The model.
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.
        features : two names or positions of columns, default=(0, 1)
            Two names or positions of columns.
        kind : {"global", "separator", "leaf"} or None, default=None
            Partition that is drawn; None is that of the estimator.
        class_label : label or None, default=None
            Class whose boundary is drawn; None is the last.
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
        chosen = partition(estimator.partition if kind is None else kind)
        names = estimator.schema_.names
        columns = column_pair(estimator.schema_, features)
        target = class_position(estimator.classes_, class_label)
        rows, boundary = read_rows(estimator, X), estimator.boundary_
        nearest = boundary.measure(rows, estimator.scale_)
        subset = groups(chosen, boundary, nearest)[nearest.fractions.heaviest, target]
        numbers = np.unique(subset)
        subset_names = {int(number): f"leaf {number}" if number >= 0 else "all rows" for number in numbers}
        if chosen == "separator":
            for number, feature, at in zip(numbers, *boundary.separators(numbers), strict=True):
                if feature >= 0:
                    subset_names[int(number)] = names[feature] + ("" if np.isnan(at) else f" at {at:.3g}")
        splits = zip(boundary.shape.feature, boundary.shape.threshold, strict=True)
        return cls(
            points=rows[:, columns],
            subset=subset,
            subset_names=subset_names,
            thresholds=sorted({(columns.index(j), float(t)) for j, t in splits if j in columns and np.isfinite(t)}),
            feature_names=[names[column] for column in columns],
            title=f"Partition by {chosen}" if chosen != "global" else "No partition",
        ).plot(ax, **kwargs)
