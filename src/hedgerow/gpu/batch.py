"""Rows on a device, and the launches that take them down trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow._lazy import lazy
from hedgerow.gpu.device import Device
from hedgerow.gpu.launch import COUNTERS, MOST_COLUMNS, as_struct
from hedgerow.gpu.tables import DeviceTable
from hedgerow.gpu.trees import DeviceTrees

__all__ = ["Batch", "StagedRanges"]

_BLOCK = 128  # threads
_SCRATCH_BYTES = 2**29  # at most, for rows in many leaves
_MOST_SCRATCH = 8192  # threads that have some


@dataclass(frozen=True, eq=False)
class StagedRanges:
    """Ranges of trees whose slots fit into the memory that a block shares, beside the keys of its rows."""

    block: int
    """Threads."""
    first_tree: Any
    """Of each range, and the end of the last one, on the device."""
    slots: Any
    """First slot of each range and its end, (n_ranges, 2), on the device."""
    most_slots: int


@dataclass(frozen=True, eq=False)
class Batch:
    """Some rows, (n, n_features), and the trees that they are taken down."""

    device: Device
    trees: DeviceTrees
    by_tree: dict[str, Any]
    """Arrays with an entry for each tree that takes part."""
    ranges: list[tuple[int, int]]
    """Ranges of these trees that stay in the cache together."""
    X: Any
    staged: StagedRanges | None = None
    """None where trees are too large, or rows too few."""
    skip: Any = None
    """Bit mask of rows that trees leave out, (n_trees of the forest, ceil(n / 8)), on the device."""

    def fold(self, table: DeviceTable, out: Any, *, resume: bool) -> None:
        """Fold a table over the trees into `out`, (n, m) or (n, n_trees of the forest, m).

        Parameters
        ----------
        table : DeviceTable
            The table.
        out : array of the device
            Written; on from what it has if `resume`.
        resume : bool
            Whether earlier trees have been folded into `out`.
        """
        n_columns = table.stack.n_columns
        for first in range(0, n_columns, MOST_COLUMNS):
            n = min(MOST_COLUMNS, n_columns - first)
            place = {
                "out": self.device.address(out) + 8 * first,
                "row_stride": int(np.prod(out.shape[1:])),
                "tree_stride": n_columns if table.stack.kept else 0,
            }
            fields = place | table.fields(first, n, self.trees.first_leaf)
            fields["slots"] = self.device.address(self.trees.slots(table.row_of))
            self._counters[2:] = 0
            if self.staged is not None and not resume:
                self._fold_staged(self.staged, fields, n)
            else:
                for i, (begin, end) in enumerate(self.ranges):
                    some = fields | self.trees.fields((begin, end, self.by_tree), but="slots")
                    self._launch("fold_rows", some | {"resume": int(resume or i > 0)}, n_columns=n)
            every = fields | self.trees.fields((0, self.ranges[-1][1], self.by_tree), but="slots")
            every["resume"] = int(resume)
            self._launch("fold_parts", every, n_columns=n, n_threads=min(self.device.n_threads, len(self.X)))
            self._launch_with_scratch("fold_large", every, n_columns=n)

    def _fold_staged(self, staged: StagedRanges, fields: dict[str, int], n_columns: int) -> None:
        address = self.device.address
        fields = fields | self.trees.fields((0, self.ranges[-1][1], self.by_tree), but="slots")
        fields |= {
            "range_tree": address(staged.first_tree),
            "range_slot": address(staged.slots),
            "n_ranges": len(staged.slots),
            "most_slots": staged.most_slots,
        }
        n_threads = staged.block * self.device.n_processors
        shared = 8 * staged.most_slots + 4 * staged.block * self.trees.n_keys
        self._launch("fold_staged", fields, n_columns=n_columns, n_threads=n_threads, block=staged.block, shared=shared)

    def route(self, leaves: Any, *, heaviest: bool) -> None:
        """Write the leaf number of each row in each tree, (n, n_trees of the forest).

        Parameters
        ----------
        leaves : array of int32 of the device
            Written.
        heaviest : bool
            Whether rows that would be spread follow the heaviest child; else they get -1.
        """
        fields = self.trees.fields((0, self.ranges[-1][1], self.by_tree))
        fields |= {"leaves": self.device.address(leaves), "row_stride": leaves.shape[1], "heaviest": int(heaviest)}
        self._launch("route_rows", fields)

    def spread(self) -> tuple[Any, Any, Any]:
        """Row starts, leaves and weights: compressed sparse rows over the leaves of these trees."""
        xp, n = self.device.xp, len(self.X)
        fields = self.trees.fields((0, self.ranges[-1][1], self.by_tree))
        n_reached = xp.zeros(n, dtype=np.int64)
        self._list_all()
        self._launch_with_scratch("list_reached", fields | {"n_reached": self.device.address(n_reached)})
        row_start = xp.zeros(n + 1, dtype=np.int64)
        row_start[1:] = xp.cumsum(n_reached)
        total = int(row_start[-1])
        leaves, weights = xp.empty(total, dtype=np.int64), xp.empty(total)
        outputs = {"row_start": row_start, "reached": leaves, "reached_weight": weights}
        self._list_all()
        self._launch_with_scratch(
            "list_reached", fields | {name: self.device.address(array) for name, array in outputs.items()}
        )
        return row_start, leaves, weights

    @property
    def _counters(self) -> Any:
        return self._memory["counters"]

    @lazy
    def _memory(self) -> dict[str, Any]:
        """Keys of the rows, and lists of rows with those that reach one leaf of each tree first."""
        xp, n = self.device.xp, len(self.X)
        memory = {
            "keys": xp.empty(max(n * self.trees.n_keys, 1), dtype=np.uint32),
            "apart": xp.empty(n, dtype=np.uint8),
            "plain": xp.empty(n, dtype=np.uint32),
            "spread": xp.empty(n, dtype=np.uint32),
            "large": xp.empty(n, dtype=np.uint32),
            "counters": xp.zeros(len(COUNTERS), dtype=np.uint32),
        }
        vars(self)["_memory"] = memory  # the launch asks for it
        self._launch("make_keys", self.trees.fields((0, self.ranges[-1][1], self.by_tree)))
        return memory

    def _list_all(self) -> None:
        """List all rows as those that may reach many leaves."""
        self._memory["large"][:] = self.device.xp.arange(len(self.X), dtype=np.uint32)
        self._counters[2:] = 0
        self._counters[2] = len(self.X)

    def _launch_with_scratch(self, kernel: str, fields: dict[str, int], n_columns: int = 1) -> None:
        xp, most = self.device.xp, self.trees.most_leaves
        n_words = -(-most // 32)
        bytes_each = 20 * most + 4 * n_words
        room = min(_SCRATCH_BYTES, self.device.free_bytes() // 8)
        n = int(np.clip(room // bytes_each, 1, min(_MOST_SCRATCH, len(self.X))))
        scratch = {
            "leaf_weight": xp.empty(n * most),
            "leaf_bits": xp.empty(n * n_words, dtype=np.uint32),
            "waiting_slot": xp.empty(n * most, dtype=np.int32),
            "waiting_weight": xp.empty(n * most),
        }
        addresses = {name: self.device.address(array) for name, array in scratch.items()}
        self._launch(kernel, fields | addresses | {"n_scratch": n}, n_columns=n_columns, n_threads=n)

    def _launch(
        self,
        kernel: str,
        fields: dict[str, int],
        *,
        n_columns: int = 1,
        n_threads: int | None = None,
        block: int = _BLOCK,
        shared: int = 0,
    ) -> None:
        if kernel in ("fold_rows", "fold_parts"):
            block = next((n for n in (128, 64, 32) if 4 * n * self.trees.n_keys <= self.device.shared_bytes), 0)
            shared = 4 * block * self.trees.n_keys
            if block == 0:
                kernel, block, shared = f"{kernel}_of_many_columns", _BLOCK, 0
        rows = {
            "X": self.device.address(self.X),
            "n_rows": len(self.X),
            "n_features": self.X.shape[1],
            "skip": 0 if self.skip is None else self.device.address(self.skip),
            "skip_stride": -(-len(self.X) // 8),
        }
        rows |= {name: self.device.address(array) for name, array in self._memory.items()}
        n = len(self.X) if n_threads is None else n_threads
        self.device.launch(kernel, as_struct(fields | rows), n, n_columns=n_columns, block=block, shared=shared)
