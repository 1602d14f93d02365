"""Choice of the column to measure next: the one expected to remove most doubt for its cost.

If a row's value in a column is not known, it may be in several leaves: let it take every branch for known values with
the share of the training weight that went down it, whatever the tree does with missing values in a prediction. A leaf
whose path splits on the column says within which bounds the value would have to be there, and its weight how likely
that is. So the value has the distribution

    P(cell) ∝ Σ over such leaves of weight · length(cell) / length(bounds of the leaf)   for cells within the bounds,

where cells lie between neighbouring thresholds of the forest and are cut off at the training range; categories have the
length 1. In each cell every tree takes the same branches, so that one value of each stands for all of it: the doubt
that is left in a cell is exact, other missing values staying missing, and the expected doubt is its mean over P.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow._printable import printable
from hedgerow.data.table import Schema
from hedgerow.forest.forest import Forest
from hedgerow.forest.kinds import MissingPolicy, NodeKind
from hedgerow.forest.splits import Split
from hedgerow.walk import spread

__all__ = ["NextQuestion", "Question", "Values", "values_of_columns"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Question:
    """A column that could be measured."""

    column: str
    expected: float
    """Doubt that is left on average once its value is known."""
    gain: float
    """Doubt that this takes away."""
    cost: float

    @property
    def gain_per_cost(self) -> float:
        return self.gain / self.cost


@dataclass(frozen=True)
class NextQuestion:
    """Columns that could be measured next, the most worth its cost first; none where nothing of use is missing.

    `measure` is what counts as doubt: "entropy" in bits, "set_size" or "variance"; `doubt` is that of the row now.
    """

    ranked: tuple[Question, ...]
    doubt: float
    measure: str

    @property
    def column(self) -> str | None:
        """The column to measure; None where nothing that is missing would change the answer."""
        return self.ranked[0].column if self.ranked else None

    def __str__(self) -> str:
        if not self.ranked:
            return "Nothing that is missing would change the answer."
        unit = {"entropy": " bits", "set_size": "", "variance": ""}[self.measure]
        return "\n".join(
            [
                f"{self.measure.replace('_', ' ')} now: {self.doubt:.3g}{unit}",
                *(
                    f"  {printable(one.column)}: {one.expected:.3g}{unit} expected, cost {one.cost:.3g}"
                    for one in self.ranked
                ),
            ]
        )


@dataclass(frozen=True, eq=False)
class Values:
    """Values that a column may turn out to have, one for each cell, and their probabilities."""

    values: Floats
    probabilities: Floats
    lower: Floats
    """Edges of the cells, lower < value ≤ upper; the codes themselves of categories."""
    upper: Floats


def values_of_columns(
    forest: Forest, schema: Schema, ranges: Floats | None, row: Floats, columns: list[int]
) -> dict[int, Values]:
    """Distribution of the value of each of these columns that a row lacks; columns that no path splits on are left out.

    `ranges` are those of the training data, (n_features, 2), or None.
    """
    leaves, weights = _leaves_by_training_weight(forest, row)
    found = {}
    for column in columns:
        cells = _cells(forest, schema, ranges, column)
        allowed = _allowed(forest, leaves, column, *cells)
        lengths = cells[2]
        total = allowed @ lengths
        asked = (allowed < 1).any(axis=1) & (total > 0)
        if not asked.any():
            continue
        density = (weights[asked] / total[asked]) @ allowed[asked]
        shares = density * lengths
        some = shares > 0
        lower = cells[0] if schema.columns[column].categories else np.append(-np.inf, cells[0][:-1])
        found[column] = Values(cells[1][some], shares[some] / shares.sum(), lower[some], cells[0][some])
    return found


def _leaves_by_training_weight(forest: Forest, row: Floats) -> tuple[NDArray[np.int64], Floats]:
    """Leaves that a row may be in and their weights; missing values take the branches of known ones by their weight."""
    splits = forest.kind != NodeKind.LEAF
    if (forest.missing[splits] == MissingPolicy.SPREAD).all() and (forest.threshold[splits] != np.inf).all():
        reached = spread(forest, row[np.newaxis])
        return reached.indices.astype(np.int64), reached.data
    leaf_of = np.cumsum(~splits) - 1
    waiting = [(int(root), 1.0) for root in forest.tree_start[:-1][::-1]]
    leaves, weights = [], []
    while waiting:
        node, weight = waiting.pop()
        if not splits[node]:
            leaves.append(int(leaf_of[node]))
            weights.append(weight)
            continue
        split = Split(forest, node)
        child = split.child_of(split.value(row))
        if child is not None:
            waiting.append((split.children[child], weight))
            continue
        known = [one for number, one in enumerate(split.children) if not split.is_missing_branch(number)]
        shares = forest.weight[known]
        shares = shares / shares.sum() if shares.sum() > 0 else np.full(len(known), 1 / len(known))
        waiting += [(one, weight * share) for one, share in zip(known, shares.tolist(), strict=True) if share > 0]
    return np.array(leaves, dtype=np.int64), np.array(weights)


def _cells(forest: Forest, schema: Schema, ranges: Floats | None, column: int) -> tuple[Floats, Floats, Floats]:
    """Upper edges, a value within, and lengths of the cells of a column, or its codes and 1 for each."""
    known = schema.columns[column]
    if known.categories:
        codes = np.arange(float(len(known.categories)))
        return codes, codes, np.ones(len(codes))
    thresholds = forest.threshold[(forest.feature == column) & (forest.kind == NodeKind.THRESHOLD)]
    thresholds = np.unique(thresholds[np.isfinite(thresholds)])
    if not len(thresholds):
        return np.array([np.inf]), np.zeros(1), np.ones(1)
    low, high = (np.nan, np.nan) if ranges is None else ranges[column]
    if not low < high:  # not known: half the span of the thresholds more at either end
        span = float(thresholds[-1] - thresholds[0]) or 1.0
        low, high = thresholds[0] - span / 2, thresholds[-1] + span / 2
    upper, lower = np.append(thresholds, np.inf), np.append(-np.inf, thresholds)
    inside = np.clip(upper, low, high), np.clip(lower, low, high)
    # The upper edge belongs to its cell; above the last threshold any value will do.
    value = np.append(thresholds, max(high, np.nextafter(thresholds[-1], np.inf)))
    return upper, value, inside[0] - inside[1]


def _allowed(
    forest: Forest, leaves: NDArray[np.int64], column: int, upper: Floats, values: Floats, lengths: Floats
) -> Floats:
    """1 where a value of a cell can lead to a leaf, as far as splits on the column tell, (n_leaves, n_cells)."""
    allowed = np.ones((len(leaves), len(upper)))
    child = forest.leaf_nodes[leaves]
    takes: dict[int, NDArray[np.int64]] = {}
    while (below := forest.parent[child] >= 0).any():
        node = np.where(below, forest.parent[child], child)
        about = below & (forest.feature[node] == column)
        by_threshold = np.flatnonzero(about & (forest.kind[node] == NodeKind.THRESHOLD))
        if len(by_threshold):
            nodes = node[by_threshold]
            number = child[by_threshold] - forest.root[nodes] - forest.first_child[nodes]
            first = values <= forest.threshold[nodes, np.newaxis]
            allowed[by_threshold] *= np.where(number[:, np.newaxis] == 0, first, ~first & (number[:, np.newaxis] == 1))
        for i in np.flatnonzero(about & (forest.kind[node] != NodeKind.THRESHOLD)):
            at = int(node[i])
            split = Split(forest, at)
            if at not in takes:
                takes[at] = np.array([_child(split, value) for value in values.tolist()])
            number_of_child = split.children.index(int(child[i]))
            # A value without a branch of its own is spread over all.
            allowed[i] *= (takes[at] == number_of_child) | (takes[at] < 0)
        child = node
    return allowed


def _child(split: Split, value: float) -> int:
    child = split.child_of(value)
    return -1 if child is None else child
