"""A text file cut into blocks of whole rows, and work on several blocks at once that keeps their order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from hedgerow._core import row_end

__all__ = ["Block", "in_order", "row_blocks"]

Part = TypeVar("Part")
Result = TypeVar("Result")


class Source(Protocol):
    """What bytes are read from."""

    def readinto(self, room: memoryview, /) -> int | None: ...


_BLOCK_BYTES = 1 << 23
_MOST_THREADS = 4


@dataclass(frozen=True)
class Block:
    """Whole rows of a file, the number of the line that they start with, and how many lines they are."""

    data: NDArray[np.uint8]
    first_line: int
    n_lines: int


def row_blocks(file: Source, first_line: int, size: int = _BLOCK_BYTES) -> Iterator[Block]:
    """Blocks of about `size` bytes that end where a row ends: at a line end that is not in quotes.

    >>> import io
    >>> [block.data.tobytes() for block in row_blocks(io.BytesIO(b'1,2\\n"a\\nb",3\\n4,5'), 1, size=7)]
    [b'1,2\\n', b'"a\\nb",3\\n', b'4,5']
    """
    rest = np.empty(0, dtype=np.uint8)
    while True:
        # A row longer than a block is scanned anew each time: reading at least as much again keeps the sum linear.
        room = np.empty(len(rest) + max(size, len(rest)), dtype=np.uint8)
        room[: len(rest)] = rest
        n_read = file.readinto(room.data[len(rest) :])
        if not n_read:
            break
        text = room[: len(rest) + n_read]
        end, n_lines = row_end(text)
        if end:
            yield Block(text[:end], first_line, n_lines)
            first_line += n_lines
        rest = text[end:].copy()  # without the rest of its room
    last = rest.tobytes()
    if last.strip():
        yield Block(rest, first_line, last.count(b"\n") + 1)


def in_order(work: Callable[[Part], Result], parts: Iterator[Part]) -> Iterator[Result]:
    """Results of some parts ahead of the one that is asked for, so that making and using them go on side by side."""
    n_threads = min(_MOST_THREADS, os.cpu_count() or 1)
    with ThreadPoolExecutor(n_threads) as pool:
        waiting: deque[Future[Result]] = deque()
        try:
            for part in parts:
                waiting.append(pool.submit(work, part))
                if len(waiting) > n_threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
