"""Generated data of known law."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["GENERATED", "expression_data", "friedman_1", "relevant_few"]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]


def friedman_1(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    """Friedman's first function of ten uniform columns, five of which matter: columns and truth."""
    X = rng.uniform(size=(n, 10))
    return X, 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]


def friedman_2(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    """Friedman's second function, the impedance of a circuit, of four uniform columns."""
    X = _circuits(rng, n)
    return X, np.hypot(X[:, 0], _reactance(X))


def friedman_3(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    """Friedman's third function, the phase of a circuit, of four uniform columns."""
    X = _circuits(rng, n)
    return X, np.arctan2(_reactance(X), X[:, 0])


def steps(rng: np.random.Generator, n: int) -> tuple[Floats, Floats]:
    """Five steps of random height on the first of three uniform columns."""
    X = rng.uniform(size=(n, 3))
    return X, rng.normal(size=5)[(5 * X[:, 0]).astype(np.intp)]


def _circuits(rng: np.random.Generator, n: int) -> Floats:
    low, high = np.array([0, 40 * np.pi, 0, 1]), np.array([100, 560 * np.pi, 1, 11])
    return rng.uniform(low, high, size=(n, 4))


def _reactance(X: Floats) -> Floats:
    found: Floats = X[:, 1] * X[:, 2] - 1 / (X[:, 1] * X[:, 3])
    return found


GENERATED = {"friedman-1": friedman_1, "friedman-2": friedman_2, "friedman-3": friedman_3, "steps": steps}
"""Functions that give columns and truth, by name."""


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
