"""Correlations between the errors of columns: how they are given, and how the errors of a row hold them.

The errors of rows are an array of standard deviations, (n, n_features), followed by the correlations of pairs of
columns where there are any, (n, n_features + m).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._params import RowError

__all__ = [
    *("all_pairs", "closed_pairs", "no_pairs", "pairs_of_cells"),
    *("cells_of_covariance", "check_correlations", "covariance_of_cells", "read_covariance"),
]

Floats = NDArray[np.float64]
Pairs = NDArray[np.intp]

_ROUNDING = 1e-9
_LARGEST = 1e100


def no_pairs() -> Pairs:
    """No pairs of columns, (0, 2)."""
    return np.zeros((0, 2), dtype=np.intp)


def all_pairs(n_features: int) -> Pairs:
    """Pairs i < j of columns, (m, 2), in order."""
    return np.stack(np.triu_indices(n_features, 1), axis=1)


def closed_pairs(pairs: Iterable[tuple[int, int]]) -> Pairs:
    """All pairs of columns that are linked by `pairs`, directly or by way of others, (m, 2), in order.

    Once the error of a column is known, those of two columns that are correlated with it hang together.
    """
    groups: list[set[int]] = []
    for pair in pairs:
        linked = [group for group in groups if group & set(pair)]
        groups = [group for group in groups if group not in linked] + [set(pair).union(*linked)]
    found = sorted((i, j) for group in groups for i in group for j in group if i < j)
    return np.array(found, dtype=np.intp).reshape(-1, 2)


def pairs_of_cells(width: int, n_features: int, pairs: Pairs) -> Pairs:
    """Pairs whose correlations stand in rows of errors: those of the model, or, where there are as many, all."""
    every = n_features * (n_features - 1) // 2
    return all_pairs(n_features) if width - n_features == every else pairs


def covariance_of_cells(cells: Floats, n_features: int, pairs: Pairs) -> Floats:
    """Covariance of the errors of each row, (n, n_features, n_features); of a missing value it is NaN."""
    sigma, correlation = cells[:, :n_features], np.zeros((len(cells), n_features, n_features))
    correlation[:, np.arange(n_features), np.arange(n_features)] = 1.0
    for column, (i, j) in enumerate(pairs.tolist()):
        correlation[:, i, j] = correlation[:, j, i] = cells[:, n_features + column]
    covariance: Floats = correlation * sigma[:, :, np.newaxis] * sigma[:, np.newaxis, :]
    return covariance


def check_correlations(correlations: Floats, pairs: Pairs, names: Sequence[str]) -> None:
    """Refuse correlations of rows, (n, m), that are no numbers up to 1, or that contradict each other."""
    wrong = ~(np.abs(correlations) <= 1.0)
    if wrong.any():
        row, column = np.argwhere(wrong)[0].tolist()
        first, second = (names[j] for j in pairs[column])
        raise RowError(
            f"the correlation of the errors of {first!r} and {second!r} is {correlations[row, column]}",
            row,
            "must be a number from -1 to 1",
        )
    alike, first_row = np.unique(correlations, axis=0, return_index=True)
    columns = np.unique(pairs)
    ones = np.ones((len(alike), len(columns)))
    matrices = covariance_of_cells(np.hstack([ones, alike]), len(columns), np.searchsorted(columns, pairs))
    least = np.linalg.eigvalsh(matrices)[:, 0]
    if len(least) and least.min() < -_ROUNDING * len(columns):
        worst = int(np.argmin(least))
        raise RowError(
            f"the correlations of the errors of {_listed([names[j] for j in columns])} contradict each other",
            int(first_row[worst]),
            f"the least eigenvalue of their matrix is {least[worst]:.3g}, must not be negative",
        )


def read_covariance(given: Any, n_rows: int, names: Sequence[str], what: str = "covariance") -> Floats:
    """Covariance of the errors of each row, (n, d, d), from one for all rows, (d, d), or one for each."""
    try:
        covariance = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        covariance = np.zeros(0)
    d = len(names)
    if covariance.shape not in ((d, d), (n_rows, d, d)):
        raise ValueError(f"{what} has shape {covariance.shape}, must be ({d}, {d}) or ({n_rows}, {d}, {d})")
    if not (np.abs(covariance) < _LARGEST).all():
        raise ValueError(f"{what} must be finite")
    matrices = np.broadcast_to(covariance, (n_rows, d, d))
    size = np.abs(covariance).max(initial=0.0)
    if (np.abs(covariance - np.swapaxes(covariance, -1, -2)) > _ROUNDING * size).any():
        raise ValueError(f"{what} is not symmetric: entry (i, j) and entry (j, i) are the same covariance")
    least = np.atleast_1d(np.linalg.eigvalsh(covariance)[..., 0])
    if d and (least < -_ROUNDING * size).any():
        row = int(np.argmin(least))
        where = f" of row {row}" if covariance.ndim == 3 else ""
        raise ValueError(
            f"{what}{where} is not positive: its least eigenvalue is {least[row]:.3g}; correlations can't be "
            "larger than 1, nor contradict each other"
        )
    return matrices


def cells_of_covariance(covariance: Floats, pairs: Pairs) -> Floats:
    """Standard deviations of the errors of each row, followed by the correlations of pairs; of (n, d, d)."""
    sigma = np.sqrt(np.maximum(np.diagonal(covariance, axis1=1, axis2=2), 0.0))
    products = sigma[:, pairs[:, 0]] * sigma[:, pairs[:, 1]]
    common = covariance[:, pairs[:, 0], pairs[:, 1]]
    correlations = np.where(products > 0, common / np.where(products > 0, products, 1.0), 0.0)
    return np.hstack([sigma, np.clip(correlations, -1.0, 1.0)])


def _listed(names: Sequence[Any]) -> str:
    shown = ", ".join(map(repr, names[:6]))
    return shown + (", ..." if len(names) > 6 else "")
