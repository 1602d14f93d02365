"""A text file cut into blocks of whole rows, and work on several blocks at once that keeps their order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol, TypeVar

__all__ = ["Block", "in_order", "row_blocks"]

Result = TypeVar("Result")


class Source(Protocol):
    """What bytes are read from."""

    def read(self, size: int, /) -> bytes: ...


_BLOCK_BYTES = 1 << 22
_MOST_THREADS = 4


@dataclass(frozen=True)
class Block:
    """Whole rows of a file, the number of the line that they start with, and how many lines they are."""

    data: bytes
    first_line: int
    n_lines: int


def row_blocks(file: Source, first_line: int, size: int = _BLOCK_BYTES) -> Iterator[Block]:
    """Blocks of about `size` bytes that end where a row ends: at a line end that is not in quotes.

    >>> import io
    >>> [block.data for block in row_blocks(io.BytesIO(b'1,2\\n"a\\nb",3\\n4,5'), 1, size=7)]
    [b'1,2\\n', b'"a\\nb",3\\n', b'4,5']
    """
    rest = b""
    while data := file.read(size):
        rest += data
        if cut := _end_of_row(rest):
            n_lines = rest.count(b"\n", 0, cut)
            yield Block(rest[:cut], first_line, n_lines)
            first_line += n_lines
            rest = rest[cut:]
    if rest.strip():
        yield Block(rest, first_line, rest.count(b"\n") + 1)


def _end_of_row(data: bytes) -> int:
    """Behind the last line end with an even number of quotes before it; 0 if there is none."""
    end = data.rfind(b"\n") + 1
    n_quotes = data.count(b'"', 0, end)
    while end and n_quotes % 2:
        before = data.rfind(b"\n", 0, end - 1) + 1
        n_quotes -= data.count(b'"', before, end)
        end = before
    return end


def in_order(work: Callable[[Block], Result], blocks: Iterator[Block]) -> Iterator[Result]:
    """Results of some blocks ahead of the one that is asked for, so that reading and using them go on side by side."""
    n_threads = min(_MOST_THREADS, os.cpu_count() or 1)
    with ThreadPoolExecutor(n_threads) as pool:
        waiting: deque[Future[Result]] = deque()
        try:
            for block in blocks:
                waiting.append(pool.submit(work, block))
                if len(waiting) > n_threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
