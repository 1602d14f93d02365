"""Amount of shrinkage of a tree's leaf probabilities, by cross-validation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hedgerow.data.training import Training
from hedgerow.estimators.fitting.held_out import held_out_weights, weighted
from hedgerow.folds.leaf_probability import LeafProbability, Shrinkage, shrunken_shares
from hedgerow.forest.forest import Forest
from hedgerow.walk import spread

__all__ = ["choose_amount"]

_LEAST_SHARE = 1e-300  # keeps the loss finite where a class is in one fold only


def choose_amount(
    estimate: LeafProbability, training: Training, grow: Callable[[Training], Forest], seed: int
) -> LeafProbability:
    """Return the estimate with its amount of shrinkage, if that is still to be chosen; else the estimate itself.

    The amount with the least log-loss of held-out rows, the largest of ties.
    """
    if not isinstance(estimate, Shrinkage) or not estimate.is_open:
        return estimate
    amounts = estimate.AMOUNTS
    losses = np.zeros(len(amounts))
    for held_out in held_out_weights(training, estimate.folds, seed):
        rest = training.sample_weight - held_out
        if held_out.any() and rest.any():
            losses += _losses(grow(weighted(training, rest)), weighted(training, held_out), amounts)
    best = len(amounts) - 1 - int(np.argmin(losses[::-1]))
    return Shrinkage(amounts[best], estimate.folds)


def _losses(forest: Forest, rows: Training, amounts: tuple[float, ...]) -> list[float]:
    """Log-loss of rows that a tree has not seen, for each amount."""
    assert rows.labels is not None
    reached = spread(forest, np.ascontiguousarray(rows.values))
    at = np.arange(len(rows.labels))
    of_truth = ((reached @ shrunken_shares(forest, amount))[at, rows.labels] for amount in amounts)
    return [float(-rows.sample_weight @ np.log(np.maximum(shares, _LEAST_SHARE))) for shares in of_truth]
