"""Icicle plot of a large tree: a row for each depth, each node as wide as its share of the rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hedgerow.drawing.palette import BLUE, ORANGE, blend, class_color
from hedgerow.drawing.scene import Rectangle, Shape
from hedgerow.drawing.view import TreeView

__all__ = ["icicle"]

_THINNEST = 0.6  # a node narrower than that can't be seen


def icicle(view: TreeView, width: float, height: float) -> Iterator[Shape]:
    """Nodes in the colour of their majority, paler where it is small; regression trees from blue (low) to orange."""
    subject = view.subject
    forest = subject.forest
    root, end = (int(at) for at in forest.tree_start[subject.tree : subject.tree + 2])
    depth = forest.node_depths()[root:end]
    totals = (forest.node_counts() if view.classes else forest.node_stats())[root:end]
    rows = totals.sum(axis=1) if view.classes else totals[:, 0]
    scale = width / rows[0] if rows[0] > 0 else 0.0
    left, taken = np.zeros(end - root), np.zeros(end - root)
    step = height / (int(depth.max()) + 1)
    low, high = (float(totals[:, 1].min()), float(totals[:, 1].max())) if not view.classes else (0.0, 1.0)
    for node in range(end - root):
        if node > 0:
            above = int(forest.parent[root + node]) - root
            left[node] = left[above] + taken[above]
            taken[above] += rows[node] * scale
        part = float(rows[node] * scale)
        if part >= _THINNEST:
            if view.classes:
                largest = int(np.argmax(totals[node]))
                purity = float(totals[node, largest] / rows[node])
                color = blend(class_color(largest), "#c8cdd2", 1 - purity)
            else:
                color = blend(BLUE, ORANGE, (float(totals[node, 1]) - low) / (high - low) if high > low else 0.5)
            gap = 0.6 if part > 2 else 0.0
            yield Rectangle(float(left[node]), float(depth[node]) * step, part - gap, step - 0.6, color)
