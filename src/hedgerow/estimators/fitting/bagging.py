"""Bootstrap samples and out-of-bag predictions."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats
from hedgerow._core import DrawScheme
from hedgerow._params import check_bool, is_fraction, is_whole
from hedgerow.estimators.fitting.node_sizes import NodeSizes
from hedgerow.forest.counts import as_numbers
from hedgerow.forest.forest import Forest
from hedgerow.rules import FoldRule
from hedgerow.walk import LeafTable, fold, route

__all__ = [
    *("OutOfBag", "draw_scheme", "mean_where_unknown", "n_draws", "oob_metric", "oob_scores", "scaled_tree_weights"),
    *("scores_out_of_bag", "warn_of_no_answer"),
]

_ROWS_AT_ONCE = 4096
_MOST_DRAWS = 2**32 - 1  # the number of draws of a row is stored in 32 bits


def draw_scheme(bootstrap: Any) -> DrawScheme | None:
    """How `bootstrap` asks for rows to be drawn; None: all rows are used."""
    if isinstance(bootstrap, str) and bootstrap == "poisson":
        return DrawScheme.poisson
    return DrawScheme.multinomial if check_bool("bootstrap", bootstrap, hint=", or 'poisson'") else None


def n_draws(bootstrap: Any, max_samples: Any, oob_score: Any, n_rows: int) -> int:
    """Number of rows drawn for each tree, by default `n_rows`; 0 without bootstrap.

    `n_rows` and a fraction of it count the rows of positive weight, whatever their weights add up to.
    """
    if draw_scheme(bootstrap) is None:
        if oob_score:
            raise ValueError("oob_score needs bootstrap=True: without it every tree has seen every row")
        if max_samples is not None:
            raise ValueError(f"max_samples is {max_samples!r}, but bootstrap=False draws no rows: set it to None")
        return 0
    if max_samples is None:
        return n_rows
    if is_whole(max_samples) and 1 <= int(max_samples) <= _MOST_DRAWS:
        return int(max_samples)
    if is_fraction(max_samples):
        return max(1, int(float(max_samples) * n_rows))
    raise ValueError(
        f"max_samples is {max_samples!r}, must be a whole number of at least 1 (and at most {_MOST_DRAWS}), a fraction "
        "in (0, 1], or None for as many as there are rows"
    )


def scores_out_of_bag(oob_score: Any) -> bool:
    """Whether `oob_score` asks for a score."""
    return callable(oob_score) or check_bool("oob_score", oob_score, hint=", or a function of y and answers")


def oob_metric(oob_score: Any, default: str) -> Any:
    """Metric of `oob_score`: its own, or scikit-learn's of this name."""
    if callable(oob_score):
        return oob_score
    from sklearn import metrics  # here, because it takes longer to import than all of hedgerow

    return getattr(metrics, default)


def oob_scores(
    oob_score: Any,
    shares: Floats,
    unseen: NDArray[np.bool_],
    codes: NDArray[np.int32],
    classes: NDArray[Any],
    decided: NDArray[np.intp] | None = None,
) -> dict[str, Any]:
    """Attributes from out-of-bag probabilities, (n, n_classes), of which rows that no tree can answer are NaN.

    `decided` is the class of each row, by default the most probable one.
    """
    metric = oob_metric(oob_score, "accuracy_score")
    predicted = classes[shares[unseen].argmax(axis=1) if decided is None else decided[unseen]]
    score = metric(classes[codes[unseen]], predicted) if unseen.any() else np.nan
    return {"oob_decision_function_": shares, "oob_score_": score}


def scaled_tree_weights(tree_weights: Any, n_trees: int) -> Floats:
    """Scale weights to a mean of 1, so that equal weights have no effect."""
    weights = as_numbers("tree_weights", tree_weights)
    if weights.shape != (n_trees,):
        raise ValueError(f"tree_weights has shape {weights.shape}, must have a number for each of {n_trees} trees")
    if not (np.isfinite(weights) & (weights >= 0)).all() or not weights.any():
        raise ValueError("tree_weights must be finite, not negative, and not all 0")
    return weights * (n_trees / weights.sum())


def mean_where_unknown(accuracy: Floats) -> Floats:
    """Out-of-bag accuracy of each tree, and the mean of the others for a tree that has no row out of its bag."""
    if np.isnan(accuracy).all():
        raise ValueError("tree_weights='oob': no tree has a row out of its bag; use more rows, or None")
    return np.where(np.isnan(accuracy), np.nanmean(accuracy), accuracy)


def warn_of_no_answer(unseen: NDArray[np.bool_]) -> None:
    """Warn of rows that no tree can answer out of bag."""
    if not unseen.all():
        warnings.warn(
            f"{(~unseen).sum()} of {len(unseen)} rows are in the bag of every tree and have no out-of-bag "
            "prediction (NaN): grow more trees",
            stacklevel=5,
        )


class GrownTrees(Protocol):
    """What growth returns, wherever the trees were grown."""

    @property
    def forest(self) -> Forest: ...

    @property
    def in_bag(self) -> NDArray[np.uint8]: ...


@dataclass(frozen=True)
class OutOfBag:
    """Training rows, and the trees that they are in the bag of."""

    forest: Forest
    rows: Floats
    seen: NDArray[np.uint8]
    """Bit mask of the rows in the bag of each tree, (n_trees, ceil(n_rows / 8))."""
    n_jobs: int | None

    @classmethod
    def of(cls, grown: GrownTrees, values: Floats, used: NDArray[np.bool_], n_jobs: int | None) -> OutOfBag:
        """Unpack the bags of grown trees; `used` are the rows of `values` that they were drawn from."""
        seen = np.zeros((grown.forest.n_trees, -(-len(values) // 8)), dtype=np.uint8)
        positions = np.flatnonzero(used)
        for tree, bits in enumerate(grown.in_bag):  # one by one: a byte a row and tree would be eight times the memory
            in_bag = np.zeros(len(values), dtype=bool)
            in_bag[positions] = np.unpackbits(bits, count=len(positions), bitorder="little").astype(bool)
            seen[tree] = np.packbits(in_bag, bitorder="little")
        return cls(grown.forest, np.ascontiguousarray(values), seen, n_jobs)

    @classmethod
    def from_samples(
        cls, forest: Forest, rows: Floats, samples: Sequence[NDArray[np.integer[Any]]], n_jobs: int | None
    ) -> OutOfBag:
        """Bags given as the rows that each tree was grown from, as scikit-learn's `estimators_samples_` has them."""
        seen = np.zeros((forest.n_trees, -(-len(rows) // 8)), dtype=np.uint8)
        for tree, drawn in enumerate(samples):
            in_bag = np.zeros(len(rows), dtype=bool)
            in_bag[drawn] = True
            seen[tree] = np.packbits(in_bag, bitorder="little")
        return cls(forest, np.ascontiguousarray(rows), seen, n_jobs)

    @property
    def seen_by_all(self) -> bool:
        """Whether every row is in the bag of every tree."""
        by_all = np.unpackbits(np.bitwise_and.reduce(self.seen, axis=0), count=len(self.rows), bitorder="little")
        return bool(by_all.all())

    def of_rows(self, positions: NDArray[np.intp]) -> OutOfBag:
        """Bags of these rows only."""
        bits = (self.seen[:, positions >> 3] >> (positions & 7).astype(np.uint8)) & 1
        seen = np.ascontiguousarray(np.packbits(bits, axis=1, bitorder="little"))
        return replace(self, rows=np.ascontiguousarray(self.rows[positions]), seen=seen)

    def fold(self, table: LeafTable, tree_weights: Floats | None = None) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Fold a table over the out-of-bag trees of each row: (n, m), their number (n, 1), and which rows have any.

        Rows in the bag of every tree are left out. With weights, the number of trees is the sum of their weights.
        """
        (folded,), n_trees, unseen = self.folds([table], tree_weights)
        warn_of_no_answer(unseen)
        return folded, n_trees, unseen

    def folds(
        self, tables: Sequence[LeafTable], tree_weights: Floats | None = None
    ) -> tuple[list[Floats], Floats, NDArray[np.bool_]]:
        """Fold several tables in one walk, as :meth:`fold` does one."""
        one = LeafTable.of(np.ones((self.forest.n_leaves, 1)))
        *folded, n_trees = fold(
            *(self.forest, self.rows, [*tables, one]), skip=self.seen, tree_weights=tree_weights, n_jobs=self.n_jobs
        )
        unseen = n_trees[:, 0] > 0
        if not unseen.all():
            folded, n_trees = [one[unseen] for one in folded], n_trees[unseen]
        return folded, n_trees, unseen

    @property
    def n_trees(self) -> int:
        return self.forest.n_trees

    def node_sizes(self, sizes: Sequence[int]) -> NodeSizes:
        """The trees with nodes below each size as leaves."""
        return NodeSizes.of(self.forest, sizes)

    def size_folds(
        self, rule: FoldRule, prior: Floats, cuts: Any, tree_weights: Floats | None
    ) -> tuple[list[Floats], Floats, NDArray[np.bool_]]:
        """Fold the tables of a rule for each size of nodes, as :meth:`folds`."""
        return self.folds(cuts.tables(rule.leaf_table(cuts.values, prior)), tree_weights)

    def accuracies(self, codes: NDArray[np.int32], sample_weight: Floats) -> Floats:
        """Out-of-bag accuracy of each tree, (n_trees,); NaN for a tree with all rows in its bag."""
        right, total = self.right_and_total(codes, sample_weight)
        return np.where(total > 0, right / np.where(total > 0, total, 1.0), np.nan)

    def right_and_total(self, codes: NDArray[np.int32], sample_weight: Floats) -> tuple[Floats, Floats]:
        """Weight of the rows that each tree is right about out of bag, and of all these, (n_trees,) each."""
        predicted = self.forest.counts.argmax(axis=1)
        right, total = np.zeros(self.forest.n_trees), np.zeros(self.forest.n_trees)
        for first in range(0, len(self.rows), _ROWS_AT_ONCE):
            last = min(first + _ROWS_AT_ONCE, len(self.rows))
            leaves = route(self.forest, self.rows[first:last], n_jobs=self.n_jobs) + self.forest.leaf_start[:-1]
            bits = self.seen[:, first // 8 : -(-last // 8)]
            in_bag = np.unpackbits(bits, axis=1, count=last - first, bitorder="little").T.astype(bool)
            weight = np.where(in_bag, 0.0, sample_weight[first:last, np.newaxis])
            right += (weight * (predicted[leaves] == codes[first:last, np.newaxis])).sum(axis=0)
            total += weight.sum(axis=0)
        return right, total
