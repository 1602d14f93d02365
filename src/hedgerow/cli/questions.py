"""Rows of a file as questions to a model: all of them, or one for each leaf of a tree that all its answers are in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.cli.fitted import Loaded
from hedgerow.data.table import Schema
from hedgerow.datasets.blocks import in_order
from hedgerow.forest.forest import Forest
from hedgerow.walk import route

__all__ = ["Questions", "questions"]


@dataclass(frozen=True)
class Questions:
    """Rows to be answered."""

    asked: pa.Table
    """The columns of the model."""
    which: NDArray[np.int32] | None
    """For each row of the file, the row of `asked` that has its answer; None: each has its own."""
    kept: pa.Table | None
    """Columns of the file that go with the answers, of all rows."""

    @property
    def nbytes(self) -> int:
        parts = (self.asked, self.which, self.kept)
        return sum(part.nbytes for part in parts if part is not None)


def questions(loaded: Loaded, parts: Iterator[pa.Table], keep: Sequence[str]) -> Iterator[Questions]:
    """What there is to ask about each part of a file."""
    tree, schema = loaded.deciding_tree, loaded.schema

    def of_part(part: pa.Table) -> Questions:
        kept = pa.table({name: _plain(part[name]) for name in keep}) if keep else None
        asked = part.select(schema.names)
        if tree is None:
            return Questions(asked, None, kept)
        row_of, which = _one_for_each_answer(tree, schema, asked)
        return Questions(asked.take(pa.array(row_of)), which, kept)

    return in_order(of_part, parts)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _one_for_each_answer(tree: Forest, schema: Schema, asked: pa.Table) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Rows whose answers may differ, and for each row its place among them.

    Rows in the same leaf have the same answer; one that is divided over several leaves stands for itself.
    """
    answers = route(tree, schema.read(asked), heaviest=False, n_jobs=1)[:, 0]
    divided = answers < 0
    n_divided = np.count_nonzero(divided)
    answers[divided] = tree.n_leaves + np.arange(n_divided)
    row_of = np.full(tree.n_leaves + n_divided, -1)
    row_of[answers] = np.arange(len(answers))
    there = row_of >= 0
    place = np.cumsum(there, dtype=np.int32) - np.int32(1)
    return row_of[there], place[answers]
