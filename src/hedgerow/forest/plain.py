"""Arrays of a Forest as plain numbers and lists, which JSON can hold, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.forest.check import ARRAY_DTYPES

__all__ = ["arrays_to_lists", "lists_to_arrays"]

_NAN_MEANS_UNUSED = ("threshold", "payload_weights", "payload_means")


def arrays_to_lists(arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Lists of numbers; None for NaN and "inf" for infinity, which JSON lacks."""
    return {
        name: [None if np.isnan(x) else "inf" if np.isinf(x) else x for x in array.tolist()]
        if name in _NAN_MEANS_UNUSED
        else array.tolist()
        for name, array in arrays.items()
    }


def lists_to_arrays(plain: Mapping[str, Any], required: Iterable[str], optional: Iterable[str]) -> dict[str, Any]:
    """Arrays of their dtypes; None stays None. Raises ValueError for entries that are unknown, absent or no numbers."""
    required = set(required)
    if unknown := sorted(set(plain) - required - set(optional)):
        raise ValueError(f"not the dictionary of a Forest: unknown entries {unknown}")
    if missing := sorted(required - set(plain)):
        raise ValueError(f"not the dictionary of a Forest: missing entries {missing}")
    return {name: _to_array(name, value) for name, value in plain.items() if name in ARRAY_DTYPES}


def _to_array(name: str, value: Any) -> NDArray[Any] | None:
    if value is None:
        return None
    dtype = ARRAY_DTYPES[name]
    try:
        if name in _NAN_MEANS_UNUSED:
            value = [np.nan if x is None else float(x) for x in value]
        given = np.array(value)
        array: NDArray[Any] = given.astype(dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"not the dictionary of a Forest: {name!r} holds no {dtype.__name__}: {error}") from None
    if given.size and not np.array_equal(array, given, equal_nan=name in _NAN_MEANS_UNUSED):
        raise ValueError(f"not the dictionary of a Forest: {name!r} holds no {dtype.__name__}")
    return array
