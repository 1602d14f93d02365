"""One prediction with its bounds: bars for any number of classes, a triangle for three."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations, product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._params import check_choice
from hedgerow.credal import reachable
from hedgerow.plots.canvas import (
    BLACK,
    BLUE,
    GREY,
    LIGHT_GREY,
    SKY_BLUE,
    VERMILION,
    axes_or_new,
    line_style,
    pyplot,
)
from hedgerow.plots.caution import check_cautious
from hedgerow.plots.labels import literal_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["ClassBoundsDisplay"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Corners of the triangle: the first class on the left, the second on the right, the third on top.
_CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(3) / 2]])
_SAME = 1e-9  # corners of a region that are no farther apart are one


class ClassBoundsDisplay:
    """The bounds of each class for one row, its probability, and which classes are in the set.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    bounds : ndarray of shape (n_classes, 2)
        Lower and upper: of belief functions belief and plausibility, else bounds on the probability.
    probabilities : ndarray of shape (n_classes,)
    in_set : bool ndarray of shape (n_classes,)
    display_labels : sequence of str, n_classes

    Attributes
    ----------
    region : ndarray of shape (n_corners, n_classes)
        Of three classes, the corners of the distributions that lie within the bounds, in order around them.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    bars_ : list of matplotlib Rectangle
        One a class; none in a triangle.
    probability_line_ : matplotlib Line2D
        A tick on each bar, or the point in the triangle.
    dominance_line_ : matplotlib Line2D or None
        The largest lower bound; None in a triangle.
    region_ : matplotlib Polygon or None
        None for bars.
    border_lines_ : list of matplotlib Line2D
        Where two classes are equally likely; none for bars.

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

    ax_: Axes
    figure_: Figure
    bars_: list[Any]
    probability_line_: Any
    dominance_line_: Any
    region_: Any
    border_lines_: list[Any]

    def __init__(self, *, bounds: Floats, probabilities: Floats, in_set: Bools, display_labels: Sequence[str]) -> None:
        self.bounds = bounds
        self.probabilities = probabilities
        self.in_set = in_set
        self.display_labels = display_labels

    @property
    def region(self) -> Floats:
        """Every corner has two of the classes at a bound, and the third takes what is left."""
        _check_three(len(self.bounds))
        lower, upper = reachable(*np.asarray(self.bounds, dtype=np.float64).T)
        ends = np.stack([lower, upper])
        found: list[Floats] = []
        for (i, j, k), (a, b) in product(permutations(range(3)), product((0, 1), repeat=2)):
            if i < j:
                corner = np.empty(3)
                corner[[i, j]] = ends[a, i], ends[b, j]
                corner[k] = 1 - corner[i] - corner[j]
                within = lower[k] - _SAME <= corner[k] <= upper[k] + _SAME
                if within and not any(np.allclose(corner, other, rtol=0, atol=_SAME) for other in found):
                    found.append(corner)
        corners = np.array(found)
        away = (corners - corners.mean(axis=0)) @ _CORNERS
        around: Floats = corners[np.argsort(np.arctan2(away[:, 1], away[:, 0]))]
        return around

    def plot(
        self,
        ax: Axes | None = None,
        *,
        kind: str = "bars",
        legend: bool = True,
        bar_kw: dict[str, Any] | None = None,
        region_kw: dict[str, Any] | None = None,
        probability_kw: dict[str, Any] | None = None,
    ) -> ClassBoundsDisplay:
        """Draw bars from lower to upper bound, or the region of the bounds within the triangle of all distributions.

        Parameters
        ----------
        ax : matplotlib Axes or None
            None makes a new figure.
        kind : {"bars", "simplex"}
            The simplex is for three classes: a corner is a class that is certain, and the opposite side is that it has
            no chance.
        legend : bool
            Whether to say what is what.
        bar_kw, region_kw : dict or None
            For matplotlib's `barh`, of all bars, and its `Polygon`, instead of the styles that are built in.
        probability_kw : dict or None
            For matplotlib's `plot`, of the probabilities.
        """
        _check_kind(kind, len(self.bounds))
        self.bars_, self.border_lines_ = [], []
        self.dominance_line_ = self.region_ = None
        if kind == "bars":
            size = (6.4, min(max(2.4, 1.5 + 0.45 * len(self.bounds)), 12.0))
            axes = axes_or_new(ax, f"{type(self).__name__}.plot", figsize=size, layout="constrained")
            self._draw_bars(axes, legend, bar_kw, probability_kw, own=ax is None)
        else:
            axes = axes_or_new(ax, f"{type(self).__name__}.plot", figsize=(6.0, 5.4), layout="constrained")
            self._draw_simplex(axes, legend, region_kw, probability_kw, own=ax is None)
        axes.set_title(_answer(self.display_labels, self.in_set))
        self.ax_, self.figure_ = axes, axes.figure
        return self

    def _draw_bars(self, ax: Any, legend: bool, bar_kw: Any, probability_kw: Any, *, own: bool) -> None:
        places = np.arange(len(self.bounds))
        lower, upper = np.asarray(self.bounds).T
        chosen = np.asarray(self.in_set)
        looks: list[tuple[Any, dict[str, Any]]] = [
            (chosen, {"facecolor": SKY_BLUE, "edgecolor": BLUE, "label": "in the set"}),
            (~chosen, {"facecolor": "white", "edgecolor": GREY, "hatch": "////", "label": "not in it"}),
        ]
        by_class: dict[int, Any] = {}
        for some, look in looks:
            if some.any():
                style = {**look, "height": 0.56, "linewidth": 1.2, "zorder": 2, **(bar_kw or {})}
                drawn = ax.barh(places[some], (upper - lower)[some], left=lower[some], **style)
                by_class.update(zip(places[some].tolist(), drawn.patches, strict=True))
        self.bars_ = [by_class[place] for place in places.tolist()]
        best = {"color": BLUE, "linestyle": ":", "linewidth": 1.4, "zorder": 1, "label": "largest lower bound"}
        self.dominance_line_ = ax.axvline(lower.max(), **best)
        tick = {"color": VERMILION, "linestyle": "", "marker": "|", "markersize": 15, "markeredgewidth": 2.6}
        style = line_style({**tick, "zorder": 4, "clip_on": False, "label": "probability"}, probability_kw)
        (self.probability_line_,) = ax.plot(self.probabilities, places, **style)
        ax.set_yticks(places, [literal_label(label) for label in self.display_labels])
        for text, bold in zip(ax.get_yticklabels(), chosen, strict=True):
            text.set_fontweight("bold" if bold else "normal")
        ax.set_ylim(len(places) - 0.4, -0.6)  # the first class on top
        ax.set_xlim(-0.01, 1.01)
        ax.set_xlabel("lower to upper bound")
        if legend:
            beside = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5)}  # a new figure makes room for it
            ax.legend(fontsize="small", **(beside if own else {"loc": "best"}))

    def _draw_simplex(self, ax: Any, legend: bool, region_kw: Any, probability_kw: Any, *, own: bool) -> None:
        from matplotlib.patches import Polygon

        ax.add_patch(Polygon(_CORNERS, fill=False, edgecolor=BLACK, linewidth=1.2, zorder=2))
        centre = _CORNERS.mean(axis=0)
        for k, corner in enumerate(_CORNERS):
            middle = np.delete(_CORNERS, k, axis=0).mean(axis=0)
            ax.plot(*np.transpose([corner, centre]), color=LIGHT_GREY, linestyle=":", linewidth=1.0, zorder=1)
            border = {"color": GREY, "linestyle": "--", "linewidth": 1.2, "zorder": 2}
            self.border_lines_ += ax.plot(*np.transpose([centre, middle]), **border)
        self.border_lines_[0].set_label("two classes equally likely")
        look = {"facecolor": (SKY_BLUE, 0.5), "edgecolor": BLUE, "linewidth": 1.8, "joinstyle": "round"}
        style = {**look, "zorder": 3, "label": "within the bounds", **(region_kw or {})}
        self.region_ = ax.add_patch(Polygon(self.region @ _CORNERS, **style))
        dot = {"color": VERMILION, "linestyle": "", "marker": "D", "markersize": 7, "markeredgecolor": "white"}
        style = line_style({**dot, "zorder": 4, "clip_on": False, "label": "probability"}, probability_kw)
        (self.probability_line_,) = ax.plot(*(np.asarray(self.probabilities) @ _CORNERS)[:, np.newaxis], **style)
        for corner, label, chosen, below in zip(
            _CORNERS, self.display_labels, self.in_set, (True, True, False), strict=True
        ):
            words = {"fontweight": "bold" if chosen else "normal", "color": BLACK if chosen else GREY}
            place = {"ha": "center", "va": "top" if below else "bottom"}
            ax.annotate(
                literal_label(label), corner, (0, -6 if below else 6), textcoords="offset points", **place, **words
            )
        ax.margins(0)
        ax.update_datalim([(-0.12, -0.1), (1.12, 1.0)])  # not fixed limits: the aspect is to change them
        ax.autoscale_view()
        ax.set_aspect("equal", adjustable="datalim")  # wide axes stay wide, which leaves room for the legend
        ax.set_axis_off()
        if legend:
            ax.legend(loc="upper right", fontsize="small" if own else "x-small", frameon=False, handlelength=1.4)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X_row: Any,
        *,
        display_labels: Sequence[Any] | None = None,
        kind: str = "bars",
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> ClassBoundsDisplay:
        """Ask a fitted classifier for one row's bounds, probabilities and set, and draw them.

        Parameters
        ----------
        estimator : fitted classifier
            With the verbs `predict_set`, `predict_bounds` and `predict_proba`, as
            :class:`hedgerow.CautiousForestClassifier` and :class:`hedgerow.CautiousClassifier`.
        X_row : table of one row
            As ``X[i : i + 1]``, or ``X.iloc[[i]]`` of a pandas frame.
        display_labels : sequence of shape (n_classes,) or None
            What the classes are called in the picture; None takes `classes_`.
        kind : {"bars", "simplex"}
        ax : matplotlib Axes or None
        **kwargs
            For :meth:`plot`.
        """
        pyplot(f"{cls.__name__}.from_estimator")
        check_cautious(estimator, ["predict_set", "predict_bounds", "predict_proba"])
        n_classes = len(estimator.classes_)
        _check_kind(kind, n_classes)
        labels = estimator.classes_ if display_labels is None else display_labels
        if len(labels) != n_classes:
            raise ValueError(f"display_labels has {len(labels)} names, must have one for each of {n_classes} classes")
        sets = estimator.predict_set(X_row)
        if len(sets) != 1:
            raise ValueError(f"X_row has {len(sets)} rows, must have one: pass X[i : i + 1]")
        display = cls(
            bounds=estimator.predict_bounds(X_row)[0],
            probabilities=estimator.predict_proba(X_row)[0],
            in_set=sets[0],
            display_labels=[str(label) for label in labels],
        )
        return display.plot(ax, kind=kind, **kwargs)


def _check_kind(kind: str, n_classes: int) -> None:
    check_choice("kind", kind, ("bars", "simplex"), "'bars' or 'simplex'")
    if kind == "simplex":
        _check_three(n_classes)


def _check_three(n_classes: int) -> None:
    if n_classes != 3:
        raise ValueError(f"the simplex is drawn for three classes, here are {n_classes}: take kind='bars'")


def _answer(labels: Sequence[str], in_set: Bools) -> str:
    named = [literal_label(label) for label, chosen in zip(labels, in_set, strict=True) if chosen]
    return "Answer: " + (" or ".join(named) if len(named) <= 3 else f"one of {len(named)} classes")
