"""Rows that are on a device already."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.data.columns import Kind, encode_numbers
from hedgerow.data.table import Schema
from hedgerow.gpu.device import Device

__all__ = ["read_rows"]

_CUDA = 2  # of DLPack's devices


def read_rows(device: Device, X: Any, schema: Schema, estimator: Any = None) -> Any:
    """Convert an array of a GPU to float64 rows for walking, as :meth:`hedgerow.data.Schema.read` does on the CPU.

    Parameters
    ----------
    device : Device
        Where the model is.
    X : array of shape (n_samples, n_features)
        Any array that DLPack can pass on: CuPy's, PyTorch's, JAX's.
    schema : Schema
        Columns of `fit`.
    estimator : object or None, default=None
        Estimator to name in messages.
    """
    kind, number = X.__dlpack_device__()
    if (int(kind), int(number)) != (_CUDA, device.number):
        where = f"cuda:{number}" if kind == _CUDA else f"a device of DLPack's kind {int(kind)}"
        raise ValueError(f"X is on {where} and the model on {device.name}: move one of them by .to()")
    xp = device.xp
    rows = X if device.owns(X) else xp.from_dlpack(X)
    if rows.ndim != 2 or not len(rows):
        raise ValueError(f"X on {device.name} has shape {tuple(rows.shape)}, must be (n_samples, n_features)")
    if rows.dtype.kind not in "fiub":
        raise ValueError(f"X on {device.name} is {rows.dtype}, must be an array of real numbers")
    schema.check_columns(rows.shape[1], estimator)
    coded = [j for j, column in enumerate(schema.columns) if column.kind != Kind.NUMERIC]
    values = xp.array(rows, dtype=np.float64, order="C", copy=True if coded else None)  # codes are written to a copy
    _refuse_infinity(xp, values, schema.names)
    for j in coded:
        # A category's code is looked up on the device; refused are text categories, by the host's own words.
        column = schema.columns[j]
        if column.categories and isinstance(column.categories[0], str):
            encode_numbers(np.asarray([0.0]), column)
        values[:, j] = _codes(xp, values[:, j], np.array(column.categories, dtype=np.float64))
    return values


def _codes(xp: Any, values: Any, categories: Any) -> Any:
    """Position of each value among the categories; NaN where it is none."""
    if not len(categories):
        return xp.full(values.shape, np.nan)
    order = np.argsort(categories)
    in_order, codes = xp.asarray(categories[order]), xp.asarray(order.astype(np.float64))
    nearest = xp.searchsorted(in_order, values).clip(0, len(order) - 1)
    return xp.where(in_order[nearest] == values, codes[nearest], np.nan)


def _refuse_infinity(xp: Any, values: Any, names: tuple[str, ...]) -> None:
    infinite = xp.isinf(values)
    if bool(infinite.any()):
        row, j = divmod(int(infinite.argmax()), values.shape[1])
        raise ValueError(
            f"Input X contains infinity: column {names[j]!r} has {float(values[row, j])} in row {row}. Replace it "
            "by a finite number, or by NaN if it stands for a missing value."
        )
