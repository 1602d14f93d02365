"""Forests for measured inputs: nearer to the truth, the same for any number of threads, plain without errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_friedman1

from hedgerow import (
    ForestClassifier,
    ForestRegressor,
    MeasuredForestClassifier,
    MeasuredForestRegressor,
    MeasuredTreeRegressor,
)


def friedman(seed: int, ratio: float, n: int = 400) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, float]:
    """Training rows, and new ones with the truth, measured with an error of `ratio` standard deviations."""
    latent, truth = make_friedman1(n + 500, noise=0.0, random_state=seed)
    rng = np.random.default_rng(seed)
    sigma = ratio * 12**-0.5
    X, y = latent + rng.normal(scale=sigma, size=latent.shape), truth + rng.normal(size=len(truth))
    return X[:n], y[:n], X[n:], truth[n:], sigma


@pytest.mark.parametrize("ratio", [0.3, 0.6])
def test_it_is_nearer_to_the_truth_than_plain_forests_and_measured_trees(ratio: float) -> None:
    X, y, new, truth, sigma = friedman(0, ratio)
    models = [
        MeasuredForestRegressor(sigma, n_estimators=50, random_state=0),
        ForestRegressor(50, random_state=0),
        MeasuredTreeRegressor(sigma),
    ]
    own, *others = (np.mean((model.fit(X, y).predict(new) - truth) ** 2) for model in models)
    assert own < min(others)


def test_threads_do_not_change_a_bit() -> None:
    X, y, new, _, sigma = friedman(1, 0.3, n=100)
    one, two = (
        MeasuredForestRegressor(sigma, n_estimators=25, oob_score=True, n_jobs=n_jobs, random_state=0).fit(X, y)
        for n_jobs in (1, 2)
    )
    assert one.forest_ == two.forest_
    assert one.predict(new).tobytes() == two.predict(new).tobytes()
    assert one.oob_prediction_.tobytes() == two.oob_prediction_.tobytes()


def test_out_of_bag_answers_are_those_of_trees_that_have_not_seen_the_row() -> None:
    X, y, *_, sigma = friedman(2, 0.3, n=60)
    model = MeasuredForestRegressor(sigma, n_estimators=40, oob_score=True, random_state=0).fit(X, y)
    assert 0.3 < model.oob_score_ < model.score(X, y)
    constant = MeasuredForestRegressor(sigma, n_estimators=40, oob_score=True, random_state=0, max_leaf_nodes=2)
    # Trees that are nearly constant answer with the mean of their bags: out of bag, never with the row itself.
    assert constant.fit(X, y).oob_score_ < constant.score(X, y)


def test_a_tree_of_all_rows_without_errors_answers_with_shrunken_means() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    model = MeasuredForestRegressor(
        n_estimators=1, bootstrap=False, max_features=None, max_leaf_nodes=6, ridge=0.0, min_weight_leaf=5
    ).fit(X, y)
    leaves = model.apply(X)[:, 0]
    for leaf in np.unique(leaves):
        np.testing.assert_allclose(model.predict(X[leaves == leaf]), y[leaves == leaf].mean())


def test_values_are_those_of_ridge_least_squares() -> None:
    X, y, *_, sigma = friedman(3, 0.3, n=100)
    model = MeasuredForestRegressor(
        sigma, n_estimators=1, bootstrap=False, max_features=None, max_leaf_nodes=5, ridge=0.0
    ).fit(X, y)
    shares = model._walk.spread(X).toarray()
    expected = np.linalg.lstsq(shares, y, rcond=None)[0]
    # Growth moves at most a hundredth of a row, and so do walks.
    np.testing.assert_allclose(model.predict(X), shares @ expected, atol=0.05 * y.std())


@pytest.mark.parametrize(
    "changed",
    [
        *({"sigma": 0.15}, {"error_model": "laplace"}, {"prior": "flat"}, {"min_weight_leaf": 20.0}, {"ridge": 5.0}),
        *({"max_leaf_nodes": 4}, {"max_features": 1.0}, {"max_candidates": 5}, {"bootstrap": False}),
        *({"max_samples": 0.5}, {"random_state": 1}, {"n_estimators": 3}),
    ],
)
def test_every_parameter_changes_something(changed: dict[str, Any]) -> None:
    X, y, new, *_ = friedman(4, 0.3, n=120)
    model = MeasuredForestRegressor(0.1, n_estimators=2, random_state=0)
    before = model.fit(X, y).predict(new)
    assert (model.set_params(**changed).fit(X, y).predict(new) != before).any()


def test_errors_of_rows_and_cells() -> None:
    X, y, new, _, sigma = friedman(5, 0.3, n=150)
    model = MeasuredForestRegressor(sigma, n_estimators=5, random_state=0).fit(X, y)
    cells = np.full(X.shape, sigma)
    by_cell = MeasuredForestRegressor(n_estimators=5, random_state=0).fit(X, y, X_err=cells)
    assert by_cell.forest_ == model.forest_
    of_new = np.full(new.shape, sigma)
    np.testing.assert_array_equal(by_cell.predict(new, of_new), model.predict(new))
    assert (model.predict(new, 0 * of_new) != model.predict(new)).any()
    rough = np.where(np.arange(len(X))[:, np.newaxis] % 3 == 0, 3 * sigma, sigma) * np.ones(X.shape)
    assert np.isfinite(MeasuredForestRegressor(n_estimators=5).fit(X, y, X_err=rough).predict(new, of_new)).all()


def test_errors_of_y_weigh_rows() -> None:
    X, y, new, truth, sigma = friedman(6, 0.3)
    rng = np.random.default_rng(0)
    y_err = np.where(rng.random(len(y)) < 0.5, 1.0, 15.0)
    noisy = y + rng.normal(scale=y_err)
    model = MeasuredForestRegressor(sigma, n_estimators=20, random_state=0)
    weighted, plain = (np.mean((model.fit(X, noisy, y_err=given).predict(new) - truth) ** 2) for given in (y_err, None))
    assert weighted < 0.8 * plain


def test_uncertainty_adds_up_and_explains() -> None:
    X, y, new, _, sigma = friedman(7, 0.3, n=150)
    model = MeasuredForestRegressor(sigma, n_estimators=10, random_state=0).fit(X, y)
    found = model.predict_uncertainty(new, "variance")
    np.testing.assert_allclose(found.total, found.aleatoric + found.epistemic)
    text = str(model.explain(new[:1])[0])
    assert "the mean of 10 trees" in text


def classes(seed: int, n: int = 300) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Three classes by two of four columns, read with an error; new rows with their true class probabilities."""
    rng = np.random.default_rng(seed)
    latent = rng.uniform(size=(n + 500, 4))
    scores = np.stack([4 * latent[:, 0], 4 * latent[:, 1], np.full(n + 500, 2.0)], axis=1)
    truth = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    labels = (rng.random(n + 500)[:, np.newaxis] > truth.cumsum(axis=1)).sum(axis=1)
    X = latent + rng.normal(scale=0.15, size=latent.shape)
    return X[:n], labels[:n], X[n:], truth[n:]


def test_class_probabilities_are_in_the_simplex_and_nearer_to_the_truth() -> None:
    X, y, new, truth = classes(0)
    soft = MeasuredForestClassifier(0.15, n_estimators=40, random_state=0).fit(X, y)
    plain = ForestClassifier(40, random_state=0).fit(X, y)
    shares = soft.predict_proba(new)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert soft.values_.min() >= 0
    np.testing.assert_allclose(soft.values_.sum(axis=1), 1.0)
    assert ((shares > 0) & (shares < 1)).all(axis=1).mean() > 0.99  # nothing is clipped to 0 or 1
    assert np.mean((shares - truth) ** 2) < 0.8 * np.mean((plain.predict_proba(new) - truth) ** 2)


def test_values_of_classes_solve_least_squares_in_the_simplex() -> None:
    X, y, *_ = classes(1, n=120)
    model = MeasuredForestClassifier(
        0.15, n_estimators=1, bootstrap=False, max_features=None, max_leaf_nodes=4, random_state=0
    ).fit(X, y)
    shares, targets = model._walk.spread(X).toarray(), np.eye(3)[y]
    gradient = shares.T @ (shares @ model.values_ - targets)
    for of_region, value in zip(gradient, model.values_, strict=True):
        # No move to another corner of the simplex lowers the residuals by more than the moved hundredths allow.
        assert of_region @ value - of_region.min() < 0.02 * len(y)


def test_out_of_bag_probabilities() -> None:
    X, y, new, _ = classes(2, n=90)
    one, two = (
        MeasuredForestClassifier(0.15, n_estimators=30, oob_score=True, n_jobs=n_jobs, random_state=0).fit(X, y)
        for n_jobs in (1, 2)
    )
    np.testing.assert_allclose(one.oob_decision_function_.sum(axis=1), 1.0)
    assert 0.4 < one.oob_score_ <= one.score(X, y)
    assert one.predict_proba(new).tobytes() == two.predict_proba(new).tobytes()
    found = one.predict_uncertainty(new)
    np.testing.assert_allclose(found.total, found.aleatoric + found.epistemic)
    assert one.leaf_counts(new[:2]).shape == (2, 30, 3)
