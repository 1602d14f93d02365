"""Evidence accumulation beyond the paper's formula, which test_rules has: other corrections, and trust."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.rules import Evidence, Pool, Probability
from oracles import rules as oracle
from strategies import leaf_rows, priors

several = settings(max_examples=15, deadline=None)


@several
@given(data=st.data())
def test_any_correction_makes_the_posterior_of_exact_fractions(data: st.DataObject) -> None:
    row = data.draw(leaf_rows(n_classes=(2, 5)))
    prior = data.draw(priors(len(row[0])))
    correction = data.draw(st.sampled_from([1e-9, 0.1, 1.0, 50.0]))
    expected = oracle.posterior(row, prior, correction)
    found = Evidence(correction=correction).proba(row, prior)
    np.testing.assert_allclose(found, [float(p) for p in expected], rtol=1e-12)


@several
@given(row=leaf_rows(n_classes=2), prior=priors(2))
def test_the_log_odds_have_the_sign_of_the_papers_difference(row: list[list[float]], prior: list[float]) -> None:
    negative, positive = oracle.posterior(row, prior)
    found = float(Evidence().decision(row, prior))
    if abs(positive - negative) > Fraction(1, 10**12):
        assert (found > 0) == (positive > negative)
    else:
        assert found == pytest.approx(0, abs=1e-11)


@several
@given(data=st.data())
def test_a_leaf_without_counts_leaves_the_posterior_as_it_is(data: st.DataObject) -> None:
    row = data.draw(leaf_rows(n_classes=(2, 5), max_trees=5))
    prior = data.draw(priors(len(row[0])))
    for rule in (Evidence(), Evidence(toward="prior"), Evidence(reliability="epistemic")):
        longer = [*row, [0.0] * len(row[0])]
        # One more logarithm of the prior is added and taken away: a rounding of numbers below 50.
        np.testing.assert_allclose(rule.decision(longer, prior), rule.decision(row, prior), rtol=1e-12, atol=1e-13)


def test_a_leaf_with_the_shares_of_the_prior_says_nothing_when_the_correction_is_toward_it() -> None:
    prior = [0.125, 0.375, 0.5]
    leaf = [1, 3, 4]
    np.testing.assert_allclose(Evidence(toward="prior").proba([leaf] * 9, prior), prior, rtol=1e-12)
    assert abs(Evidence().proba([leaf] * 9, prior)[0] - 0.125) > 0.01  # toward uniform it does


def test_toward_the_prior_is_continuous_where_the_counts_vanish() -> None:
    prior = [0.1, 0.9]
    limit = Evidence(toward="prior").decision([[0, 0]], prior)
    assert limit == pytest.approx(math.log(9), rel=1e-15)
    for n in (1e-3, 1e-6, 1e-9, 1e-300, 5e-324):
        # P(+|w) = 0.18/(n + 0.2) and P(−|w) = (n + 0.02)/(n + 0.2): the log-odds fall by log(1 + 50n).
        found = Evidence(toward="prior").decision([[n, 0]], prior)
        assert found == pytest.approx(limit - math.log1p(50 * n), abs=1e-14)
    # Toward uniform the leaf of nearly nothing says ½, which is much against 0.9: the jump that the docstring names.
    assert Evidence().decision([[1e-300, 0]], prior) == pytest.approx(0, abs=1e-14)


@several
@given(data=st.data())
def test_toward_the_prior_adds_samples_of_the_prior(data: st.DataObject) -> None:
    row = data.draw(leaf_rows(n_classes=(2, 4)))
    prior = data.draw(priors(len(row[0])))
    logs = [math.log(p) for p in prior]
    for leaf in row:
        for k, p in enumerate(oracle.shares(leaf, 0.1, prior)):
            logs[k] += math.log(p / prior[k])
    expected = oracle.normalised([math.exp(log - max(logs)) for log in logs])
    np.testing.assert_allclose(Evidence(toward="prior").proba(row, prior), expected, rtol=1e-11, atol=1e-300)


@several
@given(data=st.data())
def test_trust_weighs_the_logarithms(data: st.DataObject) -> None:
    row = data.draw(leaf_rows(n_classes=(2, 4)))
    prior = data.draw(priors(len(row[0])))
    expected = oracle.trusted_posterior(row, prior)
    np.testing.assert_allclose(Evidence(reliability="epistemic").proba(row, prior), expected, rtol=1e-11, atol=1e-300)


def test_trust_takes_weight_from_small_leaves() -> None:
    small, large = [[0, 1]], [[0, 1000]]
    plain, trusting = Evidence(), Evidence(reliability="epistemic")
    # One sample: u_e = 1/3, so two thirds of log(1.1/0.1). A thousand: u_e is 0 to the last digit.
    assert trusting.decision(small) == pytest.approx(2 / 3 * math.log(11), rel=1e-14)
    assert trusting.decision(large) == pytest.approx(float(plain.decision(large)), rel=1e-12)


@pytest.mark.parametrize("correction", [0, -1, math.nan, math.inf, "0.1", None])
def test_the_correction_must_be_positive(correction: Any) -> None:
    with pytest.raises(ValueError, match=r"Evidence: correction is .*, must be a positive number") as error:
        Evidence(correction=correction)
    assert repr(correction) in str(error.value)


@pytest.mark.parametrize("correction", [-0.5, math.nan, math.inf, "1", None])
def test_a_correction_of_shares_must_not_be_negative(correction: Any) -> None:
    with pytest.raises(ValueError, match=r"Probability: correction is .*, must be a number of at least 0") as error:
        Probability(correction=correction)
    assert repr(correction) in str(error.value)


@pytest.mark.parametrize("rule", [Evidence, Probability])
def test_a_correction_is_toward_something_known(rule: Any) -> None:
    with pytest.raises(ValueError, match=f"{rule.__name__}: toward is 'training', must be 'uniform' or 'prior'"):
        rule(toward="training")


def test_trust_has_one_kind() -> None:
    with pytest.raises(ValueError, match="Evidence: reliability is 'aleatoric', must be None or 'epistemic'"):
        Evidence(reliability="aleatoric")  # type: ignore[arg-type]


def test_laplace_is_a_probability_rule_of_that_name() -> None:
    assert Probability(correction=1).name == "laplace"
    assert Probability(correction=1, toward="prior").name == Probability(correction=2).name == "probability"


def test_pooling_is_one_leaf_of_all_samples() -> None:
    row = [[1.5, 0.0, 3.0], [0.0, 0.0, 0.0], [100.0, 7.0, 0.25]]
    together = np.sum(row, axis=0, keepdims=True)
    np.testing.assert_array_equal(Pool().proba(row), Pool().proba(together))
    np.testing.assert_allclose(Pool().proba(row), Probability().proba(together), rtol=1e-15)
