"""How accurate a cautious classifier is where it names one class, and how often it does."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import UndefinedMetricWarning

from hedgerow import metrics
from hedgerow.plots.canvas import (
    BLACK,
    BLUE,
    GREEN,
    ORANGE,
    PURPLE,
    VERMILION,
    axes_or_new,
    line_style,
    pyplot,
)
from hedgerow.plots.caution import USUAL_S, at_each_s, check_cautious, check_sets, read_s
from hedgerow.plots.labels import legend_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["RejectionCurveDisplay"]

Floats = NDArray[np.float64]

_COLOURS = (BLUE, VERMILION, GREEN, PURPLE, BLACK, ORANGE)
_MARKERS = ("o", "s", "^", "D", "v", "P")

# Where the label of a point may stand, best first: offset in points, and how the text is aligned to that.
_PLACES = (
    ((0, 5), "center", "bottom"),
    ((6, 0), "left", "center"),
    ((0, -5), "center", "top"),
    ((-6, 0), "right", "center"),
    ((4, 4), "left", "bottom"),
    ((4, -4), "left", "top"),
    ((-4, 4), "right", "bottom"),
    ((-4, -4), "right", "top"),
)
_AROUND_POINT = 3.5  # points that a marker takes to each side
_OURS = "s of a rejection curve"  # marks our labels among the texts of axes


class RejectionCurveDisplay:
    """Accuracy on the rows that are decided, against the share of rows that are, as a classifier grows more cautious.

    Make one with :meth:`from_estimator` or :meth:`from_predictions`.

    Parameters
    ----------
    s : sequence of float, n_s
    determinacy : ndarray of shape (n_s,)
        The share of rows whose set has one class.
    single_accuracy : ndarray of shape (n_s,)
        The accuracy on those rows; NaN where there are none, which is not drawn.
    name : str or None
        For the legend.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    line_ : matplotlib Line2D
    s_texts_ : list of matplotlib Annotation
        The s of the points, visible where there is room; "0.1 to 1" where several have the same point.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hedgerow import CautiousForestClassifier
    >>> from hedgerow.plots import RejectionCurveDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CautiousForestClassifier(random_state=0).fit(X[::2], y[::2])
    >>> display = RejectionCurveDisplay.from_estimator(model, X[1::2], y[1::2])
    >>> bool(display.determinacy[0] > display.determinacy[-1])
    True
    """

    ax_: Axes
    figure_: Figure
    line_: Any
    s_texts_: list[Any]

    def __init__(
        self, *, s: Sequence[float], determinacy: Floats, single_accuracy: Floats, name: str | None = None
    ) -> None:
        self.s = s
        self.determinacy = determinacy
        self.single_accuracy = single_accuracy
        self.name = name

    def plot(
        self,
        ax: Axes | None = None,
        *,
        name: str | None = None,
        label_s: bool = True,
        legend: bool = True,
        line_kw: dict[str, Any] | None = None,
    ) -> RejectionCurveDisplay:
        """Draw a line through the points of all s. Curves on the same axes get different looks.

        Parameters
        ----------
        ax : matplotlib Axes or None
            None makes a new figure.
        name : str or None
            For the legend, instead of the one that the Display has.
        label_s : bool
            Whether to write s beside the points, as far as there is room.
        legend : bool
            Whether to say whose curve it is.
        line_kw : dict or None
            For matplotlib's `plot`, instead of the style that is built in.
        """
        axes = axes_or_new(ax, f"{type(self).__name__}.plot")
        number = len(axes.lines)
        look = {"color": _COLOURS[number % len(_COLOURS)], "marker": _MARKERS[number % len(_MARKERS)]}
        label = self.name if name is None else name
        built_in = {
            **look,
            "markersize": 5,
            "linewidth": 1.4,
            "zorder": 3,
            "label": legend_label(label) if label else "_curve",
        }
        (self.line_,) = axes.plot(self.determinacy, self.single_accuracy, **line_style(built_in, line_kw))
        axes.margins(0.1)  # room for labels
        axes.set(xlabel="share of rows decided", ylabel="accuracy on the decided rows")
        axes.set_title("Deciding fewer rows as s grows")
        self.s_texts_ = self._write_s(axes) if label_s else []
        if legend and label:
            axes.legend()
        self.ax_, self.figure_ = axes, axes.figure
        return self

    def _write_s(self, ax: Any) -> list[Any]:
        """The ends first, as the others can be guessed from them; the first says what the numbers are."""
        points = zip(self.s, self.determinacy, self.single_accuracy, strict=True)
        runs = [(place, [s for s, *_ in same]) for place, same in groupby(points, key=lambda point: point[1:])]
        runs = [(place, run) for place, run in runs if np.isfinite(place).all()]
        ax.autoscale_view()  # else the axes have their limits only when they are drawn
        for text in [text for text in ax.texts if text.get_gid() == _OURS]:  # this curve has moved earlier ones
            _move_where_room_is(text, ax)
        texts: list[Any] = []
        for place, run in [*runs[:1], *runs[:0:-1]]:
            words = f"{run[0]:g}" if len(run) == 1 else f"{run[0]:g} to {run[-1]:g}"
            words = words if texts else f"s = {words}"
            style = {"color": self.line_.get_color(), "fontsize": "small", "zorder": 4, "gid": _OURS}
            texts.append(ax.annotate(words, place, (0, 0), textcoords="offset points", visible=False, **style))
            _move_where_room_is(texts[-1], ax)
        return texts

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        s: Iterable[float] = USUAL_S,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> RejectionCurveDisplay:
        """Ask a fitted classifier for sets with each s, and draw how many rows it decides and how well.

        Parameters
        ----------
        estimator : fitted classifier
            With the verb `predict_set` and the parameter `s`, as :class:`hedgerow.CautiousForestClassifier` and
            :class:`hedgerow.CautiousClassifier`. It stays as it is.
        X, y : table and labels
            Rows that it was not fitted on.
        s : iterable of float
            Above 0.
        sample_weight : array-like of shape (n,) or None
        name : str or None
            For the legend; None is the name of the estimator's class.
        ax : matplotlib Axes or None
        **kwargs
            For :meth:`plot`.
        """
        pyplot(f"{cls.__name__}.from_estimator")
        check_cautious(estimator, ["predict_set"], with_s=True)
        values = sorted(read_s(s))
        return cls.from_predictions(
            y,
            [model.predict_set(X) for model in at_each_s(estimator, values)],
            s=values,
            classes=estimator.classes_,
            sample_weight=sample_weight,
            name=type(estimator).__name__ if name is None else name,
            ax=ax,
            **kwargs,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        sets: Any,
        *,
        s: Iterable[float],
        classes: ArrayLike,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> RejectionCurveDisplay:
        """Draw the curve of sets that are at hand.

        Parameters
        ----------
        y_true : array-like of shape (n,)
        sets : bool array-like of shape (n_s, n, n_classes)
            For each s, as `predict_set` returns.
        s : iterable of float, n_s
            The line joins the points in this order.
        classes : array-like of shape (n_classes,)
            The labels of the sets' columns.
        sample_weight, name, ax, **kwargs
            As for :meth:`from_estimator`; without a name there is no legend.
        """
        pyplot(f"{cls.__name__}.from_predictions")
        values = read_s(s)
        told: dict[str, Any] = {"classes": classes, "sample_weight": sample_weight}
        found = check_sets(sets, values)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)  # NaN is what a missing point is
            accuracies = [metrics.single_accuracy(y_true, of_s, **told) for of_s in found]
        display = cls(
            s=values,
            determinacy=np.array([metrics.determinacy(y_true, of_s, **told) for of_s in found]),
            single_accuracy=np.array(accuracies),
            name=name,
        )
        return display.plot(ax, **kwargs)


def _move_where_room_is(text: Any, ax: Any) -> None:
    """To beside its point where it covers no line, marker or other text and is within the axes; else out of sight."""
    from matplotlib.path import Path
    from matplotlib.transforms import Bbox

    text.set_visible(False)
    lines = [line.get_xydata() for line in ax.lines]
    lines = [ax.transData.transform(line[np.isfinite(line).all(axis=1)]) for line in lines]
    paths = [Path(line) for line in lines if len(line)]
    reach = _AROUND_POINT * ax.figure.dpi / 72
    taken = [Bbox([corner - reach, corner + reach]) for line in lines for corner in line]
    taken += [other.get_window_extent() for other in ax.texts if other.get_visible()]
    text.set_visible(True)
    for offset, across, along in _PLACES:
        text.set(position=offset, ha=across, va=along)
        box = text.get_window_extent()
        within = ax.bbox.containsx(box.x0) and ax.bbox.containsx(box.x1)
        within = within and ax.bbox.containsy(box.y0) and ax.bbox.containsy(box.y1)
        covers = any(box.overlaps(other) for other in taken)
        if within and not covers and not any(path.intersects_bbox(box, filled=False) for path in paths):
            return
    text.set_visible(False)
