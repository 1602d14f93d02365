"""Probability of a class along one column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from hedgerow.estimators.contract import read_rows
from hedgerow.plots.boundary.probability import check_boundary, class_probability
from hedgerow.plots.display import AxesOrNone, Display, Floats, Keywords
from hedgerow.plots.labels import legend_label, literal_label
from hedgerow.plots.palette import BLACK, BLUE, GREEN, PURPLE, VERMILION
from hedgerow.plots.requirements import class_position
from hedgerow.plots.slices import column_position, observed_row, slice_rows, why_flat

__all__ = ["ColumnProfileDisplay"]

_STYLES = ((BLUE, "-"), (VERMILION, "--"), (GREEN, "-."), (PURPLE, ":"))


@dataclass(kw_only=True, eq=False, repr=False)
class ColumnProfileDisplay(Display):
    """Probability of a class along one column, the others held at their medians (Figure 3 of the paper).

    Create it with :meth:`from_estimator`; several on the same axes get different styles.

    Parameters
    ----------
    x : ndarray of shape (n,)
        Values of the column.
    probability : ndarray of shape (n,)
        Probability of the class at each of them.
    feature_name : str
        Name of the column.
    class_label : str
        The class.
    truth : ndarray of shape (n,) or None, default=None
        True probability.
    name : str or None, default=None
        Label in the legend.
    note : str or None, default=None
        Text in the axes, such as why the probability is constant.

    Attributes
    ----------
    line_ : matplotlib Line2D
    truth_line_ : matplotlib Line2D or None

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from hedgerow import BoundaryClassifier
    >>> from hedgerow.plots import ColumnProfileDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = BoundaryClassifier().fit(X, y)
    >>> display = ColumnProfileDisplay.from_estimator(model, X, "petal width (cm)", class_label=2)
    >>> bool(display.probability[0] < 0.1 < 0.9 < display.probability[-1])
    True
    """

    x: Floats
    probability: Floats
    feature_name: str
    class_label: str
    truth: Floats | None = None
    name: str | None = None
    note: str | None = None

    def plot(self, ax: AxesOrNone = None, *, legend: bool = True, line_kw: Keywords = None) -> Self:
        """Draw the probability, and the truth unless the axes have it already.

        `line_kw` is for matplotlib's `plot`.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.
        legend : bool, default=True
            Whether to draw a legend.
        line_kw : dict or None, default=None
            Keywords for matplotlib's `plot`, for the lines.

        Returns
        -------
        self
            The Display, with what was drawn as attributes.
        """
        axes = self._axes(ax, layout="constrained")
        self.truth_line_ = next((line for line in axes.lines if line.get_label() == "truth"), None)
        if self.truth is not None and self.truth_line_ is None:
            style = {"color": BLACK, "linewidth": 2.4, "alpha": 0.55, "zorder": 1}
            self.truth_line_ = self._line(self.x, self.truth, **style, label="truth")
        number = len([line for line in axes.lines if line is not self.truth_line_])
        color, dashes = _STYLES[number % len(_STYLES)]
        style = {"color": color, "linestyle": dashes, "linewidth": 1.8, "zorder": 2}
        self.line_ = self._line(self.x, self.probability, line_kw, **style, label=legend_label(self.name or "estimate"))
        axes.set(xlabel=literal_label(self.feature_name), ylabel=f"probability of {literal_label(self.class_label)}")
        axes.set(ylim=(-0.03, 1.03))
        self._write_note(self.note)
        axes.margins(x=0.01)
        if legend:
            axes.legend(fontsize="small")
        return self

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        features: Any,
        *,
        class_label: Any = None,
        truth: Callable[[Floats], Floats] | None = None,
        grid_resolution: int = 400,
        name: str | None = None,
        ax: AxesOrNone = None,
        **kwargs: Any,
    ) -> Self:
        """Compute probabilities of a fitted boundary classifier along a column, and draw them.

        Parameters
        ----------
        estimator : fitted BoundaryClassifier
            The model.
        X : array-like or frame of shape (n_samples, n_features)
            Rows that give the range of the column and the medians of the others.
        features : name or position of a column
            Name or position of the column.
        class_label : label or None, default=None
            The class; None is the last.
        truth : callable or None, default=None
            Function from values of the column to the true probability, to be drawn; None draws none.
        grid_resolution : int, default=400
            Number of values of the column.
        name : str or None, default=None
            Label in the legend.
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
        check_boundary(estimator)
        schema = estimator.schema_
        column = column_position(schema, features)
        target = class_position(estimator.classes_, class_label)
        (x,), rows = slice_rows(schema, read_rows(estimator, X), [column], grid_resolution, others=observed_row)
        probability = class_probability(estimator, rows, target)
        return cls(
            x=x,
            probability=probability,
            feature_name=schema.names[column],
            class_label=str(estimator.classes_[target]),
            truth=None if truth is None else np.asarray(truth(x), dtype=np.float64),
            name=name,
            note=why_flat(probability, estimator.forest_, [column], schema.names),
        ).plot(ax, **kwargs)
