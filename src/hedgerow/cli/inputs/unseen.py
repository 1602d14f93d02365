"""Categories that were not in `fit`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from hedgerow.cli.console import note
from hedgerow.cli.figures import counted, listed
from hedgerow.data.columns import Column, Kind

__all__ = ["UnseenCategories"]

_MOST_SHOWN = 3


class UnseenCategories:
    """Counts values of categorical columns that were not in `fit`."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self._known = {column.name: column.categories for column in columns if column.kind != Kind.NUMERIC}
        self._counts: dict[str, Counter[Any]] = {name: Counter() for name in self._known}

    def watch(self, parts: Iterator[pa.Table]) -> Iterator[pa.Table]:
        """Pass rows through and count their unseen categories."""
        for part in parts:
            self.count(part)
            yield part

    def count(self, part: pa.Table) -> None:
        for name, known in self._known.items():
            for chunk in part[name].chunks:
                self._counts[name].update(_unseen(chunk, known))

    def report(self) -> None:
        """Write a note on each column that has such values."""
        for name, counts in self._counts.items():
            if counts:
                note(_words(name, counts, self._known[name]))


def _unseen(chunk: pa.Array, known: Sequence[Any]) -> dict[Any, int]:
    """Numbers of rows, by value. Of a dictionary only the levels are compared."""
    encoded = chunk if pa.types.is_dictionary(chunk.type) else chunk.dictionary_encode()
    levels = encoded.dictionary
    strange = pc.invert(pc.is_in(levels, value_set=pa.array(known, levels.type)))
    if not pc.any(strange).as_py():
        return {}
    counts = np.bincount(np.asarray(encoded.indices.drop_null()), minlength=len(levels))
    values = levels.to_pylist()
    return {
        values[i]: int(counts[i])
        for i in np.flatnonzero(np.asarray(strange))
        if counts[i] and values[i] == values[i]  # NaN is missing
    }


def _words(name: str, counts: Counter[Any], known: Sequence[Any]) -> str:
    alike = {str(category).casefold(): category for category in known}
    shown = []
    for value, n in counts.most_common():
        meant = alike.get(str(value).strip().casefold())
        shown.append(f"{value!r} ({counted(n, 'row')}{'' if meant is None else f'; fit saw {meant!r}'})")
    what = "a category that was" if len(counts) == 1 else f"{len(counts)} categories that were"
    return f"column {name!r} has {what} not in fit, treated as missing: {listed(shown, _MOST_SHOWN)}"
