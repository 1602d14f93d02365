"""The areas of a tree's classes, the walls between them, and how far rows are from each area."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow._core import wall_distance, wall_plan
from hedgerow._lazy import lazy
from hedgerow.boundary.oblique import PolytopeSearch
from hedgerow.boundary.splits import TreeSplits
from hedgerow.forest.forest import Forest
from hedgerow.forest.kinds import NodeKind
from hedgerow.forest.splits import NOMINAL
from hedgerow.walk import check_rows, n_threads, spread

__all__ = ["Nearest", "Parts", "Separators", "Walls"]

Floats = NDArray[np.float64]
_EVERY_CLASS = -1


class Separators(NamedTuple):
    """What separates areas: a column and a threshold each.

    A change of category has no threshold (NaN), an oblique question no column (-2). Where there is nothing to cross the
    column is -1.
    """

    feature: NDArray[np.int32]
    threshold: Floats


@dataclass(frozen=True, eq=False)
class Parts:
    """Rows as they reach leaves; a row with a missing value may be in several, by weights that add up to 1."""

    rows: NDArray[np.int64]
    leaves: NDArray[np.int32]
    weights: Floats
    start: NDArray[np.int64]
    """The parts of row i stand at start[i] .. start[i + 1]."""

    def mix(self, values: Floats) -> Floats:
        """The weighted mean over the parts of each row."""
        mixed: Floats = np.add.reduceat(values * self.weights[:, np.newaxis], self.start[:-1], axis=0)
        return mixed

    @property
    def heaviest(self) -> NDArray[np.int64]:
        """The part of each row that has most of it; the first of equals."""
        order = np.lexsort((np.arange(len(self.rows)), -self.weights, self.rows))
        heaviest: NDArray[np.int64] = order[self.start[:-1]]
        return heaviest


@dataclass(frozen=True, eq=False)
class Nearest:
    """For each part, and each class or the one that was asked for: how far, where to, and across what."""

    parts: Parts
    distance: Floats
    """Algebraic: negative inside the class's area, infinite where there is nothing to reach."""
    leaf: NDArray[np.int32]
    """The nearest leaf of the class or, inside its area, of another one; the first of equals, -1 where none is."""
    node: NDArray[np.int32]
    """The node whose question moved the row farthest on its way there, or -1."""
    n_leaves: NDArray[np.int64]
    """Leaves whose distance was worked out, for each part."""
    points: Floats | None = None
    """Where the row arrives, of a tree with oblique questions; else :meth:`Walls.points` tells from the leaf."""

    def of_rows(self) -> Floats:
        """The distances of rows, (n, classes): of one in several leaves the mean over those from which there is a way.

        Where there is none from any, the distance of its heaviest part.
        """
        finite = np.isfinite(self.distance)
        amount = np.where(finite, self.parts.weights[:, np.newaxis], 0.0)
        first = self.parts.start[:-1]
        reached = np.add.reduceat(amount, first, axis=0)
        total = np.add.reduceat(amount * np.where(finite, self.distance, 0.0), first, axis=0)
        heaviest = self.distance[self.parts.heaviest]
        whole = (np.diff(self.parts.start) == 1)[:, np.newaxis]  # keeps its bits
        return np.where(whole | (reached == 0), heaviest, total / np.where(reached > 0, reached, 1.0))


@dataclass(frozen=True, eq=False)
class Walls:
    """One tree, the class of each of its leaves, and how many categories its nominal columns have (0: not known).

    `forest` sends rows to leaves. `shape` is the same tree, with thresholds as its maker shows them: they differ by the
    rounding of float32 where scikit-learn has grown it.
    """

    forest: Forest
    shape: Forest
    labels: NDArray[np.int32]
    n_categories: NDArray[np.int32]

    @classmethod
    def of(
        cls,
        forest: Forest,
        *,
        shape: Forest | None = None,
        labels: NDArray[np.int32] | None = None,
        n_categories: NDArray[np.int32] | None = None,
    ) -> Walls:
        """Those of a forest of one tree; a leaf's class is the one that has most of its counts, the first of equals."""
        if forest.n_trees != 1:
            raise ValueError(
                f"a forest of {forest.n_trees} trees has no single decision boundary: pass one tree, such as a "
                "TreeClassifier or one of scikit-learn's DecisionTreeClassifier"
            )
        if labels is None:
            labels = leaf_classes(forest)
        if n_categories is None:
            n_categories = np.zeros(forest.n_features, dtype=np.int32)
        return cls(forest, forest if shape is None else shape, labels, n_categories)

    @property
    def n_classes(self) -> int:
        return self.forest.n_classes

    @lazy
    def is_oblique(self) -> bool:
        return bool((self.shape.kind == NodeKind.OBLIQUE).any())

    @lazy
    def plan(self) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
        """For each node bits of the classes of its leaves, and whether any value leads there from its parent."""
        classes, is_open = wall_plan(
            self.shape.core_with_weight, self.shape.parent, self.labels, self.n_categories, self.n_classes
        )
        return classes, is_open

    def parts(self, X: Floats, n_jobs: int | None = None) -> Parts:
        reached = spread(self.forest, X, n_jobs=n_jobs)
        start = reached.indptr.astype(np.int64)
        rows = np.repeat(np.arange(len(X), dtype=np.int64), np.diff(start))
        return Parts(rows, reached.indices.astype(np.int32), reached.data, start)

    def measure(self, X: Floats, scale: Floats, target: int | None = None, n_jobs: int | None = None) -> Nearest:
        """Algebraic distances of rows (definitions 1 and 2 of the paper), to each class's area or to that of one.

        A question that a row has no answer to (its value is missing, or is a category without a branch) is no wall: the
        part stays in the branch that it is in, and in other areas of the tree goes where the node sends such rows.
        """
        check_rows(self.forest, X)
        parts = self.parts(X, n_jobs)
        n_parts, n_columns = len(parts.rows), self.n_classes if target is None else 1
        found = Nearest(
            parts,
            np.full((n_parts, n_columns), np.inf),
            np.full((n_parts, n_columns), -1, dtype=np.int32),
            np.full((n_parts, n_columns), -1, dtype=np.int32),
            np.zeros(n_parts, dtype=np.int64),
            np.repeat(X[parts.rows, np.newaxis], n_columns, axis=1) if self.is_oblique else None,
        )
        if self.is_oblique:
            self._measure_polytopes(X, scale, target, found)
            return found
        walls = (self.shape.parent, self.shape.leaf_nodes, self.labels, *self.plan)
        wall_distance(
            *(self.shape.core_with_weight, walls, self.n_classes, X, parts.rows, parts.leaves, scale),
            _EVERY_CLASS if target is None else target,
            *(found.distance, found.leaf, found.node, found.n_leaves),
            n_threads(n_jobs),
        )
        return found

    def _measure_polytopes(self, X: Floats, scale: Floats, target: int | None, found: Nearest) -> None:
        assert found.points is not None
        search = PolytopeSearch(self._splits, self.labels, self.plan[1], scale)
        for part, (row, leaf) in enumerate(zip(found.parts.rows, found.parts.leaves, strict=True)):
            own = int(self.labels[leaf])
            others = set(range(self.n_classes)) - {own}
            columns = range(self.n_classes) if target is None else [target]
            if own in columns:
                found.distance[part, list(columns).index(own)] = -np.inf
            wanted = others if target is None or target == own else {target}
            arrivals = search.arrivals(X[row], int(leaf), wanted)
            found.n_leaves[part] = search.n_leaves
            for column, c in enumerate(columns):
                for one in arrivals:  # nearest first: of the own class's area any other is the way out
                    if c in (own, one.label):
                        found.distance[part, column] = -one.distance if c == own else one.distance
                        found.leaf[part, column], found.node[part, column] = one.leaf, one.node
                        found.points[part, column] = one.point
                        break

    # -- where rows arrive

    def points(self, X: Floats, nearest: Nearest, column: int) -> Floats:
        """The projection of each part onto its nearest leaf (algorithm 2 of the paper), (n_parts, n_features).

        Missing values stay missing; a category that has to change becomes the first that the leaf takes. A part with
        nowhere to go stays where it is.
        """
        rows: Floats = X[nearest.parts.rows]
        if nearest.points is not None:
            return nearest.points[:, column]
        leaf = nearest.leaf[:, column]
        box = self._boxes[leaf]
        moved = np.minimum(np.maximum(rows, box[..., 0]), box[..., 1])
        for feature in self._nominal_features:
            moved[:, feature] = self._categories(rows[:, feature], leaf, feature)
        return np.where((leaf >= 0)[:, np.newaxis], moved, rows)

    @lazy
    def _splits(self) -> TreeSplits:
        return TreeSplits(self.shape, self.n_categories)

    @lazy
    def _boxes(self) -> Floats:
        return self.shape.boxes()

    @lazy
    def _nominal_features(self) -> list[int]:
        return [int(feature) for feature in np.unique(self.shape.feature[np.isin(self.shape.kind, NOMINAL)])]

    def _categories(self, codes: Floats, leaf: NDArray[np.int32], feature: int) -> Floats:
        changed = codes.copy()
        for one in np.unique(leaf[leaf >= 0]):
            taken = self._splits.categories_of(int(one), feature)
            if taken:
                here = (leaf == one) & ~np.isnan(codes)
                changed[here & ~np.isin(codes, taken)] = taken[0]
        return changed

    # -- separators

    @lazy
    def _numbered(self) -> tuple[Separators, NDArray[np.int64]]:
        """All separators, and the number of each node's: those with the same column and threshold are one."""
        tree = self.shape
        inner = np.flatnonzero(tree.kind != NodeKind.LEAF)
        oblique_node = np.where(tree.kind[inner] == NodeKind.OBLIQUE, inner, -1)  # each is one of its own
        at = np.where(np.isin(tree.kind[inner], NOMINAL), np.nan, tree.threshold[inner])
        key = np.stack([tree.feature[inner], oblique_node, np.nan_to_num(at, nan=-np.inf, posinf=np.inf)], axis=1)
        _, first, number = np.unique(key, axis=0, return_index=True, return_inverse=True)
        of_node = np.full(tree.n_nodes, -1, dtype=np.int64)
        of_node[inner] = number.ravel()
        return Separators(tree.feature[inner][first], at[first]), of_node

    @property
    def n_separators(self) -> int:
        return len(self._numbered[0].feature)

    def separator_numbers(self, nearest: Nearest) -> NDArray[np.int64]:
        """Which separator each part is nearest to, (n_parts, classes); -1 where it is none."""
        of_node = self._numbered[1]
        return np.where(nearest.node >= 0, of_node[nearest.node], -1)

    def crossed(self, nearest: Nearest, column: int | None = None) -> Separators:
        """For each row the separator of its heaviest part: of a class or, with None, on the way out of its own area."""
        part = nearest.parts.heaviest
        own = self.labels[nearest.parts.leaves[part]] if column is None else column
        return self.separators(self.separator_numbers(nearest)[part, own])

    def separators(self, numbers: NDArray[np.int64]) -> Separators:
        feature, threshold = self._numbered[0]
        none = numbers < 0
        if none.all():
            return Separators(np.full(numbers.shape, -1, dtype=np.int32), np.full(numbers.shape, np.nan))
        known = np.where(none, 0, numbers)
        return Separators(np.where(none, -1, feature[known]).astype(np.int32), np.where(none, np.nan, threshold[known]))


def leaf_classes(forest: Forest) -> NDArray[np.int32]:
    """The class that has most of the counts that a leaf answers by, the first of equals."""
    labels: NDArray[np.int32] = forest.answer_counts().argmax(axis=1).astype(np.int32)
    return labels
