"""Arguments of a kernel: one struct of eight-byte fields, ``Walk`` in ``kernels/common.cu``."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["COUNTERS", "LANES", "MOST_COLUMNS", "PARTS", "as_struct", "compile_options", "source"]

FIELDS = (
    *("slots", "places", "nodes", "kinds", "policies", "payloads", "payload_start", "payload_codes"),
    *("payload_weights", "payload_means", "n_children", "weights", "shares", "slot_of_node"),
    *("root_slot", "root_node", "first_leaf", "tree_number", "tree_weight", "n_trees"),
    *("range_tree", "range_slot", "n_ranges", "most_slots"),
    *("key_feature", "key_reading", "key_codes", "n_keys"),
    *("X", "n_rows", "n_features", "keys", "apart", "plain", "spread", "large", "counters"),
    *("values", "linked", "row_of", "table_stride", "links", "ops", "skip", "skip_stride"),
    *("out", "row_stride", "tree_stride", "resume"),
    *("leaves", "heaviest", "n_reached", "row_start", "reached", "reached_weight"),
    *("most_leaves", "n_scratch", "leaf_weight", "leaf_bits", "waiting_slot", "waiting_weight"),
)
COUNTERS = ("n_plain", "n_spread", "n_large", "next_spread", "next_large")

MOST_COLUMNS = 8
"""Columns of a leaf table that one walk folds; wider tables take several."""
LANES = 4
"""Trees that a thread is in at once."""
PARTS = 32
"""Leaves of a tree that a row may reach before it is left to the kernel for rows in many leaves."""

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
        f"-DN_PARTS={PARTS}",
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
