"""Errors of the command line, in one line each."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from click import UsageError

__all__ = ["CommandError", "UsageError", "nearest", "one_line"]


class CommandError(Exception):
    """Raised when a command can't be carried out; the message is one line with the reason and the fix."""


def nearest(name: str, known: Iterable[str], at_most: int = 10) -> str:
    """Return a hint: the most similar name, or else the first of all names."""
    names = list(known)
    lower = {one.lower(): one for one in names}
    similar = difflib.get_close_matches(name.lower(), lower, n=1)
    if similar:
        return f"did you mean {lower[similar[0]]!r}?"
    shown = ", ".join(map(repr, names[:at_most]))
    return f"there are {shown}{', ...' * (len(names) > at_most)}"


def one_line(error: BaseException) -> str:
    """Return an error's message without line breaks; a system error begins with its file."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return " ".join(str(error).split()) or type(error).__name__
