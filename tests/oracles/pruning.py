"""Slow truths for pruning: the definitions as recursions over plain Python trees.

Written from the books and not from the core. A tree is asked only for its stored arrays; rows are moved by hand.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

import oracles
from hedgerow import Forest
from hedgerow.forest.kinds import NodeKind

Matrix = NDArray[np.float64]
Rows = list[tuple[int, float]]  # a row, and the weight with which it has arrived


class UnclearError(Exception):
    """Rounding decides."""


@dataclass
class Tree:
    """A node, what it asks (a node of the forest), and the training rows that reach it."""

    node: int
    rows: Rows
    children: list[Tree] = field(default_factory=list)

    @property
    def is_leaf(self) -> bool:
        return not self.children

    @property
    def weight(self) -> float:
        return math.fsum(weight for _, weight in self.rows)


@dataclass(frozen=True)
class Problem:
    """A tree, the rows that it was grown from, and the settings of C4.5's pruning."""

    forest: Forest
    X: Matrix
    y: Sequence[int]
    weights: Sequence[float]
    n_classes: int
    confidence: float = 0.25
    raising: bool = True
    min_fraction: float = 1 / 64

    def counts(self, rows: Rows) -> list[float]:
        return [math.fsum(w for row, w in rows if self.y[row] == k) for k in range(self.n_classes)]

    def all_rows(self) -> Rows:
        return [(row, float(weight)) for row, weight in enumerate(self.weights) if weight > 0]


# -- rows down a tree


def divide(problem: Problem, node: int, rows: Rows) -> list[Rows]:
    """The rows of each child; one without an answer goes down all, in proportion to those that have one."""
    forest = problem.forest
    below = oracles.children(forest, 0, node)
    parts: list[Rows] = [[] for _ in below]
    unknown: Rows = []
    for row, weight in rows:
        child = oracles.next_node(forest, 0, node, problem.X[row])
        if child is None:
            unknown.append((row, weight))
        else:
            parts[below.index(child)].append((row, weight))
    known = [math.fsum(weight for _, weight in part) for part in parts]
    total = math.fsum(known)
    for row, weight in unknown:
        fraction = weight / problem.weights[row]
        if abs(fraction - problem.min_fraction) < 1e-7 and 0 < problem.min_fraction < 1:
            raise UnclearError
        if fraction < problem.min_fraction * (1 - 1e-9):
            heaviest = known.index(max(known))
            if any(other is not known[heaviest] and abs(other - known[heaviest]) < 1e-9 for other in known):
                raise UnclearError
            parts[heaviest].append((row, weight))
            continue
        for part, of_part in zip(parts, known, strict=True):
            share = of_part / total if total > 0 else 1 / len(parts)
            if share > 0:
                part.append((row, weight * share))
    return parts


def grown(problem: Problem, node: int = 0, rows: Rows | None = None) -> Tree:
    """The forest's tree, with the rows of each node."""
    here = problem.all_rows() if rows is None else rows
    below = oracles.children(problem.forest, 0, node) if problem.forest.kind[node] != NodeKind.LEAF else []
    parts = divide(problem, node, here) if below else []
    return Tree(node, here, [grown(problem, child, part) for child, part in zip(below, parts, strict=True)])


def with_other_rows(problem: Problem, tree: Tree, rows: Rows) -> Tree:
    if tree.is_leaf:
        return Tree(tree.node, rows)
    parts = divide(problem, tree.node, rows)
    below = [with_other_rows(problem, child, part) for child, part in zip(tree.children, parts, strict=True)]
    return Tree(tree.node, rows, below)


def leaves(tree: Tree) -> Iterator[Tree]:
    if tree.is_leaf:
        yield tree
    for child in tree.children:
        yield from leaves(child)


# -- C4.5, as J48 does it


def added_errors(n: float, e: float, confidence: float) -> float:
    if e < 1:
        base = n * (1 - confidence ** (1 / n))
        return base if e == 0 else base + e * (added_errors(n, 1.0, confidence) - base)
    if e + 0.5 >= n:
        return max(n - e, 0.0)
    z = NormalDist().inv_cdf(1 - confidence)
    f = (e + 0.5) / n
    r = (f + z**2 / (2 * n) + z * math.sqrt(f / n - f**2 / n + z**2 / (4 * n**2))) / (1 + z**2 / n)
    return r * n - e


def upper_limit(counts: Sequence[float], confidence: float) -> float:
    n = math.fsum(counts)
    if n < 1e-6:
        return 0.0
    e = max(n - max(counts), 0.0)
    return e + added_errors(n, e, confidence)


def at_most(a: float, b: float) -> bool:
    if abs(a - b - 1e-6) < 1e-9:
        raise UnclearError
    return a <= b + 1e-6


def pessimistic(problem: Problem, tree: Tree) -> Tree:
    """`tree` itself, pruned."""
    if tree.is_leaf:
        return tree
    tree.children = [pessimistic(problem, child) for child in tree.children]

    def limit(leaf: Tree) -> float:
        return upper_limit(problem.counts(leaf.rows), problem.confidence)

    largest = tree.children[0]
    for child in tree.children[1:]:
        if at_most(largest.weight, child.weight):
            largest = child
    raised = with_other_rows(problem, largest, tree.rows)
    as_branch = math.fsum(map(limit, leaves(raised))) if problem.raising else math.inf
    as_leaf, as_tree = limit(tree), math.fsum(map(limit, leaves(tree)))
    if at_most(as_leaf, as_tree + 0.1) and at_most(as_leaf, as_branch + 0.1):
        return Tree(tree.node, tree.rows)
    if at_most(as_branch, as_tree + 0.1):
        return pessimistic(problem, raised)
    return tree


def check_same_tree(problem: Problem, truth: Tree, found: Forest) -> None:
    """Assert that a forest is this tree: splits, weights and counts."""
    stack = [(truth, 0)]
    n_nodes = 0
    while stack:
        tree, node = stack.pop()
        n_nodes += 1
        np.testing.assert_allclose(found.weight[node], tree.weight, rtol=1e-9, atol=1e-9)
        if tree.is_leaf:
            assert found.kind[node] == NodeKind.LEAF, f"node {node} should be a leaf"
            counts = problem.counts(tree.rows)
            np.testing.assert_allclose(found.counts[found.first_child[node]], counts, rtol=1e-9, atol=1e-9)
            continue
        assert split(found, node) == split(problem.forest, tree.node), f"node {node} asks something else"
        stack.extend(zip(tree.children, oracles.children(found, 0, node), strict=True))
    assert n_nodes == found.n_nodes


def split(forest: Forest, node: int) -> tuple[object, ...]:
    """Everything that a node asks, in numbers that can be compared (NaN as text)."""
    kind = NodeKind(forest.kind[node])
    at = oracles.payload(forest, node) if forest.payload[node] >= 0 else range(0)
    means = forest.payload_means  # None in a tree that has lost its last oblique split
    return (
        kind,
        int(forest.missing[node]),
        int(forest.feature[node]),
        repr(float(forest.threshold[node])),
        [int(forest.payload_codes[i]) for i in at],
        [float(forest.payload_weights[i]) for i in at] if kind == NodeKind.OBLIQUE else [],
        [repr(float(means[i])) for i in at] if kind == NodeKind.OBLIQUE and means is not None else [],
    )


# -- trees as sets of nodes that became leaves


def check_cut(forest: Forest, chosen: set[int], found: Forest) -> None:
    """Assert that `found` is `forest` with the chosen nodes as leaves, which have what was below them."""
    found.check()
    assert found.n_trees == forest.n_trees
    values = forest.leaf_stats if forest.leaf_counts is None else forest.leaf_counts
    left = found.leaf_stats if found.leaf_counts is None else found.leaf_counts
    assert values is not None
    assert left is not None
    n_nodes = 0
    for tree in range(forest.n_trees):
        stack = [(int(forest.tree_start[tree]), int(found.tree_start[tree]))]
        while stack:
            old, new = stack.pop()
            n_nodes += 1
            assert found.weight[new] == forest.weight[old]
            if old in chosen or forest.kind[old] == NodeKind.LEAF:
                assert found.kind[new] == NodeKind.LEAF
                below = [values[leaf] for leaf in oracles.leaves_below(forest, tree, old)]
                merge = _merged if forest.leaf_counts is None else _added
                leaf = left[found.leaf_start[tree] + found.first_child[new]]
                np.testing.assert_allclose(leaf, merge(below), rtol=1e-9, atol=1e-9 * float(np.abs(below).max()))
                continue
            assert split(found, new) == split(forest, old)
            stack.extend(zip(oracles.children(forest, tree, old), oracles.children(found, tree, new), strict=True))
    assert n_nodes == found.n_nodes


def _added(counts: Sequence[Matrix]) -> list[float]:
    return [math.fsum(column) for column in zip(*counts, strict=True)]


def _merged(stats: Sequence[Matrix]) -> list[float]:
    weight = math.fsum(float(w) for w, _, _ in stats)
    if weight == 0:
        return [float(x) for x in (stats[0] if len(stats) == 1 else (0, 0, 0))]
    mean = math.fsum(float(w) / weight * float(m) for w, m, _ in stats)
    squares = math.fsum(float(s) + float(w) * (float(m) - mean) ** 2 for w, m, s in stats)
    return [weight, mean, squares]


def node_values(forest: Forest, node: int) -> list[float]:
    """Counts, or weight, mean and squares, of a node of the first tree."""
    values = forest.leaf_stats if forest.leaf_counts is None else forest.leaf_counts
    assert values is not None
    below = [values[leaf] for leaf in oracles.leaves_below(forest, 0, node)]
    return _merged(below) if forest.leaf_counts is None else _added(below)


def inner_nodes(forest: Forest) -> list[int]:
    return [node for node in range(forest.n_nodes) if forest.kind[node] != NodeKind.LEAF]


def below_of(forest: Forest, node: int) -> list[int]:
    """The children of a node of the first tree, none of a leaf."""
    return oracles.children(forest, 0, node) if forest.kind[node] != NodeKind.LEAF else []


def cheapest(
    forest: Forest, as_leaf: Callable[[int], float], split_cost: Callable[[int], float], node: int = 0
) -> tuple[float, set[int]]:
    """The least cost of what is left of a subtree, bottom-up, and the nodes that become leaves; equality prunes."""
    own = as_leaf(node)
    below = [cheapest(forest, as_leaf, split_cost, child) for child in below_of(forest, node)]
    if not below:
        return own, set()
    cost = split_cost(node) + math.fsum(one for one, _ in below)
    if own != cost and abs(own - cost) < 1e-8 * (1 + abs(cost)):
        own = cost  # equal but for rounding
    return (own, {node}) if own <= cost else (cost, set().union(*(cuts for _, cuts in below)))


# -- reduced error


def held_out_loss(forest: Forest, node: int, X: Matrix, y: Sequence[float], weights: Sequence[float]) -> float:
    """What a node loses as a leaf on the rows, or parts of rows, that reach it."""
    answer = _answer(forest, node)
    inside = set(_leaf_numbers(forest, node))
    total = []
    for x, truth, weight in zip(X, y, weights, strict=True):
        reached = math.fsum(share for leaf, share in oracles.spread(forest, x, 0).items() if leaf in inside)
        loss = float(truth != answer) if forest.leaf_counts is not None else (truth - answer) ** 2
        total.append(weight * reached * loss)
    return math.fsum(total)


def _leaf_numbers(forest: Forest, node: int) -> list[int]:
    if forest.kind[node] == NodeKind.LEAF:
        return [int(forest.first_child[node])]
    return [leaf for child in below_of(forest, node) for leaf in _leaf_numbers(forest, child)]


def _answer(forest: Forest, node: int) -> float:
    values = node_values(forest, node)
    if forest.leaf_counts is None:
        empty, answer = values[0] <= 0, values[1]
    else:
        empty = math.fsum(values) <= 0
        answer = float(next(k for k, v in enumerate(values) if v >= max(values) * (1 - 1e-10)))  # but for rounding
    parents = [parent for parent in inner_nodes(forest) if node in below_of(forest, parent)]
    return _answer(forest, parents[0]) if empty and parents else answer


def greedy_cuts(forest: Forest, loss: Callable[[int], float]) -> set[int]:
    """Cut the node that saves most, the first of equals, until every cut costs something."""
    cuts: set[int] = set()

    def below(node: int) -> float:
        if node in cuts or forest.kind[node] == NodeKind.LEAF:
            return loss(node)
        return math.fsum(map(below, below_of(forest, node)))

    def alive(node: int) -> list[int]:
        if node in cuts or forest.kind[node] == NodeKind.LEAF:
            return []
        return [node, *(one for child in below_of(forest, node) for one in alive(child))]

    scale = 1e-8 * (1 + loss(0))
    while candidates := sorted(alive(0)):
        saved = {node: below(node) - loss(node) for node in candidates}
        best = next(node for node in candidates if saved[node] >= max(saved.values()) - scale)
        if saved[best] < -scale:
            return cuts
        cuts.add(best)
    return cuts


# -- cost complexity


def every_pruning(forest: Forest, node: int = 0) -> list[tuple[frozenset[int], tuple[int, ...]]]:
    """Every way to prune a subtree: the nodes that became leaves, and all leaves that are left."""
    below = below_of(forest, node)
    if not below:
        return [(frozenset(), (node,))]
    ways = [(frozenset[int](), tuple[int, ...]())]
    for child in below:
        ways = [(a | b, x + y) for a, x in ways for b, y in every_pruning(forest, child)]
    return [*ways, (frozenset([node]), (node,))]


def smallest_minimiser(forest: Forest, risk: Callable[[int], float], alpha: float) -> tuple[int, float]:
    """Leaves, and cost, of the smallest tree that minimises risk + alpha·leaves; by looking at all."""
    costs = [
        (math.fsum(risk(leaf) for leaf in left) + alpha * len(left), len(left)) for _, left in every_pruning(forest)
    ]
    least = min(cost for cost, _ in costs)
    return min(n for cost, n in costs if cost <= least + 1e-10), least


# -- description length


def exception_bits(counts: Sequence[float]) -> float:
    n = math.fsum(counts)
    e = n - max(counts)
    ways = math.lgamma(n + 1) - math.lgamma(e + 1) - math.lgamma(n - e + 1)
    return math.log2(n + 1) + ways / math.log(2)


def split_bits(forest: Forest, node: int, X: Matrix, n_categories: Sequence[int]) -> float:
    feature = int(forest.feature[node])
    kind = forest.kind[node]
    if kind == NodeKind.THRESHOLD:
        distinct = {x for x in X[:, feature].tolist() if not math.isnan(x)}
        return math.log2(max(len(distinct) - 1, 1))
    if kind == NodeKind.ONE_AGAINST_REST:
        return math.log2(n_categories[feature])
    return float(n_categories[feature] - 1) if kind == NodeKind.SUBSET else 0.0
