from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.utils import check_random_state

from hedgerow.estimators.seeding import seed_of

LARGEST = np.iinfo(np.int32).max


@pytest.mark.parametrize("state", [0, 1, 123456, 2**32 - 1, np.int64(7), np.uint8(3), True])
def test_a_number_gives_the_draw_of_its_generator(state: Any) -> None:
    assert seed_of(state) == check_random_state(state).randint(LARGEST)


def test_a_generator_is_drawn_from() -> None:
    ours, theirs = np.random.RandomState(5), np.random.RandomState(5)
    assert [seed_of(ours), seed_of(ours)] == theirs.randint(LARGEST, size=2).tolist()
    assert seed_of(None) != seed_of(None)


@pytest.mark.parametrize("state", [-1, 2**32, "zero", 0.5])
def test_what_is_no_random_state_is_refused_where_scikit_learn_does(state: Any) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - whatever it says
        check_random_state(state)
    with pytest.raises(ValueError, match=f"random_state is {state!r}, must be None, a whole number"):
        seed_of(state)
