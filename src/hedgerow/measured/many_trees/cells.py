"""Training rows in cells: soft trees are grown from a few hundred different readings of each column.

Rows of a cell are taken to have been measured alike: the mean of their values, and the root mean square of their
errors. Where a column is exact, cells end at the candidate thresholds, and nothing is lost. Answers to rows, and
out-of-bag answers, always use the rows as they were measured.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.measured.laws.column_laws import CategoryLaw
from hedgerow.measured.least_squares import Problem
from hedgerow.measured.many_trees.latent import Landmarks
from hedgerow.measured.one_tree.threshold_columns import candidate_thresholds

__all__ = ["CellColumn", "cells_of"]

Floats = NDArray[np.float64]

_MOST_CELLS = 256  # of values with the same error
_ERROR_CLASSES = 8


@dataclass(frozen=True, eq=False)
class CellColumn:
    """Cell of each row, (n,), what each cell says, (n_cells, m), and the thresholds, (m,), or None if nominal."""

    cell: NDArray[np.uint16]
    below: Floats
    at: Floats | None

    @property
    def arrays(self) -> tuple[NDArray[np.uint16], Floats, Floats | None]:
        """Arguments of the core."""
        return self.cell, self.below, self.at


def cells_of(problem: Problem, max_candidates: int) -> list[CellColumn]:
    """Cells of all columns of a problem, with at most so many candidate thresholds each."""
    features = set(problem.features.tolist())
    return [
        _column(problem, j, max_candidates) if j in features else _unused(len(problem.values))
        for j in range(problem.values.shape[1])
    ]


def _unused(n_rows: int) -> CellColumn:
    return CellColumn(np.zeros(n_rows, dtype=np.uint16), np.zeros((1, 0)), np.zeros(0))


def _column(problem: Problem, j: int, max_candidates: int) -> CellColumn:
    x, sigma, law = problem.values[:, j], problem.sigma[:, j], problem.laws[j]
    if isinstance(law, CategoryLaw):
        codes = np.append(np.arange(len(law.shares), dtype=np.float64), np.nan)
        cell = np.where(np.isnan(x), len(law.shares), x).astype(np.uint16)
        marks = Landmarks([law], [codes[:-1]])
        return CellColumn(cell, marks.read_column(0, codes, np.zeros(len(codes))), None)
    at = candidate_thresholds(x, problem.weight, max_candidates)
    cell, value, error = _readings(x, sigma, problem.weight, at)
    return CellColumn(cell, np.ascontiguousarray(law.below(value, error, at)), at)


def _readings(x: Floats, sigma: Floats, weight: Floats, at: Floats) -> tuple[NDArray[np.uint16], Floats, Floats]:
    """Cell of each row, and value and error of each cell; NaN is the cell of missing values."""
    cell, value, error, n_cells = np.zeros(len(x), dtype=np.uint16), [], [], 0
    for rows, exact in _alike(x, sigma):
        within = np.searchsorted(at, x[rows]) if exact else _quantile_bins(x[rows], weight[rows])
        _, within = np.unique(within, return_inverse=True)
        size = np.bincount(within, weights=weight[rows])
        cell[rows] = n_cells + within
        centre = np.bincount(within, weights=weight[rows] * x[rows]) / size
        off = np.bincount(within, weights=weight[rows] * (x[rows] - centre[within])) / size
        value.append(centre + off)  # the mean of equal values is that value
        error.append(np.sqrt(np.bincount(within, weights=weight[rows] * sigma[rows] ** 2) / size))
        n_cells += len(size)
    missing = np.isnan(x)
    if missing.any():
        cell[missing] = n_cells
        value.append(np.array([np.nan]))
        error.append(np.zeros(1))
    return cell, np.concatenate(value), np.concatenate(error)


def _alike(x: Floats, sigma: Floats) -> list[tuple[NDArray[np.intp], bool]]:
    """Known rows with errors of about the same size, and whether they are exact."""
    known = ~np.isnan(x)
    exact, measured = np.flatnonzero(known & (sigma == 0)), np.flatnonzero(known & (sigma > 0))
    groups = [(exact, True)] if len(exact) else []
    sizes = np.unique(sigma[measured])
    if len(sizes) > _ERROR_CLASSES:
        limits = np.quantile(sigma[measured], np.arange(1, _ERROR_CLASSES) / _ERROR_CLASSES)
        class_ = np.searchsorted(limits, sigma[measured])
    else:
        class_ = np.searchsorted(sizes, sigma[measured])
    groups += [(measured[class_ == one], False) for one in np.unique(class_)]
    return groups


def _quantile_bins(x: Floats, weight: Floats) -> NDArray[np.intp]:
    distinct, of_row = np.unique(x, return_inverse=True)
    if len(distinct) <= _MOST_CELLS:
        return of_row
    rows = np.bincount(of_row, weights=weight)
    middle = (rows.cumsum() - 0.5 * rows) / rows.sum()
    found: NDArray[np.intp] = (middle * _MOST_CELLS).astype(np.intp)[of_row]
    return found
