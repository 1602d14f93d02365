"""Utility of sets, and weights of trees that maximise a surrogate of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles import credal as oracle

from effort import examples
from hedgerow.credal.utility import REWARDS, learn_tree_weights, set_utilities


@pytest.mark.parametrize(("name", "a", "b"), [("u65", 1.6, 0.6), ("u80", 2.2, 1.2)])
def test_utility_is_the_formula_of_zaffalon_corani_and_maua(name: str, a: float, b: float) -> None:
    sizes = np.arange(1, 9)
    found = set_utilities(np.ones(8, dtype=bool), sizes, REWARDS[name])
    np.testing.assert_allclose(found, a / sizes - b / sizes**2, rtol=1e-14)
    assert found[0] == 1
    assert found[1] == REWARDS[name]
    assert not set_utilities(np.zeros(8, dtype=bool), sizes, REWARDS[name]).any()


@settings(max_examples=examples(8, 25), deadline=None)
@given(seed=st.integers(0, 10_000), n_classes=st.integers(2, 4), reward=st.sampled_from(list(REWARDS.values())))
def test_no_other_weights_have_a_smaller_loss(seed: int, n_classes: int, reward: float) -> None:
    rng = np.random.default_rng(seed)
    n, n_trees = 12, 4
    lower = rng.random((n, n_trees, n_classes)) / n_classes
    upper = lower + rng.random((n, n_trees, 1)) / 2
    answers = rng.random((n, n_trees)) < 0.6
    answers[:, seed % n_trees] |= ~answers.any(axis=1)
    given_ = lower, upper, answers, rng.integers(0, n_classes, n).astype(np.int32), rng.random(n), reward
    weights = learn_tree_weights(*given_)
    assert weights.sum() == pytest.approx(1)
    assert (weights >= 0).all()
    least = oracle.learned_loss(weights, *given_)
    for other in (
        np.full(n_trees, 0.25),
        *rng.dirichlet(np.ones(n_trees), 20),
        *rng.dirichlet(weights * 200 + 1e-3, 20),
    ):
        # The maximum over classes has kinks, at which L-BFGS may stop a little early.
        assert least <= oracle.learned_loss(other, *given_) + 1e-3
    assert learn_tree_weights(*given_).tobytes() == weights.tobytes()


def test_a_single_class_leaves_all_weights_equal() -> None:
    ones = np.ones((3, 5, 1))
    found = learn_tree_weights(ones, ones, np.ones((3, 5), dtype=bool), np.zeros(3, dtype=np.int32), np.ones(3), 0.65)
    assert found.tolist() == [0.2] * 5
