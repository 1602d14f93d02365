"""Bounds of one prediction: bars for any number of classes, a triangle for three."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow._params import check_choice
from hedgerow.credal import reachable
from hedgerow.plots.display import BESIDE, AxesOrNone, Display, Floats, Keywords
from hedgerow.plots.labels import literal_label
from hedgerow.plots.palette import BLACK, BLUE, GREY, LIGHT_GREY, SKY_BLUE, VERMILION
from hedgerow.plots.sets.sweep import check_cautious

__all__ = ["ClassBoundsDisplay"]

# Corners of the triangle: the first class on the left, the second on the right, the third on top.
_CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])
_TOLERANCE = 1e-9  # corners of a region that are no farther apart are the same


@dataclass(kw_only=True, eq=False, repr=False)
class ClassBoundsDisplay(Display):
    """Bounds and probability of each class for one row, and the predicted set.

    Create it with :meth:`from_estimator`.

    Parameters
    ----------
    bounds : ndarray of shape (n_classes, 2)
        Lower and upper bound of each probability; for belief functions belief and plausibility.
    probabilities : ndarray of shape (n_classes,)
        Probability of each class.
    in_set : bool ndarray of shape (n_classes,)
        Whether each class is in the set.
    display_labels : sequence of str
        Texts of the classes.

    Attributes
    ----------
    region : ndarray of shape (n_corners, n_classes)
        Corners of the set of distributions within the bounds, counterclockwise; for three classes only.
    bars_ : list of matplotlib Rectangle, one for each class; empty for a triangle
    probability_line_ : matplotlib Line2D, tick on each bar, or point in the triangle
    dominance_line_ : matplotlib Line2D, largest lower bound, or None for a triangle
    region_ : matplotlib Polygon, or None for bars
    border_lines_ : list of matplotlib Line2D, where two classes are equally likely; empty for bars

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import CautiousForestClassifier
    >>> from hedgerow.plots import ClassBoundsDisplay
    >>> iris = load_iris()
    >>> model = CautiousForestClassifier(s=5, random_state=0).fit(iris.data[::2], iris.target[::2])
    >>> display = ClassBoundsDisplay.from_estimator(model, iris.data[83:84], display_labels=iris.target_names)
    >>> display.bounds.shape, display.in_set.tolist()
    ((3, 2), [False, True, True])
    """

    bounds: Floats
    probabilities: Floats
    in_set: NDArray[np.bool_]
    display_labels: Sequence[str]

    @property
    def region(self) -> Floats:
        """Find the corners: two classes are at a bound, and the third has the remaining probability."""
        _check_three(len(self.bounds))
        lower, upper = reachable(*np.asarray(self.bounds, dtype=np.float64).T)
        found: list[Floats] = []
        for i, j in combinations(range(3), 2):
            k = 3 - i - j
            for p_i, p_j in product((lower[i], upper[i]), (lower[j], upper[j])):
                corner = np.empty(3)
                corner[[i, j, k]] = p_i, p_j, 1 - p_i - p_j
                within = lower[k] - _TOLERANCE <= corner[k] <= upper[k] + _TOLERANCE
                if within and not any(np.allclose(corner, other, rtol=0, atol=_TOLERANCE) for other in found):
                    found.append(corner)
        corners = np.array(found)
        offset = (corners - corners.mean(axis=0)) @ _CORNERS
        return corners[np.argsort(np.arctan2(offset[:, 1], offset[:, 0]))]

    def plot(
        self,
        ax: AxesOrNone = None,
        *,
        kind: str = "bars",
        legend: bool = True,
        bar_kw: Keywords = None,
        region_kw: Keywords = None,
        probability_kw: Keywords = None,
    ) -> Self:
        """Draw bars from lower to upper bound, or the region of the bounds in the triangle of all distributions.

        `kind` is "bars" or, for three classes, "simplex", in which a corner is a certain class. `bar_kw`, `region_kw`
        and `probability_kw` are for matplotlib's `barh`, `Polygon` and `plot`.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.
        kind : {"bars", "simplex"}, default="bars"
            Bars from lower to upper bound, or the region of the bounds in the triangle of three classes.
        legend : bool, default=True
            Whether to draw a legend.
        bar_kw : dict or None, default=None
            Keywords for matplotlib's bars.
        region_kw : dict or None, default=None
            Keywords for the patch of the region.
        probability_kw : dict or None, default=None
            Keywords for the marks of the probabilities.

        Returns
        -------
        self
            The Display, with what was drawn as attributes.
        """
        _check_kind(kind, len(self.bounds))
        self.bars_: list[Any] = []
        self.border_lines_: list[Any] = []
        self.dominance_line_: Any = None
        self.region_: Any = None
        if kind == "bars":
            height = min(max(2.4, 1.5 + 0.45 * len(self.bounds)), 12.0)
            axes = self._axes(ax, figsize=(6.4, height), layout="constrained")
            self._draw_bars(bar_kw, probability_kw)
            legend_style: dict[str, Any] = {"fontsize": "small", **(BESIDE if ax is None else {})}
        else:
            axes = self._axes(ax, figsize=(6.0, 5.4), layout="constrained")
            self._draw_simplex(region_kw, probability_kw)
            legend_style = {"loc": "upper right", "fontsize": "small" if ax is None else "x-small"}
            legend_style |= {"frameon": False, "handlelength": 1.4}
        if legend:
            axes.legend(**legend_style)
        members = zip(self.display_labels, self.in_set, strict=True)
        chosen = [literal_label(label) for label, member in members if member]
        axes.set_title("Answer: " + (" or ".join(chosen) if len(chosen) <= 3 else f"one of {len(chosen)} classes"))
        return self

    def _draw_bars(self, bar_kw: Keywords, probability_kw: Keywords) -> None:
        axes: Any = self.ax_
        position = np.arange(len(self.bounds))
        lower, upper = np.asarray(self.bounds).T
        chosen = np.asarray(self.in_set)
        styles: list[tuple[Any, dict[str, Any]]] = [
            (chosen, {"facecolor": SKY_BLUE, "edgecolor": BLUE, "label": "in the set"}),
            (~chosen, {"facecolor": "white", "edgecolor": GREY, "hatch": "////", "label": "not in the set"}),
        ]
        by_class: dict[int, Any] = {}
        for some, style in styles:
            if some.any():
                style = {**style, "height": 0.56, "linewidth": 1.2, "zorder": 2, **(bar_kw or {})}
                bars = axes.barh(position[some], (upper - lower)[some], left=lower[some], **style)
                by_class.update(zip(position[some].tolist(), bars.patches, strict=True))
        self.bars_ = [by_class[k] for k in position.tolist()]
        dotted = {"color": BLUE, "linestyle": ":", "linewidth": 1.4, "zorder": 1, "label": "largest lower bound"}
        self.dominance_line_ = axes.axvline(lower.max(), **dotted)
        tick = {"marker": "|", "markersize": 15, "markeredgewidth": 2.6}
        self._draw_probability(self.probabilities, position, probability_kw, **tick)
        axes.set_yticks(position, [literal_label(label) for label in self.display_labels])
        for text, member in zip(axes.get_yticklabels(), chosen, strict=True):
            text.set_fontweight("bold" if member else "normal")
        axes.set(xlim=(-0.01, 1.01), ylim=(len(position) - 0.4, -0.6))  # the first class on top
        axes.set_xlabel("lower to upper bound")

    def _draw_simplex(self, region_kw: Keywords, probability_kw: Keywords) -> None:
        from matplotlib.patches import Polygon

        axes: Any = self.ax_
        axes.add_patch(Polygon(_CORNERS, fill=False, edgecolor=BLACK, linewidth=1.2, zorder=2))
        centre = _CORNERS.mean(axis=0)
        for k, corner in enumerate(_CORNERS):
            middle = np.delete(_CORNERS, k, axis=0).mean(axis=0)
            axes.plot(*np.transpose([corner, centre]), color=LIGHT_GREY, linestyle=":", linewidth=1.0, zorder=1)
            dashed = {"color": GREY, "linestyle": "--", "linewidth": 1.2, "zorder": 2}
            self.border_lines_ += axes.plot(*np.transpose([centre, middle]), **dashed)
        self.border_lines_[0].set_label("two classes equally likely")
        style: dict[str, Any] = {"facecolor": (SKY_BLUE, 0.5), "edgecolor": BLUE, "linewidth": 1.8, "zorder": 3}
        style |= {"joinstyle": "round", "label": "within the bounds", **(region_kw or {})}
        self.region_ = axes.add_patch(Polygon(self.region @ _CORNERS, **style))
        diamond = {"marker": "D", "markersize": 7, "markeredgecolor": "white"}
        x, y = np.asarray(self.probabilities) @ _CORNERS
        self._draw_probability([x], [y], probability_kw, **diamond)
        for k, (label, member) in enumerate(zip(self.display_labels, self.in_set, strict=True)):
            style = {"fontweight": "bold" if member else "normal", "color": BLACK if member else GREY}
            offset, side = ((0, -6), "top") if k < 2 else ((0, 6), "bottom")
            style |= {"textcoords": "offset points", "ha": "center", "va": side}
            axes.annotate(literal_label(label), _CORNERS[k], offset, **style)
        axes.margins(0)
        axes.update_datalim([(-0.12, -0.1), (1.12, 1.0)])  # not fixed limits, which the aspect could not change
        axes.autoscale_view()
        axes.set_aspect("equal", adjustable="datalim")  # wide axes stay wide, which leaves room for the legend
        axes.set_axis_off()

    def _draw_probability(self, x: Any, y: Any, given: Keywords, /, **marker: Any) -> None:
        style = {"color": VERMILION, "linestyle": "", "zorder": 4, "clip_on": False, "label": "probability"}
        self.probability_line_ = self._line(x, y, given, **style, **marker)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X_row: Any,
        *,
        display_labels: Sequence[Any] | None = None,
        kind: str = "bars",
        ax: AxesOrNone = None,
        **kwargs: Any,
    ) -> Self:
        """Predict the bounds, probabilities and set of one row, and draw them.

        Parameters
        ----------
        estimator : fitted classifier
            With the methods `predict_set`, `predict_bounds` and `predict_proba`, such as
            :class:`hedgerow.CautiousForestClassifier` and :class:`hedgerow.CautiousClassifier`.
        X_row : data frame or array with one row
            Table of one row: ``X[i : i + 1]``, or ``X.iloc[[i]]`` of a pandas frame.
        display_labels : sequence of str, default=None
            Names of the classes in the picture.
        kind : {"bars", "simplex"}, default="bars"
            Bars from lower to upper bound, or the region of the bounds in the triangle of three classes.
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.
        **kwargs
            Passed on to :meth:`plot`.

        Returns
        -------
        Display
            The Display, drawn.

        Raises
        ------
        ValueError
            If `X_row` is not one row, or labels are too few or too many.
        """
        cls._pyplot("from_estimator")
        check_cautious(estimator, ["predict_set", "predict_bounds", "predict_proba"])
        n_classes = len(estimator.classes_)
        _check_kind(kind, n_classes)
        labels = estimator.classes_ if display_labels is None else display_labels
        if len(labels) != n_classes:
            raise ValueError(f"display_labels has {len(labels)} names, must have one for each of {n_classes} classes")
        sets = estimator.predict_set(X_row)
        if len(sets) != 1:
            raise ValueError(f"X_row has {len(sets)} rows, must have one: pass X[i : i + 1]")
        return cls(
            bounds=estimator.predict_bounds(X_row)[0],
            probabilities=estimator.predict_proba(X_row)[0],
            in_set=sets[0],
            display_labels=[str(label) for label in labels],
        ).plot(ax, kind=kind, **kwargs)


def _check_kind(kind: str, n_classes: int) -> None:
    check_choice("kind", kind, ("bars", "simplex"), "'bars' or 'simplex'")
    if kind == "simplex":
        _check_three(n_classes)


def _check_three(n_classes: int) -> None:
    if n_classes != 3:
        raise ValueError(f"the simplex needs three classes, here are {n_classes}: pass kind='bars'")
