"""A fit in progress: rows as arrays, the engine, and what the first pass has found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from hedgerow._params import RowError
from hedgerow.distributed.checkpoint import Checkpoint
from hedgerow.distributed.engine import Done, Engine, Part, add
from hedgerow.distributed.rows.parted_rows import PartedRows
from hedgerow.distributed.rows.row_blocks import Encoding
from hedgerow.distributed.survey import Survey

__all__ = ["Job", "OnBlocks", "Progress", "watch"]

Progress: TypeAlias = Callable[[str, int, int], object]
"""Called as ``progress("counting rows", n_done, n_parts)``."""


@dataclass(frozen=True)
class OnBlocks:
    """Task that takes a part, made of one that takes its rows as arrays."""

    task: Callable[..., Any]

    def __call__(self, part: Part, encoding: Encoding, *shared: Any) -> Any:
        try:
            return self.task(encoding.read(part), *shared)
        except RowError as error:
            problem, row, requirement = error.args
            raise ValueError(f"{part.where(row)}: {problem}, {requirement}") from None


@dataclass
class Job:
    """Passes over rows that have been surveyed."""

    engine: Engine
    rows: PartedRows
    survey: Survey
    checkpoint: Checkpoint
    seed: int
    progress: Progress | None = None
    structure_rows: int = 100_000
    """Most rows that random trees are grown from."""
    memory: int = 1 << 30
    """Bytes that a task may take for the rows that trees are grown from."""
    _encoding: Any = field(init=False)

    def __post_init__(self) -> None:
        self._encoding = self.engine.share(self.survey.encoding)

    def reading(self, encoding: Encoding) -> Job:
        """The job with another reading of rows."""
        return replace(self, survey=replace(self.survey, encoding=encoding))

    def share(self, value: Any) -> Any:
        """Send a value once to each worker."""
        return self.engine.share(value)

    def map(self, task: Callable[..., Any], *shared: Any, stage: str) -> list[Any]:
        """``task(block, *shared)`` of each part, in their order; `task` takes a RowBlock. `stage` names the pass."""
        parts = self.rows.parts
        done = watch(self.progress, stage, len(parts))
        return self.engine.map(parts, OnBlocks(task), self._encoding, *shared, done=done)

    def map_values(self, values: Sequence[Any], task: Callable[..., Any], *shared: Any, stage: str) -> list[Any]:
        """``task(value, *shared)`` of each value, in their order."""
        return self.engine.map(values, task, *shared, done=watch(self.progress, stage, len(values)))

    def fold(
        self,
        task: Callable[..., Any],
        *shared: Any,
        merge: Callable[[Any, Any], Any] = add,
        stage: str,
        parts: Sequence[Any] | None = None,
    ) -> Any:
        """``task(block, *shared)`` of each part (or of some), merged."""
        parts = self.rows.parts if parts is None else parts
        done = watch(self.progress, stage, len(parts))
        return self.engine.fold(parts, OnBlocks(task), self._encoding, *shared, merge=merge, done=done)


def watch(progress: Progress | None, stage: str, total: int) -> Done | None:
    """Callable for an engine that adds up finished parts for `progress`."""
    if progress is None:
        return None
    finished = 0

    def done(n_parts: int) -> None:
        nonlocal finished
        finished += n_parts
        progress(stage, finished, total)

    progress(stage, 0, total)
    return done
