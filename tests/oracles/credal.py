"""Slow truths of cautious forests: from the paper, set by set and tree by tree, in exact fractions.

Zhang, Quost and Masson, Cautious Random Forests (ISIPTA 2021). Decisions on bounds are linear programs. Nothing here
calls hedgerow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.optimize import linprog

HALF = Fraction(1, 2)
Leaf = Sequence[Fraction]  # class counts
Bound = tuple[Fraction, Fraction]


def exactly(counts: Any) -> Any:
    """Nested lists of fractions, of the same value to the last bit."""
    if isinstance(counts, (list, tuple, np.ndarray)):
        return [exactly(one) for one in counts]
    return Fraction(float(counts))


def bounds(leaf: Leaf, s: Fraction) -> list[Bound]:
    """Equation 1."""
    n = sum(leaf)
    return [(n_j / (n + s), (n_j + s) / (n + s)) for n_j in leaf]


def weight(leaf: Leaf, s: Fraction, weighting: str) -> Fraction:
    """Numerators of m: 1, equation 7, equation 8."""
    n = sum(leaf, Fraction(0))
    return {"uniform": Fraction(1), "samples": n, "epistemic": 1 - s / (n + s)}[weighting]


def masses(leaves: Sequence[Leaf], s: Fraction, weighting: str) -> list[Fraction]:
    """m of each tree; all the same where none weighs anything."""
    weights = [weight(leaf, s, weighting) for leaf in leaves]
    total = sum(weights)
    return [w / total for w in weights] if total else [Fraction(1, len(leaves))] * len(leaves)


def binary_belief(leaves: Sequence[Leaf], s: Fraction, weighting: str) -> tuple[Fraction, Fraction]:
    """bel and pl of class 1: equations 4, 5 and 6 as they stand."""
    bel = pl = Fraction(0)
    for leaf, m in zip(leaves, masses(leaves, s, weighting), strict=True):
        n, n_all = leaf[1], leaf[0] + leaf[1]
        lower, upper = n / (n_all + s), (n + s) / (n_all + s)
        if lower >= HALF:
            bel += m
        if upper > HALF:
            pl += m
    return bel, pl


def binary_decision(lower: Fraction, upper: Fraction) -> set[int]:
    """Section 3 for bel and pl, section 4 for the average."""
    if lower > HALF:
        return {1}
    if upper < HALF:
        return {0}
    return {0, 1}


def tree_set(of_tree: Sequence[Bound]) -> frozenset[int]:
    """The classes that no other dominates: lower_k ≥ upper_j, and not the other way round as well."""

    def dominates(k: int, j: int) -> bool:
        return of_tree[k][0] >= of_tree[j][1] and not of_tree[j][0] >= of_tree[k][1]

    classes = range(len(of_tree))
    return frozenset(j for j in classes if not any(dominates(k, j) for k in classes if k != j))


def mass_function(leaves: Sequence[Leaf], s: Fraction, weighting: str) -> dict[frozenset[int], Fraction]:
    """The mass of each set of classes that is some tree's."""
    mass: dict[frozenset[int], Fraction] = {}
    for leaf, m in zip(leaves, masses(leaves, s, weighting), strict=True):
        focal = tree_set(bounds(leaf, s))
        mass[focal] = mass.get(focal, Fraction(0)) + m
    return mass


def belief(leaves: Sequence[Leaf], s: Fraction, weighting: str) -> tuple[list[Fraction], list[Fraction]]:
    """bel({k}) is the mass of the subsets of {k}, pl({k}) of the sets that meet it."""
    mass = mass_function(leaves, s, weighting)
    classes = range(len(leaves[0]))
    bel = [sum((m for focal, m in mass.items() if focal <= {k}), Fraction(0)) for k in classes]
    pl = [sum((m for focal, m in mass.items() if focal & {k}), Fraction(0)) for k in classes]
    return bel, pl


def strictly_undominated(lower: Sequence[Any], upper: Sequence[Any]) -> set[int]:
    classes = range(len(lower))
    return {j for j in classes if not any(lower[k] > upper[j] for k in classes if k != j)}


def aggregate(name: str, leaves: Sequence[Leaf], s: Fraction, weighting: str) -> tuple[list[Bound], set[int], bool]:
    """Bounds, set, and whether an empty conjunction fell back to the average."""
    classes = range(len(leaves[0]))
    of_trees = [bounds(leaf, s) for leaf in leaves]
    if name in ("belief", "vote"):
        bel, pl = belief(leaves, s, weighting)
        found = strictly_undominated(bel, pl) if name == "belief" else {k for k in classes if pl[k] == max(pl)}
        return list(zip(bel, pl, strict=True)), found, False
    least, most = (max, min) if name == "conjunction" else (min, max)
    lower = [least(of_tree[k][0] for of_tree in of_trees) for k in classes]
    upper = [most(of_tree[k][1] for of_tree in of_trees) for k in classes]
    empty = any(lower[k] > upper[k] for k in classes) or sum(lower) > 1 or sum(upper) < 1
    if name == "average" or empty:
        lower = [sum((of_tree[k][0] for of_tree in of_trees), Fraction(0)) / len(leaves) for k in classes]
        upper = [sum((of_tree[k][1] for of_tree in of_trees), Fraction(0)) / len(leaves) for k in classes]
    elif name == "conjunction":  # what can be reached
        others = [(sum(lower) - lower[k], sum(upper) - upper[k]) for k in classes]
        lower, upper = (
            [max(lower[k], 1 - others[k][1]) for k in classes],
            [min(upper[k], 1 - others[k][0]) for k in classes],
        )
    return list(zip(lower, upper, strict=True)), strictly_undominated(lower, upper), empty


# -- decisions on bounds, by linear programming; bounds lie on a grid that is coarse beside the solver's tolerance

ALMOST = 1e-6


def _least(objective: Sequence[float], lower: Sequence[float], upper: Sequence[float]) -> float:
    """The least value of an objective over the distributions within bounds."""
    found = linprog(objective, A_eq=[[1.0] * len(lower)], b_eq=[1.0], bounds=list(zip(lower, upper, strict=True)))
    assert found.status == 0, found.message
    return float(found.fun)


def _unit(n: int, **at: float) -> list[float]:
    vector = [0.0] * n
    for place, value in at.items():
        vector[int(place[1:])] += value
    return vector


def maximal(lower: Sequence[float], upper: Sequence[float]) -> set[int]:
    """k is out when the least p_j − p_k is above 0 for some j."""
    n = len(lower)
    return {
        k
        for k in range(n)
        if not any(_least(_unit(n, **{f"c{j}": 1.0, f"c{k}": -1.0}), lower, upper) > ALMOST for j in range(n) if j != k)
    }


def e_admissible(lower: Sequence[float], upper: Sequence[float]) -> set[int]:
    """k is in when some distribution has p_k ≥ p_j for all j."""
    n = len(lower)
    found = set()
    for k in range(n):
        others = [_unit(n, **{f"c{j}": 1.0, f"c{k}": -1.0}) for j in range(n) if j != k]
        program = linprog(
            [0.0] * n,
            A_ub=others or None,
            b_ub=[0.0] * len(others) or None,
            A_eq=[[1.0] * n],
            b_eq=[1.0],
            bounds=list(zip(lower, upper, strict=True)),
        )
        assert program.status in (0, 2), program.message
        if program.status == 0:
            found.add(k)
    return found


def envelope(lower: Sequence[float], upper: Sequence[float]) -> tuple[list[float], list[float]]:
    """The least and the largest probability of each class over the distributions within bounds."""
    n = len(lower)
    least = [_least(_unit(n, **{f"c{k}": 1.0}), lower, upper) for k in range(n)]
    most = [-_least(_unit(n, **{f"c{k}": -1.0}), lower, upper) for k in range(n)]
    return least, most


def learned_loss(
    weights: Any, lower: Any, upper: Any, answers: Any, codes: Any, row_weight: Any, reward: float
) -> float:
    """Surrogate that learned tree weights minimise, row by row and tree by tree."""
    n_trees, total = len(weights), 0.0
    for i, y in enumerate(codes):
        scale = n_trees / sum(answers[i])
        bounds = [
            [
                scale * sum(w * one[i][t][k] for t, w in enumerate(weights) if answers[i][t])
                for k in range(len(one[i][0]))
            ]
            for one in (lower, upper)
        ]
        others = [k for k in range(len(bounds[0])) if k != y]
        z = bounds[0][y] - max(bounds[1][k] for k in others)
        v = bounds[1][y] - max(bounds[0][k] for k in others)
        steps = [math.log2(1 + math.exp(-x / 0.1)) for x in (z, v)]
        total += row_weight[i] * ((1 - reward) * steps[0] + reward * steps[1])
    return total / sum(row_weight) + sum(w * math.log(w * n_trees) for w in weights if w > 0)
