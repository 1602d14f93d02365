"""Strategies by their alias, or as instances with parameters of their own."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import isabstract
from typing import Any

__all__ = ["choose"]


def choose(name: str, given: Any, aliases: Mapping[str, Any], kinds: tuple[type, ...], otherwise: str = "") -> Any:
    """The strategy for the parameter `name`: by its alias, or an instance of one of its kinds.

    The error for anything else lists the known ones, and `otherwise`, what else the parameter takes.
    """
    if isinstance(given, kinds):
        return given
    if isinstance(given, str) and given in aliases:
        return aliases[given]
    known = dict.fromkeys(map(type, aliases.values())) if any(map(isabstract, kinds)) else kinds
    instances = ", ".join(f"{kind.__name__}(...)" for kind in known)
    raise ValueError(
        f"{name} is {given!r}, must be one of {', '.join(map(repr, aliases))}, or an instance: {instances}{otherwise}"
    )
