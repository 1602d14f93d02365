"""Utility of set-valued predictions against s."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from hedgerow import metrics
from hedgerow.plots.display import AxesOrNone, Display, Floats, Keywords
from hedgerow.plots.palette import BLUE, GREY, VERMILION
from hedgerow.plots.sets.sweep import DEFAULT_S, check_cautious, check_sets, read_s, sweep_s

__all__ = ["SetUtilityDisplay"]

_MOST_TICKS = 10  # matplotlib chooses the ticks for more values of s
_TICKS_ACROSS = 15  # tick labels that fit side by side


@dataclass(kw_only=True, eq=False, repr=False)
class SetUtilityDisplay(Display):
    """u65 and u80 of set-valued predictions, and the accuracy of single classes, against s.

    Create it with :meth:`from_estimator` or :meth:`from_predictions`.

    Parameters
    ----------
    s : sequence of float
        Values of s, ascending.
    u65 : ndarray of shape (n_s,)
        Mean u65 of the sets.
    u80 : ndarray of shape (n_s,)
        Mean u80 of the sets.
    accuracy : ndarray of shape (n_s,) or None, default=None
        Accuracy of `predict`; it may vary a little with s, which some weightings of the trees depend on.

    Attributes
    ----------
    u65_line_, u80_line_ : matplotlib Line2D
    accuracy_line_ : matplotlib Line2D or None

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hedgerow import CautiousForestClassifier
    >>> from hedgerow.plots import SetUtilityDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = CautiousForestClassifier(random_state=0).fit(X[::2], y[::2])
    >>> display = SetUtilityDisplay.from_estimator(model, X[1::2], y[1::2])
    >>> bool((display.u80 >= display.u65).all())
    True
    """

    s: Sequence[float]
    u65: Floats
    u80: Floats
    accuracy: Floats | None = None

    def plot(
        self, ax: AxesOrNone = None, *, legend: bool = True, line_kw: Keywords = None, accuracy_kw: Keywords = None
    ) -> Self:
        """Draw a line for u80, one for u65, and a dashed one for the accuracy.

        `line_kw`, of the utilities, and `accuracy_kw` are for matplotlib's `plot`.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.
        legend : bool, default=True
            Whether to draw a legend.
        line_kw : dict or None, default=None
            Keywords for matplotlib's `plot`, for the lines.
        accuracy_kw : dict or None, default=None
            Keywords for the line of the accuracy.

        Returns
        -------
        self
            The Display, with what was drawn as attributes.
        """
        axes = self._axes(ax, layout="constrained")
        style = {"markersize": 5, "linewidth": 1.4, "zorder": 3}
        upper = {"color": VERMILION, "marker": "^", "label": "u80 of the sets"}
        self.u80_line_ = self._line(self.s, self.u80, line_kw, **upper, **style)
        lower = {"color": BLUE, "marker": "o", "label": "u65 of the sets"}
        self.u65_line_ = self._line(self.s, self.u65, line_kw, **lower, **style)
        self.accuracy_line_: Any = None
        if self.accuracy is not None:
            dashed = {"color": GREY, "linestyle": "--", "linewidth": 1.4, "zorder": 2}
            label = "accuracy of single classes"
            self.accuracy_line_ = self._line(self.s, self.accuracy, accuracy_kw, **dashed, label=label)
        axes.set_xscale("log")
        if len(self.s) <= _MOST_TICKS:
            ticks = _readable_ticks(self.s)
            axes.set_xticks(ticks, [f"{tick:.3g}" for tick in ticks])
            axes.set_xticks([], minor=True)
        axes.set(xlabel="s, unseen samples that each leaf allows for", ylabel="mean over the rows")
        axes.set_title("Utility of set-valued predictions")
        if legend:
            axes.legend()
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        s: Iterable[float] = DEFAULT_S,
        sample_weight: ArrayLike | None = None,
        ax: AxesOrNone = None,
        **kwargs: Any,
    ) -> Self:
        """Predict sets and single classes with each s, and draw their utility and accuracy.

        Parameters
        ----------
        estimator : fitted classifier
            With the methods `predict_set` and `predict` and the parameter `s`, such as
            :class:`hedgerow.CautiousForestClassifier` and :class:`hedgerow.CautiousClassifier`. It is not changed.
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Classes, or targets, of the rows.
        s : sequence of float, default=(0.1, 0.3, 1, 2, 3, 5, 10, 30)
            Values of s, above 0.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weight of each row; None weighs all alike.
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
        check_cautious(estimator, ["predict_set", "predict"], ["s"])
        values = sorted(read_s(s))
        answers = [(model.predict_set(X), model.predict(X)) for model in sweep_s(estimator, values)]
        sets, labels = zip(*answers, strict=True)
        settings = {"s": values, "classes": estimator.classes_, "sample_weight": sample_weight}
        return cls.from_predictions(y, sets, labels, **settings, ax=ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        sets: Any,
        y_pred: Any = None,
        *,
        s: Iterable[float],
        classes: ArrayLike,
        sample_weight: ArrayLike | None = None,
        ax: AxesOrNone = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the utility of given sets.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels, or targets.
        sets : bool array-like of shape (n_s, n, n_classes)
            Output of `predict_set` for each s.
        y_pred : array-like of shape (n_s, n), default=None
            Output of `predict` for each s, or None to omit the accuracy.
        s : iterable of float
            Values of s, in any order.
        classes : array-like of shape (n_classes,)
            Labels of the sets' columns.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weight of each row; None weighs all alike.
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
        order = np.argsort(values, kind="stable")
        u65 = np.array([metrics.u65_score(y_true, of_s, **settings) for of_s in found])
        u80 = np.array([metrics.u80_score(y_true, of_s, **settings) for of_s in found])
        accuracy = None if y_pred is None else _accuracies(y_true, y_pred, found.shape[:2], sample_weight)[order]
        return cls(s=[values[i] for i in order], u65=u65[order], u80=u80[order], accuracy=accuracy).plot(ax, **kwargs)


def _accuracies(y_true: Any, y_pred: Any, shape: tuple[int, ...], sample_weight: Any) -> Floats:
    labels = np.asarray(y_pred)
    if labels.shape != shape:
        raise ValueError(f"y_pred has shape {labels.shape}, must have shape {shape}: labels for each s")
    return np.average(labels == np.asarray(y_true), axis=1, weights=sample_weight)


def _readable_ticks(s: Sequence[float]) -> list[float]:
    """Select values whose tick labels do not overlap on a logarithmic axis."""
    width = (np.log(s[-1]) - np.log(s[0])) / _TICKS_ACROSS
    ticks = [s[0]]
    for value in s:
        if value > ticks[-1] and np.log(value) - np.log(ticks[-1]) >= width:
            ticks.append(value)
    return ticks
