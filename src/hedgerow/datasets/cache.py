"""Cache of fetched datasets: a Parquet file each, with a description and a checksum beside it."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from hedgerow.datasets.rows import DataFileError
from hedgerow.storage.replace import replaced

__all__ = ["Cached", "Origin", "cache_folder", "cached", "cached_table", "keep"]

_NAME = re.compile(r"[\w.+-]+")


@dataclass(frozen=True)
class Origin:
    """Identity and source of a fetched dataset."""

    name: str
    version: int
    id: int
    target: str
    url: str


@dataclass(frozen=True)
class Cached:
    """A fetched dataset in the cache."""

    origin: Origin
    sha256: str
    n_rows: int
    n_columns: int


def cache_folder(data_home: str | os.PathLike[str] | None = None) -> Path:
    """`data_home`, or HEDGEROW_CACHE, or ``hedgerow`` in the user's folder of caches."""
    if data_home is not None:
        return Path(data_home)
    if named := os.environ.get("HEDGEROW_CACHE"):
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "hedgerow")


def cached(folder: Path) -> Iterator[Cached]:
    """Iterate over the datasets in the cache, by name."""
    for path in sorted(folder.glob("*.json")):
        try:
            stored = json.loads(path.read_text())
            yield Cached(**stored | {"origin": Origin(**stored["origin"])})
        except (ValueError, TypeError, KeyError):
            raise DataFileError(f"{path} is damaged: delete it, and fetch the data again") from None


def keep(folder: Path, table: pa.Table, origin: Origin) -> None:
    """Write a table and what is known of it; the description comes last, so that it never stands for half a file."""
    if not _NAME.fullmatch(origin.name):
        raise DataFileError(f"the dataset is called {origin.name!r}, which can't be the name of a file")
    folder.mkdir(parents=True, exist_ok=True)
    data = folder / f"{origin.name}.parquet"
    with replaced(data) as file:
        pq.write_table(table, file)
    entry = Cached(origin, _sha256(data), table.num_rows, table.num_columns)
    with replaced(folder / f"{origin.name}.json") as file:
        file.write(json.dumps(asdict(entry), indent=1).encode())


def cached_table(folder: Path, entry: Cached) -> pa.Table:
    """Read a table whose checksum is right."""
    path = folder / f"{entry.origin.name}.parquet"
    try:
        with path.open("rb") as file:  # one open file: another process may replace the name in between
            if hashlib.file_digest(file, "sha256").hexdigest() == entry.sha256:
                return pq.read_table(file)
    except FileNotFoundError:
        pass
    raise DataFileError(f"{path} is missing or damaged: its checksum is wrong; delete it, and fetch the data again")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
