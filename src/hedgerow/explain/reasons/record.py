"""Reasons for doubt about many rows, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats

__all__ = ["NO_DOUBT", "ReasonForDoubt", "Reasons"]

NO_DOUBT = 1e-12
"""Doubt that is rounding."""


@dataclass(frozen=True, eq=False)
class Reasons:
    """Shares of the reasons for doubt about each row.

    `shares` has a row for each row and a column for each of `names`; a row's shares add up to 1, or to 0 where there is
    no doubt, or no tree that can be asked about it. `doubt` says how much there is, in what `measure` names:
    "probability" (of being wrong, as far as the model knows) or "variance".

    Parameters
    ----------
    names : tuple[str, ...]
        Names of the reasons.
    shares : array
        Share of each reason, (n_samples, n_reasons).
    doubt : array
        How much doubt there is about each row, (n_samples,).
    measure : str
        What the doubt is: "probability" or "variance".

    Examples
    --------
    >>> from hedgerow import ForestClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> reasons = ForestClassifier(20, random_state=0).fit(X[::2], y[::2]).explain(X[1::2]).reasons
    >>> reasons.measure, reasons.shares.shape
    ('probability', (75, 7))
    >>> int(reasons.doubt.argmax())  # the row to look at first
    59
    """

    names: tuple[str, ...]
    shares: Floats
    doubt: Floats
    measure: str

    def __len__(self) -> int:
        return len(self.doubt)

    @property
    def main(self) -> NDArray[Any]:
        """Name of the main reason for each row, (n,); None where there is no doubt. Of equals the first in `names`."""
        found = np.array([*self.names, None], dtype=object)
        some = self.shares.any(axis=1)
        main: NDArray[Any] = found[np.where(some, self.shares.argmax(axis=1), len(self.names))]
        return main

    def of_row(self, row: int) -> dict[str, float]:
        """Shares above 0 of one row by name, the largest first.

        Parameters
        ----------
        row : int
            Position of the row.

        Returns
        -------
        dict of str to float
            Share of each reason, by its name.
        """
        shares = self.shares[row]
        order = np.argsort(-shares, kind="stable")
        return {self.names[j]: float(shares[j]) for j in order.tolist() if shares[j] > 0}

    @classmethod
    def unknown(cls, names: tuple[str, ...], doubt: Floats, measure: str) -> Reasons:
        """Doubt of a model without trees: nothing can be said of its reasons.

        Parameters
        ----------
        names : tuple[str, ...]
            Names of the reasons.
        doubt : array
            How much doubt there is about each row, (n_samples,).
        measure : str
            What the doubt is: "probability" or "variance".

        Returns
        -------
        Reasons
            The doubt, with shares of 0.
        """
        return cls(names, np.zeros((len(doubt), len(names))), doubt, measure)

    @classmethod
    def of_parts(cls, parts: dict[str, Floats], doubt: Floats, measure: str) -> Reasons:
        """Divide `doubt`, (n,), in proportion to the parts of the reasons, by name.

        Parameters
        ----------
        parts : dict[str, array]
            Part of each reason by name, (n_samples,) each.
        doubt : array
            How much doubt there is about each row, (n_samples,).
        measure : str
            What the doubt is: "probability" or "variance".

        Returns
        -------
        Reasons
            Shares in proportion to the parts.
        """
        amounts = np.stack(list(parts.values()), axis=1)
        total = np.zeros(len(doubt))
        for column in amounts.T:  # one after the other: a row's sum must not depend on the rows beside it
            total += column
        some = (doubt > NO_DOUBT) & (total > 0)
        shares = np.where(some[:, np.newaxis], amounts, 0.0) / np.where(some, total, 1.0)[:, np.newaxis]
        return cls(tuple(parts), shares, np.where(some, doubt, 0.0), measure)


@dataclass(frozen=True)
class ReasonForDoubt:
    """One reason for doubt about one row: its share, what it is about in words and numbers, and what would help.

    `resolves` says whether the remedy makes the answer a single one; None where that was not computed, or where answers
    are no sets. `facts` has the numbers of the text, by names that stay.

    Parameters
    ----------
    name : str
        Name of the reason, which stays the same from version to version.
    share : float
        Its share of the doubt about the row, from 0 to 1.
    text : str
        What it is about, in words and numbers.
    remedy : str
        What would help.
    resolves : bool or None
        Whether the remedy makes the answer a single one; None where that was not computed.
    facts
        Numbers of the text, by name.

    Examples
    --------
    >>> from hedgerow import ForestClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> record = ForestClassifier(20, random_state=0).fit(X[::2], y[::2]).explain(X[133:134])[0]
    >>> print(record.why[0].text)
    trees are sure of different classes: by weight 55% of 2 and 45% of 1
    """

    name: str
    share: float
    text: str
    remedy: str
    resolves: bool | None
    facts: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.name} {self.share:.0%}: {self.text}. {self.remedy}."
