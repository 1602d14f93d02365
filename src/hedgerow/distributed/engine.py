"""Interface of engines: three verbs, and tasks without state.

A *part* is a small recipe for some rows, see :class:`Part`. A *task* is ``task(part, *shared) -> result``; it changes
nothing and returns the same for the same part, so that an engine may run it again when a worker is lost. Results are
merged by a function that is associative and commutative in every bit: sums of whole numbers, least values, unions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Done", "Engine", "Part", "add", "merge_all"]

Done = Callable[[int], object]
"""Called with the number of parts that were finished since the last call."""


class Part(Protocol):
    """Recipe for some consecutive rows: picklable, small, and the same rows each time it is read.

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> from hedgerow.distributed import parquet
    >>> folder = tempfile.mkdtemp()
    >>> pq.write_table(pa.table({"x": [1.0, 2.0]}), f"{folder}/rows.parquet")
    >>> part = parquet(folder).parts[0]
    >>> part.first, part.n_rows
    (0, 2)
    >>> [batch["x"].to_pylist() for batch in part.batches()]
    [[1.0, 2.0]]
    """

    @property
    def label(self) -> str:
        """Where the rows come from, for messages: the file."""

    @property
    def first(self) -> int:
        """Global number of the first row."""

    @property
    def n_rows(self) -> int:
        """Number of rows, possibly 0."""

    def where(self, row: int) -> str:
        """Name of a row of the part for messages: the file, and its number there from 1.

        Parameters
        ----------
        row : int
            Position of the row in the part.

        Returns
        -------
        str
            The name, such as "rows.parquet, row 17".
        """

    def batches(self) -> Iterator[pa.Table]:
        """Read the rows, some at a time, in order.

        Yields
        ------
        pyarrow.Table
            Some rows.
        """


class Engine(Protocol):
    """Runs tasks on parts. `parts` may also be other values that tasks take, such as the rows of one tree's bag.

    Examples
    --------
    An engine without workers:

    >>> from functools import reduce
    >>> class Serial:
    ...     def share(self, value):
    ...         return value
    ...
    ...     def map(self, parts, task, *shared, done=None):
    ...         return [task(part, *shared) for part in parts]
    ...
    ...     def fold(self, parts, task, *shared, merge, done=None):
    ...         return reduce(merge, self.map(parts, task, *shared))
    >>> Serial().fold([1, 2, 3], pow, 2, merge=max)
    9
    """

    def share(self, value: Any) -> Any:
        """Send a value once to each worker; pass the result to `map` and `fold` as one of `shared`.

        Parameters
        ----------
        value
            What all tasks need.

        Returns
        -------
        object
            What stands for the value in calls of `map` and `fold`.
        """

    def map(self, parts: Sequence[Any], task: Callable[..., Any], *shared: Any, done: Done | None = None) -> list[Any]:
        """Result of each part, in the order of the parts.

        Parameters
        ----------
        parts : Sequence[object]
            Parts of the rows, of :class:`PartedRows`.
        task : Callable[..., object]
            Function ``task(part, *shared)``; must be picklable.
        *shared
            What every task gets, as `share` has returned it.
        done : Done or None, default=None
            Called once for every part that is finished.

        Returns
        -------
        list
            A result for each part.
        """

    def fold(
        self,
        parts: Sequence[Any],
        task: Callable[..., Any],
        *shared: Any,
        merge: Callable[[Any, Any], Any],
        done: Done | None = None,
    ) -> Any:
        """Results of all parts, merged in a tree of any shape.

        Parameters
        ----------
        parts : Sequence[object]
            Parts of the rows, of :class:`PartedRows`.
        task : Callable[..., object]
            Function ``task(part, *shared)``; must be picklable.
        *shared
            What every task gets, as `share` has returned it.
        merge : Callable[[object, object], object]
            Function that merges two results.
        done : Done or None, default=None
            Called once for every part that is finished.

        Returns
        -------
        object
            The merged result; None without parts.
        """


def add(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Merge results by adding arrays of the same name. Exact, and so independent of the order, for whole numbers.

    Parameters
    ----------
    one : mapping of names to arrays
        A result.
    other : mapping of names to arrays
        Another, with the same names.

    Returns
    -------
    dict of str to ndarray
        The sums by name, each of the shape of its terms.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.distributed import add
    >>> add({"counts": np.array([1, 2])}, {"counts": np.array([10, 20])})
    {'counts': array([11, 22])}
    """
    return {name: one[name] + other[name] for name in one}


def merge_all(merge: Callable[[Any, Any], Any], *several: Any) -> Any:
    """Merge some results in a worker."""
    return reduce(merge, several)
