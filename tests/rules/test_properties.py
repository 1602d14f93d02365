"""What every rule keeps: symmetry, order, ignorance, and probabilities however extreme the counts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from hedgerow import rules
from hedgerow.rules import (
    Cautious,
    Confidence,
    Dempster,
    Evidence,
    InvertedGini,
    Maximum,
    Median,
    Mixture,
    Plausibility,
    Probability,
    Rule,
    Vote,
)
from oracles import rules as oracle
from strategies import leaf_rows, priors

several = settings(max_examples=12, deadline=None)

BEYOND = [
    *(rules.get(name) for name in rules.names(beyond=True)[9:]),
    Median(score=Confidence()),
    Maximum(score=Plausibility()),
    Mixture(score=Vote(), centre="median"),
]
VARIANTS = [
    Probability(correction=0.5, toward="prior"),
    *(Dempster(prior="training"), Cautious(prior="training")),
    *(Evidence(toward="prior"), Evidence(reliability="epistemic")),
    Evidence(toward="prior", reliability="epistemic"),
]
ALL = [*(rules.get(name) for name in rules.names()), *BEYOND, *VARIANTS]
every_rule = pytest.mark.parametrize("rule", ALL, ids=repr)


def random_counts(seed: int, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Small whole counts, large ones and fractions, a third of them 0."""
    rng = np.random.default_rng(seed)
    kinds = [rng.integers(0, 5, shape), rng.integers(0, 300, shape), rng.exponential(2, shape)]
    return np.where(rng.random(shape) < 1 / 3, 0, np.choose(rng.integers(0, 3, (*shape[:-1], 1)), kinds))


# -- classes have no order


@several
@given(row=leaf_rows(n_classes=2), prior=priors(2))
def test_swapping_two_classes_swaps_every_bit(row: list[list[float]], prior: list[float]) -> None:
    counts, other = np.array(row), np.array(row)[:, ::-1]
    for rule in ALL:
        assert rule.decision(counts, prior) == -rule.decision(other, prior[::-1]), rule
        np.testing.assert_array_equal(rule.proba(counts, prior), rule.proba(other, prior[::-1])[::-1], repr(rule))


@every_rule
def test_other_orders_of_many_classes_only_reorder_the_answer(rule: Rule) -> None:
    counts, prior = random_counts(0, (60, 4, 5)), np.array([0.1, 0.2, 0.3, 0.15, 0.25])
    order = [3, 0, 4, 2, 1]
    # Sums of five numbers differ in their last digits; of a belief rule 1 − s ≥ 1e-5 has an error of some 1e-15.
    found = rule.proba(counts[..., order], prior[order])
    np.testing.assert_allclose(found, rule.proba(counts, prior)[:, order], rtol=0, atol=1e-9)
    found = rule.decision(counts[..., order], prior[order])
    np.testing.assert_allclose(found, rule.decision(counts, prior)[:, order], rtol=1e-9, atol=1e-9)


@every_rule
def test_the_trees_have_no_order(rule: Rule) -> None:
    counts, prior = random_counts(1, (60, 5, 3)), [0.2, 0.3, 0.5]
    np.testing.assert_allclose(rule.proba(counts[:, ::-1], prior), rule.proba(counts, prior), rtol=0, atol=1e-13)


@pytest.mark.parametrize("name", ["plausibility", "confidence"])
@several
@given(row=leaf_rows(n_classes=2))
def test_one_against_the_rest_of_two_classes_is_the_rule_for_two(name: str, row: list[list[float]]) -> None:
    values = oracle.averaged(row, oracle.VALUES[name])  # each of both against the rest, normalised
    score = sum(oracle.LEAF_SCORES[name](positive, negative) for negative, positive in row) / len(row)
    expected = (1 + score) / 2 if name == "plausibility" else 0.5 + score
    assert values[1] == pytest.approx(expected, abs=1e-14)
    assert rules.get(name).proba(row)[1] == pytest.approx(expected, abs=1e-13)


@every_rule
@pytest.mark.parametrize("counts", [[[0.0]], [[3.0], [0.0], [1e9]]])
def test_one_class_alone_is_certain(rule: Rule, counts: list[list[float]]) -> None:
    np.testing.assert_array_equal(rule.proba(counts), [1])
    assert rule.decision(counts).shape == (1,)


# -- order


NOT_MONOTONE = {
    # A leaf whose counts are close to those of most trees weighs more: it can gain weight while it is still below them.
    Mixture(centre="maximum"),
    # More samples are also more trusted, and those of a leaf of one to one speak against a likely class.
    *(Evidence(reliability="epistemic"), Evidence(toward="prior", reliability="epistemic")),
}


@pytest.mark.parametrize("rule", [rule for rule in ALL if rule not in NOT_MONOTONE], ids=repr)
@pytest.mark.parametrize("prior", [[0.5, 0.5], [0.2, 0.8]])
def test_one_more_positive_sample_never_lowers_the_score(rule: Rule, prior: list[float]) -> None:
    for n_trees in (1, 2, 4):
        counts = random_counts(n_trees, (200, n_trees, 2))
        more = counts.copy()
        more[:, 0, 1] += 1
        # Errors: 5e-14 of confidence (see test_rule_degrees), less elsewhere; log-odds are below 50.
        assert (rule.decision(more, prior) >= rule.decision(counts, prior) - 1e-13).all()
        assert (rule.proba(more, prior)[:, 1] >= rule.proba(counts, prior)[:, 1] - 1e-13).all()


def test_exceptions_to_that() -> None:
    def changes(rule: Rule, counts: Any, prior: Any = None) -> float:
        more = np.array(counts, dtype=float)
        more[0, 1] += 1
        return float(rule.decision(more, prior) - rule.decision(counts, prior))

    assert changes(Mixture(centre="maximum"), [[4, 4], [2, 0], [4, 4], [4, 4]]) < -1e-4
    assert changes(Evidence(reliability="epistemic"), [[1, 1]], [0.1, 0.9]) < -0.05
    # The first sample of a leaf: P(+|w) = 1.1/1.2 is below a prior of 0.95, and an empty leaf has no say.
    assert changes(Evidence(), [[0, 0]], [0.05, 0.95]) < -0.4
    assert changes(Evidence(toward="prior"), [[0, 0]], [0.05, 0.95]) > 0
    # Of three classes the most committed tree becomes another one.
    rule = Maximum()
    assert rule.proba([[3, 3, 0], [4, 0, 3]])[1] < rule.proba([[3, 2, 0], [4, 0, 3]])[1]


@pytest.mark.parametrize("name", rules.names())
def test_one_more_sample_of_one_of_many_classes_never_lowers_its_probability(name: str) -> None:
    for n_trees in (1, 2, 4):
        counts = random_counts(n_trees, (200, n_trees, 4))
        more = counts.copy()
        more[:, 0, 2] += 1
        found, before = (rules.get(name).proba(each)[:, 2] for each in (more, counts))
        assert (found >= before - 1e-13).all()


# -- ignorance


@every_rule
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("n_trees", [1, 4])
def test_leaves_without_counts_are_total_ignorance(rule: Rule, n_classes: int, n_trees: int) -> None:
    empty = np.zeros((n_trees, n_classes))
    np.testing.assert_allclose(rule.proba(empty), 1 / n_classes, rtol=1e-14)
    if n_classes == 2:
        assert rule.decision(empty) == 0


@every_rule
def test_leaves_without_counts_know_at_most_the_prior(rule: Rule) -> None:
    prior = [0.2, 0.3, 0.5]
    found = rule.proba(np.zeros((4, 3)), prior)
    asks = isinstance(rule, Evidence) or rule in (*VARIANTS[:3],)
    np.testing.assert_allclose(found, prior if asks else [1 / 3] * 3, rtol=1e-12)


# -- many trees


@every_rule
@pytest.mark.parametrize("n_classes", [2, 3])
def test_ten_thousand_trees_still_make_probabilities(rule: Rule, n_classes: int) -> None:
    certain = np.zeros((10_000, n_classes))
    certain[:, 1] = 1e6
    divided = np.zeros((10_000, n_classes))
    divided[::2, 0] = divided[1::2, 1] = 1e6
    mixed = random_counts(7, (10_000, n_classes))
    found = rule.proba([certain, divided, mixed], np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum())
    assert np.isfinite(found).all()
    assert ((found >= 0) & (found <= 1)).all()
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-14)
    assert found[0].argmax() == 1
    assert np.isfinite(rule.decision([certain, divided, mixed])).all()


@pytest.mark.parametrize("name", rules.names())
def test_rows_keep_their_order_among_ten_thousand_trees(name: str) -> None:
    # Row k has k leaves of five to nothing for the positive class, the others are divided three to two each way.
    rule = rules.get(name)
    votes = (0, 2, 4, 50, 5000, 9998, 10_000)
    counts = np.empty((len(votes), 10_000, 2))
    counts[:, ::2], counts[:, 1::2] = [2, 3], [3, 2]
    for row, k in enumerate(votes):
        counts[row, :k] = [0, 5]
    scores, p = rule.decision(counts), rule.proba(counts)[:, 1]
    assert (np.diff(p) >= 0).all()
    assert p[0] == pytest.approx(0.5, abs=1e-9)
    if name == "evidence":
        assert (np.diff(scores) > 0).all()
        np.testing.assert_allclose(np.diff(scores[[0, 1, 4]]), np.log(51) * np.array([2, 4998]), rtol=1e-11)
    elif name == "cautious":  # the strongest leaf is the same
        assert len(set(scores[1:6])) == 1
    elif name != "dempster":
        assert (np.diff(scores) > 0).all()
    else:  # A − B underflows, and later is A: the probabilities still tell small numbers apart
        assert (np.diff(p[:3]) > 0).all()


# -- extremes; a warning of NumPy is an error in this suite


EXTREMES = {
    "huge": [[1e300, 0], [1e300, 1e300]],
    "huge and tiny": [[1e300, 5e-324], [5e-324, 1e300], [1, 1e300]],
    "subnormal": [[5e-324, 0], [5e-324, 5e-324], [1e-310, 1]],
    "small share": [[1e-20, 1], [1, 1e-17]],
    "three": [[1e300, 5e-324, 1], [5e-324, 1e300, 1], [0, 0, 1e-300]],
    "a tree for each class": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
}


@every_rule
@pytest.mark.parametrize("case", EXTREMES)
def test_extreme_counts_and_priors_make_probabilities_and_no_warning(rule: Rule, case: str) -> None:
    counts = np.array(EXTREMES[case])
    others = counts.shape[1] - 1
    for prior in (None, *([rare, *[(1 - rare) / others] * others] for rare in (0.01, 1e-300, 5e-324))):
        found = rule.proba(counts, prior)
        assert ((found >= 0) & (found <= 1)).all()
        assert found.sum() == pytest.approx(1, abs=1e-14)
        assert np.isfinite(rule.decision(counts, prior)).all()


@every_rule
@pytest.mark.parametrize("counts", [[[3.0, 0.0, 1.0], [0.0, 0.0, 0.0]], [[1e300, 0.0, 0.0]], [[0.0, 0.0, 0.0]]])
def test_a_class_without_prior_and_counts_does_no_harm(rule: Rule, counts: list[list[float]]) -> None:
    found = rule.proba(counts, [0.5, 0, 0.5])
    assert ((found >= 0) & (found <= 1)).all()
    assert found.sum() == pytest.approx(1, abs=1e-14)
    assert not np.isnan(rule.decision(counts, [0.5, 0, 0.5])).any()
    if isinstance(rule, Evidence):
        assert found[1] == 0
        # The other two are as if it were not there, but for the correction, which counts it among the classes.
        possible = [[leaf[0], leaf[2]] for leaf in counts]
        if rule == Evidence():
            np.testing.assert_allclose(found[[0, 2]], rule.proba(possible), rtol=1e-13)


def test_a_class_without_prior_has_infinite_odds_against_it() -> None:
    assert Evidence().decision([[3, 0]], [1, 0]) == -np.inf
    np.testing.assert_array_equal(Evidence().proba([[3, 0]], [1, 0]), [1, 0])
    assert Evidence().decision([[3, 0, 1]], [0.5, 0, 0.5])[1] == -np.inf


@several
@given(data=st.data())
def test_probabilities_are_probabilities(data: st.DataObject) -> None:
    row = data.draw(leaf_rows(large=True))
    prior = data.draw(priors(len(row[0])))
    for rule in ALL:
        found = rule.proba(row, prior)
        assert ((found >= 0) & (found <= 1)).all(), rule
        assert found.sum() == pytest.approx(1, abs=1e-14), rule


def test_the_list_of_rules_here_is_complete() -> None:
    assert {type(rule) for rule in ALL} >= {type(rules.get(name)) for name in rules.names(beyond=True)}
    assert InvertedGini() in ALL
