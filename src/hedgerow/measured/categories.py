"""Nominal columns while a tree grows: candidate sets of categories, and inner products with their columns.

A set S adds the column c = v·1[x ∈ S] to the span (a missing value is in S with the frequency of its categories), so
that products with sets are sums of products with single categories.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hedgerow.measured.laws import CategoryLaw
from hedgerow.measured.threshold_columns import Moments

__all__ = ["Categories", "CategoryMoments"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class CategoryMoments:
    """Moments of the columns of single categories; `of_missing` is Σ v² over the rows with a missing value."""

    norms: Floats
    of_missing: float
    basis: Floats
    residuals: Floats

    def of_sets(self, sets: Bools, shares: Floats) -> Moments:
        """Moments of the columns of sets, (m, n_categories)."""
        norms = sets @ self.norms + (sets @ shares) ** 2 * self.of_missing
        return Moments(norms, sets @ self.basis, sets @ self.residuals)


class Categories:
    """Categories of a column; with `one_against_rest` candidate sets have one category, else any number."""

    def __init__(self, law: CategoryLaw, codes: Floats, one_against_rest: bool) -> None:
        self.law = law
        self._one_against_rest = one_against_rest
        self._codes = codes
        self._missing = np.flatnonzero(np.isnan(codes))
        known = np.flatnonzero(~np.isnan(codes))
        positions = (codes[known].astype(np.intp), known)
        self._indicators = csr_array((np.ones(len(known)), positions), shape=(len(law.shares), len(codes)))

    @property
    def any_missing(self) -> bool:
        return len(self._missing) > 0

    def within(self, members: Bools) -> Floats:
        """P(U is one of the members | x), (n,)."""
        return self.law.within(self._codes, members[np.newaxis])[:, 0]

    def sums(self, vectors: Floats) -> Floats:
        """Sums over the rows of each category and its share of missing rows, (n_categories, k)."""
        return self.sums_known(vectors) + np.outer(self.law.shares, vectors[self._missing].sum(axis=0))

    def sums_known(self, vectors: Floats) -> Floats:
        """Sums over the rows of each category, (n_categories, k)."""
        sums: Floats = self._indicators @ vectors
        return sums

    def moments(self, v: Floats, basis: Floats, residuals: Floats) -> CategoryMoments:
        column = v[:, np.newaxis]
        sums = self.sums(np.concatenate([column * basis, column * residuals], axis=1))
        norms = self.sums_known(column**2)[:, 0]
        of_missing = float((v[self._missing] ** 2).sum())
        return CategoryMoments(norms, of_missing, sums[:, : basis.shape[1]], sums[:, basis.shape[1] :])

    def candidate_sets(self, inside: Bools, moments: CategoryMoments) -> Bools:
        """Candidate sets in a region that has the categories `inside`, (m, n_categories).

        With one output and all other columns exact, the best set consists of the first categories in the order of
        their mean residuals (Breiman et al., CART, 1984, 4.2.2). With several outputs categories are ordered along the
        first principal axis (Coppersmith, Hong and Hosking, 1999); with inexact columns the order is a heuristic.
        """
        present = np.flatnonzero(inside & (moments.norms > 0))
        if len(present) < 2:
            return np.zeros((0, len(inside)), dtype=bool)
        if self._one_against_rest:
            sets = np.zeros((len(present), len(inside)), dtype=bool)
            sets[np.arange(len(present)), present] = True
            return sets
        order = present[np.argsort(_positions(moments, present), kind="stable")]
        sets = np.zeros((len(order) - 1, len(inside)), dtype=bool)
        for n, codes in enumerate(sets, 1):
            codes[order[:n]] = True
        return sets


def _positions(moments: CategoryMoments, present: NDArray[np.intp]) -> Floats:
    """Position of each category along the axis on which sets are cut."""
    norms = moments.norms[present]
    means = moments.residuals[present] / norms[:, np.newaxis]
    if means.shape[1] == 1:
        return means[:, 0]
    centred = means - np.average(means, axis=0, weights=norms)
    axis = np.linalg.svd(centred * np.sqrt(norms)[:, np.newaxis], full_matrices=False)[2][0]
    axis *= np.sign(axis[np.argmax(np.abs(axis))])  # the sign of a singular vector is arbitrary
    positions: Floats = centred @ axis
    return positions
