"""Engines that are not installed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["needs"]


@contextmanager
def needs(engine: str, extra: str) -> Iterator[None]:
    """Say how to install what an engine imports."""
    try:
        yield
    except ImportError as absent:
        raise ImportError(f"{engine} needs {absent.name or extra}: pip install 'hedgerow[{extra}]'") from absent
