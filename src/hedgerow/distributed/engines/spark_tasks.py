"""Tasks for Spark's workers: Arrow batches in, Arrow batches out.

A result is some rows with a name, a position and pickled bytes; the name "" says that the bytes are an error, which the
driver raises as it is instead of Spark's text about it.
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from hedgerow.distributed.rows.parts import Place, run, run_held

__all__ = ["Pieces", "Task", "Whole", "add_pieces", "merging", "partition_number", "share_file", "whole_arrays"]

Row = tuple[str, int, Any]

_PIECE = 1 << 18  # elements that are added up by a task


@dataclass(frozen=True)
class Task:
    """A task with what it shares, and how its results become rows."""

    task: Callable[..., Any]
    shared: Sequence[Any]
    emit: Callable[[int, Any], Iterable[Row]]

    schema = "name string, at long, data binary"

    def on_recipes(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Run on parts, pickled, with their positions."""
        for batch in batches:
            for at, part in zip(batch["at"].to_pylist(), batch["part"].to_pylist(), strict=True):
                yield from self._rows(at, run, pickle.loads(part))

    def on_rows(self, places: Mapping[int, tuple[int, Place]]) -> Callable[[Iterator[Any]], Iterator[Any]]:
        """Run on the rows of partitions; `places` has the position and the place of each that is wanted."""

        def on_partition(batches: Iterator[Any]) -> Iterator[Any]:
            import pyarrow as pa

            number, rows = partition_number(), list(batches)
            if number in places and rows:
                at, place = places[number]
                yield from self._rows(at, run_held, pa.Table.from_batches(rows), place)

        return on_partition

    def _rows(self, at: int, do: Callable[..., Any], *what: Any) -> Iterator[Any]:
        """Rows of a result, or of the error."""
        try:
            rows = list(self.emit(at, do(self.task, *what, *map(_value, self.shared))))
        except Exception as error:
            rows = [("", at, error)]
        for row in rows:
            yield _batch(row)


def partition_number() -> int:
    """Number of the partition that a worker is at."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else context.partitionId()


@dataclass(frozen=True)
class Whole:
    """Results as they are; several share a key, to be merged."""

    n_together: int = 1

    def __call__(self, at: int, result: Any) -> list[Row]:
        return [("result", at // self.n_together, result)]


class Pieces:
    """Arrays cut in pieces, which different tasks add up."""

    def __call__(self, at: int, result: Mapping[str, Any]) -> Iterator[Row]:
        for name, value in result.items():
            array = np.asarray(value)
            flat = array.reshape(-1)
            for first in range(0, max(1, len(flat)), _PIECE):
                yield name, first, (array.shape, flat[first : first + _PIECE])


def merging(merge: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Function for ``applyInArrow``: merges the rows of a key."""

    def merged(key: Any, table: Any) -> Any:
        import pyarrow as pa

        name, at = table["name"][0].as_py(), table["at"][0].as_py()
        values = [pickle.loads(data) for data in table["data"].to_pylist()]
        if name == "":
            return pa.Table.from_batches([_batch((name, at, values[0]))])
        try:
            row = name, at, reduce(merge, values)
        except Exception as error:
            row = "", at, error
        return pa.Table.from_batches([_batch(row)])

    return merged


def add_pieces(one: Any, other: Any) -> Any:
    """Add the pieces of two arrays."""
    return one[0], one[1] + other[1]


def whole_arrays(found: Iterable[tuple[tuple[str, int], tuple[tuple[int, ...], NDArray[Any]]]]) -> dict[str, Any]:
    """Arrays of sorted pieces."""
    shapes: dict[str, tuple[int, ...]] = {}
    pieces: dict[str, list[NDArray[Any]]] = {}
    for (name, _), (shape, piece) in found:
        shapes[name] = shape
        pieces.setdefault(name, []).append(piece)
    return {name: np.concatenate(some).reshape(shapes[name]) for name, some in pieces.items()}


def share_file(session: Any, value: Any) -> SharedFile:
    """Send a file to all executors of a Connect session."""
    import cloudpickle

    name = f"hedgerow-{uuid4().hex}.pickle"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(cloudpickle.dumps(value))
        session.addArtifact(str(path), file=True)
    return SharedFile(name)


@dataclass(frozen=True)
class SharedFile:
    """A value in a file that was sent to all executors."""

    name: str

    @property
    def value(self) -> Any:
        return _read(self.name)


@lru_cache(maxsize=4)
def _read(name: str) -> Any:
    from pyspark import SparkFiles

    return pickle.loads(Path(SparkFiles.get(name)).read_bytes())


def _value(shared: Any) -> Any:
    return shared.value if isinstance(shared, SharedFile) or type(shared).__name__ == "Broadcast" else shared


def _batch(row: Row) -> Any:
    import pyarrow as pa

    name, at, value = row
    columns = {"name": pa.array([name]), "at": pa.array([at], pa.int64()), "data": pa.array([pickle.dumps(value)])}
    return pa.RecordBatch.from_pydict(columns)
