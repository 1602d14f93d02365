"""Choice of s and of tree weights of cautious forests by out-of-bag rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats
from hedgerow.credal import Aggregate
from hedgerow.credal.utility import learn_tree_weights, set_utilities
from hedgerow.estimators.fitting.bagging import OutOfBag
from hedgerow.forest.counts import DistinctCounts
from hedgerow.walk import route

__all__ = ["GRID", "MOST_ROWS", "UtilityOutOfBag", "with_prior"]

GRID = (
    *(0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 50.0),
    *(100.0, 300.0, 1e3, 1e4, 1e6),
)
"""Candidates for s; with the last one every set has all classes, whatever the size of leaves."""

MOST_ROWS = 20_000  # the standard error of their mean utility is below 0.003
_ROWS_AT_ONCE = 2048
_MOST_NUMBERS = 1 << 22  # bounds of rows, trees and pairs of classes that weights are learned from


@dataclass(frozen=True)
class UtilityOutOfBag:
    """Utility of the sets of out-of-bag rows."""

    bags: OutOfBag
    codes: NDArray[np.int32]
    weight: Floats
    leaves: DistinctCounts
    """Counts of leaves that sets are made from."""
    aggregate: Aggregate
    tree_weights: Floats | None
    reward: float

    def best_s(self) -> float:
        """Candidate with the largest mean utility out of bag; the smallest of equals. One walk of the rows."""
        tables = [self.aggregate.table_of(self.leaves, s) for s in GRID]
        total = np.zeros(len(GRID))
        for bags, codes, weight in self._parts(MOST_ROWS):
            folded, n_trees, unseen = bags.folds(tables, self.tree_weights)
            row = np.arange(int(unseen.sum()))
            for i, one in enumerate(folded):
                sets = self.aggregate.sets(one, n_trees)
                worth = set_utilities(sets[row, codes[unseen]], sets.sum(axis=1), self.reward)
                total[i] += float(weight[unseen] @ worth)
        # Sums differ in their last bits where sets do not.
        return GRID[int(np.argmax(total >= total.max() - 1e-9 * max(total.max(), 1.0)))]

    def learn_weights(self, s: float) -> Floats:
        """Weights of the trees, with sum 1, that :func:`hedgerow.credal.utility.learn_tree_weights` finds."""
        forest = self.bags.forest
        n_classes, n_trees = forest.n_classes, forest.n_trees
        values = self.aggregate.table_of(self.leaves, s).of_each_leaf[:, : 2 * n_classes]
        found: list[tuple[Floats, NDArray[np.bool_], NDArray[np.int32], Floats]] = []
        for bags, codes, weight in self._parts(max(1, _MOST_NUMBERS // (n_trees * 2 * max(n_classes - 1, 1)))):
            leaves = route(forest, bags.rows, n_jobs=bags.n_jobs) + forest.leaf_start[:-1]
            answers = ~np.unpackbits(bags.seen, axis=1, count=len(codes), bitorder="little").T.astype(bool)
            unseen = answers.any(axis=1)
            found.append((values[leaves[unseen]], answers[unseen], codes[unseen], weight[unseen]))
        bounds, answers, codes, weight = (np.concatenate(parts) for parts in zip(*found, strict=True))
        if not weight.sum() > 0:
            return np.full(n_trees, 1 / n_trees)
        lower, upper = bounds[..., :n_classes], bounds[..., n_classes:]
        if self.tree_weights is not None:
            lower, upper = lower * self.tree_weights[:, np.newaxis], upper * self.tree_weights[:, np.newaxis]
        return learn_tree_weights(lower, upper, answers, codes, weight, self.reward)

    def _parts(self, most: int) -> Iterator[tuple[OutOfBag, NDArray[np.int32], Floats]]:
        """Some rows at a time, evenly spaced where there are more than `most`; with their classes and weights."""
        kept = np.flatnonzero(self.weight > 0)
        if len(kept) > most:
            kept = kept[np.arange(most) * len(kept) // most]
        for first in range(0, len(kept), _ROWS_AT_ONCE):
            rows = kept[first : first + _ROWS_AT_ONCE]
            yield self.bags.of_rows(rows), self.codes[rows], self.weight[rows]


def with_prior(weight: Floats, codes: NDArray[np.int32], observed: Floats, wanted: Floats | None) -> Floats:
    """Weights of rows as frequent as `wanted` says that their classes are in practice."""
    if wanted is None:
        return weight
    ratio: Floats = wanted / np.where(observed > 0, observed, 1.0)
    return weight * ratio[codes]
