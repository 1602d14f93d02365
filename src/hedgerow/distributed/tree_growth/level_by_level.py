"""Trees whose bags fit no task, split level by level from histograms, until the rows of a node fit one.

Histograms are whole numbers, so that their sums over parts are exact, and the core finds the split in them that it
would find in the rows. Workers keep nothing: rows find their node by the splits so far.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats, Whole
from hedgerow._core import child_key, row_draws, split_node
from hedgerow.distributed.job import Job
from hedgerow.distributed.rows.row_blocks import RowBlock
from hedgerow.distributed.tree_growth.joined_trees import TopNode, TopSplit, join
from hedgerow.distributed.tree_growth.population import Population
from hedgerow.distributed.tree_growth.tree_tasks import Bag, BagPiece, GrownTree, Plan, bytes_of_row, grow_bag, piece_of
from hedgerow.forest.kinds import NodeKind
from hedgerow.growth.codes import MISSING_CODE, Codes
from hedgerow.growth.poisson import tree_key

__all__ = ["add_histograms", "draw_nodes", "grow_by_levels"]

_N_CODES = 256


@dataclass(frozen=True)
class Split:
    """A split as rows apply it."""

    feature: int
    children: range
    """Numbers of the nodes."""
    child_of: NDArray[np.uint8]
    """Child of each code."""
    key: int
    shares: Floats
    """Probability of each child but the last for a missing value."""

    def route(self, codes: Codes, numbers: Whole) -> Whole:
        """Node that each row goes to."""
        own = codes[self.feature]
        child = self.child_of[own].astype(np.int64)
        missing = np.flatnonzero(own == MISSING_CODE)
        if len(missing):
            rest = np.empty(len(missing))
            row_draws(self.key, numbers[missing], rest)
            drawn, left = np.zeros(len(missing), np.int64), np.arange(len(missing))
            for share in self.shares:
                left = left[rest[left] >= share]
                rest[left] -= share
                drawn[left] += 1
            child[missing] = drawn
        return child + self.children.start


@dataclass(frozen=True)
class Work:
    """Nodes of a tree that a pass looks at, and the splits that lead to them, parents first."""

    tree: int
    splits: dict[int, Split]
    nodes: tuple[int, ...]

    def rows_of_nodes(self, rows: RowBlock, codes: Codes, plan: Plan) -> tuple[NDArray[np.uint32], list[Whole]]:
        """How often each row was drawn, and which rows are in each node."""
        counts = plan.draws.counts(self.tree, rows.first, len(rows), rows.weight)
        drawn = np.flatnonzero(counts)
        at = np.zeros(len(drawn), np.int64)
        for node, split in self.splits.items():
            here = np.flatnonzero(at == node)
            taken = drawn[here]
            at[here] = split.route(codes.take(taken, axis=1), rows.first + taken)
        return counts, [drawn[at == node] for node in self.nodes]


@dataclass(frozen=True)
class Histograms:
    """Rows of a node over the codes of each column."""

    n_rows: int
    draws: NDArray[np.uint32]
    """How often rows of each class were drawn, (n_features, 256, n_classes)."""
    rows: NDArray[np.uint32] | None
    """Different rows, (n_features, 256), where leaves must hold more than one."""

    def __add__(self, other: Histograms) -> Histograms:
        rows = None if self.rows is None or other.rows is None else self.rows + other.rows
        return Histograms(self.n_rows + other.n_rows, self.draws + other.draws, rows)

    @property
    def class_counts(self) -> Floats:
        return self.draws[0].sum(axis=0, dtype=np.float64)


OfWork: TypeAlias = list[list[Histograms]]


def add_histograms(block: RowBlock, population: Population, plan: Plan, work: Sequence[Work], counting: bool) -> OfWork:
    """Histograms of the nodes of each tree, of the rows of a part."""
    rows = population.used(block)
    codes = plan.bins.encode(rows.X).T
    found = []
    for of_tree in work:
        counts, nodes = of_tree.rows_of_nodes(rows, codes, plan)
        found.append([_histograms(codes, rows.target, counts, taken, plan.n_classes, counting) for taken in nodes])
    return found


def _histograms(
    codes: Codes, labels: NDArray[Any], counts: NDArray[np.uint32], taken: Whole, n_classes: int, counting: bool
) -> Histograms:
    n_features = len(codes)
    draws = np.empty((n_features, _N_CODES, n_classes), np.uint32)
    rows = np.empty((n_features, _N_CODES), np.uint32) if counting else None
    label, weight = labels[taken], counts[taken]
    for feature in range(n_features):
        own = codes[feature, taken].astype(np.int64)
        sums = np.bincount(own * n_classes + label, weight, _N_CODES * n_classes)  # whole, and exact in doubles
        draws[feature] = sums.reshape(_N_CODES, n_classes)
        if rows is not None:
            rows[feature] = np.bincount(own, minlength=_N_CODES)
    return Histograms(len(taken), draws, rows)


def _merge(one: OfWork, other: OfWork) -> OfWork:
    return [[a + b for a, b in zip(*pair, strict=True)] for pair in zip(one, other, strict=True)]


def draw_nodes(block: RowBlock, population: Population, plan: Plan, work: Sequence[Work]) -> list[BagPiece]:
    """Rows of a part in each node, one tree after the other."""
    rows = population.used(block)
    codes = plan.bins.encode(rows.X).T
    pieces = []
    for of_tree in work:
        counts, nodes = of_tree.rows_of_nodes(rows, codes, plan)
        pieces += [piece_of(rows, codes, counts, taken, of_tree.tree, plan) for taken in nodes]
    return pieces


@dataclass
class _Top:
    """The upper levels of a tree, as far as they are split."""

    tree: int
    nodes: list[TopNode]
    splits: dict[int, Split] = field(default_factory=dict)
    open: list[int] = field(default_factory=lambda: [0])
    shipped: dict[int, int] = field(default_factory=dict)
    """Number of rows of each node whose rows fit a task."""
    weight: float = 0.0

    def work(self, nodes: Sequence[int]) -> Work:
        """Inputs of a pass over these nodes."""
        return Work(self.tree, self.splits, tuple(nodes))

    def extend(self, found: Sequence[Histograms], plan: Plan, most: int) -> None:
        """Split the open nodes, or make them leaves, or leave them to a task."""
        considered, self.open = self.open, []
        options = plan.options(self.tree)
        for number, histograms in zip(considered, found, strict=True):
            node, counts = self.nodes[number], histograms.class_counts
            if number == 0:
                self.weight = float(counts.sum())
            node.counts = counts
            if histograms.n_rows <= most:
                self.shipped[number] = histograms.n_rows
                continue
            split = split_node(
                histograms.draws,
                histograms.rows,
                histograms.n_rows,
                plan.bins.arrays,
                plan.bins.n_categories,
                options,
                node.key,
                node.depth,
                self.weight,
            )
            if split is not None:
                self._split(number, split, histograms)

    def _split(self, number: int, split: dict[str, Any], histograms: Histograms) -> None:
        node, first, n_children = self.nodes[number], len(self.nodes), split["n_children"]
        children = range(first, first + n_children)
        shares = np.array([split["share_left"]])
        if split["kind"] == NodeKind.MULTIWAY:
            shares = _shares(histograms.draws[split["feature"]], split["child_of"], n_children)
        self.splits[number] = Split(split["feature"], children, split["child_of"], node.key, shares)
        node.split = TopSplit(split["kind"], split["feature"], split["threshold"], split["payload"], children)
        self.nodes += [TopNode(child_key(node.key, child), node.depth + 1) for child in range(n_children)]
        self.open += children


def _shares(draws: NDArray[np.uint32], child_of: NDArray[np.uint8], n_children: int) -> Floats:
    """Share of each branch but the last in the weight of the rows with a value."""
    of_code = draws.sum(axis=1, dtype=np.float64)[:MISSING_CODE]
    some = np.flatnonzero(of_code)
    weight = np.bincount(child_of[some], of_code[some], n_children)
    return (weight / weight.sum())[:-1]


def grow_by_levels(job: Job, plan: Plan, population: Population, trees: Sequence[int]) -> Iterator[GrownTree]:
    """Grow trees; yields them in their order."""
    shared = job.share(plan)
    most = max(1, job.memory // bytes_of_row(plan))
    tops = [_Top(tree, [TopNode(tree_key(plan.draws.seed, tree), 0)]) for tree in trees]
    counting = plan.options(0).min_samples_leaf > 1
    while some := [top for top in tops if top.open]:
        work = [top.work(top.open) for top in some]
        stage = "adding histograms"
        found: OfWork = job.fold(add_histograms, population, shared, work, counting, merge=_merge, stage=stage)
        for top, histograms in zip(some, found, strict=True):
            top.extend(histograms, plan, most)
    subtrees = dict(_grown_below(job, plan, population, tops, most, shared))
    for top in tops:
        below = {node: subtrees[top.tree, node] for node in top.shipped}
        forest = join(top.nodes, {node: grown.forest for node, grown in below.items()}, plan.n_features)
        only = any(grown.only for grown in below.values())
        empty = np.empty(0)
        yield GrownTree(forest, only, np.zeros(1, np.int64), empty.astype(np.int32), empty, empty)


def _grown_below(
    job: Job, plan: Plan, population: Population, tops: Sequence[_Top], most: int, shared: Any
) -> Iterator[tuple[tuple[int, int], GrownTree]]:
    """Trees below the nodes whose rows fit a task; as many at a time as fit the memory here."""
    waiting = [(top, node) for top in tops for node in top.shipped]
    while waiting:
        n_rows, n_now = 0, 0
        while n_now < len(waiting) and (n_now == 0 or n_rows + waiting[n_now][0].shipped[waiting[n_now][1]] <= most):
            top, node = waiting[n_now]
            n_rows += top.shipped[node]
            n_now += 1
        now, waiting = waiting[:n_now], waiting[n_now:]
        work = [top.work([node]) for top, node in now]
        pieces = job.map(draw_nodes, population, shared, work, stage="drawing nodes")
        bags = [
            Bag(top.tree, [of_part[i] for of_part in pieces], top.nodes[node].key, top.nodes[node].depth, top.weight)
            for i, (top, node) in enumerate(now)
        ]
        del pieces
        grown = job.map_values(bags, grow_bag, shared, stage="growing nodes")
        yield from zip([(top.tree, node) for top, node in now], grown, strict=True)
