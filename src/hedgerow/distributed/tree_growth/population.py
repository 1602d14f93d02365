"""Rows of positive weight, which trees are grown from: their numbers and totals, whatever the parts."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hedgerow._arrays import Floats, Whole
from hedgerow.distributed.job import Job
from hedgerow.distributed.rows.row_blocks import RowBlock

__all__ = ["Population", "number_rows"]


@dataclass(frozen=True)
class Population:
    """Rows of positive weight, numbered in their order: draws for the bags of trees follow from these numbers."""

    n_rows: int
    total: float
    """Sum of the weights."""
    ranges: Floats
    """Least and largest value of each column, (n_features, 2); NaN for nominal columns."""
    target_range: tuple[float, float] | None
    """Least and largest target, in regression."""
    starts: Mapping[int, int] | None = None
    """Number of the first such row of each part, by the number of its first row; None: all weights are positive."""

    def used(self, block: RowBlock) -> RowBlock:
        """Rows of positive weight of a part; they are numbered among such rows."""
        if self.starts is None:
            return block
        used = block.weight > 0
        first = self.starts[block.first] if len(block) else 0
        if used.all():
            return replace(block, first=first)
        return RowBlock(first, block.X[used], block.target[used], block.weight[used])

    def numbers(self, block: RowBlock) -> Whole:
        """Number of each row among those of positive weight; rows of weight 0 have that of the next."""
        if self.starts is None or not len(block):
            return block.numbers
        used = block.weight > 0
        before: Whole = np.concatenate([[0], np.cumsum(used)[:-1]])
        return before + self.starts[block.first]


def number_rows(job: Job) -> Population:
    """Number the rows of positive weight; a pass over the rows if there are weights."""
    survey = job.survey
    if not survey.encoding.weighs:
        return Population(survey.n_rows, float(survey.n_rows), survey.ranges, survey.target_range)
    found = job.fold(look_at_used, merge=_merge, stage="numbering rows")
    sizes: dict[int, int] = found["sizes"]
    starts, n_rows = {}, 0
    for first in sorted(sizes):
        starts[first] = n_rows
        n_rows += sizes[first]
    if not n_rows:
        raise ValueError("weights are 0 in every row, rounded to 2**-20 of their mean: bring them nearer to each other")
    ranges = np.stack([found["least"], found["most"]], axis=1)
    ranges[survey.schema.n_categories > 0] = np.nan
    target_range = None
    if survey.target_range is not None:
        target_range = (float(found["target_least"]), float(found["target_most"]))
    return Population(n_rows, float(found["total"]), ranges + 0.0, target_range, starts)


def look_at_used(block: RowBlock) -> dict[str, Any]:
    """Number of rows of positive weight in a part, and their totals."""
    used = block.weight > 0
    X, target = block.X[used], block.target[used].astype(np.float64)
    return {
        "sizes": {block.first: int(used.sum())} if len(block) else {},
        "total": block.weight.sum(),
        "least": np.fmin.reduce(X, axis=0, initial=np.nan),
        "most": np.fmax.reduce(X, axis=0, initial=np.nan),
        "target_least": target.min(initial=np.inf),
        "target_most": target.max(initial=-np.inf),
    }


_MERGES: Mapping[str, Callable[[Any, Any], Any]] = {
    "sizes": operator.or_,
    "total": operator.add,
    "least": np.fmin,
    "most": np.fmax,
    "target_least": min,
    "target_most": max,
}


def _merge(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    return {name: merge(one[name], other[name]) for name, merge in _MERGES.items()}
