"""Rows of the host, answered in parts by several threads: their copies, walks and finishes overlap."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._core import first_infinity
from hedgerow.gpu.engine import DeviceWalk
from hedgerow.gpu.numpy_language import convert_parts
from hedgerow.walk import Query, ask

__all__ = ["ask_in_parts", "first_infinity_abreast"]

Floats = NDArray[np.float64]

_MOST_THREADS = 8
_SCANNED_ROWS = 2**15
_FINISHED_ROWS = 2**15  # at a time: temporary arrays stay in the cache

ROWS_AT_A_TIME = 2**18
"""Rows of a part: a processor of a large GPU has two thousand of them then."""


def ask_in_parts(walk: DeviceWalk, rows: Floats, queries: Sequence[Query[Any]]) -> list[Any]:
    """Answer every query about rows of the host.

    Finishes run on the CPU, so that answers have the bits of those of the CPU wherever the folds have.

    Parameters
    ----------
    walk : DeviceWalk
        The engine.
    rows : array of shape (n_samples, n_features)
        Rows, converted.
    queries : sequence of Query
        The queries.
    """
    if len(rows) <= ROWS_AT_A_TIME:
        return ask(walk, rows, queries)
    few = ask(walk, rows[:_FINISHED_ROWS], queries)  # alone: trees and tables are copied once
    if any(array.shape[:1] != (_FINISHED_ROWS,) for array in _arrays_of(few)):
        return ask(walk, rows, queries)  # not an entry for each row

    def for_all(part: Any) -> Any:
        return np.empty((len(rows), *part.shape[1:]), part.dtype) if isinstance(part, np.ndarray) else part

    answers: list[Any] = [convert_parts(one, for_all) for one in few]
    outputs = _arrays_of(answers)
    folds = [replace(query, finish=_as_it_is, with_rows=False) for query in queries]

    def answer(part: slice) -> None:
        with walk.device.current():
            folded = ask(walk, rows[part], folds)
        for some in _parts(len(rows[part]), _FINISHED_ROWS):
            here = slice(part.start + some.start, part.start + some.stop)
            finished = [
                query.answer(one[some], walk.forest.n_trees, rows[here])
                for query, one in zip(queries, folded, strict=True)
            ]
            for array, out in zip(_arrays_of(finished), outputs, strict=True):
                out[here] = array

    _each(answer, _parts(len(rows), ROWS_AT_A_TIME))
    return answers


def _parts(n: int, size: int) -> list[slice]:
    return [slice(first, min(first + size, n)) for first in range(0, n, size)]


def _as_it_is(folded: Floats, n_trees: int) -> Floats:
    return folded


def first_infinity_abreast(X: Floats) -> int:
    """Flat position of the first infinite value, or -1, found by several threads.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns)
        Row-major.
    """
    starts = range(0, len(X), _SCANNED_ROWS)
    if len(starts) < 2:
        return first_infinity(X)
    found = _each(lambda first: first_infinity(X[first : first + _SCANNED_ROWS]), starts)
    return next((first * X.shape[1] + at for first, at in zip(starts, found, strict=True) if at >= 0), -1)


def _each(use: Callable[[Any], Any], things: Sequence[Any]) -> list[Any]:
    """Results of a call for each thing, by several threads."""
    n_threads = max(1, min(_MOST_THREADS, os.cpu_count() or 1, len(things)))
    with ThreadPoolExecutor(n_threads, thread_name_prefix="hedgerow-gpu") as threads:
        return list(threads.map(use, things))


def _arrays_of(answers: Any) -> list[NDArray[Any]]:
    """Arrays of answers, those in tuples and records too."""
    arrays: list[NDArray[Any]] = []

    def take(part: Any) -> Any:
        if isinstance(part, np.ndarray):
            arrays.append(part)
        return part

    convert_parts(tuple(answers), take)
    return arrays
