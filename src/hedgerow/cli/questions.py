"""Rows of a file to predict: all of them, or for a single tree one row per leaf reached."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.cli.fitted import Loaded
from hedgerow.datasets.blocks import in_order
from hedgerow.forest.forest import Forest
from hedgerow.walk import route

__all__ = ["Questions", "questions"]


@dataclass(frozen=True)
class Questions:
    """Rows to predict."""

    asked: pa.Table | NDArray[np.float64]
    """The columns of the model; an array where they are converted already."""
    which: NDArray[np.int32] | None
    """For each row of the file, the row of `asked` with its answer; None: row i has answer i."""
    kept: pa.Table | None
    """Columns of the file that go with the answers, of all rows."""

    @property
    def nbytes(self) -> int:
        parts = (self.asked, self.which, self.kept)
        return sum(part.nbytes for part in parts if part is not None)


def questions(loaded: Loaded, parts: Iterator[pa.Table], keep: Sequence[str]) -> Iterator[Questions]:
    """Rows to predict of each part of a file."""
    tree, schema = loaded.deciding_tree, loaded.schema

    def of_part(part: pa.Table) -> Questions:
        kept = pa.table({name: _plain(part[name]) for name in keep}) if keep else None
        asked = part.select(schema.names)
        if tree is None:
            return Questions(asked, None, kept)
        rows = schema.read(asked)
        row_of, which = _one_for_each_answer(tree, rows)
        return Questions(rows[row_of], which, kept)

    return in_order(of_part, parts)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _one_for_each_answer(tree: Forest, rows: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Indices of rows whose answers may differ, and for each row its position among them.

    Rows in the same leaf have the same answer; a row that is spread over several leaves has its own.
    """
    answers = route(tree, rows, heaviest=False, n_jobs=1)[:, 0]
    divided = answers < 0
    n_divided = np.count_nonzero(divided)
    answers[divided] = tree.n_leaves + np.arange(n_divided)
    row_of = np.full(tree.n_leaves + n_divided, -1)
    row_of[answers] = np.arange(len(answers))
    there = row_of >= 0
    place = np.cumsum(there, dtype=np.int32) - np.int32(1)
    return row_of[there], place[answers]
