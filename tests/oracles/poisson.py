"""Slow, literal truth for Poisson draws: the inverse of the distribution function at a hash of (seed, tree, row)."""

from __future__ import annotations

import math

from scipy.stats import poisson

from oracles import MASK_64, child_key, draws, splitmix64

_APART = 0xA0761D6478BD642F
_MOST = 16  # mean of one draw; a larger mean is a sum of equal ones


def count(seed: int, tree: int, row: int, mean: float) -> int:
    """How often a row with this mean is drawn for a tree."""
    of_tree = splitmix64(child_key(seed, tree) ^ _APART, 0)
    of_row = splitmix64(of_tree, row + 1)
    parts = max(1, math.ceil(mean / _MOST))
    drawn = [of_row, *(splitmix64(of_row, part) for part in range(1, parts))]
    return sum(_inverse((bits >> 11) / 2**53, mean / parts) for bits in drawn)


def _inverse(at: float, mean: float) -> int:
    return next(n for n in range(200) if at < poisson.cdf(n, mean))


def only_row(seed: int, tree: int, n_rows: int) -> int:
    """The row of a bag in which none was drawn."""
    limit = 2**64 % n_rows
    stream = draws(seed, [tree, (1 << 32) + 0xFFFFFFFF])
    return next(bits for bits in stream if bits >= limit) % n_rows & MASK_64
