"""What is wrong with files, engines and checkpoints is said in one line that names it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from distributed_problems import table_of, write
from hedgerow import ForestClassifier, ForestRegressor, RandomTreesClassifier, distributed

MODEL = ForestClassifier(3, random_state=0)


def fit(paths: Any, model: Any = MODEL, engine: Any = None, **options: Any) -> Any:
    return distributed.fit(model, distributed.parquet(paths, target="outcome"), engine, **options)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.rename_columns(["x0", "c", "x2", "x3", "outcome"]), "other.parquet has a column 'c', which .*one"),
        (lambda t: t.drop_columns(["x3"]), "other.parquet lacks the column 'x3', which .*one.parquet has"),
        (lambda t: t.set_column(1, "x1", [["a"] * len(t)]), "other.parquet: column 'x1' has type string, and in .*one"),
        (lambda t: t.set_column(4, "outcome", [[1] * len(t)]), "other.parquet: column 'outcome' has type int64, and"),
    ],
)
def test_files_with_other_columns_or_types(change: Any, message: str, tmp_path: Path) -> None:
    table = table_of("numbers", n_rows=60)
    write(table, tmp_path / "one.parquet")
    write(change(table), tmp_path / "other.parquet")
    with pytest.raises(ValueError, match=message):
        fit([tmp_path / "one.parquet", tmp_path / "other.parquet"])


def test_files_without_rows_and_files_that_are_none(tmp_path: Path) -> None:
    pq.write_table(table_of("numbers", n_rows=60).slice(0, 0), tmp_path / "a.parquet")
    pq.write_table(table_of("numbers", n_rows=60).slice(0, 0), tmp_path / "b.parquet")
    (tmp_path / "text.parquet").write_text("x,y")
    for paths, message in (
        (tmp_path / "a.parquet", "there are no rows in .*a.parquet: give a file with rows"),
        ([tmp_path / "a.parquet", tmp_path / "b.parquet"], "there are no rows in any of 2 files from .*a.parquet on"),
        (tmp_path / "text.parquet", "text.parquet is not a Parquet file, or is damaged"),
        (f"{tmp_path}/*.csv", "where there is no Parquet file"),
    ):
        with pytest.raises(ValueError, match=message):
            fit(paths)
    with pytest.raises(FileNotFoundError, match=r"c\.parquet: no such file"):
        fit(tmp_path / "c.parquet")


def test_targets_weights_and_engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = table_of("numbers", n_rows=60)
    path = write(table.append_column("weight", [np.r_[-1.0, np.ones(59)]]), tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match="column 'outcome' has type string, a regressor needs numbers"):
        fit(path, ForestRegressor(3))
    with pytest.raises(ValueError, match=r"rows.parquet: row 1 has weight -1.0 in 'weight'"):
        distributed.fit(MODEL, distributed.parquet(path, target="outcome", weight="weight"))
    with pytest.raises(TypeError, match=r"engine is 'dask', must be Local\(\), Dask\(client\)"):
        fit(path, engine="dask")
    with pytest.raises(TypeError, match="rows is str, must be made by parquet"):
        distributed.fit(MODEL, path)  # type: ignore[arg-type]
    for module, name, make in (
        ("ray", "ray", distributed.Ray),
        ("distributed", "dask", lambda: distributed.Dask(1)),
        ("pyspark", "spark", distributed.Spark),
        ("ray", "ray", lambda: distributed.from_ray(1)),
        ("distributed", "dask", lambda: distributed.from_dask(1)),
    ):
        monkeypatch.setitem(sys.modules, module, None)
        monkeypatch.setitem(sys.modules, f"{module}.sql", None)
        with pytest.raises(ImportError, match=rf"needs {module}.*: pip install 'hedgerow\[{name}\]'"):
            make()
    with pytest.raises(TypeError, match=r"must be a pyspark\.sql\.DataFrame"):
        distributed.from_spark(table)


@pytest.mark.parametrize("model", [MODEL, RandomTreesClassifier(3, random_state=0)], ids=lambda one: type(one).__name__)
def test_checkpoints_of_other_fits(model: Any, tmp_path: Path) -> None:
    table = table_of("numbers", n_rows=60)
    kept, path = tmp_path / "kept", write(table, tmp_path / "rows.parquet")
    first = fit(path, model, checkpoint=kept)
    np.testing.assert_array_equal(fit(path, model, checkpoint=kept).forest_.counts, first.forest_.counts)
    for change, options in (
        ("parameters", {"model": type(model)(4, random_state=0)}),
        ("random_state", {"model": type(model)(3, random_state=1)}),
        ("structure_rows", {"model": model, "structure_rows": 7}),
    ):
        with pytest.raises(ValueError, match=f"belongs to another fit, with other {change}: give another folder"):
            fit(path, checkpoint=kept, **options)
    write(pa.table({name: table[name].take(np.arange(60)[::-1]) for name in table.column_names}), Path(path))
    with pytest.raises(ValueError, match="with other rows: give"):  # of the same number, in another order
        fit(path, model, checkpoint=kept)
    with pytest.raises(ValueError, match="is a file: give a new folder"):
        fit(path, model, checkpoint=path)
    with pytest.raises(ValueError, match="is a folder with other files"):
        fit(path, model, checkpoint=tmp_path)
