"""Literal definitions of metrics: one row, one bin at a time."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any


def calibration_error(
    truth: Sequence[Any], proba: Sequence[Sequence[float]], classes: Sequence[Any], n_bins: int, weights: Sequence[int]
) -> float:
    """Σ over bins of weight share × |accuracy − mean confidence|, in fractions; bins ((m − 1)/M, m/M]."""
    total, error = sum(weights), Fraction(0)
    for m in range(1, n_bins + 1):
        weight, n_right, sum_of_confidence = 0, 0, Fraction(0)
        for label, row, w in zip(truth, proba, weights, strict=True):
            confidence = max(row)
            predicted = classes[list(row).index(confidence)]
            first = m == 1 and confidence == 0
            if (m - 1) / n_bins < confidence <= m / n_bins or first:
                weight += w
                n_right += w * (predicted == label)
                sum_of_confidence += w * Fraction(confidence)
        if weight:
            gap = abs(Fraction(n_right, weight) - sum_of_confidence / weight)
            error += Fraction(weight, total) * gap
    return float(error)
