"""Small Parquet files of every kind of column, and digests of models."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

__all__ = ["KINDS", "PARTS", "digest", "table_of", "write"]

KINDS = ("numbers", "missing", "nominal", "weights")
PARTS = (1, 2, 4, 7)
_GROUPS = 28  # so that 1, 2, 4 and 7 parts are whole row groups


def table_of(kind: str, n_rows: int = 1_400, seed: int = 0) -> pa.Table:
    """Rows with two classes of text, which four columns tell apart, more or less."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, 4))
    y = np.where(X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(n_rows) > 0.3, "sick", "well")
    columns: dict[str, Any] = {f"x{j}": X[:, j] for j in range(4)}
    if kind == "missing":
        for j in range(4):
            columns[f"x{j}"] = pa.array(X[:, j], mask=rng.random(n_rows) < 0.1)
    if kind == "nominal":
        colour = np.array(["blue", "green", "red", "white"], dtype=object)[rng.integers(0, 4, n_rows)]
        columns["colour"] = pa.array(colour, mask=rng.random(n_rows) < 0.05)
    table = {**columns, "outcome": y}
    if kind == "weights":
        table["weight"] = rng.choice([0.0, 0.25, 1.0, 1.7], n_rows)
    return pa.table(table)


def write(table: pa.Table, path: Path) -> str:
    """Write a table in 28 row groups."""
    pq.write_table(table, path, row_group_size=-(-table.num_rows // _GROUPS))
    return str(path)


def digest(model: Any) -> str:
    """Digest of everything that a fitted model of random trees or a forest holds."""
    forest = model.forest_
    names = ("tree_start", "feature", "threshold", "first_child", "weight", "counts")
    arrays = [getattr(forest, name) for name in names]
    arrays += [model.class_prior_, model.training_range_] if hasattr(model, "class_prior_") else []
    found = hashlib.sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    for name in ("rule_", "min_samples_leaf_", "schema_", "classes_", "loo_score_"):
        found.update(repr(getattr(model, name, None)).encode())
    return found.hexdigest()[:16]
