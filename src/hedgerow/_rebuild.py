"""Pickling by constructor: what is read from a file passes the same checks as what is made in Python."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

__all__ = ["reduce_to_constructor"]


def reduce_to_constructor(instance: Any) -> tuple[type, tuple[Any, ...]]:
    """Implement ``__reduce__`` of a dataclass whose ``__post_init__`` checks its fields.

    Without it, pickle restores ``__dict__`` and calls no constructor. skops calls a constructor only if it finds
    exactly this form.
    """
    return type(instance), tuple(getattr(instance, one.name) for one in fields(instance) if one.init)
