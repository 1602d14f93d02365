"""Nominal columns that are recorded with errors: how often each category is taken for another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._params import check_number, is_number
from hedgerow._registry import register

__all__ = ["Misclassification", "true_shares"]

Floats = NDArray[np.float64]

_STEPS = 500
_STILL = 1e-12


@partial(register, name="hedgerow.measured.Misclassification")
@dataclass(frozen=True, eq=False)
class Misclassification:
    """Error of a nominal column: the probability that a true category is recorded as another.

    What is known of a row is P(true | recorded), by Bayes' rule from these rates and the frequencies of true
    categories, which are estimated from the recorded ones by maximum likelihood.

    Parameters
    ----------
    rates : float, mapping or array of shape (n_categories, n_categories)
        A number: the probability that a category is recorded as some other one, all of them alike. A mapping from true
        categories to mappings from recorded ones to probabilities, as in ``{"ill": {"well": 0.2}}``; what is left is
        recorded as it is. An array: a row for each true category, in the order of the categories in the schema.

    Examples
    --------
    >>> from hedgerow.measured import Misclassification
    >>> Misclassification({"ill": {"well": 0.2}}).matrix(["ill", "well"], "diagnosis")
    array([[0.8, 0.2],
           [0. , 1. ]])
    """

    rates: Any

    def matrix(self, categories: Sequence[Any], name: str) -> Floats:
        """P(recorded | true), a row for each true category, (n_categories, n_categories).

        Parameters
        ----------
        categories : sequence
            Categories of the column.
        name : str
            What messages call the column.

        Returns
        -------
        ndarray of shape (n_categories, n_categories)
            Probabilities; rows add up to 1.

        Raises
        ------
        ValueError
            If a rate is no probability, rates of a category add up to more than 1, or a category is not known.
        """
        n = len(categories)
        if is_number(self.rates):
            rate = check_number(f"the rate of column {name!r}", self.rates, 0, 1, closed="left")
            found = np.full((n, n), rate / max(n - 1, 1))
            np.fill_diagonal(found, 1.0 - rate if n > 1 else 1.0)
            return found
        found = self._by_name(list(categories), name) if isinstance(self.rates, Mapping) else self._array(n, name)
        wrong = ~((found >= 0).all(axis=1) & (np.abs(found.sum(axis=1) - 1.0) < 1e-9))
        if wrong.any():
            row = int(np.argmax(wrong))
            raise ValueError(
                f"error_model of column {name!r}: the rates of category {categories[row]!r} are {found[row].tolist()}, "
                "must not be negative and add up to 1"
            )
        return found

    def _by_name(self, categories: list[Any], name: str) -> Floats:
        found = np.eye(len(categories))
        for true, recorded in self.rates.items():
            for category, rate in recorded.items():
                for one in (true, category):
                    if one not in categories:
                        known = ", ".join(map(repr, categories[:10]))
                        raise ValueError(
                            f"error_model of column {name!r} names {one!r}, which is not a category: these are {known}"
                        )
                if true != category:
                    moved = check_number(f"the rate of {category!r} for {true!r}", rate, 0, 1, closed="both")
                    found[categories.index(true), categories.index(category)] = moved
                    found[categories.index(true), categories.index(true)] -= moved
        return found

    def _array(self, n: int, name: str) -> Floats:
        try:
            found = np.asarray(self.rates, dtype=np.float64)
        except (TypeError, ValueError):
            found = np.zeros(0)
        if found.shape != (n, n):
            raise ValueError(
                f"error_model of column {name!r} has rates of shape {found.shape}, must be ({n}, {n}): a row for each "
                "true category, a column for each recorded one"
            )
        return found


def true_shares(recorded: Floats, matrix: Floats) -> Floats:
    """Frequencies of true categories whose recorded ones are most likely, by expectation and maximisation."""
    shares = np.full(len(recorded), 1 / max(len(recorded), 1))
    for _ in range(_STEPS):
        expected = shares @ matrix
        step = shares * (matrix @ np.divide(recorded, expected, out=np.zeros_like(expected), where=expected > 0))
        step /= step.sum()
        if np.abs(step - shares).max() < _STILL:
            break
        shares = step
    return shares
