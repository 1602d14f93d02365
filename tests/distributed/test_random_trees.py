from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from distributed_problems import KINDS, PARTS, digest, table_of, write
from effort import daily_pairs
from hedgerow import RandomTreesClassifier, distributed
from hedgerow.distributed.rows.row_hash import hash_rows


def rows_of(kind: str, folder: Path, n_parts: int = 4) -> distributed.PartedRows:
    path = write(table_of(kind), folder / f"{kind}.parquet")
    return distributed.parquet(path, target="outcome", weight="weight" if kind == "weights" else None, n_parts=n_parts)


@pytest.mark.parametrize("kind", KINDS)
def test_a_fit_of_few_rows_is_that_of_the_estimator(kind: str, tmp_path: Path) -> None:
    table = table_of(kind)
    weight = None
    if kind == "weights":  # whole ones: real weights are rounded
        table = table.set_column(5, "weight", [np.rint(table["weight"].to_numpy())])
        weight = table["weight"].to_numpy()
    path = write(table, tmp_path / "rows.parquet")
    model = RandomTreesClassifier(10, random_state=3)
    rows = distributed.parquet(path, target="outcome", weight="weight" if kind == "weights" else None, n_parts=7)
    X = table.select(rows.inputs)
    one = model.fit(X, table["outcome"].to_numpy(), sample_weight=weight)
    many = distributed.fit(model, rows)
    assert digest(many) == digest(one)
    assert np.array_equal(many.predict_proba(X), one.predict_proba(X))


@pytest.mark.parametrize(("leaf", "kind"), daily_pairs(["auto", 3], KINDS))
def test_parts_and_threads_do_not_change_a_bit(kind: str, leaf: object, tmp_path: Path) -> None:
    model = RandomTreesClassifier(8, min_samples_leaf=leaf, loo_score=True, random_state=0)
    found = set()
    for n_parts in PARTS:
        rows = rows_of(kind, tmp_path, n_parts)
        assert len(rows.parts) == n_parts
        fitted = distributed.fit(model, rows, distributed.Local(1 + n_parts % 2), structure_rows=300)
        found.add(digest(fitted))
    assert len(found) == 1


def test_rows_beyond_the_structure_are_counted_as_partial_fit_counts_them(tmp_path: Path) -> None:
    table = table_of("numbers")
    rows = rows_of("numbers", tmp_path, 7)
    model = RandomTreesClassifier(8, min_samples_leaf=4, rule="probability", random_state=0)
    many = distributed.fit(model, rows, structure_rows=300)
    X, y = table.select(rows.inputs), table["outcome"].to_numpy()
    hashes = hash_rows(np.arange(len(y)), model._seed())
    chosen = np.zeros(len(y), bool)
    chosen[np.argsort(hashes)[:300]] = True
    one = model.fit(X.filter(chosen), y[chosen]).partial_fit(X.filter(~chosen), y[~chosen])
    assert digest(many) == digest(one)
