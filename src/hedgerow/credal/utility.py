"""Utility of set-valued predictions, and tree weights that maximise it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from hedgerow._arrays import Floats

__all__ = ["REWARDS", "learn_tree_weights", "set_utilities"]

REWARDS = {"u65": 0.65, "u80": 0.8}
"""Reward of a correct set of two classes, by the name of the utility."""

_SOFTNESS = 0.1  # of the step that a bound stands for; a tenth of the whole range of bounds
_PULL = 1.0  # toward equal weights
_MAX_STEPS = 200


def set_utilities(correct: NDArray[np.bool_], sizes: NDArray[np.int64], reward: float) -> Floats:
    """Utility of sets of m classes, (n,): (1 + b)/m − b/m² with b = 4·reward − 2 if the true class is in it, else 0.

    1 for the true class alone and `reward` for a correct set of two (Zaffalon, Corani and Mauá, 2012).

    >>> import numpy as np
    >>> set_utilities(np.array([True, True, False]), np.array([1, 2, 1]), reward=0.65)
    array([1.  , 0.65, 0.  ])
    """
    bonus = 4 * reward - 2
    # In a form that is exactly 1 for m = 1.
    return np.where(correct, 1 / sizes + bonus * (sizes - 1) / sizes**2, 0.0)


def learn_tree_weights(
    lower: Floats, upper: Floats, answers: NDArray[np.bool_], codes: NDArray[np.int32], weight: Floats, reward: float
) -> Floats:
    """Weights of trees, (n_trees,), at least 0 and with sum 1, that maximise a surrogate of the utility of sets.

    With weights w the bounds of row i are L_ik = Σ w_t·l_itk and U_ik = Σ w_t·u_itk, sums over the trees that answer
    for the row, scaled to all trees. The set is the true class y alone if z_i = L_iy − max U_ij > 0, j ≠ y, and lacks
    it if v_i = U_iy − max L_ij < 0. So, with two classes, the utility is 1 − (1 − r)·[z ≤ 0] − r·[v < 0], r being the
    reward; every step [x ≤ 0] is at most log2(1 + exp(−x/δ)), δ = 0.1. Minimised is the convex

        mean of (1 − r)·log2(1 + exp(−z_i/δ)) + r·log2(1 + exp(−v_i/δ)), plus Σ w_t·ln(w_t·n_trees):

    the last term pulls toward equal weights. L-BFGS over the logarithms of the weights, from equal weights; the same
    input gives the same weights.

    Parameters
    ----------
    lower, upper : (n, n_trees, n_classes)
        Bounds by each tree.
    answers : bool (n, n_trees)
        Whether a tree answers for a row: it is out of its bag. At least one for each row.
    codes, weight : (n,)
        True classes, and weights of the rows.
    """
    n_rows, n_trees, n_classes = lower.shape
    if n_classes == 1:
        return np.full(n_trees, 1 / n_trees)
    scale = answers * (n_trees / answers.sum(axis=1, keepdims=True))
    row = np.arange(n_rows)
    ahead, kept = [], []  # z and v against each of the other classes, as matrices (n, n_trees)
    for step in range(1, n_classes):
        other = (codes + step) % n_classes
        ahead.append((lower[row, :, codes] - upper[row, :, other]) * scale)
        kept.append((upper[row, :, codes] - lower[row, :, other]) * scale)
    terms = ((ahead, 1 - reward), (kept, reward))
    row_share = weight / weight.sum()

    def loss(logs: Floats) -> tuple[float, Floats]:
        weights = _softmax(logs)
        excess = np.log(np.maximum(weights * n_trees, np.finfo(np.float64).tiny))
        total, slope = _PULL * float(weights @ excess), _PULL * (excess + 1)
        for matrices, share in terms:
            margins = np.stack([matrix @ weights for matrix in matrices])
            nearest = margins.argmin(axis=0)
            margin = margins[nearest, row] / _SOFTNESS
            total += share * float(row_share @ np.logaddexp(0, -margin)) / np.log(2)
            by_margin = -share * row_share / (1 + np.exp(np.minimum(margin, 700))) / (_SOFTNESS * np.log(2))
            for number, matrix in enumerate(matrices):
                slope = slope + np.where(nearest == number, by_margin, 0.0) @ matrix
        return total, weights * (slope - weights @ slope)

    found = minimize(loss, np.zeros(n_trees), jac=True, method="L-BFGS-B", options={"maxiter": _MAX_STEPS})
    return _softmax(found.x)


def _softmax(logs: Floats) -> Floats:
    powers = np.exp(logs - logs.max())
    return powers / powers.sum()
