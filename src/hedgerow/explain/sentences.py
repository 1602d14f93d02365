"""The path of a row down a tree, as sentences: one for each split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.columns import Kind
from hedgerow.data.table import Schema
from hedgerow.forest.forest import Forest
from hedgerow.forest.kinds import MissingPolicy, NodeKind
from hedgerow.forest.text import Names, branch_members, highest_level, linear_form, number_text

__all__ = ["dividing_branches", "listed", "mixture_lines", "path_nodes", "path_sentences", "percentages"]

Floats = NDArray[np.float64]

_AT_MOST = 5  # categories that a sentence names


def listed(words: list[str], last: str = "and", at_most: int = _AT_MOST) -> str:
    """Return "a, b and c"; of many words the first ones, and how many more."""
    if len(words) > at_most:
        return f"{', '.join(words[:at_most])} {last} {len(words) - at_most} more"
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


def percentages(shares: Sequence[float]) -> list[str]:
    """Round shares that add up to 1 to whole percents that add up to 100 (largest remainders).

    >>> percentages([1 / 3, 1 / 3, 1 / 3])
    ['34%', '33%', '33%']
    """
    exact = 100 * np.asarray(shares) / np.sum(shares)
    whole = np.floor(exact + 1e-9)
    n_up = round(100 - whole.sum())
    whole[np.argsort(whole - exact, kind="stable")[:n_up]] += 1
    return [f"{percent:.0f}%" for percent in whole]


def mixture_lines(shares: Sequence[float], texts: Sequence[str]) -> list[str]:
    """Return a line for each part of a mixture, with its share in front; the shares shown add up to 100%."""
    return [f"  {percent:>4}: {text}" for percent, text in zip(percentages(shares), texts, strict=True)]


def path_nodes(forest: Forest, leaf: int) -> list[int]:
    """Return the nodes from the root to a leaf (numbered over the whole forest), both included."""
    node = int(forest.leaf_nodes[leaf])
    nodes = [node]
    while (node := int(forest.parent[node])) >= 0:
        nodes.append(node)
    return nodes[::-1]


def path_sentences(forest: Forest, schema: Schema, leaf: int, row: Floats) -> tuple[str, ...]:
    """Return a sentence for each split on the path to a leaf that the row reaches.

    >>> from hedgerow import TreeClassifier
    >>> tree = TreeClassifier().fit([[1], [2], [3]], ["no", "yes", "yes"])
    >>> path_sentences(tree.forest_, tree.schema_, 1, np.array([3.0]))
    ('x0 is 3, above 1.5',)
    """
    nodes = path_nodes(forest, leaf)
    names = Names.of(forest, schema.names, None, [column.categories for column in schema.columns])
    return tuple(
        _sentence(_Split(forest, schema, names, node, child - _first_child(forest, node)), row)
        for node, child in pairwise(nodes)
    )


def dividing_branches(forest: Forest, schema: Schema, leaves: Sequence[int]) -> list[tuple[str, ...]]:
    """Return the branches that separate each of several leaves of a tree from the others: "bp at most 128"."""
    names = Names.of(forest, schema.names, None, [column.categories for column in schema.columns])
    paths = [path_nodes(forest, leaf) for leaf in leaves]
    taken: dict[int, set[int]] = {}
    for path in paths:
        for node, child in pairwise(path):
            taken.setdefault(node, set()).add(child)
    return [
        tuple(
            _condition(_Split(forest, schema, names, node, child - _first_child(forest, node)))
            for node, child in pairwise(path)
            if len(taken[node]) > 1
        )
        for path in paths
    ]


def _condition(split: _Split) -> str:
    if split.kind == NodeKind.THRESHOLD and split.threshold == np.inf:
        return f"{split.subject} {'missing' if split.child else 'known'}"
    n_children = int(split.forest.n_children[split.node])
    own_branch = split.forest.missing[split.node] == MissingPolicy.OWN_BRANCH
    if own_branch and split.child == n_children - 1:
        return f"{split.subject} missing"
    return f"{split.subject} {_branch(split)}"


def _first_child(forest: Forest, node: int) -> int:
    return int(forest.root[node] + forest.first_child[node])


@dataclass(frozen=True)
class _Split:
    """A node that splits, and the number of the child that is taken."""

    forest: Forest
    schema: Schema
    names: Names
    node: int
    child: int

    @property
    def kind(self) -> NodeKind:
        return NodeKind(self.forest.kind[self.node])

    @property
    def feature(self) -> int:
        return int(self.forest.feature[self.node])

    @property
    def threshold(self) -> float:
        return float(self.forest.threshold[self.node])

    @property
    def subject(self) -> str:
        oblique = self.kind == NodeKind.OBLIQUE
        return linear_form(self.forest, self.node, self.names) if oblique else self.names.features[self.feature]

    def value(self, row: Floats) -> float:
        if self.kind != NodeKind.OBLIQUE:
            return float(row[self.feature])
        payload = self._payload
        with np.errstate(over="ignore", invalid="ignore"):
            return float((row[self.forest.payload_codes[payload]] * self.forest.payload_weights[payload]).sum())

    @property
    def _payload(self) -> slice:
        begin, end = self.forest.payload_start[self.forest.payload[self.node] :][:2]
        return slice(int(begin), int(end))

    def has_branch_for(self, value: float) -> bool:
        """Whether the split has a branch for a value that is not missing."""
        if self.kind not in (NodeKind.MULTIWAY, NodeKind.SUBSET):
            return True
        codes = self.forest.payload_codes[self._payload]
        if not value.is_integer() or value < 0:
            return False
        if self.kind == NodeKind.SUBSET:
            return value < 32 * len(codes)
        return value < len(codes) and bool(codes[int(value)] >= 0)

    @property
    def levels(self) -> tuple[str, ...]:
        """Ordered categories that a threshold splits; empty for a column of numbers."""
        return self.names.categories[self.feature] if self.kind == NodeKind.THRESHOLD else ()

    @property
    def level(self) -> int | None:
        return highest_level(self.levels, self.threshold)

    @property
    def shares(self) -> list[float]:
        """Fraction of a spread row that takes each branch."""
        first = _first_child(self.forest, self.node)
        weights = self.forest.weight[first : first + self.forest.n_children[self.node]]
        total = float(weights.sum())
        return (weights / total).tolist() if total > 0 else [1 / len(weights)] * len(weights)


def _sentence(split: _Split, row: Floats) -> str:
    value = split.value(row)
    if np.isnan(value):
        nominal = split.feature >= 0 and split.schema.columns[split.feature].kind == Kind.NOMINAL
        return _sentence_without_value(split, f"{split.subject} is missing{' or new' * nominal}")
    if not split.has_branch_for(value):
        return _sentence_without_value(split, f"{split.subject} is {_value_text(split, value)}, new here")
    if split.kind == NodeKind.THRESHOLD and split.threshold == np.inf:
        return f"{split.subject} is known, {_value_text(split, value)}"
    branch = _branch(split, value)
    said = f"{split.subject} is {_value_text(split, value)}"
    return said if branch == _value_text(split, value) else f"{said}, {branch}"


def _sentence_without_value(split: _Split, said: str) -> str:
    policy = MissingPolicy(split.forest.missing[split.node])
    tests_presence = split.kind == NodeKind.THRESHOLD and split.threshold == np.inf
    if policy == MissingPolicy.OWN_BRANCH or tests_presence:
        return said
    if policy == MissingPolicy.SPREAD:
        return f"{said}: split {_shares_text(split)} (path: {_branch(split)})"
    return f"{said}, which follows the branch {_branch(split)}"


def _shares_text(split: _Split) -> str:
    shares = split.shares
    if len(shares) > _AT_MOST:
        return f"over {len(shares)} branches, {shares[split.child]:.0%} of it here"
    over = "both" if len(shares) == 2 else str(len(shares))
    return f"{' / '.join(percentages(shares))} over {over} branches"


def _branch(split: _Split, value: float | None = None) -> str:
    """Return the condition of the child that is taken: "at most 3", "red", "not red", "one of red and blue"."""
    if split.level == 0 and len(split.levels) == 2:
        return split.levels[split.child]
    if split.kind in (NodeKind.THRESHOLD, NodeKind.OBLIQUE):
        side = "above" if split.child else "at most"
        return f"{side} {_threshold_text(split, value)}"
    members = branch_members(split.forest, split.node, split.names, split.child)
    if members is not None:
        return members[0] if len(members) == 1 else f"one of {listed(members)}"
    others = branch_members(split.forest, split.node, split.names, 0) or []
    return f"not {others[0]}" if len(others) == 1 else f"none of {listed(others)}"


def _threshold_text(split: _Split, value: float | None) -> str:
    if split.level is not None:
        return split.levels[split.level]
    text = number_text(split.threshold)
    close = value is not None and value != split.threshold and number_text(value) == text
    return repr(split.threshold) if close else text


def _value_text(split: _Split, value: float) -> str:
    coded = bool(split.levels) or split.kind not in (NodeKind.THRESHOLD, NodeKind.OBLIQUE)
    if coded and value.is_integer() and value >= 0:
        return split.names.category(split.feature, int(value))
    text = number_text(value)
    close = value != split.threshold and number_text(split.threshold) == text
    return repr(value) if close else text
