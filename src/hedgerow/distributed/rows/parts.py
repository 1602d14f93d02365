"""Parts: recipes for rows in Parquet files, and rows that an engine holds already."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlparse

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = [
    "ROWS_AT_ONCE",
    "HeldPart",
    "ParquetPart",
    "Place",
    "TablePart",
    "open_parquet",
    "run",
    "run_held",
    "to_table",
]

ROWS_AT_ONCE = 1 << 16  # converted at a time: the Arrow columns of a part need not all be in memory


@dataclass(frozen=True)
class ParquetPart:
    """Some row groups of a Parquet file."""

    path: str
    groups: tuple[int, ...]
    first: int
    n_rows: int
    columns: tuple[str, ...]
    """Columns that are read, in this order."""
    text: tuple[str, ...] = ()
    """Columns of text among them: read as dictionaries, which is many times faster."""
    before: int = 0
    """Rows of the file that stand before these."""

    @property
    def label(self) -> str:
        return self.path

    def where(self, row: int) -> str:
        return f"{self.path}: row {self.before + row + 1}"

    def batches(self) -> Iterator[pa.Table]:
        import pyarrow as pa

        if not self.n_rows:
            return
        with open_parquet(self.path, self.text) as file:
            batches = file.iter_batches(
                ROWS_AT_ONCE, row_groups=list(self.groups), columns=list(self.columns), use_threads=False
            )
            for batch in batches:
                yield pa.Table.from_batches([batch]).select(list(self.columns))


@dataclass(frozen=True)
class TablePart:
    """Rows of a table in memory: of a partition that an engine holds."""

    table: pa.Table
    first: int
    label: str = "a table"

    @property
    def n_rows(self) -> int:
        return self.table.num_rows

    def where(self, row: int) -> str:
        return f"{self.label}: row {self.first + row + 1} of all"

    def batches(self) -> Iterator[pa.Table]:
        for first in range(0, self.table.num_rows, ROWS_AT_ONCE):
            yield self.table.slice(first, ROWS_AT_ONCE)


@dataclass(frozen=True)
class Place:
    """Where rows stand among all."""

    first: int
    n_rows: int
    label: str


@dataclass(frozen=True)
class HeldPart:
    """Rows that an engine holds: its own reference to them, which workers are given as a table."""

    rows: Any
    place: Place

    @property
    def label(self) -> str:
        return self.place.label

    @property
    def first(self) -> int:
        return self.place.first

    @property
    def n_rows(self) -> int:
        return self.place.n_rows


def run(task: Callable[..., Any], part: Any, *shared: Any) -> Any:
    """Do a task, in a worker."""
    return task(part, *shared)


def run_held(task: Callable[..., Any], rows: Any, place: Place, *shared: Any) -> Any:
    """Do a task on rows that an engine holds, in a worker: an Arrow table or a data frame."""
    table = to_table(rows)
    if table.num_rows != place.n_rows:
        raise ValueError(
            f"{place.label} has {table.num_rows} rows, and had {place.n_rows} before: it was computed again, with "
            "other rows; write the rows to Parquet files first"
        )
    return task(TablePart(table, place.first, place.label), *shared)


def to_table(rows: Any) -> pa.Table:
    """An Arrow table of a data frame, without its index."""
    import pyarrow as pa

    return rows if isinstance(rows, pa.Table) else pa.Table.from_pandas(rows, preserve_index=False)


def open_parquet(path: str, text: tuple[str, ...] = ()) -> Any:
    """Open a Parquet file: memory-mapped if it is a path, else through the file system that its address names."""
    import pyarrow.parquet as pq

    if len(urlparse(path).scheme) < 2:  # a letter is a drive
        return pq.ParquetFile(path, memory_map=True, read_dictionary=list(text))
    from pyarrow.fs import FileSystem

    system, inner = FileSystem.from_uri(path)
    return pq.ParquetFile(system.open_input_file(inner), read_dictionary=list(text))
