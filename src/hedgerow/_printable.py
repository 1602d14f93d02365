"""Text that is safe to print: names and labels come from files, and a terminal obeys the control characters in them."""

from __future__ import annotations

import re

__all__ = ["in_one_line", "printable"]

# Control characters (escape sequences begin with one), line and paragraph separators, bidirectional embeddings,
# overrides and isolates, and lone surrogates, which no encoding can write.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printable(value: object) -> str:
    r"""Escape whatever would steer the terminal instead of being shown; the result is one line.

    >>> print(printable("weight [kg]\x1b[2J\nü \u202e"))
    weight [kg]\x1b[2J\nü \u202e
    """
    return _UNSAFE.sub(lambda found: found[0].encode("unicode_escape").decode(), str(value))


def in_one_line(message: object) -> str:
    """A message of several lines, such as a list of names, as one."""
    return " ".join(str(message).split()).replace(": - ", ": ").replace(" - ", ", ")
