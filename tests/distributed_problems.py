"""Small Parquet files of every kind of column, and digests of models."""

from __future__ import annotations

import hashlib
import os
import pickle
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from effort import examples
from hedgerow import ForestClassifier, MeasuredTreeClassifier, RandomTreesClassifier
from hedgerow.distributed import Local

_ARRAYS = ("class_prior_", "training_range_", "tree_weights_")
_TEXTS = (
    *("rule_", "min_samples_leaf_", "min_samples_split_", "schema_", "classes_", "loo_score_", "oob_score_", "bags_"),
    *("s_", "s_utility_"),
)

__all__ = ["ESTIMATORS", "KINDS", "PARTS", "Shipping", "digest", "table_of", "with_spark", "write"]

ESTIMATORS = (
    RandomTreesClassifier(8, loo_score=True, random_state=0),
    ForestClassifier(4, random_state=0),
    MeasuredTreeClassifier(0.3, max_leaf_nodes=5, max_candidates=8),
)
"""What is fitted on every engine; an estimator of another kind only needs a line here."""

KINDS = ("numbers", "missing", "nominal", "weights")
PARTS = examples((1, 7), (1, 2, 4, 7))
_GROUPS = 28  # so that 1, 2, 4 and 7 parts are whole row groups


with_spark = pytest.mark.skipif(os.environ.get("HEDGEROW_SPARK") != "1", reason="tests of Spark: make spark-test")


class Shipping:
    """Engine of threads that sends tasks, values and results as bytes, as engines with workers do."""

    def __init__(self) -> None:
        self.engine = Local(2)
        self.shipped = 0

    def share(self, value: Any) -> Any:
        return Shared(self._sent(value))

    def map(self, parts: Any, task: Any, *shared: Any, done: Any = None) -> list[Any]:
        return [pickle.loads(self._sent(pickle.loads(one))) for one in self._run(parts, task, shared, done)]

    def fold(self, parts: Any, task: Any, *shared: Any, merge: Any, done: Any = None) -> Any:
        return reduce(merge, reversed([pickle.loads(one) for one in self._run(parts, task, shared, done)]))

    def _run(self, parts: Any, task: Any, shared: Any, done: Any) -> list[bytes]:
        sent = self._sent((task, shared))
        return self.engine.map([self._sent(part) for part in parts], run_sent, sent, done=done)

    def _sent(self, value: Any) -> bytes:
        sent = pickle.dumps(value)
        self.shipped += len(sent)
        return sent


@dataclass
class Shared:
    """A value that has been sent to workers."""

    sent: bytes


def run_sent(part: bytes, sent: bytes) -> bytes:
    """Run a task that came as bytes."""
    task, shared = pickle.loads(sent)
    given = [pickle.loads(one.sent) if isinstance(one, Shared) else one for one in shared]
    return pickle.dumps(task(pickle.loads(part), *given))


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
    names = ("tree_start", "kind", "feature", "threshold", "first_child", "weight", "payload", "payload_codes")
    arrays = [getattr(forest, name) for name in names]
    arrays.append(forest.counts if forest.leaf_stats is None else forest.stats)
    arrays += [value for name in _ARRAYS if (value := getattr(model, name, None)) is not None]
    if (samples := getattr(model, "leaf_samples_", None)) is not None:
        arrays += [samples.start, samples.ranks, samples.values]
    found = hashlib.sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    for name in _TEXTS:
        found.update(repr(getattr(model, name, None)).encode())
    return found.hexdigest()[:16]
