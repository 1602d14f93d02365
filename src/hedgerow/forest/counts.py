"""Class counts of leaves: validation, and storage without repetitions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow._arrays import Floats
from hedgerow._core import number_rows

__all__ = ["DistinctCounts", "as_numbers", "check_counts"]


_LEAVES_A_ROW = 4  # leaves per distinct row, on average, that make sharing worth while


class DistinctCounts(NamedTuple):
    """Counts of leaves without repetitions: most leaves of a large forest share theirs with others.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.forest import DistinctCounts
    >>> found = DistinctCounts.of(np.array([[3.0, 0.0], [0.0, 1.0]] * 50))  # 100 leaves
    >>> len(found.counts), len(found.row_of)
    (2, 100)
    """

    counts: Floats
    """(n, n_classes), in no order; each occurs."""
    row_of: NDArray[np.uint32] | None
    """The row of each leaf; None where too few share theirs, and `counts` has a row for each leaf."""

    @classmethod
    def of(cls, counts: Floats) -> DistinctCounts:
        """Keep each different row of counts once.

        Parameters
        ----------
        counts : float64 array of shape (n_leaves, n_classes)
            Class counts of leaves.

        Returns
        -------
        DistinctCounts
            The counts.
        """
        found = number_rows(counts, len(counts) // _LEAVES_A_ROW)
        return cls(counts, None) if found is None else cls(*found).frozen()

    def frozen(self) -> DistinctCounts:
        """Make the arrays read-only; expand to one row per leaf if too few leaves share rows.

        Returns
        -------
        DistinctCounts
            The counts.
        """
        counts, row_of = self
        if row_of is not None and len(counts) > len(row_of) // _LEAVES_A_ROW:
            counts, row_of = counts[row_of], None
        for array in (counts, row_of):
            if array is not None:
                array.flags.writeable = False
        return DistinctCounts(counts, row_of)

    def of_each_leaf(self, values: NDArray[Any]) -> NDArray[Any]:
        """Expand `values`, which has a row for each of the counts, to one row per leaf.

        Parameters
        ----------
        values : array of shape (n_distinct, …)
            One row for each of the counts.

        Returns
        -------
        ndarray of shape (n_leaves, …)
            A row for each leaf.
        """
        return values if self.row_of is None else values[self.row_of]

    def part(self, first: int, last: int) -> DistinctCounts:
        """Counts of the leaves first .. last - 1.

        Parameters
        ----------
        first : int
            First leaf.
        last : int
            Leaf after the last one.

        Returns
        -------
        DistinctCounts
            Counts of these leaves, with the same rows of counts.
        """
        if self.row_of is None:
            return DistinctCounts(self.counts[first:last], None)
        return DistinctCounts(self.counts, self.row_of[first:last])


def as_numbers(name: str, given: ArrayLike) -> Floats:
    """Convert to a float64 array; the error names the argument."""
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} is {given!r}, must be an array of numbers ({error})") from None


def check_counts(counts: ArrayLike, *, of_trees: bool = False) -> Floats:
    """Validate counts as float64 (…, n_classes), or (…, n_trees, n_classes) if `of_trees`."""
    leaves = as_numbers("counts", counts)
    least = 2 if of_trees else 1
    if leaves.ndim < least or not all(leaves.shape[-least:]):
        shape = "(..., n_trees, n_classes)" if of_trees else "(..., n_classes)"
        raise ValueError(f"counts have shape {leaves.shape}, must have shape {shape}")
    bad = ~(np.isfinite(leaves) & (leaves >= 0))
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ValueError(f"counts{list(where)} is {leaves[where]}, must be finite and not negative")
    with np.errstate(over="ignore"):
        if not np.isfinite(leaves.sum(axis=-1)).all():
            raise ValueError("the counts of a leaf add up to infinity: divide all counts, and s, by the same number")
    return leaves
