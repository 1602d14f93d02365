"""What a fitted classifier keeps for predicting fast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["FinishedTable"]


Made = TypeVar("Made")


class FinishedTable:
    """The leaf tables, or whatever else is made once, of the current parameters, made when they change; never pickled.

    The last two are kept, because some estimators have one for probabilities and one for sets. Its content is replaced
    in one assignment, so that threads that predict at the same time see one or the other.
    """

    def __init__(self) -> None:
        self._content: tuple[tuple[Any, Any], ...] = ()

    def get(self, key: Any, make: Callable[[], Made]) -> Made:
        content = self._content
        for known, table in content:
            if known == key:
                made: Made = table
                return made
        table = make()
        self._content = (*content[-1:], (key, table))
        return table

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return FinishedTable, ()
