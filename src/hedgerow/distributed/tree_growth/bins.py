"""Bins of columns, exactly those of one process, from rows in parts.

A bin ends at a value v where floor(max_bins · W(v) / W) grows, W(v) being the weight of the values up to v and W that
of all; the next value begins the next bin. Three passes find these values without approximation:

1. The values of rows that a hash of their number chooses, in order, split each column into intervals.
2. The weight in each interval: whole numbers, or multiples of 2**-20, whose sums are exact. Most intervals hold no end
   of a bin.
3. The distinct values of the others, with their weights.

The bins do not depend on which rows were chosen. Where the intervals of the second pass hold too many rows, it is
repeated with more values inside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats
from hedgerow.distributed.job import Job
from hedgerow.distributed.rows.row_blocks import RowBlock
from hedgerow.distributed.rows.row_hash import hash_rows
from hedgerow.growth.codes import Bins

__all__ = ["find_bins"]

_MOST_SAMPLED = 1 << 21  # values of all columns in the first pass
_MOST_SPLITTERS = 1 << 20  # of all columns in the second pass
_MOST_OF_COLUMN = (1 << 16, 1 << 12)  # of them in one column
_MOST_COLLECTED = 1 << 22  # rows of all columns in the third pass

Values: TypeAlias = tuple[Floats, Floats]
"""Distinct values, ascending, and the weight of each."""


@dataclass(frozen=True)
class _Counts:
    """Result of the second pass for a column."""

    weight: Floats
    """Of the values in each interval; interval i ends with splitter i, the last one has no end."""
    n_rows: NDArray[np.int64]
    least: Floats
    """Least value in each interval; infinity in an empty one."""
    greatest: float
    few: Floats
    """Distinct values, at most one more than there are bins."""


def find_bins(job: Job, max_bins: int) -> Bins:
    """Bins of the rows of positive weight."""
    n_categories = job.survey.schema.n_categories
    columns = np.flatnonzero(n_categories == 0)
    empty = np.empty(0)
    bins: list[Values] = [(empty, empty)] * len(n_categories)
    if len(columns):
        for column, found in zip(columns, _bins_of(job, columns, max_bins), strict=True):
            bins[column] = found
    return Bins.of_columns(bins, n_categories)


def _bins_of(job: Job, columns: NDArray[np.intp], max_bins: int) -> list[Values]:
    sample = _sample(job, columns)
    most = max(256, min(_MOST_OF_COLUMN[1], _MOST_SPLITTERS // len(columns)))
    splitters = [values[:: max(1, len(values) // most)] for values in sample]
    counts = _count(job, columns, splitters, max_bins, "counting values")
    wanted = [_with_ends(one, max_bins) for one in counts]
    n_collected = sum(int(one.n_rows[some].sum()) for one, some in zip(counts, wanted, strict=True))
    if n_collected > _MOST_COLLECTED and any(len(all_) > len(s) for all_, s in zip(sample, splitters, strict=True)):
        splitters = [_refined(*one) for one in zip(sample, splitters, wanted, strict=True)]
        counts = _count(job, columns, splitters, max_bins, "counting values again")
        wanted = [_with_ends(one, max_bins) for one in counts]
    intervals = job.share([_bounds(*one) for one in zip(splitters, wanted, strict=True)])
    collected = job.fold(collect_values, columns, intervals, merge=_merge_values, stage="collecting values")
    return [_bins(*found, max_bins) for found in zip(counts, splitters, wanted, collected, strict=True)]


# -- the first pass


def _sample(job: Job, columns: NDArray[np.intp]) -> list[Floats]:
    """Some values of each column, ascending and distinct."""
    n_rows = job.survey.n_rows
    most = max(1024, min(_MOST_OF_COLUMN[0], _MOST_SAMPLED // len(columns)))
    limit = None if n_rows <= most else np.uint64(most / n_rows * 2.0**64)
    X: Floats = job.fold(sample_values, columns, limit, job.seed, merge=_stack, stage="choosing values")
    return [np.unique(values[~np.isnan(values)] + 0.0) for values in X.T]


def sample_values(block: RowBlock, columns: NDArray[np.intp], limit: np.uint64 | None, seed: int) -> Floats:
    """Values of the rows whose numbers have a hash below a limit; None: of all rows."""
    chosen = block.weight > 0
    if limit is not None:
        chosen &= hash_rows(block.numbers, seed) < limit
    return block.X[np.ix_(chosen, columns)]


def _stack(one: Floats, other: Floats) -> Floats:
    return np.concatenate([one, other])


# -- the second pass


@dataclass(frozen=True)
class _MergeCounts:
    """Merges the counts of two parts; keeps at most `most` distinct values of a column."""

    most: int

    def __call__(self, one: list[_Counts], other: list[_Counts]) -> list[_Counts]:
        return [
            _Counts(
                a.weight + b.weight,
                a.n_rows + b.n_rows,
                np.minimum(a.least, b.least),
                max(a.greatest, b.greatest),
                np.union1d(a.few, b.few)[: self.most],
            )
            for a, b in zip(one, other, strict=True)
        ]


def _count(
    job: Job, columns: NDArray[np.intp], splitters: Sequence[Floats], max_bins: int, stage: str
) -> list[_Counts]:
    most = max_bins + 1
    shared = job.share(splitters)
    found: list[_Counts] = job.fold(count_values, columns, shared, most, merge=_MergeCounts(most), stage=stage)
    return found


def count_values(block: RowBlock, columns: NDArray[np.intp], splitters: Sequence[Floats], most: int) -> list[_Counts]:
    """Weights between the splitters of each column, and its first distinct values."""
    pairs = zip(columns, splitters, strict=True)
    return [_count_column(*_ordered(block, column), ends, most) for column, ends in pairs]


def _ordered(block: RowBlock, column: int) -> tuple[Floats, Floats | None]:
    """Values of a column in order, without missing ones, and their weights; None: all 1."""
    x, weight = block.X[:, column] + 0.0, block.weight  # -0.0 is 0.0
    if (weight == 1).all():
        x.sort()  # missing values come last
        return x[: len(x) - np.count_nonzero(np.isnan(x))], None
    used = (weight > 0) & ~np.isnan(x)
    x, weight = x[used], weight[used]
    order = np.argsort(x, kind="stable")
    return x[order], weight[order]


def _count_column(x: Floats, weight: Floats | None, splitters: Floats, most: int) -> _Counts:
    ends = np.append(np.searchsorted(x, splitters, side="right"), len(x))
    starts = np.concatenate([[0], ends[:-1]])
    least = np.full(len(ends), np.inf)
    some = ends > starts
    least[some] = x[starts[some]]
    n_rows = ends - starts
    upto = None if weight is None else np.concatenate([[0.0], np.cumsum(weight)])
    weight = n_rows.astype(np.float64) if upto is None else upto[ends] - upto[starts]
    few = x[np.flatnonzero(_begins(x))[:most]]
    return _Counts(weight, n_rows, least, float(x[-1]) if len(x) else -np.inf, few)


def _begins(x: Floats) -> NDArray[np.bool_]:
    """Where a new value begins among ordered ones."""
    first = np.ones(len(x), bool)
    np.not_equal(x[1:], x[:-1], out=first[1:])
    return first


def _position(upto: Floats, total: float, max_bins: int) -> Floats:
    """Number of whole bins that weights fill, in the operations of the core."""
    return np.floor(upto / total * max_bins)


def _with_ends(counts: _Counts, max_bins: int) -> NDArray[np.intp]:
    """Intervals in which bins end."""
    if len(counts.few) <= max_bins:
        return np.empty(0, np.intp)  # every value is a bin
    position = _position(np.concatenate([[0.0], np.cumsum(counts.weight)]), float(counts.weight.sum()), max_bins)
    return np.flatnonzero(position[1:] > position[:-1])


def _refined(sample: Floats, splitters: Floats, wanted: NDArray[np.intp]) -> Floats:
    """All sampled values within the wanted intervals, and the ends of these."""
    bounds = np.concatenate([[-np.inf], splitters, [np.inf]])
    inside = np.zeros(len(sample), bool)
    for low, high in zip(bounds[wanted], bounds[wanted + 1], strict=True):
        inside[np.searchsorted(sample, low) : np.searchsorted(sample, high, side="right")] = True
    return sample[inside]


# -- the third pass


def _bounds(splitters: Floats, wanted: NDArray[np.intp]) -> Floats:
    """Values above low up to high, (n, 2), of each wanted interval."""
    ends = np.concatenate([[-np.inf], splitters, [np.inf]])
    return np.stack([ends[wanted], ends[wanted + 1]], axis=1)


def collect_values(block: RowBlock, columns: NDArray[np.intp], intervals: Sequence[Floats]) -> list[Values]:
    """Distinct values of each column within its intervals, and their weights."""
    return [_collect(block, column, bounds) for column, bounds in zip(columns, intervals, strict=True)]


def _collect(block: RowBlock, column: int, bounds: Floats) -> Values:
    if not len(bounds):
        return np.empty(0), np.empty(0)
    x, weight = _ordered(block, column)
    low, high = np.searchsorted(x, bounds, side="right").T
    inside = np.concatenate([np.arange(a, b) for a, b in zip(low, high, strict=True)])
    return _distinct(x[inside], np.ones(len(inside)) if weight is None else weight[inside])


def _distinct(x: Floats, weight: Floats) -> Values:
    """Each of some ordered values once, with the sum of its weights."""
    first = np.flatnonzero(_begins(x))
    return x[first], np.add.reduceat(weight, first) if len(first) else weight


def _merge_values(one: list[Values], other: list[Values]) -> list[Values]:
    return [_merge_column(a, b) for a, b in zip(one, other, strict=True)]


def _merge_column(one: Values, other: Values) -> Values:
    x, weight = (np.concatenate(pair) for pair in zip(one, other, strict=True))
    order = np.argsort(x, kind="stable")  # two runs, which are merged
    return _distinct(x[order], weight[order])


# -- the bins


def _bins(counts: _Counts, splitters: Floats, wanted: NDArray[np.intp], collected: Values, max_bins: int) -> Values:
    """Least and greatest value of each bin of a column."""
    if len(counts.few) <= max_bins:
        return counts.few, counts.few
    values, weight = collected
    upto = np.cumsum(counts.weight)
    least_after = np.append(np.minimum.accumulate(counts.least[::-1])[::-1][1:], np.inf)
    stops = np.searchsorted(values, np.append(splitters, np.inf)[wanted], side="right")
    greatest, least = [], [counts.least.min()]
    start = 0
    for interval, stop in zip(wanted, stops, strict=True):
        before = upto[interval] - counts.weight[interval]
        run = before + np.concatenate([[0.0], np.cumsum(weight[start:stop])])
        position = _position(run, float(upto[-1]), max_bins)
        inside = values[start:stop]
        following = np.append(inside[1:], least_after[interval])
        ends = (position[1:] > position[:-1]) & np.isfinite(following)  # the last bin has no next
        greatest += inside[ends].tolist()
        least += following[ends].tolist()
        start = stop
    n_bins = min(len(least), max_bins)
    return np.array(least[:n_bins]), np.array([*greatest[: n_bins - 1], counts.greatest])
