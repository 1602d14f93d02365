"""What a fitted classifier keeps for predicting fast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hedgerow.walk import LeafTable

__all__ = ["FinishedTable"]


class FinishedTable:
    """The leaf table of the current parameters, made when they change; never pickled.

    Its content is replaced in one assignment, so that threads that predict at the same time see one or the other.
    """

    def __init__(self) -> None:
        self._content: tuple[Any, LeafTable] | None = None

    def get(self, key: Any, make: Callable[[], LeafTable]) -> LeafTable:
        content = self._content
        if content is None or content[0] != key:
            content = self._content = (key, make())
        return content[1]

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return FinishedTable, ()
