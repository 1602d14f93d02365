"""Colours of all pictures, under the name by which Displays import them."""

from hedgerow.drawing.palette import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    LIGHT_GREY,
    ORANGE,
    PURPLE,
    SKY_BLUE,
    VERMILION,
    class_color,
)

__all__ = [
    "BLACK",
    "BLUE",
    "GREEN",
    "GREY",
    "LIGHT_GREY",
    "ORANGE",
    "PURPLE",
    "SKY_BLUE",
    "VERMILION",
    "class_color",
]
