"""Thresholds of calibration scores, levels, and draws of rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.conformal import needed_rows
from hedgerow.conformal.draws import draw_for_rows
from hedgerow.conformal.levels import SortedScores
from oracles import conformal as oracle

scores = st.lists(st.sampled_from([0.0, 0.1, 0.25, 0.25, 0.5, 0.9, 1.0]), min_size=1, max_size=40)
coverages = st.sampled_from([0.05, 0.5, 2 / 3, 0.8, 0.9, 0.95, 0.99])


@given(scores, coverages)
def test_the_threshold_is_the_ranked_score(given_scores, coverage):
    found = SortedScores(np.array(given_scores), np.ones(len(given_scores))).threshold(coverage)
    assert found == oracle.threshold(given_scores, coverage)


@given(scores, coverages, st.data())
def test_a_row_of_weight_two_counts_as_two(given_scores, coverage, data):
    weights = data.draw(st.lists(st.integers(1, 3), min_size=len(given_scores), max_size=len(given_scores)))
    repeated = np.repeat(given_scores, weights)
    found = SortedScores(np.array(given_scores), np.array(weights, dtype=float)).threshold(coverage)
    assert found == oracle.threshold(repeated.tolist(), coverage)


@given(scores, coverages)
def test_a_class_is_kept_above_its_level(given_scores, coverage):
    found = SortedScores(np.array(given_scores), np.ones(len(given_scores)))
    new = np.array([-1.0, 0.0, 0.25, 0.3, 1.0, 2.0])
    kept = new <= found.threshold(coverage)
    levels = found.levels(new)
    np.testing.assert_array_equal(kept, levels < coverage - 1e-12)


@given(coverages)
def test_the_least_number_of_rows_gives_a_finite_threshold(coverage):
    n = needed_rows(coverage)
    assert np.isfinite(oracle.threshold(list(range(n)), coverage))
    assert not np.isfinite(oracle.threshold(list(range(n - 1)), coverage))


def test_smoothed_levels_are_uniform_for_tied_scores():
    # All n + 1 scores are equal: the level is (1 − u)·(n + 1)/(n + 1), uniform where u is.
    found = SortedScores(np.zeros(9), np.ones(9))
    draws = np.linspace(0.05, 0.95, 10)
    np.testing.assert_allclose(found.smoothed_levels(np.zeros(10), draws), 1 - draws)


def test_draws_belong_to_the_values_of_a_row_and_the_seed():
    rows = np.array([[0.0, np.nan], [1.0, 2.0], [-0.0, np.nan], [2.0, 1.0]])
    draws = draw_for_rows(rows, 3)
    assert draws[0] == draws[2]
    assert len(set(draws.tolist())) == 3
    assert draw_for_rows(rows[1:2], 3)[0] == draws[1]
    assert (draw_for_rows(rows, 4) != draws).all()


def test_draws_are_uniform():
    # Of 100,000 uniform draws the standard error of a decile's share is 0.00095: five of them.
    draws = draw_for_rows(np.random.default_rng(0).normal(size=(100_000, 2)), 0)
    shares = np.histogram(draws, np.linspace(0, 1, 11))[0] / len(draws)
    assert np.abs(shares - 0.1).max() < 5 * 0.00095


@pytest.mark.parametrize("coverage", [0, 1, 1.5, -0.1, "0.9", None, True])
def test_a_coverage_outside_the_unit_interval_is_refused(coverage):
    from hedgerow.conformal.levels import check_coverage

    with pytest.raises(ValueError, match=r"coverage is .*, must be a number in \(0, 1\)"):
        check_coverage(coverage)


@given(
    st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0]) | st.floats(0, 1), st.integers(1, 3)), min_size=1),
    st.lists(st.tuples(st.sampled_from([0.0, 0.1, 0.25, 0.5, 1.0]) | st.floats(-1, 2), st.floats(0.001, 0.999))),
    st.floats(0.01, 0.99),
)
def test_scores_are_accepted_whose_smoothed_level_is_below_the_coverage(given_scores, asked, coverage):
    scores, weights = np.array(given_scores, dtype=float).T
    found = SortedScores(scores, weights)
    asked_scores, draws = np.array(asked, dtype=float).reshape(-1, 2).T
    accepted = found.accepts(asked_scores, draws, coverage)
    np.testing.assert_array_equal(accepted, found.smoothed_levels(asked_scores, draws) < coverage)
