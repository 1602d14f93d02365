"""Colours that are distinguishable with any kind of colour blindness: Okabe and Ito, Color Universal Design (2008)."""

from __future__ import annotations

__all__ = ["BLACK", "BLUE", "GREEN", "GREY", "LIGHT_GREY", "ORANGE", "PURPLE", "SKY_BLUE", "VERMILION"]

BLACK, BLUE, GREEN, ORANGE = "#000000", "#0072B2", "#009E73", "#E69F00"
PURPLE, SKY_BLUE, VERMILION = "#CC79A7", "#56B4E9", "#D55E00"
GREY, LIGHT_GREY = "#666666", "#C4C4C4"
