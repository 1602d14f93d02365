"""Rows in parts, and Parquet files as such."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hedgerow._params import check_whole
from hedgerow.distributed.rows.common_columns import common_columns, is_text_like
from hedgerow.distributed.rows.parts import ParquetPart, open_parquet

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["PartedRows", "assign_roles", "parquet"]

_ROWS_PER_PART = 1 << 18  # 40 MB of 20 columns


@dataclass(frozen=True)
class PartedRows:
    """Rows that are read part by part; made by :func:`parquet` and the `from_` functions.

    The numbers of the rows, and with them all results, do not depend on how they are divided.

    Parameters
    ----------
    n_rows : int
        Number of rows of all parts.
    target : str or None, default=None
        Name of the column that is predicted.
    weight : str or None, default=None
        Name of the column with sample weights; None: all alike.

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> from hedgerow.distributed import parquet
    >>> folder = tempfile.mkdtemp()
    >>> pq.write_table(pa.table({"x": [1.0, 2.0], "id": [7, 8], "y": ["a", "b"]}), f"{folder}/rows.parquet")
    >>> rows = parquet(folder, target="y", ignore=["id"])
    >>> rows.n_rows, rows.inputs
    (2, ('x',))
    """

    parts: tuple[Any, ...]
    """A :class:`~hedgerow.distributed.Part` each, or what `home` turns into one."""
    schema: Any
    """Arrow schema of the columns that are read."""
    n_rows: int
    inputs: tuple[str, ...]
    """Columns that are split on."""
    target: str | None = None
    weight: str | None = None
    home: str = ""
    """Name of the engine that holds the parts; empty if every engine can read them."""
    identity: str = ""
    """Digest of what the rows are, for checkpoints."""

    def __repr__(self) -> str:
        target = "" if self.target is None else f", target {self.target!r}"
        weight = "" if self.weight is None else f", weight {self.weight!r}"
        return f"<{self.n_rows:,} rows in {len(self.parts)} parts: {len(self.inputs)} columns{target}{weight}>"


def parquet(
    paths: Any,
    *,
    target: str | None = None,
    weight: str | None = None,
    ignore: Sequence[str] = (),
    n_parts: int | None = None,
) -> PartedRows:
    """Rows of Parquet files, in the order of `paths`.

    Only the ends of the files are read now, which say what is in them. Workers read the rest: on several machines the
    files must be where all of them see them, under the same names.

    Parameters
    ----------
    paths : str, path, or a list of them
        Files, folders (all ``*.parquet`` in them, by name), patterns such as ``"big/*.parquet"``, or addresses such as
        ``s3://bucket/rows.parquet``.
    target : str or None, default=None
        Column of the class or the target; None for rows to predict.
    weight : str or None, default=None
        Column of sample weights.
    ignore : sequence of str, default=()
        Names of columns that are neither split on nor read.
    n_parts : int or None, default=None
        Number of parts, made of whole row groups; None for parts of about 260,000 rows. Results do not depend on it. A
        worker holds some parts at a time.

    Returns
    -------
    PartedRows
        Recipes for the rows, which are read when they are needed.

    Raises
    ------
    ValueError
        If there are no files or no rows, files have different columns, or a named column is not there.

    Examples
    --------
    >>> from hedgerow.distributed import parquet
    >>> import tempfile, pyarrow as pa, pyarrow.parquet as pq
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pq.write_table(pa.table({"x": [1.0, 2.0], "y": ["a", "b"]}), f"{folder}/rows.parquet")
    ...     parquet(folder, target="y")
    <2 rows in 1 parts: 1 columns, target 'y'>
    """
    files = _files(paths)
    footers = [_footer(path) for path in files]
    schema = common_columns([(path, footer.schema) for path, footer in zip(files, footers, strict=True)])
    inputs, read = assign_roles(schema.names, files[0], target, weight, ignore)
    text = tuple(name for name in read if is_text_like(schema.field(name).type))
    groups: list[ParquetPart] = []
    first = 0
    for path, footer in zip(files, footers, strict=True):
        before = first
        for group, n_rows in enumerate(footer.sizes):
            groups.append(ParquetPart(path, (group,), first, n_rows, read, text, first - before))
            first += n_rows
    if not first:
        where = files[0] if len(files) == 1 else f"any of {len(files)} files from {files[0]} on"
        raise ValueError(f"there are no rows in {where}: give a file with rows")
    parts = _joined(groups, _ROWS_PER_PART if n_parts is None else _size(n_parts, first))
    identity = hashlib.sha256(
        repr([(os.path.basename(path), footer.digest) for path, footer in zip(files, footers, strict=True)]).encode()
        + repr((read, inputs, target, weight)).encode()
    ).hexdigest()
    kept = [schema.field(name) for name in read]
    return PartedRows(tuple(parts), _schema(kept), first, inputs, target, weight, identity=identity)


def assign_roles(
    names: Sequence[str], source: str, target: str | None, weight: str | None, ignore: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Columns that are split on, and columns that are read."""
    for what, name in (("target", target), ("weight", weight), *(("ignore", name) for name in ignore)):
        if name is not None and name not in names:
            known = ", ".join(map(repr, names[:20]))
            raise ValueError(f"{what} is {name!r}, which is not a column of {source}: there are {known}")
    inputs = tuple(name for name in names if name not in {target, weight, *ignore})
    if not inputs:
        raise ValueError(f"{source} has no column to split on, besides {', '.join(map(repr, names))}")
    return inputs, tuple(name for name in names if name in {*inputs, target, weight})


def _size(n_parts: int, n_rows: int) -> int:
    return -(-n_rows // check_whole("n_parts", n_parts, 1))


def _schema(fields: Sequence[Any]) -> Any:
    import pyarrow as pa

    return pa.schema(fields)


def _joined(groups: Iterable[ParquetPart], size: int) -> list[ParquetPart]:
    """Join neighbouring row groups of a file until a part has its share of `size` rows each."""
    parts: list[ParquetPart] = []
    for group in groups:
        last = parts[-1] if parts else None
        if last and last.path == group.path and last.n_rows + group.n_rows // 2 < size:
            parts[-1] = replace(last, groups=last.groups + group.groups, n_rows=last.n_rows + group.n_rows)
        else:
            parts.append(group)
    return parts


def _files(paths: Any) -> list[str]:
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    found: list[str] = []
    for path in given:
        one = str(os.fspath(path))
        if "://" in one:
            found.append(one)
        elif os.path.isdir(one):
            found += sorted(map(str, Path(one).glob("*.parquet")))
        elif has_magic(one) and not os.path.exists(one):
            found += sorted(glob(one))
        else:
            found.append(one)
    if not found:
        raise ValueError(f"paths is {paths!r}, where there is no Parquet file: give files, folders or patterns")
    return [one if "://" in one else os.path.abspath(one) for one in found]


@dataclass(frozen=True)
class _Footer:
    """Facts about the rows of a file, from its footer."""

    schema: pa.Schema
    sizes: list[int]
    """Number of rows of each row group."""
    digest: str
    """Of all of it: also the sizes of the columns in bytes, and their least and greatest values."""


def _footer(path: str) -> _Footer:
    import pyarrow as pa

    try:
        with open_parquet(path) as file:
            metadata, schema = file.metadata, file.schema_arrow
            sizes = [metadata.row_group(g).num_rows for g in range(metadata.num_row_groups)]
            out = pa.BufferOutputStream()
            metadata.write_metadata_file(out)
            return _Footer(schema, sizes, hashlib.sha256(out.getvalue()).hexdigest())
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: no such file") from None
    except (pa.ArrowException, OSError) as error:
        reason = str(error).partition("\n")[0][:200]
        raise ValueError(f"{path} is not a Parquet file, or is damaged: {reason}") from None
