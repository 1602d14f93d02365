"""A tree as readable text: one line per branch, with the prediction after a colon at a leaf."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hedgerow.forest.kinds import NodeKind
from hedgerow.forest.names import Names, highest_level, number_text
from hedgerow.forest.splits import Split

if TYPE_CHECKING:
    from hedgerow.forest.forest import Forest

__all__ = ["Names", "highest_level", "number_text", "tree_text"]

_INDENT = "|   "


def tree_text(
    forest: Forest, tree: int, names: Names, max_depth: int | None, leaf_answers: Sequence[str] | None = None
) -> str:
    """One tree, a line per branch; `leaf_answers` replace the majority class of each leaf of the forest."""
    if not 0 <= tree < forest.n_trees:
        raise ValueError(f"tree is {tree}, this forest has trees 0 .. {forest.n_trees - 1}")
    root = int(forest.tree_start[tree])
    totals = forest.node_counts() if forest.leaf_counts is not None else forest.node_stats()
    if forest.kind[root] == NodeKind.LEAF:
        return _leaf_answer(forest, names, totals, root, leaf_answers)
    if max_depth == 0:
        return _answer(forest, names, totals[root])
    lines = []
    stack = [(root, 0, _branches(forest, root, names))]
    while stack:
        node, depth, branches = stack[-1]
        try:
            number, condition = next(branches)
        except StopIteration:
            stack.pop()
            continue
        child = root + int(forest.first_child[node]) + number
        line = _INDENT * depth + condition
        if forest.kind[child] == NodeKind.LEAF:
            lines.append(f"{line}: {_leaf_answer(forest, names, totals, child, leaf_answers)}")
        elif max_depth is not None and depth + 1 >= max_depth:
            lines.append(f"{line}: … {_answer(forest, names, totals[child])}")
        else:
            lines.append(line)
            stack.append((child, depth + 1, _branches(forest, child, names)))
    return "\n".join(lines)


def _leaf_answer(
    forest: Forest, names: Names, totals: NDArray[np.float64], leaf: int, answers: Sequence[str] | None
) -> str:
    """An empty leaf predicts like its nearest ancestor that has rows."""
    if answers is not None:
        return f"{answers[int(np.searchsorted(forest.leaf_nodes, leaf))]} ({_counts(names, totals[leaf])})"
    if totals[leaf].any() or forest.leaf_counts is None:
        return _answer(forest, names, totals[leaf])
    node = leaf
    while not totals[node].any() and forest.parent[node] >= 0:
        node = int(forest.parent[node])
    return f"{names.classes[int(np.argmax(totals[node]))]} (no rows)"


def _answer(forest: Forest, names: Names, total: NDArray[np.float64]) -> str:
    if forest.leaf_counts is None:
        weight, mean, squares = total
        with np.errstate(over="ignore"):
            spread = np.sqrt(squares / weight) if weight > 0 else 0.0
        return f"{number_text(mean)} ± {number_text(spread)} (n = {number_text(weight)})"
    return f"{names.classes[int(np.argmax(total))]} ({_counts(names, total)})"


def _counts(names: Names, total: NDArray[np.float64]) -> str:
    counts = ", ".join(f"{name} {number_text(n)}" for name, n in zip(names.classes, total, strict=True) if n > 0)
    return counts or "no rows"


def _branches(forest: Forest, node: int, names: Names) -> Iterator[tuple[int, str]]:
    """Number and condition of each child of a node."""
    return enumerate(Split(forest, node).branch_texts(names))
