"""What the larger part of a divided region has from it, so that only the smaller part is reckoned anew.

Let region k be divided in column j into parts L and R. The probabilities of the parts add up to that of k, so that in
every other column c_L + c_R = c_k for each threshold: products of R are those of k less those of L. In column j itself
the candidates below the threshold s are those of k, and those above it are c_t − c_s. Only squared lengths are not
linear.

Each difference adds a rounding error of about ε·‖p_k‖ to a product with a unit vector, p_k being the column of k. The
larger part is at least half as long as k, yet in a long line of heirs lengths may fall. After d differences products
are wrong by at most d·ε·‖p‖, p being the column of the forefather whose products were reckoned last. A part shorter
than `LEAST_LENGTH` of that is reckoned anew, so that errors stay below d·ε/LEAST_LENGTH of the part's own length.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.measured.thresholds import Moments

__all__ = ["LEAST_LENGTH", "Inheritance"]

Floats = NDArray[np.float64]

LEAST_LENGTH = 1 / 32


@dataclass(frozen=True, eq=False)
class Inheritance:
    """Products of the candidate columns of a region that is divided, as in :class:`Moments`."""

    basis: Floats
    residuals: Floats

    def larger_part(self, smaller: Moments, norms: Floats, asked: slice, position: int, above: bool) -> Moments:
        """Of the larger part, from those of the smaller one and from its own squared lengths.

        `asked` are the candidates of the column that was divided at `position` among them, none if it was a nominal
        one; `above` says that the larger part is the upper one.
        """
        basis, residuals = self.basis - smaller.basis, self.residuals - smaller.residuals
        for found, of_parent in ((basis, self.basis), (residuals, self.residuals)):
            found[asked] = of_parent[asked]
            if above:
                found[asked] -= of_parent[asked.start + position]
        return Moments(norms, basis, residuals)
