"""Strategies by alias or instance."""

from __future__ import annotations

from typing import Any, TypeVar

__all__ = ["choose"]

Strategy = TypeVar("Strategy")


def choose(name: str, given: Any, aliases: dict[str, Strategy], kind: type[Strategy], otherwise: str = "") -> Strategy:
    """The strategy for an alias, or an instance of its kind; else an error that lists the known ones."""
    if isinstance(given, kind):
        return given
    if isinstance(given, str) and given in aliases:
        return aliases[given]
    instances = ", ".join(f"{cls.__name__}(...)" for cls in dict.fromkeys(type(one) for one in aliases.values()))
    raise ValueError(
        f"{name} is {given!r}, must be one of {', '.join(map(repr, aliases))}, or an instance: {instances}{otherwise}"
    )
