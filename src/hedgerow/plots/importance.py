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
    importances : Importances
        :class:`~hedgerow.inspection.Importances`.

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

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.
        max_features : int or None, default=20
            Largest number of columns that are drawn; None draws all.
        relative : bool, default=False
            Whether the largest importance is drawn as 1.
        bar_kw : dict or None, default=None
            Keywords for matplotlib's bars.
        error_kw : dict or None, default=None
            Keywords for the error bars.

        Returns
        -------
        self
            The Display, with what was drawn as attributes.
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
            The model.
        X : array-like or data frame of shape (n_samples, n_features)
            The training data again, in the order of `fit`, or with ``rows="all"`` any rows.
        y : array-like of shape (n_samples,)
            Classes or targets of these rows.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weights of these rows; None weighs all alike.
        groups : sequence of columns or of lists of columns, dict of them by name, or None, default=None
            Columns whose values are permuted together; None: every column by itself.
        conditional : bool or float, default=False
            Permute only between rows that agree on the tree's splits on columns whose association is at least this
            number; True is 0.5.
        scoring : {"accuracy", "neg_log_loss", "neg_brier_score", "r2", "neg_mean_squared_error", \
        "neg_mean_absolute_error"} or None, default=None
            Score of a tree; None is "accuracy" for classifiers, "r2" for regressors.
        rows : {"oob", "all"}, default="oob"
            Whether each tree answers the rows out of its bag, or all rows.
        n_repeats : int, default=5
            Permutations of each column and tree.
        random_state : int, RandomState instance or None, default=0
            Seed of the draws.
        n_jobs : int or None, default=None
            Number of threads; None is 1, -1 all cores. Results do not depend on it.
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
        settings = {"groups": groups, "conditional": conditional, "scoring": scoring, "rows": rows}
        settings |= {"n_repeats": n_repeats, "random_state": random_state, "n_jobs": n_jobs}
        found = permutation_importance(estimator, X, y, sample_weight=sample_weight, **settings)
        return cls(importances=found).plot(ax, **kwargs)

    @classmethod
    def from_importances(cls, importances: Importances, *, ax: AxesOrNone = None, **kwargs: Any) -> Self:
        """Draw what :func:`hedgerow.inspection.permutation_importance` has found; `kwargs` are for :meth:`plot`.

        Parameters
        ----------
        importances : Importances
            What :func:`hedgerow.inspection.permutation_importance` returned.
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.
        **kwargs
            Passed on to :meth:`plot`.

        Returns
        -------
        Display
            The Display, drawn.
        """
        return cls(importances=importances).plot(ax, **kwargs)
