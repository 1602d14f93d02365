"""Coverage and size of sets or intervals against the coverage that they promise."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv
from sklearn.utils.validation import check_is_fitted

from hedgerow import metrics
from hedgerow._params import check_number
from hedgerow.estimators.contract import offers
from hedgerow.plots.display import AxesOrNone, Display, Floats, Keywords
from hedgerow.plots.palette import BLUE, GREY, LIGHT_GREY, VERMILION

__all__ = ["CoverageDisplay"]

DEFAULT_LEVELS = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95)
_BAND = 0.95


@dataclass(kw_only=True, eq=False, repr=False)
class CoverageDisplay(Display):
    """How often sets or intervals hold the truth, and how large they are, against the coverage that is promised.

    Create it with :meth:`from_estimator` or :meth:`from_predictions`. The band is where the coverage of so many rows is
    in 95 of 100 cases, if the promise is kept for every one of them.

    Parameters
    ----------
    levels : ndarray of shape (n_levels,)
        Promised coverages, ascending.
    coverage : ndarray of shape (n_levels,)
        Share of rows that are covered.
    size : ndarray of shape (n_levels,)
        Mean number of classes in a set, or mean width of an interval.
    n_rows : int
        Number of rows.
    size_name : str, default="size"
        What `size` is.

    Attributes
    ----------
    coverage_line_, size_line_ : matplotlib Line2D
    band_ : matplotlib PolyCollection
    size_ax_ : matplotlib Axes, on which the size is drawn

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import ConformalClassifier
    >>> from hedgerow.plots import CoverageDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ConformalClassifier().fit(X[::2], y[::2])
    >>> display = CoverageDisplay.from_estimator(model, X[1::2], y[1::2], levels=(0.8, 0.9))
    >>> display.coverage.shape
    (2,)
    """

    levels: Floats
    coverage: Floats
    size: Floats
    n_rows: int
    size_name: str = "size"

    @property
    def band(self) -> Floats:
        """Lower and upper end of the binomial band at each level, (n_levels, 2)."""
        tails = np.array([(1 - _BAND) / 2, (1 + _BAND) / 2])
        covered = self.levels[:, np.newaxis] * self.n_rows
        found: Floats = betaincinv(covered + 0.5, self.n_rows - covered + 0.5, tails)
        return found

    def plot(
        self, ax: AxesOrNone = None, *, legend: bool = True, line_kw: Keywords = None, size_kw: Keywords = None
    ) -> Self:
        """Draw coverage against the promise, with the band, and the size on an axis to the right.

        `line_kw`, of the coverage, and `size_kw` are for matplotlib's `plot`.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.
        legend : bool, default=True
            Whether to draw a legend.
        line_kw : dict or None, default=None
            Keywords for matplotlib's `plot`, for the lines.
        size_kw : dict or None, default=None
            Keywords for the line of sizes.

        Returns
        -------
        self
            The Display, with what was drawn as attributes.
        """
        axes = self._axes(ax, layout="constrained")
        low, high = self.band.T
        note = f"95 % of {self.n_rows:,} rows"
        self.band_ = axes.fill_between(self.levels, low, high, color=LIGHT_GREY, alpha=0.6, linewidth=0, label=note)
        axes.plot(self.levels, self.levels, color=GREY, linestyle="--", linewidth=1, zorder=2)
        style = {"color": BLUE, "marker": "o", "markersize": 5, "linewidth": 1.4, "zorder": 3}
        self.coverage_line_ = self._line(self.levels, self.coverage, line_kw, label="coverage", **style)
        axes.set(xlabel="promised coverage", ylabel="coverage", title="Coverage and size")
        self.size_ax_ = axes.twinx()
        sizes = {"color": VERMILION, "marker": "s", "markersize": 4, "linewidth": 1.2, "linestyle": ":"}
        self.ax_ = self.size_ax_
        self.size_line_ = self._line(self.levels, self.size, size_kw, label=self.size_name, **sizes)
        self.ax_ = axes
        self.size_ax_.set_ylabel(self.size_name, color=VERMILION)
        self.size_ax_.set_ylim(0, 1.1 * max(float(self.size_ax_.get_ylim()[1]), 1e-300))
        if legend:
            drawn = [self.coverage_line_, self.band_, self.size_line_]
            names = [one.get_label() for one in drawn]
            axes.legend(drawn, names, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=3)
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        levels: Iterable[float] = DEFAULT_LEVELS,
        sample_weight: ArrayLike | None = None,
        ax: AxesOrNone = None,
        **kwargs: Any,
    ) -> Self:
        """Predict sets or intervals at each level, and draw how often they hold the truth.

        Parameters
        ----------
        estimator : fitted model
            With the parameter `coverage` and `predict_set`, such as :class:`hedgerow.ConformalClassifier`, or with
            `predict_interval`, such as :class:`hedgerow.ConformalRegressor` and :class:`hedgerow.ForestRegressor`.
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Classes, or targets, of the rows.
        levels : iterable of float, default=(0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95)
            Promised coverages, between 0 and 1.
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

        Raises
        ------
        ValueError
            If the model promises no coverage.
        """
        cls._pyplot("from_estimator")
        makes_sets = offers(estimator, "predict_set") and "coverage" in estimator.get_params(deep=False)
        if not makes_sets and not offers(estimator, "predict_interval"):
            raise ValueError(
                f"estimator is {estimator!r}, which promises no coverage: pass a ConformalClassifier, or a model with "
                "predict_interval"
            )
        check_is_fitted(estimator)
        values = _read_levels(levels)
        ask = estimator.predict_set if makes_sets else estimator.predict_interval
        answers = [ask(X, coverage=level) for level in values]
        classes = estimator.classes_ if makes_sets else None
        return cls.from_predictions(
            y, answers, levels=values, classes=classes, sample_weight=sample_weight, ax=ax, **kwargs
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        answers: Any,
        *,
        levels: Iterable[float],
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        ax: AxesOrNone = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the coverage of given sets or intervals.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels, or targets.
        answers : array-like of shape (n_levels, n, n_classes) or (n_levels, n, 2)
            Sets (bool, with `classes`) or intervals for each level.
        levels : iterable of float
            Promised coverages, between 0 and 1, in any order.
        classes : array-like of shape (n_classes,), default=None
            Labels of the sets' columns; None for intervals.
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

        Raises
        ------
        ValueError
            If answers do not have the shape of levels and rows.
        """
        cls._pyplot("from_predictions")
        values = np.array(_read_levels(levels))
        found = np.asarray(answers)
        if found.ndim != 3 or len(found) != len(values):
            raise ValueError(f"answers have shape {found.shape}, must have shape ({len(values)}, n, …): some per level")
        weights: dict[str, Any] = {"sample_weight": sample_weight}
        if classes is None:
            coverage = [metrics.interval_coverage(y_true, one, **weights) for one in found]
            size = [metrics.mean_interval_width(one, **weights) for one in found]
        else:
            coverage = [metrics.set_coverage(y_true, one, classes=classes, **weights) for one in found]
            rows = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
            size = [float(np.average(one.sum(axis=1), weights=rows)) for one in found]
        order = np.argsort(values, kind="stable")
        return cls(
            levels=values[order],
            coverage=np.array(coverage)[order],
            size=np.array(size)[order],
            n_rows=found.shape[1],
            size_name="mean width" if classes is None else "mean number of classes",
        ).plot(ax, **kwargs)


def _read_levels(levels: Iterable[float]) -> list[float]:
    """Check several coverages, at least one."""
    if isinstance(levels, str) or not isinstance(levels, Iterable):
        raise ValueError(f"levels is {levels!r}, must be several numbers in (0, 1), such as (0.8, 0.9)")
    values = [check_number("levels", level, 0, 1) for level in levels]
    if not values:
        raise ValueError("levels is empty, must have at least one number in (0, 1)")
    return values
