"""Content of a picture of a tree: nodes with their texts and figures, parts of large trees collapsed."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._params import is_whole
from hedgerow.forest.kinds import NodeKind
from hedgerow.forest.names import Names, number_text
from hedgerow.forest.splits import Split

if TYPE_CHECKING:
    from hedgerow.forest.forest import Forest
    from hedgerow.walk.quantiles import LeafSamples

__all__ = ["AUTO_DEPTH", "AUTO_LEAVES", "N_BINS", "Highlight", "Subject", "TreeView", "ViewNode", "view_tree"]

Floats = NDArray[np.float64]

N_BINS = 24
"""Bars of the histogram of a node."""
AUTO_LEAVES, AUTO_DEPTH = 60, 12
"""Ends of branches, and splits above each other, that a picture shows by default."""
_FAINTEST = 0.005  # of a highlighted row: less of it is not shown
_MOST_SUMMANDS = 2  # of an oblique split whose whole sum is written
_MOST_BRANCHES = 16  # of one node, before its lightest are drawn as one


@dataclass(frozen=True)
class Subject:
    """A tree of a fitted model, with its names.

    Parameters
    ----------
    forest : Forest
        The fitted trees.
    tree : int
        Number of the tree, from 0.
    names : Names
        Names of columns, categories and classes.

    Raises
    ------
    ValueError
        If the forest has no such tree.

    Examples
    --------
    >>> from hedgerow import TreeRegressor
    >>> from hedgerow.drawing import Subject, view_tree
    >>> from hedgerow.forest.names import Names
    >>> tree = TreeRegressor(max_leaf_nodes=2).fit([[1], [2], [3]], [10, 10, 40])
    >>> subject = Subject(tree.forest_, 0, Names.of(tree.forest_, ["age"], None, None), [])
    >>> view_tree(subject).nodes[0].subject
    'age'
    """

    forest: Forest
    tree: int
    names: Names
    answers: Sequence[str]
    """Answer of each leaf of the forest; empty: the mean of a regression leaf."""
    errors: Sequence[str] = ()
    """Of trees for inputs with error: size of the error of each column, such as "± 0.3"; empty where exact."""
    targets: LeafSamples | None = None
    """Training targets of the leaves of a regression forest, where they are known."""

    def __post_init__(self) -> None:
        n_trees = self.forest.n_trees
        if not 0 <= self.tree < n_trees:
            raise ValueError(f"tree is {self.tree}, this forest has trees 0 .. {n_trees - 1}")


@dataclass(frozen=True)
class Highlight:
    """A row whose path is shown.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow import TreeRegressor
    >>> from hedgerow.drawing import Highlight, Subject, view_tree
    >>> from hedgerow.forest.names import Names
    >>> tree = TreeRegressor(max_leaf_nodes=2).fit([[1], [2], [3]], [10, 10, 40])
    >>> subject = Subject(tree.forest_, 0, Names.of(tree.forest_, ["age"], None, None), [])
    >>> row = Highlight(np.array([0.0, 1.0]), ["2.9"], np.array([2.9]))
    >>> [node.weight for node in view_tree(subject, highlight=row).nodes]
    [1.0, 0.0, 1.0]
    """

    weights: Floats
    """Weight with which it reaches each leaf of the forest, (n_leaves,)."""
    values: Sequence[str]
    """Its value in each column."""
    row: Floats
    """The numbers and codes of its values."""


@dataclass
class ViewNode:
    """One block of the picture.

    Parameters
    ----------
    answer : str
        Class, or mean, of the node.
    children : list[int]
        Positions of its children in the view; none of a leaf, or where it is cut off.

    Examples
    --------
    >>> from hedgerow import TreeClassifier
    >>> from hedgerow.drawing import Subject, view_tree
    >>> from hedgerow.forest.names import Names
    >>> tree = TreeClassifier().fit([[1], [2], [2]], ["no", "yes", "yes"])
    >>> subject = Subject(tree.forest_, 0, Names.of(tree.forest_, ["x"], tree.classes_, None), ["no", "yes"])
    >>> node = view_tree(subject).nodes[2]
    >>> node.condition, node.answer, round(node.share, 2)
    ('> 1.5', 'yes', 0.67)
    """

    number: int
    """Node of the forest; -1 for several branches drawn as one."""
    condition: str
    """Of the branch that leads here; empty at the root."""
    subject: str
    """Text of its split; empty where the branch ends."""
    answer: str
    totals: Floats
    """Class counts; of regression trees weight, mean and sum of squared deviations."""
    share: float
    """Part of the tree's rows."""
    histogram: Floats | None = None
    """Weight of the training targets in `N_BINS` parts of their range, of a regression tree that knows them."""
    hidden: int = 0
    """Leaves below that are not drawn."""
    weight: float = 0.0
    """Fraction of the highlighted row that comes here."""
    value: str = ""
    """Of the highlighted row, in the column that is split."""
    formula: str = ""
    """The sum that an oblique split of many columns tests; `subject` is the heaviest of them."""
    n_more: int = 0
    """How many they are beside it."""
    children: list[int] = field(default_factory=list)

    @property
    def is_end(self) -> bool:
        return not self.children


@dataclass(frozen=True)
class TreeView:
    """Nodes of a picture, parents before children; the first is the root.

    Parameters
    ----------
    nodes : list[ViewNode]
        The blocks.
    n_leaves : int
        Leaves of the whole tree.
    is_highlighted : bool
        Whether the path of a row is drawn.
    subject : Subject
        The tree that it is a picture of.

    Examples
    --------
    >>> from hedgerow import TreeClassifier
    >>> from hedgerow.drawing import Subject, view_tree
    >>> from hedgerow.forest.names import Names
    >>> tree = TreeClassifier.cart().fit([[1], [2], [3]], ["a", "b", "a"])
    >>> subject = Subject(tree.forest_, 0, Names.of(tree.forest_, ["x"], tree.classes_, None), ["a", "b", "a"])
    >>> view = view_tree(subject, max_depth=1)
    >>> view.n_ends, view.n_leaves, view.is_whole
    (2, 3, False)
    """

    nodes: list[ViewNode]
    classes: tuple[str, ...]
    """Names of the classes; empty for a regression tree."""
    n_leaves: int
    is_highlighted: bool
    subject: Subject
    range: tuple[float, float] | None = None
    """Least and largest training target in the histograms; None where there are none."""

    @property
    def n_ends(self) -> int:
        return sum(node.is_end for node in self.nodes)

    @property
    def is_whole(self) -> bool:
        return not any(node.hidden for node in self.nodes)


def view_tree(
    subject: Subject, *, max_depth: int | str | None = "auto", highlight: Highlight | None = None
) -> TreeView:
    """Choose what to draw of a tree.

    Parameters
    ----------
    subject : Subject
        The tree and its names.
    max_depth : int, None or "auto", default="auto"
        Draw splits above this depth. None: all. "auto": those that most rows meet, until the picture has `AUTO_LEAVES`
        ends, and at most `AUTO_DEPTH` above each other; so all of a tree that has no more.
    highlight : Highlight or None, default=None
        Row to show; with "auto" its whole path is drawn.

    Returns
    -------
    TreeView
        Nodes to draw, with what stands in each.

    Raises
    ------
    ValueError
        If `max_depth` is not a whole number of at least 0, None or "auto".

    Examples
    --------
    >>> from hedgerow import TreeClassifier
    >>> from hedgerow.drawing import Subject, view_tree
    >>> from hedgerow.forest.names import Names
    >>> tree = TreeClassifier().fit([[1], [2]], ["no", "yes"])
    >>> view = view_tree(Subject(tree.forest_, 0, Names.of(tree.forest_, ["x"], tree.classes_, None), ["no", "yes"]))
    >>> [node.answer for node in view.nodes if node.is_end]
    ['no', 'yes']
    """
    if not (max_depth is None or max_depth == "auto" or _is_depth(max_depth)):
        raise ValueError(f"max_depth is {max_depth!r}, must be a whole number of at least 0, None or 'auto'")
    return _Viewer(subject, highlight).view(max_depth)


def _is_depth(given: Any) -> bool:
    return is_whole(given) and int(given) >= 0


class _Viewer:
    def __init__(self, subject: Subject, highlight: Highlight | None) -> None:
        forest = subject.forest
        self.subject, self.forest, self.highlight = subject, forest, highlight
        self.root, self.end = (int(at) for at in forest.tree_start[subject.tree : subject.tree + 2])
        self.is_regression = forest.leaf_counts is None
        totals = forest.node_stats() if self.is_regression else forest.node_counts()
        self.totals = totals
        self.rows = totals[:, 0] if self.is_regression else totals.sum(axis=1)
        leaves = np.zeros(forest.n_nodes, dtype=np.int64)
        leaves[forest.leaf_nodes] = 1
        for node in range(self.end - 1, self.root, -1):
            leaves[forest.parent[node]] += leaves[node]
        self.leaves = leaves
        self.reached = np.zeros(forest.n_nodes)
        if highlight is not None:
            self.reached[forest.leaf_nodes] = highlight.weights
            for node in range(self.end - 1, self.root, -1):
                self.reached[forest.parent[node]] += self.reached[node]
            self.reached[self.reached < _FAINTEST] = 0.0
        self.range: tuple[float, float] | None = None
        self.histograms = None if subject.targets is None or not self.is_regression else self._histograms()

    def _histograms(self) -> Floats:
        """Weight of the targets in each part of their range, for each node of the tree, (n_nodes, N_BINS)."""
        samples, forest = self.subject.targets, self.forest
        assert samples is not None
        first, last = (int(at) for at in forest.leaf_start[self.subject.tree : self.subject.tree + 2])
        part = slice(int(samples.start[first]), int(samples.start[last]))
        sizes = np.diff(samples.start[first : last + 1])
        leaf = np.repeat(np.arange(last - first), sizes)
        targets = samples.values[samples.ranks[part]]
        shares = samples.shares[part] if samples.shares.size else 1.0 / sizes[leaf]
        low, high = float(targets.min()), float(targets.max())
        self.range = (low, high)
        span = high - low
        scaled = (targets - low) / span * N_BINS if span > 0 else np.full(len(targets), N_BINS / 2)
        bins = np.minimum(scaled.astype(np.intp), N_BINS - 1)
        found = np.zeros((self.end - self.root, N_BINS))
        nodes = forest.leaf_nodes[first:last] - self.root
        np.add.at(found, (nodes[leaf], bins), shares * self.rows[nodes + self.root][leaf])
        for node in range(self.end - self.root - 1, 0, -1):
            found[forest.parent[self.root + node] - self.root] += found[node]
        return found

    def view(self, max_depth: int | str | None) -> TreeView:
        budget = AUTO_LEAVES if max_depth == "auto" else None
        shown = self._within(budget) if budget is not None else self._above(max_depth)
        nodes = [self._node(self.root, "")]
        waiting = [0]
        for at in waiting:
            node = nodes[at].number
            if node not in shown:
                continue
            split = Split(self.forest, node)
            self._describe_split(nodes[at], split)
            conditions = split.conditions(self.subject.names)
            apart, together = self._branches(split, budget is not None)
            for child in apart:
                nodes[at].children.append(len(nodes))
                waiting.append(len(nodes))
                nodes.append(self._node(child, self._condition(split, conditions[child - split.children.start])))
            if together:
                nodes[at].children.append(len(nodes))
                nodes.append(self._merged(together))
        names = () if self.is_regression else self.subject.names.classes
        whole = int(self.leaves[self.root])
        return TreeView(nodes, names, whole, self.highlight is not None, self.subject, self.range)

    # -- which nodes

    def _above(self, max_depth: Any) -> set[int]:
        shown, level, depth = set[int](), [self.root], 0
        while level and (max_depth is None or depth < max_depth):
            inner = [node for node in level if self.forest.kind[node] != NodeKind.LEAF]
            shown.update(inner)
            level = [child for node in inner for child in Split(self.forest, node).children]
            depth += 1
        return shown

    def _within(self, budget: int) -> set[int]:
        """Inner nodes to draw so that at most `budget` branches end, those with most rows first."""
        shown, n_ends = set[int](), 1
        depths = self.forest.node_depths()
        heap = [self._urgency(self.root)]
        while heap:
            _, _, node = heapq.heappop(heap)
            if self.forest.kind[node] == NodeKind.LEAF:
                continue
            apart, together = self._branches(Split(self.forest, node), True)
            more = len(apart) + bool(together) - 1
            too_much = n_ends + more > budget or depths[node] >= AUTO_DEPTH
            if too_much and not self.reached[node] > 0 and node != self.root:
                continue
            shown.add(node)
            n_ends += more
            for child in apart:
                heapq.heappush(heap, self._urgency(child))
        return shown

    def _urgency(self, node: int) -> tuple[bool, float, int]:
        return (not self.reached[node] > 0, -float(self.rows[node]), node)

    def _branches(self, split: Split, merges: bool) -> tuple[list[int], list[int]]:
        """Children to draw apart, in order, and those to draw as one."""
        children = list(split.children)
        if not merges or len(children) <= _MOST_BRANCHES:
            return children, []
        first = sorted(children, key=self._urgency)[: _MOST_BRANCHES - 1]
        apart = [child for child in children if child in set(first) or self.reached[child] > 0]
        return apart, [child for child in children if child not in set(apart)]

    # -- what they say

    def _node(self, node: int, condition: str) -> ViewNode:
        hidden = 0 if self.forest.kind[node] == NodeKind.LEAF else int(self.leaves[node])
        return ViewNode(
            number=node,
            condition=condition,
            subject="",
            answer=self._answer(node),
            totals=self.totals[node],
            share=self._share(float(self.rows[node])),
            histogram=None if self.histograms is None else self.histograms[node - self.root],
            hidden=hidden,
            weight=float(self.reached[node]),
        )

    def _describe_split(self, node: ViewNode, split: Split) -> None:
        node.subject, node.hidden = split.subject(self.subject.names), 0
        oblique = split.kind == NodeKind.OBLIQUE
        if oblique and len(split.features) > _MOST_SUMMANDS:
            in_its_unit = int(np.argmin(np.abs(np.abs(split.weights) - 1.0)))  # the one that counts most
            heaviest = split.features[in_its_unit]
            name = self.subject.names.features[heaviest]
            node.formula, node.subject, node.n_more = node.subject, name, len(split.features) - 1
        if self.highlight is not None and node.weight > 0:
            total = split.value(self.highlight.row)
            known = "missing" if total != total else number_text(total)
            node.value = known if oblique else self.highlight.values[split.feature]

    def _condition(self, split: Split, text: str) -> str:
        error = self.subject.errors[split.feature] if self.subject.errors and split.feature >= 0 else ""
        for plain, sign in (("<= ", "≤ "), (">= ", "≥ "), ("!= ", "≠ ")):
            if text.startswith(plain):
                text = sign + text.removeprefix(plain)
        return f"{text} {error}" if error and not split.is_nominal else text

    def _merged(self, children: list[int]) -> ViewNode:
        """Several branches of a node as one."""
        totals = self.totals[children]
        if self.is_regression:
            weight, mean, squares = totals.T
            total = float(weight.sum())
            centre = float(weight @ mean / total) if total > 0 else float(mean.mean())
            merged = np.array([total, centre, float((squares + weight * (mean - centre) ** 2).sum())])
        else:
            merged = totals.sum(axis=0)
        return ViewNode(
            number=-1,
            condition=f"{len(children)} other branches",
            subject="",
            answer=self._majority(merged),
            totals=merged,
            share=self._share(float(self.rows[children].sum())),
            histogram=None if self.histograms is None else self.histograms[np.array(children) - self.root].sum(axis=0),
            hidden=int(self.leaves[children].sum()),
        )

    def _share(self, rows: float) -> float:
        whole = float(self.rows[self.root])
        return rows / whole if whole > 0 else 0.0

    def _answer(self, node: int) -> str:
        if self.forest.kind[node] == NodeKind.LEAF and self.subject.answers:
            return self.subject.answers[int(np.searchsorted(self.forest.leaf_nodes, node))]
        return self._majority(self.totals[node])

    def _majority(self, totals: Floats) -> str:
        if self.is_regression:
            return number_text(float(f"{totals[1]:.4g}"))
        return self.subject.names.classes[int(np.argmax(totals))]
