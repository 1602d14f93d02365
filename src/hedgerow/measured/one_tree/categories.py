"""Nominal columns while a tree grows: candidate sets of categories, and inner products with their columns.

Rows with the same recorded category, and those with a missing value, are in a set S with the same probability g(S). So
S adds the column c = v·g(S) to the span, and products with sets are sums of products with these groups of rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from hedgerow.measured.laws.column_laws import CategoryLaw
from hedgerow.measured.one_tree.threshold_columns import Moments

__all__ = ["Categories", "CategoryMoments"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class CategoryMoments:
    """Moments of the columns of single categories, and what the norms of sets follow from.

    `of_groups` is Σ v² over the rows of each group, `shares` the probabilities g of each category, (n_groups,
    n_categories). Missing values are the last group.
    """

    of_groups: Floats
    shares: Floats
    basis: Floats
    residuals: Floats

    @property
    def norms(self) -> Floats:
        """Squared lengths of the columns of single categories, (n_categories,), without missing values."""
        lengths: Floats = self.of_groups[:-1] @ self.shares[:-1] ** 2
        return lengths

    def of_sets(self, sets: Bools) -> Moments:
        """Moments of the columns of sets, (m, n_categories)."""
        norms = (sets @ self.shares.T) ** 2 @ self.of_groups
        return Moments(norms, sets @ self.basis, sets @ self.residuals)


class Categories:
    """Categories of a column; with `one_against_rest` candidate sets have one category, else any number."""

    def __init__(self, law: CategoryLaw, codes: Floats, one_against_rest: bool) -> None:
        self.law = law
        self._one_against_rest = one_against_rest
        self._codes = codes
        n_categories = len(law.shares)
        missing = np.isnan(codes)
        self.is_exact = law.given is None and not missing.any()
        group = np.where(missing, n_categories, codes).astype(np.intp)
        self._groups = csr_array(
            (np.ones(len(codes)), (group, np.arange(len(codes)))), shape=(n_categories + 1, len(codes))
        )
        of_code = np.eye(n_categories) if law.given is None else law.given
        self._shares = np.vstack([of_code, law.shares])

    def within(self, members: Bools) -> Floats:
        """P(U is one of the members | x), (n,)."""
        return self.law.within(self._codes, members[np.newaxis])[:, 0]

    def sums(self, vectors: Floats) -> Floats:
        """Sums over the rows, as far as they are in each category, (n_categories, k)."""
        sums: Floats = self._shares.T @ (self._groups @ vectors)
        return sums

    def moments(self, v: Floats, basis: Floats, residuals: Floats) -> CategoryMoments:
        column = v[:, np.newaxis]
        sums = self.sums(np.concatenate([column * basis, column * residuals], axis=1))
        of_groups = (self._groups @ column**2)[:, 0]
        return CategoryMoments(of_groups, self._shares, sums[:, : basis.shape[1]], sums[:, basis.shape[1] :])

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
