"""Which column's error costs most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.plots.canvas import BLUE, axes_or_new, pyplot, write_note
from hedgerow.plots.labels import literal_label
from hedgerow.plots.slices import check_measured

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["ErrorCostDisplay"]


class ErrorCostDisplay:
    """How far the mean squared error would drop if one column were measured without error.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    costs : ndarray of shape (n_features,)
    feature_names : sequence of str, n_features

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    bars_ : matplotlib BarContainer
        The dearest on top; columns that cost nothing are left out.

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

    ax_: Axes
    figure_: Figure
    bars_: Any

    def __init__(self, *, costs: NDArray[np.float64], feature_names: Sequence[str]) -> None:
        self.costs = costs
        self.feature_names = feature_names

    def plot(
        self, ax: Axes | None = None, *, max_features: int = 20, bar_kw: dict[str, Any] | None = None
    ) -> ErrorCostDisplay:
        """Draw a bar for each column.

        Parameters
        ----------
        ax : matplotlib Axes or None
            None makes a new figure.
        max_features : int
            Bars at most: the dearest columns.
        bar_kw : dict or None
            For matplotlib's `barh`, instead of the style that is built in.
        """
        order = [int(j) for j in np.argsort(-self.costs, kind="stable")[:max_features] if self.costs[j] > 0]
        size = (6.4, max(2.4, 1.6 + 0.3 * len(order)))
        axes = axes_or_new(ax, f"{type(self).__name__}.plot", figsize=size, layout="constrained")
        names = [literal_label(self.feature_names[j]) for j in order]
        self.bars_ = axes.barh(range(len(order)), self.costs[order], **{"color": BLUE, "height": 0.6, **(bar_kw or {})})
        axes.set_yticks(range(len(order)), names)
        axes.invert_yaxis()
        axes.set(xlabel="drop in the mean squared error\nif this column were exact")
        axes.set_title("What measurement errors cost")
        write_note(axes, None if order else "no column costs anything:\nno split is on a column with errors")
        self.ax_, self.figure_ = axes, axes.figure
        return self

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, X_err: Any = None, ax: Axes | None = None, **kwargs: Any
    ) -> ErrorCostDisplay:
        """Ask a fitted tree what the errors of rows cost, and draw it.

        Parameters
        ----------
        estimator : fitted MeasuredTreeRegressor or MeasuredTreeClassifier
        X : table
        X_err : array-like of shape (n, n_features) or None
            Standard deviations of the errors of all cells, as for `predict`.
        ax : matplotlib Axes or None
        **kwargs
            For :meth:`plot`.
        """
        pyplot(f"{cls.__name__}.from_estimator")
        check_measured(estimator)
        display = cls(costs=estimator.error_costs(X, X_err), feature_names=list(estimator.schema_.names))
        return display.plot(ax, **kwargs)
