"""The path of a row down a tree as sentences: what each split tests, and the value of the row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hedgerow.data.columns import Kind
from hedgerow.data.table import Schema
from hedgerow.forest.forest import Forest
from hedgerow.forest.kinds import MissingPolicy
from hedgerow.forest.names import Names, number_text
from hedgerow.forest.splits import Split

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
    """A sentence for each split on the path to a leaf that the row reaches.

    >>> from hedgerow import TreeClassifier
    >>> tree = TreeClassifier().fit([[1], [2], [3]], ["no", "yes", "yes"])
    >>> path_sentences(tree.forest_, tree.schema_, 1, np.array([3.0]))
    ('x0 is 3, above 1.5',)
    """
    nodes = path_nodes(forest, leaf)
    names = Names.of(forest, schema.names, None, [column.categories for column in schema.columns])
    return tuple(_sentence(_Branch.to(forest, node, child, schema, names), row) for node, child in pairwise(nodes))


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
            _condition(_Branch.to(forest, node, child, schema, names))
            for node, child in pairwise(path)
            if len(taken[node]) > 1
        )
        for path in paths
    ]


def _condition(branch: _Branch) -> str:
    if branch.split.is_missing_branch(branch.child):
        return f"{branch.about} missing"
    if branch.split.tests_presence:
        return f"{branch.about} known"
    return f"{branch.about} {_branch_text(branch)}"


@dataclass(frozen=True)
class _Branch:
    """A split, and the number of the child that is taken."""

    split: Split
    child: int
    schema: Schema
    names: Names

    @classmethod
    def to(cls, forest: Forest, node: int, child: int, schema: Schema, names: Names) -> _Branch:
        """The branch from a node to one of its children, both positions in the arrays of the forest."""
        split = Split(forest, node)
        return cls(split, split.children.index(child), schema, names)

    @property
    def about(self) -> str:
        return self.split.subject(self.names)


def _sentence(branch: _Branch, row: Floats) -> str:
    split = branch.split
    value = split.value(row)
    if np.isnan(value):
        nominal = split.feature >= 0 and branch.schema.columns[split.feature].kind == Kind.NOMINAL
        return _sentence_without_value(branch, f"{branch.about} is missing{' or new' * nominal}")
    if split.child_of(value) is None:
        return _sentence_without_value(branch, f"{branch.about} is {_value_text(branch, value)}, new here")
    if split.tests_presence:
        return f"{branch.about} is known, {_value_text(branch, value)}"
    text = _branch_text(branch, value)
    said = f"{branch.about} is {_value_text(branch, value)}{_means_text(branch, row)}"
    return said if text == _value_text(branch, value) else f"{said}, {text}"


def _means_text(branch: _Branch, row: Floats) -> str:
    """Which means stand in for missing values of an oblique split: " with the mean 3.2 for age"."""
    means, features = branch.split.means, branch.split.features
    if means is None or not (unknown := np.isnan(row[features])).any():
        return ""
    pairs = zip(means[unknown].tolist(), features[unknown].tolist(), strict=True)
    texts = [f"{number_text(float(f'{mean:.4g}'))} for {branch.names.features[feature]}" for mean, feature in pairs]
    return f" with the mean{'s' * (len(texts) > 1)} {listed(texts)}"


def _sentence_without_value(branch: _Branch, said: str) -> str:
    split = branch.split
    if split.missing == MissingPolicy.OWN_BRANCH or split.tests_presence:
        return said
    if split.missing == MissingPolicy.SPREAD:
        return f"{said}: split {_shares_text(branch)} (path: {_branch_text(branch)})"
    return f"{said}, which follows the branch {_branch_text(branch)}"


def _shares_text(branch: _Branch) -> str:
    shares = [branch.split.spread_share(child) for child in range(len(branch.split.children))]
    if len(shares) > _AT_MOST:
        return f"over {len(shares)} branches, {shares[branch.child]:.0%} of it here"
    over = "both" if len(shares) == 2 else str(len(shares))
    return f"{' / '.join(percentages(shares))} over {over} branches"


def _branch_text(branch: _Branch, value: float | None = None) -> str:
    """Condition of the child that is taken: "at most 3", "red", "not red", "one of red and blue"."""
    split, names = branch.split, branch.names
    levels = split.levels(names)
    if len(levels) == 2 and split.level(names) == 0:
        return levels[branch.child]
    if not split.is_nominal:
        side = "above" if branch.child else "at most"
        return f"{side} {_threshold_text(branch, value)}"
    members = split.categories_to(branch.child, names)
    if members is not None:
        return members[0] if len(members) == 1 else f"one of {listed(members)}"
    others = split.categories_to(0, names) or []
    return f"not {others[0]}" if len(others) == 1 else f"none of {listed(others)}"


def _threshold_text(branch: _Branch, value: float | None) -> str:
    split = branch.split
    if (level := split.level(branch.names)) is not None:
        return split.levels(branch.names)[level]
    text = number_text(split.threshold)
    close = value is not None and value != split.threshold and number_text(value) == text
    return repr(split.threshold) if close else text


def _value_text(branch: _Branch, value: float) -> str:
    split = branch.split
    coded = bool(split.levels(branch.names)) or split.is_nominal
    if coded and value.is_integer() and value >= 0:
        return branch.names.category(split.feature, int(value))
    text = number_text(value)
    close = value != split.threshold and number_text(split.threshold) == text
    return repr(value) if close else text
