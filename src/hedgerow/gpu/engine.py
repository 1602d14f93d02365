"""The walk on a GPU: the same leaves, and the same bits, as :class:`hedgerow.walk.ForestWalk`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._lazy import lazy
from hedgerow.forest.forest import Forest
from hedgerow.gpu.batch import KEY_BYTES, Batch, StagedRanges, bytes_of_parts
from hedgerow.gpu.device import Device
from hedgerow.gpu.launch import PART_THREADS
from hedgerow.gpu.numpy_language import on_host
from hedgerow.gpu.tables import DeviceTable, TableStack, stack_tables
from hedgerow.gpu.trees import DeviceTrees, tree_groups
from hedgerow.walk import HardWalk, LeafTable, check_rows
from hedgerow.walk.walks import empty_fold

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["DeviceWalk"]

Floats = NDArray[np.float64]

_COPIED_ROWS = 2**18  # of the host at a time: copies of one part run beside the walk of another
_SPREAD_ROWS = 2**16
_LANES = 3
_KEPT_TABLES = 12
_BY_TREE = ("root_slot", "root_node", "first_leaf", "tree_number")
_SLOT_BYTES = 8
_BLOCKS = (1024, 512, 256)  # threads that share slots
_BLOCKS_OF_PARTS = (PART_THREADS, 512, 256, 128)


@dataclass(frozen=True, eq=False)
class DeviceWalk(HardWalk):
    """Walk of rows down the trees of a forest on a device.

    Rows are arrays of the host, which are copied in parts while other parts are walked, or of the device, where the
    results then stay. Trees are copied when they are first walked and stay on the device; if they don't fit, they are
    copied group by group in each walk.

    Parameters
    ----------
    forest : Forest
        The trees, which are copied to the device once.
    device : Device
        The device.

    Examples
    --------
    >>> from hedgerow.gpu import DeviceWalk, open_device  # doctest: +SKIP
    >>> import numpy as np  # doctest: +SKIP
    >>> from hedgerow import load  # doctest: +SKIP
    >>> walk = DeviceWalk(load("model.hedgerow").forest_, open_device("cuda"))  # doctest: +SKIP
    >>> walk.route(np.zeros((1_000_000, 20))).shape  # doctest: +SKIP
    (1000000, 100)
    """

    forest: Forest
    device: Device
    rows_to_stage: int = 2**15
    """Rows that are worth copying trees to the memory that threads share."""

    def route(self, rows: Any) -> Any:
        """Leaf that each row reaches in each tree, (n_samples, n_trees).

        Parameters
        ----------
        rows : array of shape (n_samples, n_features)
            Converted rows, of the host or the device.

        Returns
        -------
        int32 ndarray of shape (n_samples, n_trees)
            Numbers of leaves, within their tree.
        """
        shape = (len(rows), self.forest.n_trees)
        (leaves,) = self._run(rows, [(shape, np.int32)], lambda batch, out, _: batch.route(out[0], heaviest=True))
        return leaves

    def spread(self, rows: Any) -> csr_array:
        """Weights of the leaves that each row reaches, sparse (n_samples, n_leaves).

        Parameters
        ----------
        rows : array of shape (n_samples, n_features)
            Converted rows, of the host or the device.

        Returns
        -------
        csr_array of shape (n_samples, n_leaves)
            Weights; those of a row add up to 1 in each tree.
        """
        from scipy.sparse import csr_array, hstack, vstack

        self._check(rows)
        xp = self.device.xp
        parts = []
        for first in range(0, max(len(rows), 1), _SPREAD_ROWS):
            X = xp.ascontiguousarray(xp.asarray(rows[first : first + _SPREAD_ROWS]))
            groups = []
            for trees in self._groups():
                row_start, leaves, weights = map(on_host, self._batch(trees, X, None).spread())
                groups.append(csr_array((weights, leaves, row_start), shape=(len(X), trees.n_leaves)))
            parts.append(groups[0] if len(groups) == 1 else csr_array(hstack(groups, format="csr")))
        return parts[0] if len(parts) == 1 else csr_array(vstack(parts, format="csr"))

    def fold(
        self,
        rows: Any,
        tables: Sequence[LeafTable],
        tree_weights: Floats | None = None,
        *,
        per_tree: Sequence[bool] | None = None,
        skip: NDArray[np.uint8] | None = None,
    ) -> list[Any]:
        """Each table folded over the trees, see :func:`hedgerow.walk.fold`.

        Parameters
        ----------
        rows : array of shape (n_samples, n_features)
            Rows, converted: of the host, or of the device.
        tables : sequence of LeafTable
            Tables that are folded in the same walk.
        tree_weights : array of shape (n_trees,) or None, default=None
            Weight of each tree; None weighs all alike.
        per_tree : sequence of bool or None, default=None
            Tables that are not folded but returned for each tree.
        skip : uint8 (n_trees, ceil(n_rows / 8)) or None, default=None
            Bit mask of rows to leave out of each tree.

        Returns
        -------
        list of ndarray
            An array of shape (n_samples, m) for each table, or (n_samples, n_trees, m) where `per_tree` is set.

        Raises
        ------
        ValueError
            If a table has another number of leaves than the forest.
        """
        kept = [False] * len(tables) if per_tree is None else list(per_tree)
        n_trees = self.forest.n_trees
        for table, apart in zip(tables, kept, strict=True):
            if table.n_leaves != self.forest.n_leaves:
                raise ValueError(f"a table has {table.n_leaves} rows, the forest has {self.forest.n_leaves} leaves")
            empty_fold(table, 0, n_trees if apart else None)  # refuses links and ops that can't be kept apart
        if tree_weights is not None and not tree_weights.any():
            return [self._nothing(rows, table, apart) for table, apart in zip(tables, kept, strict=True)]
        stacks = stack_tables(tables, kept)
        on_device = [self._table(stack) for stack in stacks]
        shapes = [(len(rows), *([n_trees] if stack.kept else []), stack.n_columns) for stack in stacks]

        def fold(batch: Batch, outputs: list[Any], resume: bool) -> None:
            for table, out in zip(on_device, outputs, strict=True):
                if table.stack.kept and not resume:
                    out[...] = 0.0  # trees of weight 0, and rows that are left out
                batch.fold(table, out, resume=resume)

        found = self._run(rows, [(shape, np.float64) for shape in shapes], fold, tree_weights, skip)
        answers: list[Any] = [None] * len(tables)
        for stack, folded in zip(stacks, found, strict=True):
            for number, part in zip(stack.numbers, stack.split(folded), strict=True):
                answers[number] = part
        return answers

    def _nothing(self, rows: Any, table: LeafTable, apart: bool) -> Any:
        """Fold of no tree."""
        empty = empty_fold(table, len(rows), self.forest.n_trees if apart else None)
        return self.device.xp.asarray(empty) if self.device.owns(rows) else empty

    # -- parts of rows, groups of trees

    def _run(
        self,
        rows: Any,
        outputs: Sequence[tuple[tuple[int, ...], type]],
        use: Any,
        tree_weights: Floats | None = None,
        skip: NDArray[np.uint8] | None = None,
    ) -> list[Any]:
        """Call use(batch, outputs, resume) for parts of rows and groups of trees; returns the outputs of all rows."""
        self._check(rows)
        xp, here = self.device.xp, self.device.owns(rows)
        found = [(xp if here else np).empty(shape, dtype=dtype) for shape, dtype in outputs]
        if len(rows) == 0:
            return found
        size = self._rows_at_once(sum(int(np.prod(shape[1:])) for shape, _ in outputs))
        if here:
            rows = xp.ascontiguousarray(rows)
            for part in _parts(len(rows), size):
                self._run_part(rows[part], [out[part] for out in found], use, tree_weights, _skip_of(skip, part))
            return found
        size = min(size, _COPIED_ROWS) if self._resident else size
        with self.device.lanes(_LANES if len(rows) > size else 1) as lanes:
            for number, part in enumerate(_parts(len(rows), size)):
                lane = lanes[number % len(lanes)]
                lane.finish()
                with lane.work():
                    X = lane.read(rows[part])
                    made = [xp.empty((len(X), *shape[1:]), dtype=dtype) for shape, dtype in outputs]
                    self._run_part(X, made, use, tree_weights, _skip_of(skip, part))
                    for values, out in zip(made, found, strict=True):
                        lane.write(values, out[part])
            for lane in lanes:
                lane.finish()
        return found

    def _run_part(
        self, X: Any, outputs: list[Any], use: Any, tree_weights: Floats | None, skip: NDArray[np.uint8] | None
    ) -> None:
        masked = None if skip is None else self.device.xp.asarray(skip)
        for number, trees in enumerate(self._groups()):
            batch = self._batch(trees, X, tree_weights, masked)
            if batch.ranges:
                use(batch, outputs, number > 0)

    def _batch(self, trees: DeviceTrees, X: Any, tree_weights: Floats | None, skip: Any = None) -> Batch:
        asarray, n = self.device.xp.asarray, trees.n_trees
        weights = np.ones(n) if tree_weights is None else tree_weights[trees.first : trees.last]
        used = np.flatnonzero(weights != 0)
        by_tree = {name: trees.arrays[name] for name in _BY_TREE}
        if len(used) < n:
            by_tree = {name: array[asarray(used)] for name, array in by_tree.items()}
        by_tree["tree_weight"] = asarray(np.ascontiguousarray(weights[used], dtype=np.float64))
        slots = np.column_stack([trees.slot_start[:-1], trees.slot_start[1:]])[used]
        ranges = self._ranges(np.diff(slots)[:, 0] * _SLOT_BYTES)
        staged = staged_parts = None
        if ranges and len(X) >= self.rows_to_stage:
            staged = self._staged(slots, lambda block: KEY_BYTES * trees.n_keys * block, _BLOCKS)
            staged_parts = self._staged(slots, lambda block: bytes_of_parts(block, trees.n_keys), _BLOCKS_OF_PARTS)
        return Batch(self.device, trees, by_tree, ranges, X, staged, staged_parts, skip, tree_weights is None)

    def _staged(
        self, slots: NDArray[np.int64], n_bytes: Callable[[int], int], blocks: tuple[int, ...]
    ) -> StagedRanges | None:
        """Ranges of trees, whose slots are first .. end - 1, for the memory that the threads of a block share.

        The threads of a block need `n_bytes` of it for their rows.
        """
        block = next((n for n in blocks if n_bytes(n) <= self.device.most_shared_bytes // 2), 0)
        most = (self.device.most_shared_bytes - n_bytes(block)) // _SLOT_BYTES
        if block == 0 or np.diff(slots).max() > most:
            return None
        first = [0]
        for tree in range(1, len(slots)):
            if slots[tree, 1] - slots[first[-1], 0] > most:
                first.append(tree)
        ends = [*first[1:], len(slots)]
        ranges = np.column_stack([slots[first, 0], slots[np.array(ends) - 1, 1]])
        asarray = self.device.xp.asarray
        return StagedRanges(
            block,
            n_bytes(block),
            asarray(np.array([*first, len(slots)], dtype=np.int32)),
            asarray(ranges.astype(np.int32)),
            int(np.diff(ranges).max()),
        )

    def _ranges(self, n_bytes: NDArray[np.int64]) -> list[tuple[int, int]]:
        """Ranges of trees that stay in half of the cache together, by their bytes; one where groups are streamed."""
        if not len(n_bytes) or not self._resident:
            return [(0, len(n_bytes))] if len(n_bytes) else []
        ranges, first, total = [], 0, 0
        for tree, size in enumerate(n_bytes.tolist()):
            if tree > first and total + size > self.device.cache_bytes // 2:
                ranges.append((first, tree))
                first, total = tree, 0
            total += size
        return [*ranges, (first, len(n_bytes))]

    @lazy
    def _tree_groups(self) -> list[tuple[int, int]]:
        return tree_groups(self.forest, self.device.free_bytes() // 2)

    @property
    def _resident(self) -> bool:
        """Whether all trees stay on the device."""
        return len(self._tree_groups) == 1

    @lazy
    def _all_trees(self) -> DeviceTrees:
        return DeviceTrees.of(self.device, self.forest, 0, self.forest.n_trees)

    def _groups(self) -> Iterator[DeviceTrees]:
        if self._resident:
            yield self._all_trees
            return
        for first, last in self._tree_groups:
            yield DeviceTrees.of(self.device, self.forest, first, last)

    @lazy
    def _kept_tables(self) -> dict[Any, DeviceTable]:
        return {}

    def _table(self, stack: TableStack) -> DeviceTable:
        kept = self._kept_tables
        found = kept.get(stack.key)
        if found is None:
            while len(kept) >= _KEPT_TABLES:
                kept.pop(next(iter(kept)))
            found = kept[stack.key] = DeviceTable.of(self.device, stack)
        return DeviceTable(**vars(found) | {"stack": stack})

    def _rows_at_once(self, n_outputs: int) -> int:
        """Rows whose keys, lists and outputs fit beside the trees; a multiple of 8, as bit masks need."""
        bytes_each = 12 * self.forest.n_features + 8 * n_outputs + 40
        n = self.device.free_bytes() // 4 // (_LANES * bytes_each)
        if n < 8:
            raise MemoryError(
                f"the device has {self.device.free_bytes()} bytes left, too few for rows of {bytes_each} bytes: free "
                "memory, or predict on the CPU"
            )
        return min(n, 2**30) // 8 * 8

    def _check(self, rows: Any) -> None:
        if not self.device.owns(rows):
            check_rows(self.forest, rows)
            return
        if rows.ndim != 2 or rows.shape[1] != self.forest.n_features or rows.dtype != np.float64:
            raise ValueError(
                f"X is {rows.dtype} {rows.shape}, this forest needs float64 (n_rows, {self.forest.n_features})"
            )


def _parts(n: int, size: int) -> list[slice]:
    return [slice(first, min(first + size, n)) for first in range(0, n, size)]


def _skip_of(skip: NDArray[np.uint8] | None, part: slice) -> NDArray[np.uint8] | None:
    return None if skip is None else np.ascontiguousarray(skip[:, part.start // 8 : -(-part.stop // 8)])
