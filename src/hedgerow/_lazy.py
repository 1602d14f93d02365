"""Attributes that are computed when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

__all__ = ["lazy", "lazy_fields"]

Value = TypeVar("Value")


class lazy(Generic[Value]):  # noqa: N801 - a decorator, like property
    """Decorator: compute an attribute once, and keep it in the instance's ``__dict__``.

    Like ``functools.cached_property``, which in Python 3.11 locks all instances of a class while it computes: a process
    that is forked meanwhile waits for that lock for ever. Here threads that ask at the same time may each compute the
    value, which must be the same; all of them are given the first one.
    """

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> lazy[Value]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...

    def __get__(self, instance: object | None, owner: type) -> lazy[Value] | Value:
        if instance is None:
            return self
        return vars(instance).setdefault(self.name, self.compute(instance))


def lazy_fields(**compute: Callable[[Any], Any]) -> Callable[[type[Value]], type[Value]]:
    """Class decorator: compute the named fields of a dataclass when they are first read, if the instance lacks them.

    Functions are attached after the dataclass is made, which would take them for the fields' default values.
    """

    def attach(cls: type[Value]) -> type[Value]:
        for name, function in compute.items():
            attribute = lazy(function)
            attribute.__set_name__(cls, name)
            setattr(cls, name, attribute)
        return cls

    return attach
