"""A scene as SVG that needs nothing else: no fonts, no scripts, no style sheets."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape, quoteattr

from hedgerow._params import check_choice
from hedgerow.drawing.scene import ROLES, Curve, Rectangle, Scene, Shape, Text, Theme

__all__ = ["BACKGROUNDS", "scene_to_svg"]

BACKGROUNDS = ("auto", "light", "dark", "transparent")
# XML 1.0 has no way to write these, escaped or not.
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_FONTS = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
# Notebooks have a theme of their own, whatever the system's.
_NOTEBOOKS: dict[Theme, tuple[str, ...]] = {
    "light": ('body[data-jp-theme-light="true"]', "body.vscode-light"),
    "dark": ('body[data-jp-theme-light="false"]', "body.vscode-dark", '[data-theme="dark"]'),
}


def scene_to_svg(scene: Scene, background: str = "auto") -> str:
    """Write a scene.

    `background` "auto" follows the viewer's preference, light or dark; "light" and "dark" are fixed; "transparent" has
    the colours of "auto" and nothing behind them.

    Parameters
    ----------
    scene : Scene
        What is to be drawn.
    background : {"auto", "light", "dark", "transparent"}, default="auto"
        "auto" is that of the viewer.

    Returns
    -------
    str
        An SVG document.

    Raises
    ------
    ValueError
        If `background` is not one of the four.

    Examples
    --------
    >>> from hedgerow.drawing import Rectangle, Scene, scene_to_svg
    >>> box = Rectangle(0, 0, 40, 20, fill="card")
    >>> scene_to_svg(Scene(40, 20, [box], "a box")).startswith("<svg")
    True
    """
    check_choice("background", background, BACKGROUNDS)
    width, height = _number(scene.width), _number(scene.height)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="hedgerow hedgerow-{background}" width="{width}" '
        f'height="{height}" viewBox="0 0 {width} {height}" role="img" aria-label={_attribute(scene.description)}>',
        f"<style>{_style(background)}</style>",
    ]
    if background != "transparent":
        lines.append(f'<rect width="{width}" height="{height}" class="f-background"/>')
    lines += [_element(shape) for shape in scene.shapes]
    return "\n".join([*lines, "</svg>", ""])


# --- Colours ----------------------------------------------------------------------------------------------------


def _style(background: str) -> str:
    """Rules for the colours with a name. Plain rules come first: some viewers know no media queries."""
    scope = f".hedgerow-{background}"
    rules = [f"{scope} text{{font-family:{_FONTS}}}"]
    if background == "dark":
        return "".join([*rules, _colors(scope, "dark")])
    rules.append(_colors(scope, "light"))
    if background != "light":
        rules.append(f"@media (prefers-color-scheme: dark){{{_colors(scope, 'dark')}}}")
        for theme, places in _NOTEBOOKS.items():
            rules += [_colors(f"{place} {scope}", theme) for place in places]
    return "".join(rules)


def _colors(scope: str, theme: Theme) -> str:
    return "".join(
        f"{scope} .f-{role}{{fill:{colors[theme]}}}{scope} .s-{role}{{stroke:{colors[theme]}}}"
        for role, colors in ROLES.items()
    )


def _paint(fill: str, line: str) -> str:
    """Attributes of an element that has a fill and a line, by name or as colours; empty is none."""
    classes = [f"{kind}-{color}" for kind, color in (("f", fill), ("s", line)) if color in ROLES]
    attributes = f' class="{" ".join(classes)}"' if classes else ""
    if fill not in ROLES:
        attributes += f' fill="{fill or "none"}"'
    if line and line not in ROLES:
        attributes += f' stroke="{line}"'
    return attributes


# --- Elements ---------------------------------------------------------------------------------------------------


def _element(shape: Shape) -> str:
    match shape:
        case Rectangle():
            return _rectangle(shape)
        case Text():
            return _text(shape)
        case Curve():
            return _curve(shape)


def _rectangle(shape: Rectangle) -> str:
    attributes = "".join(
        f' {name}="{_number(value)}"'
        for name, value in (("x", shape.x), ("y", shape.y), ("width", shape.width), ("height", shape.height))
    )
    if shape.radius:
        attributes += f' rx="{_number(shape.radius)}"'
    if shape.line and shape.line_width != 1:
        attributes += f' stroke-width="{_number(shape.line_width)}"'
    if shape.dashed:
        attributes += ' stroke-dasharray="4 3"'
    return _with_tooltip("rect", attributes + _paint(shape.fill, shape.line), "", shape.tooltip)


def _text(shape: Text) -> str:
    attributes = f' x="{_number(shape.x)}" y="{_number(shape.y)}" font-size="{_number(shape.size)}"'
    if shape.anchor != "start":
        attributes += f' text-anchor="{shape.anchor}"'
    if shape.bold:
        attributes += ' font-weight="bold"'
    return _with_tooltip("text", attributes + _paint(shape.color, ""), _content(shape.text), shape.tooltip)


def _curve(shape: Curve) -> str:
    (ax, ay), (bx, by) = shape.controls
    numbers = (shape.x0, shape.y0, ax, ay, bx, by, shape.x1, shape.y1)
    x0, y0, *others = map(_number, numbers)
    pairs = " ".join(f"{x},{y}" for x, y in zip(others[::2], others[1::2], strict=True))
    return f'<path d="M{x0},{y0} C{pairs}" stroke-width="{_number(shape.width)}"{_paint("", shape.color)}/>'


def _with_tooltip(name: str, attributes: str, content: str, tooltip: str) -> str:
    if tooltip and tooltip != content:
        content += f"<title>{_content(tooltip)}</title>"
    return f"<{name}{attributes}>{content}</{name}>" if content else f"<{name}{attributes}/>"


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _content(text: str) -> str:
    return escape(_NOT_XML.sub("\ufffd", text))


def _attribute(text: str) -> str:
    return quoteattr(_NOT_XML.sub("\ufffd", text))
