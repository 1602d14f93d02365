"""Arguments of a kernel: one struct of eight-byte fields, ``Walk`` in ``kernels/common.cu``."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "COUNTERS",
    "LANES",
    "MOST_COLUMNS",
    "PART_STEPS",
    "PART_THREADS",
    "STEPS",
    "as_struct",
    "compile_options",
    "source",
]

FIELDS = (
    *("slots", "places", "nodes", "kinds", "policies", "payloads", "payload_start", "payload_codes"),
    *("payload_weights", "payload_means", "n_children", "weights", "shares", "slot_of_node"),
    *("slot_share", "order"),
    *("root_slot", "root_node", "first_leaf", "tree_number", "tree_weight", "n_trees"),
    *("range_tree", "range_slot", "n_ranges", "most_slots"),
    *("key_feature", "key_reading", "key_codes", "n_keys", "key_stride"),
    *("X", "n_rows", "n_features", "keys", "apart", "plain", "spread", "pattern", "counters"),
    *("values", "linked", "row_of", "table_stride", "links", "ops", "adds_up", "skip", "skip_stride"),
    *("out", "row_stride", "tree_stride", "resume"),
    *("leaves", "heaviest", "n_reached", "row_start", "reached", "reached_weight"),
    *("pile_room", "pile_numbers", "pile_weights"),
)
COUNTERS = ("n_plain", "n_spread", "next_spread")

MOST_COLUMNS = 8
"""Columns of a leaf table that one walk folds; wider tables take several."""
LANES = 4
"""Trees that a thread is in at once, where their slots are in the memory of the device."""
STEPS = 8
"""Nodes that a thread visits before it looks whether it has arrived."""
PART_STEPS = 4
"""The same with a part of a row."""
PART_THREADS = 640
"""Threads that share slots where rows have parts, at most."""

_FILES = ("common.cu", "rows.cu", "parts.cu")


def compile_options(n_columns: int) -> tuple[str, ...]:
    """Options of NVRTC for the kernels that fold so many columns.

    Parameters
    ----------
    n_columns : int
        1 .. MOST_COLUMNS.
    """
    return (
        "--std=c++17",
        "--fmad=false",  # a product and a sum are rounded each, as on the CPU
        f"-DN_COLUMNS={n_columns}",
        f"-DN_LANES={LANES}",
        f"-DN_STEPS={STEPS}",
        f"-DN_PART_STEPS={PART_STEPS}",
        f"-DN_PART_THREADS={PART_THREADS}",
    )


def source() -> str:
    """Source of all kernels, which needs the definitions among :func:`compile_options`."""
    folder = resources.files("hedgerow.gpu") / "kernels"
    return "\n".join((folder / name).read_text() for name in _FILES)


def as_struct(fields: Mapping[str, Any]) -> NDArray[np.int64]:
    """Fields in the order of the struct; those that are not given are 0.

    Parameters
    ----------
    fields : mapping of str to int
        Numbers, and addresses of arrays.
    """
    if unknown := fields.keys() - set(FIELDS):
        raise KeyError(f"no fields of a launch: {sorted(unknown)}")
    struct = np.zeros(len(FIELDS), dtype=np.int64)
    for i, name in enumerate(FIELDS):
        struct[i] = fields.get(name, 0)
    return struct
