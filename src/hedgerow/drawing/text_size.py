"""Widths of text without a font: a viewer chooses the font of an SVG, so that widths are estimated, generously."""

from __future__ import annotations

import unicodedata

__all__ = ["fit", "text_width"]

# Widths in a wide sans-serif font (close to those of DejaVu Sans; Helvetica and Arial are narrower), in parts of its
# size.
_GROUPS = {
    "ijlI.,:;|'!`": 0.32,
    ' ()[]{}/\\ftrJ-"°': 0.40,
    "abdeghknopqsuvxyzcL?*_^TFYSEPKBXZ": 0.64,
    "0123456789$#~": 0.64,
    "ACDGHNORUVQ&": 0.78,
    "mwMW%@=<>+±≤≥≠−–…": 0.88,
    "—": 1.0,
}
_WIDTHS = {character: width for characters, width in _GROUPS.items() for character in characters}
_OTHER, _WIDE = 0.72, 1.05
_BOLD = 1.1
_ELLIPSIS = "…"


def text_width(text: str, size: float, bold: bool = False) -> float:
    """Estimate the width of a line of text in a font of this size.

    >>> text_width("iiii", 10) < text_width("mmmm", 10) < text_width("木木木木", 10)
    True
    """
    total = sum(_WIDTHS.get(character) or _unusual(character) for character in text)
    return total * size * (_BOLD if bold else 1.0)


def _unusual(character: str) -> float:
    if unicodedata.combining(character):
        return 0.0
    return _WIDE if unicodedata.east_asian_width(character) in "WF" else _OTHER


def fit(text: str, width: float, size: float, bold: bool = False) -> str:
    """Cut text to a width, with an ellipsis where it is cut.

    >>> fit("short", 100, 10), fit("rather long for its place", 60, 10)
    ('short', 'rather lon…')
    """
    if text_width(text, size, bold) <= width:
        return text
    room = width - text_width(_ELLIPSIS, size, bold)
    kept = 0
    while kept < len(text) and (room := room - text_width(text[kept], size, bold)) >= 0:
        kept += 1
    return text[:kept].rstrip() + _ELLIPSIS
