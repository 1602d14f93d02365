"""Rows that an engine holds already: frames of Dask and Spark, and datasets of Ray."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

from hedgerow.distributed.engines.needs import needs
from hedgerow.distributed.engines.spark_tasks import partition_number
from hedgerow.distributed.rows.common_columns import common_columns
from hedgerow.distributed.rows.parted_rows import PartedRows, assign_roles
from hedgerow.distributed.rows.parts import HeldPart, Place, to_table

__all__ = ["from_dask", "from_ray", "from_spark"]

_OTHERS = "and its rows may come in another order each time it is computed"


def from_dask(
    frame: Any, *, target: str | None = None, weight: str | None = None, ignore: Sequence[str] = ()
) -> PartedRows:
    """Rows of a persisted Dask data frame, in the order of its partitions.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
        Persisted: the rows must be the same in every pass. Of Parquet files, :func:`parquet` needs less memory.
    target : str or None, default=None
        Column of the class or the target; None for rows to predict.
    weight : str or None, default=None
        Column of sample weights.
    ignore : sequence of str, default=()
        Names of columns that are neither split on nor read.

    Returns
    -------
    PartedRows
        For the engine :class:`Dask` only.

    Raises
    ------
    ValueError
        If the frame is not persisted.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> from hedgerow.distributed import from_dask
    >>> frame = dd.from_pandas(pd.DataFrame({"x": [1.0, 2.0], "y": ["a", "b"]}), npartitions=2)
    >>> from_dask(frame.persist(), target="y")  # doctest: +SKIP
    <2 rows in 2 parts: 1 columns, target 'y'>
    """
    with needs("from_dask", "dask"):
        from distributed import futures_of
    _check(frame, "to_delayed", "a dask.dataframe.DataFrame")
    persisted = futures_of(frame)
    if len(persisted) < frame.npartitions:
        raise ValueError(f"the frame is not persisted, {_OTHERS}: persist first, as in frame = frame.persist()")
    client = persisted[0].client
    futures = client.compute(frame.to_delayed(optimize_graph=False))
    found = client.gather([client.submit(_describe, future, pure=False) for future in futures])
    return _held("Dask", futures, found, target, weight, ignore)


def from_ray(
    dataset: Any, *, target: str | None = None, weight: str | None = None, ignore: Sequence[str] = ()
) -> PartedRows:
    """Rows of a materialized Ray dataset, in the order of its blocks.

    Parameters
    ----------
    dataset : ray.data.MaterializedDataset
        Materialized: the rows must be the same in every pass. Of Parquet files, :func:`parquet` needs less memory.
    target : str or None, default=None
        Column of the class or the target; None for rows to predict.
    weight : str or None, default=None
        Column of sample weights.
    ignore : sequence of str, default=()
        Names of columns that are neither split on nor read.

    Returns
    -------
    PartedRows
        For the engine :class:`Ray` only.

    Raises
    ------
    ValueError
        If the dataset is not materialized.

    Examples
    --------
    >>> import ray  # doctest: +SKIP
    >>> from hedgerow.distributed import from_ray  # doctest: +SKIP
    >>> dataset = ray.data.read_parquet("s3://bucket/rows").materialize()  # doctest: +SKIP
    >>> rows = from_ray(dataset, target="y")  # doctest: +SKIP
    """
    with needs("from_ray", "ray"):
        import ray
    _check(dataset, "to_arrow_refs", "a ray.data.Dataset")
    if type(dataset).__name__ != "MaterializedDataset":
        raise ValueError(f"the dataset is not materialized, {_OTHERS}: dataset = dataset.materialize() first")
    blocks = dataset.to_arrow_refs()
    found = ray.get([ray.remote(_describe).remote(block) for block in blocks])
    return _held("Ray", blocks, found, target, weight, ignore)


def from_spark(
    frame: Any, *, target: str | None = None, weight: str | None = None, ignore: Sequence[str] = ()
) -> PartedRows:
    """Rows of a persisted Spark data frame, in the order of its partitions.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        Persisted: the rows must be the same in every pass. Of Parquet files, :func:`parquet` needs less memory.
    target : str or None, default=None
        Column of the class or the target; None for rows to predict.
    weight : str or None, default=None
        Column of sample weights.
    ignore : sequence of str, default=()
        Names of columns that are neither split on nor read.

    Returns
    -------
    PartedRows
        For the engine :class:`Spark` only.

    Raises
    ------
    ValueError
        If the frame is not persisted.

    Examples
    --------
    >>> from pyspark.sql import SparkSession  # doctest: +SKIP
    >>> from hedgerow.distributed import from_spark  # doctest: +SKIP
    >>> frame = SparkSession.builder.getOrCreate().read.parquet("rows.parquet").persist()  # doctest: +SKIP
    >>> rows = from_spark(frame, target="y")  # doctest: +SKIP
    """
    _check(frame, "mapInArrow", "a pyspark.sql.DataFrame")
    if not frame.is_cached:
        raise ValueError(f"the frame is not persisted, {_OTHERS}: persist first, as in frame = frame.persist()")
    import pyarrow as pa

    table = frame.mapInArrow(_describe_partition, "number int, n_rows long, columns binary").toArrow()
    rows = sorted(zip(*(table.column(name).to_pylist() for name in table.column_names), strict=True))
    found = [(n_rows, pa.ipc.read_schema(pa.py_buffer(columns))) for _, n_rows, columns in rows]
    return _held("Spark", [(frame, number) for number, _, _ in rows], found, target, weight, ignore)


def _check(rows: Any, method: str, expected: str) -> None:
    if not hasattr(rows, method):
        raise TypeError(f"rows are {type(rows).__module__}.{type(rows).__name__}, must be {expected}")


def _describe(rows: Any) -> tuple[int, Any]:
    """Number of rows of a partition, and its columns."""
    table = to_table(rows)
    return table.num_rows, table.schema.remove_metadata()


def _describe_partition(batches: Iterator[Any]) -> Iterator[Any]:
    import pyarrow as pa

    n_rows, columns = 0, None
    for batch in batches:
        n_rows, columns = n_rows + batch.num_rows, batch.schema.serialize().to_pybytes()
    if n_rows:
        number = pa.array([partition_number()], pa.int32())
        yield pa.RecordBatch.from_pydict({"number": number, "n_rows": [n_rows], "columns": pa.array([columns])})


def _held(
    home: str,
    references: Sequence[Any],
    found: Sequence[tuple[int, Any]],
    target: str | None,
    weight: str | None,
    ignore: Sequence[str],
) -> PartedRows:
    labels = [f"partition {number}" for number in range(len(found))]
    if not any(n_rows for n_rows, _ in found):
        raise ValueError("there are no rows in any partition: give rows")
    schema = common_columns([(label, columns) for label, (_, columns) in zip(labels, found, strict=True)])
    inputs, read = assign_roles(schema.names, labels[0], target, weight, ignore)
    parts, first = [], 0
    for label, reference, (n_rows, _) in zip(labels, references, found, strict=True):
        if n_rows:
            parts.append(HeldPart(reference, Place(first, n_rows, label)))
            first += n_rows
    identity = hashlib.sha256(
        repr(([part.n_rows for part in parts], read, inputs, target, weight)).encode()
    ).hexdigest()
    return PartedRows(tuple(parts), schema, first, inputs, target, weight, home, identity)
