"""The tree of a model as nodes of the page."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.drawing import ViewNode
from hedgerow.estimators.contract import view_of
from hedgerow.report.numbers import rounded, rounded_list

__all__ = ["describe_tree"]

_MOST_LEAVES = 3000  # of a tree whose nodes are all in the page


def describe_tree(model: Any, tree: int = 0) -> dict[str, Any]:
    """Nodes of a tree, parents before children, each with its leaf number where it is a leaf."""
    forest = model.forest_
    start, end = (int(at) for at in forest.leaf_start[tree : tree + 2])
    n_leaves = end - start
    view = view_of(model, tree, None if n_leaves <= _MOST_LEAVES else "auto")
    leaf_of = {int(node): i for i, node in enumerate(forest.leaf_nodes[start:end])}
    regression = forest.leaf_counts is None
    return {
        "tree": tree,
        "n_trees": forest.n_trees,
        "leaves": n_leaves,
        "whole": view.is_whole,
        "rows": rounded(float(view.nodes[0].totals[0] if regression else view.nodes[0].totals.sum())),
        "nodes": [_node(node, leaf_of, regression) for node in view.nodes],
    }


def _node(node: ViewNode, leaf_of: dict[int, int], regression: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"answer": node.answer, "share": rounded(node.share, 4)}
    if node.condition:
        found["condition"] = node.condition
    if regression:
        weight, mean, squares = node.totals.tolist()
        deviation = float(np.sqrt(max(squares, 0.0) / weight)) if weight > 0 else 0.0
        found |= {"n": rounded(weight, 7), "mean": rounded(mean, 5), "deviation": rounded(deviation, 4)}
    else:
        found["counts"] = rounded_list(node.totals, 5)
    if node.children:
        found |= {"subject": node.subject, "children": node.children}
    elif node.hidden:
        found["hidden"] = node.hidden
    elif node.number in leaf_of:
        found["leaf"] = leaf_of[node.number]
    return found
