"""Rows for pruning: conversion, selection, and division into training and hold-out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow._core import positions_by_hash
from hedgerow.data.training import Training
from hedgerow.forest.forest import Forest

__all__ = ["hash_positions", "select_rows", "to_training"]


def to_training(forest: Forest, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Training:
    """Convert rows for a forest; `y` holds class numbers, or targets of regression. Rows of weight 0 are dropped."""
    values = np.asarray(X, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != forest.n_features:
        raise ValueError(f"X has shape {values.shape}, this forest needs (n_rows, {forest.n_features})")
    outputs = np.asarray(y)
    weight = np.ones(len(values)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    for name, array in (("y", outputs), ("sample_weight", weight)):
        if array.shape != (len(values),):
            raise ValueError(f"{name} has shape {array.shape}, must be ({len(values)},): X has {len(values)} rows")
    if not (np.isfinite(weight) & (weight >= 0)).all():
        raise ValueError("sample_weight must be finite and not negative")
    used = weight > 0
    has_classes = forest.leaf_counts is not None
    if has_classes and not np.isin(outputs, np.arange(forest.n_classes)).all():
        wrong = outputs[~np.isin(outputs, np.arange(forest.n_classes))][0]
        raise ValueError(f"y holds {wrong}, must be class numbers in 0 .. {forest.n_classes - 1}")
    return Training(
        np.asfortranarray(values[used]),
        np.zeros(forest.n_features, dtype=np.int32),
        weight[used],
        labels=outputs[used].astype(np.int32) if has_classes else None,
        targets=None if has_classes else outputs[used].astype(np.float64),
        n_classes=forest.n_classes if has_classes else 0,
    )


def select_rows(training: Training, mask: NDArray[np.bool_]) -> Training:
    """Return the rows of a mask."""
    return replace(
        training,
        values=training.values.T.compress(mask, axis=1).T,
        sample_weight=training.sample_weight[mask],
        labels=None if training.labels is None else training.labels[mask],
        targets=None if training.targets is None else training.targets[mask],
    )


def hash_positions(training: Training, seed: int) -> NDArray[np.float64]:
    """Position of each row in [0, 1) when the rows of each class (regression: all rows) are ordered by a hash.

    Equal rows (NaN equals NaN) share a position, and a row takes an interval as long as its share of the weight. So a
    row of weight 2 counts as two equal rows, and the order of the rows has no influence. Positions below f are a
    stratified hold-out of a fraction f.
    """
    return positions_by_hash(*training.arrays, seed)
