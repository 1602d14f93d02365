"""Parameters that are True or False."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["read_switch"]


def read_switch(name: str, given: Any, otherwise: str = "") -> bool:
    """The value of a switch, or an error that names it; `otherwise` says what else the parameter takes."""
    if not isinstance(given, bool | np.bool_):
        raise ValueError(f"{name} is {given!r}, must be True or False{otherwise}")
    return bool(given)
