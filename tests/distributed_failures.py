"""What goes wrong on a cluster: parts whose reading kills the worker, and tasks that leave a mark."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

__all__ = ["Deadly", "deadly", "leave_mark", "n_deaths"]


@dataclass(frozen=True)
class Deadly:
    """Part that kills the process which reads it, every other time: once in each pass that reads it once."""

    part: Any
    folder: str

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.part, name)

    def batches(self) -> Iterator[Any]:
        for number in count():
            try:
                os.close(os.open(Path(self.folder, str(number)), os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                continue
            if number % 2 == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            break
        yield from self.part.batches()


def deadly(rows: Any, folder: Path, which: int = 0) -> Any:
    """Rows with a deadly part."""
    folder.mkdir()
    parts = list(rows.parts)
    parts[which] = Deadly(parts[which], str(folder))
    return replace(rows, parts=tuple(parts))


def n_deaths(folder: Path) -> int:
    """Number of processes that were killed."""
    return -(-len(list(folder.iterdir())) // 2)


def leave_mark(number: int, folder: str) -> int:
    """Task that is seen when it has been done."""
    time.sleep(0.2)
    Path(folder, str(number)).touch()
    return number
