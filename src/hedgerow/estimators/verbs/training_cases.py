"""Training rows that a user gives again, so that explanations can show cases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length

from hedgerow.estimators.base import TreeBased
from hedgerow.explain.reasons.reason import Similar

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["TrainingCases", "read_training"]

_MOST = 3


@dataclass(frozen=True, eq=False)
class TrainingCases:
    """Training rows, by the leaves that they reach."""

    reached: csr_array
    """Weight with which each of them reaches each leaf, (n, n_leaves)."""
    labels: NDArray[Any]
    of_leaf: NDArray[np.float64]
    """Share of its tree in the weight of all, for each leaf."""

    def nearest(self, reached: csr_array, answer: Any, *, of_classes: bool) -> tuple[Similar, ...]:
        """Training rows that share most leaves with a row, (1, n_leaves), of other classes than `answer`."""
        weights = np.zeros(self.reached.shape[1])
        weights[reached.indices] = reached.data
        shares = self.reached @ (weights * self.of_leaf)
        other = shares > 0
        if of_classes:
            other &= self.labels != answer
        rows = np.flatnonzero(other)
        nearest = rows[np.argsort(-shares[rows], kind="stable")[:_MOST]]
        return tuple(Similar(int(i), _plain(self.labels[i]), float(shares[i])) for i in nearest)


def read_training(model: TreeBased, training: Any) -> TrainingCases | None:
    """Read ``training=(X, y)``; None where there is none."""
    if training is None:
        return None
    if not isinstance(training, tuple | list) or len(training) != 2:
        raise ValueError(f"training is a {type(training).__name__}, must be the pair (X, y) of rows and their labels")
    X, y = training
    rows, labels = model._read_here(X), np.asarray(y)
    check_consistent_length(rows, labels)
    forest = model.forest_
    weights = model.get_tree_weights()
    weights = np.ones(forest.n_trees) if weights is None else weights
    of_leaf = np.repeat(weights / weights.sum(), np.diff(forest.leaf_start))
    return TrainingCases(model._walk.spread(rows), labels, of_leaf)


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label
