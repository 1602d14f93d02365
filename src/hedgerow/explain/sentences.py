"""The way of a row down a tree, as sentences: what was asked, and what the row answered."""

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
    """ "a, b and c"; of many the first, and how many more."""
    if len(words) > at_most:
        return f"{', '.join(words[:at_most])} {last} {len(words) - at_most} more"
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} {last} {words[-1]}"


def percentages(shares: Sequence[float]) -> list[str]:
    """Whole percents of shares that add up to 1, rounded so that they add up to 100 (largest remainders).

    >>> percentages([1 / 3, 1 / 3, 1 / 3])
    ['34%', '33%', '33%']
    """
    exact = 100 * np.asarray(shares) / np.sum(shares)
    whole = np.floor(exact + 1e-9)
    n_up = round(100 - whole.sum())
    whole[np.argsort(whole - exact, kind="stable")[:n_up]] += 1
    return [f"{percent:.0f}%" for percent in whole]


def mixture_lines(shares: Sequence[float], texts: Sequence[str]) -> list[str]:
    """A line for each part of a mixture, with its share in front; the shares shown add up to 100%."""
    return [f"  {percent:>4}: {text}" for percent, text in zip(percentages(shares), texts, strict=True)]


def path_nodes(forest: Forest, leaf: int) -> list[int]:
    """The nodes from the root to a leaf (counted over the whole forest), both included."""
    node = int(forest.leaf_nodes[leaf])
    nodes = [node]
    while (node := int(forest.parent[node])) >= 0:
        nodes.append(node)
    return nodes[::-1]


def path_sentences(forest: Forest, schema: Schema, leaf: int, row: Floats) -> tuple[str, ...]:
    """A sentence for each question on the way to a leaf that the row reaches.

    >>> from hedgerow import TreeClassifier
    >>> tree = TreeClassifier().fit([[1], [2], [3]], ["no", "yes", "yes"])
    >>> path_sentences(tree.forest_, tree.schema_, 1, np.array([3.0]))
    ('x0 is 3, above 1.5',)
    """
    nodes = path_nodes(forest, leaf)
    names = Names.of(forest, schema.names, None, [column.categories for column in schema.columns])
    return tuple(
        _sentence(_Question(forest, schema, names, node, child - _first_child(forest, node)), row)
        for node, child in pairwise(nodes)
    )


def dividing_branches(forest: Forest, schema: Schema, leaves: Sequence[int]) -> list[tuple[str, ...]]:
    """For each of several leaves of a tree, the branches that tell it from the others: "bp at most 128"."""
    names = Names.of(forest, schema.names, None, [column.categories for column in schema.columns])
    paths = [path_nodes(forest, leaf) for leaf in leaves]
    taken: dict[int, set[int]] = {}
    for path in paths:
        for node, child in pairwise(path):
            taken.setdefault(node, set()).add(child)
    return [
        tuple(
            _condition(_Question(forest, schema, names, node, child - _first_child(forest, node)))
            for node, child in pairwise(path)
            if len(taken[node]) > 1
        )
        for path in paths
    ]


def _condition(question: _Question) -> str:
    if question.kind == NodeKind.THRESHOLD and question.threshold == np.inf:
        return f"{question.about} {'missing' if question.child else 'known'}"
    n_children = int(question.forest.n_children[question.node])
    own_branch = question.forest.missing[question.node] == MissingPolicy.OWN_BRANCH
    if own_branch and question.child == n_children - 1:
        return f"{question.about} missing"
    return f"{question.about} {_branch(question)}"


def _first_child(forest: Forest, node: int) -> int:
    return int(forest.root[node] + forest.first_child[node])


@dataclass(frozen=True)
class _Question:
    """A node, and the number of the child that is taken."""

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
    def about(self) -> str:
        oblique = self.kind == NodeKind.OBLIQUE
        return linear_form(self.forest, self.node, self.names) if oblique else self.names.features[self.feature]

    def value(self, row: Floats) -> float:
        if self.kind != NodeKind.OBLIQUE:
            return float(row[self.feature])
        place = self._payload
        with np.errstate(over="ignore", invalid="ignore"):
            return float((row[self.forest.payload_codes[place]] * self.forest.payload_weights[place]).sum())

    @property
    def _payload(self) -> slice:
        begin, end = self.forest.payload_start[self.forest.payload[self.node] :][:2]
        return slice(int(begin), int(end))

    def has_branch_for(self, value: float) -> bool:
        """Whether a value that is not missing is among those that the question knows."""
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
        """The ordered categories that a threshold divides; empty where it divides numbers."""
        return self.names.categories[self.feature] if self.kind == NodeKind.THRESHOLD else ()

    @property
    def level(self) -> int | None:
        return highest_level(self.levels, self.threshold)

    @property
    def share(self) -> float:
        """Fraction of a spread row that takes this branch."""
        first = _first_child(self.forest, self.node)
        weights = self.forest.weight[first : first + self.forest.n_children[self.node]]
        total = float(weights.sum())
        return float(weights[self.child]) / total if total > 0 else 1 / len(weights)


def _sentence(question: _Question, row: Floats) -> str:
    value = question.value(row)
    if np.isnan(value):
        nominal = question.feature >= 0 and question.schema.columns[question.feature].kind == Kind.NOMINAL
        return _sentence_without_answer(question, f"{question.about} is missing{' or new' * nominal}")
    if not question.has_branch_for(value):
        return _sentence_without_answer(question, f"{question.about} is {_value_text(question, value)}, new here")
    if question.kind == NodeKind.THRESHOLD and question.threshold == np.inf:
        return f"{question.about} is known, {_value_text(question, value)}"
    branch = _branch(question, value)
    said = f"{question.about} is {_value_text(question, value)}"
    return said if branch == _value_text(question, value) else f"{said}, {branch}"


def _sentence_without_answer(question: _Question, said: str) -> str:
    policy = MissingPolicy(question.forest.missing[question.node])
    asks_whether_known = question.kind == NodeKind.THRESHOLD and question.threshold == np.inf
    if policy == MissingPolicy.OWN_BRANCH or asks_whether_known:
        return said
    if policy == MissingPolicy.SPREAD:
        return f"{said}: {question.share:.0%} of it goes where {question.about} is {_branch(question)}"
    return f"{said}, which goes with {_branch(question)}"


def _branch(question: _Question, value: float | None = None) -> str:
    """What leads to the child that is taken: "at most 3", "red", "not red", "one of red and blue"."""
    if question.level == 0 and len(question.levels) == 2:
        return question.levels[question.child]
    if question.kind in (NodeKind.THRESHOLD, NodeKind.OBLIQUE):
        side = "above" if question.child else "at most"
        return f"{side} {_threshold_text(question, value)}"
    members = branch_members(question.forest, question.node, question.names, question.child)
    if members is not None:
        return members[0] if len(members) == 1 else f"one of {listed(members)}"
    others = branch_members(question.forest, question.node, question.names, 0) or []
    return f"not {others[0]}" if len(others) == 1 else f"none of {listed(others)}"


def _threshold_text(question: _Question, value: float | None) -> str:
    if question.level is not None:
        return question.levels[question.level]
    text = number_text(question.threshold)
    close = value is not None and value != question.threshold and number_text(value) == text
    return repr(question.threshold) if close else text


def _value_text(question: _Question, value: float) -> str:
    coded = bool(question.levels) or question.kind not in (NodeKind.THRESHOLD, NodeKind.OBLIQUE)
    if coded and value.is_integer() and value >= 0:
        return question.names.category(question.feature, int(value))
    text = number_text(value)
    close = value != question.threshold and number_text(question.threshold) == text
    return repr(value) if close else text
