"""The picture of a tree: blocks of its nodes in a tidy layout, branches as wide as what goes down them, a legend."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hedgerow._params import check_choice
from hedgerow.drawing.blocks import Bars, Block, card, strip
from hedgerow.drawing.icicle import icicle
from hedgerow.drawing.palette import BLUE, blend, class_color
from hedgerow.drawing.scene import Curve, Rectangle, Scene, Shape, Text
from hedgerow.drawing.text_size import fit, text_width
from hedgerow.drawing.tidy import tidy_positions
from hedgerow.drawing.view import TreeView
from hedgerow.forest.names import number_text

__all__ = ["ORIENTATIONS", "tree_scene"]

Floats = NDArray[np.float64]
Orientation = Literal["down", "right"]

ORIENTATIONS = ("auto", "down", "right")
_MARGIN = 14.0
_LABEL = 11.0  # size of the conditions
_MOST_LABEL = 170.0  # their width
_MOST_CARDS = 10  # ends of branches of a tree that grows downwards, by default
_MOST_CLASSES = 30  # in the legend
_OVERVIEW = 56.0  # height


def tree_scene(view: TreeView, orientation: str = "auto") -> Scene:
    """Lay a tree out, downwards as cards or, where it has many leaves, to the right with a line for each of them.

    Parameters
    ----------
    view : TreeView
        What is shown of the tree.
    orientation : {"auto", "down", "right"}, default="auto"
        Direction in which the tree grows; "auto" is to the right for many leaves.

    Returns
    -------
    Scene
        Rectangles, texts and branches, in pixels.

    Raises
    ------
    ValueError
        If `orientation` is not one of the three.

    Examples
    --------
    >>> from hedgerow import TreeClassifier
    >>> from hedgerow.drawing import Subject, tree_scene, view_tree
    >>> from hedgerow.forest.names import Names
    >>> tree = TreeClassifier().fit([[1], [2]], ["no", "yes"])
    >>> view = view_tree(Subject(tree.forest_, 0, Names.of(tree.forest_, ["x"], tree.classes_, None), ["no", "yes"]))
    >>> tree_scene(view, "down").height > 100
    True
    """
    check_choice("orientation", orientation, ORIENTATIONS)
    downwards = orientation == "down" or (orientation == "auto" and view.n_ends <= _MOST_CARDS)
    bars = Bars.of(view)
    tree = _Layout(view, bars, "down" if downwards else "right")
    shapes = list(tree.shapes())
    width = max(tree.width, 300.0)
    header = list(_legend(view, bars, width))
    top = max((shape.y + 8 for shape in header if isinstance(shape, Text)), default=0.0)
    if not view.is_whole:
        overview = icicle(view, width, _OVERVIEW)
        header += [_moved(shape, 0, top + 6) for shape in overview]
        top += 6 + _OVERVIEW
    top += 14 if header else 0
    moved = [_moved(shape, _MARGIN, _MARGIN) for shape in header]
    moved += [_moved(shape, _MARGIN, _MARGIN + top) for shape in shapes]
    return Scene(width + 2 * _MARGIN, tree.height + top + 2 * _MARGIN, moved, _description(view))


def _description(view: TreeView) -> str:
    what = "Decision tree" if view.classes else "Regression tree"
    root = view.nodes[0]
    first = f", first split on {root.subject}" if root.subject else f": {root.answer}"
    return f"{what} with {view.n_leaves} {'leaf' if view.n_leaves == 1 else 'leaves'}{first}"


def _moved(shape: Shape, dx: float, dy: float) -> Shape:
    if isinstance(shape, Curve):
        return replace(shape, x0=shape.x0 + dx, x1=shape.x1 + dx, y0=shape.y0 + dy, y1=shape.y1 + dy)
    return replace(shape, x=shape.x + dx, y=shape.y + dy)


@dataclass
class _Layout:
    """Places of all blocks; `along` the tree and `across` it."""

    view: TreeView
    bars: Bars
    orientation: Orientation

    def __post_init__(self) -> None:
        nodes = self.view.nodes
        self.down = self.orientation == "down"
        make = card if self.down else strip
        self.blocks: list[Block] = [make(node, self.view, self.bars) for node in nodes]
        self.labels = [fit(node.condition, _MOST_LABEL, _LABEL) for node in nodes]
        self.n = len(nodes)
        self.widest = 11.0 if self.down else 9.0  # branch: all rows
        lengths = np.array([block.height if self.down else block.width for block in self.blocks])
        breadths = np.array([block.width if self.down else block.height for block in self.blocks])
        before = np.zeros(self.n)  # room for the branch and its label
        start, self.head = np.zeros(self.n), np.zeros(self.n)
        for at, node in enumerate(nodes):
            widths = [text_width(self.labels[child], _LABEL) for child in node.children]
            for child, width in zip(node.children, widths, strict=True):
                before[child] = 46.0 if self.down else 34.0 + max(widths) + 7
                start[child] = self.head[at] + lengths[at]
                self.head[child] = start[child] + before[child]
                if self.down:
                    breadths[child] = max(breadths[child], width + 8)
        gap = 14.0 if self.down else 3.0
        children = [node.children for node in nodes]
        self.middle = tidy_positions(children, breadths, start, self.head + lengths, gap)
        self.start, self.lengths = start, lengths
        across, along = float((self.middle + breadths / 2).max()), float((self.head + lengths).max())
        self.width, self.height = (across, along) if self.down else (along, across)

    def shapes(self) -> Iterator[Shape]:
        yield from self._branches(lit=False)
        yield from self._branches(lit=True)
        for at, block in enumerate(self.blocks):
            x, y = self._corner(at)
            yield from (_moved(shape, x, y) for shape in block.shapes)
            yield from self._label(at)

    def _corner(self, at: int) -> tuple[float, float]:
        block = self.blocks[at]
        if self.down:
            return self.middle[at] - block.width / 2, self.head[at]
        return self.head[at], self.middle[at] - block.height / 2

    def _label(self, at: int) -> Iterator[Shape]:
        if not self.labels[at]:
            return
        node = self.view.nodes[at]
        color = "ink" if node.weight > 0 or not self.view.is_highlighted else "muted"
        tip = node.condition
        if self.down:
            yield Text(self.middle[at], self.head[at] - 7, self.labels[at], _LABEL, color, "middle", tooltip=tip)
        else:
            yield Text(self.start[at] + 34, self.middle[at] + 4, self.labels[at], _LABEL, color, tooltip=tip)

    def _branches(self, lit: bool) -> Iterator[Shape]:
        """Branches, stacked where they leave a node: together they are as wide as the one that leads to it."""
        for at, node in enumerate(self.view.nodes):
            widths = [self._branch_width(child) for child in node.children]
            from_middle = -sum(widths) / 2
            for child, width in zip(node.children, widths, strict=True):
                leaving = self.middle[at] + from_middle + width / 2
                from_middle += width
                if lit != self._is_lit(child):
                    continue
                ends = (leaving, self.middle[child])
                begin = self.start[child]
                color = "ink" if lit else "edge"
                if self.down:
                    yield Curve(ends[0], begin, ends[1], self.head[child] - 19, width, color, "y")
                else:
                    yield Curve(begin + 3, ends[0], begin + 30, ends[1], width, color, "x")

    def _is_lit(self, at: int) -> bool:
        return self.view.is_highlighted and self.view.nodes[at].weight > 0

    def _branch_width(self, at: int) -> float:
        node = self.view.nodes[at]
        share = node.weight if self._is_lit(at) else node.share
        return max(1.0, self.widest * share * (0.6 if self._is_lit(at) else 1.0))


# --- Above the tree ---------------------------------------------------------------------------------------------


def _legend(view: TreeView, bars: Bars, width: float) -> Iterator[Shape]:
    """Colours of the classes, or the scale of the bars, and how much of the tree is drawn."""
    x, y = 0.0, 12.0
    for color, text in _entries(view, bars):
        shown = fit(text, _MOST_LABEL if view.classes and color else width - 16, _LABEL)
        needed = text_width(shown, _LABEL) + (16 if color else 0)
        if x > 0 and x + needed > width:
            x, y = 0.0, y + 18
        if color:
            yield Rectangle(x, y - 9, 10, 10, color, radius=2)
            yield Text(x + 15, y, shown, _LABEL, "ink", tooltip=text)
        else:
            yield Text(x, y, shown, _LABEL, "muted")
        x += needed + 16


def _entries(view: TreeView, bars: Bars) -> Iterator[tuple[str, str]]:
    if view.classes:
        totals = view.nodes[0].totals
        order = sorted(range(len(view.classes)), key=lambda k: (-totals[k], k))
        for number in sorted(order[:_MOST_CLASSES]):
            yield class_color(number), view.classes[number]
        if len(order) > _MOST_CLASSES:
            yield "", f"and {len(order) - _MOST_CLASSES} more classes"
    else:
        ends = f"{number_text(float(f'{bars.low:.4g}'))} to {number_text(float(f'{bars.high:.4g}'))}"
        if bars.are_histograms:
            yield blend(BLUE, "#ffffff", 0.35), f"training targets, {ends}"
            yield BLUE, "mean"
        else:
            yield blend(BLUE, "#ffffff", 0.45), f"mean ± standard deviation, {ends}"
    if not view.is_whole:
        drawn = sum(node.is_end and not node.hidden for node in view.nodes)
        yield "", f"{drawn} of {view.n_leaves} leaves drawn, the others summarised (max_depth=None: all)"
