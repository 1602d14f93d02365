"""Models for code in other languages: nodes, numbers of leaves, and the steps that finish their sum.

A row goes down each tree with weight 1. Where its value is missing, and at that node the tree says so, the weight is
divided over several children. The numbers of the leaves that it reaches, times their weights, are added up in the order
of the leaves, from 0; then the trees' sums in the order of the trees. These are the additions of the core
(``core/walk/fold.cpp``), so that code that makes the same ones answers to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.codegen.finish import Step
from hedgerow.data.table import Column, Schema
from hedgerow.forest.forest import Forest
from hedgerow.forest.kinds import NodeKind
from hedgerow.forest.splits import Split

__all__ = ["CodeNode", "CodeTree", "Program", "make_program"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class CodeNode:
    """A node; other nodes are meant by their number within the tree."""

    leaf: int = -1
    """Number of the leaf within the tree; -1: it splits."""
    features: tuple[int, ...] = ()
    """Columns that are tested; several of an oblique split."""
    weights: tuple[float, ...] = ()
    """Weight of each of the `features` of an oblique split; else empty."""
    means: tuple[float, ...] = ()
    """Substitute for a missing value of each of the `features` of an oblique split; NaN, or empty: none."""
    threshold: float = 0.0
    child_of_category: tuple[int, ...] = ()
    """Child that each category code takes, -1: none; empty where numbers are compared with the threshold."""
    children: tuple[int, ...] = ()
    without_value: tuple[tuple[int, float], ...] = ()
    """Children, and their parts of the weight, of a row whose value is missing or a category without a branch."""

    @property
    def spreads(self) -> bool:
        """Whether a row without a value reaches several children."""
        return len(self.without_value) > 1


@dataclass(frozen=True)
class CodeTree:
    """One tree; children follow their parent."""

    nodes: tuple[CodeNode, ...]
    values: Floats
    """Numbers of each leaf, (n_leaves, n_values)."""
    weight: float

    @property
    def spreads(self) -> bool:
        return any(node.spreads for node in self.nodes)


@dataclass(frozen=True)
class Program:
    """A model to be written as code.

    Parameters
    ----------
    title : str
        Comment at the top of the code.
    schema : Schema
        Names, kinds and categories of the columns.
    trees : tuple[CodeTree, ...]
        The trees, as nodes that code is written of.
    steps : tuple[Step, ...]
        Arithmetic from the leaves' numbers to the answer.

    Examples
    --------
    >>> from hedgerow import TreeRegressor
    >>> from hedgerow.codegen import make_program
    >>> tree = TreeRegressor(max_leaf_nodes=2).fit([[1], [2], [3]], [10, 10, 40])
    >>> program = make_program("two leaves", tree.forest_, tree.schema_, tree.forest_.leaf_stats[:, 1:2], [])
    >>> program.trees[0].nodes[0].threshold
    2.5
    """

    title: str
    schema: Schema
    trees: tuple[CodeTree, ...]
    steps: tuple[Step, ...]
    classes: tuple[Any, ...] | None
    """Labels; None: the answer is the number itself."""
    costs: Floats | None = None
    """Cost of predicting each class, true × predicted; None: the most probable class is the answer."""
    leaf_codes: tuple[int, ...] = ()
    """Of a single tree: the class that each leaf answers."""

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.schema.columns

    @property
    def n_values(self) -> int:
        return int(self.trees[0].values.shape[1])

    @property
    def n_nodes(self) -> int:
        return sum(len(tree.nodes) for tree in self.trees)

    @property
    def is_oblique(self) -> bool:
        return any(node.weights for tree in self.trees for node in tree.nodes)

    def size_text(self) -> str:
        """Its size, for errors: ``this oblique forest of 100 trees has 10,000 nodes``.

        Returns
        -------
        str
            The phrase.
        """
        kind = "oblique " if self.is_oblique else ""
        trees = f"forest of {len(self.trees)} trees" if len(self.trees) > 1 else "tree"
        return f"this {kind}{trees} has {self.n_nodes:,} nodes"


def check_size(forest: Forest, most: int, what: str, instead: str) -> None:
    """Refuse a forest with more than `most` nodes before its nodes are read."""
    if forest.n_nodes > most:
        kind = "oblique " if (forest.kind == NodeKind.OBLIQUE).any() else ""
        trees = f"forest of {forest.n_trees} trees" if forest.n_trees > 1 else "tree"
        raise ValueError(
            f"{what} writes at most {most:,} nodes, and this {kind}{trees} has {forest.n_nodes:,}: fit fewer or "
            f"smaller trees (n_estimators=, max_leaf_nodes=), or {instead}"
        )


def make_program(
    title: str,
    forest: Forest,
    schema: Schema,
    values: Floats,
    steps: Sequence[Step],
    *,
    tree_weights: Floats | None = None,
    classes: NDArray[Any] | None = None,
    costs: Floats | None = None,
    leaf_codes: Sequence[int] = (),
) -> Program:
    """Read a forest; `values` are the numbers of its leaves, (n_leaves, n_values).

    Parameters
    ----------
    title : str
        First line of the file.
    forest : Forest
        The trees.
    schema : Schema
        Names, kinds and categories of the columns.
    values : array of shape (n_leaves, n_values)
        Numbers of the leaves that are summed.
    steps : sequence of Step
        What is done with the sums over the trees.
    tree_weights : array of shape (n_trees,) or None, default=None
        Weight of each tree; None weighs all alike.
    classes : array of labels or None, default=None
        Labels of a classifier; None for numbers.
    costs : array of shape (n_classes, n_classes) or None, default=None
        Costs of misclassification by which the answer is chosen.
    leaf_codes : sequence of int, default=()
        Position of the class of each leaf, where it is the answer.

    Returns
    -------
    Program
        The model, for :func:`python_code`, :func:`c_code` and :func:`sql_expression`.

    Examples
    --------
    >>> from hedgerow import TreeRegressor
    >>> from hedgerow.codegen import make_program
    >>> tree = TreeRegressor(max_leaf_nodes=2).fit([[1], [2], [3]], [10, 10, 40])
    >>> make_program("two leaves", tree.forest_, tree.schema_, tree.forest_.leaf_stats[:, 1:2], []).size_text()
    'this tree has 3 nodes'
    """
    trees = []
    for number in range(forest.n_trees):
        weight = 1.0 if tree_weights is None else float(tree_weights[number])
        if weight != 0:  # the core leaves such trees out, too
            leaves = slice(int(forest.leaf_start[number]), int(forest.leaf_start[number + 1]))
            trees.append(CodeTree(_nodes(forest, schema, number), values[leaves], weight))
    labels = None if classes is None else tuple(classes.tolist())
    return Program(title, schema, tuple(trees), tuple(steps), labels, costs, tuple(leaf_codes))


def _nodes(forest: Forest, schema: Schema, tree: int) -> tuple[CodeNode, ...]:
    root, end = (int(at) for at in forest.tree_start[tree : tree + 2])
    nodes = []
    for node in range(root, end):
        if forest.kind[node] == NodeKind.LEAF:
            nodes.append(CodeNode(leaf=int(forest.first_child[node])))
            continue
        split = Split(forest, node)
        children = [child - root for child in split.children]
        nodes.append(
            CodeNode(
                features=tuple(int(feature) for feature in split.features),
                weights=tuple(split.weights.tolist()) if split.kind == NodeKind.OBLIQUE else (),
                means=() if split.means is None else tuple(split.means.tolist()),
                threshold=split.threshold,
                child_of_category=_child_of_category(split, schema, children),
                children=tuple(children),
                without_value=_without_value(split, root),
            )
        )
    return tuple(nodes)


def _child_of_category(split: Split, schema: Schema, children: Sequence[int]) -> tuple[int, ...]:
    if not split.is_nominal:
        return ()
    taken = split.child_of_codes(len(schema.columns[split.feature].categories)).tolist()
    return tuple(-1 if child < 0 else children[child] for child in taken)


def _without_value(split: Split, root: int) -> tuple[tuple[int, float], ...]:
    children = split.children_without_value()
    if len(children) == 1:
        return ((children[0] - root, 1.0),)
    parts = [(child - root, split.spread_share(child - split.children.start)) for child in children]
    return tuple((child, share) for child, share in parts if share > 0)
