"""The first pass: columns, categories, classes and weights that all parts agree on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats
from hedgerow._exact import exact_sum, merge_sums, split_sum
from hedgerow.data.columns import Column
from hedgerow.data.sources import LARGEST_EXACT_INTEGER
from hedgerow.data.table import Kind, Schema, read_table
from hedgerow.data.targets import read_labels
from hedgerow.distributed.engine import Done, Engine, Part
from hedgerow.distributed.rows.parted_rows import PartedRows
from hedgerow.distributed.rows.row_blocks import Encoding, read_target, read_weight

__all__ = ["Survey", "survey"]

Found: TypeAlias = dict[str, Any]

_MOST_CLASSES = 1 << 16
_SMALLEST, _LARGEST = 1e-100, 1e100  # of weights, as in hedgerow.data.targets
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Survey:
    """Result of the first pass."""

    encoding: Encoding
    n_rows: int
    n_used: int
    """Rows of positive weight."""
    total: float
    """Sum of the weights, in units."""
    ranges: Floats
    """Least and largest value of each column in these rows, (n_features, 2); NaN for nominal columns."""
    target_range: tuple[float, float] | None
    """Least and largest target of these rows, in regression."""

    @property
    def schema(self) -> Schema:
        return self.encoding.schema

    @property
    def summary(self) -> tuple[Any, ...]:
        """Fingerprint of the rows."""
        encoding, counts = self.encoding, (self.n_rows, self.n_used, self.total)
        classes = None if encoding.classes is None else encoding.classes.tolist()
        return counts, encoding.schema.columns, self.ranges.tolist(), classes, self.target_range

    @property
    def classes(self) -> NDArray[Any]:
        """Classes, sorted."""
        if self.encoding.classes is None:
            raise ValueError("a regression target has no classes")
        return self.encoding.classes


def survey(
    engine: Engine, rows: PartedRows, *, classification: bool, categorical_features: Any, done: Done | None = None
) -> Survey:
    """Read all rows once, and agree on what the arrays of each part will mean."""
    if rows.target is None:
        raise ValueError("the rows have no target: name its column, as in parquet(paths, target='y')")
    question = _Question(rows.inputs, rows.target, rows.weight, classification, categorical_features)
    found = engine.fold(rows.parts, _look, question, merge=_merge, done=done)
    if not found["n_rows"]:
        raise ValueError("there are no rows: give files with rows")
    unit, total = 1.0, float(found["n_rows"])
    if rows.weight is not None:
        unit = _unit(found, rows.weight)
        total = exact_sum(found["weights"]) / unit
    schema = Schema(found["columns"], named=True)
    ranges = np.stack([found["least"], found["most"]], axis=1)
    ranges[schema.n_categories > 0] = np.nan
    classes, target_range = None, None
    if classification:
        classes = read_labels(found["classes"], found["classes"]).classes  # refuses what is not a label
    else:
        target_range = (float(found["target_least"]), float(found["target_most"]))
    encoding = Encoding(schema, rows.inputs, rows.target, classes, rows.weight, unit)
    return Survey(encoding, found["n_rows"], found["n_used"], total, ranges + 0.0, target_range)


@dataclass(frozen=True)
class _Question:
    inputs: tuple[str, ...]
    target: str
    weight: str | None
    classification: bool
    categorical_features: Any


def _look(part: Part, question: _Question) -> Found:
    """Survey a part."""
    found: Found = {"n_rows": 0}
    for table in part.batches():
        if table.num_rows:
            found = _merge(found, _look_at(table, part, found["n_rows"], question))
    return found


def _look_at(table: Any, part: Part, at: int, question: _Question) -> Found:
    try:
        read = read_table(
            table.select(list(question.inputs)),
            categorical_features=question.categorical_features,
            column_major=False,
        )
    except ValueError as error:
        raise ValueError(f"{part.where(at)} and following: {error}") from error
    weight = None if question.weight is None else read_weight(table, question.weight, part, at)
    used = np.ones(len(read.values), bool) if weight is None else weight > 0
    found: Found = {
        "n_rows": len(read.values),
        "n_used": int(used.sum()),
        "columns": read.schema.columns,
        "least": np.fmin.reduce(read.values[used], axis=0, initial=np.nan),
        "most": np.fmax.reduce(read.values[used], axis=0, initial=np.nan),
    }
    target = read_target(table, question.target, part, at)
    if question.classification:
        found["classes"] = _classes(target, question.target, part)
    else:
        found |= _target_range(target, used, question.target, part)
    if weight is not None:
        present = weight[used]
        found["weights"] = split_sum(present)
        found["whole"] = bool((present == np.floor(present)).all())
        found["lightest"] = present.min(initial=np.inf)
        found["heaviest"] = present.max(initial=0.0)
    return found


def _classes(target: Any, name: str, part: Part) -> NDArray[Any]:
    values: NDArray[Any] = np.unique(target.unique().to_numpy(zero_copy_only=False))
    if len(values) > _MOST_CLASSES:
        raise ValueError(
            f"{part.label}: column {name!r} has over {_MOST_CLASSES} different values: use a regressor, or another "
            "target"
        )
    return values


def _target_range(target: Any, used: NDArray[np.bool_], name: str, part: Part) -> Found:
    try:
        values: Floats = target.to_numpy().astype(np.float64)[used]
    except (ValueError, TypeError):
        raise ValueError(f"{part.label}: column {name!r} has type {target.type}, a regressor needs numbers") from None
    if not np.isfinite(values).all():
        raise ValueError(f"{part.label}: column {name!r} holds infinity: give every row a finite target")
    return {"target_least": values.min(initial=np.inf), "target_most": values.max(initial=-np.inf)}


def _merge(one: Found, other: Found) -> Found:
    """Merge what was found in two parts; parts without rows say nothing."""
    if not one["n_rows"] or not other["n_rows"]:
        return one if one["n_rows"] else other
    merged = {name: _MERGES[name](one[name], other[name]) for name in one}
    if "classes" in merged and len(merged["classes"]) > _MOST_CLASSES:
        raise ValueError(f"the target has over {_MOST_CLASSES} different values: use a regressor, or another target")
    return merged


def _merge_columns(one: tuple[Column, ...], other: tuple[Column, ...]) -> tuple[Column, ...]:
    return tuple(_merge_column(a, b) for a, b in zip(one, other, strict=True))


def _merge_column(one: Column, other: Column) -> Column:
    if one == other:
        return one
    if one.kind == other.kind == Kind.NOMINAL:
        return Column(one.name, Kind.NOMINAL, tuple(sorted({*one.categories, *other.categories})))
    raise ValueError(
        f"column {one.name!r} is {one.kind} with categories {list(one.categories[:5])} in some parts, and "
        f"{other.kind} with {list(other.categories[:5])} in others: write all parts with one type"
    )


_MERGES: Mapping[str, Any] = {
    "n_rows": lambda a, b: a + b,
    "n_used": lambda a, b: a + b,
    "columns": _merge_columns,
    "least": np.fmin,
    "most": np.fmax,
    "classes": np.union1d,
    "target_least": min,
    "target_most": max,
    "weights": merge_sums,
    "whole": lambda a, b: a and b,
    "lightest": min,
    "heaviest": max,
}


def _unit(found: Found, name: str) -> float:
    """Weight of one row, as :func:`hedgerow.data.targets.weight_unit` says, but for the rounding of the sum."""
    lightest, heaviest = float(found["lightest"]), float(found["heaviest"])
    if not found["n_used"]:
        raise ValueError(f"column {name!r} is zero in every row: give at least one row a positive weight")
    if not _SMALLEST < heaviest < _LARGEST or lightest < _SMALLEST * heaviest:
        raise ValueError(
            f"column {name!r} has weights from {lightest:.3g} to {heaviest:.3g}, whose products a float64 can't hold: "
            "bring them nearer to each other and to 1"
        )
    total = exact_sum(found["weights"])
    if found["whole"] and total <= LARGEST_EXACT_INTEGER:
        return 1.0
    if lightest == heaviest:
        return lightest
    unit = total / int(found["n_used"])
    return 1.0 if abs(unit - 1) < _ROUNDING else unit
