"""Decides claims: a mean over datasets or samples against 0, with its 95 % interval."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.experiments.report import Claim, Verdict
from hedgerow.experiments.statistics import paired

__all__ = ["on_datasets"]

_FEWEST = 5  # datasets or samples that a verdict needs


def on_datasets(
    text: str,
    where: str,
    differences: NDArray[np.float64],
    quantity: str,
    *,
    also: bool = True,
    unit: str = "datasets",
    detail: str = "",
) -> Claim:
    """Decide a claim that says that the mean of `differences` is above 0.

    It holds if the 95 % interval lies above 0 (and `also` is true), does not hold if it lies below 0, or if `also` is
    false, and is not decidable otherwise, or from fewer than five values.
    """
    found = paired(np.asarray(differences, dtype=np.float64))
    verdict: Verdict = "not decidable"
    if len(differences) >= _FEWEST:
        if found.is_clear or not differences.any():
            verdict = "holds" if found.mean > 0 and also else "does not hold"
        elif not also:
            verdict = "does not hold"
    few = " (too few)" if len(differences) < _FEWEST else ""
    evidence = f"{found} {quantity}, {len(differences)} {unit}{few}"
    return Claim(text, where, verdict, f"{evidence} ({detail})" if detail else evidence)
