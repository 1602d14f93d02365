"""Distances in trees with oblique splits: each leaf is a polytope, and a row is projected onto it.

A child's polytope lies inside its parent's and is no nearer, so the tree is searched best first: nodes farther than the
nearest leaf are never projected onto.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from heapq import heappop, heappush

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from hedgerow._arrays import Floats
from hedgerow.boundary.splits import TreeSplits
from hedgerow.forest.splits import Split

__all__ = ["Arrival", "PolytopeSearch", "least_distance"]

# A polytope counts as empty if 1/(1 + D²) is below this, its distance D being in units of its farthest side's.
_EMPTY = 1e-12
_TIGHT = 1e-9


def least_distance(G: Floats, h: Floats) -> Floats | None:
    """Return the point of {z: G z ≥ h} nearest to the origin, or None if the set is empty. Rows of G have length 1.

    With u ≥ 0 the least squares solution of [Gᵀ; hᵀ] u ≈ (0, …, 0, 1) and r its residual, the point is
    −r[:-1]/r[-1], and r = 0 for an empty set (Lawson and Hanson, Solving Least Squares Problems, 1974, chapter 23).
    """
    most = float(h.max())
    if most <= 0:
        return np.zeros(G.shape[1])
    E = np.vstack([G.T, h / most])
    f = np.zeros(len(E))
    f[-1] = 1.0
    u, _ = nnls(E, f)
    r = E @ u - f
    if -r[-1] < _EMPTY:
        return None
    z: Floats = -r[:-1] / r[-1] * most
    # Solving for the active constraints alone gives the point to full precision.
    active = u > 0
    exact: Floats = np.linalg.lstsq(G[active], h[active])[0]
    return exact if (G @ exact >= h - _TIGHT * most).all() else z


@dataclass(frozen=True)
class Arrival:
    """Nearest leaf of a class: distance, leaf, the node of the separator, and the projection."""

    distance: float
    label: int
    leaf: int
    node: int
    point: Floats


@dataclass(frozen=True, eq=False)
class _State:
    """Path to a node: sides of its polytope with their nodes, in units of the scale, and changed categories."""

    G: Floats
    h: Floats
    nodes: tuple[int, ...]
    crossed: tuple[bool, ...]
    changed: tuple[tuple[int, int], ...]
    z: Floats


class PolytopeSearch:
    """Find the leaves of other classes nearest to a row."""

    def __init__(
        self, splits: TreeSplits, labels: NDArray[np.int32], is_open: NDArray[np.uint8], scale: Floats
    ) -> None:
        self._splits = splits
        self._labels = labels
        self._open = is_open
        self._scale = scale
        self.n_leaves = 0

    def arrivals(self, row: Floats, own_leaf: int, wanted: set[int]) -> list[Arrival]:
        """Return the nearest leaf of each class in `wanted`, nearest first."""
        tree = self._splits.tree
        own_path = self._path(own_leaf)
        d = len(row)
        state = _State(np.zeros((0, d)), np.zeros(0), (), (), (), np.zeros(d))
        waiting: list[tuple[float, int, int, _State]] = []
        heappush(waiting, (0.0, 0, 0, state))
        found: list[Arrival] = []
        wanted, n_pushed, self.n_leaves = set(wanted), 0, 0
        while waiting and wanted:
            squared, node, _, state = heappop(waiting)
            if tree.feature[node] == -1:
                leaf = int(tree.first_child[node])
                if (label := int(self._labels[leaf])) in wanted:
                    wanted.remove(label)
                    point = self._point(row, leaf, state)
                    found.append(Arrival(float(np.sqrt(squared)), label, leaf, self._farthest(state), point))
                continue
            for child, distance, after in self._steps(node, row, squared, state, own_path):
                n_pushed += 1
                self.n_leaves += int(tree.feature[child] == -1)
                heappush(waiting, (distance, child, n_pushed, after))
        return found

    def _path(self, leaf: int) -> dict[int, int]:
        """Map each node on the path to a leaf to its child on the path."""
        node, path = int(self._splits.tree.leaf_nodes[leaf]), {}
        while (up := int(self._splits.tree.parent[node])) >= 0:
            path[up] = node
            node = up
        return path

    def _steps(
        self, node: int, row: Floats, squared: float, state: _State, own_path: dict[int, int]
    ) -> list[tuple[int, float, _State]]:
        """Return the children that can be reached, with their squared distances and states."""
        split = self._splits[node]
        taken = split.child_of(split.value(row))
        if taken is None:
            stays = [own_path[node]] if node in own_path else split.children_without_value()
            return [(child, squared, state) for child in stays]
        step = self._change if split.is_nominal else self._move
        return step(split, row, squared, state, taken)

    def _move(
        self, split: Split, row: Floats, squared: float, state: _State, taken: int
    ) -> list[tuple[int, float, _State]]:
        w, at = split.normal(), split.threshold
        if (means := split.means) is not None:  # a missing value stays at the mean that stands in for it
            unknown = np.isnan(row[split.features])
            at -= float(split.weights[unknown] @ means[unknown])
            w[split.features[unknown]] = 0.0
        scaled = w * self._scale
        length = float(np.linalg.norm(scaled))
        children = split.children
        if length == 0 or at == np.inf:  # the split tests whether the value is missing
            return [(children[taken], squared, state)]
        beyond = (float(w[w != 0] @ row[w != 0]) - at) / length
        steps = []
        for number, sign in ((0, -1.0), (1, 1.0)):
            g, h = sign * scaled / length, -sign * beyond
            after = _State(
                np.vstack([state.G, g]),
                np.append(state.h, h),
                (*state.nodes, split.node),
                (*state.crossed, number != taken),
                state.changed,
                state.z,
            )
            if g @ state.z < h:
                z = least_distance(after.G, after.h)
                if z is None:
                    continue
                after = replace(after, z=z)
            steps.append((children[number], float(after.z @ after.z) + self._changes(after), after))
        return steps

    def _change(
        self, split: Split, row: Floats, squared: float, state: _State, taken: int
    ) -> list[tuple[int, float, _State]]:
        feature = split.feature
        free = any(feature == other for other, _ in state.changed)
        steps = []
        for number, child in enumerate(split.children):
            if not free and number == taken:
                steps.append((child, squared, state))
            elif self._open[child]:
                after = state if free else replace(state, changed=(*state.changed, (feature, split.node)))
                steps.append((child, float(after.z @ after.z) + self._changes(after), after))
        return steps

    def _changes(self, state: _State) -> float:
        return sum(1 / float(self._scale[feature]) ** 2 for feature, _ in state.changed)

    def _farthest(self, state: _State) -> int:
        """Return the node of the active side, or changed category, that is farthest from the row."""
        best, node = -1.0, -1
        tight = np.abs(state.G @ state.z - state.h) <= _TIGHT * np.maximum(1, np.abs(state.h))
        sides = zip(state.nodes, state.h, state.crossed, tight, strict=True)
        moves = [(float(h), one) for one, h, crossed, active in sides if crossed and active]
        moves += [(1 / float(self._scale[feature]), one) for feature, one in state.changed]
        for margin, one in moves:
            if margin > best:
                best, node = margin, one
        return node

    def _point(self, row: Floats, leaf: int, state: _State) -> Floats:
        point = row + self._scale * state.z
        for feature, _ in state.changed:
            codes = self._splits.categories_of(leaf, feature) or [row[feature]]
            point[feature] = row[feature] if row[feature] in codes else codes[0]
        return point
