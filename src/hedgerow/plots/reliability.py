"""Reliability diagram: whether probabilities keep their word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from hedgerow.estimators.contract import read_rows
from hedgerow.plots.boundaries import class_name, class_position, laplace_of
from hedgerow.plots.canvas import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILION, axes_or_new, line_style, pyplot
from hedgerow.plots.labels import legend_label, literal_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["ReliabilityDisplay"]

Floats = NDArray[np.float64]

_LIMITS = (-0.03, 1.03)
_LOWER_LIMIT = -0.36  # of the shares, where counts are shown below them
_LEGEND_LINE = 0.075  # above the shares, for each line of the legend

_LOOKS = ((GREY, "s"), (ORANGE, "^"), (BLUE, "o"), (GREEN, "D"), (PURPLE, "v"), (VERMILION, "P"))


class ReliabilityDisplay:
    """How often rows with about the same probability are of the class, against that probability.

    Make one with :meth:`from_estimator` or :meth:`from_predictions`.

    Parameters
    ----------
    predicted, observed, counts : dict of name to ndarray of shape (n_bins,)
        For each estimate the mean probability of each bin that has rows, the share of the class in it, and its rows.
    brier : dict of name to float
        The mean squared difference of the probability and what was (0 or 1).
    class_label : str

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : dict of name to matplotlib Line2D
    counts_ax_ : matplotlib Axes or None
        The rows of each bin, below the diagram; None with ``counts=False``.
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

    ax_: Axes
    figure_: Figure
    lines_: dict[str, Any]
    counts_ax_: Any
    count_lines_: dict[str, Any]
    diagonal_: Any

    def __init__(
        self,
        *,
        predicted: Mapping[str, Floats],
        observed: Mapping[str, Floats],
        counts: Mapping[str, NDArray[np.int64]],
        brier: Mapping[str, float],
        class_label: str,
    ) -> None:
        self.predicted = predicted
        self.observed = observed
        self.counts = counts
        self.brier = brier
        self.class_label = class_label

    def plot(
        self,
        ax: Axes | None = None,
        *,
        counts: bool = True,
        legend: bool = True,
        line_kw: dict[str, Any] | None = None,
    ) -> ReliabilityDisplay:
        """Draw a line for each estimate; on the diagonal probabilities are what they say.

        Parameters
        ----------
        ax : matplotlib Axes or None
            None makes a new figure.
        counts : bool
            Whether to show below it how many rows each bin has: points of few rows say little.
        legend : bool
            Whether to say whose line it is, with the Brier score.
        line_kw : dict or None
            For matplotlib's `plot`, of all lines, instead of the styles that are built in.
        """
        axes = axes_or_new(
            ax, f"{type(self).__name__}.plot", figsize=(5.6, 7.0 if counts else 5.4), layout="constrained"
        )
        look = {"color": BLACK, "linestyle": ":", "linewidth": 1.2, "zorder": 1, "label": "as good as its word"}
        (self.diagonal_,) = axes.plot([0, 1], [0, 1], **look)
        self.lines_ = {}
        for (name, x), (colour, marker) in zip(self.predicted.items(), _LOOKS, strict=False):
            look = {"color": colour, "marker": marker, "markersize": 5, "linewidth": 1.5, "zorder": 2}
            style = {**look, "label": f"{legend_label(name)} (Brier score {self.brier[name]:.3f})"}
            (self.lines_[name],) = axes.plot(x, self.observed[name], **line_style(style, line_kw))
        label = literal_label(self.class_label)
        axes.set(xlabel=f"probability of {label}", ylabel=f"share of {label} among such rows")
        top = _LIMITS[1] + (_LEGEND_LINE * (1 + len(self.lines_)) if legend else 0.0)
        axes.set(aspect="equal", yticks=np.linspace(0, 1, 6), title="Reliability")
        axes.set(xlim=_LIMITS, ylim=(_LOWER_LIMIT if counts else _LIMITS[0], top))
        if legend:
            axes.legend(loc="upper left", fontsize="small")
        self.counts_ax_, self.count_lines_ = None, {}
        if counts:
            self._draw_counts(axes)
        self.ax_, self.figure_ = axes, axes.figure
        return self

    def _draw_counts(self, ax: Any) -> None:
        """The rows of each bin at the same place as its point above, on a scale on which a single row can be seen."""
        height = (_LIMITS[0] - _LOWER_LIMIT) / (ax.get_ylim()[1] - _LOWER_LIMIT)
        self.counts_ax_ = ax.inset_axes((0.0, 0.0, 1.0, height))
        for name, line in self.lines_.items():
            style = {"color": line.get_color(), "marker": line.get_marker(), "markersize": 4, "linestyle": "-"}
            (self.count_lines_[name],) = self.counts_ax_.plot(
                self.predicted[name], self.counts[name], linewidth=0.8, **style
            )
        most = max(int(of_bins.max()) for of_bins in self.counts.values())
        self.counts_ax_.set(xlim=_LIMITS, yscale="log", ylim=(0.6, 3 * most))
        self.counts_ax_.tick_params(bottom=False, labelbottom=False)
        words = {"ha": "center", "va": "top", "fontsize": "small", "transform": self.counts_ax_.transAxes}
        self.counts_ax_.text(0.5, 0.95, "rows in each bin", **words)

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
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> ReliabilityDisplay:
        """Draw the probabilities of a fitted classifier.

        Those of a boundary classifier are drawn beside the frequencies of its tree, as they are and after Laplace.

        Parameters
        ----------
        estimator : fitted classifier with `predict_proba`
            Of this library, of scikit-learn, or a pipeline that ends in one.
        X, y : table and labels
            Rows that it was not fitted on.
        class_label : label or None
            Whose probability; None is the last class.
        n_bins : int
            Bins of equal width.
        name : str or None
            For the legend; None is the name of the estimator's class.
        ax : matplotlib Axes or None
        **kwargs
            For :meth:`plot`.
        """
        pyplot(f"{cls.__name__}.from_estimator")
        _check_probabilistic(estimator)
        target = class_position(estimator, class_label)
        estimates = {name or type(estimator).__name__: estimator.predict_proba(X)[:, target]}
        if hasattr(estimator, "algebraic_distance"):
            estimates = {
                "tree": estimator.estimator_.predict_proba(X)[:, target],
                "Laplace": laplace_of(estimator, read_rows(estimator, X), target),
                name or "boundary": estimator.predict_proba(X)[:, target],
            }
        positive = np.asarray(y) == estimator.classes_[target]
        label = class_name(estimator, target)
        return cls.from_predictions(positive, estimates, class_label=label, n_bins=n_bins, ax=ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        positive: ArrayLike,
        estimates: Mapping[str, ArrayLike],
        *,
        class_label: str = "the class",
        n_bins: int = 10,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> ReliabilityDisplay:
        """Draw probabilities that are at hand.

        Parameters
        ----------
        positive : bool array-like of shape (n,)
            Which rows are of the class.
        estimates : mapping of name to array-like of shape (n,)
            Up to six probabilities of the class.
        class_label, n_bins, ax, **kwargs
            As for :meth:`from_estimator`.
        """
        pyplot(f"{cls.__name__}.from_predictions")
        truth = np.asarray(positive, dtype=bool)
        if isinstance(n_bins, bool) or not isinstance(n_bins, int | np.integer) or n_bins < 1:
            raise ValueError(f"n_bins is {n_bins!r}, must be a whole number of at least 1")
        if not 0 < len(estimates) <= len(_LOOKS):
            raise ValueError(f"estimates has {len(estimates)} entries, must have 1 to {len(_LOOKS)}")
        predicted, observed, counts, brier = {}, {}, {}, {}
        for name, given in estimates.items():
            p = np.asarray(given, dtype=np.float64)
            if p.shape != truth.shape or not ((p >= -1e-9) & (p <= 1 + 1e-9)).all():
                raise ValueError(f"estimates[{name!r}] must have a probability for each of {len(truth)} rows")
            number = np.minimum((p * n_bins).astype(np.int64), n_bins - 1)
            n = np.bincount(number, minlength=n_bins)
            used = n > 0
            predicted[name] = np.bincount(number, weights=p, minlength=n_bins)[used] / n[used]
            observed[name] = np.bincount(number, weights=truth, minlength=n_bins)[used] / n[used]
            counts[name] = n[used]
            brier[name] = float(np.mean((p - truth) ** 2))
        display = cls(predicted=predicted, observed=observed, counts=counts, brier=brier, class_label=class_label)
        return display.plot(ax, **kwargs)


def _check_probabilistic(estimator: Any) -> None:
    if isinstance(estimator, type) or not hasattr(estimator, "predict_proba"):
        raise ValueError(
            f"estimator is {estimator!r}, which has no predict_proba: take a fitted probabilistic classifier"
        )
    check_is_fitted(estimator)
