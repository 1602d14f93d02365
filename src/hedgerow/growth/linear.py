"""Linear models that make oblique splits.

A model gives a direction: the rows of a node are projected on it, and the threshold is the best one along it. So any
binary classifier can make a split (Honavar, Decision Trees and Forests, the slide on oblique splits), and any linear
regressor: one fitted to numbers splits where the variance decreases most.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import has_fit_parameter

from hedgerow._params import check_number
from hedgerow._registry import register

__all__ = ["LinearModel", "RidgeSplit", "linear_model"]

Floats = NDArray[np.float64]
LinearModel: TypeAlias = float | Callable[[Floats, Floats, Floats, int], Floats]
"""For the core: the penalty of ridge regression, or a function of rows, weights, targets and a seed."""

_ALIASES = "'ridge', RidgeSplit(...)"
_LARGEST_SEED = 2**32  # of scikit-learn


@dataclass(frozen=True)
class RidgeSplit:
    """Split along the ridge regression of the two groups of classes, or of the numbers, on the standardised columns.

    For two groups it is the direction of Fisher's linear discriminant. `penalty` is added to the variance of each
    column, which is 1: it keeps weights small where columns are correlated or rows are few.

    Parameters
    ----------
    penalty : float, default=0.1
        What is added to the variance of each standardised column, which is 1; larger ones keep weights smaller. At
        least 0.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from hedgerow import ObliqueTreeClassifier
    >>> from hedgerow.growth import RidgeSplit
    >>> ObliqueTreeClassifier(RidgeSplit(penalty=1.0)).fit(X, y).get_n_leaves()
    7
    """

    penalty: float = 0.1

    def __post_init__(self) -> None:
        check_number("RidgeSplit: penalty", self.penalty, closed="left", hint=", such as 0.1")


register(RidgeSplit, name="hedgerow.growth.RidgeSplit")


def linear_model(splitter: Any, *, of_classes: bool) -> LinearModel:
    """Return what the core needs for the parameter `splitter`; raise unless it is a linear model of the right kind.

    Parameters
    ----------
    splitter : "ridge", RidgeSplit, or a linear model of scikit-learn
        Value of the parameter `splitter` of an estimator.
    of_classes : bool
        Whether the tree is a classifier.

    Returns
    -------
    float or callable
        The penalty of ridge regression, or a function that fits a linear model to the rows of a node.

    Raises
    ------
    ValueError
        If it is a class, no linear model, or a classifier where a regressor is needed.

    Examples
    --------
    >>> from hedgerow.growth import linear_model
    >>> linear_model("ridge", of_classes=True)
    0.1
    """
    if isinstance(splitter, str) and splitter == "ridge":
        splitter = RidgeSplit()
    if isinstance(splitter, RidgeSplit):
        return float(splitter.penalty)
    example = "LinearSVC()" if of_classes else "Ridge()"
    if isinstance(splitter, type):
        raise ValueError(f"splitter is the class {splitter.__name__}, must be an instance: {splitter.__name__}()")
    if not callable(getattr(splitter, "__sklearn_tags__", None)) or not callable(getattr(splitter, "fit", None)):
        raise ValueError(
            f"splitter is {splitter!r}, must be {_ALIASES}, or a linear model of scikit-learn such as {example}"
        )
    name = type(splitter).__name__
    if not (is_classifier if of_classes else is_regressor)(splitter):
        kind, target = ("classifier", "classes") if of_classes else ("regressor", "numbers")
        raise ValueError(f"splitter is {name}, which is not a {kind}: {target} are split by one such as {example}")
    made = _ScikitSplit(splitter)
    made.check()
    import_module("hedgerow.growth.scikit_splitters")  # so that the tree can be saved; slow to import
    return made


class _ScikitSplit:
    """Fits a clone of a linear model of scikit-learn to the rows of a node."""

    def __init__(self, splitter: Any) -> None:
        self._splitter = splitter
        self._takes_weight = has_fit_parameter(splitter, "sample_weight")
        self._takes_seed = splitter.get_params(deep=False).get("random_state", 0) is None

    def __call__(self, rows: Floats, weight: Floats, target: Floats, seed: int) -> Floats:
        model = clone(self._splitter)
        if self._takes_seed:
            model.set_params(random_state=seed % _LARGEST_SEED)
        arguments = {}
        if (weight != weight[0]).any():
            if self._takes_weight:
                arguments["sample_weight"] = weight
            else:
                rows, target = self._repeat(rows, weight), self._repeat(target, weight)
        try:
            model.fit(rows, target, **arguments)
        # Too few rows for it, or none that differ within a group, as `check` has fitted it to others: the node is split
        # along a column.
        except (ValueError, IndexError):
            return np.zeros(0)
        coefficients = np.asarray(model.coef_, dtype=np.float64).ravel()
        # Without a finite direction the node is split along a column.
        return coefficients if np.isfinite(coefficients).all() else np.zeros(0)

    def _repeat(self, values: Floats, weight: Floats) -> Floats:
        times = weight.astype(np.int64)
        if (times != weight).any():
            raise ValueError(
                f"splitter {type(self._splitter).__name__} takes no sample_weight, and rows have fractional weights: "
                "use whole-number weights, missing='random' or another splitter"
            )
        return np.repeat(values, times, axis=0)

    def check(self) -> None:
        """Raise an error unless the model has coefficients of columns after a fit to two groups."""
        name = type(self._splitter).__name__
        rng = np.random.default_rng(0)
        target = np.repeat([-1.0, 1.0], 10)
        rows = rng.normal(size=(20, 2)) + target[:, np.newaxis]
        model = clone(self._splitter)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            try:
                model.fit(rows, target)
            except Exception as error:
                raise ValueError(f"splitter {name} can't be fitted to two groups of rows: {error}") from error
        if np.asarray(getattr(model, "coef_", None)).shape not in ((2,), (1, 2)):
            raise ValueError(
                f"splitter is {name}, which is not linear: after fit it has no coef_ with one number for each column"
            )
