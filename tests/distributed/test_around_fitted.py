"""Estimators around a fitted model, on rows in parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.frozen import FrozenEstimator

from distributed_problems import KINDS, PARTS, Shipping, table_of, write
from hedgerow import (
    BoundaryClassifier,
    ConformalClassifier,
    ConformalRegressor,
    ForestClassifier,
    ForestRegressor,
    TreeClassifier,
    distributed,
)
from hedgerow.distributed.rows.row_hash import hash_rows


def inputs(table: pa.Table) -> pa.Table:
    return table.select([name for name in table.column_names if name not in ("outcome", "weight")])


def fitted_and_rows(kind: str, folder: Path, n_parts: int) -> tuple[Any, pa.Table, distributed.PartedRows]:
    """A forest, and rows that it has not seen."""
    seen, held_out = table_of(kind), table_of(kind, n_rows=700, seed=1)
    forest = ForestClassifier(9, random_state=0).fit(inputs(seen), seen["outcome"].to_numpy())
    path = folder / "rows.parquet"
    if not path.exists():
        write(held_out, path)
    weight = "weight" if kind == "weights" else None
    return forest, held_out, distributed.parquet(path, target="outcome", weight=weight, n_parts=n_parts)


@pytest.mark.parametrize("kind", KINDS)
def test_calibration_by_all_rows_is_that_of_one_process(kind: str, tmp_path: Path) -> None:
    forest, held_out, rows = fitted_and_rows(kind, tmp_path, 4)
    model = ConformalClassifier(FrozenEstimator(forest), groups="class", random_state=3)
    weight = held_out["weight"].to_numpy() if kind == "weights" else None
    one = model.fit(inputs(held_out), held_out["outcome"].to_numpy(), weight)
    many = distributed.fit(model, rows, Shipping())
    for name in ("proba", "codes", "weight", "draws"):
        np.testing.assert_array_equal(getattr(many.calibration_, name), getattr(one.calibration_, name))
    X = inputs(table_of(kind, seed=2))
    np.testing.assert_array_equal(many.predict_set(X), one.predict_set(X))


def test_the_rows_with_the_least_hashes_are_chosen_whatever_the_parts(tmp_path: Path) -> None:
    found = set()
    for n_parts in PARTS:
        forest, held_out, rows = fitted_and_rows("nominal", tmp_path, n_parts)
        model = ConformalClassifier(FrozenEstimator(forest), random_state=3)
        calibration = distributed.fit(model, rows, structure_rows=200).calibration_
        found.add((calibration.proba.tobytes(), calibration.codes.tobytes(), calibration.draws.tobytes()))
    chosen = np.sort(np.argsort(hash_rows(np.arange(len(held_out)), 0))[:200])
    one = model.fit(inputs(held_out).take(chosen), held_out["outcome"].to_numpy()[chosen]).calibration_
    assert found == {(one.proba.tobytes(), one.codes.tobytes(), one.draws.tobytes())}


def test_intervals_and_boundaries_are_those_of_one_process(tmp_path: Path) -> None:
    _, held_out, _ = fitted_and_rows("numbers", tmp_path, 4)
    X = held_out.select(["x1", "x2", "x3"])
    rows = distributed.parquet(tmp_path / "rows.parquet", target="x0", ignore=["outcome"], n_parts=4)
    forest = ForestRegressor(9, random_state=0).fit(X, held_out["x0"].to_numpy())
    intervals = ConformalRegressor(FrozenEstimator(forest))
    expected = intervals.fit(X, held_out["x0"].to_numpy()).predict_interval(X)
    fitted = distributed.fit(intervals, rows)
    np.testing.assert_array_equal(fitted.predict_interval(X), expected)
    scores = distributed.evaluate(fitted, rows, metrics=["coverage", "width"])
    assert scores["width"] == pytest.approx(np.diff(expected).mean())
    X, y = X.to_pandas().to_numpy(), held_out["outcome"].to_numpy()  # a model without names of columns
    tree = TreeClassifier().fit(X, y)
    smooth = BoundaryClassifier(FrozenEstimator(tree))
    rows = distributed.parquet(tmp_path / "rows.parquet", target="outcome", ignore=["x0"], n_parts=4)
    np.testing.assert_array_equal(distributed.fit(smooth, rows).predict_proba(X), smooth.fit(X, y).predict_proba(X))


def test_rows_that_the_model_can_not_take_are_refused(tmp_path: Path) -> None:
    forest, _, rows = fitted_and_rows("numbers", tmp_path, 2)
    model = ConformalClassifier(FrozenEstimator(forest))
    path = tmp_path / "rows.parquet"
    for given, message in (
        (distributed.parquet(path, target="outcome", ignore=["x3"]), "no column 'x3', which the model was fitted on"),
        (distributed.parquet(path), "the rows have no target"),
    ):
        with pytest.raises(ValueError, match=message):
            distributed.fit(model, given)
    with pytest.raises(ValueError, match="coverage"):
        distributed.fit(model, rows, structure_rows=2)


def test_a_checkpoint_that_nothing_is_kept_in_is_refused(tmp_path: Path) -> None:
    forest, _, rows = fitted_and_rows("numbers", tmp_path, 1)
    model = ConformalClassifier(FrozenEstimator(forest))
    with pytest.raises(ValueError, match=r"checkpoint is .*kept', .* takes one pass, .* leave checkpoint out"):
        distributed.fit(model, rows, checkpoint=tmp_path / "kept")
    assert not (tmp_path / "kept").exists()
