"""Rows that an engine holds give the models and the answers of the same rows in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from distributed_problems import ESTIMATORS, digest, table_of, with_spark, write
from hedgerow import distributed

pytestmark = pytest.mark.filterwarnings("ignore")  # of the engines


@pytest.fixture
def table() -> pa.Table:
    return table_of("missing")


def check(held: distributed.PartedRows, engine: Any, table: pa.Table, folder: Path) -> None:
    """The rows that are held are those of the table, in its order."""
    assert held.n_rows == len(table)
    rows = distributed.parquet(write(table, folder / "rows.parquet"), target="outcome")
    model = distributed.fit(ESTIMATORS[0], rows, structure_rows=300)
    assert digest(distributed.fit(ESTIMATORS[0], held, engine, structure_rows=300)) == digest(model)
    distributed.predict(model, held, engine, to=folder / "answers.parquet", keep=["x0"])
    assert pq.read_table(folder / "answers.parquet")["x0"].to_pylist() == table["x0"].to_pylist()
    assert repr(distributed.evaluate(model, held, engine)) == repr(distributed.evaluate(model, rows))
    with pytest.raises(ValueError, match=f"these rows are held by {held.home}, and the engine is Local: use"):
        distributed.evaluate(model, held, distributed.Local())


@pytest.mark.xdist_group("dask")
def test_a_persisted_dask_frame(dask_engine: Any, table: pa.Table, tmp_path: Path) -> None:
    frames = pytest.importorskip("dask.dataframe")
    frame = frames.from_pandas(table.to_pandas(), npartitions=3)
    with pytest.raises(ValueError, match=r"not persisted, .*: persist first, as in frame = frame.persist\(\)"):
        distributed.from_dask(frame, target="outcome")
    check(distributed.from_dask(frame.persist(), target="outcome"), dask_engine, table, tmp_path)


@pytest.mark.xdist_group("ray")
def test_a_materialized_ray_dataset(ray_engine: Any, table: pa.Table, tmp_path: Path) -> None:
    data = pytest.importorskip("ray.data")
    blocks = data.from_arrow([table.slice(0, 500), table.slice(500)])
    with pytest.raises(ValueError, match=r"not materialized, .*: dataset = dataset.materialize\(\) first"):
        distributed.from_ray(blocks.map_batches(lambda some: some), target="outcome")
    check(distributed.from_ray(blocks.materialize(), target="outcome"), ray_engine, table, tmp_path)


@with_spark
@pytest.mark.parametrize("engine", ["spark", "connect"], indirect=True)
def test_a_persisted_spark_frame(engine: Any, table: pa.Table, tmp_path: Path) -> None:
    numbered = table.append_column("number", pa.array(np.arange(len(table))))
    frame = engine.session.createDataFrame(numbered).repartitionByRange(3, "number")
    frame = frame.sortWithinPartitions("number").drop("number")
    with pytest.raises(ValueError, match=r"not persisted, .*: persist first, as in frame = frame.persist\(\)"):
        distributed.from_spark(frame, target="outcome")
    check(distributed.from_spark(frame.persist(), target="outcome"), engine, table, tmp_path)
