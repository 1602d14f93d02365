"""Forests on rows in parts, against those of one process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from sklearn.base import clone

from distributed_problems import KINDS, PARTS, Shipping, digest, table_of, write
from hedgerow import ForestClassifier, distributed

_SEEDED: dict[str, Any] = {"bootstrap": "poisson", "random_state": 4}
MODELS = {
    "defaults": ForestClassifier(9, **_SEEDED),
    "scored": ForestClassifier(25, oob_score=True, tree_weights="oob", cost_matrix=[[0, 2], [1, 0]], **_SEEDED),
    "plain": ForestClassifier(
        5, calibration=None, min_samples_split=5, max_samples=200, nominal="subset", splitter="best", **_SEEDED
    ),
    "few bins": ForestClassifier(
        6, max_bins=20, max_leaf_nodes=30, min_weight_fraction_leaf=0.01, nominal="multiway", **_SEEDED
    ),
    "rows drawn once or never": ForestClassifier(12, max_samples=1, **_SEEDED),
}
WAYS = {  # engine, memory, and what only this way does
    "a file": (distributed.Local, 1, "encoding rows"),
    "codes of all rows": (Shipping, 1 << 30, "encoding rows"),
    "bags": (Shipping, 24_500, "drawing bags"),
}


def parts_of(table: pa.Table, folder: Path, n_parts: int) -> distributed.PartedRows:
    path = folder / "rows.parquet"
    if not path.exists():
        write(table, path)
    weight = "weight" if "weight" in table.column_names else None
    return distributed.parquet(path, target="outcome", weight=weight, n_parts=n_parts)


def fit_in_one_process(model: Any, table: pa.Table) -> Any:
    weight = table["weight"].to_numpy() if "weight" in table.column_names else None
    X = table.select([name for name in table.column_names if name not in ("outcome", "weight")])
    return clone(model).fit(X, table["outcome"].to_numpy(), sample_weight=weight)


@pytest.mark.filterwarnings("ignore:.* rows are in the bag of every tree")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("settings", MODELS)
def test_a_forest_is_that_of_one_process(settings: str, kind: str, tmp_path: Path) -> None:
    table = table_of(kind)
    model = MODELS[settings]
    expected = digest(fit_in_one_process(model, table))
    assert digest(distributed.fit(model, parts_of(table, tmp_path, 4))) == expected


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", WAYS)
def test_neither_parts_nor_ways_of_growing_change_a_bit(kind: str, way: str, tmp_path: Path) -> None:
    make, memory, stage = WAYS[way]
    model = ForestClassifier(6, max_samples=0.3, **_SEEDED)
    table = table_of(kind)
    stages: list[str] = []
    found = set()
    for n_parts in PARTS:
        rows = parts_of(table, tmp_path, n_parts)
        fitted = distributed.fit(
            model, rows, make(), memory=memory, progress=lambda stage, done, total: stages.append(stage)
        )
        found.add(digest(fitted))
    assert found == {digest(fit_in_one_process(model, table))}
    assert {stage} == {"encoding rows", "drawing bags"} & set(stages)
