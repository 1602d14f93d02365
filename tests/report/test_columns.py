"""Columns of a table: how they are summarised, and what readers are warned of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from hedgerow import TreeClassifier
from hedgerow.report.columns import describe_columns


def described(table: pd.DataFrame, y: Any) -> dict[str, dict[str, Any]]:
    codes = np.unique(y, return_inverse=True)[1]
    model = TreeClassifier(max_leaf_nodes=4).fit(table, y)
    found = describe_columns(model._read(table), model.schema_.columns, codes, len(np.unique(y)))
    return {column["name"]: column for column in found}


@pytest.fixture(scope="module")
def columns() -> dict[str, dict[str, Any]]:
    random = np.random.default_rng(0)
    n = 400
    y = random.integers(0, 2, n)
    letters = np.array([f"c{i:02}" for i in range(30)])
    table = pd.DataFrame(
        {
            "noise": random.normal(size=n),
            "constant": 1.0,
            "name": [f"person {i}" for i in range(n)],
            "leaking number": y + 0.1 * random.random(n),
            "leaking category": letters[2 * random.integers(0, 15, n) + y],
            "holes": np.where(random.random(n) < 0.7, np.nan, 1.0),
        }
    )
    return described(table, y)


def kinds(column: dict[str, Any]) -> list[str]:
    return [warning["kind"] for warning in column["warnings"]]


def test_warnings(columns: dict[str, dict[str, Any]]) -> None:
    expected = {
        "noise": [],
        "constant": ["constant"],
        "name": ["identifier"],
        "leaking number": ["leak"],
        "leaking category": ["leak"],
        "holes": ["constant", "missing"],
    }
    assert {name: kinds(column) for name, column in columns.items()} == expected


def test_a_category_tells_what_its_rows_in_the_other_half_have() -> None:
    random = np.random.default_rng(1)
    codes = random.integers(0, 20, 2000)
    y = (codes % 4 == 0) ^ (random.random(2000) < 0.1)
    alone = described(pd.DataFrame({"code": [f"c{code}" for code in codes]}), y)["code"]["alone"]
    guessed = y.mean()  # the rarer class is wrong for guessing, and 10 % are noise
    assert alone == pytest.approx(1 - 0.1 / guessed, abs=0.08)


def test_histograms_count_every_row_once(columns: dict[str, dict[str, Any]]) -> None:
    for column in columns.values():
        counted = np.sum(column["counts"]) + np.sum(column.get("other_counts", 0))
        assert counted + column["missing"] == 400
