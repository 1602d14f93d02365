"""Answers of trees for measured inputs along one column, against the truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from hedgerow.plots.display import AxesOrNone, Display, Floats, Keywords
from hedgerow.plots.labels import literal_label
from hedgerow.plots.measured.soft_answers import check_measured, region_shares, region_values
from hedgerow.plots.palette import BLACK, BLUE, LIGHT_GREY, VERMILION
from hedgerow.plots.slices import column_position, median_row, slice_rows, why_flat

__all__ = ["SoftCurveDisplay"]


@dataclass(kw_only=True, eq=False, repr=False)
class SoftCurveDisplay(Display):
    """Answers of a tree that accounts for measurement errors, of one that does not, and the truth.

    Create it with :meth:`from_estimator`.

    Parameters
    ----------
    x : ndarray of shape (m,)
        Values of the column, ascending.
    soft : ndarray of shape (m,)
        Answers to observed values.
    hard : ndarray of shape (n,) or None, default=None
        Answers of the second tree.
    truth : ndarray of shape (n,) or None, default=None
        True values.
    points : ndarray of shape (n, 2) or None, default=None
        Observed values and targets.
    labels : two str, default=('x', 'answer')
        Labels of the axes.
    note : str or None, default=None
        Text in the axes, such as why the answer is constant.

    Attributes
    ----------
    soft_line_ : matplotlib Line2D
    hard_line_, truth_line_ : matplotlib Line2D or None
    points_ : matplotlib PathCollection or None

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow import MeasuredTreeRegressor
    >>> from hedgerow.plots import SoftCurveDisplay
    >>> rng = np.random.default_rng(0)
    >>> latent = rng.uniform(size=400)
    >>> X, y = (latent + rng.normal(0, 0.1, size=400)).reshape(-1, 1), np.floor(3 * latent)
    >>> soft, hard = (MeasuredTreeRegressor(sigma, max_leaf_nodes=3).fit(X, y) for sigma in (0.1, 0))
    >>> display = SoftCurveDisplay.from_estimator(soft, X, hard=hard, truth=lambda u: np.floor(3 * u.clip(0, 0.999)))
    >>> len(np.unique(display.hard))
    3
    """

    x: Floats
    soft: Floats
    hard: Floats | None = None
    truth: Floats | None = None
    points: Floats | None = None
    labels: tuple[str, str] = ("x", "answer")
    note: str | None = None

    def plot(
        self,
        ax: AxesOrNone = None,
        *,
        legend: bool = True,
        soft_kw: Keywords = None,
        hard_kw: Keywords = None,
        truth_kw: Keywords = None,
    ) -> Self:
        """Draw a line for each of the answers, and the rows.

        `soft_kw`, `hard_kw` and `truth_kw` are for matplotlib's `plot`.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.
        legend : bool, default=True
            Whether to draw a legend.
        soft_kw : dict or None, default=None
            Keywords for the line of the tree that accounts for errors.
        hard_kw : dict or None, default=None
            Keywords for the line of the other tree.
        truth_kw : dict or None, default=None
            Keywords for the line of the truth.

        Returns
        -------
        self
            The Display, with what was drawn as attributes.
        """
        axes = self._axes(ax, layout="constrained")
        self.points_: Any = None
        if self.points is not None:
            self.points_ = axes.scatter(*self.points.T, s=6, color=LIGHT_GREY, linewidths=0, zorder=1, label="rows")
        self.truth_line_, self.hard_line_ = None, None
        if self.truth is not None:
            dashed = {"color": BLACK, "linestyle": "--", "linewidth": 1.2, "zorder": 3, "label": "truth, latent x"}
            self.truth_line_ = self._line(self.x, self.truth, truth_kw, **dashed)
        if self.hard is not None:
            thin = {"color": VERMILION, "linewidth": 1.2, "zorder": 3, "label": "plain tree"}
            self.hard_line_ = self._line(self.x, self.hard, hard_kw, **thin)
        thick = {"color": BLUE, "linewidth": 2.2, "zorder": 3, "label": "tree that accounts for errors"}
        self.soft_line_ = self._line(self.x, self.soft, soft_kw, **thick)
        xlabel, ylabel = map(literal_label, self.labels)
        axes.set(xlabel=xlabel, ylabel=ylabel, title="Answers to what was observed")
        self._write_note(self.note)
        if legend:
            axes.legend()
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike | None = None,
        *,
        hard: Any = None,
        truth: Callable[[Floats], ArrayLike] | None = None,
        features: Any = 0,
        class_label: Any = None,
        grid_resolution: int = 400,
        ax: AxesOrNone = None,
        **kwargs: Any,
    ) -> Self:
        """Compute the answers of a fitted tree, and of a second one, along one column, and draw them.

        Parameters
        ----------
        estimator : fitted MeasuredTreeRegressor or MeasuredTreeClassifier
            The model.
        X : array-like or frame of shape (n_samples, n_features)
            Rows that give the range of the column, and the medians or most frequent categories of the others.
        y : array-like of shape (n_samples,) or None, default=None
            Targets of the rows, which are then drawn; None draws none.
        hard : fitted tree or None, default=None
            Fitted tree of the same kind to compare with, such as one with ``sigma=0``; None draws none.
        truth : callable or None, default=None
            Function from values of the column to the true answer, to be drawn; None draws none.
        features : name or position of a column, default=0
            Name or position of the column.
        class_label : label or None, default=None
            Class whose answer is drawn, for a classifier; None is the last.
        grid_resolution : int, default=400
            Number of values of the column.
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
        check_measured(estimator)
        schema = estimator.schema_
        column = column_position(schema, features)
        observed = schema.read(X, estimator=estimator)
        (x,), rows = slice_rows(schema, observed, [column], grid_resolution, others=median_row)
        soft, answer = _answers(estimator, rows, class_label)
        return cls(
            x=x,
            soft=soft,
            hard=None if hard is None else _answers(hard, rows, class_label)[0],
            truth=None if truth is None else np.asarray(truth(x), dtype=np.float64),
            points=None if y is None else np.column_stack([observed[:, column], np.asarray(y, dtype=np.float64)]),
            labels=(schema.names[column], answer),
            note=why_flat(soft, estimator.forest_, [column], schema.names),
        ).plot(ax, **kwargs)


def _answers(model: Any, rows: Floats, class_label: Any) -> tuple[Floats, str]:
    """Compute the answers to encoded rows, and name them."""
    check_measured(model)
    values, name = region_values(model, class_label)
    return region_shares(model, rows) @ values, name
