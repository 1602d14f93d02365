"""Permutation importance from its definition: every row walks again, whatever its path tests."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

import oracles
from hedgerow import Forest

Floats = NDArray[np.float64]
Loss = Callable[[Floats, float], float]

LOSSES: list[Loss] = [
    lambda answer, truth: float(int(np.argmax(answer)) != int(truth)),
    lambda answer, truth: -math.log(max(float(answer[int(truth)]), np.finfo(np.float64).eps)),
    lambda answer, truth: sum((p - (c == int(truth))) ** 2 for c, p in enumerate(answer.tolist())),
    lambda answer, truth: (float(answer[0]) - truth) ** 2,
    lambda answer, truth: abs(float(answer[0]) - truth),
]


def shuffled(seed: int, tree: int, repeat: int, cells: Sequence[Sequence[int]]) -> dict[int, int]:
    """Row whose values each row gets: Fisher and Yates's shuffle of each cell in turn, one stream of draws for all."""
    key, k = oracles.child_key(oracles.child_key(seed, tree), repeat), 0
    donor: dict[int, int] = {}
    for cell in cells:
        order = list(cell)
        for i in range(len(order), 1, -1):
            while True:  # no word of the incomplete last run of i
                k += 1
                product = (oracles.splitmix64(key, k) >> 32) * i
                if product & 0xFFFFFFFF >= 2**32 % i:
                    break
            j = product >> 32
            order[i - 1], order[j] = order[j], order[i - 1]
        donor.update(zip(cell, order, strict=True))
    return donor


def tree_loss(
    forest: Forest,
    tree: int,
    X: Floats,
    answers: Floats,
    truth: Floats,
    weight: Floats,
    rows: Sequence[int],
    loss: Loss,
    unit: Sequence[int] = (),
    donor: dict[int, int] | None = None,
    leave_out: Floats | None = None,
) -> float:
    """Mean loss of a tree on some rows, the columns of `unit` with the values of other rows.

    `leave_out` is the answer of a leaf that holds nothing but the row, where rows are left out of their leaves' counts,
    which are `answers`.
    """
    total = 0.0
    for i in rows:
        x = X[i].copy()
        if donor is not None:
            x[list(unit)] = X[donor[i]][list(unit)]
        own = oracles.spread(forest, X[i], tree)
        answer = np.zeros(answers.shape[1])
        for leaf, share in oracles.spread(forest, x, tree).items():
            values = answers[int(forest.leaf_start[tree]) + leaf].copy()
            if leave_out is not None:
                before = values.sum()
                values[int(truth[i])] -= weight[i] * own.get(leaf, 0.0)
                values = values / values.sum() if values.sum() > 1e-9 * before else leave_out
            answer += share * values
        total += weight[i] * loss(answer, float(truth[i]))
    return total / sum(weight[i] for i in rows)
