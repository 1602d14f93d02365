"""Reliability diagram: observed class frequencies against predicted probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from hedgerow._params import check_whole
from hedgerow.estimators.contract import offers, read_rows
from hedgerow.plots.display import AxesOrNone, Display, Floats, Keywords
from hedgerow.plots.labels import legend_label, literal_label
from hedgerow.plots.palette import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILION
from hedgerow.plots.requirements import check_estimator, class_position, laplace_frequency

__all__ = ["ReliabilityDisplay"]

_LIMITS = (-0.03, 1.03)
_LOWER_LIMIT = -0.36  # of the frequencies, if counts are drawn below them
_LEGEND_LINE = 0.075  # height of a line of the legend, above the frequencies
_STYLES = ((GREY, "s"), (ORANGE, "^"), (BLUE, "o"), (GREEN, "D"), (PURPLE, "v"), (VERMILION, "P"))


@dataclass(kw_only=True, eq=False, repr=False)
class ReliabilityDisplay(Display):
    """Frequency of a class among rows with about the same predicted probability, against that probability.

    Create it with :meth:`from_estimator` or :meth:`from_predictions`.

    Parameters
    ----------
    predicted : dict of name to ndarray of shape (n_bins,)
        Mean probability, frequency of the class and number of rows in each bin that is not empty, for each estimate.
    observed : dict of name to ndarray of shape (n_bins,)
        Mean probability, frequency of the class and number of rows in each bin that is not empty, for each estimate.
    counts : dict of name to ndarray of shape (n_bins,)
        Number of rows in each bin.
    brier : dict of name to float
        Brier score: mean squared difference between the probability and the outcome (0 or 1).
    class_label : str
        The class.

    Attributes
    ----------
    lines_ : dict of name to matplotlib Line2D
    counts_ax_ : matplotlib Axes, number of rows in each bin, or None with ``counts=False``
    count_lines_ : dict of name to matplotlib Line2D
    diagonal_ : matplotlib Line2D

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from hedgerow import BoundaryClassifier
    >>> from hedgerow.plots import ReliabilityDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = BoundaryClassifier().fit(X[::2], y[::2])
    >>> display = ReliabilityDisplay.from_estimator(model, X[1::2], y[1::2])
    >>> list(display.brier)
    ['tree', 'Laplace', 'boundary']
    """

    predicted: Mapping[str, Floats]
    observed: Mapping[str, Floats]
    counts: Mapping[str, NDArray[np.int64]]
    brier: Mapping[str, float]
    class_label: str

    def plot(
        self, ax: AxesOrNone = None, *, counts: bool = True, legend: bool = True, line_kw: Keywords = None
    ) -> Self:
        """Draw a line for each estimate, and the diagonal of perfectly calibrated probabilities.

        `counts` is whether to draw the number of rows in each bin: points of few rows are uncertain. The legend has the
        Brier scores. `line_kw`, of all lines, is for matplotlib's `plot`.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.
        counts : bool, default=True
            Whether the number of rows is drawn below.
        legend : bool, default=True
            Whether to draw a legend.
        line_kw : dict or None, default=None
            Keywords for matplotlib's `plot`, for the lines.

        Returns
        -------
        self
            The Display, with what was drawn as attributes.
        """
        axes = self._axes(ax, figsize=(5.6, 7.0 if counts else 5.4), layout="constrained")
        dotted = {"color": BLACK, "linestyle": ":", "linewidth": 1.2, "zorder": 1}
        self.diagonal_ = self._line([0, 1], [0, 1], **dotted, label="perfectly calibrated")
        self.lines_ = {}
        for (name, x), (color, marker) in zip(self.predicted.items(), _STYLES, strict=False):
            style = {"color": color, "marker": marker, "markersize": 5, "linewidth": 1.5, "zorder": 2}
            label = f"{legend_label(name)} (Brier score {self.brier[name]:.3f})"
            self.lines_[name] = self._line(x, self.observed[name], line_kw, **style, label=label)
        label = literal_label(self.class_label)
        axes.set(xlabel=f"probability of {label}", ylabel=f"share of {label} among such rows")
        top = _LIMITS[1] + (_LEGEND_LINE * (1 + len(self.lines_)) if legend else 0.0)
        axes.set(aspect="equal", yticks=np.linspace(0, 1, 6), title="Reliability")
        axes.set(xlim=_LIMITS, ylim=(_LOWER_LIMIT if counts else _LIMITS[0], top))
        if legend:
            axes.legend(loc="upper left", fontsize="small")
        self.counts_ax_: Any = None
        self.count_lines_: dict[str, Any] = {}
        if counts:
            self._draw_counts()
        return self

    def _draw_counts(self) -> None:
        """Draw the number of rows of each bin below its point, on a logarithmic scale that shows single rows."""
        height = (_LIMITS[0] - _LOWER_LIMIT) / (self.ax_.get_ylim()[1] - _LOWER_LIMIT)
        self.counts_ax_ = self.ax_.inset_axes((0.0, 0.0, 1.0, height))
        for name, line in self.lines_.items():
            style = {"color": line.get_color(), "marker": line.get_marker(), "markersize": 4, "linestyle": "-"}
            drawn = self.counts_ax_.plot(self.predicted[name], self.counts[name], linewidth=0.8, **style)
            (self.count_lines_[name],) = drawn
        largest = max(int(in_bins.max()) for in_bins in self.counts.values())
        self.counts_ax_.set(xlim=_LIMITS, yscale="log", ylim=(0.6, 3 * largest))
        self.counts_ax_.tick_params(bottom=False, labelbottom=False)
        style = {"ha": "center", "va": "top", "fontsize": "small", "transform": self.counts_ax_.transAxes}
        self.counts_ax_.text(0.5, 0.95, "rows in each bin", **style)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        class_label: Any = None,
        n_bins: int = 10,
        name: str | None = None,
        ax: AxesOrNone = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the probabilities of a fitted classifier.

        For a boundary classifier the frequencies in the leaves of its tree, plain and Laplace-corrected, are drawn too.

        Parameters
        ----------
        estimator : fitted classifier with `predict_proba`, or a pipeline that ends in one
            The model.
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Classes, or targets, of the rows.
        class_label : label or None, default=None
            The class; None is the last.
        n_bins : int, default=10
            Number of bins of equal width.
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
        check_estimator(estimator, ["predict_proba"], hint="pass a fitted classifier that predicts probabilities")
        check_is_fitted(estimator)
        target = class_position(estimator.classes_, class_label)
        estimates = {name or type(estimator).__name__: estimator.predict_proba(X)[:, target]}
        if offers(estimator, "algebraic_distance"):
            (probability,) = estimates.values()
            estimates = {
                "tree": estimator.estimator_.predict_proba(X)[:, target],
                "Laplace": laplace_frequency(estimator, read_rows(estimator, X), target),
                name or "boundary": probability,
            }
        label = estimator.classes_[target]
        positive = np.asarray(y) == label
        return cls.from_predictions(positive, estimates, class_label=str(label), n_bins=n_bins, ax=ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        positive: ArrayLike,
        estimates: Mapping[str, ArrayLike],
        *,
        class_label: str = "the class",
        n_bins: int = 10,
        ax: AxesOrNone = None,
        **kwargs: Any,
    ) -> Self:
        """Draw given probabilities.

        Parameters
        ----------
        positive : bool array-like of shape (n,)
            Whether each row is of the class.
        estimates : mapping of str to array-like of shape (n,)
            One to six estimates of the class's probability, by name.
        class_label : str, default="the class"
            What the axes call the class.
        n_bins : int, default=10
            Number of bins.
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
            If there are no estimates, or too many, or one has another length.
        """
        cls._pyplot("from_predictions")
        outcome = np.asarray(positive, dtype=bool)
        check_whole("n_bins", n_bins, 1)
        if not 0 < len(estimates) <= len(_STYLES):
            raise ValueError(f"estimates has {len(estimates)} entries, must have 1 to {len(_STYLES)}")
        predicted, observed, counts, brier = {}, {}, {}, {}
        for name, given in estimates.items():
            p = np.asarray(given, dtype=np.float64)
            if p.shape != outcome.shape or not ((p >= -1e-9) & (p <= 1 + 1e-9)).all():
                raise ValueError(f"estimates[{name!r}] must have a probability for each of {len(outcome)} rows")
            bins = np.minimum((p * n_bins).astype(np.int64), n_bins - 1)
            n = np.bincount(bins, minlength=n_bins)
            used = n > 0
            predicted[name] = np.bincount(bins, weights=p, minlength=n_bins)[used] / n[used]
            observed[name] = np.bincount(bins, weights=outcome, minlength=n_bins)[used] / n[used]
            counts[name] = n[used]
            brier[name] = float(np.mean((p - outcome) ** 2))
        display = cls(predicted=predicted, observed=observed, counts=counts, brier=brier, class_label=class_label)
        return display.plot(ax, **kwargs)
