"""Cache of what a fitted model computes once for its current parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["TableCache"]


Made = TypeVar("Made")

_MOST = 6  # a model may be asked for a probability, a set, an uncertainty, counts, votes and reasons in one walk


class TableCache:
    """Leaf tables, or whatever else depends only on parameters that may change after `fit`; never pickled.

    The last few are kept. The content is replaced in one assignment, so that threads that predict at the same time see
    either the old or the new one.

    Examples
    --------
    >>> from hedgerow.walk import TableCache
    >>> cache = TableCache()
    >>> cache.get("squares", lambda: [i * i for i in range(3)])
    [0, 1, 4]
    >>> cache.get("squares", lambda: 1 / 0)  # is not computed again
    [0, 1, 4]
    """

    def __init__(self) -> None:
        self._content: tuple[tuple[Any, Any], ...] = ()

    def get(self, key: Any, make: Callable[[], Made]) -> Made:
        """Return the entry of `key`, made by `make` if there is none.

        Parameters
        ----------
        key : hashable
            What the entry depends on.
        make : callable
            Makes the entry.

        Returns
        -------
        object
            The entry.
        """
        content = self._content
        for known, kept in content:
            if known is key or known == key:
                found: Made = kept
                return found
        made = make()
        self._content = (*content[1 - _MOST :], (key, made))
        return made

    def __reduce__(self) -> tuple[type, tuple[()]]:
        return TableCache, ()
