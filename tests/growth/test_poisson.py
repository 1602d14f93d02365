"""Poisson bags: the draws of the definition, forests of them, and weights whose sums are exact."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare, poisson
from sklearn.datasets import load_iris

import hedgerow
from effort import examples
from hedgerow import ForestClassifier, ForestRegressor, MeasuredForestClassifier
from hedgerow._core import DrawScheme, draw_bags
from hedgerow.data.targets import read_weights
from hedgerow.growth.poisson import PoissonDraws, rows_digest
from hedgerow.inspection import permutation_importance
from oracles.poisson import count, only_row


@settings(max_examples=examples(11, 40), deadline=None)
@given(
    st.integers(0, 2**32),
    st.integers(0, 3),
    st.integers(0, 2**40),
    st.lists(st.sampled_from((1.0, 0.25, 3.0, 40.0, 2.0**-20)), min_size=1, max_size=8),
    st.sampled_from((0.01, 0.5, 1.0)),
)
def test_counts_are_those_of_the_definition(
    seed: int, tree: int, first: int, weights: list[float], rate: float
) -> None:
    draws = PoissonDraws(seed, 1000, 1000, 1000 / rate)
    found = draws.counts(tree, first, len(weights), np.array(weights))
    assert found.tolist() == [count(seed, tree, first + i, rate * w) for i, w in enumerate(weights)]


def test_counts_follow_the_poisson_law() -> None:
    for mean in (0.1, 1.0, 7.0, 30.0):
        found = PoissonDraws(5, 40_000, 40_000, 40_000 / mean).counts(0, 0, 40_000)
        most = int(poisson.isf(1e-3, mean))
        least = int(poisson.ppf(1e-3, mean))
        inside = np.bincount(np.clip(found, least, most))[least:]
        expected = poisson.pmf(np.arange(least, most + 1), mean)
        expected[0], expected[-1] = poisson.cdf(least, mean), poisson.sf(most - 1, mean)
        assert chisquare(inside, expected * 40_000).pvalue > 1e-3  # the seed is fixed


def test_a_block_of_rows_is_drawn_as_it_would_be_among_all() -> None:
    draws = PoissonDraws(3, 500, 900, 700.5)
    weight = np.random.default_rng(0).random(900)
    whole = draws.counts(4, 0, 900, weight)
    for first, last in ((0, 1), (1, 400), (400, 900)):
        assert (draws.counts(4, first, last - first, weight[first:last]) == whole[first:last]).all()
    some = np.array([899, 3, 3, 500])
    assert (draws.counts_of(4, some, weight[some]) == whole[some]).all()
    assert (draws.counts_of(4, some) == draws.counts(4, 0, 900)[some]).all()


def test_an_empty_bag_gets_one_row() -> None:
    bags = draw_bags(np.ones(3), 1, DrawScheme.poisson, 7, 200, 1).reshape(200, 1)
    drawn = [PoissonDraws(7, 1, 3, 3.0).counts(tree, 0, 3).tolist() for tree in range(200)]
    empty = [tree for tree, counts in enumerate(drawn) if not any(counts)]
    assert 40 < len(empty) < 110  # of probability 1/e
    for tree, counts in enumerate(drawn):
        rows = np.flatnonzero(counts) if any(counts) else [only_row(7, tree, 3)]
        assert np.flatnonzero(np.unpackbits(bags[tree], bitorder="little")).tolist() == list(rows)


@pytest.mark.parametrize("estimator", [ForestClassifier, ForestRegressor])
def test_only_ratios_of_weights_matter_and_rows_of_weight_0_are_not_there(estimator: Any) -> None:
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).random(150)
    weight[::10] = 0
    model = estimator(60, bootstrap="poisson", oob_score=True, random_state=0).fit(X, y, weight)
    kept = weight > 0
    same = estimator(60, bootstrap="poisson", random_state=0).fit(X[kept], y[kept], weight[kept] * 7)
    np.testing.assert_array_equal(model.predict(X), same.predict(X))
    assert model.oob_score_ > 0.8


@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=20), st.randoms(use_true_random=False))
def test_exact_weights_add_up_in_any_order(weights: list[float], random: Any) -> None:
    given_weights = np.array(weights)
    found = read_weights(given_weights, np.zeros((len(weights), 1)), exact=True)
    order = list(range(len(weights)))
    random.shuffle(order)
    assert (read_weights(given_weights[order], np.zeros((len(weights), 1)), exact=True) == found[order]).all()
    assert sum(found.tolist()) == sum(found[order].tolist()) == np.flip(found).sum()
    np.testing.assert_allclose(found, read_weights(given_weights, np.zeros((len(weights), 1))), atol=2.0**-20)


@pytest.mark.parametrize("estimator", [ForestClassifier, ForestRegressor])
def test_any_number_of_threads_gives_the_same_file(estimator: Any, tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    for n_jobs in (1, 3):
        model = estimator(12, bootstrap="poisson", random_state=1, n_jobs=n_jobs).fit(X, y).set_params(n_jobs=None)
        hedgerow.save(model, tmp_path / f"{n_jobs}")
    assert (tmp_path / "1").read_bytes() == (tmp_path / "3").read_bytes()
    assert hedgerow.load(tmp_path / "3").bags_ == model.bags_


def test_bags_are_drawn_again_for_importances() -> None:
    X, y = load_iris(return_X_y=True)
    model = ForestClassifier(20, bootstrap="poisson", random_state=0).fit(X, y)
    importance = permutation_importance(model, X, y, random_state=0)
    assert importance.importances_mean[2:].sum() > importance.importances_mean[:2].sum()
    with pytest.raises(ValueError, match="not what the model was fitted with"):
        permutation_importance(model, X[::-1], y[::-1], random_state=0)


def test_digests_of_blocks_add_up() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3))
    X[rng.random(X.shape) < 0.2] = np.nan
    whole = rows_digest(0, X.T, 50)
    parts = sum(rows_digest(first, X[first:last].T, last - first) for first, last in ((0, 7), (7, 7), (7, 50)))
    assert parts % 2**64 == whole
    assert rows_digest(0, np.where(X == 0.0, -0.0, X).T, 50) == whole
    assert rows_digest(1, X.T, 50) != whole


def test_errors_name_the_parameter() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="bootstrap is 'Poisson', must be True or False, or 'poisson'"):
        ForestClassifier(bootstrap="Poisson").fit(X, y)
    with pytest.raises(ValueError, match="bootstrap is 'poisson', must be True or False"):
        MeasuredForestClassifier(n_estimators=2, bootstrap="poisson").fit(X, y)
