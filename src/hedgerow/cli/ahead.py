"""Work that goes on in a thread before its results are asked for."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from threading import Condition, Thread
from typing import Generic, Protocol, TypeVar

__all__ = ["ahead"]

_MOST_BYTES = 1 << 26


class Sized(Protocol):
    """What takes memory."""

    @property
    def nbytes(self) -> int:
        """How much."""


Item = TypeVar("Item", bound=Sized)


@contextmanager
def ahead(items: Iterator[Item], most_bytes: int = _MOST_BYTES) -> Iterator[Iterator[Item]]:
    """The same items in the same order, made before they are asked for as long as they take less than `most_bytes`.

    The first is waited for, so that what it imports is there before two threads import side by side.

    >>> import numpy as np
    >>> with ahead(np.float64(i) for i in range(3)) as numbers:
    ...     [int(number) for number in numbers]
    [0, 1, 2]
    """
    queue: _Queue[Item] = _Queue(most_bytes)
    queue.fill(islice(items, 1))
    Thread(target=queue.fill_up, args=(items,), daemon=True).start()
    try:
        yield queue.emptied()
    finally:
        queue.leave()


class _Queue(Generic[Item]):
    """Between the thread that makes items and the one that uses them."""

    def __init__(self, most_bytes: int) -> None:
        self._items: deque[Item] = deque()
        self._n_bytes = 0
        self._most_bytes = most_bytes
        self._changed = Condition()
        self._complete = self._left = False
        self._error: BaseException | None = None

    def fill(self, items: Iterator[Item]) -> None:
        for item in items:
            with self._changed:
                self._changed.wait_for(lambda: self._n_bytes < self._most_bytes or self._left)
                if self._left:
                    return
                self._items.append(item)
                self._n_bytes += item.nbytes
                self._changed.notify_all()

    def fill_up(self, items: Iterator[Item]) -> None:
        try:
            self.fill(items)
        except BaseException as error:
            self._error = error  # raised where the items are used
        with self._changed:
            self._complete = True
            self._changed.notify_all()

    def emptied(self) -> Iterator[Item]:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._items or self._complete)
                if not self._items:
                    break
                item = self._items.popleft()
                self._n_bytes -= item.nbytes
                self._changed.notify_all()
            yield item
        if self._error is not None:
            raise self._error

    def leave(self) -> None:
        """Nobody will use what is left."""
        with self._changed:
            self._left = True
            self._changed.notify_all()
