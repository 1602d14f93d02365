"""The one draw that a fit takes from NumPy: everything else is addressed by it."""

from __future__ import annotations

from numbers import Integral
from threading import Lock
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

__all__ = ["seed_of"]

_LARGEST = np.iinfo(np.int32).max
_lock = Lock()
_generator = np.random.RandomState(0)


def seed_of(random_state: Any) -> int:
    """The first draw of scikit-learn's `random_state`."""
    if not isinstance(random_state, Integral):
        return int(check_random_state(random_state).randint(_LARGEST))
    # A new generator asks the system for randomness before it takes the seed, which takes as long as some trees.
    with _lock:
        _generator.seed(int(random_state))
        return int(_generator.randint(_LARGEST))
