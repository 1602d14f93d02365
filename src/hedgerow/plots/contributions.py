"""Contributions of columns: bars for one row, a swarm of points for many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from hedgerow._params import check_whole
from hedgerow.contributions import Contributions
from hedgerow.data.columns import Kind
from hedgerow.plots.display import AxesOrNone, Display, Floats, Keywords
from hedgerow.plots.labels import literal_label, short_label
from hedgerow.plots.palette import BLUE, GREY, ORANGE, VERMILION
from hedgerow.plots.requirements import check_estimator

__all__ = ["ContributionsDisplay"]

_POINTS_ACROSS = 80  # bins of a swarm along its axis: points in the same bin are stacked
_ROOM = 0.22  # for the numbers beside the bars, on each side, in parts of what the bars take
_STEP, _HALF_HEIGHT = 0.09, 0.4  # between stacked points, and what a stack may take of its line


@dataclass(kw_only=True, eq=False, repr=False)
class ContributionsDisplay(Display):
    """Contribution of each column to an answer, for one row or for many.

    Create it with :meth:`from_estimator` or :meth:`from_contributions`.

    Parameters
    ----------
    contributions : Contributions
        :class:`~hedgerow.contributions.Contributions` to one answer.

    Attributes
    ----------
    bars_ : matplotlib BarContainer of one row, the largest contribution on top; None for many
    points_ : list of matplotlib PathCollection, one for each column of many rows; empty for one

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import ForestClassifier
    >>> from hedgerow.plots import ContributionsDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> display = ContributionsDisplay.from_estimator(ForestClassifier(random_state=0).fit(X, y), X[100:101])
    >>> [label.get_text() for label in display.ax_.get_yticklabels()][1:3]
    ['petal length (cm) = 6', 'petal width (cm) = 2.5']
    """

    contributions: Contributions

    def plot(
        self,
        ax: AxesOrNone = None,
        *,
        row: int | None = None,
        max_features: int | None = None,
        colorbar: bool = True,
        bar_kw: Keywords = None,
        point_kw: Keywords = None,
    ) -> Self:
        """Draw bars from the base to the answer for one row; for many a point for each row and column.

        `row` picks one of several rows. The `max_features` columns with the largest contributions are drawn (of many
        rows: on average), by default 10 of one row and 20 of many. `bar_kw` and `point_kw` are for matplotlib's `barh`
        and `scatter`.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.
        row : int or None, default=None
            Number of the row to draw; None draws all.
        max_features : int or None, default=None
            Largest number of columns that are drawn; None draws all.
        colorbar : bool, default=True
            Whether to draw a colour bar.
        bar_kw : dict or None, default=None
            Keywords for matplotlib's bars.
        point_kw : dict or None, default=None
            Keywords for matplotlib's `scatter`.

        Returns
        -------
        self
            The Display, with what was drawn as attributes.

        Raises
        ------
        ValueError
            If there is no row to draw.
        """
        n_rows = len(self.contributions)
        self.bars_: Any = None
        self.points_: list[Any] = []
        if n_rows == 0:
            raise ValueError("there is no row to draw: pass at least one")
        many = row is None and n_rows > 1
        n_shown = check_whole("max_features", max_features, 1) if max_features is not None else 20 if many else 10
        if many:
            self._draw_swarm(ax, n_shown, colorbar, point_kw)
        else:
            self._draw_row(ax, 0 if row is None else check_whole("row", row, 0, n_rows - 1), n_shown, bar_kw)
        return self

    def _draw_row(self, ax: AxesOrNone, row: int, n_shown: int, bar_kw: Keywords) -> None:
        found = self.contributions
        values, base = found.values[row], float(np.asarray(found.base))
        order = np.argsort(-abs(values), kind="stable")
        order = order[: max(1, np.count_nonzero(values))]
        shown, rest = order[:n_shown], order[n_shown:]
        steps = values[shown].tolist() + ([float(values[rest].sum())] if len(rest) else [])
        labels = [short_label(found.columns[j], f" = {found.cell(row, j)}") for j in shown.tolist()]
        labels += [f"{len(rest)} other column{'s' * (len(rest) > 1)}"] if len(rest) else []
        ends = base + np.cumsum(steps)
        starts, n = np.append(base, ends[:-1]), len(steps)
        axes = self._axes(ax, figsize=(7.0, 1.4 + 0.32 * (n + 2)), layout="constrained")
        ink = axes.yaxis.label.get_color()  # of the style: black on white, white on black
        colors = [VERMILION if step > 0 else BLUE for step in steps]
        style = {"color": colors, "height": 0.62, "zorder": 2, **(bar_kw or {})}
        self.bars_ = axes.barh(range(1, n + 1), steps, left=starts, **style)
        joints, levels = np.append(base, ends), np.arange(n + 1)
        axes.vlines(joints, levels, levels + 1, color=GREY, linewidth=0.8, linestyle=":", zorder=1)
        answer = float(ends[-1])
        self._line([base, answer], [0, n + 1], marker="D", markersize=6, linestyle="", color=ink, zorder=3)
        decimals = _decimals(steps)
        note = {"textcoords": "offset points", "va": "center", "fontsize": "small"}
        for at, step in enumerate(steps):
            side = -1 if step < 0 else 1
            where = {"ha": "left" if side > 0 else "right", **note}
            axes.annotate(_number(step, decimals, "+"), (ends[at], at + 1), (4 * side, 0), **where)
        for value, at in ((base, 0), (answer, n + 1)):
            axes.annotate(_number(value, decimals), (value, at), (8, 0), ha="left", weight="bold", **note)
        axes.set_yticks(range(n + 2), ["base", *labels, "answer"])
        for text in (axes.get_yticklabels()[0], axes.get_yticklabels()[-1]):
            text.set_fontweight("bold")
        axes.set_ylim(n + 1.6, -0.6)
        room = _ROOM * (float(np.ptp(joints)) or 1.0)
        axes.set_xlim(joints.min() - room, joints.max() + room)
        self._open_frame()
        axes.set_xlabel(literal_label(found.of))
        axes.set_title("Contributions to the answer")

    def _draw_swarm(self, ax: AxesOrNone, n_shown: int, colorbar: bool, point_kw: Keywords) -> None:
        from matplotlib.colors import LinearSegmentedColormap

        found = self.contributions
        size = abs(found.values).mean(axis=0)
        order = np.argsort(-size, kind="stable")
        shown = [j for j in order[:n_shown].tolist() if size[j] > 0 or j == order[0]]
        axes = self._axes(ax, figsize=(7.0, max(2.4, 1.4 + 0.36 * len(shown))), layout="constrained")
        shades = LinearSegmentedColormap.from_list("value", [BLUE, "#A0A0A0", ORANGE])
        width = float(np.ptp(found.values[:, shown])) or 1.0
        style = {"s": 12, "linewidth": 0.7, "zorder": 2, "rasterized": len(found) * len(shown) > 5000}
        for line, j in enumerate(shown):
            height = line + _swarm(found.values[:, j] / width)
            face, edge = _value_colors(found, j, shades)
            of_column = {**style, "facecolor": face, "edgecolor": edge, **(point_kw or {})}
            self.points_.append(axes.scatter(found.values[:, j], height, **of_column))
        axes.axvline(0, color=GREY, linewidth=0.8, zorder=1)
        rule = {"color": GREY, "alpha": 0.4, "linewidth": 0.5, "zorder": 0}
        axes.hlines(range(len(shown)), 0, 1, transform=axes.get_yaxis_transform(), **rule)
        axes.set_yticks(range(len(shown)), [short_label(found.columns[j]) for j in shown])
        axes.set_ylim(len(shown) - 0.4, -0.6)
        self._open_frame()
        axes.set_xlabel(f"contribution to the {literal_label(found.of)}")
        n_columns = found.values.shape[1]
        some = f", {len(shown)} of {n_columns} columns" if len(shown) < n_columns else ""
        axes.set_title(f"Contributions in {len(found)} rows{some}")
        if colorbar:
            self._draw_colorbar(shades)

    def _draw_colorbar(self, shades: Any) -> None:
        from matplotlib.cm import ScalarMappable

        axes: Any = self.ax_
        bar = axes.figure.colorbar(ScalarMappable(cmap=shades), ax=axes, ticks=[0, 1], aspect=40, pad=0.02)
        bar.ax.set_yticklabels(["low", "high"])
        bar.ax.tick_params(length=0)
        bar.set_label("value of the column\n(rings: missing or without order)", labelpad=-8)
        bar.outline.set_visible(False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        background: Any = None,
        class_label: Any = None,
        ax: AxesOrNone = None,
        **kwargs: Any,
    ) -> Self:
        """Compute the contributions of the columns to the answers for some rows, and draw them.

        Parameters
        ----------
        estimator : fitted tree or forest with the method `contributions`
            The model.
        X : array-like or data frame of shape (n_samples, n_features)
            Table of one row (``X[i : i + 1]``) or of many.
        background : data frame, array or None, default=None
            Rows that stand for a column whose value is not known; None: the training weights in the trees.
        class_label : label or None, default=None
            Class whose answer is divided, by default the last; None where there is one answer.
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
        check_estimator(estimator, ["contributions"], hint="pass a tree or a forest of hedgerow, not a pipeline")
        found = estimator.contributions(X, background)
        return cls.from_contributions(found, class_label=class_label, ax=ax, **kwargs)

    @classmethod
    def from_contributions(
        cls, contributions: Contributions, *, class_label: Any = None, ax: AxesOrNone = None, **kwargs: Any
    ) -> Self:
        """Draw contributions that are there already; parameters as in :meth:`from_estimator`.

        Parameters
        ----------
        contributions : Contributions
            What :meth:`hedgerow.TreeClassifier.contributions` returned.
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
        """
        return cls(contributions=contributions.of_class(class_label)).plot(ax, **kwargs)


def _decimals(steps: list[float]) -> int:
    """Decimals that give the largest step three digits."""
    largest = max(map(abs, steps), default=0.0)
    return min(max(0, 2 - int(np.floor(np.log10(largest)))), 9) if largest > 0 else 2


def _number(value: float, decimals: int, sign: str = "") -> str:
    value = round(value, decimals) + 0.0  # no negative zero
    return f"{value:{sign},.{decimals}f}".replace("-", "−")


def _swarm(positions: Floats) -> Floats:
    """Heights that part points at the same place: stacked to both sides of a line, squeezed where there are many."""
    bins = np.round(positions * _POINTS_ACROSS).astype(np.int64)
    order = np.argsort(bins, kind="stable")
    _, first, count = np.unique(bins[order], return_index=True, return_counts=True)
    place = np.arange(len(bins)) - np.repeat(first, count)
    heights = np.empty(len(bins))
    heights[order] = np.where(place % 2, (place + 1) // 2, -(place // 2))
    tallest = float(abs(heights).max(initial=0.0)) * _STEP
    return heights * _STEP * min(1.0, _HALF_HEIGHT / tallest if tallest else 1.0)


def _value_colors(found: Contributions, column: int, shades: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Colours of the points and of their edges, by the rank of a row's value; rings where there is none."""
    from matplotlib.colors import to_rgba

    values = found.rows[:, column]
    face = np.zeros((len(values), 4))
    edge = np.tile(to_rgba(GREY), (len(values), 1))
    known = ~np.isnan(values)
    if found.schema.columns[column].kind != Kind.NOMINAL and known.any():
        ranks = rankdata(values[known], method="dense") - 1
        face[known] = edge[known] = shades(ranks / ranks.max() if ranks.max() > 0 else np.full(len(ranks), 0.5))
    return face, edge
