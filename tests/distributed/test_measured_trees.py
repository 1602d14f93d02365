"""Trees for measured inputs on rows in parts: regions from a sample, values from sums over all rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from distributed_problems import KINDS, PARTS, Shipping, digest, table_of, write
from hedgerow import (
    MeasuredBoostingRegressor,
    MeasuredForestClassifier,
    MeasuredTreeClassifier,
    MeasuredTreeRegressor,
    distributed,
)
from hedgerow.measured.least_squares import least_squares, least_squares_on_simplex

TREE: dict[str, Any] = {"sigma": {"x0": 0.3, "x1": "x3"}, "max_leaf_nodes": 6, "max_candidates": 8}
MODELS = (MeasuredTreeClassifier(**TREE), MeasuredTreeRegressor(**TREE))


def measured(kind: str, classes: bool, n_rows: int = 1_400) -> pa.Table:
    """Rows of which column x3 holds the errors of x1."""
    table = table_of(kind, n_rows)
    errors = np.random.default_rng(1).uniform(0.1, 0.5, n_rows)
    table = table.set_column(3, "x3", [errors])
    if not classes:
        x = table["x0"].to_numpy(zero_copy_only=False)
        table = table.set_column(table.column_names.index("outcome"), "outcome", [np.nan_to_num(x) * 3e4 + errors])
    return table


def rows_of(kind: str, classes: bool, folder: Path, n_parts: int = 4) -> distributed.PartedRows:
    path = write(measured(kind, classes), folder / "rows.parquet")
    return distributed.parquet(path, target="outcome", weight="weight" if kind == "weights" else None, n_parts=n_parts)


def arrays(model: Any) -> tuple[Any, ...]:
    return digest(model), model.values_.tobytes(), model.training_range_.tobytes()


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_fit_of_few_rows_is_that_of_the_estimator(model: Any, tmp_path: Path) -> None:
    classes = isinstance(model, MeasuredTreeClassifier)
    table = measured("missing", classes)
    rows = rows_of("missing", classes, tmp_path, 7)
    one = model.fit(table.select(rows.inputs), table["outcome"].to_numpy())
    assert arrays(distributed.fit(model, rows, Shipping())) == arrays(one)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_parts_do_not_change_a_bit_and_all_rows_give_the_values(model: Any, kind: str, tmp_path: Path) -> None:
    classes = isinstance(model, MeasuredTreeClassifier)
    found = {}
    for n_parts in PARTS:
        rows = rows_of(kind, classes, tmp_path, n_parts)
        fitted = distributed.fit(model, rows, Shipping(), structure_rows=300)
        found[arrays(fitted)] = fitted
    (fitted,) = found.values()
    table = measured(kind, classes)
    weight = table["weight"].to_numpy() if kind == "weights" else np.ones(len(table))
    used = weight > 0
    shares = fitted.membership(table.select(rows.inputs))[used]
    y, weight = table["outcome"].to_numpy()[used], weight[used] * used.sum() / weight.sum()
    if classes:
        targets = (y[:, np.newaxis] == fitted.classes_).astype(float)
        np.testing.assert_allclose(fitted.values_, least_squares_on_simplex(shares, targets, weight), atol=1e-4)
        counts = shares.T @ (weight[:, np.newaxis] * targets)
        np.testing.assert_allclose(fitted.forest_.counts, counts, atol=1e-3)
        np.testing.assert_allclose(fitted.class_prior_, weight @ targets / weight.sum(), rtol=1e-6)
    else:
        gamma = least_squares(shares, y[:, np.newaxis], weight)[:, 0]
        np.testing.assert_allclose(fitted.values_, gamma, atol=1e-4 * np.ptp(y))
        squares = (weight[:, np.newaxis] * shares * (y[:, np.newaxis] - fitted.values_) ** 2).sum(axis=0)
        expected = np.column_stack([weight @ shares, fitted.values_, squares])
        np.testing.assert_allclose(fitted.forest_.stats, expected, rtol=1e-4)


def test_settings_that_parts_cannot_keep_are_named(tmp_path: Path) -> None:
    rows = rows_of("numbers", True, tmp_path)
    many = MeasuredTreeClassifier(sigma=0.0, max_leaf_nodes=None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hedgerow.distributed.models.measured_trees._MOST_REGIONS", 5)
        with pytest.raises(ValueError, match=r"the tree has \d+ regions, .* set max_leaf_nodes to at most 5"):
            distributed.fit(many, rows, structure_rows=300)
    for model, reason in (
        (MeasuredForestClassifier(), "draws bags of rows and solves least squares for thousands of regions"),
        (MeasuredBoostingRegressor(), "grows every tree from what all trees before it say of every row"),
    ):
        with pytest.raises(ValueError, match=f"{type(model).__name__} {reason}"):
            distributed.fit(model, rows)


def test_errors_that_are_none_name_file_and_row(tmp_path: Path) -> None:
    table = measured("numbers", True)
    errors = table["x3"].to_numpy().copy()
    errors[1_200] = -0.5
    path = write(table.set_column(3, "x3", [errors]), tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match=r"rows.parquet: row 1201: column 'x3', the error of 'x1' is -0.5, must be a"):
        distributed.fit(MODELS[0], distributed.parquet(path, target="outcome", n_parts=7), structure_rows=300)
