"""Ranks and paired tests over datasets or samples; the tests are SciPy's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

__all__ = ["Difference", "mean_ranks", "paired", "signed_rank", "stars"]

Floats = NDArray[np.float64]


def mean_ranks(scores: Floats) -> Floats:
    """Mean rank of each method over the datasets, 1 for the best; equals share ranks.

    `scores` are (n_datasets, n_methods), larger is better.

    >>> mean_ranks(np.array([[0.9, 0.8, 0.7], [0.6, 0.6, 0.5]])).tolist()
    [1.25, 1.75, 3.0]
    """
    ranks: Floats = stats.rankdata(-scores, axis=1).mean(axis=0)
    return ranks


@dataclass(frozen=True, eq=False)
class Difference:
    """Mean of paired differences with its standard error."""

    mean: float
    error: float
    half_width: float
    """Of the 95 % interval, by Student's t."""
    low: float
    high: float
    differences: Floats

    @property
    def p(self) -> float:
        """Smaller p-value of the one-sided Wilcoxon signed-rank tests against differences below and above 0."""
        return min(signed_rank(self.differences, "less"), signed_rank(self.differences, "greater"))

    @property
    def is_clear(self) -> bool:
        """Whether the 95 % interval leaves out 0."""
        return abs(self.mean) > self.half_width

    def __str__(self) -> str:
        return f"{self.mean:+.2f}" + (f" ± {self.half_width:.2f}" if self.half_width == self.half_width else "")


def paired(differences: Floats) -> Difference:
    """Summarise differences of two methods on the same samples."""
    n = len(differences)
    error = float(differences.std(ddof=1) / np.sqrt(n)) if n > 1 else float("nan")
    half_width = error * float(stats.t.ppf(0.975, n - 1)) if n > 1 else float("nan")
    return Difference(
        mean=float(differences.mean()),
        error=error,
        half_width=half_width,
        low=float(differences.min()),
        high=float(differences.max()),
        differences=differences,
    )


def signed_rank(differences: Floats, alternative: str = "two-sided") -> float:
    """p-value of Wilcoxon's signed-rank test; 1 where all differences are 0."""
    if not differences.any():
        return 1.0
    return float(stats.wilcoxon(differences, alternative=alternative).pvalue)


def stars(p: float, n_tests: int = 1) -> str:
    """Mark of significance at .05, .01 and .001 after Bonferroni's correction for `n_tests`.

    >>> stars(0.0005), stars(0.0005, n_tests=10), stars(0.2)
    ('***', '**', '')
    """
    corrected = min(1.0, p * n_tests)
    return "*" * sum(corrected < level for level in (0.05, 0.01, 0.001))
