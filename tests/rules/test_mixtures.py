"""Median, maximum, generalised mixtures and inverted-Gini weights, of the scores of any averaging rule."""

from __future__ import annotations

from itertools import pairwise
from statistics import mean, median
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings

from hedgerow.rules import (
    Average,
    Confidence,
    Evidence,
    InvertedGini,
    Maximum,
    Median,
    Mixture,
    Plausibility,
    Pool,
    Probability,
    Vote,
)
from oracles import rules as oracle
from strategies import leaf_rows

several = settings(max_examples=10, deadline=None)

SCORES: list[tuple[Average, str]] = [
    (Probability(), "probability"),
    (Probability(correction=1), "laplace"),
    (Plausibility(), "plausibility"),
    (Confidence(), "confidence"),
    (Vote(), "vote"),
]
CENTRES = {"average": mean, "median": median, "maximum": max}
of_every_score = pytest.mark.parametrize(("score", "name"), SCORES, ids=[name for _, name in SCORES])

# A weight 1 − |x − c|/Σ|x − c| has the error of the values, 1e-14, over the sum of their distances. Values that agree
# to the last digits have any weights, but then it does not matter which.
WEIGHED = 1e-11


def values_of(name: str, row: list[list[float]]) -> list[list[float]]:
    return [oracle.VALUES[name](leaf) for leaf in row]


@of_every_score
@several
@given(row=leaf_rows())
def test_the_median_is_taken_of_each_class(score: Average, name: str, row: list[list[float]]) -> None:
    expected = oracle.middle(values_of(name, row))
    np.testing.assert_allclose(Median(score=score).proba(row), expected, rtol=0, atol=1e-12)


@of_every_score
@pytest.mark.parametrize("centre", CENTRES)
@several
@given(row=leaf_rows(max_trees=5))
def test_values_far_from_the_centre_weigh_less(score: Average, name: str, centre: Any, row: list[list[float]]) -> None:
    values = values_of(name, row)
    assume(not any(0 < max(x) - min(x) < 1e-3 for x in zip(*values, strict=True)))  # see WEIGHED
    expected = oracle.mixture(values, CENTRES[centre])
    np.testing.assert_allclose(Mixture(score=score, centre=centre).proba(row), expected, rtol=0, atol=WEIGHED)


@of_every_score
@several
@given(row=leaf_rows())
def test_the_maximum_is_what_the_most_committed_tree_says(score: Average, name: str, row: list[list[float]]) -> None:
    values = values_of(name, row)
    commitments = sorted({max(one) for one in values})
    assume(all(b - a > 1e-9 for a, b in pairwise(commitments)))  # or which is greater may hang on the last digit
    expected = oracle.most_committed(values)
    np.testing.assert_allclose(Maximum(score=score).proba(row), expected, rtol=0, atol=1e-12)


@several
@given(row=leaf_rows())
def test_pure_leaves_weigh_more_under_the_inverted_gini_index(row: list[list[float]]) -> None:
    np.testing.assert_allclose(InvertedGini().proba(row), oracle.inverted_gini(row), rtol=0, atol=1e-13)


# -- worked out by hand


def test_the_median_of_three_trees() -> None:
    # Shares of the positive class 0.2, 0.5 and 1: their mean would be 0.567.
    row = [[8, 2], [3, 3], [0, 9]]
    assert Median().decision(row) == 0
    assert Median().proba([*row, [1, 3]])[1] == pytest.approx((0.5 + 0.75) / 2, abs=1e-15)


def test_two_trees_that_contradict_each_other_cancel() -> None:
    assert Maximum().decision([[1, 9], [9, 1], [4, 6]]) == 0
    assert Maximum(score=Plausibility()).decision([[1, 9], [9, 1], [4, 6]]) == 0
    assert Maximum().decision([[1, 9], [8, 2]]) == pytest.approx(0.4, abs=1e-15)
    assert Maximum().decision([[2, 8], [9, 1]]) == pytest.approx(-0.4, abs=1e-15)


def test_a_mixture_by_hand() -> None:
    # Shares 0, ½ and 1 about ½: distances ½, 0, ½, weights ¼, ½, ¼. About the greatest: distances 1, ½, 0 of the
    # positive class, weights 1/6, 1/3, 1/2, so 2/3; of the other class 2/3 as well.
    row = [[4, 0], [2, 2], [0, 4]]
    np.testing.assert_allclose(Mixture().proba(row), [0.5, 0.5], atol=1e-15)
    np.testing.assert_allclose(Mixture(centre="maximum").proba(row), [0.5, 0.5], atol=1e-15)
    # Shares 0, 0 and ¾: the average is ¼, distances ¼, ¼, ½, weights 3/8, 3/8, 1/4: 3/16, less than their mean.
    assert Mixture().proba([[4, 0], [4, 0], [1, 3]])[1] == pytest.approx(3 / 16, abs=1e-15)
    # About the median, 0, the tree that differs has no weight.
    assert Mixture(centre="median").proba([[4, 0], [4, 0], [1, 3]])[1] == 0


def test_an_inverted_gini_index_by_hand() -> None:
    # Shares ½ and 1 weigh ½ and 1.
    assert InvertedGini().proba([[3, 3], [0, 1]])[1] == pytest.approx((0.25 + 1) / 1.5, abs=1e-15)


@pytest.mark.parametrize("rule", [Median(), Mixture(centre="median"), Median(score=Vote())])
def test_three_trees_that_name_three_classes_are_ignorant(rule: Any) -> None:
    # Each class has a median of 0: two of three trees give it nothing.
    np.testing.assert_allclose(rule.proba([[1, 0, 0], [0, 1, 0], [0, 0, 1]]), 1 / 3, rtol=1e-15)


@pytest.mark.parametrize("rule", [Median(), Maximum(), *(Mixture(centre=c) for c in CENTRES), InvertedGini()])  # type: ignore[arg-type]
def test_one_tree_is_its_own_mixture(rule: Any) -> None:
    np.testing.assert_allclose(rule.proba([[1, 3, 0]]), [0.25, 0.75, 0], atol=1e-15)
    np.testing.assert_allclose(rule.proba([[1, 3, 0]] * 4), [0.25, 0.75, 0], atol=1e-15)


def test_the_prior_reaches_the_score() -> None:
    toward = Median(score=Probability(correction=1, toward="prior"))
    assert toward.proba([[0, 0]], [0.1, 0.9])[1] == pytest.approx(0.9, abs=1e-15)


@pytest.mark.parametrize("kind", [Median, Maximum, Mixture])
@pytest.mark.parametrize("score", ["plausibility", Pool(), Evidence(), None, Plausibility])
def test_only_averages_have_scores(kind: Any, score: Any) -> None:
    with pytest.raises(ValueError, match=r"score is .*, must be a rule that averages: Probability\(\)") as error:
        kind(score=score)
    assert repr(score) in str(error.value)
    assert str(error.value).startswith(kind.__name__.lower())


def test_a_mixture_has_a_known_centre() -> None:
    with pytest.raises(ValueError, match="Mixture: centre is 'mode', must be 'average', 'median' or 'maximum'"):
        Mixture(centre="mode")  # type: ignore[arg-type]
