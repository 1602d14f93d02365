"""Sums that do not depend on the order of their terms.

Doubles that are multiples of 2**-20 add up exactly as long as the sum is below 2**33, whatever the order; so do whole
numbers below 2**53. Shares and real weights are therefore rounded to such multiples before they are added.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from hedgerow._arrays import Floats

__all__ = ["UNIT", "exact_sum", "fraction_of", "merge_sums", "round_shares", "split_sum"]

UNIT = 2.0**-20
"""Multiples of it add up exactly in doubles, in any order, as long as the sum is below 2**33."""


def round_shares(values: Floats) -> Floats:
    """The nearest multiples of 2**-20; -0.0 becomes 0.0.

    >>> round_shares(np.array([1 / 3, 3.0, -0.0])).tolist()
    [0.33333301544189453, 3.0, 0.0]
    """
    return np.rint(values / UNIT) * UNIT + 0.0


def split_sum(values: Floats) -> dict[int, int]:
    """Sum of doubles without rounding: the mantissas of equal exponents, added up as whole numbers."""
    mantissa, exponent = np.frexp(values)
    whole = (mantissa * 2.0**53).astype(np.int64)
    sums: dict[int, int] = {}
    for number in np.unique(exponent):
        some = whole[exponent == number]
        # Halves of 32 bits: their sums can't overflow.
        sums[int(number)] = (int((some >> 32).sum()) << 32) + int((some & 0xFFFFFFFF).sum())
    return sums


def merge_sums(one: Mapping[int, int], other: Mapping[int, int]) -> dict[int, int]:
    """The sum of two sums of :func:`split_sum`."""
    return {number: one.get(number, 0) + other.get(number, 0) for number in {*one, *other}}


def exact_sum(sums: Mapping[int, int]) -> float:
    """The double that is nearest to the sum.

    >>> exact_sum(merge_sums(split_sum(np.array([1e100, 1.0])), split_sum(np.array([-1e100]))))
    1.0
    """
    return float(fraction_of(sums))


def fraction_of(sums: Mapping[int, int]) -> Fraction:
    """The sum itself."""
    return sum((Fraction(whole) * Fraction(2) ** (number - 53) for number, whole in sums.items()), Fraction(0))
