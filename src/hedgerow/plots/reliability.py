"""Whether probabilities keep their word: of a tree's leaves, by Laplace's correction, and from its boundary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow._params import check_whole
from hedgerow.plots.boundaries import check_boundary, class_name, class_position, laplace_of
from hedgerow.plots.canvas import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILION, axes_or_new, line_style, pyplot

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["ReliabilityDisplay"]

Floats = NDArray[np.float64]

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
        self, ax: Axes | None = None, *, legend: bool = True, line_kw: dict[str, Any] | None = None
    ) -> ReliabilityDisplay:
        """Draw a line for each estimate; on the diagonal probabilities are what they say.

        Parameters
        ----------
        ax : matplotlib Axes or None
            None makes a new figure.
        legend : bool
            Whether to say whose line it is, with the Brier score.
        line_kw : dict or None
            For matplotlib's `plot`, of all lines, instead of the styles that are built in.
        """
        axes = axes_or_new(ax, f"{type(self).__name__}.plot", figsize=(5.6, 5.4), layout="constrained")
        look = {"color": BLACK, "linestyle": ":", "linewidth": 1.2, "zorder": 1, "label": "as good as its word"}
        (self.diagonal_,) = axes.plot([0, 1], [0, 1], **look)
        self.lines_ = {}
        for (name, x), (colour, marker) in zip(self.predicted.items(), _LOOKS, strict=False):
            label = f"{name} (Brier score {self.brier[name]:.3f})"
            style = {"color": colour, "marker": marker, "markersize": 5, "linewidth": 1.5, "zorder": 2, "label": label}
            (self.lines_[name],) = axes.plot(x, self.observed[name], **line_style(style, line_kw))
        axes.set(xlabel=f"probability of {self.class_label}", ylabel=f"share of {self.class_label} among such rows")
        axes.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), aspect="equal", title="Reliability")
        if legend:
            axes.legend(loc="upper left", fontsize="small")
        self.ax_, self.figure_ = axes, axes.figure
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        class_label: Any = None,
        n_bins: int = 10,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> ReliabilityDisplay:
        """Compare a fitted boundary classifier with the frequencies of its tree, as they are and after Laplace.

        Parameters
        ----------
        estimator : fitted BoundaryClassifier
        X, y : table and labels
            Rows that it was not fitted on.
        class_label : label or None
            Whose probability; None is the last class.
        n_bins : int
            Bins of equal width.
        ax : matplotlib Axes or None
        **kwargs
            For :meth:`plot`.
        """
        pyplot(f"{cls.__name__}.from_estimator")
        check_boundary(estimator)
        target = class_position(estimator, class_label)
        rows = estimator._read(X)
        estimates = {
            "tree": estimator.estimator_.predict_proba(X)[:, target],
            "Laplace": laplace_of(estimator, rows, target),
            "boundary": estimator._probabilities_of(rows)[:, target],
        }
        positive = np.asarray(y) == estimator.classes_[target]
        name = class_name(estimator, target)
        return cls.from_predictions(positive, estimates, class_label=name, n_bins=n_bins, ax=ax, **kwargs)

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
        check_whole("n_bins", n_bins, 1)
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
