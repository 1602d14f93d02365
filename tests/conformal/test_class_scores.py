"""Scores of classes agree with their formulas, whatever the order of the classes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.conformal import Aps, CredalBounds, Lac, Raps, class_score
from oracles import conformal as oracle

counts = st.lists(st.integers(0, 4), min_size=2, max_size=6).filter(any)


def shares(given):
    return np.array(given) / sum(given)


@given(counts)
def test_scores_are_those_of_the_formulas(given_counts):
    p = shares(given_counts)
    np.testing.assert_allclose(Lac().scores(p[np.newaxis])[0], oracle.lac(p))
    np.testing.assert_allclose(Aps().scores(p[np.newaxis])[0], oracle.aps(p))
    np.testing.assert_allclose(Raps(0.2, 2).scores(p[np.newaxis])[0], oracle.raps(p, 0.2, 2))


@given(counts, st.randoms())
def test_the_order_of_classes_has_no_influence(given_counts, random):
    p = shares(given_counts)
    order = list(range(len(p)))
    random.shuffle(order)
    draws = np.array([0.3])
    for score in (Aps(), Raps()):
        np.testing.assert_allclose(
            score.scores(p[np.newaxis][:, order], draws), score.scores(p[np.newaxis], draws)[:, order], atol=1e-12
        )


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=5))
def test_bounds_score_is_the_margin_of_interval_dominance(pairs):
    bounds = [(low / 10, (low + width) / 10) for low, width in pairs]
    found = CredalBounds().scores(np.array([bounds]))[0]
    np.testing.assert_allclose(found, oracle.dominance(bounds))
    dominated = [any(low > high for j, (low, _) in enumerate(bounds) if j != k) for k, (_, high) in enumerate(bounds)]
    np.testing.assert_array_equal(found > 1e-12, dominated)


def test_a_draw_takes_off_part_of_the_last_class():
    p = np.array([[0.5, 0.3, 0.2]])
    np.testing.assert_allclose(Aps().scores(p, np.array([0.5])), [[0.25, 0.65, 0.9]])


def test_an_unknown_score_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match="conformity_score is 'lak', must be one of 'lac', 'aps', 'raps', 'bounds'"):
        class_score("lak")
