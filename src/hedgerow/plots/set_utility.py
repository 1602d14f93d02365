"""What the sets of a cautious classifier are worth, as it grows more cautious."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow import metrics
from hedgerow.plots.canvas import BLUE, GREY, VERMILION, axes_or_new, line_style, pyplot
from hedgerow.plots.caution import USUAL_S, at_each_s, check_cautious, check_sets, read_s

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["SetUtilityDisplay"]

Floats = NDArray[np.float64]

_MOST_TICKS = 10  # of more values of s, matplotlib chooses the numbers along the axis
_TICKS_ACROSS = 15  # numbers that have room beside each other


class SetUtilityDisplay:
    """u65 and u80 of sets of classes, and the accuracy of single classes, against s.

    Make one with :meth:`from_estimator` or :meth:`from_predictions`.

    Parameters
    ----------
    s : sequence of float, n_s
        Rising.
    u65, u80 : ndarray of shape (n_s,)
        Of the sets with each s.
    accuracy : ndarray of shape (n_s,) or None
        Of the class that would be named if one had to be; s may change it a little, as it weighs trees.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
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

    ax_: Axes
    figure_: Figure
    u65_line_: Any
    u80_line_: Any
    accuracy_line_: Any

    def __init__(self, *, s: Sequence[float], u65: Floats, u80: Floats, accuracy: Floats | None = None) -> None:
        self.s = s
        self.u65 = u65
        self.u80 = u80
        self.accuracy = accuracy

    def plot(
        self,
        ax: Axes | None = None,
        *,
        legend: bool = True,
        line_kw: dict[str, Any] | None = None,
        accuracy_kw: dict[str, Any] | None = None,
    ) -> SetUtilityDisplay:
        """Draw a line for u80, one for u65, and a dashed one for the accuracy.

        Parameters
        ----------
        ax : matplotlib Axes or None
            None makes a new figure.
        legend : bool
            Whether to say what the lines are.
        line_kw, accuracy_kw : dict or None
            For matplotlib's `plot`, instead of the styles of the utilities' lines and that of the accuracy.
        """
        axes = axes_or_new(ax, f"{type(self).__name__}.plot", layout="constrained")
        looks: list[dict[str, Any]] = [
            {"color": VERMILION, "marker": "^", "label": "u80 of the sets"},
            {"color": BLUE, "marker": "o", "label": "u65 of the sets"},
        ]
        lines = []
        for values, look in zip((self.u80, self.u65), looks, strict=True):
            built_in = {**look, "markersize": 5, "linewidth": 1.4, "zorder": 3}
            lines += axes.plot(self.s, values, **line_style(built_in, line_kw))
        self.u80_line_, self.u65_line_ = lines
        self.accuracy_line_ = None
        if self.accuracy is not None:
            plain = {"color": GREY, "linestyle": "--", "linewidth": 1.4, "zorder": 2}
            style = line_style({**plain, "label": "accuracy of single classes"}, accuracy_kw)
            (self.accuracy_line_,) = axes.plot(self.s, self.accuracy, **style)
        axes.set_xscale("log")
        if len(self.s) <= _MOST_TICKS:
            ticks = _apart(self.s)
            axes.set_xticks(ticks, [f"{tick:.3g}" for tick in ticks])
            axes.set_xticks([], minor=True)
        axes.set(xlabel="s, unseen samples that each leaf allows for", ylabel="mean over the rows")
        axes.set_title("What sets are worth")
        if legend:
            axes.legend()
        self.ax_, self.figure_ = axes, axes.figure
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        s: Iterable[float] = USUAL_S,
        sample_weight: ArrayLike | None = None,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> SetUtilityDisplay:
        """Ask a fitted classifier for sets and for single classes with each s, and draw what they are worth.

        Parameters
        ----------
        estimator : fitted classifier
            With the verbs `predict_set` and `predict` and the parameter `s`, as
            :class:`hedgerow.CautiousForestClassifier` and :class:`hedgerow.CautiousClassifier`. It stays as it is.
        X, y : table and labels
            Rows that it was not fitted on.
        s : iterable of float
            Above 0.
        sample_weight : array-like of shape (n,) or None
        ax : matplotlib Axes or None
        **kwargs
            For :meth:`plot`.
        """
        pyplot(f"{cls.__name__}.from_estimator")
        check_cautious(estimator, ["predict_set", "predict"], with_s=True)
        values = sorted(read_s(s))
        answers = [(model.predict_set(X), model.predict(X)) for model in at_each_s(estimator, values)]
        return cls.from_predictions(
            y,
            [sets for sets, _ in answers],
            [labels for _, labels in answers],
            s=values,
            classes=estimator.classes_,
            sample_weight=sample_weight,
            ax=ax,
            **kwargs,
        )

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
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> SetUtilityDisplay:
        """Draw what sets that are at hand are worth.

        Parameters
        ----------
        y_true : array-like of shape (n,)
        sets : bool array-like of shape (n_s, n, n_classes)
            For each s, as `predict_set` returns.
        y_pred : array-like of shape (n_s, n) or None
            For each s, as `predict` returns; None leaves the accuracy out.
        s : iterable of float, n_s
            In any order.
        classes : array-like of shape (n_classes,)
            The labels of the sets' columns.
        sample_weight, ax, **kwargs
            As for :meth:`from_estimator`.
        """
        pyplot(f"{cls.__name__}.from_predictions")
        values = read_s(s)
        found = check_sets(sets, values)
        told: dict[str, Any] = {"classes": classes, "sample_weight": sample_weight}
        rising = np.argsort(values, kind="stable")
        u65 = np.array([metrics.u65_score(y_true, of_s, **told) for of_s in found])
        u80 = np.array([metrics.u80_score(y_true, of_s, **told) for of_s in found])
        accuracy = None if y_pred is None else _accuracies(y_true, y_pred, found.shape[:2], sample_weight)[rising]
        display = cls(s=[values[i] for i in rising], u65=u65[rising], u80=u80[rising], accuracy=accuracy)
        return display.plot(ax, **kwargs)


def _accuracies(y_true: Any, y_pred: Any, shape: tuple[int, ...], sample_weight: Any) -> Floats:
    named = np.asarray(y_pred)
    if named.shape != shape:
        raise ValueError(f"y_pred has shape {named.shape}, must have shape {shape}: labels for each s")
    right: Floats = np.average(named == np.asarray(y_true), axis=1, weights=sample_weight)
    return right


def _apart(s: Sequence[float]) -> list[float]:
    """The values whose numbers do not run into each other on a logarithmic axis."""
    width = (np.log(s[-1]) - np.log(s[0])) / _TICKS_ACROSS
    kept = [s[0]]
    for value in s:
        if value > kept[-1] and np.log(value) - np.log(kept[-1]) >= width:
            kept.append(value)
    return kept
