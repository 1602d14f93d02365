"""Encode models, strategies and plain values as JSON and arrays, and decode them.

None, booleans, strings, integers, finite numbers and lists are JSON values. All else is an object with its type in the
entry ``"$"``: a tuple, a dict, an array (its number in the block), or a registered class with its values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._registry import ModelFileError, registration_named, registration_of

__all__ = ["decode", "encode"]

_MAX_DEPTH = 40  # models in models, rules in models: four levels each
_LARGEST_WHOLE = 2**63
_ARRAY_KINDS = frozenset("biufmMUS")


def encode(value: Any, what: str) -> tuple[Any, list[NDArray[Any]]]:
    """Return JSON for `value`, and the arrays that it refers to by number; errors call the value `what`."""
    arrays: list[NDArray[Any]] = []
    return _Encoder(arrays).encode(value, what), arrays


def decode(plain: Any, arrays: Sequence[NDArray[Any]]) -> Any:
    """Invert :func:`encode`; raise :class:`ModelFileError` for anything invalid."""
    return _Decoder(arrays).decode(plain, 0)


class _Encoder:
    def __init__(self, arrays: list[NDArray[Any]]) -> None:
        self._arrays = arrays
        self._numbers: dict[tuple[Any, ...], int] = {}

    def encode(self, value: Any, what: str) -> Any:
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, np.generic):
            return {"$": "scalar", "at": self._number_of(np.asarray(value), what)}
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, int):
            return _whole(int(value), what)
        if isinstance(value, float):
            return float(value) if isfinite(value) else {"$": "float", "is": repr(float(value))}
        if isinstance(value, np.ndarray):
            return self._array(value, what)
        if type(value) in (list, tuple):
            items = [self.encode(item, f"{what}[{i}]") for i, item in enumerate(value)]
            return items if isinstance(value, list) else {"$": "tuple", "items": items}
        if type(value) is dict:
            pairs = [[self.encode(k, f"a key of {what}"), self.encode(v, f"{what}[{k!r}]")] for k, v in value.items()]
            return {"$": "dict", "items": pairs}
        return self._registered(value, what)

    def _array(self, array: NDArray[Any], what: str) -> Any:
        if array.dtype.kind != "O":
            return {"$": "array", "at": self._number_of(array, what)}
        if array.ndim != 1 or not all(isinstance(item, str) for item in array):
            odd = next((type(item).__name__ for item in array.flat if not isinstance(item, str)), "text in a table")
            raise ModelFileError(
                f"{what} is an array of Python objects ({odd}): of those a file can hold only one row of text; convert "
                "it to numbers, truth values, dates or text"
            )
        return {"$": "texts", "items": [str.__str__(item) for item in array]}

    def _number_of(self, array: NDArray[Any], what: str) -> int:
        if array.dtype.kind not in _ARRAY_KINDS:
            raise ModelFileError(
                f"{what} has dtype {array.dtype}, which a file can't hold: convert it to numbers, truth values, dates "
                "or text"
            )
        # A nested model can occur twice, as a parameter and as a fitted attribute: store its arrays once.
        memory = (array.__array_interface__["data"][0], array.dtype.str, array.shape, array.strides)
        if memory not in self._numbers or not array.size:
            self._arrays.append(array)
            self._numbers[memory] = len(self._arrays) - 1
        return self._numbers[memory]

    def _registered(self, value: Any, what: str) -> dict[str, Any]:
        registration = registration_of(type(value))
        if registration is None:
            raise ModelFileError(f"{what} is {_reason(value)}")
        values = registration.take(value)
        inside = "" if registration.is_model else f"{what}."
        return {"$": registration.name, **{name: self.encode(one, f"{inside}{name}") for name, one in values.items()}}


def _whole(value: int, what: str) -> int:
    if not -_LARGEST_WHOLE <= value < _LARGEST_WHOLE:
        raise ModelFileError(f"{what} is {value:.3g}, which takes more than 64 bits: use a smaller number")
    return value


def _reason(value: Any) -> str:
    """Describe why a value can't be stored, and the fix."""
    kind = type(value).__name__
    if isinstance(value, np.random.RandomState | np.random.Generator | np.random.BitGenerator):
        return f"a {kind} object, whose state would not mean the same in another process: pass an int"
    if isinstance(value, type):
        return f"the class {value.__name__}, and a file holds no code: pass an instance"
    if callable(value) and not hasattr(value, "table"):
        name = getattr(value, "__name__", kind)
        return f"the function {name}, and a file holds no code: set it to something else before saving"
    if hasattr(value, "get_params"):
        library = type(value).__module__.partition(".")[0]
        return f"a {kind} of {library}, which only its own library can store: use joblib, or an estimator of hedgerow"
    return (
        f"a {type(value).__module__}.{type(value).__qualname__}, which a file can't hold: if it is a rule of your own, "
        "make it a dataclass of plain values and call hedgerow.storage.register(...) with its class"
    )


class _Decoder:
    def __init__(self, arrays: Sequence[NDArray[Any]]) -> None:
        self._arrays = arrays

    def decode(self, plain: Any, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            raise ModelFileError("the header is nested too deeply")
        if isinstance(plain, list):
            return [self.decode(item, depth + 1) for item in plain]
        if not isinstance(plain, dict):
            return plain
        kind = plain.get("$")
        if not isinstance(kind, str):
            raise ModelFileError('an object in the header has no type "$"')
        values = {name: value for name, value in plain.items() if name != "$"}
        built_in = _BUILT_IN.get(kind)
        return self._registered(kind, values, depth) if built_in is None else built_in(self, values, depth)

    def _tuple(self, values: Mapping[str, Any], depth: int) -> tuple[Any, ...]:
        return tuple(self.decode(_items(values), depth))

    def _dict(self, values: Mapping[str, Any], depth: int) -> dict[Any, Any]:
        pairs = self.decode(_items(values), depth)
        try:
            found = {key: value for key, value in pairs}  # noqa: C416 - dict() accepts two-letter strings as pairs
        except (TypeError, ValueError):
            raise ModelFileError("a dict in the header is not a list of pairs") from None
        if len(found) != len(pairs):
            raise ModelFileError("a dict in the header has a duplicate key")
        return found

    def _float(self, values: Mapping[str, Any], depth: int) -> float:
        if values.get("is") not in ("nan", "inf", "-inf"):
            raise ModelFileError("a float in the header is neither nan nor inf nor -inf")
        return float(values["is"])

    def _texts(self, values: Mapping[str, Any], depth: int) -> NDArray[np.object_]:
        items = _items(values)
        if not all(isinstance(item, str) for item in items):
            raise ModelFileError("an array of strings in the header holds other values")
        return np.array(items, dtype=object)

    def _array(self, values: Mapping[str, Any], depth: int) -> NDArray[Any]:
        at = values.get("at")
        if type(at) is not int or not 0 <= at < len(self._arrays):
            raise ModelFileError(f"the header refers to an array beyond the {len(self._arrays)} of the file")
        return self._arrays[at]

    def _scalar(self, values: Mapping[str, Any], depth: int) -> Any:
        array = self._array(values, depth)
        if array.ndim:
            raise ModelFileError("a scalar in the header is an array")
        return array[()]

    def _registered(self, name: str, values: Mapping[str, Any], depth: int) -> Any:
        registration = registration_named(name)
        decoded = {key: self.decode(value, depth + 1) for key, value in values.items()}
        try:
            return registration.make(decoded)
        except ModelFileError:
            raise
        except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
            raise ModelFileError(f"invalid {name}: {_one_line(error)}") from None


def _items(values: Mapping[str, Any]) -> list[Any]:
    items = values.get("items")
    if not isinstance(items, list):
        raise ModelFileError("a tuple, dict or array of strings in the header has no items")
    return items


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if len(text) <= 300 else f"{text[:300]}..."


_BUILT_IN = {
    "tuple": _Decoder._tuple,
    "dict": _Decoder._dict,
    "float": _Decoder._float,
    "texts": _Decoder._texts,
    "array": _Decoder._array,
    "scalar": _Decoder._scalar,
}
