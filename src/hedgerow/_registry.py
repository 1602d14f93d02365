"""Classes whose instances can be stored, by name. A file can only name what is registered here: it holds no code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypeVar

__all__ = ["ModelFileError", "Part", "part_named", "part_of", "parts", "register"]

Class = TypeVar("Class", bound=type)


class ModelFileError(ValueError):
    """A model that can't be stored, or a file that can't be read; the message says why, and what to do."""

    __module__ = "hedgerow.storage"  # where users find it


@dataclass(frozen=True)
class Part:
    """How instances of a class are taken apart into named values, and put together again, with all checks."""

    cls: type
    name: str
    take: Callable[[Any], Mapping[str, Any]]
    make: Callable[[dict[str, Any]], Any]
    is_model: bool


_BY_NAME: dict[str, Part] = {}
_BY_CLASS: dict[type, Part] = {}
_LOADERS: list[Callable[[], object]] = []


def when_unknown(load: Callable[[], object]) -> None:
    """Call `load`, which imports modules that register classes, when a file names a class that is not registered."""
    _LOADERS.append(load)


def register(
    cls: Class,
    *,
    name: str | None = None,
    take: Callable[[Any], Mapping[str, Any]] | None = None,
    make: Callable[[dict[str, Any]], Any] | None = None,
    is_model: bool = False,
    former_names: Iterable[str] = (),
) -> Class:
    """Let model files hold instances of `cls`, a dataclass of plain values such as a rule of your own.

    Its fields are stored, and reading a file calls ``cls(**fields)``: its ``__post_init__`` should check them. The file
    names it by `name`, by default its module and qualified name, so who reads the file must register it too. Returns
    the class, to be used as a decorator. Other classes need `take` and `make`, its inverse. Files that hold one of the
    `former_names` can still be read.

    >>> from dataclasses import dataclass
    >>> from hedgerow.rules import Pool
    >>> @register
    ... @dataclass(frozen=True)
    ... class HalfPool(Pool):
    ...     share: float = 0.5
    """
    if take is None and (not isinstance(cls, type) or not is_dataclass(cls)):
        raise TypeError(f"register takes a dataclass, got {cls!r}: decorate the class with @dataclass(frozen=True)")
    part = Part(
        cls,
        name or f"{cls.__module__}.{cls.__qualname__}",
        take or _fields,
        make or (lambda values: cls(**values)),
        is_model,
    )
    # A module that is loaded again brings its classes again.
    for one in (part.name, *former_names):
        known = _BY_NAME.get(one)
        if known is not None and known.cls.__qualname__ != cls.__qualname__:
            raise ValueError(f"the name {one!r} stands for {known.cls!r} already: choose another name")
        _BY_NAME[one] = part
    _BY_CLASS[cls] = part
    return cls


def _fields(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value) if field.init}


def parts() -> dict[str, Part]:
    """All registered classes, by their names and former names."""
    return dict(sorted(_BY_NAME.items()))


def part_of(cls: type) -> Part | None:
    """How this very class is stored; None if it is not registered. (A subclass may mean something else.)"""
    return _BY_CLASS.get(cls)


def part_named(name: str) -> Part:
    """The class that a file names, or an error that says how it could be known."""
    if name not in _BY_NAME and name.startswith("hedgerow."):
        for load in _LOADERS:
            load()
    try:
        return _BY_NAME[name]
    except KeyError:
        raise ModelFileError(
            f"it holds a {name[:100]!r}, which is not registered here: import its module and call "
            "hedgerow.storage.register(...), or install the hedgerow that wrote it"
        ) from None
