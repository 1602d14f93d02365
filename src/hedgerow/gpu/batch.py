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

KEY_BYTES = 4

_BLOCK = 128  # threads
_SCRATCH_BYTES = 2**29  # at most, for rows in many leaves
_FEW_SPREAD = 4096  # rows that are not worth sorting
_FEW_PARTS = 2048  # of the rows of a warp in a tree
_PART_BYTES = 16


def bytes_of_parts(block: int, n_keys: int) -> int:
    """Memory that threads share for rows in several leaves: keys of a row each, a counter each, and one for all.

    Parameters
    ----------
    block : int
        Number of threads.
    n_keys : int
        Keys of a row.
    """
    return KEY_BYTES * n_keys * (block + 1) + 4 * (block + 1)


@dataclass(frozen=True, eq=False)
class StagedRanges:
    """Ranges of trees whose slots fit into the memory that a block shares, beside the keys of its rows."""

    block: int
    """Threads."""
    n_bytes: int
    """Memory that they share beside the slots."""
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
    """For rows in one leaf of each tree; None where trees are too large, or rows too few."""
    staged_parts: StagedRanges | None = None
    """For rows in several leaves."""
    skip: Any = None
    """Bit mask of rows that trees leave out, (n_trees of the forest, ceil(n / 8)), on the device."""
    weighs_all_alike: bool = True
    """Whether the weight of each tree is 1."""

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
            whole = self.weighs_all_alike and self.skip is None and not table.stack.kept
            fields["adds_up"] = int(whole and not fields["ops"])
            self._counters[2:] = 0
            if self.staged is not None and not resume:
                self._launch_staged("fold_staged", self.staged, fields, n)
            else:
                for i, (begin, end) in enumerate(self.ranges):
                    some = fields | self.trees.fields((begin, end, self.by_tree), but="slots")
                    self._launch("fold_rows", some | {"resume": int(resume or i > 0)}, n_columns=n)
            fields |= {"resume": int(resume)}
            if self.staged_parts is not None and not resume:
                self._launch_staged("fold_parts_staged", self.staged_parts, fields, n)
            else:
                n_threads = -(-min(self.device.n_threads, len(self.X)) // _BLOCK) * _BLOCK
                every = fields | self._every_tree(but="slots")
                self._launch_with_crews("fold_parts", every, n_threads, n_columns=n)

    def _every_tree(self, but: str = "") -> dict[str, int]:
        return self.trees.fields((0, self.ranges[-1][1], self.by_tree), but=but)

    def _launch_staged(self, kernel: str, staged: StagedRanges, fields: dict[str, int], n_columns: int) -> None:
        """Launch a kernel whose threads share the slots of a few trees at a time."""
        address = self.device.address
        n_threads = staged.block * self.device.n_processors
        ranges = {
            "range_tree": address(staged.first_tree),
            "range_slot": address(staged.slots),
            "n_ranges": len(staged.slots),
            "most_slots": staged.most_slots,
        }
        size = {"n_columns": n_columns, "block": staged.block, "shared": 8 * staged.most_slots + staged.n_bytes}
        fields = fields | self._every_tree(but="slots") | ranges
        if kernel == "fold_parts_staged":
            self._launch_with_crews(kernel, fields, n_threads, **size)
        else:
            self._launch(kernel, fields, n_threads=n_threads, **size)

    def route(self, leaves: Any, *, heaviest: bool) -> None:
        """Write the leaf number of each row in each tree, (n, n_trees of the forest).

        Parameters
        ----------
        leaves : array of int32 of the device
            Written.
        heaviest : bool
            Whether rows that would be spread follow the heaviest child; else they get -1.
        """
        fields = self._every_tree()
        fields |= {"leaves": self.device.address(leaves), "row_stride": leaves.shape[1], "heaviest": int(heaviest)}
        self._launch("route_rows", fields)

    def spread(self) -> tuple[Any, Any, Any]:
        """Row starts, leaves and weights: compressed sparse rows over the leaves of these trees."""
        xp, n = self.device.xp, len(self.X)
        fields = self._every_tree()
        n_threads = -(-min(self.device.n_threads, n) // _BLOCK) * _BLOCK
        self._counters[2:] = 0
        n_reached = xp.zeros(n, dtype=np.int64)
        lengths = fields | {"n_reached": self.device.address(n_reached)}
        self._launch_with_crews("list_reached", lengths, n_threads)
        self._counters[2:] = 0
        row_start = xp.zeros(n + 1, dtype=np.int64)
        row_start[1:] = xp.cumsum(n_reached)
        total = int(row_start[-1])
        leaves, weights = xp.empty(total, dtype=np.int64), xp.empty(total)
        outputs = {"row_start": row_start, "reached": leaves, "reached_weight": weights}
        self._launch_with_crews("list_reached", fields | self._addresses(outputs), n_threads)
        return row_start, leaves, weights

    @property
    def _counters(self) -> Any:
        return self._memory["counters"]

    @lazy
    def _memory(self) -> dict[str, Any]:
        """Keys of the rows, and lists of rows with those that reach one leaf of each tree first."""
        xp, n = self.device.xp, len(self.X)
        memory = {
            "keys": xp.empty(max(n * self.trees.key_stride, 1), dtype=np.uint32),
            "apart": xp.empty(n, dtype=np.uint8),
            "plain": xp.empty(n, dtype=np.uint32),
            "spread": xp.empty(n, dtype=np.uint32),
            "pattern": xp.empty(n, dtype=np.uint64),
            "counters": xp.zeros(len(COUNTERS), dtype=np.uint32),
        }
        vars(self)["_memory"] = memory  # the launch asks for it
        self._launch("make_keys", self._every_tree())
        n_spread = int(memory["counters"][1])
        if n_spread >= _FEW_SPREAD:  # so that every warp gets some of those that take long
            order = xp.argsort(memory["pattern"][:n_spread])[::-1]
            memory["spread"][:n_spread] = memory["spread"][:n_spread][order]
        return memory

    def _launch_with_crews(
        self,
        kernel: str,
        fields: dict[str, int],
        n_threads: int,
        *,
        n_columns: int = 1,
        block: int = _BLOCK,
        shared: int = 0,
    ) -> None:
        """Launch a kernel with scratch for each warp; with fewer blocks than `n_threads` need if memory is scarce."""
        xp, n_abreast = self.device.xp, self.device.warp_size
        pile_room = max(self.trees.most_leaves, _FEW_PARTS)
        room = min(_SCRATCH_BYTES, self.device.free_bytes() // 8)
        n_blocks = int(np.clip(room // (2 * _PART_BYTES * pile_room) // (block // n_abreast), 1, n_threads // block))
        n_piles = 2 * n_blocks * block // n_abreast
        piles = {
            "pile_numbers": xp.empty((n_piles, 2 * pile_room), dtype=np.uint32),
            "pile_weights": xp.empty((n_piles, pile_room)),
        }
        fields = fields | self._addresses(piles) | {"pile_room": pile_room}
        self._launch(kernel, fields, n_threads=n_blocks * block, n_columns=n_columns, block=block, shared=shared)

    def _addresses(self, arrays: dict[str, Any]) -> dict[str, int]:
        return {name: self.device.address(array) for name, array in arrays.items()}

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
            n_bytes = bytes_of_parts(block, self.trees.n_keys)
            if n_bytes <= self.device.shared_bytes:
                shared = n_bytes
            else:
                kernel = f"{kernel}_of_many_columns"
        if shared == 0:
            shared = 4 * block  # counters
        rows = {
            "X": self.device.address(self.X),
            "n_rows": len(self.X),
            "n_features": self.X.shape[1],
            "skip": 0 if self.skip is None else self.device.address(self.skip),
            "skip_stride": -(-len(self.X) // 8),
        }
        rows |= self._addresses(self._memory)
        n = len(self.X) if n_threads is None else n_threads
        self.device.launch(kernel, as_struct(fields | rows), n, n_columns=n_columns, block=block, shared=shared)
