"""Degrees of plausibility and preference, and the beta-binomial's height: the numbers of one leaf."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from effort import examples
from hedgerow.folds.plausibility import distinct_pairs, rest
from hedgerow.rules import Confidence, Plausibility, Probability, plausibility_degrees
from oracles import rules as oracle

several = settings(max_examples=examples(11, 40), deadline=None)
few = settings(max_examples=examples(8, 20), deadline=None)

whole = st.integers(0, 30).map(float)
any_count = (
    whole
    | st.floats(0, 50)
    | st.floats(-9, 9).map(lambda exponent: 10.0**exponent)
    | st.sampled_from([0.0, 5e8, 1e9, 1e9 - 1, 999_999_999.5])
)
PLAUSIBLE = 1e-12  # the tolerance that the function is held to, whatever the counts


@few
@given(any_count, any_count)
@example(0.0, 0.0)
@example(1e9, 1e9)
@example(1e9, 1.0)
@example(5e8 + 1e4, 5e8)  # 0.3 standard deviations from the middle
@example(1e9, 1e-9)
@example(1e-20, 1.0)  # a share that 1 + (2p − 1) can't hold
def test_degrees_are_where_direct_maximisation_finds_them(positive: float, negative: float) -> None:
    degrees = plausibility_degrees(positive, negative)
    pi_positive, pi_negative = oracle.plausibility(positive, negative), oracle.plausibility(negative, positive)
    assert degrees.pi_positive == pytest.approx(pi_positive, rel=0, abs=PLAUSIBLE)
    assert degrees.pi_negative == pytest.approx(pi_negative, rel=0, abs=PLAUSIBLE)
    assert degrees.epistemic == pytest.approx(min(pi_positive, pi_negative), rel=0, abs=PLAUSIBLE)
    assert degrees.aleatoric == pytest.approx(1 - max(pi_positive, pi_negative), rel=0, abs=PLAUSIBLE)


@few
@given(whole, whole)
def test_both_oracles_of_plausibility_agree(positive: float, negative: float) -> None:
    expected = oracle.plausibility(positive, negative)
    assert oracle.quick_plausibility(positive, negative) == pytest.approx(expected, rel=0, abs=1e-15)


def test_degrees_of_one_kind_of_sample_solve_an_equation_without_logarithms() -> None:
    # n samples of one class and none of the other: π(other) solves ((1 − π)/2)ⁿ = π. For one sample that is 1/3.
    degrees = plausibility_degrees([1, 2, 7], 0)
    np.testing.assert_array_equal(degrees.pi_positive, 1)
    np.testing.assert_array_equal(degrees.aleatoric, 0)
    np.testing.assert_allclose(((1 - degrees.pi_negative) / 2) ** [1, 2, 7], degrees.pi_negative, rtol=1e-13)
    assert degrees.epistemic[0] == pytest.approx(1 / 3, abs=1e-15)
    assert degrees.s_positive[0] == pytest.approx(2 / 3, abs=1e-15)


@several
@given(any_count, any_count)
def test_preferences_follow_the_papers_cases(positive: float, negative: float) -> None:
    degrees = plausibility_degrees(positive, negative)
    undecided = float(degrees.epistemic + degrees.aleatoric)
    assert degrees.s_positive * degrees.s_negative == 0
    assert degrees.s_positive + degrees.s_negative == pytest.approx(1 - undecided, abs=1e-15)
    assert (degrees.s_positive > 0) == (degrees.pi_positive > degrees.pi_negative)
    assert (degrees.s_negative > 0) == (degrees.pi_positive < degrees.pi_negative)
    if positive == negative:  # the middle case of the definition is then 0 too
        assert undecided == 1
        assert degrees.s_positive == degrees.s_negative == 0
    for degree in vars(degrees).values():
        assert 0 <= degree <= 1


@several
@given(any_count, any_count)
def test_swapping_the_classes_swaps_every_bit(positive: float, negative: float) -> None:
    one, other = plausibility_degrees(positive, negative), plausibility_degrees(negative, positive)
    assert (one.pi_positive, one.pi_negative) == (other.pi_negative, other.pi_positive)
    assert (one.s_positive, one.s_negative) == (other.s_negative, other.s_positive)
    assert (one.epistemic, one.aleatoric) == (other.epistemic, other.aleatoric)


def test_no_samples_are_total_ignorance() -> None:
    degrees = plausibility_degrees(0, 0)
    assert vars(degrees) == {
        "pi_positive": 1,
        "pi_negative": 1,
        "epistemic": 1,
        "aleatoric": 0,
        "s_positive": 0,
        "s_negative": 0,
    }


def test_the_limit_of_no_samples_is_ignorance() -> None:
    degrees = plausibility_degrees([1e-3, 1e-9, 1e-300, 5e-324], 0)
    # u_e is about 1 + n·log(n/2)·(1 + …): 0.994 at a thousandth of a sample.
    assert degrees.epistemic[0] == pytest.approx(oracle.plausibility(0, 1e-3), abs=1e-15)
    assert (np.diff(degrees.epistemic) >= 0).all()
    assert degrees.epistemic[-1] == pytest.approx(1, abs=1e-15)  # to which the root is found


@pytest.mark.parametrize(("many", "few_"), [(1e300, 5e-324), (1e300, 1.0), (1.0, 5e-324), (1e300, 1e280)])
def test_counts_that_no_double_can_add_up_are_still_clear(many: float, few_: float) -> None:
    degrees = plausibility_degrees(few_, many)
    expected = 1 / 3 if many == 1 else 0  # of one sample against: see above
    assert degrees.pi_negative == 1
    assert degrees.pi_positive == pytest.approx(expected, abs=1e-15)


def test_large_counts_are_taken_as_they_are() -> None:
    # Some code divides counts down to a largest one; then u_e would no longer fall with the number of samples.
    n = 10.0 ** np.arange(1, 10)
    for share in (0.5, 0.501, 0.75):
        degrees = plausibility_degrees(share * n, (1 - share) * n)
        assert (np.diff(degrees.epistemic) < 0).all() or share == 0.75  # there it is 0 to the last digit soon
        assert (np.diff(degrees.aleatoric) > 0).all()
    far = plausibility_degrees(7.5e8, 2.5e8)
    assert far.aleatoric == pytest.approx(0.5, abs=1e-3)
    assert far.epistemic == pytest.approx(0, abs=1e-14)


def test_counts_broadcast() -> None:
    degrees = plausibility_degrees(np.arange(4.0)[:, np.newaxis], [0, 2, 5])
    for a in range(4):
        for column, b in enumerate((0, 2, 5)):
            assert degrees.pi_positive[a, column] == plausibility_degrees(a, b).pi_positive
    assert plausibility_degrees([], []).epistemic.shape == (0,)
    assert plausibility_degrees(np.zeros((0, 3)), 1).s_negative.shape == (0, 3)
    assert plausibility_degrees([True, False], [0, 3]).s_positive.tolist() == [pytest.approx(2 / 3, abs=1e-15), 0]


@several
@given(st.lists(st.tuples(any_count, any_count), max_size=12) | st.lists(st.tuples(whole, whole), max_size=200))
def test_distinct_pairs_lead_back_to_all(pairs: list[tuple[float, float]]) -> None:
    a, b = np.array(pairs).reshape(-1, 2).T
    first, second, inverse = distinct_pairs(a, b)
    np.testing.assert_array_equal(first[inverse], a)
    np.testing.assert_array_equal(second[inverse], b)
    assert len(set(zip(first, second, strict=True))) == len(first) == len(set(pairs))


@pytest.mark.parametrize("counts", [[[3.0]], [[1e-20, 1.0]], [[1e17, 1.0, 0.5]], [[0.1, 0.2, 0.3, 0.4, 0.5]]])
def test_the_rest_of_the_classes_keeps_its_digits(counts: Any) -> None:
    expected = [oracle.pair(counts[0], k)[1] for k in range(len(counts[0]))]
    np.testing.assert_allclose(rest(np.array(counts))[0], expected, rtol=1e-15)


@pytest.mark.parametrize(
    ("positive", "negative", "message"),
    [
        ([1, -1], 0, "positive has -1.0, counts must be finite and not negative"),
        (0, [np.nan], "negative has nan, counts must be finite and not negative"),
        (np.inf, 0, "positive has inf, counts must be finite and not negative"),
    ],
)
def test_what_is_no_count_is_refused(positive: Any, negative: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        plausibility_degrees(positive, negative)


# -- the beta-binomial's height in the middle


@few
@given(any_count, any_count)
@example(0.0, 0.0)
@example(5e8 + 4e3, 5e8 - 4e3)  # where c is neither 0 nor 1
@example(50.0, 51.0)
@example(51.0, 50.5)
@example(6.0, 9.0)
@example(25.0, 12.5)
def test_confidence_is_the_height_in_the_middle(positive: float, negative: float) -> None:
    # c has an error of some 1e-13 from logarithms of beta functions of counts below 100, and is multiplied by the
    # distance of the share from ½.
    expected = oracle.confident(positive, negative)
    assert Confidence().decision([[negative, positive]]) == pytest.approx(expected, rel=0, abs=5e-14)


@pytest.mark.parametrize(("own", "others"), [(51, 54), (52, 60), (51.5, 70), (400, 420), (1e6, 1e6 + 900)])
def test_the_height_itself_has_its_digits_where_counts_are_large(own: float, others: float) -> None:
    # The score is c's complement times a share: c follows with its relative error. Logarithms as large as the lead of
    # one class, not as the counts, are rounded: 450 · 2e-16.
    c = 1 - Confidence().decision([[others, own]]) / Probability().decision([[others, own]])
    assert c == pytest.approx(oracle.middle_height(own, others), rel=0, abs=1e-14 if own < 1e3 else 2e-13)


@few
@given(st.integers(0, 20), st.integers(0, 20))
def test_the_heights_of_whole_counts_are_probabilities_with_their_mode_at_the_count(own: int, others: int) -> None:
    heights = oracle.beta_binomial(own, others)
    assert sum(heights) == 1
    assert heights[own] == max(heights)


def test_confidence_is_continuous_in_the_counts() -> None:
    # Whole, odd and even numbers of samples with fractional ones between them: no jump.
    own = np.arange(0, 12, 1e-3)
    scores = Confidence().decision(np.stack([np.full_like(own, 2.5), own], axis=-1)[:, np.newaxis])
    assert np.abs(np.diff(scores)).max() < 1e-3


# -- one more sample for the class


@pytest.mark.parametrize("rule", [Probability(), Probability(correction=1), Plausibility(), Confidence()])
@several
@given(own=any_count, others=any_count, more=st.sampled_from([0.125, 1.0, 40.0]))
def test_one_more_sample_never_lowers_the_score_of_a_leaf(rule: Any, own: float, others: float, more: float) -> None:
    before, after = rule.decision([[[others, own]], [[others, own + more]]])
    # Plausibility is found to 1e-15 and a score is a difference of two. Confidence rises by p' ·(1 − c) and more; its
    # error is 5e-14 at most, see above.
    assert after >= before - (5e-14 if isinstance(rule, Confidence) else 4e-15)


@pytest.mark.parametrize("rule", [Probability(), Probability(correction=1), Plausibility(), Confidence()])
def test_one_more_sample_in_a_large_leaf_raises_the_score(rule: Any) -> None:
    # About the middle of 2·10⁶ samples; the scores differ by 1e-8 and less.
    own = 1e6 + np.arange(-2000, 2001)
    scores = rule.decision(np.stack([np.full_like(own, 1e6), own], axis=-1)[:, np.newaxis])
    assert (np.diff(scores) > 0).all()
