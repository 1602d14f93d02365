"""What a fitted classifier keeps for predicting fast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hedgerow.walk import LeafTable

__all__ = ["FinishedTable"]


class FinishedTable:
    """The leaf tables of the current parameters, made when they change; never pickled.

    The last two are kept, because some estimators have one for probabilities and one for sets. Its content is replaced
    in one assignment, so that threads that predict at the same time see one or the other.
    """

    def __init__(self) -> None:
        self._content: tuple[tuple[Any, LeafTable], ...] = ()

    def get(self, key: Any, make: Callable[[], LeafTable]) -> LeafTable:
        content = self._content
        for known, table in content:
            if known == key:
                return table
        table = make()
        self._content = (*content[-1:], (key, table))
        return table

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return FinishedTable, ()
