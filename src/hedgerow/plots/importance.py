"""Importance of columns with standard errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hedgerow._params import check_whole
from hedgerow.inspection import Importances, permutation_importance
from hedgerow.plots.display import AxesOrNone, Display, Keywords
from hedgerow.plots.labels import short_label
from hedgerow.plots.palette import BLUE, GREY

__all__ = ["ImportanceDisplay"]


@dataclass(kw_only=True, eq=False, repr=False)
class ImportanceDisplay(Display):
    """Permutation importance of columns, or of groups of them, with standard errors.

    Create it with :meth:`from_estimator` or :meth:`from_importances`.

    Parameters
    ----------
    importances : :class:`~hedgerow.inspection.Importances`

    Attributes
    ----------
    bars_ : matplotlib BarContainer, the most important column on top
        Its `errorbar` has the standard errors.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import ForestClassifier
    >>> from hedgerow.plots import ImportanceDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> display = ImportanceDisplay.from_estimator(ForestClassifier(random_state=0).fit(X, y), X, y)
    >>> [label.get_text() for label in display.ax_.get_yticklabels()][:2]
    ['petal length (cm)', 'petal width (cm)']
    """

    importances: Importances

    def plot(
        self,
        ax: AxesOrNone = None,
        *,
        max_features: int = 20,
        relative: bool = False,
        bar_kw: Keywords = None,
        error_kw: Keywords = None,
    ) -> Self:
        """Draw a bar for each column, with ± one standard error.

        Only the `max_features` most important columns are drawn. With `relative` the largest is 1, as far as any is
        above 0. `bar_kw` and `error_kw` are for matplotlib's `barh` and its error bars.
        """
        found = self.importances
        mean, error = found.importances_mean, found.standard_error
        order = np.argsort(-mean, kind="stable")[: check_whole("max_features", max_features, 1)]
        unit = float(mean.max()) if relative and mean.max() > 0 else 1.0
        axes = self._axes(ax, figsize=(7.0, max(2.0, 1.3 + 0.27 * len(order))), layout="constrained")
        ink = axes.yaxis.label.get_color()  # of the style: black on white, white on black
        whisker = {"ecolor": ink, "elinewidth": 1.3, "capsize": 2.5, **(error_kw or {})}
        style = {"color": BLUE, "height": 0.62, "error_kw": whisker, **(bar_kw or {})}
        whiskers = None if np.isnan(error).any() else error[order] / unit  # of a single tree there is none
        self.bars_ = axes.barh(range(len(order)), mean[order] / unit, xerr=whiskers, **style)
        axes.set_yticks(range(len(order)), [short_label(found.names[j]) for j in order])
        axes.set_ylim(len(order) - 0.4, -0.6)
        axes.axvline(0, color=GREY, linewidth=0.8, zorder=0)
        self._open_frame()
        axes.set_xlabel(f"loss in {found.scoring}" + ", relative to the largest" * relative)
        some = f": {len(order)} of {len(mean)} columns" if len(order) < len(mean) else ""
        axes.set_title(f"Permutation importance{some}")
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        groups: Any = None,
        conditional: bool | float = False,
        scoring: str | None = None,
        rows: str = "oob",
        n_repeats: int = 5,
        random_state: Any = 0,
        n_jobs: int | None = None,
        ax: AxesOrNone = None,
        **kwargs: Any,
    ) -> Self:
        """Compute the importance of each column, and draw it.

        Parameters
        ----------
        estimator : fitted tree or forest of hedgerow
        X, y, sample_weight
            The training data again, or any rows with ``rows="all"``.
        groups, conditional, scoring, rows, n_repeats, random_state, n_jobs
            As in :func:`hedgerow.inspection.permutation_importance`.
        ax, **kwargs : for :meth:`plot`
        """
        cls._pyplot("from_estimator")
        settings = {"groups": groups, "conditional": conditional, "scoring": scoring, "rows": rows}
        settings |= {"n_repeats": n_repeats, "random_state": random_state, "n_jobs": n_jobs}
        found = permutation_importance(estimator, X, y, sample_weight=sample_weight, **settings)
        return cls(importances=found).plot(ax, **kwargs)

    @classmethod
    def from_importances(cls, importances: Importances, *, ax: AxesOrNone = None, **kwargs: Any) -> Self:
        """Draw what :func:`hedgerow.inspection.permutation_importance` has found; `kwargs` are for :meth:`plot`."""
        return cls(importances=importances).plot(ax, **kwargs)
