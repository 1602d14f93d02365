"""Bins over parts, against those of one process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from distributed_problems import KINDS, PARTS, table_of, write
from hedgerow import distributed
from hedgerow.data.table import read_table
from hedgerow.data.targets import read_weights
from hedgerow.data.training import Training
from hedgerow.distributed.checkpoint import Checkpoint
from hedgerow.distributed.job import Job
from hedgerow.distributed.survey import survey
from hedgerow.distributed.tree_growth import bins as rooms
from hedgerow.distributed.tree_growth.bins import find_bins
from hedgerow.growth.codes import Bins, bin_training


def bins_over_parts(path: str, n_parts: int, max_bins: int, weight: str | None) -> Bins:
    rows = distributed.parquet(path, target="outcome", weight=weight, n_parts=n_parts)
    engine = distributed.Local(2)
    found = survey(engine, rows, classification=True, categorical_features="from_dtype")
    return find_bins(Job(engine, rows, found, Checkpoint(None), 3), max_bins)


def bins_of_one_process(table: pa.Table, max_bins: int, weight: str | None) -> Bins:
    read = read_table(table.drop_columns(["outcome", *([weight] if weight else [])]))
    weights = read_weights(table[weight].to_numpy() if weight else None, read.values, exact=True)
    used = weights > 0
    training = Training(
        np.asfortranarray(read.values[used]), read.schema.n_categories, weights[used], np.zeros(used.sum(), np.int32)
    )
    return bin_training(training, max_bins)[1]


def assert_same(one: Bins, other: Bins) -> None:
    assert one.n_categories.tolist() == other.n_categories.tolist()
    for mine, theirs in zip(one.arrays, other.arrays, strict=True):
        assert mine.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("max_bins", [255, 20])
def test_bins_are_those_of_one_process(kind: str, max_bins: int, tmp_path: Path) -> None:
    table = table_of(kind)
    table = table.append_column("ties", [np.round(table["x0"].to_numpy(), 1)])
    path = write(table, tmp_path / "rows.parquet")
    weight = "weight" if kind == "weights" else None
    expected = bins_of_one_process(table, max_bins, weight)
    for n_parts in PARTS:
        assert_same(bins_over_parts(path, n_parts, max_bins, weight), expected)


def test_a_second_count_between_finer_splitters_changes_nothing(tmp_path: Path, monkeypatch: Any) -> None:
    table = table_of("weights", n_rows=5_000)
    path = write(table, tmp_path / "rows.parquet")
    expected = bins_of_one_process(table, 60, "weight")
    monkeypatch.setattr(rooms, "_MOST_COLLECTED", 100)
    stages: list[str] = []
    count = rooms._count
    monkeypatch.setattr(rooms, "_count", lambda *given: (stages.append(given[-1]), count(*given))[1])
    for most in (1 << 16, 1024):  # values that are chosen of a column
        monkeypatch.setattr(rooms, "_MOST_OF_COLUMN", (most, 256))
        assert_same(bins_over_parts(path, 4, 60, "weight"), expected)
    assert stages == ["counting values", "counting values again"] * 2


odd_values = st.sampled_from([-0.0, 0.0, 1.0, -1e300, 1e300, 5e-324, 2.5, float("nan"), -2.5, 1e-9])
odd_weights = st.sampled_from([0.0, 0.3, 1.0, 2.0])


@given(
    rows=st.lists(st.tuples(odd_values | st.floats(-4, 4), odd_weights), min_size=2, max_size=80),
    max_bins=st.integers(2, 9),
    weighted=st.booleans(),
)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_odd_values_and_weights(rows: list[tuple[float, float]], max_bins: int, weighted: bool, tmp_path: Path) -> None:
    x, weight = (np.array(column) for column in zip(*rows, strict=True))
    if not weight.any():
        weight[0] = 1.0
    columns = {"x": x, "constant": np.full(len(x), 7.0), "empty": np.full(len(x), np.nan)}
    table = pa.table({**columns, "outcome": np.arange(len(x)) % 2, **({"weight": weight} if weighted else {})})
    path = write(table, tmp_path / "rows.parquet")
    name = "weight" if weighted else None
    expected = bins_of_one_process(table, max_bins, name)
    for n_parts in (1, 3):
        assert_same(bins_over_parts(path, n_parts, max_bins, name), expected)
