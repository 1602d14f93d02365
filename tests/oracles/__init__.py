"""Slow truths: what the compiled core must agree with, from the definitions, in plain Python numbers.

Nothing here calls hedgerow's walks or its derived arrays: only the stored arrays of a Forest are read.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow import Forest
from hedgerow.forest.kinds import MissingPolicy, NodeKind

MASK_32 = 0xFFFFFFFF
MASK_64 = 0xFFFFFFFFFFFFFFFF
_PER_NODE = ("threshold", "weight", "feature", "first_child", "payload", "kind", "missing")

# -- the structure of a tree; a node is a position in the arrays of the whole forest


def payload(forest: Forest, node: int) -> range:
    """Positions of a node's entries in the flat payloads."""
    index = int(forest.payload[node])
    return range(int(forest.payload_start[index]), int(forest.payload_start[index + 1]))


def n_children(forest: Forest, node: int) -> int:
    if forest.kind[node] == NodeKind.LEAF:
        return 0
    n = 2
    if forest.kind[node] == NodeKind.MULTIWAY:
        n = 1 + max(int(forest.payload_codes[i]) for i in payload(forest, node))
    return n + (forest.missing[node] == MissingPolicy.OWN_BRANCH)


def children(forest: Forest, tree: int, node: int) -> list[int]:
    first = int(forest.tree_start[tree]) + int(forest.first_child[node])
    return [first + number for number in range(n_children(forest, node))]


def leaves_below(forest: Forest, tree: int, node: int) -> list[int]:
    """Numbers, within the whole forest, of the leaves of the subtree of a node."""
    if forest.kind[node] == NodeKind.LEAF:
        return [int(forest.leaf_start[tree]) + int(forest.first_child[node])]
    return [leaf for child in children(forest, tree, node) for leaf in leaves_below(forest, tree, child)]


def nodes_of(forest: Forest) -> Iterator[tuple[int, int]]:
    """(tree, node) for every node of the forest."""
    for tree in range(len(forest.tree_start) - 1):
        for node in range(int(forest.tree_start[tree]), int(forest.tree_start[tree + 1])):
            yield tree, node


def depth_below(forest: Forest, tree: int, node: int) -> int:
    """Edges on the longest way from a node down to a leaf."""
    return max((1 + depth_below(forest, tree, child) for child in children(forest, tree, node)), default=0)


def is_sound(arrays: dict[str, Any]) -> bool:
    """Whether arrays of thresholds and leaves alone are a forest: the invariants of nodes and links, one by one."""
    for start, end, n_leaves in zip(
        arrays["tree_start"][:-1].tolist(),
        arrays["tree_start"][1:].tolist(),
        np.diff(arrays["leaf_start"]).tolist(),
        strict=True,
    ):
        n_parents, leaf = [0] * (end - start), 0
        for node in range(end - start):
            at = {name: arrays[name][start + node].item() for name in _PER_NODE}
            if at["kind"] not in (NodeKind.LEAF, NodeKind.THRESHOLD) or at["missing"] > max(MissingPolicy):
                return False
            if not 0 <= at["weight"] < math.inf or at["payload"] != -1:
                return False
            if at["kind"] == NodeKind.LEAF:
                if at["feature"] != -1 or at["missing"] != MissingPolicy.SPREAD or not math.isnan(at["threshold"]):
                    return False
                if at["first_child"] != leaf:
                    return False
                leaf += 1
                continue
            n = 2 + (at["missing"] == MissingPolicy.OWN_BRANCH)
            if not 0 <= at["feature"] < arrays["n_features"] or not at["threshold"] > -math.inf:
                return False
            if not node < at["first_child"] <= end - start - n:
                return False
            for child in range(at["first_child"], at["first_child"] + n):
                n_parents[child] += 1
        if leaf != n_leaves or n_parents != [0] + [1] * (end - start - 1):
            return False
    return True


# -- one row down one tree


def answer(forest: Forest, node: int, x: NDArray[np.float64]) -> int | None:
    """The number of the child that the row's value leads to, or None where it has no answer."""
    kind, at = forest.kind[node], float(forest.threshold[node])
    if kind == NodeKind.OBLIQUE:
        values = [float(x[forest.payload_codes[i]]) for i in payload(forest, node)]
        if forest.payload_means is not None and not all(map(math.isnan, values)):
            means = [float(forest.payload_means[i]) for i in payload(forest, node)]
            values = [mean if math.isnan(value) else value for value, mean in zip(values, means, strict=True)]
        total = 0.0
        for i, value in zip(payload(forest, node), values, strict=True):
            total += float(forest.payload_weights[i]) * value
        return None if math.isnan(total) else int(not total <= at)
    value = float(x[forest.feature[node]])
    if math.isnan(value):
        return None
    if kind == NodeKind.THRESHOLD:
        return int(not value <= at)
    if kind == NodeKind.ONE_AGAINST_REST:  # "every other" also takes what is no code
        return int(value != at)
    entries = [int(forest.payload_codes[i]) for i in payload(forest, node)]
    if kind == NodeKind.SUBSET:
        in_first = {32 * w + b: word >> b & 1 for w, word in enumerate(entries) for b in range(32)}
        return 1 - in_first[int(value)] if value in in_first else None
    child = dict(enumerate(entries)).get(value, -1)  # type: ignore[call-overload]  # 2.0 finds 2
    return None if child == -1 else child


def child_without_answer(forest: Forest, tree: int, node: int) -> int | None:
    """Where the node's policy sends a row that has no answer; None where it spreads it."""
    policy = forest.missing[node]
    if policy == MissingPolicy.SPREAD:
        return None
    return children(forest, tree, node)[0 if policy == MissingPolicy.FIRST_CHILD else -1]


def next_node(forest: Forest, tree: int, node: int, x: NDArray[np.float64]) -> int | None:
    number = answer(forest, node, x)
    return child_without_answer(forest, tree, node) if number is None else children(forest, tree, node)[number]


def route(forest: Forest, x: NDArray[np.float64], tree: int) -> int:
    """The number, within its tree, of the leaf that a row reaches; the heaviest child where it spreads."""
    node = int(forest.tree_start[tree])
    while forest.kind[node] != NodeKind.LEAF:
        child = next_node(forest, tree, node, x)
        if child is None:
            child = max(children(forest, tree, node), key=lambda c: forest.weight[c])  # the first of equals
        node = child
    return int(forest.first_child[node])


def spread(forest: Forest, x: NDArray[np.float64], tree: int) -> dict[int, float]:
    """{leaf number within the tree: weight}, leaves ascending; a weight of nothing is not listed."""
    reached: dict[int, float] = {}

    def descend(node: int, weight: float) -> None:
        if weight == 0:
            return
        if forest.kind[node] == NodeKind.LEAF:
            reached[int(forest.first_child[node])] = weight
            return
        child = next_node(forest, tree, node, x)
        if child is not None:
            descend(child, weight)
            return
        below = children(forest, tree, node)
        total = 0.0
        for one in below:
            total += float(forest.weight[one])
        for one in below:
            share = float(forest.weight[one]) / total if total > 0 else 1.0 / len(below)
            descend(one, share * weight)

    descend(int(forest.tree_start[tree]), 1.0)
    return dict(sorted(reached.items()))


# -- fold


def weighted_mean(rows: NDArray[np.float64], shares: dict[int, float], column: int) -> float:
    total = 0.0
    for leaf, share in shares.items():
        total += share * float(rows[leaf, column])
    return total


FOLDS = {
    "sum": lambda so_far, linked, weight: so_far + weight * linked,
    "min": lambda so_far, linked, weight: min(so_far, linked),
    "max": lambda so_far, linked, weight: max(so_far, linked),
}
LINKS: dict[str, Callable[[float], float]] = {
    "identity": lambda mean: mean,
    "log": math.log,
    "entropy": lambda mean: -mean * math.log2(mean) if mean > 0 else 0.0,
}
NEUTRAL = {"sum": 0.0, "min": math.inf, "max": -math.inf}


def fold(
    forest: Forest,
    X: NDArray[np.float64],
    values: NDArray[np.float64],
    links: Sequence[str],
    ops: Sequence[str],
    trees: tuple[int, int] | None = None,
    tree_weights: NDArray[np.float64] | None = None,
    skip: NDArray[np.bool_] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The fold of one table over trees, and how many trees took part. `skip` is a (n_trees, n_rows) mask."""
    first, last = (0, len(forest.tree_start) - 1) if trees is None else trees
    out = np.array([[NEUTRAL[op] for op in ops]] * len(X)).reshape(len(X), len(ops))
    n_used = np.zeros(len(X), dtype=np.int64)
    for i, x in enumerate(X):
        for tree in range(first, last):
            weight = 1.0 if tree_weights is None else float(tree_weights[tree])
            if weight == 0 or (skip is not None and skip[tree, i]):
                continue
            n_used[i] += 1
            rows = values[forest.leaf_start[tree] - forest.leaf_start[first] :]
            shares = spread(forest, x, tree)
            for column, (link, op) in enumerate(zip(links, ops, strict=True)):
                mean = weighted_mean(rows, shares, column)
                linked = LINKS[link](mean)
                out[i, column] = FOLDS[op](float(out[i, column]), linked, weight)
    return out, n_used


def distinct_rows(rows: NDArray[np.float64]) -> tuple[list[bytes], list[int]]:
    """The bits of rows without repetitions, in the order in which they come, and the number of each row's."""
    bits = [row.tobytes() for row in rows]
    distinct = list(dict.fromkeys(bits))
    return distinct, [distinct.index(row) for row in bits]


# -- randomness: Philox4x32-10 (Salmon et al. 2011) and the draws of core/base/random.hpp


def splitmix64(seed: int, k: int) -> int:
    """The k-th output of SplitMix64 (Steele, Lea, Flood 2014), by which random trees tell their nodes apart."""
    z = (seed + k * 0x9E3779B97F4A7C15) % 2**64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
    return z ^ z >> 31


def philox4x32(counter: Sequence[int], key: Sequence[int]) -> list[int]:
    c, k = list(counter), list(key)
    for _ in range(10):
        high_0, low_0 = divmod(0xD2511F53 * c[0], 1 << 32)
        high_1, low_1 = divmod(0xCD9E8D57 * c[2], 1 << 32)
        c = [high_1 ^ c[1] ^ k[0], low_1, high_0 ^ c[3] ^ k[1], low_0]
        k = [(k[0] + 0x9E3779B9) & MASK_32, (k[1] + 0xBB67AE85) & MASK_32]
    return c


def halves(x: int) -> list[int]:
    return [x & MASK_32, x >> 32]


def child_key(key: int, number: int) -> int:
    """Key of a node's child: the last counter word is 1 in keys and 0 in draws."""
    words = philox4x32([*halves(number), 0, 1], halves(key))
    return words[0] | words[1] << 32


def row_key(seed: int, cells: Sequence[float]) -> int:
    """The hash by which core/data/hold_out.cpp draws the order of rows; equal cells have equal bits."""
    key = child_key(seed, 1)
    for cell in cells:
        bits = 0x7FF8 << 48 if math.isnan(cell) else struct.unpack("<Q", struct.pack("<d", cell + 0.0))[0]
        key = splitmix64(key ^ bits, 0)
    return key


def draws(seed: int, path: Sequence[int]) -> Iterator[int]:
    """The 64-bit draws at a place, for ever."""
    key = seed
    for number in path:
        key = child_key(key, number)
    block = 0
    while True:
        words = philox4x32([*halves(block), 0, 0], halves(key))
        yield words[0] | words[1] << 32
        yield words[2] | words[3] << 32
        block += 1


def take(stream: Iterator[Any], n: int) -> list[Any]:
    return [next(stream) for _ in range(n)]


def random_bits(seed: int, path: Sequence[int], n: int) -> list[int]:
    return take(draws(seed, path), n)


def random_reals(seed: int, path: Sequence[int], n: int) -> list[float]:
    return [(bits >> 11) / 2**53 for bits in random_bits(seed, path, n)]


def random_below(seed: int, path: Sequence[int], n: int, bound: int) -> list[int]:
    """The lowest 2^64 mod bound draws are refused: what is left divides into whole runs of bound."""
    accepted = (bits % bound for bits in draws(seed, path) if bits >= 2**64 % bound)
    return take(accepted, n)
