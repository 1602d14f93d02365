"""Arrays of a device that speak NumPy: the code that finishes answers on the CPU finishes them there too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

__all__ = ["NumpyLanguage", "convert_parts", "on_host", "unwrap"]

_REDUCTIONS = {
    "add": "sum",
    "maximum": "max",
    "minimum": "min",
    "fmax": "nanmax",
    "logical_or": "any",
    "logical_and": "all",
}
_MOST_ADDED = 128  # columns that NumPy adds without dividing them in two
_ABREAST = 8  # sums that it keeps beside each other where there are as many columns


class NumpyLanguage(NDArrayOperatorsMixin):
    """Array of a device for functions that are written for NumPy; operands of the host are copied to the device.

    A few columns are added in NumPy's order, so that sums have its bits.

    Parameters
    ----------
    values : array of the device
        What is computed with.
    xp : module
        Functions of the device, with NumPy's names.
    special : module
        Its functions with the names of ``scipy.special``.
    """

    __array_priority__ = 100

    def __init__(self, values: Any, xp: Any, special: Any) -> None:
        self.values = values
        self._xp = xp
        self._special = special

    # -- NumPy's protocols

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        outputs = options.pop("out", None)
        name = ufunc.__name__
        if method == "reduce" and name in _REDUCTIONS and outputs is None:
            return self._reduce(name, inputs[0], options.get("axis", 0), bool(options.get("keepdims", False)))
        if method != "__call__":
            raise TypeError(f"numpy.{name}.{method} can't be computed on a GPU: pass X as a NumPy array")
        function = getattr(self._xp, name, None) or getattr(self._special, name, None)
        if function is None:
            raise TypeError(f"{name} can't be computed on a GPU: pass X as a NumPy array")
        found = function(*self._here(inputs), **self._here(options))
        if outputs is None:
            return self._wrapped(found)
        if not isinstance(outputs[0], NumpyLanguage):
            raise TypeError(f"numpy.{name} can't write to an array of the host: pass X as a NumPy array")
        outputs[0].values[...] = found
        return outputs[0]

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        here = getattr(self._xp, function.__name__, None)
        if here is None:
            raise TypeError(f"numpy.{function.__name__} can't be computed on a GPU: pass X as a NumPy array")
        if function is np.sum:
            return args[0].sum(*args[1:], **options)
        return self._wrapped(here(*self._here(args), **self._here(options)))

    def __array__(self, *_: Any, **__: Any) -> NDArray[Any]:
        raise TypeError("this answer needs the rows in the memory of the host: pass X as a NumPy array")

    # -- what is asked of arrays

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.values.shape)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def dtype(self) -> Any:
        return self.values.dtype

    @property
    def T(self) -> NumpyLanguage:  # noqa: N802 - NumPy's name
        return self._wrapped(self.values.T)

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        return self._wrapped(self.values[self._here(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        self.values[self._here(key)] = self._here(value)

    def sum(self, axis: int | None = None, keepdims: bool = False) -> Any:
        return self._reduce("add", self, axis, keepdims)

    def max(self, axis: int | None = None, keepdims: bool = False) -> Any:
        return self._reduce("maximum", self, axis, keepdims)

    def min(self, axis: int | None = None, keepdims: bool = False) -> Any:
        return self._reduce("minimum", self, axis, keepdims)

    def any(self, axis: int | None = None, keepdims: bool = False) -> Any:
        return self._reduce("logical_or", self, axis, keepdims)

    def all(self, axis: int | None = None, keepdims: bool = False) -> Any:
        return self._reduce("logical_and", self, axis, keepdims)

    def argmax(self, axis: int | None = None) -> Any:
        return self._wrapped(self.values.argmax(axis=axis))

    def reshape(self, *shape: Any) -> Any:
        return self._wrapped(self.values.reshape(*shape))

    def __int__(self) -> int:
        return int(self.values)

    def __float__(self) -> float:
        return float(self.values)

    def __bool__(self) -> bool:
        return bool(self.values)

    def astype(self, dtype: Any) -> Any:
        return self._wrapped(self.values.astype(dtype))

    def copy(self) -> Any:
        return self._wrapped(self.values.copy())

    # -- between the languages

    def _reduce(self, name: str, array: Any, axis: Any, keepdims: bool) -> Any:
        values = self._here(array)
        last = values.ndim - 1
        if name == "add" and axis in (-1, last) and 0 < values.shape[-1] <= _MOST_ADDED and values.dtype.kind == "f":
            found = _added([values[..., column] for column in range(values.shape[-1])])
            return self._wrapped(found[..., np.newaxis] if keepdims else found)
        return self._wrapped(getattr(self._xp, _REDUCTIONS[name])(values, axis=axis, keepdims=keepdims))

    def _here(self, thing: Any) -> Any:
        """The thing with arrays of the device."""
        if isinstance(thing, NumpyLanguage):
            return thing.values
        if isinstance(thing, np.ndarray):
            return self._xp.asarray(thing)
        if isinstance(thing, tuple | list):
            return type(thing)(map(self._here, thing))
        if isinstance(thing, dict):
            return {key: self._here(value) for key, value in thing.items()}
        return thing

    def _wrapped(self, found: Any) -> Any:
        if isinstance(found, tuple | list):
            return type(found)(map(self._wrapped, found))
        return NumpyLanguage(found, self._xp, self._special) if hasattr(found, "ndim") else found


def _added(columns: list[Any]) -> Any:
    """Sum of columns in NumPy's order."""
    n_abreast = len(columns) // _ABREAST * _ABREAST
    if n_abreast:
        sums = columns[:_ABREAST]
        for first in range(_ABREAST, n_abreast, _ABREAST):
            sums = [one + other for one, other in zip(sums, columns[first : first + _ABREAST], strict=True)]
        while len(sums) > 1:
            sums = [one + other for one, other in zip(sums[::2], sums[1::2], strict=True)]
        columns = [*sums, *columns[n_abreast:]]
    total = columns[0]
    for column in columns[1:]:
        total = total + column
    return total


def unwrap(answer: Any) -> Any:
    """The answer with arrays of the device, in tuples and records too.

    Parameters
    ----------
    answer : object
        What a finish has returned.
    """
    return convert_parts(answer, lambda part: part.values if isinstance(part, NumpyLanguage) else part)


def on_host(answer: Any) -> Any:
    """The answer with arrays of the host, in tuples and records too: those of the device are copied.

    Parameters
    ----------
    answer : object
        What a verb has returned.
    """
    return convert_parts(answer, lambda part: part.get() if hasattr(part, "__cuda_array_interface__") else part)


def convert_parts(answer: Any, convert: Callable[[Any], Any]) -> Any:
    """Convert what is no tuple and no record, and the parts of those.

    Parameters
    ----------
    answer : object
        What a finish has returned.
    convert : callable
        Called with each part.
    """
    if isinstance(answer, tuple):
        parts = [convert_parts(part, convert) for part in answer]
        return type(answer)(*parts) if hasattr(answer, "_fields") else tuple(parts)
    if is_dataclass(answer) and not isinstance(answer, type):
        found = {one.name: convert_parts(getattr(answer, one.name), convert) for one in fields(answer) if one.init}
        return replace(answer, **found)
    return convert(answer)
