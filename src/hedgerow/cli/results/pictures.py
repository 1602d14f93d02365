"""Pictures of trees in files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from hedgerow.cli.errors import CommandError, UsageError
from hedgerow.cli.results.destinations import STANDARD
from hedgerow.storage.replace import replaced

if TYPE_CHECKING:
    from hedgerow.drawing import Scene

__all__ = ["PICTURES", "check_tree_file", "write_picture"]

PICTURES = (".svg", ".png", ".pdf")
_DOTS_PER_INCH = 192  # of .png: sharp on any screen


def check_tree_file(output: str) -> None:
    """Refuse names that do not say which format is wanted."""
    if output == STANDARD or Path(output).suffix.lower() not in PICTURES:
        raise UsageError(f"--output is {output!r}: name a picture {', '.join(PICTURES[:-1])} or {PICTURES[-1]}")


def write_picture(model: Any, output: str, tree: int, depth: int | None) -> None:
    """Draw a tree into a file; SVG needs nothing else, other formats matplotlib."""
    from hedgerow.drawing import scene_to_svg, tree_scene
    from hedgerow.estimators.contract import view_of

    suffix = Path(output).suffix.lower()
    scene = tree_scene(view_of(model, tree, "auto" if depth is None else depth))
    if suffix != ".svg":
        figure = _figure(scene)
    with replaced(output) as file:
        if suffix == ".svg":
            file.write(scene_to_svg(scene).encode())
        else:
            figure.savefig(file, format=suffix[1:], dpi=_DOTS_PER_INCH)


def _figure(scene: Scene) -> Any:
    from hedgerow.plots import TreeDisplay

    try:
        from matplotlib.figure import Figure
    except ImportError as absent:
        raise CommandError("pictures other than .svg need matplotlib: pip install 'hedgerow[plot]'") from absent
    figure = Figure(figsize=(scene.width / 96, scene.height / 96))
    TreeDisplay(scene=scene).plot(figure.add_axes((0, 0, 1, 1)))
    return figure
