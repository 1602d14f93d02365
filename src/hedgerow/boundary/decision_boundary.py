"""The decision boundary of a tree: regions of the classes, separators, and distances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats
from hedgerow._core import wall_distance, wall_plan
from hedgerow._lazy import lazy
from hedgerow.boundary.oblique import PolytopeSearch
from hedgerow.boundary.splits import TreeSplits
from hedgerow.forest.forest import Forest
from hedgerow.forest.kinds import NodeKind
from hedgerow.forest.splits import NOMINAL
from hedgerow.walk import check_rows, n_threads, spread

__all__ = ["DecisionBoundary", "Fractions", "Nearest", "Separators"]

_EVERY_CLASS = -1


class Separators(NamedTuple):
    """Column and threshold of separators.

    A change of category has no threshold (NaN), an oblique split no column (-2). The column is -1 where there is
    nothing to cross.

    Parameters
    ----------
    feature : int32 array
        Column of each separator.
    threshold : array
        Threshold of each separator.

    Examples
    --------
    >>> from hedgerow.boundary import nearest_separator
    >>> from hedgerow.forest import build_forest, leaf, threshold
    >>> tree = build_forest([threshold(0, 2.0, leaf([9, 1]), leaf([0, 5]))], n_features=1)
    >>> feature, at = nearest_separator(tree, [[1.0], [5.0]])
    >>> feature, at
    (array([0, 0], dtype=int32), array([2., 2.]))
    """

    feature: NDArray[np.int32]
    threshold: Floats


@dataclass(frozen=True, eq=False)
class Fractions:
    """Rows by leaf: a row with missing values can be in several leaves, with weights that add up to 1."""

    rows: NDArray[np.int64]
    leaves: NDArray[np.int32]
    weights: Floats
    start: NDArray[np.int64]
    """Row i has the fractions start[i] .. start[i + 1]."""

    def mix(self, values: Floats) -> Floats:
        """Weighted mean over the fractions of each row."""
        return np.add.reduceat(values * self.weights[:, np.newaxis], self.start[:-1], axis=0)

    @property
    def heaviest(self) -> NDArray[np.int64]:
        """The largest fraction of each row; ties go to the first."""
        order = np.lexsort((np.arange(len(self.rows)), -self.weights, self.rows))
        return order[self.start[:-1]]


@dataclass(frozen=True, eq=False)
class Nearest:
    """Distance, nearest leaf and separator of each fraction, for each class or for one."""

    fractions: Fractions
    distance: Floats
    """Algebraic distance: negative inside the class's region, infinite where there is nothing to reach."""
    leaf: NDArray[np.int32]
    """Nearest leaf of the class or, inside its region, of another class; ties go to the first, -1 for none."""
    node: NDArray[np.int32]
    """Node whose split is farthest from the row among those that it has to cross, or -1."""
    n_leaves: NDArray[np.int64]
    """Number of leaves whose distance was computed."""
    points: Floats | None = None
    """Projections, for trees with oblique splits; others follow from the leaf: :meth:`DecisionBoundary.points`."""

    def of_rows(self) -> Floats:
        """Distances of rows, (n, classes): the weighted mean over fractions with a finite distance.

        If there is none, the distance of the largest fraction.
        """
        finite = np.isfinite(self.distance)
        amount = np.where(finite, self.fractions.weights[:, np.newaxis], 0.0)
        first = self.fractions.start[:-1]
        reached = np.add.reduceat(amount, first, axis=0)
        total = np.add.reduceat(amount * np.where(finite, self.distance, 0.0), first, axis=0)
        heaviest = self.distance[self.fractions.heaviest]
        whole = (np.diff(self.fractions.start) == 1)[:, np.newaxis]  # exact: no division by the weight
        return np.where(whole | (reached == 0), heaviest, total / np.where(reached > 0, reached, 1.0))


@dataclass(frozen=True, eq=False)
class DecisionBoundary:
    """One tree, the class of each leaf, and the number of categories of each nominal column (0: unknown).

    `forest` routes rows. `shape` is the same tree with the thresholds that its maker displays; for scikit-learn's trees
    they differ by float32 rounding.
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
    ) -> DecisionBoundary:
        """Make the boundary of a forest of one tree; by default a leaf has its majority class, the first of ties."""
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
        """For each node, a bit mask of the classes below it, and whether any value leads to it from its parent."""
        classes, is_open = wall_plan(
            self.shape.core_with_weight, self.shape.parent, self.labels, self.n_categories, self.n_classes
        )
        return classes, is_open

    def fractions(self, X: Floats, n_jobs: int | None = None) -> Fractions:
        """Spread rows over the leaves."""
        reached = spread(self.forest, X, n_jobs=n_jobs)
        start = reached.indptr.astype(np.int64)
        rows = np.repeat(np.arange(len(X), dtype=np.int64), np.diff(start))
        return Fractions(rows, reached.indices.astype(np.int32), reached.data, start)

    def measure(self, X: Floats, scale: Floats, target: int | None = None, n_jobs: int | None = None) -> Nearest:
        """Compute algebraic distances (definitions 1 and 2 of the paper) to the region of each class, or of one.

        A split on a missing value, or on a category without a branch, separates nothing: the fraction stays in its own
        branch, and elsewhere in the tree follows the node's policy for missing values.
        """
        check_rows(self.forest, X)
        fractions = self.fractions(X, n_jobs)
        n_fractions, n_columns = len(fractions.rows), self.n_classes if target is None else 1
        found = Nearest(
            fractions,
            np.full((n_fractions, n_columns), np.inf),
            np.full((n_fractions, n_columns), -1, dtype=np.int32),
            np.full((n_fractions, n_columns), -1, dtype=np.int32),
            np.zeros(n_fractions, dtype=np.int64),
            np.repeat(X[fractions.rows, np.newaxis], n_columns, axis=1) if self.is_oblique else None,
        )
        if self.is_oblique:
            self._measure_polytopes(X, scale, target, found)
            return found
        tree = (self.shape.parent, self.shape.leaf_nodes, self.labels, *self.plan)
        wall_distance(
            *(self.shape.core_with_weight, tree, self.n_classes, X, fractions.rows, fractions.leaves, scale),
            _EVERY_CLASS if target is None else target,
            *(found.distance, found.leaf, found.node, found.n_leaves),
            n_threads(n_jobs),
        )
        return found

    def _measure_polytopes(self, X: Floats, scale: Floats, target: int | None, found: Nearest) -> None:
        assert found.points is not None
        search = PolytopeSearch(self._splits, self.labels, self.plan[1], scale)
        for number, (row, leaf) in enumerate(zip(found.fractions.rows, found.fractions.leaves, strict=True)):
            own = int(self.labels[leaf])
            others = set(range(self.n_classes)) - {own}
            columns = range(self.n_classes) if target is None else [target]
            if own in columns:
                found.distance[number, list(columns).index(own)] = -np.inf
            wanted = others if target is None or target == own else {target}
            arrivals = search.arrivals(X[row], int(leaf), wanted)
            found.n_leaves[number] = search.n_leaves
            for column, c in enumerate(columns):
                for one in arrivals:  # nearest first: any other class is a way out of the own region
                    if c in (own, one.label):
                        found.distance[number, column] = -one.distance if c == own else one.distance
                        found.leaf[number, column], found.node[number, column] = one.leaf, one.node
                        found.points[number, column] = one.point
                        break

    # -- projections

    def points(self, X: Floats, nearest: Nearest, column: int) -> Floats:
        """Project each fraction onto its nearest leaf (algorithm 2 of the paper), (n_fractions, n_features).

        Missing values stay missing; a category that has to change becomes the first that leads to the leaf. A fraction
        without a nearest leaf stays where it is.
        """
        rows: Floats = X[nearest.fractions.rows]
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
        """Distinct separators, by column and threshold, and the number of each node's separator."""
        tree = self.shape
        inner = np.flatnonzero(tree.kind != NodeKind.LEAF)
        oblique_node = np.where(tree.kind[inner] == NodeKind.OBLIQUE, inner, -1)  # distinct from all others
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
        """Number of the nearest separator of each fraction, (n_fractions, classes); -1 for none."""
        of_node = self._numbered[1]
        return np.where(nearest.node >= 0, of_node[nearest.node], -1)

    def crossed(self, nearest: Nearest, column: int | None = None) -> Separators:
        """Separator of the largest fraction of each row, for a column of `nearest`; None: out of its own region."""
        largest = nearest.fractions.heaviest
        own = self.labels[nearest.fractions.leaves[largest]] if column is None else column
        return self.separators(self.separator_numbers(nearest)[largest, own])

    def separators(self, numbers: NDArray[np.int64]) -> Separators:
        """Look up separators by number; -1 for none."""
        feature, threshold = self._numbered[0]
        none = numbers < 0
        if none.all():
            return Separators(np.full(numbers.shape, -1, dtype=np.int32), np.full(numbers.shape, np.nan))
        known = np.where(none, 0, numbers)
        return Separators(np.where(none, -1, feature[known]).astype(np.int32), np.where(none, np.nan, threshold[known]))


def leaf_classes(forest: Forest) -> NDArray[np.int32]:
    """Majority class of each leaf; ties go to the first."""
    return forest.answer_counts().argmax(axis=1).astype(np.int32)
