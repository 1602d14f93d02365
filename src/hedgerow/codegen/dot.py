"""A tree in the language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterator

from hedgerow.drawing import TreeView
from hedgerow.drawing.palette import blend, class_color
from hedgerow.forest.names import number_text

__all__ = ["dot_text"]


def dot_text(view: TreeView) -> str:
    """Write what a picture of the tree shows.

    Parameters
    ----------
    view : TreeView
        What is drawn of the tree.

    Returns
    -------
    str
        A directed graph in the language of Graphviz.

    Examples
    --------
    >>> from hedgerow import TreeClassifier
    >>> from hedgerow.codegen import dot_text
    >>> from hedgerow.drawing import Subject, view_tree
    >>> from hedgerow.forest.names import Names
    >>> tree = TreeClassifier().fit([[1], [2]], ["no", "yes"])
    >>> subject = Subject(tree.forest_, 0, Names.of(tree.forest_, ["x0"], tree.classes_, None), ["no", "yes"])
    >>> dot_text(view_tree(subject)).splitlines()[0]
    'digraph tree {'
    """
    return "\n".join(["digraph tree {", *_lines(view), "}", ""])


def _lines(view: TreeView) -> Iterator[str]:
    yield '  node [shape=box, style="filled, rounded", fillcolor="white", fontname="Helvetica"];'
    yield '  edge [fontname="Helvetica"];'
    for at, node in enumerate(view.nodes):
        lines = [node.subject or node.answer, *_figures(view, at)]
        color = f', fillcolor="{_fill(view, at)}"' if view.classes and node.totals.any() else ""
        yield f"  {at} [label={_quoted(lines)}{color}];"
        for child in node.children:
            width = max(0.5, 6 * view.nodes[child].share)
            yield f"  {at} -> {child} [label={_quoted([view.nodes[child].condition])}, penwidth={width:.2f}];"


def _figures(view: TreeView, at: int) -> Iterator[str]:
    node = view.nodes[at]
    if view.classes:
        counts = zip(view.classes, node.totals.tolist(), strict=True)
        yield ", ".join(f"{name} {number_text(n)}" for name, n in counts if n > 0) or "no rows"
    else:
        weight, mean, squares = node.totals.tolist()
        deviation = (squares / weight) ** 0.5 if weight > 0 else 0.0
        yield f"{number_text(mean)} ± {number_text(deviation)} (n = {number_text(weight)})"
    if node.hidden > 1:
        yield f"+ {node.hidden} leaves"


def _fill(view: TreeView, at: int) -> str:
    """Colour of the majority, paler than in pictures since there is text on it."""
    totals = view.nodes[at].totals
    purity = float(totals.max() / totals.sum())
    return blend(class_color(int(totals.argmax())), "#ffffff", 1 - 0.5 * purity)


def _quoted(lines: list[str]) -> str:
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    text = "\\n".join(escaped)
    return f'"{text}"'
