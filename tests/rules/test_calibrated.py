"""Rules completed by held-out rows: tempered evidence, the authors' published variant, and calibrated probabilities."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import examples
from hedgerow.rules import Calibrated, Evidence, Median, Probability, Vote, get
from oracles import rules as oracle
from strategies import leaf_rows, priors

several = settings(max_examples=examples(8, 30), deadline=None)


@several
@given(data=st.data(), temper=st.sampled_from([1e-3, 0.05, 0.5, 1.0]))
def test_tempered_evidence_is_its_formula(data: st.DataObject, temper: float) -> None:
    row = data.draw(leaf_rows(n_classes=(2, 4)))
    prior = data.draw(priors(len(row[0])))
    expected = oracle.tempered(row, prior, temper)
    found = Evidence(toward="prior", temper=temper).proba(row, prior)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-300)


@several
@given(data=st.data())
def test_published_evidence_subtracts_the_prior_itself(data: st.DataObject) -> None:
    row = data.draw(leaf_rows(n_classes=(2, 4)))
    prior = data.draw(priors(len(row[0])))
    found = get("evidence-published").proba(row, prior)
    np.testing.assert_allclose(found, oracle.published_posterior(row, prior), rtol=1e-9, atol=1e-300)


@several
@given(data=st.data(), sharpness=st.sampled_from([0.01, 0.5, 1.0, 3.0]))
def test_calibrated_probabilities_are_their_formula(data: st.DataObject, sharpness: float) -> None:
    row = data.draw(leaf_rows(n_classes=(2, 4)))
    prior = data.draw(priors(len(row[0])))
    plain = Probability().proba(row, prior).tolist()
    odds = [
        math.exp(math.log(q) + sharpness * (math.log((1 - len(plain) * 0.01) * p + 0.01) - math.log(q))) if q else 0.0
        for p, q in zip(plain, prior, strict=True)
    ]
    found = Calibrated(Probability(), sharpness, 0.01).proba(row, prior)
    np.testing.assert_allclose(found, np.array(odds) / math.fsum(odds), rtol=1e-12)


def test_scores_order_rows_as_probabilities_do() -> None:
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 9, size=(200, 5, 2))
    for rule in (Calibrated(Vote(), 2.5, 0.001), Evidence(toward="prior", temper=0.1)):
        prior = [0.3, 0.7]
        scores, shares = rule.decision(counts, prior), rule.proba(counts, prior)[:, 1]
        assert (np.diff(shares[np.argsort(scores, kind="stable")]) >= -1e-12).all()
        assert ((scores > 0) == (shares > 0.5)).all()


def test_the_rule_before_fit_is_known() -> None:
    assert Calibrated(Vote(), 2.0, 0.01).before_fit == Vote()
    assert Evidence(toward="prior", temper=0.2).before_fit == get("tempered")
    assert Vote().before_fit == Vote()
    assert (get("tempered").name, get("evidence-published").name) == ("tempered", "evidence-published")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Evidence(temper=0), "temper is 0, must be a number in"),
        (lambda: Evidence(temper=1.5), "temper is 1.5, must be a number in"),
        (lambda: Evidence(prior_term="none"), "prior_term is 'none', must be 'log' or 'plain'"),
        (lambda: Evidence(prior_term="plain", temper=0.5), "must be 1 with prior_term='plain'"),
        (lambda: Calibrated(Median(), 1.0, 0.01), "must be a rule that folds"),
        (lambda: Calibrated(Vote(), 0.0, 0.01), "sharpness is 0.0, must be a positive number"),
        (lambda: Calibrated(Vote(), 1.0, 0.7), "floor is 0.7"),
        (lambda: get("tempered").proba([[1, 2]]), "has no temper yet"),
    ],
)
def test_numbers_that_make_no_sense_are_refused(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()
