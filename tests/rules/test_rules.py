"""Every rule against its oracle, what its probabilities have to do with its scores, and the paper's examples."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow.credal
from hedgerow import rules
from hedgerow.rules import Evidence, Probability
from oracles import rules as oracle
from strategies import leaf_rows, priors

several = settings(max_examples=15, deadline=None)
few = settings(max_examples=6, deadline=None)

NINE = rules.names()
AVERAGES = ("probability", "laplace", "plausibility", "confidence", "vote")
BELIEF = ("dempster", "cautious")

# Averages, pool and evidence add at most eight numbers whose own error is some 1e-15. Of a belief rule 1 − s has an
# error of 1e-15 and is at least 1e-5: eight factors have a relative error of at most 1e-9.
ATOL = dict.fromkeys(NINE, 1e-13) | dict.fromkeys(BELIEF, 1e-9)


def check_scores(name: str, row: list[list[float]], prior: list[float] | None) -> None:
    expected = oracle.score(name, row, prior or [0.5, 0.5])
    assert rules.get(name).decision(row, prior) == pytest.approx(expected, rel=1e-13, abs=ATOL[name])


def check_probabilities(name: str, row: list[list[float]], prior: list[float] | None) -> None:
    n_classes = len(row[0])
    expected = oracle.probabilities(name, row, prior or [1 / n_classes] * n_classes)
    found = rules.get(name).proba(row, prior)
    assert found.shape == (n_classes,)
    np.testing.assert_allclose(found, expected, rtol=0, atol=ATOL[name])
    assert found.sum() == pytest.approx(1, abs=1e-15 * n_classes)
    assert (found >= 0).all()


@pytest.mark.parametrize("name", NINE)
@several
@given(row=leaf_rows(n_classes=2), prior=st.none() | priors(2))
def test_scores_of_two_classes_are_the_papers(name: str, row: list[list[float]], prior: list[float] | None) -> None:
    check_scores(name, row, prior)


@pytest.mark.parametrize("name", NINE)
@several
@given(data=st.data())
def test_probabilities_are_those_of_the_oracle(name: str, data: st.DataObject) -> None:
    row = data.draw(leaf_rows())
    check_probabilities(name, row, data.draw(st.none() | priors(len(row[0]))))


@pytest.mark.parametrize("name", NINE)
@few
@given(row=leaf_rows(n_classes=2, max_trees=5, large=True), prior=st.none() | priors(2))
def test_a_thousand_million_samples_are_no_exception(
    name: str, row: list[list[float]], prior: list[float] | None
) -> None:
    check_scores(name, row, prior)
    check_probabilities(name, row, prior)


@pytest.mark.parametrize("name", NINE)
@several
@given(data=st.data())
def test_scores_of_more_classes_are_one_for_each(name: str, data: st.DataObject) -> None:
    row = data.draw(leaf_rows(n_classes=(3, 6)))
    n_classes = len(row[0])
    prior = data.draw(priors(n_classes))
    if name in BELIEF:
        combine = oracle.BELIEF[name]
        sources = [oracle.combined(oracle.sources_of(row, k), combine) for k in range(n_classes)]
        expected = [oracle.preference_of(masses) for masses in sources]
    elif name == "evidence":
        expected = [oracle.log_of(p) for p in oracle.posterior(row, prior)]
    else:
        expected = oracle.probabilities(name, row, prior)
    np.testing.assert_allclose(rules.get(name).decision(row, prior), expected, rtol=1e-13, atol=ATOL[name])


# -- what a probability is, in terms of the score


@several
@given(row=leaf_rows(n_classes=2), prior=priors(2))
def test_probabilities_of_two_classes_follow_from_the_score(row: list[list[float]], prior: list[float]) -> None:
    for name in NINE:
        rule = rules.get(name)
        score, p = float(rule.decision(row, prior)), float(rule.proba(row, prior)[1])
        if name in ("probability", "laplace", "confidence", "pool"):
            assert p == pytest.approx(score + 0.5, abs=1e-15)
        elif name in ("plausibility", "vote"):
            assert p == pytest.approx((1 + score) / 2, abs=1e-15)
        elif name == "evidence":
            assert math.log(p) - math.log(1 - p) == pytest.approx(score, abs=1e-12 / (p * (1 - p)))
        else:  # the signs agree, and the prior has no say
            assert np.sign(score) == np.sign(rule.margin(*folded(rule, row)))[0]
            assert p == pytest.approx((1 + rule.margin(*folded(rule, row))[0]) / 2, abs=1e-15)


def folded(rule: rules.FoldRule, row: list[list[float]]) -> tuple[np.ndarray, int, np.ndarray]:
    prior = np.full(len(row[0]), 1 / len(row[0]))
    linked = rule.leaf_table(np.array(row), prior).linked
    reduce = {"sum": np.add, "min": np.minimum}[rule.fold[1]].reduce
    return reduce(linked, axis=0)[np.newaxis], len(row), prior


@pytest.mark.parametrize("name", rules.names(beyond=True))
def test_only_evidence_asks_for_the_prior(name: str) -> None:
    counts, prior = np.random.default_rng(4).integers(0, 9, size=(50, 5, 3)), [0.2, 0.5, 0.3]
    rule = rules.get(name)
    assert np.array_equal(rule.proba(counts, prior), rule.proba(counts)) == (name != "evidence")
    assert np.array_equal(rule.decision(counts, prior), rule.decision(counts)) == (name != "evidence")


@pytest.mark.parametrize("name", rules.names(beyond=True))
@pytest.mark.parametrize("n_classes", [1, 2, 3])
def test_rows_stand_for_themselves_in_any_number_of_axes(name: str, n_classes: int) -> None:
    rule = rules.get(name)
    counts = np.random.default_rng(3).integers(0, 6, size=(2, 3, 4, n_classes)).astype(float)
    probabilities, scores = rule.proba(counts), rule.decision(counts)
    assert probabilities.shape == (2, 3, n_classes)
    assert scores.shape == ((2, 3) if n_classes == 2 else (2, 3, n_classes))
    for at in np.ndindex(2, 3):
        np.testing.assert_array_equal(rule.proba(counts[at]), probabilities[at])
        np.testing.assert_array_equal(rule.decision(counts[at]), scores[at])
    assert rule.proba(counts[:0]).shape == (0, 3, n_classes)
    assert rule.decision(counts[:, :0]).shape == (2, 0, *scores.shape[2:])
    np.testing.assert_array_equal(rule.proba(counts.astype(int).tolist()), probabilities)


@pytest.mark.parametrize("name", rules.names(beyond=True))
def test_counts_and_prior_are_left_alone(name: str) -> None:
    counts, prior = np.array([[[3.0, 0.0, 1.0], [0.0, 0.0, 0.0], [0.5, 2.0, 0.0]]]), np.array([0.2, 0.5, 0.3])
    before = counts.copy(), prior.copy()
    rules.get(name).proba(counts, prior)
    rules.get(name).decision(counts, prior)
    np.testing.assert_array_equal(counts, before[0])
    np.testing.assert_array_equal(prior, before[1])


# -- numbers worked out by hand


def test_a_leaf_of_three_to_one() -> None:
    # p_prob = 3/4 − ½, p_lap = 4/6 − ½. Beta-binomial with 4 trials, α = 4 and β = 2: the heights at 2 and 3 are
    # 6·B(6, 4)/B(4, 2) = 6·20/504 = 5/21 and 4·B(7, 3)/B(4, 2) = 4·20/252 = 20/63, their ratio 3/4.
    # Evidence: log(3.1/1.1).
    leaf = [[1, 3]]
    expected = {"probability": 1 / 4, "laplace": 1 / 6, "confidence": 1 / 16, "vote": 1, "pool": 1 / 4}
    for name, score in expected.items():
        assert rules.get(name).decision(leaf) == pytest.approx(score, abs=1e-15)
    assert rules.get("evidence").decision(leaf) == pytest.approx(math.log(3.1 / 1.1), abs=1e-15)


def test_five_suspects() -> None:
    # Witness 1 rules out D and E, witness 2 rules out A and B: averages can't say more than a third for C.
    witnesses = [[1, 1, 1, 0, 0], [0, 0, 1, 1, 1]]
    np.testing.assert_allclose(Probability().proba(witnesses), [1 / 6, 1 / 6, 1 / 3, 1 / 6, 1 / 6], atol=1e-15)
    for correction in (1e-3, 1e-9, 1e-30, 1e-300):
        others = correction / (1 + correction)  # of each against C: (a·(1 + a))/(1 + a)²
        expected = np.array([others, others, 1, others, others]) / (1 + 4 * others)
        np.testing.assert_allclose(Evidence(correction=correction).proba(witnesses), expected, rtol=1e-12)
    assert Evidence(correction=1e-30).proba(witnesses)[2] == 1


def test_clues_that_convince_only_together() -> None:
    # Ten leaves of six to four: the average stays 0.6, the evidence is (6.1/4.1)¹⁰ to 1.
    clues = [[4, 6]] * 10
    assert rules.get("probability").proba(clues)[1] == pytest.approx(0.6, abs=1e-15)
    assert rules.get("evidence").decision(clues) == pytest.approx(10 * math.log(6.1 / 4.1), rel=1e-14)


@pytest.mark.parametrize("toward", ["uniform", "prior"])
@several
@given(data=st.data())
def test_a_correction_adds_samples_of_either_kind(toward: str, data: st.DataObject) -> None:
    row = data.draw(leaf_rows())
    prior = data.draw(priors(len(row[0])))
    correction = data.draw(st.sampled_from([0.0, 0.1, 1.0, 7.5]))
    centre = prior if toward == "prior" else None
    expected = oracle.averaged(row, lambda leaf: oracle.shares(leaf, correction, centre))
    found = Probability(correction=correction, toward=toward).proba(row, prior)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)


def test_rules_that_average_have_a_public_base_of_their_own() -> None:
    assert isinstance(rules.Probability(), rules.Average)
    assert rules.Average.__name__ == "AverageRule" != hedgerow.credal.Average.__name__
