"""Work that goes on in a thread before its results are asked for."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
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


def ahead(items: Iterator[Item], most_bytes: int = _MOST_BYTES) -> Iterator[Item]:
    """The same items in the same order, made before they are asked for as long as they take less than `most_bytes`.

    The first is made here, so that what it imports is there before two threads import side by side.

    >>> import numpy as np
    >>> [int(item) for item in ahead(np.float64(i) for i in range(3))]
    [0, 1, 2]
    """
    first = list(islice(items, 1))
    queue: _Queue[Item] = _Queue(first, most_bytes)
    Thread(target=queue.fill, args=(items,), daemon=True).start()
    return queue.emptied()


class _Queue(Generic[Item]):
    """Between the thread that makes items and the one that uses them."""

    def __init__(self, items: list[Item], most_bytes: int) -> None:
        self._items = deque(items)
        self._most_bytes = most_bytes
        self._n_bytes = sum(item.nbytes for item in items)
        self._changed = Condition()
        self._complete = self._unwanted = False
        self._error: BaseException | None = None

    def fill(self, items: Iterator[Item]) -> None:
        try:
            for item in items:
                with self._changed:
                    self._changed.wait_for(lambda: self._n_bytes < self._most_bytes or self._unwanted)
                    if self._unwanted:
                        break
                    self._items.append(item)
                    self._n_bytes += item.nbytes
                    self._changed.notify_all()
        except BaseException as error:  # to be raised where the items are used
            self._error = error
        with self._changed:
            self._complete = True
            self._changed.notify_all()

    def emptied(self) -> Iterator[Item]:
        try:
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
        finally:
            with self._changed:
                self._unwanted = True
                self._changed.notify_all()
