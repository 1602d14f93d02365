from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hedgerow.folds.leaf_probability import Frequency, Laplace, LeafProbability, MEstimate, leaf_probability

COUNTS = np.array([[3.0, 1.0, 0.0], [0.0, 0.0, 0.0], [0.5, 0.25, 0.25]])
PRIOR = np.array([0.5, 0.3, 0.2])

_estimates = st.sampled_from([Frequency(), Laplace()]) | st.floats(1e-3, 1e3).map(MEstimate)
_count_rows = st.lists(st.floats(0, 1e6), min_size=3, max_size=3)


def test_frequency_is_the_share_of_the_class_and_the_prior_of_an_empty_leaf() -> None:
    np.testing.assert_array_equal(Frequency()(COUNTS, PRIOR), [[0.75, 0.25, 0.0], [0.5, 0.3, 0.2], [0.5, 0.25, 0.25]])


def test_laplace_adds_one_to_every_class() -> None:
    # (k + 1)/(n + C) with C = 3.
    expected = [[4 / 7, 2 / 7, 1 / 7], [1 / 3, 1 / 3, 1 / 3], [1.5 / 4, 1.25 / 4, 1.25 / 4]]
    np.testing.assert_allclose(Laplace()(COUNTS, PRIOR), expected, rtol=1e-15)


@pytest.mark.parametrize("m", [0.1, 1, 2, 50])
def test_the_m_estimate_adds_m_rows_of_the_prior(m: float) -> None:
    n = COUNTS.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(MEstimate(m)(COUNTS, PRIOR), (COUNTS + m * PRIOR) / (n + m), rtol=1e-15)


def test_the_m_estimate_with_as_many_rows_as_classes_and_a_flat_prior_is_laplace() -> None:
    flat = np.full(3, 1 / 3)
    np.testing.assert_allclose(MEstimate(3)(COUNTS, flat), Laplace()(COUNTS, flat), rtol=1e-15)


@given(_estimates, st.lists(_count_rows, min_size=1, max_size=5))
def test_every_estimate_is_a_probability(estimate: LeafProbability, rows: list[list[float]]) -> None:
    found = estimate(np.array(rows), PRIOR)
    assert found.shape == (len(rows), 3)
    assert (found >= 0).all()
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)


@given(_estimates, _count_rows)
def test_the_larger_count_has_the_larger_probability_under_a_flat_prior(
    estimate: LeafProbability, row: list[float]
) -> None:
    found = estimate(np.array([row]), np.full(3, 1 / 3))[0]
    by_count = np.argsort(row, kind="stable")
    assert (np.diff(found[by_count]) >= -1e-15).all()


def test_estimates_leave_the_counts_alone() -> None:
    counts = COUNTS.copy()
    for estimate in (Frequency(), Laplace(), MEstimate()):
        estimate(counts, PRIOR)
    np.testing.assert_array_equal(counts, COUNTS)


@pytest.mark.parametrize("m", [0, -1, math.nan, math.inf])
def test_m_must_be_a_positive_number(m: float) -> None:
    with pytest.raises(ValueError, match=f"MEstimate: m is {m}, must be a positive number"):
        MEstimate(m)(COUNTS, PRIOR)


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        ("frequency", Frequency()),
        ("laplace", Laplace()),
        (Frequency(), Frequency()),
        (MEstimate(3.0), MEstimate(3.0)),
    ],
)
def test_an_estimate_is_given_by_its_name_or_as_itself(given_: Any, expected: LeafProbability) -> None:
    assert leaf_probability(given_) == expected


@pytest.mark.parametrize("wrong", ["m_estimate", "Laplace", None, 2, ["laplace"], Laplace])
def test_what_is_no_estimate_is_refused_with_the_list_of_those_that_are(wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"leaf_probability is .*'frequency', 'laplace'.*MEstimate\(\.\.\.\)") as error:
        leaf_probability(wrong)
    assert repr(wrong) in str(error.value)
