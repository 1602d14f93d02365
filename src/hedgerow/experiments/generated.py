"""Generated data of known law."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["expression_data", "friedman_1", "relevant_few"]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]


def friedman_1(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    """Friedman's first function of ten uniform columns, five of which matter, with errors of 1."""
    X = rng.uniform(size=(n, 10))
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return X, y + rng.normal(size=n)


def relevant_few(rng: np.random.Generator, n: int, n_columns: int = 100, n_relevant: int = 5) -> tuple[Floats, Labels]:
    """Normal columns, of which few matter: the class is the sign of their sum, wrong for a tenth of the rows."""
    X = rng.normal(size=(n, n_columns))
    y = X[:, :n_relevant].sum(axis=1) > 0
    return X, np.where(rng.uniform(size=n) < 0.1, ~y, y).astype(np.intp)


def expression_data(rng: np.random.Generator) -> tuple[Floats, Labels]:
    """349 samples of 4,718 columns in 15 classes, as large as the lecture's example of gene expression.

    Columns come in 60 correlated groups with their own scales; every class shifts the columns of six groups.
    """
    n, n_columns, n_classes, n_groups = 349, 4718, 15, 60
    y = np.concatenate([np.arange(n) % n_classes])
    rng.shuffle(y)
    group = rng.integers(n_groups, size=n_columns)
    shift = np.zeros((n_classes, n_groups))
    for one in shift:
        one[rng.choice(n_groups, 6, replace=False)] = rng.normal(scale=1.2, size=6)
    factors = rng.normal(size=(n, n_groups)) + shift[y]
    loading = rng.uniform(0.2, 0.9, size=n_columns)
    scale = rng.lognormal(sigma=0.5, size=n_columns)
    X = scale * (loading * factors[:, group] + rng.normal(size=(n, n_columns)))
    return X, y.astype(np.intp)
