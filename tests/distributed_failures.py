"""What goes wrong on a cluster: parts whose reading kills the worker, and tasks that leave a mark."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

__all__ = ["Deadly", "deadly", "deaths", "enter_stage", "leave_mark"]

_STAGE = "stage"
_DEATH = "death in "


@dataclass(frozen=True)
class Deadly:
    """Part that kills the first process which reads it in each stage."""

    part: Any
    folder: str

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.part, name)

    def batches(self) -> Iterator[Any]:
        stage = Path(self.folder, _STAGE).read_text()
        try:
            os.close(os.open(Path(self.folder, _DEATH + stage), os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            yield from self.part.batches()
        else:
            os.kill(os.getpid(), signal.SIGKILL)


def deadly(rows: Any, folder: Path, which: int = 0) -> Any:
    """Rows with a deadly part; `enter_stage` says which stage workers are in."""
    folder.mkdir()
    parts = list(rows.parts)
    parts[which] = Deadly(parts[which], str(folder))
    return replace(rows, parts=tuple(parts))


def enter_stage(folder: Path, stage: str) -> None:
    """Name the stage before its tasks are submitted; the file is replaced at once, so that no task reads half of it."""
    following = folder / "next"
    following.write_text(stage)
    following.replace(folder / _STAGE)


def deaths(folder: Path) -> set[str]:
    """Stages in which a process was killed."""
    return {file.name.removeprefix(_DEATH) for file in folder.glob(_DEATH + "*")}


def leave_mark(number: int, folder: str) -> int:
    """Task that is seen when it has been done."""
    time.sleep(0.2)
    Path(folder, str(number)).touch()
    return number
