"""The leaves of a single tree that a row reaches: one, or several with weights, where it is spread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._printable import printable
from hedgerow.data.table import Schema
from hedgerow.explain.sentences import dividing_branches, mixture_lines
from hedgerow.forest.forest import Forest
from hedgerow.forest.names import number_text

__all__ = [
    *("ClassLeaf", "NumberLeaf", "class_leaves", "class_mixture_lines", "counts_text", "heaviest_leaf"),
    *("number_leaves", "number_mixture_lines"),
]

Floats = NDArray[np.float64]

_MOST_LEAVES = 5  # that a text lists
_LEAST_WEIGHT = 0.005  # below it a text would list 0%


@dataclass(frozen=True)
class ClassLeaf:
    """A leaf of a classification tree that a row reaches."""

    number: int
    weight: float
    """The fraction of the row that is in it; those of a row add up to 1."""
    branches: tuple[str, ...]
    """The branches that tell it from the other leaves that the row reaches; empty of a single one."""
    counts: tuple[float, ...]
    probabilities: tuple[float, ...] | None
    """Its answer; None where a rule works on the counts themselves."""


@dataclass(frozen=True)
class NumberLeaf:
    """A leaf of a regression tree that a row reaches."""

    number: int
    weight: float
    """The fraction of the row that is in it; those of a row add up to 1."""
    branches: tuple[str, ...]
    """The branches that tell it from the other leaves that the row reaches; empty of a single one."""
    mean: float
    deviation: float
    """Standard deviation of the training targets in it."""
    n_rows: float


def heaviest_leaf(forest: Forest, leaves: NDArray[np.int64]) -> int:
    """Leaf that :func:`hedgerow.walk.route` finds for a row of a single tree that reaches these leaves.

    Where they part, the row follows the branch with most training weight, the first of equals.
    """
    paths = [_nodes_to(forest, int(node)) for node in forest.leaf_nodes[leaves]]
    depth = 1
    while len(paths) > 1:
        branches = [path[depth] for path in paths]
        heaviest = max(dict.fromkeys(sorted(branches)), key=lambda node: forest.weight[node])
        paths = [path for path, branch in zip(paths, branches, strict=True) if branch == heaviest]
        depth += 1
    return int(np.searchsorted(forest.leaf_nodes, paths[0][-1]))


def _nodes_to(forest: Forest, node: int) -> list[int]:
    """Nodes from the root to this one."""
    path = []
    while node >= 0:
        path.append(node)
        node = int(forest.parent[node])
    return path[::-1]


def class_leaves(
    forest: Forest, schema: Schema, numbers: NDArray[Any], weights: Floats, probabilities: Floats | None
) -> tuple[ClassLeaf, ...]:
    """The leaves with these numbers, the heaviest first; `probabilities` has a row for each number."""
    order = np.argsort(-weights, kind="stable")
    branches = dividing_branches(forest, schema, numbers[order].tolist())
    counts = forest.counts
    return tuple(
        ClassLeaf(
            int(numbers[i]),
            float(weights[i]),
            branch,
            tuple(counts[numbers[i]].tolist()),
            None if probabilities is None else tuple(probabilities[i].tolist()),
        )
        for i, branch in zip(order.tolist(), branches, strict=True)
    )


def number_leaves(forest: Forest, schema: Schema, numbers: NDArray[Any], weights: Floats) -> tuple[NumberLeaf, ...]:
    """The leaves with these numbers, the heaviest first."""
    order = np.argsort(-weights, kind="stable")
    branches = dividing_branches(forest, schema, numbers[order].tolist())
    found = []
    for i, branch in zip(order.tolist(), branches, strict=True):
        n_rows, mean, squares = forest.stats[numbers[i]].tolist()
        deviation = float(np.sqrt(squares / n_rows)) if n_rows > 0 else 0.0
        found.append(NumberLeaf(int(numbers[i]), float(weights[i]), branch, mean, deviation, n_rows))
    return tuple(found)


def class_mixture_lines(leaves: Sequence[ClassLeaf], classes: Sequence[Any], code: int) -> list[str]:
    """One line per leaf of a mixture: its weight, its branches, and its answer for the class numbered `code`."""
    shown = _shown(leaves)
    rest = leaves[len(shown) :]
    texts = [f"{', '.join(leaf.branches)}: {_class_text(leaf, classes, code)}" for leaf in shown]
    return _with_rest(leaves, texts, _mean_text(rest, printable(classes[code]), code))


def number_mixture_lines(leaves: Sequence[NumberLeaf]) -> list[str]:
    """One line per leaf of a mixture: its weight, its branches, and its training targets."""
    shown = _shown(leaves)
    rest = leaves[len(shown) :]
    texts = [f"{', '.join(leaf.branches)}: {_number_text(leaf)}" for leaf in shown]
    weight = sum(leaf.weight for leaf in rest)
    mean = sum(leaf.weight * leaf.mean for leaf in rest) / weight if weight > 0 else 0.0
    return _with_rest(leaves, texts, f": {number_text(mean)}")


def counts_text(classes: Sequence[Any], counts: Sequence[float]) -> str:
    """Class counts above 0, the largest first: "12 ill, 3 well"."""
    pairs = sorted(((n, printable(name)) for name, n in zip(classes, counts, strict=True) if n > 0), reverse=True)
    return ", ".join(f"{number_text(n)} {name}" for n, name in pairs) or "none"


def _shown(leaves: Sequence[Any]) -> list[Any]:
    return [leaf for leaf in leaves[:_MOST_LEAVES] if leaf.weight >= _LEAST_WEIGHT]


def _with_rest(leaves: Sequence[ClassLeaf] | Sequence[NumberLeaf], texts: list[str], of_rest: str) -> list[str]:
    weights = [leaf.weight for leaf in leaves[: len(texts)]]
    n_rest = len(leaves) - len(texts)
    rest = sum(leaf.weight for leaf in leaves[len(texts) :])
    if rest >= _LEAST_WEIGHT:
        weights.append(rest)
        texts = [*texts, f"{n_rest} other {'leaf' if n_rest == 1 else 'leaves'}{of_rest}"]
    return mixture_lines(weights, texts)


def _class_text(leaf: ClassLeaf, classes: Sequence[Any], code: int) -> str:
    counts = counts_text(classes, leaf.counts)
    if leaf.probabilities is None:
        return counts
    return f"{printable(classes[code])} {leaf.probabilities[code]:.3g} (training rows: {counts})"


def _mean_text(rest: Sequence[ClassLeaf], name: str, code: int) -> str:
    known = [(leaf.weight, leaf.probabilities[code]) for leaf in rest if leaf.probabilities is not None]
    weight = sum(one for one, _ in known)
    return f": {name} {sum(one * p for one, p in known) / weight:.3g}" if weight > 0 else ""


def _number_text(leaf: NumberLeaf) -> str:
    rows = f"{number_text(leaf.n_rows)} training row{'s' * (leaf.n_rows != 1)}"
    return f"{number_text(leaf.mean)} ± {number_text(leaf.deviation)} ({rows})"
