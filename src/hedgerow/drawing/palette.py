"""Colours that are distinguishable with any kind of colour blindness: Okabe and Ito, Color Universal Design (2008)."""

from __future__ import annotations

__all__ = [
    *("BLACK", "BLUE", "GREEN", "GREY", "LIGHT_GREY", "ORANGE", "PURPLE", "SKY_BLUE", "VERMILION"),
    *("blend", "class_color"),
]

BLACK, BLUE, GREEN, ORANGE = "#000000", "#0072B2", "#009E73", "#E69F00"
PURPLE, SKY_BLUE, VERMILION = "#CC79A7", "#56B4E9", "#D55E00"
GREY, LIGHT_GREY = "#666666", "#C4C4C4"

_HUES = (BLUE, ORANGE, GREEN, PURPLE, SKY_BLUE, VERMILION)
# What the hues are mixed with from the seventh class on, and how much of it.
_TINTS = (("#ffffff", 0.0), ("#000000", 0.4), ("#ffffff", 0.5), ("#000000", 0.62), ("#ffffff", 0.72))


def class_color(number: int) -> str:
    """Colour of a class by its position in `classes_`; shades of the same hues from the seventh class on."""
    turn, hue = divmod(number, len(_HUES))
    other, amount = _TINTS[turn % len(_TINTS)]
    return blend(_HUES[hue], other, amount)


def blend(color: str, other: str, amount: float) -> str:
    """Mix two colours, ``#rrggbb``; `amount` is the share of the second.

    >>> blend("#000000", "#ffffff", 0.5)
    '#808080'
    """
    if amount == 0:
        return color
    pairs = ((int(color[i : i + 2], 16), int(other[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(a + (b - a) * amount):02x}" for a, b in pairs)
