"""What a way of pruning is given: rows, and how a tree is grown from some of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow.data.training import Training
from hedgerow.forest.forest import Forest
from hedgerow.forest.importance import Impurity

__all__ = ["Grower", "Pruning", "need_classes", "need_one_tree", "rows_for", "some_rows"]


@dataclass(frozen=True)
class Grower:
    """How a tree is grown that is to be pruned."""

    grow: Callable[[Training], Forest]
    impurity: Impurity
    min_fraction: float
    """Of :class:`~hedgerow.growth.Fractional`: a smaller part of a row is not divided further."""
    class_names: NDArray[Any] | None = None

    def __call__(self, training: Training) -> Forest:
        return self.grow(training)


class Pruning(Protocol):
    """A way of pruning."""

    def __call__(self, training: Training, grower: Grower, seed: int) -> Forest:
        """Grow a tree from the rows and prune it."""

    def prune(self, forest: Forest, rows: Training, grower: Grower) -> Forest:
        """Prune a tree that has been grown, by rows that the caller has chosen."""


def rows_for(forest: Forest, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Training:
    """Rows that fit a forest: `y` holds class numbers, or targets of regression; a row of weight 0 is no row."""
    values = np.asarray(X, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != forest.n_features:
        raise ValueError(f"X has shape {values.shape}, this forest needs (n_rows, {forest.n_features})")
    answers = np.asarray(y)
    weight = np.ones(len(values)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    for name, array in (("y", answers), ("sample_weight", weight)):
        if array.shape != (len(values),):
            raise ValueError(f"{name} has shape {array.shape}, must be ({len(values)},): X has {len(values)} rows")
    if not (np.isfinite(weight) & (weight >= 0)).all():
        raise ValueError("sample_weight must be finite and not negative")
    used = weight > 0
    of_classes = forest.leaf_counts is not None
    if of_classes and not np.isin(answers, np.arange(forest.n_classes)).all():
        wrong = answers[~np.isin(answers, np.arange(forest.n_classes))][0]
        raise ValueError(f"y holds {wrong}, must be class numbers in 0 .. {forest.n_classes - 1}")
    return Training(
        np.asfortranarray(values[used]),
        np.zeros(forest.n_features, dtype=np.int32),
        weight[used],
        labels=answers[used].astype(np.int32) if of_classes else None,
        targets=None if of_classes else answers[used].astype(np.float64),
        n_classes=forest.n_classes if of_classes else 0,
    )


def some_rows(training: Training, chosen: NDArray[np.bool_]) -> Training:
    """The rows of a mask."""
    return replace(
        training,
        values=training.values.T.compress(chosen, axis=1).T,
        sample_weight=training.sample_weight[chosen],
        labels=None if training.labels is None else training.labels[chosen],
        targets=None if training.targets is None else training.targets[chosen],
    )


def need_one_tree(forest: Forest) -> None:
    if forest.n_trees != 1:
        raise ValueError(f"this way of pruning takes one tree, the forest has {forest.n_trees}")


def need_classes(strategy: object, training: Training) -> NDArray[np.int32]:
    """The labels; an error where there are numbers instead."""
    if training.labels is None:
        raise ValueError(
            f"pruning is {strategy!r}, which counts errors: a regression tree has none, use 'cost_complexity' or "
            "'reduced_error'"
        )
    return training.labels
