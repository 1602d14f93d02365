"""Cost of predictions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hedgerow._arrays import Floats
from hedgerow.forest.counts import as_numbers
from hedgerow.metrics.arguments import class_numbers, read_weights

__all__ = ["check_cost_matrix", "total_cost"]


def total_cost(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    cost_matrix: ArrayLike,
    classes: ArrayLike,
    measurements: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Total cost of predictions: Σ cost_matrix[true, predicted], plus the costs of measurements.

    Lower is better. Divide by the number of rows for the mean cost.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, or targets.
    y_pred : array-like of shape (n_samples,)
        Predicted labels.
    cost_matrix : array-like of shape (n_classes, n_classes)
        Cost of predicting class j for class i, true × predicted, in the order of `classes`; 0 on the diagonal.
    classes : array-like of shape (n_classes,)
        Labels in the order of the columns, `classes_` of the model.
    measurements : array-like of shape (n_samples,) or None, default=None
        Measurement cost of each row, as a tree's `cost_of` returns.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weight of each row; None weighs all alike.

    Returns
    -------
    float
        The sum.

    Raises
    ------
    ValueError
        If the cost matrix is not valid, a label is not in `classes`, or a measurement costs less than 0.

    Examples
    --------
    >>> costs = [[0, 20], [1, 0]]  # a missed illness costs 20, a false alarm 1
    >>> from hedgerow.metrics import total_cost
    >>> total_cost(["ill", "well", "well"], ["well", "ill", "well"], cost_matrix=costs, classes=["ill", "well"])
    21.0
    """
    shape = (np.asarray(y_true).shape[0] if np.ndim(y_true) else 0, len(np.asarray(classes)))
    costs = check_cost_matrix(cost_matrix, shape[1], "classes")
    spent = costs[class_numbers(y_true, classes, shape), class_numbers(y_pred, classes, shape, "y_pred")]
    if measurements is not None:
        extra = np.asarray(measurements, dtype=np.float64)
        if extra.shape != shape[:1] or not (np.isfinite(extra) & (extra >= 0)).all():
            raise ValueError(f"measurements must hold a cost that is not negative for each of {shape[0]} rows")
        spent = spent + extra
    return float((spent * read_weights(sample_weight, shape[0])).sum())


def check_cost_matrix(cost_matrix: Any, n_classes: int, of_what: str) -> Floats:
    """Return a cost matrix, true × predicted: finite, not negative, 0 on the diagonal but not everywhere.

    Parameters
    ----------
    cost_matrix : array-like of shape (n_classes, n_classes)
        Cost of predicting class j for class i, true × predicted; 0 on the diagonal.
    n_classes : int
        Number of classes.
    of_what : str
        What the matrix is, for messages.

    Returns
    -------
    ndarray of shape (n_classes, n_classes)
        The matrix as float64.

    Raises
    ------
    ValueError
        If it has another shape, a cost is negative or not finite, or a right answer costs something.

    Examples
    --------
    >>> from hedgerow.metrics import check_cost_matrix
    >>> check_cost_matrix([[0, 20], [1, 0]], 2, "classes")
    array([[ 0., 20.],
           [ 1.,  0.]])
    """
    costs = as_numbers("cost_matrix", cost_matrix)
    if costs.shape != (n_classes, n_classes):
        raise ValueError(
            f"cost_matrix has shape {costs.shape}, must be square with a row and a column for each of {n_classes} "
            f"{of_what}"
        )
    if not np.isfinite(costs).all() or (costs < 0).any():
        i, j = divmod(int(np.argmin(np.isfinite(costs) & (costs >= 0))), n_classes)
        raise ValueError(f"cost_matrix[{i}, {j}] is {costs[i, j]}: costs must be finite and not negative")
    if costs.diagonal().any():
        i = int(np.argmax(costs.diagonal() != 0))
        raise ValueError(f"cost_matrix[{i}, {i}] is {costs[i, i]}: a right answer must cost 0")
    if not costs.any():
        raise ValueError("cost_matrix is 0 everywhere: give at least one mistake a cost")
    return costs
