"""How often sets or intervals hold the truth: in all rows, by class and by group, with binomial intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from hedgerow.scoring.predictions import ClassPredictions, Trial
from hedgerow.scoring.row_values import covered, in_set

__all__ = ["Coverage", "binomial_interval", "coverage_to_json", "measure_coverage"]

_LEVEL = 0.95  # of the binomial intervals


@dataclass(frozen=True)
class Coverage:
    """Share of rows whose set or interval holds the truth, of all rows or of a part of them."""

    kind: str
    """ "all", "class" or "group"."""
    name: Any
    n_rows: int
    n_covered: int
    column: str | None = None
    """Column whose values are the groups."""

    @property
    def share(self) -> float:
        return self.n_covered / self.n_rows

    @property
    def interval(self) -> tuple[float, float]:
        """Binomial interval of the coverage."""
        return binomial_interval(self.n_covered, self.n_rows)


def binomial_interval(k: int, n: int) -> tuple[float, float]:
    """95 % interval of a probability of which k of n draws came true (Clopper and Pearson, 1934)."""
    tail = (1 - _LEVEL) / 2
    low = float(betaincinv(k, n - k + 1, tail)) if k else 0.0
    high = float(betaincinv(k + 1, n - k, 1 - tail)) if k < n else 1.0
    return low, high


def measure_coverage(trial: Trial, groups: tuple[str, Sequence[Any], NDArray[np.intp]] | None = None) -> list[Coverage]:
    """Coverage of all rows, of each class, and of each group; rows count once each.

    `groups` are the name of a column, its values, and the position of each row's value; -1 where it has none.
    """
    model, ones = trial.model, np.ones(len(trial.weight))
    inside = in_set(model, ones) if isinstance(model, ClassPredictions) else covered(model, ones)
    hits = inside > 0
    found = [Coverage("all", None, len(hits), int(hits.sum()))]
    if isinstance(model, ClassPredictions):
        found += _parts("class", model.classes, model.truth, hits)
    if groups is not None:
        name, values, number = groups
        found += _parts("group", values, number, hits, name)
    return found


def _parts(
    kind: str,
    names: Sequence[Any],
    number: NDArray[np.intp],
    hits: NDArray[np.bool_],
    column: str | None = None,
) -> Iterator[Coverage]:
    number, hits = number[number >= 0], hits[number >= 0]
    n_rows = np.bincount(number, minlength=len(names))
    n_covered = np.bincount(number, hits, len(names)).astype(np.int64)
    for name, n, k in zip(names, n_rows.tolist(), n_covered.tolist(), strict=False):
        if n:
            yield Coverage(kind, name, n, k, column)


def coverage_to_json(found: Sequence[Coverage], promised: float) -> dict[str, Any]:
    """Return coverage as JSON values."""
    return {
        "promised_coverage": promised,
        "coverage": [
            {
                "of": one.kind,
                "name": one.name,
                **({} if one.column is None else {"column": one.column}),
                "rows": one.n_rows,
                "covered": one.n_covered,
                "value": one.share,
                "interval": list(one.interval),
            }
            for one in found
        ],
    }
