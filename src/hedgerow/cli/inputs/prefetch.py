"""Bounded background prefetch of an iterator."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import chain, islice
from queue import Empty, Queue
from threading import Event, Thread
from typing import TypeVar

__all__ = ["prefetch"]

Item = TypeVar("Item")

_MAX_READY = 8


@contextmanager
def prefetch(items: Iterator[Item], max_ready: int = _MAX_READY) -> Iterator[Iterator[Item]]:
    """Compute up to `max_ready` items ahead in a thread; they keep their order, and errors are raised in their place.

    The first item is computed before the thread starts, so that two threads do not run the same imports.

    >>> with prefetch(iter(range(3))) as numbers:
    ...     list(numbers)
    [0, 1, 2]
    """
    first = list(islice(items, 1))
    ready: Queue[tuple[Item] | BaseException | None] = Queue(max_ready)
    closed = Event()

    def fill() -> None:
        end: BaseException | None = None
        try:
            for item in items:
                ready.put((item,))
                if closed.is_set():
                    return
        except BaseException as error:
            end = error
        ready.put(end)

    def take() -> Iterator[Item]:
        while isinstance(found := ready.get(), tuple):
            yield found[0]
        if found is not None:
            raise found

    # A daemon: exit does not wait for a thread that waits for more of a pipe.
    Thread(target=fill, daemon=True).start()
    try:
        yield chain(first, take())
    finally:
        closed.set()
        with suppress(Empty):
            while True:
                ready.get_nowait()
