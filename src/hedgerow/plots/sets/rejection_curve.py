"""Accuracy on decided rows against the share of rows that a cautious classifier decides."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import UndefinedMetricWarning

from hedgerow import metrics
from hedgerow.plots.display import AxesOrNone, Display, Floats, Keywords
from hedgerow.plots.labels import legend_label
from hedgerow.plots.palette import BLACK, BLUE, GREEN, ORANGE, PURPLE, VERMILION
from hedgerow.plots.sets.sweep import DEFAULT_S, check_cautious, check_sets, read_s, sweep_s

__all__ = ["RejectionCurveDisplay"]

_STYLES = ((BLUE, "o"), (VERMILION, "s"), (GREEN, "^"), (PURPLE, "D"), (BLACK, "v"), (ORANGE, "P"))

# Positions of a label beside its point, best first: offset in points, horizontal and vertical alignment.
_POSITIONS = (
    ((0, 5), "center", "bottom"),
    ((6, 0), "left", "center"),
    ((0, -5), "center", "top"),
    ((-6, 0), "right", "center"),
    ((4, 4), "left", "bottom"),
    ((4, -4), "left", "top"),
    ((-4, 4), "right", "bottom"),
    ((-4, -4), "right", "top"),
)
_MARKER_RADIUS = 3.5  # in points
_LABEL_ID = "s of a rejection curve"  # distinguishes our labels from other texts of the axes


@dataclass(kw_only=True, eq=False, repr=False)
class RejectionCurveDisplay(Display):
    """Accuracy on the rows whose set has one class, against the share of such rows, for several s.

    Create it with :meth:`from_estimator` or :meth:`from_predictions`.

    Parameters
    ----------
    s : sequence of float
        Values of s.
    determinacy : ndarray of shape (n_s,)
        Share of rows whose set has one class.
    single_accuracy : ndarray of shape (n_s,)
        Accuracy on those rows; NaN, which is not drawn, if there are none.
    name : str or None, default=None
        Label in the legend.

    Attributes
    ----------
    line_ : matplotlib Line2D
    s_texts_ : list of matplotlib Annotation
        Values of s beside the points, visible where they fit; "0.1 to 1" where points coincide.

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

    s: Sequence[float]
    determinacy: Floats
    single_accuracy: Floats
    name: str | None = None

    def plot(
        self,
        ax: AxesOrNone = None,
        *,
        name: str | None = None,
        label_s: bool = True,
        legend: bool = True,
        line_kw: Keywords = None,
    ) -> Self:
        """Draw a line through the points of all s. Curves on the same axes get different styles.

        `name` replaces that of the Display in the legend. `label_s` is whether to write s beside the points where it
        fits. `line_kw` is for matplotlib's `plot`.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.
        name : str or None, default=None
            Name in the legend; None: that of the display.
        label_s : bool, default=True
            Whether s is written beside the points.
        legend : bool, default=True
            Whether to draw a legend.
        line_kw : dict or None, default=None
            Keywords for matplotlib's `plot`, for the lines.

        Returns
        -------
        self
            The Display, with what was drawn as attributes.
        """
        axes = self._axes(ax)
        color, marker = _STYLES[len(axes.lines) % len(_STYLES)]
        name = self.name if name is None else name
        label = legend_label(name) if name else "_curve"
        style = {"color": color, "marker": marker, "markersize": 5, "linewidth": 1.4, "zorder": 3, "label": label}
        self.line_ = self._line(self.determinacy, self.single_accuracy, line_kw, **style)
        axes.margins(0.1)  # room for labels
        axes.set(xlabel="share of rows decided", ylabel="accuracy on the decided rows")
        axes.set_title("Deciding fewer rows as s grows")
        self.s_texts_ = self._write_s() if label_s else []
        if legend and name:
            axes.legend()
        return self

    def _write_s(self) -> list[Any]:
        """Write the values of s, the two ends first, since the others can be inferred from them."""
        ax: Any = self.ax_
        points = zip(self.s, self.determinacy, self.single_accuracy, strict=True)
        runs = [(point, [s for s, *_ in same]) for point, same in groupby(points, key=lambda point: point[1:])]
        runs = [(point, run) for point, run in runs if np.isfinite(point).all()]
        ax.autoscale_view()  # otherwise the limits are set only when the axes are drawn
        for text in [text for text in ax.texts if text.get_gid() == _LABEL_ID]:  # this curve changed the limits
            _place_label(text, ax)
        texts: list[Any] = []
        style = {"color": self.line_.get_color(), "fontsize": "small", "zorder": 4, "gid": _LABEL_ID}
        for point, run in [*runs[:1], *runs[:0:-1]]:
            label = f"{run[0]:g}" if len(run) == 1 else f"{run[0]:g} to {run[-1]:g}"
            label = label if texts else f"s = {label}"
            texts.append(ax.annotate(label, point, (0, 0), textcoords="offset points", visible=False, **style))
            _place_label(texts[-1], ax)
        return texts

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        s: Iterable[float] = DEFAULT_S,
        sample_weight: ArrayLike | None = None,
        name: str | None = None,
        ax: AxesOrNone = None,
        **kwargs: Any,
    ) -> Self:
        """Predict sets with each s, and draw the share of decided rows and the accuracy on them.

        Parameters
        ----------
        estimator : fitted classifier
            With the method `predict_set` and the parameter `s`, such as :class:`hedgerow.CautiousForestClassifier` and
            :class:`hedgerow.CautiousClassifier`. It is not changed.
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Classes, or targets, of the rows.
        s : sequence of float, default=(0.1, 0.3, 1, 2, 3, 5, 10, 30)
            Values of s, above 0.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weight of each row; None weighs all alike.
        name : str or None, default=None
            Label in the legend, default the name of the estimator's class.
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
        check_cautious(estimator, ["predict_set"], ["s"])
        values = sorted(read_s(s))
        sets = [model.predict_set(X) for model in sweep_s(estimator, values)]
        name = type(estimator).__name__ if name is None else name
        settings = {"s": values, "classes": estimator.classes_, "sample_weight": sample_weight, "name": name}
        return cls.from_predictions(y, sets, **settings, ax=ax, **kwargs)

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
        ax: AxesOrNone = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the curve of given sets.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels, or targets.
        sets : bool array-like of shape (n_s, n, n_classes)
            Output of `predict_set` for each s.
        s : iterable of float
            Values of s, in the order in which the line joins the points.
        classes : array-like of shape (n_classes,)
            Labels of the sets' columns.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weight of each row; None weighs all alike.
        name : str or None, default=None
            Name in the legend; None is that of the class.
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.
        **kwargs
            Passed on to :meth:`plot`.

        Returns
        -------
        Display
            The Display, drawn.
        """
        cls._pyplot("from_predictions")
        values = read_s(s)
        found = check_sets(sets, values)
        settings: dict[str, Any] = {"classes": classes, "sample_weight": sample_weight}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UndefinedMetricWarning)  # NaN marks a point that is not drawn
            accuracy = np.array([metrics.single_accuracy(y_true, of_s, **settings) for of_s in found])
        determinacy = np.array([metrics.determinacy(y_true, of_s, **settings) for of_s in found])
        return cls(s=values, determinacy=determinacy, single_accuracy=accuracy, name=name).plot(ax, **kwargs)


def _place_label(text: Any, ax: Any) -> None:
    """Move a label to where it covers no line, marker or other text within the axes; hide it if there is no room."""
    from matplotlib.path import Path
    from matplotlib.transforms import Bbox

    text.set_visible(False)
    lines = [line.get_xydata() for line in ax.lines]
    lines = [ax.transData.transform(line[np.isfinite(line).all(axis=1)]) for line in lines]
    paths = [Path(line) for line in lines if len(line)]
    radius = _MARKER_RADIUS * ax.figure.dpi / 72
    taken = [Bbox([point - radius, point + radius]) for line in lines for point in line]
    taken += [other.get_window_extent() for other in ax.texts if other.get_visible()]
    text.set_visible(True)
    for offset, horizontal, vertical in _POSITIONS:
        text.set(position=offset, ha=horizontal, va=vertical)
        box = text.get_window_extent()
        inside = all(ax.bbox.containsx(x) for x in box.intervalx) and all(ax.bbox.containsy(y) for y in box.intervaly)
        covers = any(box.overlaps(other) for other in taken)
        if inside and not covers and not any(path.intersects_bbox(box, filled=False) for path in paths):
            return
    text.set_visible(False)
