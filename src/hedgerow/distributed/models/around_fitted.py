"""Estimators around a fitted one: they learn from rows that it has not seen, some of which are brought to one place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.frozen import FrozenEstimator

from hedgerow._arrays import Floats, Whole
from hedgerow.distributed.engine import Engine, Part
from hedgerow.distributed.job import Progress, watch
from hedgerow.distributed.rows.parted_rows import PartedRows
from hedgerow.distributed.rows.row_blocks import read_target, read_weight, without_dictionary
from hedgerow.distributed.rows.row_hash import hash_rows
from hedgerow.estimators import BoundaryClassifier, ConformalClassifier, ConformalRegressor

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["fit_around_fitted", "is_around_fitted"]

_AROUND = BoundaryClassifier | ConformalClassifier | ConformalRegressor
_SEED = 0  # of the hashes: the rows are those of the model, whatever its parameters


def is_around_fitted(model: Any) -> bool:
    """Whether a model is an estimator around a frozen one that learns from rows in one place."""
    return isinstance(model, _AROUND) and isinstance(model.estimator, FrozenEstimator)


def fit_around_fitted(
    model: Any, rows: PartedRows, columns: tuple[str, ...], engine: Engine, most: int, progress: Progress | None
) -> None:
    """Fit a model to at most `most` rows, those whose numbers have the least hashes; `columns` are those it takes."""
    if rows.target is None:
        raise ValueError("the rows have no target: name its column, as in parquet(paths, target='y')")
    if not rows.n_rows:
        raise ValueError("there are no rows: give files with rows")
    task = _ChooseRows(columns, rows.target, rows.weight, most)
    done = watch(progress, "choosing rows", len(rows.parts))
    chosen: _Rows = engine.fold(rows.parts, task, merge=_MergeRows(most), done=done)
    chosen = chosen.take(np.argsort(chosen.numbers))
    X = chosen.table.select(list(columns))
    if not hasattr(model.estimator.estimator, "feature_names_in_"):
        X = np.column_stack([X.column(name).to_numpy() for name in columns])
    y = chosen.table.column(rows.target).to_numpy()
    model.fit(X, y, sample_weight=chosen.weight)


@dataclass(frozen=True)
class _Rows:
    """Rows as they were read, with their global numbers, in any order."""

    numbers: Whole
    table: pa.Table
    weight: Floats | None

    def take(self, at: Any) -> _Rows:
        """Some of the rows."""
        return _Rows(self.numbers[at], self.table.take(at), None if self.weight is None else self.weight[at])

    def least(self, most: int) -> _Rows:
        """The rows whose numbers have the least hashes."""
        if len(self.numbers) <= most:
            return self
        return self.take(np.argpartition(hash_rows(self.numbers, _SEED), most - 1)[:most])


@dataclass(frozen=True)
class _ChooseRows:
    """Task that gives the rows of a part whose numbers have the least hashes."""

    columns: Sequence[str]
    target: str
    weight: str | None
    most: int

    def __call__(self, part: Part) -> _Rows | None:
        import pyarrow as pa

        merge, chosen, at = _MergeRows(self.most), None, 0
        for table in part.batches():
            target = read_target(table, self.target, part, at)
            weight = None if self.weight is None else read_weight(table, self.weight, part, at)
            plain = {name: without_dictionary(table.column(name)) for name in self.columns} | {self.target: target}
            numbers = part.first + at + np.arange(table.num_rows)
            chosen = merge(chosen, _Rows(numbers, pa.table(plain), weight).least(self.most))
            at += table.num_rows
        return chosen


@dataclass(frozen=True)
class _MergeRows:
    """Merge the rows chosen of two parts to those of both; None of an empty one."""

    most: int

    def __call__(self, one: _Rows | None, other: _Rows | None) -> _Rows | None:
        import pyarrow as pa

        if one is None or other is None:
            return other if one is None else one
        weight = None
        if one.weight is not None and other.weight is not None:
            weight = np.concatenate([one.weight, other.weight])
        table = pa.concat_tables([one.table, other.table], promote_options="permissive")
        return _Rows(np.concatenate([one.numbers, other.numbers]), table, weight).least(self.most)
