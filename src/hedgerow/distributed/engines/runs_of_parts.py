"""Consecutive parts that one task folds: fewer results travel, and a worker holds one part and one sum at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hedgerow.distributed.rows.parts import HeldPart

__all__ = ["FoldRun", "PartRun", "runs_of_parts", "size_of_run"]

_RUNS_PER_CORE = 8  # a lost worker costs at most about an eighth of its share of a pass


@dataclass(frozen=True)
class PartRun:
    """Parts that a task folds one after another."""

    parts: tuple[Any, ...]


@dataclass(frozen=True)
class FoldRun:
    """Task of a run: the results of its parts, merged as they come."""

    task: Callable[..., Any]
    merge: Callable[[Any, Any], Any]

    def __call__(self, run: Any, *shared: Any) -> Any:
        if not isinstance(run, PartRun):
            return self.task(run, *shared)
        first, *others = run.parts
        total = self.task(first, *shared)
        for part in others:
            total = self.merge(total, self.task(part, *shared))
        return total


def runs_of_parts(parts: Sequence[Any], n_cores: int) -> list[Any]:
    """Runs of about the same length for so many cores; parts that an engine holds stay alone."""
    length = -(-len(parts) // (_RUNS_PER_CORE * max(n_cores, 1)))
    if length < 2 or isinstance(parts[0], HeldPart):
        return list(parts)
    return [PartRun(tuple(parts[at : at + length])) for at in range(0, len(parts), length)]


def size_of_run(run: Any) -> int:
    """Number of parts."""
    return len(run.parts) if isinstance(run, PartRun) else 1
