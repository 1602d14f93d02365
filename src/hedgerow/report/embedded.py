"""Rows that the page holds: those in doubt, their neighbors, and some of every leaf of the tree."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.estimators.contract import offers, read_rows
from hedgerow.report.doubt import cell_values
from hedgerow.report.held_out import Rows, sample_rows
from hedgerow.report.numbers import rounded
from hedgerow.scoring.folds import take_rows

__all__ = ["Embedded"]

_MOST_COLUMNS = 40  # of the rows in the page
_MOST_CELLS = 60_000
_ROWS_OF_A_LEAF = 6
_MOST_LEAF_ROWS = 20_000  # that leaves are filled from


class Embedded:
    """Chooses the rows and columns that fit in a page."""

    def __init__(self, rows: Rows, model: Any, order: NDArray[np.intp]) -> None:
        self._rows, self._model = rows, model
        names = model.schema_.names
        self.columns = np.sort(order[:_MOST_COLUMNS]) if len(names) > _MOST_COLUMNS else np.arange(len(names))
        self._room = _MOST_CELLS // max(1, len(self.columns))

    def details(self, items: list[dict[str, Any]], drawn: Any, file_rows: NDArray[np.int64] | None) -> dict[str, Any]:
        """The rows in doubt, and a table of all rows that the page refers to."""
        wanted = dict.fromkeys(item["row"] for item in items)
        for item in items:
            wanted |= dict.fromkeys(neighbor[0] for neighbor in item.get("neighbors", []))
        leaves = self._leaf_rows(drawn)
        for rows in leaves.values():
            rows[:] = [row for row in rows if len(wanted) < self._room or row in wanted]
            wanted |= dict.fromkeys(rows)
        positions = np.array(sorted(wanted), dtype=np.intp)
        return {
            "rows": {"items": items},
            "table": self._table(positions, file_rows),
            "leaves": {str(leaf): rows for leaf, rows in leaves.items() if rows},
        }

    def _leaf_rows(self, drawn: Any) -> dict[int, list[int]]:
        """Some rows of every leaf of the drawn tree."""
        if not offers(drawn, "apply") or drawn.forest_.n_trees != 1:
            return {}
        positions = sample_rows(self._rows, _MOST_LEAF_ROWS)
        leaves = np.asarray(drawn.apply(take_rows(self._rows.X, positions))).reshape(len(positions))
        order = np.argsort(leaves, kind="stable")
        starts = np.flatnonzero(np.r_[True, np.diff(leaves[order]) > 0])
        return {
            int(leaves[order[start]]): positions[order[start : min(start + _ROWS_OF_A_LEAF, end)]].tolist()
            for start, end in zip(starts, [*starts[1:], len(order)], strict=True)
        }

    def _table(self, positions: NDArray[np.intp], file_rows: NDArray[np.int64] | None) -> dict[str, Any]:
        if not len(positions):
            return {"columns": [], "rows": [], "labels": [], "values": [], "truth": []}
        values = read_rows(self._model, take_rows(self._rows.X, positions))[:, self.columns]
        columns = [self._model.schema_.columns[j] for j in self.columns]
        y = self._rows.y[positions]
        if self._rows.classification:
            order = {label: i for i, label in enumerate(self._model.classes_.tolist())}
            truth: list[Any] = [order.get(label) for label in y.tolist()]
        else:
            truth = [rounded(value) for value in y]
        labels = positions if file_rows is None else file_rows[positions]
        return {
            "columns": self.columns.tolist(),
            "rows": positions.tolist(),
            "labels": labels.tolist(),
            "values": [cell_values(row, columns) for row in values],
            "truth": truth,
        }
