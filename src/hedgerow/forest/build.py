"""Build a forest by hand: leaves and splits nest, and :func:`build_forest` lays them out as arrays.

>>> from hedgerow.forest.build import build_forest, leaf, threshold
>>> tree = threshold(0, 2.5, leaf([9, 1]), leaf([0, 5]))
>>> print(build_forest([tree], n_features=1).to_text())
x0 <= 2.5: class 0 (class 0 9, class 1 1)
x0 > 2.5: class 1 (class 1 5)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hedgerow.forest.forest import Forest
from hedgerow.forest.kinds import LEAF_FEATURE, NO_CHILD, NO_PAYLOAD, OBLIQUE_FEATURE, MissingPolicy, NodeKind

__all__ = [
    "Node",
    "build_forest",
    "leaf",
    "multiway",
    "oblique",
    "one_against_rest",
    "subset",
    "threshold",
    "value",
]

_MISSING = {policy.name.lower(): policy for policy in MissingPolicy}


@dataclass(frozen=True, eq=False, repr=False)
class Node:
    """A node and, below it, its tree. Made by the functions of this module."""

    kind: NodeKind
    leaf_row: tuple[float, ...] = ()
    weight: float = 0.0
    feature: int = LEAF_FEATURE
    threshold: float = np.nan
    codes: tuple[int, ...] = ()
    code_weights: tuple[float, ...] = ()
    code_means: tuple[float, ...] = ()
    missing: MissingPolicy = MissingPolicy.SPREAD
    children: tuple[Node, ...] = field(default=())


def leaf(counts: Iterable[float], *, weight: float | None = None) -> Node:
    """A leaf of a classification tree with its class counts; its training weight is their sum unless given.

    Parameters
    ----------
    counts : iterable of float
        Weighted count of each class.
    weight : float or None, default=None
        Training weight; None: the sum of the counts.

    Returns
    -------
    Node
        The node, for :func:`build_forest`.

    Examples
    --------
    >>> from hedgerow.forest import build_forest, leaf
    >>> build_forest([leaf([3, 1])], n_features=1).leaf_counts
    array([[3., 1.]])
    """
    row = tuple(float(n) for n in counts)
    return Node(NodeKind.LEAF, row, sum(row) if weight is None else float(weight))


def value(mean: float, *, weight: float = 1.0, squares: float = 0.0) -> Node:
    """A leaf of a regression tree: mean, weight and sum of squared deviations of the training targets in it.

    Parameters
    ----------
    mean : float
        Mean of the targets.
    weight : float, default=1.0
        Training weight.
    squares : float, default=0.0
        Sum of squared deviations from the mean.

    Returns
    -------
    Node
        The node, for :func:`build_forest`.

    Examples
    --------
    >>> from hedgerow.forest import build_forest, value
    >>> build_forest([value(12.5, weight=4, squares=8)], n_features=1, regression=True).leaf_stats
    array([[ 4. , 12.5,  8. ]])
    """
    return Node(NodeKind.LEAF, (float(weight), float(mean), float(squares)), float(weight))


def threshold(feature: int, at: float, *children: Node, missing: str = "spread") -> Node:
    """x ≤ `at` goes to the first child, x > `at` to the second; a third is the own branch of missing values.

    Parameters
    ----------
    feature : int
        Number of the column.
    at : float
        The threshold.
    *children
        The children, in order.
    missing : {"spread", "first_child", "last_child", "own_branch"}, default="spread"
        Where missing values go: over all branches by weight, to the first or last child, or to a branch of their
        own.

    Returns
    -------
    Node
        The node, for :func:`build_forest`.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.forest import build_forest, leaf, threshold
    >>> from hedgerow.walk import route
    >>> forest = build_forest([threshold(0, 2.0, leaf([3, 1]), leaf([0, 4]), missing="last_child")], n_features=1)
    >>> route(forest, np.array([[1.0], [np.nan]]))  # the leaf of each row
    array([[0],
           [1]], dtype=int32)
    """
    return _split(NodeKind.THRESHOLD, children, missing, feature=feature, threshold=float(at))


def one_against_rest(feature: int, code: int, *children: Node, missing: str = "spread") -> Node:
    """The category `code` goes to the first child, every other to the second.

    Parameters
    ----------
    feature : int
        Number of the column.
    code : int
        Code of the category.
    *children
        The children, in order.
    missing : {"spread", "first_child", "last_child", "own_branch"}, default="spread"
        Where missing values go: over all branches by weight, to the first or last child, or to a branch of their
        own.

    Returns
    -------
    Node
        The node, for :func:`build_forest`.

    Examples
    --------
    >>> from hedgerow.forest import build_forest, leaf, one_against_rest
    >>> tree = one_against_rest(0, 1, leaf([5, 0]), leaf([0, 5]))
    >>> print(build_forest([tree], n_features=1).to_text(categories=[["red", "blue", "green"]]))
    x0 = blue: class 0 (class 0 5)
    x0 != blue: class 1 (class 1 5)
    """
    return _split(NodeKind.ONE_AGAINST_REST, children, missing, feature=feature, threshold=float(code))


def subset(feature: int, members: Iterable[int], n_categories: int, *children: Node, missing: str = "spread") -> Node:
    """Categories in `members` go to the first child, the others below `n_categories` to the second.

    Parameters
    ----------
    feature : int
        Number of the column.
    members : iterable of int
        Codes that go to the first child.
    n_categories : int
        Number of categories; larger codes are unseen.
    *children
        The children, in order.
    missing : {"spread", "first_child", "last_child", "own_branch"}, default="spread"
        Where missing values go: over all branches by weight, to the first or last child, or to a branch of their
        own.

    Returns
    -------
    Node
        The node, for :func:`build_forest`.

    Raises
    ------
    ValueError
        If a member is no code of a category.

    Examples
    --------
    >>> from hedgerow.forest import build_forest, leaf, subset
    >>> tree = subset(0, [0, 2], 3, leaf([5, 0]), leaf([0, 5]))
    >>> print(build_forest([tree], n_features=1).to_text(categories=[["red", "blue", "green"]]))
    x0 in {red, green}: class 0 (class 0 5)
    x0 not in {red, green}: class 1 (class 1 5)
    """
    words = [0] * -(-n_categories // 32)
    for code in members:
        if not 0 <= code < n_categories:
            raise ValueError(f"members holds {code}, must be in 0 .. {n_categories - 1} (n_categories={n_categories})")
        words[code // 32] |= 1 << code % 32
    signed = np.array(words, dtype=np.uint32).view(np.int32).tolist()
    return _split(NodeKind.SUBSET, children, missing, feature=feature, codes=tuple(signed))


def multiway(feature: int, children: Mapping[int, Node], *, own: Node | None = None, missing: str = "spread") -> Node:
    """Category code → child; a code that is not named has no branch. `own` is the branch of missing values.

    The same Node object under two codes is one child for both categories.

    Parameters
    ----------
    feature : int
        Number of the column.
    children : mapping of int to Node
        Child of each category's code; a code that is not named has no branch.
    own : Node or None, default=None
        Branch of missing values.
    missing : {"spread", "first_child", "last_child", "own_branch"}, default="spread"
        Where missing values go: over all branches by weight, to the first or last child, or to a branch of their
        own.

    Returns
    -------
    Node
        The node, for :func:`build_forest`.

    Raises
    ------
    ValueError
        If a code is negative.

    Examples
    --------
    >>> from hedgerow.forest import build_forest, leaf, multiway
    >>> tree = multiway(0, {0: leaf([5, 0]), 1: leaf([0, 5])})
    >>> print(build_forest([tree], n_features=1).to_text(categories=[["red", "blue"]]))
    x0 = red: class 0 (class 0 5)
    x0 = blue: class 1 (class 1 5)
    """
    if any(code < 0 for code in children):
        raise ValueError(f"children names the code {min(children)}: codes of categories begin at 0")
    distinct: dict[int, Node] = {id(child): child for _, child in sorted(children.items())}
    number = {identity: n for n, identity in enumerate(distinct)}
    codes = [NO_CHILD] * (max(children, default=-1) + 1)
    for code, child in children.items():
        codes[code] = number[id(child)]
    policy = missing if own is None else "own_branch"
    nodes = (*distinct.values(), *(() if own is None else (own,)))
    return _split(NodeKind.MULTIWAY, nodes, policy, feature=feature, codes=tuple(codes))


def oblique(
    weights: Mapping[int, float],
    at: float,
    *children: Node,
    missing: str = "spread",
    means: Mapping[int, float] | None = None,
) -> Node:
    """Σ weights[j] · x[j] ≤ `at` goes to the first child.

    Parameters
    ----------
    weights : mapping of int to float
        Weight of each column in the sum.
    at : float
        The threshold.
    *children
        The children, in order.
    missing : {"spread", "first_child", "last_child", "own_branch"}, default="spread"
        Where missing values go: over all branches by weight, to the first or last child, or to a branch of their
        own.
    means : mapping of int to float or None, default=None
        What stands in for a missing value of each column, unless all of them are missing; NaN, and None for all:
        nothing does, and the row is treated as `missing` says.

    Returns
    -------
    Node
        The node, for :func:`build_forest`.

    Raises
    ------
    ValueError
        If `means` are not those of the same columns.

    Examples
    --------
    >>> from hedgerow.forest import build_forest, leaf, oblique
    >>> tree = oblique({0: 1.0, 1: 0.5}, 4.0, leaf([5, 0]), leaf([0, 5]))
    >>> print(build_forest([tree], n_features=2).to_text())
    x0 + 0.5·x1 <= 4: class 0 (class 0 5)
    x0 + 0.5·x1 > 4: class 1 (class 1 5)
    """
    features = tuple(sorted(weights))
    if means is not None and set(means) != set(weights):
        raise ValueError(f"means are of the columns {sorted(means)}, weights of {list(features)}: give both of each")
    return _split(
        NodeKind.OBLIQUE,
        children,
        missing,
        feature=OBLIQUE_FEATURE,
        threshold=float(at),
        codes=features,
        code_weights=tuple(float(weights[j]) for j in features),
        code_means=() if means is None else tuple(float(means[j]) for j in features),
    )


def _split(kind: NodeKind, children: tuple[Node, ...], missing: str, **what: object) -> Node:
    if missing not in _MISSING:
        raise ValueError(f"missing is {missing!r}, must be one of {', '.join(_MISSING)}")
    n_expected = None if kind == NodeKind.MULTIWAY else 2 + (missing == "own_branch")
    if n_expected is not None and len(children) != n_expected:
        raise ValueError(
            f"a {kind.name.lower()} node with missing={missing!r} has {n_expected} children, got {len(children)}"
        )
    weight = sum(child.weight for child in children)
    return Node(kind, weight=weight, missing=_MISSING[missing], children=children, **what)  # type: ignore[arg-type]


def build_forest(trees: Sequence[Node], n_features: int, *, regression: bool = False) -> Forest:
    """Lay hand-written trees out as one Forest: breadth first, so that siblings are contiguous.

    Parameters
    ----------
    trees : sequence of Node
        Roots, made by :func:`leaf`, :func:`threshold` and the like.
    n_features : int
        Number of columns.
    regression : bool, default=False
        Whether leaves hold numbers; needed only where there are none to see it by.

    Returns
    -------
    Forest
        The trees as one forest.

    Raises
    ------
    InvalidForestError
        If a node refers to a column or a child that is not there.

    Examples
    --------
    >>> from hedgerow.forest import build_forest, leaf, threshold
    >>> forest = build_forest([threshold(0, 2.0, leaf([3, 1]), leaf([0, 4]))], n_features=1)
    >>> print(forest.to_text(feature_names=["age"], class_names=["no", "yes"]))
    age <= 2: no (no 3, yes 1)
    age > 2: yes (yes 4)
    """
    nodes: list[Node] = []
    first_child: list[int] = []
    tree_start, leaf_start, n_leaves = [0], [0], 0
    for tree in trees:
        root = len(nodes)
        nodes.append(tree)
        n_before = n_leaves
        at = root
        while at < len(nodes):
            node = nodes[at]
            if node.kind == NodeKind.LEAF:
                first_child.append(n_leaves - n_before)
                n_leaves += 1
            else:
                first_child.append(len(nodes) - root)
                nodes.extend(node.children)
            at += 1
        tree_start.append(len(nodes))
        leaf_start.append(n_leaves)

    payloads = [node for node in nodes if node.codes]
    codes = [code for node in payloads for code in node.codes]
    any_oblique = any(node.kind == NodeKind.OBLIQUE for node in nodes)
    weights = [w for node in payloads for w in node.code_weights or [np.nan] * len(node.codes)] if any_oblique else []
    means = [m for node in payloads for m in node.code_means or [np.nan] * len(node.codes)]
    any_means = any(node.code_means for node in payloads)
    has_payload = np.array([bool(node.codes) for node in nodes], dtype=bool)
    leaf_rows = _leaf_rows([node.leaf_row for node in nodes if node.kind == NodeKind.LEAF])
    return Forest(
        n_features=n_features,
        threshold=np.array([node.threshold for node in nodes], dtype=np.float64),
        weight=np.array([node.weight for node in nodes], dtype=np.float64),
        feature=np.array([node.feature for node in nodes], dtype=np.int32),
        first_child=np.array(first_child, dtype=np.int32),
        payload=np.where(has_payload, np.cumsum(has_payload) - 1, NO_PAYLOAD).astype(np.int32),
        kind=np.array([node.kind for node in nodes], dtype=np.uint8),
        missing=np.array([node.missing for node in nodes], dtype=np.uint8),
        tree_start=np.array(tree_start, dtype=np.int64),
        leaf_start=np.array(leaf_start, dtype=np.int64),
        payload_start=np.cumsum([0, *(len(node.codes) for node in payloads)], dtype=np.int64),
        payload_codes=np.array(codes, dtype=np.int32),
        payload_weights=np.array(weights, dtype=np.float64),
        payload_means=np.array(means, dtype=np.float64) if any_means else None,
        **{"leaf_stats" if regression else "leaf_counts": leaf_rows},
    )


def _leaf_rows(rows: Sequence[tuple[float, ...]]) -> NDArray[np.float64]:
    lengths = sorted({len(row) for row in rows})
    if len(lengths) > 1:
        raise ValueError(
            f"leaves hold {lengths[0]} and {lengths[-1]} numbers: every leaf needs the same number of classes"
        )
    return np.array(rows, dtype=np.float64).reshape(len(rows), lengths[0] if lengths else 0)
