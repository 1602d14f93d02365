"""Dempster's rule and the cautious one: masses set by set, pignistic probabilities, priors."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.rules import Cautious, Dempster, FoldRule, combine_masses, plausibility_degrees
from hedgerow.rules.belief import LEAST_DOUBT
from oracles import rules as oracle
from strategies import leaf_rows, priors

several = settings(max_examples=15, deadline=None)
RULES = [(Dempster, "dempster"), (Cautious, "cautious")]
both_rules = pytest.mark.parametrize(("rule", "how"), RULES)

PROBABILITY = 1e-9  # eight factors of 1e-5 and more that are known to 1e-15, as in test_rules
sides = st.tuples(st.floats(0, 1), st.booleans())


def masses_of(supports: list[tuple[float, bool]], how: Any) -> list[float]:
    plus = [s if positive else 0.0 for s, positive in supports]
    minus = [0.0 if positive else s for s, positive in supports]
    masses = combine_masses(plus, minus, how)
    return [float(m) for m in (masses.empty, masses.positive, masses.negative, masses.both)]


@pytest.mark.parametrize("how", ["dempster", "cautious"])
@several
@given(supports=st.lists(sides, min_size=1, max_size=8))
def test_masses_combine_set_by_set(how: str, supports: list[tuple[float, bool]]) -> None:
    if how == "cautious":  # its decomposition needs some mass on both
        supports = [(min(s, 1 - 1e-9), positive) for s, positive in supports]
    sources = [oracle.leaf_masses(s * positive, s * (not positive), Fraction(0)) for s, positive in supports]
    expected = oracle.combined(sources, oracle.BELIEF[how])
    found = masses_of(supports, how)
    np.testing.assert_allclose(found, [float(expected[a]) for a in oracle.SUBSETS], rtol=0, atol=1e-15)
    assert sum(found) == pytest.approx(1, abs=1e-15)


def test_the_cautious_oracle_is_idempotent_and_commutes() -> None:
    # What Denœux proves of his rule; Dempster's is neither.
    one, other = (oracle.leaf_masses(*s) for s in ((0.3, 0), (0, 0.6)))
    both = oracle.cautious_conjunction(one, other)
    assert oracle.cautious_conjunction(one, one) == one
    assert oracle.cautious_conjunction(other, one) == both == oracle.cautious_conjunction(both, one)


@pytest.mark.parametrize(
    ("supports", "how", "expected"),
    [
        # Two at 0.4 against one at 0.4: Dempster counts, Cautious calls a tie.
        ([(0.4, True), (0.4, True), (0.4, False)], "dempster", [0.256, 0.384, 0.144, 0.216]),
        ([(0.4, True), (0.4, True), (0.4, False)], "cautious", [0.16, 0.24, 0.24, 0.36]),
        # Two at 0.8 against one at 0.98: conflict takes nearly all.
        ([(0.8, True), (0.8, True), (0.98, False)], "dempster", [0.9408, 0.0192, 0.0392, 0.0008]),
        ([(0.8, True), (0.8, True), (0.98, False)], "cautious", [0.784, 0.016, 0.196, 0.004]),
    ],
)
def test_the_papers_examples(supports: list[tuple[float, bool]], how: str, expected: list[float]) -> None:
    np.testing.assert_allclose(masses_of(supports, how), expected, rtol=0, atol=1e-15)


def test_sources_stand_on_the_last_axis_and_broadcast() -> None:
    plus = np.array([[0.4, 0.4, 0.0], [0.0, 0.0, 0.0]])
    masses = combine_masses(plus, [0.0, 0.0, 0.4])
    assert masses.empty.shape == (2,)
    np.testing.assert_allclose(masses.positive, [0.384, 0], atol=1e-15)
    np.testing.assert_allclose(masses.both, [0.216, 0.6], atol=1e-15)
    certain = combine_masses([1.0, 0.0], [0.0, 1.0])
    assert (certain.empty, certain.both) == (1, 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.5], [0.0], "yager"), "how is 'yager', must be 'dempster' or 'cautious'"),
        (([1.5], [0.0]), r"s_positive has 1.5, must be masses in \[0, 1\]"),
        (([0.0], [-0.1]), r"s_negative has -0.1, must be masses in \[0, 1\]"),
        (([0.0], [math.nan]), r"s_negative has nan, must be masses in \[0, 1\]"),
        (([0.1, 0.2], [0.0, 0.3]), "a source has both s_positive and s_negative above 0"),
        (([], []), r"s_positive has shape \(0,\), must have at least one source"),
        ((0.1, 0.0), r"s_positive has shape \(\), must have at least one source"),
    ],
)
def test_what_are_no_masses_is_refused(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        combine_masses(*arguments)


# -- leaves as sources


@both_rules
@several
@given(row=leaf_rows(n_classes=2))
def test_a_rule_combines_the_masses_of_its_leaves(rule: Any, how: Any, row: list[list[float]]) -> None:
    # The same route in our own functions: degrees, masses, pignistic probability.
    negative, positive = np.array(row).T
    degrees = plausibility_degrees(positive, negative)
    s = (np.minimum(s, 1 - LEAST_DOUBT) for s in (degrees.s_positive, degrees.s_negative))
    masses = combine_masses(*s, how)
    assert rule().decision(row) == pytest.approx(masses.positive - masses.negative, abs=1e-14)
    pignistic = (masses.positive + masses.both / 2) / (1 - masses.empty)
    # 1 − m(∅) is as small as A + B and loses digits that the rule, which stays with logarithms, keeps.
    assert rule().proba(row)[1] == pytest.approx(pignistic, abs=1e-14 / (1 - masses.empty))


@both_rules
def test_no_leaf_has_more_than_almost_all_mass_on_a_class(rule: Any, how: str) -> None:
    # A certain leaf still leaves 10⁻⁵ to both: BetP = 1 − 10⁻⁵/2.
    assert rule().proba([[0, 1e9]])[1] == pytest.approx(1 - 0.5e-5, abs=1e-15)
    assert rule().decision([[0, 1e9]]) == pytest.approx(1 - 1e-5, abs=1e-15)
    table = rule().table(np.array([[0.0, 1e9], [1e9, 0.0], [1e300, 0.0], [5.0, 5.0]]), np.array([0.5, 0.5]))
    np.testing.assert_array_equal(table, [[1, LEAST_DOUBT], [LEAST_DOUBT, 1], [LEAST_DOUBT, 1], [1, 1]])
    # Two that contradict each other tie; a third decides Dempster's and not the cautious one.
    assert rule().decision([[0, 1e9], [1e9, 0]]) == 0
    third = rule().proba([[0, 1e9], [1e9, 0], [0, 1e9]])
    assert third[1] == pytest.approx(0.5 if how == "cautious" else 1 / (1 + 1e-5), abs=1e-9)


@both_rules
@several
@given(row=leaf_rows(n_classes=(2, 4), max_trees=5))
def test_a_leaf_without_counts_changes_nothing(rule: Any, how: str, row: list[list[float]]) -> None:
    longer = [*row, [0.0] * len(row[0])]
    np.testing.assert_array_equal(rule().proba(longer), rule().proba(row))
    np.testing.assert_array_equal(rule().decision(longer), rule().decision(row))


@several
@given(row=leaf_rows(max_trees=5))
def test_the_cautious_rule_counts_no_leaf_twice(row: list[list[float]]) -> None:
    np.testing.assert_array_equal(Cautious().proba([*row, *row]), Cautious().proba(row))


@both_rules
@several
@given(row=leaf_rows(n_classes=2))
def test_one_against_the_rest_of_two_classes_is_the_rule_for_two(rule: Any, how: str, row: list[list[float]]) -> None:
    # The computation of many classes by hand: each class of the two against all others, then normalised.
    combine = oracle.BELIEF[how]
    masses = [oracle.combined(oracle.sources_of(row, k), combine) for k in (0, 1)]
    each = [oracle.pignistic(m) for m in masses]
    assert float(sum(each)) == pytest.approx(1, abs=1e-12)  # nothing is left to normalise
    np.testing.assert_allclose(rule().proba(row), [float(p) for p in each], rtol=0, atol=PROBABILITY)
    assert oracle.preference_of(masses[0]) == pytest.approx(-oracle.preference_of(masses[1]), abs=1e-12)


@both_rules
def test_what_orders_rows_still_does_where_the_score_has_underflowed(rule: Any, how: str) -> None:
    # A hundred certain leaves each way and k more: A − B is 0 in doubles, BetP is not ½.
    tables = [[[0, 1e9]] * (100 + k) + [[1e9, 0]] * (100 + 2 - k) for k in range(3)]
    probabilities = [float(rule().proba(row)[1]) for row in tables]
    if how == "cautious":
        assert probabilities == [0.5] * 3
    else:
        assert [float(rule().decision(row)) for row in tables] == [0, 0, 0]
        np.testing.assert_allclose(probabilities, [1e-10, 0.5, 1 - 1e-10], rtol=1e-9)


@both_rules
@several
@given(rows=st.lists(leaf_rows(n_classes=2, max_trees=1), min_size=2, max_size=6))
def test_the_margin_orders_rows_as_the_probabilities_do(rule: Any, how: str, rows: Any) -> None:
    prior, counts = np.array([0.5, 0.5]), np.array(rows)
    linked = rule().leaf_table(counts[:, 0], prior).linked
    margin, p = rule().margin(linked, 1, prior), rule().proba(counts)[:, 1]
    order = np.argsort(margin)
    assert (np.diff(p[order]) >= 0).all()
    np.testing.assert_allclose((1 + margin) / 2, p, rtol=0, atol=1e-15)


# -- a prior as one more source


@both_rules
@several
@given(data=st.data())
def test_a_prior_is_one_more_source(rule: Any, how: str, data: st.DataObject) -> None:
    row = data.draw(leaf_rows(n_classes=(2, 4), max_trees=5))
    prior = data.draw(priors(len(row[0])))
    combine: Callable[..., Any] = oracle.BELIEF[how]
    sources = [[*oracle.sources_of(row, k), oracle.prior_masses(prior[k])] for k in range(len(prior))]
    masses = [oracle.combined(of_class, combine) for of_class in sources]
    expected = oracle.normalised([oracle.pignistic(m) for m in masses])
    for found in (rule(prior="training").proba(row, prior), rule(prior=prior).proba(row)):
        np.testing.assert_allclose(found, expected, rtol=0, atol=PROBABILITY)
    scores = np.array([oracle.preference_of(m) for m in masses])
    for found in (rule(prior="training").decision(row, prior), rule(prior=np.array(prior)).decision(row)):
        np.testing.assert_allclose(found, scores[1] if len(prior) == 2 else scores, rtol=0, atol=1e-12)


@both_rules
@pytest.mark.parametrize("prior", [[0.5, 0.5], [0.9, 0.1], [0.2, 0.5, 0.3], [0.7, 0.1, 0.1, 0.1], [1e-4, 1 - 1e-4]])
def test_a_prior_alone_is_its_own_pignistic_probability(rule: Any, how: str, prior: list[float]) -> None:
    ignorance = np.zeros((3, len(prior)))
    np.testing.assert_allclose(rule(prior=prior).proba(ignorance), prior, rtol=1e-12)
    np.testing.assert_allclose(rule(prior="training").proba(ignorance, prior), prior, rtol=1e-12)
    np.testing.assert_allclose(rule().proba(ignorance, prior), 1 / len(prior), rtol=1e-15)


@both_rules
def test_an_impossible_class_keeps_the_least_doubt(rule: Any, how: str) -> None:
    assert rule(prior=[1, 0]).proba([[0, 0]])[1] == pytest.approx(0.5e-5, rel=1e-9)
    assert rule(prior="training").proba([[3, 0]], [1, 0])[0] >= 1 - 0.5e-5 - 1e-15


def test_rules_with_equal_priors_are_equal() -> None:
    assert Dempster(prior=np.array([0.25, 0.75])) == Dempster(prior=[0.25, 0.75])
    assert len({Cautious(prior=[0.25, 0.75]), Cautious(prior=(0.25, 0.75)), Cautious(prior="training")}) == 2
    assert Dempster(prior=[0.25, 0.75]) != Cautious(prior=[0.25, 0.75])


@both_rules
@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ("uniform", "prior is 'uniform', must be None, 'training' or probabilities"),
        ([0.5, 0.6], r"prior is \[0.5, 0.6\], must be probabilities that add up to 1 \(here 1.1\)"),
        ([1.5, -0.5], r"prior is \[1.5, -0.5\], must be probabilities"),
        ([math.nan, 1], r"prior is \[nan, 1.0\], must be probabilities"),
        ([math.inf, -math.inf], r"prior is \[inf, -inf\], must be probabilities"),
        (0.5, r"prior has shape \(\)"),
        ([[0.5, 0.5]], r"prior has shape \(1, 2\)"),
    ],
)
def test_what_is_no_prior_is_refused_when_the_rule_is_made(rule: Any, how: str, prior: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rule(prior=prior)


@both_rules
def test_a_prior_for_other_classes_is_refused(rule: Any, how: str) -> None:
    own: FoldRule = rule(prior=[0.2, 0.3, 0.5])
    with pytest.raises(ValueError, match=r"prior has shape \(3,\), must have a probability for each of 2 classes"):
        own.proba([[1, 2]])
