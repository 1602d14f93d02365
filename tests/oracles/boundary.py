"""Slow truths for distances to the decision boundary: every leaf, every side, every training row, one by one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

import oracles
from hedgerow import Forest
from hedgerow.forest.kinds import MissingPolicy, NodeKind

Matrix = NDArray[np.float64]
NOMINAL = (NodeKind.ONE_AGAINST_REST, NodeKind.SUBSET, NodeKind.MULTIWAY)

# -- leaves as areas


class Areas:
    """The leaves of the first tree of a forest, each with the splits that lead to it."""

    def __init__(self, forest: Forest, n_categories: Sequence[int] | None = None) -> None:
        self.forest = forest
        self.paths: dict[int, list[tuple[int, int]]] = {}  # leaf: (node, number of the child taken), from the root down
        self._descend(0, [])
        known = [0] * forest.n_features if n_categories is None else [int(n) for n in n_categories]
        self.n_codes = [n or self._n_named(feature) for feature, n in enumerate(known)]
        self.codes = {
            (node, number): self._codes_to(node, number)
            for node in range(len(forest.kind))
            if forest.kind[node] in NOMINAL
            for number in range(oracles.n_children(forest, node))
        }

    def _descend(self, node: int, path: list[tuple[int, int]]) -> None:
        if self.forest.kind[node] == NodeKind.LEAF:
            self.paths[int(self.forest.first_child[node])] = path
        for number, child in enumerate(oracles.children(self.forest, 0, node)):
            self._descend(child, [*path, (node, number)])

    def _n_named(self, feature: int) -> int:
        """All codes that are asked about in a column, and one more."""
        forest, most = self.forest, 0
        for node in np.flatnonzero((forest.feature == feature) & np.isin(forest.kind, NOMINAL)):
            if forest.kind[node] == NodeKind.ONE_AGAINST_REST:
                most = max(most, int(forest.threshold[node]) + 1)
            else:
                n = len(oracles.payload(forest, node))
                most = max(most, 32 * n if forest.kind[node] == NodeKind.SUBSET else n)
        return most + 1

    def _codes_to(self, node: int, number: int) -> set[int]:
        feature, x = self.forest.feature[node], np.zeros(self.forest.n_features)
        taken = set()
        for code in range(self.n_codes[feature]):
            x[feature] = code
            if oracles.answer(self.forest, node, x) == number:
                taken.add(code)
        return taken

    def moves_to(self, x: Matrix, own: int, leaf: int, scale: Sequence[float]) -> dict[tuple[int, float], float] | None:
        """{(column, threshold or NaN): how far it moves} on the way to a leaf; None where there is no way."""
        forest, own_path = self.forest, dict(self.paths[own])
        lower: dict[int, float] = {}
        upper: dict[int, float] = {}
        codes: dict[int, set[int]] = {}
        changed: set[int] = set()
        for node, number in self.paths[leaf]:
            answer, feature = oracles.answer(forest, node, x), int(forest.feature[node])
            last = oracles.n_children(forest, node) - 1
            own_branch = forest.missing[node] == MissingPolicy.OWN_BRANCH and number == last
            nominal = forest.kind[node] in NOMINAL
            if nominal and not own_branch:
                codes[feature] = codes.get(feature, set(range(self.n_codes[feature]))) & self.codes[node, number]
            if answer is None:
                policy = {MissingPolicy.SPREAD: None, MissingPolicy.FIRST_CHILD: 0}.get(forest.missing[node], last)
                wanted = own_path.get(node, policy)
                if wanted is not None and number != wanted:
                    return None
            elif own_branch:
                return None
            elif nominal:
                if number != answer:
                    changed.add(feature)
                if feature in changed and not codes[feature]:
                    return None
            else:
                at = float(forest.threshold[node])
                if number == 0:
                    upper[feature] = min(upper.get(feature, math.inf), at)
                else:
                    lower[feature] = max(lower.get(feature, -math.inf), at)
                if lower.get(feature, -math.inf) >= upper.get(feature, math.inf):
                    return None
        moves = {(feature, math.nan): 1 / float(scale[feature]) for feature in changed}
        for feature, at in upper.items():
            if x[feature] > at:
                moves[feature, at] = abs(float(x[feature]) - at) / float(scale[feature])
        for feature, at in lower.items():
            if x[feature] <= at:
                moves[feature, at] = abs(at - float(x[feature])) / float(scale[feature])
        return moves


def length(moves: dict[tuple[int, float], float] | None) -> float:
    if moves is None:
        return math.inf
    with np.errstate(over="ignore"):
        return float(np.sqrt(np.sum(np.square(list(moves.values())))))


def algebraic_distance(areas: Areas, x: Matrix, own: int, labels: Sequence[int], target: int, scale: Any) -> float:
    """Algorithm 1 of the paper, to the letter: all leaves F whose class says (c(f) = c) XOR (c(x) = c)."""
    inside = labels[own] == target
    leaves = [leaf for leaf in areas.paths if (labels[leaf] == target) != inside]
    d = min((length(areas.moves_to(x, own, leaf, scale)) for leaf in leaves), default=math.inf)
    return -d if inside else d


def nearest_polytope_point(sides: Sequence[tuple[Matrix, float]], x: Matrix, scale: Matrix) -> Matrix | None:
    """The point of {y: w·y ≤ b for all sides} nearest to x: of all sets of sides, the one that holds it."""
    best: Matrix | None = None
    for n in range(min(len(sides), len(x)) + 1):
        for some in combinations(range(len(sides)), n):
            W = np.array([sides[i][0] * scale for i in some]).reshape(n, len(x))
            b = np.array([sides[i][1] - sides[i][0] @ x for i in some])
            z = np.linalg.lstsq(W, b)[0] if n else np.zeros(len(x))
            if n and np.abs(W @ z - b).max() > 1e-8:
                continue
            y = x + scale * z
            near_enough = all(w @ y <= at + 1e-8 * max(1.0, abs(at)) for w, at in sides)
            if near_enough and (best is None or z @ z < (((best - x) / scale) ** 2).sum()):
                best = y
    return best


# -- kernel estimates


KERNELS: dict[str, Callable[[Matrix], Matrix]] = {
    "gaussian": lambda u: np.exp(-0.5 * u**2),
    "box": lambda u: (np.abs(u) <= 1).astype(float),
    "epanechnikov": lambda u: np.maximum(1 - u**2, 0),
}


def share(
    kernel: str, points: Matrix, weights: Matrix, bandwidth: Matrix, place: Matrix, left_out: int | None = None
) -> float:
    """Equation 2 of the paper with one bandwidth: Σ K over the class, over Σ K over all; far away, the nearest rows."""
    kept = np.arange(len(points)) != (-1 if left_out is None else left_out)
    if not kept.any():
        return math.nan
    u = ((place - points) / bandwidth)[kept]
    weights = weights[kept]
    K = KERNELS[kernel](u).prod(axis=1)
    if (K @ weights).sum() == 0:
        squared = (u**2).sum(axis=1)
        K = (
            np.exp(-0.5 * (squared - squared.min()))
            if kernel == "gaussian"
            else (squared == squared.min()).astype(float)
        )
    of_class, of_others = K @ weights
    return float(of_class / (of_class + of_others))
