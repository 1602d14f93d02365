"""Explanations of many rows: their reasons as arrays at once, and each row's own record when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from hedgerow.contributions import Contributions
from hedgerow.explain.html import explanations_html
from hedgerow.explain.reasons.record import Reasons

__all__ = ["Explanations"]

Record = TypeVar("Record")

_BLOCK = 256  # rows whose records are made together


class Explanations(Sequence[Record], Generic[Record]):
    """Explanations of rows, like a list of one record for each; records are made when they are asked for.

    `reasons` has the shares of the reasons for doubt of all rows as arrays, `answers` the predictions, `sets` the
    classes that can't be ruled out, bool (n, n_classes), or None. Later changes of the model do not change them.

    Parameters
    ----------
    make : Callable[[int, int], Sequence[Record]]
        Function that makes the records from one row to another.
    reasons : Reasons
        Shares of the reasons for doubt of all rows.
    answers : array
        Prediction of each row.
    sets : bool array or None, default=None
        Classes that can't be ruled out, bool (n, n_classes); None where answers are no sets.
    classes : array or None, default=None
        Labels, in the order of the other arrays.

    Examples
    --------
    >>> from hedgerow import ForestClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> found = ForestClassifier(20, random_state=0).fit(X[::2], y[::2]).explain(X[1::2])
    >>> len(found), found[0].answer
    (75, 0)
    >>> found.to_frame()["reason"].value_counts().index[0]
    'few cases'
    """

    def __init__(
        self,
        make: Callable[[int, int], Sequence[Record]],
        reasons: Reasons,
        answers: NDArray[Any],
        sets: NDArray[np.bool_] | None = None,
        classes: NDArray[Any] | None = None,
    ) -> None:
        self._make = make
        self.reasons = reasons
        self.answers = answers
        self.sets = sets
        self.classes = classes
        self._block: tuple[int, Sequence[Record]] = (0, ())
        self._contributions: Contributions | None = None

    def __len__(self) -> int:
        return len(self.reasons)

    @overload
    def __getitem__(self, row: int) -> Record: ...

    @overload
    def __getitem__(self, row: slice) -> list[Record]: ...

    def __getitem__(self, row: int | slice) -> Record | list[Record]:
        if isinstance(row, slice):
            return [self[i] for i in range(*row.indices(len(self)))]
        number = row + len(self) if row < 0 else row
        if not 0 <= number < len(self):
            raise IndexError(f"row {row} of {len(self)} explanations")
        first, found = self._block
        if not first <= number < first + len(found):
            first = number // _BLOCK * _BLOCK
            found = self._make(first, min(first + _BLOCK, len(self)))
            self._block = first, found
        return found[number - first]

    def __eq__(self, other: object) -> bool:
        """Whether both have equal records, as lists have."""
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(other) == len(self) and all(one == another for one, another in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def with_contributions(self, found: Contributions) -> Explanations[Record]:
        """Return the explanations with contributions to the answers; of classifiers, to the predicted class.

        Parameters
        ----------
        found : Contributions
            Of the same rows.

        Returns
        -------
        Explanations
            The same rows, whose records have `contributions`.
        """
        by_class = bool(found.classes)

        def make(first: int, last: int) -> list[Record]:
            return [
                replace(record, contributions=found.of_row(i, record.answer if by_class else None))  # type: ignore
                for i, record in enumerate(self._make(first, last), first)
            ]

        other = Explanations(make, self.reasons, self.answers, self.sets, self.classes)
        other._contributions = found
        return other

    def set_of_row(self, row: int) -> tuple[Any, ...] | None:
        """Classes of a row's set; None where answers are no sets.

        Parameters
        ----------
        row : int
            Position of the row.

        Returns
        -------
        tuple or None
            Labels of the classes in the set; None where answers are no sets.
        """
        if self.sets is None or self.classes is None:
            return None
        return tuple(self.classes[self.sets[row]].tolist())

    def to_frame(self) -> Any:
        """Return a pandas DataFrame: answer, set, doubt, main reason, the share of each reason, and contributions to
        the answer where they were asked for; needs pandas.

        Returns
        -------
        pandas.DataFrame
            A row for each explanation.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        try:
            import pandas
        except ImportError as absent:
            raise ImportError("to_frame needs pandas: pip install pandas") from absent
        columns: dict[str, Any] = {"answer": self.answers}
        if self.sets is not None:
            columns["set"] = [self.set_of_row(i) for i in range(len(self))]
        main = pandas.Series(self.reasons.main, dtype=object)  # or None becomes NaN
        columns |= {"doubt": self.reasons.doubt, "reason": main}
        shares = dict(zip(self.reasons.names, self.reasons.shares.T, strict=True))
        return pandas.DataFrame(columns | shares | self._contributions_of_answers())

    def _contributions_of_answers(self) -> dict[str, Any]:
        """Columns with the contributions to each answer."""
        found = self._contributions
        if found is None:
            return {}
        values = found.values
        if found.classes:
            codes = [found.classes.index(answer) for answer in self.answers.tolist()]
            values = values[np.arange(len(values)), :, codes]
        return {f"contribution of {name}": one for name, one in zip(found.columns, values.T, strict=True)}

    def __repr__(self) -> str:
        n_doubtful = int(self.reasons.shares.any(axis=1).sum())
        return f"<Explanations of {len(self)} rows, {n_doubtful} with doubt>"

    def _repr_html_(self) -> str:
        return explanations_html(self.answers, self.sets, self.classes, self.reasons)
