"""A picture as a list of shapes in pixels, y downwards, before any library draws it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["ROLES", "Curve", "Rectangle", "Scene", "Shape", "Text", "Theme"]

Theme = Literal["light", "dark"]

ROLES: dict[str, dict[Theme, str]] = {
    "background": {"light": "#ffffff", "dark": "#14181c"},
    "ink": {"light": "#1b1f24", "dark": "#e8eaec"},
    "muted": {"light": "#5b6570", "dark": "#a6aeb6"},
    "edge": {"light": "#c3c9cf", "dark": "#4d555d"},
    "card": {"light": "#ffffff", "dark": "#1f252a"},
    "border": {"light": "#bcc3ca", "dark": "#566069"},
    "track": {"light": "#e8ebee", "dark": "#333a41"},
}
"""Colours that depend on the background. Wherever a shape has a colour, it has one of these names, or ``#rrggbb``."""


@dataclass(frozen=True)
class Rectangle:
    """A box, filled and with an outline unless these are empty.

    Parameters
    ----------
    x : float
        Left edge.
    y : float
        Top edge.
    width : float
        Width.
    height : float
        Height.
    fill : str
        Colour inside; empty: none.
    line : str, default=""
        Colour of the outline; empty: none.
    line_width : float, default=1.0
        Width of the outline.
    radius : float, default=0.0
        Radius of the corners.
    dashed : bool, default=False
        Whether the outline is dashed.
    tooltip : str, default=""
        Text shown where the pointer rests.

    Examples
    --------
    >>> from hedgerow.drawing import Rectangle
    >>> Rectangle(10, 10, 80, 40, fill="#ffffff", line="#000000", radius=4).width
    80
    """

    x: float
    y: float
    width: float
    height: float
    fill: str
    line: str = ""
    line_width: float = 1.0
    radius: float = 0.0
    dashed: bool = False
    tooltip: str = ""


@dataclass(frozen=True)
class Text:
    """A line of text; `y` is its baseline.

    Parameters
    ----------
    x : float
        Position that `anchor` refers to.
    y : float
        Baseline.
    text : str
        The words.
    size : float
        Size of the letters.
    color : str, default="ink"
        Colour, by its role in a theme or as #rrggbb.
    anchor : {"start", "middle", "end"}, default="start"
        Part of the text that stands at `x`.
    bold : bool, default=False
        Whether letters are bold.
    tooltip : str, default=""
        Text shown where the pointer rests.

    Examples
    --------
    >>> from hedgerow.drawing import Text
    >>> Text(50, 14, "150 rows", size=12, anchor="middle", bold=True).text
    '150 rows'
    """

    x: float
    y: float
    text: str
    size: float
    color: str = "ink"
    anchor: Literal["start", "middle", "end"] = "start"
    bold: bool = False
    tooltip: str = ""


@dataclass(frozen=True)
class Curve:
    """A branch from a block to the next, leaving and arriving along x or y.

    Parameters
    ----------
    x0 : float
        Where it begins, x.
    y0 : float
        Where it begins, y.
    x1 : float
        Where it ends, x.
    y1 : float
        Where it ends, y.
    width : float
        Width of the line.
    color : str
        Colour, by its role in a theme or as #rrggbb.
    along : {"x", "y"}
        Direction in which it leaves and arrives.

    Examples
    --------
    >>> from hedgerow.drawing import Curve
    >>> Curve(0, 0, 40, 100, width=3, color="ink", along="y").controls
    ((0, 50.0), (40, 50.0))
    """

    x0: float
    y0: float
    x1: float
    y1: float
    width: float
    color: str
    along: Literal["x", "y"]

    @property
    def controls(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Control points of the cubic Bézier curve."""
        if self.along == "x":
            middle = (self.x0 + self.x1) / 2
            return (middle, self.y0), (middle, self.y1)
        middle = (self.y0 + self.y1) / 2
        return (self.x0, middle), (self.x1, middle)


Shape = Rectangle | Text | Curve


@dataclass(frozen=True)
class Scene:
    """Shapes in the order in which they are drawn.

    Parameters
    ----------
    width : float
        Width.
    height : float
        Height.
    shapes : list[Shape]
        Rectangles, texts and curves.

    Examples
    --------
    >>> from hedgerow.drawing import Scene, Text, scene_to_svg
    >>> scene = Scene(100, 20, [Text(0, 14, "petal width", size=12)], "a label")
    >>> "petal width" in scene_to_svg(scene, "light")
    True
    """

    width: float
    height: float
    shapes: list[Shape]
    description: str
    """Text alternative of the picture, for screen readers."""
