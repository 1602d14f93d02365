"""Decides claims: a mean over datasets or samples against 0 or a limit, with its 95 % interval."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hedgerow.experiments.findings import Claim, Verdict
from hedgerow.experiments.statistics import paired

__all__ = ["on_datasets"]

_FEWEST = 5  # datasets or samples that a verdict needs


def on_datasets(
    text: str,
    where: str,
    values: NDArray[np.float64],
    quantity: str,
    *,
    below: float | None = None,
    also: bool = True,
    unit: str = "datasets",
    detail: str = "",
) -> Claim:
    """Decide a claim that says that the mean of `values` is above 0, or below the limit `below`.

    It holds if the 95 % interval lies on that side (and `also` is true), does not hold if it lies on the other, or if
    `also` is false, and is not decidable otherwise, or from fewer than five values.

    >>> gain = np.array([1.0, 2.0, 1.5, 0.5, -0.1, 1.0])
    >>> claim = on_datasets("Soft trees are better.", "4", gain, "percent")
    >>> claim.verdict, claim.evidence
    ('holds', '+0.98 ± 0.77 percent; above 0 on 5 of 6 datasets')
    >>> claim = on_datasets("They differ little.", "4", abs(gain), "percent apart", below=3.0)
    >>> claim.verdict, claim.evidence
    ('holds', '1.02 ± 0.71 percent apart; below 3 on 6 of 6 datasets')
    """
    values = np.asarray(values, dtype=np.float64)
    found = paired(values)
    wanted = values if below is None else below - values
    side = paired(wanted)
    verdict: Verdict = "not decidable"
    if len(values) >= _FEWEST:
        if side.is_clear or not wanted.any():
            verdict = "holds" if side.mean > 0 and also else "does not hold"
        elif not also:
            verdict = "does not hold"
    n_wanted = int((wanted > 0).sum())
    shown = str(found) if len(values) >= _FEWEST else f"{found.mean:+.2f}"
    if below is not None:
        shown = shown.removeprefix("+")
    bound = "above 0" if below is None else f"below {below:g}"
    few = " (too few)" if len(values) < _FEWEST else ""
    evidence = f"{shown} {quantity}; {bound} on {n_wanted} of {len(values)} {unit}{few}"
    return Claim(text, where, verdict, f"{evidence} ({detail})" if detail else evidence)
