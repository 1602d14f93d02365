"""Trees of a forest as arrays of a device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._core import pack_trees
from hedgerow._lazy import lazy
from hedgerow.forest.forest import Forest
from hedgerow.gpu.device import Device

__all__ = ["DeviceTrees", "bytes_per_node", "tree_groups"]

_STOPS = 2**32 - 1  # key of a slot whose split is evaluated on the forest's own arrays
_READING_FIRST = 1  # of the core: missing values have the least key
_MOST_NODES = 2**30  # of a group: positions are 32-bit numbers
_WAY = 16  # bits
_KEPT_SLOTS = 4

bytes_per_node = 90
"""Memory of a node on the device, about: a slot, its table rows, and the forest's own arrays."""


def tree_groups(forest: Forest, n_bytes: int) -> list[tuple[int, int]]:
    """Ranges of consecutive trees that take at most so many bytes each, at least one tree.

    Parameters
    ----------
    forest : Forest
        The trees.
    n_bytes : int
        Memory for a group.
    """
    most = min(n_bytes // bytes_per_node, _MOST_NODES)
    groups = []
    first = 0
    while first < forest.n_trees:
        end = int(np.searchsorted(forest.tree_start, forest.tree_start[first] + most, side="right")) - 1
        last = min(max(end, first + 1), forest.n_trees)
        groups.append((first, last))
        first = last
    return groups


@dataclass(frozen=True, eq=False)
class DeviceTrees:
    """Trees first .. last - 1 of a forest on a device, packed as the core packs them."""

    device: Device
    first: int
    last: int
    first_leaf: int
    n_leaves: int
    most_leaves: int
    n_keys: int
    slot_start: NDArray[np.int64]
    arrays: dict[str, Any]
    """Arrays of the device by their names in a launch."""
    leaf_slots: Any
    """Slots of leaves, and the leaf of each, from the first of the group on."""
    leaf_of_slot: Any

    @classmethod
    def of(cls, device: Device, forest: Forest, first: int, last: int) -> DeviceTrees:
        """Pack trees and copy them to the device.

        Parameters
        ----------
        device : Device
            Where to.
        forest : Forest
            The trees.
        first : int
            First tree.
        last : int
            Tree after the last one.
        """
        slots, places, slot_of_node, shares, slot_start, columns = pack_trees(forest.core_with_weight, first, last)
        if len(columns) == 1:  # leaves read a column too
            columns = np.append(columns, [[0, _READING_FIRST, 0]], axis=0)
        nodes = slice(int(forest.tree_start[first]), int(forest.tree_start[last]))
        node_start = forest.tree_start[first : last + 1]
        leaf_start = forest.leaf_start[first : last + 1] - forest.leaf_start[first]
        tree_of_slot = np.repeat(np.arange(last - first), np.diff(np.append(slot_start, len(slots))))
        inner = slots[:, 1] >> _WAY != 0
        leaf_slots = np.flatnonzero(~inner & (places >= 0))
        leaf_of_slot = leaf_start[tree_of_slot[leaf_slots]] + places[leaf_slots]
        slots[inner, 1] -= 1  # column 0 of the core's keys is the number of the row
        slots[~inner] = (_STOPS, 0)
        slots[leaf_slots, 0] = leaf_of_slot
        # Nodes of slots, from the root of each tree on.
        leaf_nodes = np.flatnonzero(forest.n_children[nodes] == 0)
        root_of_slot = (node_start[:-1] - nodes.start)[tree_of_slot]
        node_of_slot = ~places >> 1
        node_of_slot[leaf_slots] = leaf_nodes[leaf_of_slot] - root_of_slot[leaf_slots]
        ascend = (np.diff(node_of_slot) >= 0) | (np.diff(tree_of_slot) > 0)
        slot_share = shares[root_of_slot + node_of_slot]
        others = np.flatnonzero(inner & (~places & 1 == 0))  # rows that stay here are not spread
        pairs = others + (slots[others, 1] >> _WAY)
        slot_share[pairs] = slot_share[pairs + 1] = -1.0
        asarray = device.xp.asarray
        arrays = {
            "slots": slots,
            "places": places,
            "slot_share": slot_share,
            **({} if ascend.all() else {"order": node_of_slot.astype(np.int32)}),
            "slot_of_node": slot_of_node + np.repeat(slot_start, np.diff(node_start)).astype(np.int32),
            "shares": shares,
            "nodes": forest.parts()["nodes"][nodes],
            "kinds": forest.kind[nodes],
            "policies": forest.missing[nodes],
            "payloads": forest.payload[nodes],
            "n_children": forest.n_children[nodes].astype(np.int32),
            "weights": forest.weight[nodes],
            "payload_start": forest.payload_start,
            "payload_codes": forest.payload_codes,
            "payload_weights": forest.payload_weights,
            **({} if forest.payload_means is None else {"payload_means": forest.payload_means}),
            "root_slot": slot_start.astype(np.int32),
            "root_node": (forest.tree_start[first:last] - nodes.start).astype(np.int32),
            "first_leaf": leaf_start[:-1].astype(np.int32),
            "tree_number": np.arange(first, last, dtype=np.int32),
            "key_feature": columns[1:, 0].astype(np.int32),
            "key_reading": columns[1:, 1].astype(np.uint8),
            "key_codes": columns[1:, 2],
        }
        return cls(
            device,
            first,
            last,
            int(forest.leaf_start[first]),
            int(leaf_start[-1]),
            int(np.diff(leaf_start).max()),
            len(columns) - 1,
            np.append(slot_start, len(slots)),
            {name: asarray(np.ascontiguousarray(array)) for name, array in arrays.items()},
            asarray(leaf_slots),
            asarray(leaf_of_slot),
        )

    @property
    def n_trees(self) -> int:
        return self.last - self.first

    @property
    def key_stride(self) -> int:
        """Keys from one row to the next, which threads read four at a time."""
        return -(-self.n_keys // 4) * 4

    @lazy
    def _slots_of_rows(self) -> dict[int, tuple[Any, Any]]:
        """Slots whose leaves name rows of a table instead of leaves, by those rows."""
        return {}

    def slots(self, row_of: Any) -> Any:
        """Return slots with the rows of a table in their leaves.

        Parameters
        ----------
        row_of : array of uint32 or None
            Row of each leaf of the forest, on the device; None: each has its own.
        """
        if row_of is None:
            return self.arrays["slots"]
        kept = self._slots_of_rows.get(id(row_of))
        if kept is None:
            slots = self.arrays["slots"].copy()
            slots[self.leaf_slots, 0] = row_of[self.first_leaf + self.leaf_of_slot]
            if len(self._slots_of_rows) >= _KEPT_SLOTS:  # the tables of a model share one
                self._slots_of_rows.pop(next(iter(self._slots_of_rows)))
            kept = self._slots_of_rows[id(row_of)] = (row_of, slots)
        return kept[1]

    def fields(self, used: tuple[int, int, Any], but: str = "") -> dict[str, int]:
        """Fields of a launch for some of the trees that take part.

        Parameters
        ----------
        used : (first, last, arrays)
            Range within the arrays by tree that `arrays` has.
        but : str, default=""
            Field that is left out.
        """
        first, last, by_tree = used
        address = self.device.address
        found = {name: address(array) for name, array in self.arrays.items() if name != but}
        for name, array in by_tree.items():
            found[name] = address(array) + first * array.dtype.itemsize
        return found | {"n_trees": last - first, "n_keys": self.n_keys, "key_stride": self.key_stride}
