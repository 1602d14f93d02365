"""The seed of a fit: its only draw from NumPy, from which all other randomness is derived."""

from __future__ import annotations

from numbers import Integral
from threading import Lock
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

__all__ = ["seed_of"]

_LARGEST = np.iinfo(np.int32).max
_LARGEST_SEED = np.iinfo(np.uint32).max
_lock = Lock()
_generator = np.random.RandomState(0)


def seed_of(random_state: Any) -> int:
    """Draw a seed from scikit-learn's `random_state`."""
    if not isinstance(random_state, Integral):
        try:
            return int(check_random_state(random_state).randint(_LARGEST))
        except ValueError:
            raise _refusal(random_state) from None
    if not 0 <= int(random_state) <= _LARGEST_SEED:
        raise _refusal(random_state)
    # Creating a generator reads entropy from the system first, which takes as long as growing some trees.
    with _lock:
        _generator.seed(int(random_state))
        return int(_generator.randint(_LARGEST))


def _refusal(random_state: Any) -> ValueError:
    return ValueError(
        f"random_state is {random_state!r}, must be None, a whole number in 0 .. {_LARGEST_SEED}, or a "
        "numpy.random.RandomState"
    )
