"""Cost of the measurement error of each column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hedgerow.plots.display import AxesOrNone, Display, Floats, Keywords
from hedgerow.plots.labels import literal_label
from hedgerow.plots.measured.soft_answers import check_measured
from hedgerow.plots.palette import BLUE

__all__ = ["ErrorCostDisplay"]


@dataclass(kw_only=True, eq=False, repr=False)
class ErrorCostDisplay(Display):
    """Drop in the mean squared error if one column were measured without error.

    Create it with :meth:`from_estimator`.

    Parameters
    ----------
    costs : ndarray of shape (n_features,)
        Drop in the mean squared error for each column.
    feature_names : sequence of str
        Names of the columns.

    Attributes
    ----------
    bars_ : matplotlib BarContainer, highest cost on top, without columns that cost nothing

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow import MeasuredTreeRegressor
    >>> from hedgerow.plots import ErrorCostDisplay
    >>> rng = np.random.default_rng(0)
    >>> latent = rng.uniform(size=(400, 2))
    >>> X, y = latent + rng.normal(0, 0.08, size=(400, 2)), 3 * (latent[:, 0] > 0.5) + (latent[:, 1] > 0.5)
    >>> display = ErrorCostDisplay.from_estimator(MeasuredTreeRegressor(0.08, max_leaf_nodes=4).fit(X, y), X)
    >>> bool(display.costs[0] > display.costs[1] > 0)
    True
    """

    costs: Floats
    feature_names: Sequence[str]

    def plot(self, ax: AxesOrNone = None, *, max_features: int = 20, bar_kw: Keywords = None) -> Self:
        """Draw a bar for each column.

        Only the `max_features` columns with the highest costs are drawn. `bar_kw` is for matplotlib's `barh`.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.
        max_features : int or None, default=20
            Largest number of columns that are drawn; None draws all.
        bar_kw : dict or None, default=None
            Keywords for matplotlib's bars.

        Returns
        -------
        self
            The Display, with what was drawn as attributes.
        """
        order = [int(j) for j in np.argsort(-self.costs, kind="stable")[:max_features] if self.costs[j] > 0]
        axes = self._axes(ax, figsize=(6.4, max(2.4, 1.6 + 0.3 * len(order))), layout="constrained")
        self.bars_ = axes.barh(range(len(order)), self.costs[order], **{"color": BLUE, "height": 0.6, **(bar_kw or {})})
        axes.set_yticks(range(len(order)), [literal_label(self.feature_names[j]) for j in order])
        axes.invert_yaxis()
        axes.set(xlabel="drop in the mean squared error\nif this column were exact")
        axes.set_title("Cost of measurement errors")
        self._write_note(None if order else "no column costs anything:\nno split is on a column with errors")
        return self

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, X_err: Any = None, ax: AxesOrNone = None, **kwargs: Any) -> Self:
        """Compute the costs of errors in rows with a fitted tree, and draw them.

        Parameters
        ----------
        estimator : fitted MeasuredTreeRegressor or MeasuredTreeClassifier
            The model.
        X : array-like or data frame of shape (n_samples, n_features)
            Rows.
        X_err : array-like of shape (n, n_features), default=None
            Standard deviation of each cell's error, as for `predict`.
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
        costs = estimator.error_costs(X, X_err)
        return cls(costs=costs, feature_names=list(estimator.schema_.names)).plot(ax, **kwargs)
