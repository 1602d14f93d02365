"""Which rows are compared with each other: the subsets of a partition, in two columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.boundary.partitions import groups, partition
from hedgerow.plots.boundaries import boundary_of, check_boundary, class_position, column_position
from hedgerow.plots.canvas import (
    BLACK,
    BLUE,
    GREEN,
    LIGHT_GREY,
    ORANGE,
    PURPLE,
    SKY_BLUE,
    VERMILION,
    axes_or_new,
    pyplot,
)
from hedgerow.plots.labels import legend_label, literal_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["PartitionDisplay"]

Floats = NDArray[np.float64]

_LOOKS = tuple(zip((BLUE, ORANGE, GREEN, PURPLE, SKY_BLUE, VERMILION), ("o", "s", "^", "D", "v", "P"), strict=True))


class PartitionDisplay:
    """Rows by the subset of training rows that their probability is estimated from (the paper's Figure 2).

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    points : ndarray of shape (n, 2)
    subset : int ndarray of shape (n,)
        -1: none, so that all rows are looked at.
    subset_names : dict of int to str
        For the legend.
    thresholds : sequence of (0 or 1, float)
        Thresholds of the two columns, to be drawn as lines.
    feature_names : sequence of two str
    title : str

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    points_ : list of matplotlib PathCollection
        One a subset.
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
    ['x0 at 4.9', 'x1 at 0.6', 'x1 at 1.5', 'x1 at 1.7']
    """

    ax_: Axes
    figure_: Figure
    points_: list[Any]
    separator_lines_: list[Any]

    def __init__(
        self,
        *,
        points: Floats,
        subset: NDArray[np.int64],
        subset_names: dict[int, str],
        thresholds: Sequence[tuple[int, float]],
        feature_names: Sequence[str],
        title: str,
    ) -> None:
        self.points = points
        self.subset = subset
        self.subset_names = subset_names
        self.thresholds = thresholds
        self.feature_names = feature_names
        self.title = title

    def plot(self, ax: Axes | None = None, *, legend: bool = True) -> PartitionDisplay:
        """Draw the rows, a colour and a marker for each subset, and the thresholds of the tree.

        Parameters
        ----------
        ax : matplotlib Axes or None
            None makes a new figure.
        legend : bool
            Whether to say which subset is which.
        """
        axes = axes_or_new(ax, f"{type(self).__name__}.plot", layout="constrained")
        self.separator_lines_ = [
            (axes.axvline if side == 0 else axes.axhline)(at, color=BLACK, linewidth=1.0, linestyle="--", zorder=1)
            for side, at in self.thresholds
        ]
        self.points_ = []
        for number, name in self.subset_names.items():
            colour, marker = _LOOKS[len(self.points_) % len(_LOOKS)] if number >= 0 else (LIGHT_GREY, "x")
            edge = {} if marker == "x" else {"edgecolors": "white", "linewidths": 0.4}
            look = {"c": colour, "marker": marker, "s": 18, "zorder": 2, "label": legend_label(name), **edge}
            self.points_.append(axes.scatter(*self.points[self.subset == number].T, **look))
        across, up = map(literal_label, self.feature_names)
        axes.set(xlabel=across, ylabel=up, title=literal_label(self.title))
        if legend and len(self.points_) <= 2 * len(_LOOKS):
            axes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
        self.ax_, self.figure_ = axes, axes.figure
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
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> PartitionDisplay:
        """Ask a fitted boundary classifier which subset each row is in, and draw the rows.

        Parameters
        ----------
        estimator : fitted BoundaryClassifier
        X : table
        features : two names or numbers of columns
        kind : {"global", "separator", "leaf"} or None
            Another partition than that of the estimator.
        class_label : label or None
            Whose boundary; None is the last class.
        ax : matplotlib Axes or None
        **kwargs
            For :meth:`plot`.
        """
        pyplot(f"{cls.__name__}.from_estimator")
        check_boundary(estimator)
        chosen = partition(estimator.partition if kind is None else kind)
        if len(features) != 2:
            raise ValueError(f"features has {len(features)} columns, must have two")
        columns = [column_position(estimator, column) for column in features]
        target = class_position(estimator, class_label)
        rows, boundary, names = estimator._read(X), boundary_of(estimator), estimator.schema_.names
        nearest = boundary.measure(rows, estimator.scale_)
        subset = groups(chosen, boundary, nearest)[nearest.fractions.heaviest, target]
        found = np.unique(subset)
        named = {int(number): f"leaf {number}" if number >= 0 else "all rows" for number in found}
        if chosen == "separator":
            for number, feature, at in zip(found, *boundary.separators(found), strict=True):
                if feature >= 0:
                    named[int(number)] = names[feature] + ("" if np.isnan(at) else f" at {at:.3g}")
        asked = zip(boundary.shape.feature, boundary.shape.threshold, strict=True)
        thresholds = {(columns.index(f), float(t)) for f, t in asked if f in columns and np.isfinite(t)}
        display = cls(
            points=rows[:, columns],
            subset=subset,
            subset_names=named,
            thresholds=sorted(thresholds),
            feature_names=[names[column] for column in columns],
            title=f"Partition by {chosen}" if chosen != "global" else "No partition",
        )
        return display.plot(ax, **kwargs)
