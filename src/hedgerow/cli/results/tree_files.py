"""Trees as the contents of files: pictures, text, rules and code."""

from __future__ import annotations

import io
from typing import Any

from hedgerow.cli.errors import CommandError
from hedgerow.codegen import dot_text
from hedgerow.drawing import scene_to_svg, tree_scene
from hedgerow.estimators.contract import rules_of, text_of, view_of

__all__ = ["tree_content"]

_DOTS_PER_INCH = 192  # of .png: sharp on any screen


def tree_content(model: Any, format_name: str, tree: int, depth: int | None, dialect: str) -> bytes:
    """A tree of a model, or the code of the whole model, in one of the formats."""
    match format_name:
        case "text":
            text = text_of(model, tree, depth) + "\n"
        case "rules":
            text = f"{rules_of(model, tree)}\n"
        case "dot":
            text = dot_text(view_of(model, tree, depth))
        case "sql":
            text = model.to_sql(dialect) + "\n"
        case "python":
            text = model.to_python()
        case "c":
            text = model.to_c()
        case "svg":
            text = scene_to_svg(tree_scene(_view(model, tree, depth)))
        case _:
            return _picture(model, format_name, tree, depth)
    return text.encode()


def _view(model: Any, tree: int, depth: int | None) -> Any:
    return view_of(model, tree, "auto" if depth is None else depth)


def _picture(model: Any, format_name: str, tree: int, depth: int | None) -> bytes:
    from hedgerow.plots import TreeDisplay

    try:
        from matplotlib.figure import Figure
    except ImportError as absent:
        raise CommandError("pictures other than svg need matplotlib: pip install 'hedgerow[plot]'") from absent
    scene = tree_scene(_view(model, tree, depth))
    figure = Figure(figsize=(scene.width / 96, scene.height / 96))
    TreeDisplay(scene=scene).plot(figure.add_axes((0, 0, 1, 1)))
    written = io.BytesIO()
    figure.savefig(written, format=format_name, dpi=_DOTS_PER_INCH)
    return written.getvalue()
