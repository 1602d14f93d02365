"""Leaf tables as arrays of a device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.gpu.device import Device
from hedgerow.gpu.launch import MOST_COLUMNS
from hedgerow.walk.leaf_table import LeafTable

__all__ = ["DeviceTable", "TableStack", "stack_tables"]


@dataclass(frozen=True, eq=False)
class TableStack:
    """Tables that one walk folds, side by side: they share the rows of their leaves."""

    tables: tuple[LeafTable, ...]
    numbers: tuple[int, ...]
    """Which of the tables that were asked for these are."""
    kept: bool
    """Whether trees are kept apart."""

    @property
    def n_columns(self) -> int:
        return sum(len(table.ops) for table in self.tables)

    @property
    def key(self) -> tuple[int, ...]:
        return tuple(id(table) for table in self.tables)

    def split(self, folded: Any) -> list[Any]:
        """Divide the fold of the stack, (…, n_columns), among its tables.

        Parameters
        ----------
        folded : array
            Fold of all columns.
        """
        if len(self.tables) == 1:
            return [folded]
        ends = np.cumsum([len(table.ops) for table in self.tables])
        return [folded[..., end - len(table.ops) : end] for table, end in zip(self.tables, ends, strict=True)]


def stack_tables(tables: Sequence[LeafTable], per_tree: Sequence[bool]) -> list[TableStack]:
    """Group tables whose leaves share rows, up to the columns that one walk folds.

    Parameters
    ----------
    tables : sequence of LeafTable
        The tables.
    per_tree : sequence of bool
        Those whose trees are kept apart.
    """
    groups: list[list[int]] = []
    for number, table in enumerate(tables):
        for group in groups:
            first = tables[group[0]]
            n_columns = sum(len(tables[i].ops) for i in group) + len(table.ops)
            same = first.row_of is table.row_of and per_tree[group[0]] == per_tree[number]
            if same and len(first.values) == len(table.values) and n_columns <= MOST_COLUMNS:
                group.append(number)
                break
        else:
            groups.append([number])
    return [TableStack(tuple(tables[i] for i in group), tuple(group), per_tree[group[0]]) for group in groups]


@dataclass(frozen=True, eq=False)
class DeviceTable:
    """A stack of tables on a device."""

    device: Device
    stack: TableStack
    values: Any
    linked: Any
    row_of: Any
    links: NDArray[np.uint8]
    ops: NDArray[np.uint8]

    @classmethod
    def of(cls, device: Device, stack: TableStack) -> DeviceTable:
        """Copy tables to the device.

        Parameters
        ----------
        device : Device
            Where to.
        stack : TableStack
            The tables.
        """

        def beside(name: str) -> NDArray[Any]:
            return np.concatenate([getattr(table, name) for table in stack.tables], axis=-1)

        links, row_of = beside("links"), stack.tables[0].row_of
        values = device.xp.asarray(np.ascontiguousarray(beside("values")))
        linked = device.xp.asarray(np.ascontiguousarray(beside("linked"))) if links.any() else values
        rows = None if row_of is None else device.xp.asarray(row_of)
        return cls(device, stack, values, linked, rows, links, beside("ops"))

    def fields(self, first: int, n_columns: int, first_leaf: int) -> dict[str, int]:
        """Fields of a launch that folds some columns of the table over trees whose leaves begin at `first_leaf`.

        Parameters
        ----------
        first : int
            First column.
        n_columns : int
            Number of columns.
        first_leaf : int
            First leaf of the trees.
        """
        address, size = self.device.address, 8
        n = self.stack.n_columns
        # Where leaves share rows, their numbers lead to the whole table; else the table of these trees begins here.
        skipped = first + (0 if self.row_of is not None else first_leaf * n)
        return {
            "values": address(self.values) + size * skipped,
            "linked": address(self.linked) + size * skipped,
            "row_of": 0 if self.row_of is None else address(self.row_of) + 4 * first_leaf,
            "table_stride": n,
            "links": _packed(self.links[first : first + n_columns]),
            "ops": _packed(self.ops[first : first + n_columns]),
        }


def _packed(numbers: NDArray[np.uint8]) -> int:
    """Four bits for each."""
    return sum(int(number) << (4 * i) for i, number in enumerate(numbers))
