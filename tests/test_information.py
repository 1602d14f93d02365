"""Information in bits: the lecture's figures, scipy's and literal sums as truths, and what must hold of any table."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import chi2_contingency
from scipy.stats import entropy as scipy_entropy

from hedgerow.information import (
    chi2_split,
    chi2_test,
    conditional_entropy,
    entropy,
    gain_ratio,
    information_gain,
    joint_entropy,
    kullback_leibler_divergence,
    mutual_information,
    split_entropy,
)

COINS = np.array([[0.2, 0.4], [0.3, 0.1]])  # rows: X heads, tails; columns: Y heads, tails

# The lecture's eight people, (positive, negative) for each value.
HEIGHT = [[3, 2], [2, 1]]
EYE = [[2, 3], [3, 0]]
HAIR = [[3, 0], [2, 2], [0, 1]]

tables = arrays(
    np.float64,
    st.tuples(st.integers(1, 4), st.integers(1, 4)),
    elements=st.one_of(st.just(0.0), st.floats(0.001, 1e6)),
).filter(lambda table: table.any())


# -- the lecture


def test_two_coins() -> None:
    assert round(joint_entropy(COINS), 3) == 1.846
    assert round(entropy(COINS.sum(axis=1)), 3) == 0.971
    assert entropy(COINS.sum(axis=0)) == 1.0
    assert round(conditional_entropy(COINS), 4) == 0.8755


def test_the_attributes_of_eight_people() -> None:
    found = [round(conditional_entropy(table), 3) for table in (HEIGHT, EYE, HAIR)]
    assert found == [0.951, 0.607, 0.5]
    assert max((HEIGHT, EYE, HAIR), key=information_gain) is HAIR


def test_a_threshold_of_temperature() -> None:
    assert round(conditional_entropy([[2, 0], [1, 3]]), 3) == 0.541


def test_a_split_that_separates_two_classes_of_fifty() -> None:
    assert chi2_split([[50, 0], [0, 50]]) == 50.0
    assert chi2_split([[50, 0], [0, 50]]) > 6.63  # significant with confidence above 99 % in the lecture's table
    assert chi2_test([[50, 0], [0, 50]]).statistic == 100.0


def test_certainty_and_ignorance() -> None:
    assert entropy([0, 1, 0]) == 0.0
    assert entropy([1] * 8) == 3.0


# -- literal sums


def literal_conditional_entropy(table: np.ndarray) -> float:
    """Σ_r p(r)·Σ_c −p(c | r)·log2 p(c | r)."""
    whole = math.fsum(table.ravel())
    parts = []
    for row in table.tolist():
        of_row = math.fsum(row)
        parts += [-(x / whole) * math.log2(x / of_row) for x in row if x > 0]
    return math.fsum(parts)


@given(table=tables)
def test_every_quantity_is_its_definition(table: np.ndarray) -> None:
    h = {"rows": scipy_entropy(table.sum(axis=1), base=2), "columns": scipy_entropy(table.sum(axis=0), base=2)}
    remaining = literal_conditional_entropy(table)
    assert joint_entropy(table) == pytest.approx(scipy_entropy(table.ravel(), base=2), abs=1e-12)
    assert conditional_entropy(table) == pytest.approx(remaining, abs=1e-12)
    assert mutual_information(table) == pytest.approx(h["columns"] - remaining, abs=1e-12)
    assert information_gain(table) == mutual_information(table)
    assert split_entropy(table) == pytest.approx(h["rows"], abs=1e-12)
    if h["rows"] > 1e-6:
        assert gain_ratio(table) == pytest.approx((h["columns"] - remaining) / h["rows"], abs=1e-9 / h["rows"])


@given(table=tables)
def test_what_must_hold_of_any_table(table: np.ndarray) -> None:
    h_rows, h_columns = entropy(table.sum(axis=1)), entropy(table.sum(axis=0))
    assert 0 <= h_columns <= math.log2(table.shape[1]) + 1e-12
    assert joint_entropy(table) <= h_rows + h_columns + 1e-12
    assert conditional_entropy(table) <= h_columns + 1e-12
    assert joint_entropy(table) == pytest.approx(h_rows + conditional_entropy(table), abs=1e-12)
    assert mutual_information(table) == pytest.approx(mutual_information(table.T), abs=1e-12)
    assert 0 <= gain_ratio(table) * split_entropy(table) <= min(h_rows, h_columns) + 1e-12


@given(p=arrays(np.float64, 4, elements=st.floats(0.01, 1)), q=arrays(np.float64, 4, elements=st.floats(0.01, 1)))
def test_divergence(p: np.ndarray, q: np.ndarray) -> None:
    assert kullback_leibler_divergence(p, q) == pytest.approx(scipy_entropy(p, q, base=2), abs=1e-12)
    assert kullback_leibler_divergence(p, 3 * p) == pytest.approx(0.0, abs=1e-12)


def test_divergence_from_what_is_impossible_is_infinite() -> None:
    assert kullback_leibler_divergence([1, 1], [1, 0]) == math.inf
    assert kullback_leibler_divergence([1, 0], [1, 1]) == 1.0


def test_a_question_with_one_answer_has_no_gain_ratio() -> None:
    assert gain_ratio([[3, 4]]) == 0.0
    assert gain_ratio([[3, 4], [0, 0]]) == 0.0


# -- chi-square


@given(table=arrays(np.float64, st.tuples(st.integers(2, 4), st.integers(2, 4)), elements=st.floats(0.5, 50)))
def test_pearsons_test_is_that_of_scipy(table: np.ndarray) -> None:
    found, expected = chi2_test(table), chi2_contingency(table, correction=False)
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-9, abs=1e-9)
    assert found.degrees_of_freedom == expected.dof
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-9, abs=1e-12)


@given(table=arrays(np.float64, st.tuples(st.integers(2, 4), st.integers(2, 4)), elements=st.floats(0.5, 50)))
def test_the_lectures_statistic_leaves_out_the_last_branch(table: np.ndarray) -> None:
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    assert chi2_split(table) == pytest.approx(((table - expected) ** 2 / expected)[:-1].sum(), rel=1e-9, abs=1e-9)


def test_empty_branches_and_classes_do_not_count() -> None:
    assert chi2_test([[5, 0, 2], [0, 0, 0], [1, 0, 7]]) == chi2_test([[5, 2], [1, 7]])
    assert chi2_test([[5, 0], [3, 0]]) == chi2_test([[5], [3]])
    assert chi2_test([[5], [3]]).p_value == 1.0


# -- bad input


@pytest.mark.parametrize("bad", [[], [0, 0], [1, -1], [1, math.nan], [1, math.inf]])
def test_numbers_that_are_no_counts_are_refused(bad: list[float]) -> None:
    with pytest.raises(ValueError, match="p must hold finite numbers that are not negative"):
        entropy(bad)


def test_shapes_are_checked() -> None:
    with pytest.raises(ValueError, match="p has 2 dimensions, must have 1"):
        entropy(COINS)
    with pytest.raises(ValueError, match="joint has 1 dimensions, must have 2"):
        conditional_entropy([1, 2])
    with pytest.raises(ValueError, match="p has 2 outcomes and q has 3"):
        kullback_leibler_divergence([1, 1], [1, 1, 1])
