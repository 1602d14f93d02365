"""Doubt that is left after one thing after another has become known: the steps are the reasons' parts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats

__all__ = ["Levels"]

_NOTHING = 1e-12  # of the doubt: differences of sums over trees that are equal but for rounding


@dataclass(frozen=True, eq=False)
class Levels:
    """Doubt about each row, (n,) each, now and after one thing after another is known; none is above the one before.

    For classes it is one less the certainty of the likeliest class, for numbers the variance. What is left at the end
    is the doubt about rows in a leaf that has as many rows as one likes. A model that lacks a step repeats the level.
    """

    now: Floats
    inside: Floats
    """Were the row within the training data."""
    away: Floats
    """And far from the boundary."""
    agreed: Floats
    """And if it were known which tree is right."""
    exact: Floats
    """And its values were free of error."""
    complete: Floats
    """And none of them was missing."""
    counted: Floats
    """And its leaves had as many rows as one likes, with the same frequencies."""

    @classmethod
    def of_classes(
        cls, *, about: Floats, empty: Floats, answer: Floats, away: Floats, tree: Floats, exact: Floats, leaf: Floats,
        counted: Floats
    ) -> Levels:  # fmt: skip
        """Levels from certainties of the likeliest class: each the largest of its own and those before it.

        `about` is the probability that the leaves are about the row, `empty` the doubt of leaves without rows.
        """
        reached = np.maximum.accumulate(np.stack([answer, away, tree, exact, leaf, counted]), axis=0)
        return cls(1.0 - about * reached[0], *(1.0 - empty - reached))

    def only_outside(self, decided: NDArray[np.bool_], outside: Floats) -> Levels:
        """Levels where `decided` rows are left with the doubt `outside`, (n,), which being inside takes away."""
        left = {name: np.where(decided, 0.0, level) for name, level in vars(self).items()}
        return Levels(**left | {"now": np.where(decided, outside, self.now)})

    def step(self, before: Floats, after: Floats | float) -> Floats:
        """Doubt between two levels, (n,); exactly 0 where it is rounding."""
        taken = before - after
        return np.where(taken > _NOTHING * np.maximum(self.now, _NOTHING), taken, 0.0)
