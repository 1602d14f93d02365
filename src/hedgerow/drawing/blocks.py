"""The block of one node: its lines of text, its size and its shapes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.drawing.palette import BLUE, blend, class_color
from hedgerow.drawing.scene import Rectangle, Shape, Text
from hedgerow.drawing.text_size import fit, text_width
from hedgerow.drawing.view import TreeView, ViewNode
from hedgerow.forest.names import number_text

__all__ = ["Bars", "Block", "card", "figures", "strip"]

Floats = NDArray[np.float64]

_SIZE, _SMALL = 12.0, 10.5
_MOST_TEXT = 190.0  # width of a line


@dataclass(frozen=True)
class Block:
    """Drawing of a node: shapes relative to the upper left corner, and their extent."""

    width: float
    height: float
    shapes: list[Shape]


def figures(node: ViewNode, view: TreeView) -> str:
    """Rows of a node and their share: ``50 · 33%``; at the root ``150 rows``."""
    rows = float(node.totals[0] if not view.classes else node.totals.sum())
    if node is view.nodes[0] and not node.hidden:
        return f"{number_text(round(rows, 1))} row{'s' * (rows != 1)}"
    more = f" · + {node.hidden} leaves" if node.hidden > 1 else ""
    return f"{number_text(round(rows, 1))} · {_share_text(node.share)}{more}"


def _share_text(share: float) -> str:
    if 0 < share < 0.0005:
        return "<0.1%"
    return f"{share:.0%}" if share >= 0.095 or share == 0 else f"{share:.1%}"


@dataclass(frozen=True)
class Bars:
    """Bars of all nodes on one scale: class shares, histograms of targets, or mean ± standard deviation."""

    view: TreeView
    low: float
    high: float

    @classmethod
    def of(cls, view: TreeView) -> Bars:
        if view.classes:
            return cls(view, 0.0, 1.0)
        if view.range is not None:
            return cls(view, *view.range)
        ends = [end for node in view.nodes if node.totals[0] > 0 for end in _mean_and_ends(node)]
        return cls(view, min(ends, default=0.0), max(ends, default=0.0))

    @property
    def are_histograms(self) -> bool:
        return self.view.range is not None

    def shapes(self, node: ViewNode, x: float, y: float, width: float, height: float) -> Iterator[Shape]:
        """Shapes of one bar."""
        radius = min(2.0, height / 3)
        yield Rectangle(x, y, width, height, "track", radius=radius, tooltip=self.tooltip(node))
        if self.view.classes:
            yield from self._shares(node, x, y, width, height)
        elif node.histogram is not None:
            yield from self._histogram(node, node.histogram, x, y, width, height)
        elif node.totals[0] > 0:
            yield from self._moments(node, x, y, width, height)

    def _shares(self, node: ViewNode, x: float, y: float, width: float, height: float) -> Iterator[Shape]:
        total = float(node.totals.sum())
        for number, count in enumerate(node.totals.tolist()):
            part = width * count / total if total > 0 else 0.0
            if part > 0.2:
                yield Rectangle(x, y, part, height, class_color(number), tooltip=self.tooltip(node))
            x += part

    def _histogram(
        self, node: ViewNode, histogram: Floats, x: float, y: float, width: float, height: float
    ) -> Iterator[Shape]:
        """Bars as high as the weight of their targets, the largest as high as the block; and the mean."""
        most, tip = float(histogram.max()), self.tooltip(node)
        each = width / len(histogram)
        gap = 0.5 if each > 3 else 0.0
        for number, weight in enumerate(histogram.tolist()):
            if weight > 0:
                tall = max(height * weight / most, 1.0)
                bar = (x + number * each, y + height - tall, each - gap, tall)
                yield Rectangle(*bar, blend(BLUE, "#ffffff", 0.35), tooltip=tip)
        at = (node.totals[1] - self.low) / (self.high - self.low) * width if self.high > self.low else width / 2
        yield Rectangle(x + min(max(float(at) - 1, 0.0), width - 2), y - 1.5, 2, height + 3, BLUE, tooltip=tip)

    def _moments(self, node: ViewNode, x: float, y: float, width: float, height: float) -> Iterator[Shape]:
        span = self.high - self.low
        low, mean, high = ((at - self.low) / span * width if span > 0 else width / 2 for at in _mean_and_ends(node))
        tip = self.tooltip(node)
        yield Rectangle(x + low, y, max(high - low, 1.0), height, blend(BLUE, "#ffffff", 0.45), tooltip=tip)
        yield Rectangle(x + min(max(mean - 1.25, 0.0), width - 2.5), y - 1.5, 2.5, height + 3, BLUE, tooltip=tip)

    def tooltip(self, node: ViewNode) -> str:
        """Everything about a node in words."""
        lines = [line for line in (node.condition, node.formula) if line]
        if self.view.classes:
            counts = zip(self.view.classes, node.totals.tolist(), strict=True)
            lines += [f"{name}: {number_text(round(n, 2))}" for name, n in counts if n > 0]
        else:
            low, mean, high = _mean_and_ends(node)
            lines.append(f"{number_text(mean)} ± {number_text((high - low) / 2)}")
        return "\n".join([*lines, figures(node, self.view)])


def _mean_and_ends(node: ViewNode) -> tuple[float, float, float]:
    """Mean less, without and plus the standard deviation of a node of a regression tree."""
    weight, mean, squares = node.totals.tolist()
    deviation = float(np.sqrt(squares / weight)) if weight > 0 else 0.0
    return mean - deviation, mean, mean + deviation


def _title(node: ViewNode) -> str:
    """Text of a node: its split, or its answer."""
    more = f" + {node.n_more} more" if node.n_more else ""
    room = _MOST_TEXT - text_width(more, _SIZE, bold=True)
    return fit(node.subject or node.answer, room, _SIZE, bold=True) + more


def card(node: ViewNode, view: TreeView, bars: Bars) -> Block:
    """Block of a tree that grows downwards: its lines above each other."""
    title = _title(node)
    value = fit(f"= {node.value}", _MOST_TEXT, _SIZE) if node.value else ""
    note = figures(node, view)
    widths = [text_width(title, _SIZE, bold=True), text_width(value, _SIZE), text_width(note, _SMALL)]
    width, pad = max(76.0, *widths) + 16, 8.0
    lit = view.is_highlighted and node.weight > 0
    y = 20.0
    tip = bars.tooltip(node)
    texts: list[Shape] = [Text(width / 2, y, title, _SIZE, "ink", "middle", bold=True, tooltip=tip)]
    if value:
        y += 15
        texts.append(Text(width / 2, y, value, _SIZE, "ink", "middle"))
    tall = 24 if bars.are_histograms else 8
    bar = list(bars.shapes(node, pad, y + 7, width - 2 * pad, tall))
    y += 21 + tall
    texts.append(Text(width / 2, y, note, _SMALL, "muted", "middle"))
    line = "ink" if lit else "border"
    box = Rectangle(0, 0, width, y + 8, "card", line, 2.0 if lit else 1.0, 5, dashed=node.hidden > 0, tooltip=tip)
    return Block(width, y + 8, [box, *bar, *texts])


def strip(node: ViewNode, view: TreeView, bars: Bars) -> Block:
    """Block of a tree that grows to the right: one line where a branch ends, two at a split."""
    lit = view.is_highlighted and node.weight > 0
    color = "ink" if lit or not view.is_highlighted else "muted"
    tip = bars.tooltip(node)
    if node.is_end:
        title, note = fit(node.answer, _MOST_TEXT, _SIZE, bold=True), figures(node, view)
        top, tall = (2, 13) if bars.are_histograms else (5, 8)
        shapes: list[Shape] = list(bars.shapes(node, 0, top, 56, tall))
        if node.hidden:
            shapes.append(Rectangle(-2, top - 2, 60, tall + 4, "", "border", 1.0, 3, dashed=True))
        if lit:
            shapes.append(Rectangle(-2.5, top - 2.5, 61, tall + 5, "", "ink", 2.0, 3))
        shapes.append(Text(65, 13.5, title, _SIZE, color, bold=True, tooltip=tip))
        after = 65 + text_width(title, _SIZE, bold=True) + 7
        shapes.append(Text(after, 13.5, note, _SMALL, "muted"))
        return Block(after + text_width(note, _SMALL), 18, shapes)
    title = _title(node)
    value = fit(f"= {node.value}", _MOST_TEXT, _SIZE) if node.value else ""
    width = max(text_width(title, _SIZE, bold=True), text_width(value, _SIZE), 56.0)
    shapes = [Text(0, 12, title, _SIZE, color, bold=True, tooltip=tip)]
    y = 12.0
    if value:
        y += 14
        shapes.append(Text(0, y, value, _SIZE, "ink"))
    tall = 14 if bars.are_histograms else 5
    shapes += bars.shapes(node, 0, y + 5, width, tall)
    return Block(width, y + 7 + tall, shapes)
