"""Boosted soft trees: steps are those of their losses, stages lower them, and held-out rows stop them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tests.measured.test_forests import classes, friedman
from tests.oracles import measured as oracles

from hedgerow import MeasuredBoostingClassifier, MeasuredBoostingRegressor, MeasuredTreeRegressor, checks
from hedgerow.measured import Pinball, SquaredError
from hedgerow.measured.many_trees.losses import LogLoss, weighted_quantile


def boosted(sigma: float = 0.1, **settings: Any) -> MeasuredBoostingRegressor:
    return MeasuredBoostingRegressor(sigma, **{"n_estimators": 10, "min_weight_leaf": 5.0} | settings)


def shares_of_trees(model: Any, X: np.ndarray) -> list[np.ndarray]:
    """Memberships of each tree, as the model's own walk gives them."""
    reached, starts = model._walk.spread(X).toarray(), model.forest_.leaf_start
    return [reached[:, first:last] for first, last in pairwise(starts)]


# --- losses -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_steps_of_the_log_loss_are_newtons_or_shorter(n_classes: int) -> None:
    loss, rng = LogLoss(n_classes), np.random.default_rng(0)
    targets = loss.targets(rng.integers(0, n_classes, size=20).astype(np.int32))
    answers = rng.normal(size=targets.shape)
    steps, curvature = loss.quadratic(targets, answers)
    for row in range(20):
        gradient, hessian = oracles.quadratic_by_differences(loss, targets[row], answers[row])
        bound = np.linalg.eigvalsh(hessian).max()
        used = -gradient[0] / steps[row, 0]
        np.testing.assert_allclose(used * steps[row], -gradient, atol=1e-6)
        assert bound <= used * (1 + 1e-4)
        np.testing.assert_allclose(curvature[row], 4 * used if n_classes == 2 else 2 * used, rtol=1e-4)


def test_steps_of_the_squared_error_are_residuals() -> None:
    steps, curvature = SquaredError().quadratic(np.array([[3.0]]), np.array([[1.0]]))
    assert (steps.item(), curvature.item()) == (2.0, 1.0)


@pytest.mark.parametrize("level", [0.1, 0.5, 0.8])
def test_weighted_quantiles_lower_the_pinball_loss_most(level: float) -> None:
    rng = np.random.default_rng(1)
    values, weight = rng.normal(size=31).round(1), rng.uniform(size=31)
    expected = oracles.pinball_step(np.ones(31), values, weight, level)
    assert weighted_quantile(values, weight, level) == expected
    assert Pinball(level).start(values[:, np.newaxis], weight).item() == expected


@pytest.mark.parametrize("n_classes", [1, 2, 4])
def test_logits_start_at_the_class_frequencies(n_classes: int) -> None:
    loss, codes = LogLoss(n_classes), np.arange(12, dtype=np.int32) % n_classes
    weight = np.linspace(1, 2, 12)
    start = loss.start(loss.targets(codes), weight)
    expected = np.bincount(codes, weights=weight) / weight.sum()
    np.testing.assert_allclose(loss.probabilities(start[np.newaxis])[0], expected)


# --- stages -------------------------------------------------------------------------------------------------


def test_stages_solve_least_squares_for_what_the_ones_before_lack() -> None:
    X, y, *_, sigma = friedman(0, 0.3, n=150)
    model = boosted(sigma, n_estimators=4, learning_rate=0.5, ridge=0.0, max_leaf_nodes=4).fit(X, y)
    answers = np.full(len(y), y.mean())
    for shares in shares_of_trees(model, X):
        step = np.linalg.lstsq(shares, y - answers, rcond=None)[0]
        answers += 0.5 * shares @ step
    # Rows are read in cells while trees grow, and walks move at most a hundredth of a row.
    np.testing.assert_allclose(model.predict(X), answers, atol=0.05 * y.std())


@pytest.mark.parametrize("level", [0.2, 0.5, 0.9])
def test_regions_step_by_the_quantile_of_their_rows(level: float) -> None:
    X, y, *_, sigma = friedman(1, 0.3, n=80)
    weight = np.random.default_rng(0).uniform(0.5, 2, size=80)
    model = boosted(sigma, n_estimators=3, learning_rate=0.5, loss=Pinball(level)).fit(X, y, weight)
    answers = np.full(len(y), oracles.pinball_step(np.ones(80), y, weight, level))
    for shares in shares_of_trees(model, X):
        steps = [oracles.pinball_step(share, y - answers, weight, level) for share in shares.T]
        answers = answers + 0.5 * shares @ steps
    np.testing.assert_allclose(model.predict(X), answers)


def test_stages_end_at_the_prediction_and_lower_the_loss() -> None:
    X, y, new, _, sigma = friedman(2, 0.3, n=120)
    model = boosted(sigma).fit(X, y)
    staged = list(model.staged_predict(new))
    assert len(staged) == model.n_estimators_ == 10
    np.testing.assert_allclose(staged[-1], model.predict(new))
    losses = [((part - y) ** 2).mean() for part in model.staged_predict(X)]
    np.testing.assert_allclose(model.train_losses_[1:], losses)
    np.testing.assert_allclose(model.train_losses_[0], y.var())
    assert (np.diff(model.train_losses_) < 0).all()


def test_held_out_rows_stop_the_fit_and_the_best_stage_is_the_last() -> None:
    X, y, *_, sigma = friedman(3, 0.6, n=200)
    model = boosted(
        sigma, n_estimators=200, learning_rate=0.5, n_iter_no_change=4, validation_fraction=50, random_state=0
    ).fit(X, y)
    best = int(model.validation_losses_.argmin())
    assert model.n_estimators_ == best < 200
    assert len(model.validation_losses_) == best + 5
    assert len(model.train_losses_) == best + 1
    assert boosted(sigma).fit(X, y).validation_losses_.size == 0


def test_quantiles_leave_their_share_of_rows_below() -> None:
    X, y, new, truth, sigma = friedman(4, 0.3)
    later = truth + np.random.default_rng(1).normal(size=len(truth))
    for level in (0.1, 0.5, 0.9):
        model = boosted(sigma, n_estimators=60, loss=Pinball(level), max_leaf_nodes=8, min_weight_leaf=20.0)
        below = (later <= model.fit(X, y).predict(new)).mean()
        # 500 new rows of 400 training rows: a standard error of 0.02 each, and a model that has seen its own rows.
        assert abs(below - level) < 0.1, level


def test_it_is_nearer_to_the_truth_than_one_tree() -> None:
    X, y, new, truth, sigma = friedman(5, 0.45)
    model, tree = MeasuredBoostingRegressor(sigma), MeasuredTreeRegressor(sigma)
    own, other = (np.mean((one.fit(X, y).predict(new) - truth) ** 2) for one in (model, tree))
    assert own < 0.9 * other


def test_absolute_error_is_less_moved_by_outliers() -> None:
    X, y, new, truth, sigma = friedman(6, 0.3)
    wild = y + 60 * (np.random.default_rng(0).random(len(y)) < 0.1)
    robust, mean = (
        np.mean((MeasuredBoostingRegressor(sigma, loss=loss).fit(X, wild).predict(new) - truth) ** 2)
        for loss in ("absolute_error", "squared_error")
    )
    assert robust < 0.5 * mean


# --- classes ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
def test_probabilities_are_those_of_logits_and_stages(n_classes: int) -> None:
    X, y, new, _ = classes(0, n=150)
    labels = np.array(["a", "b", "c"])[np.minimum(y, n_classes - 1)]
    model = MeasuredBoostingClassifier(0.15, n_estimators=15, learning_rate=0.3).fit(X, labels)
    logits = model.decision_function(new)
    shares = model.predict_proba(new)
    scores = np.stack([np.zeros(len(new)), logits], axis=1) if n_classes == 2 else logits
    np.testing.assert_allclose(shares, np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(list(model.staged_predict_proba(new))[-1], shares)
    np.testing.assert_array_equal(list(model.staged_predict(new))[-1], model.predict(new))
    assert (np.diff(model.train_losses_) < 0).all()
    truth = np.searchsorted(model.classes_, labels)
    own = -np.log(model.predict_proba(X)[np.arange(len(X)), truth]).mean()
    np.testing.assert_allclose(model.train_losses_[-1], own)
    np.testing.assert_allclose(model.leaf_counts(new).sum(axis=(1, 2)).shape, len(new))
    np.testing.assert_allclose(model.predict_uncertainty(new).epistemic, 0.0)


def test_class_probabilities_near_the_truth() -> None:
    X, y, new, truth = classes(1)
    shares = MeasuredBoostingClassifier(0.15, n_estimators=30).fit(X, y).predict_proba(new)
    prior = np.bincount(y) / len(y)
    assert np.mean((shares - truth) ** 2) < 0.5 * np.mean((prior - truth) ** 2)


def test_rows_of_every_class_are_held_out() -> None:
    X, y, *_ = classes(2, n=90)
    model = MeasuredBoostingClassifier(0.15, n_estimators=30, n_iter_no_change=3, validation_fraction=0.3)
    model.set_params(random_state=0).fit(X, y)
    assert model.n_estimators_ == max(1, model.validation_losses_.argmin())
    assert model.predict_proba(X).shape == (90, 3)


# --- inputs, and what is said of them -----------------------------------------------------------------------


def test_errors_of_rows_and_cells() -> None:
    X, y, new, _, sigma = friedman(7, 0.3, n=100)
    model = boosted(sigma).fit(X, y)
    cells = np.full(new.shape, sigma)
    by_cell = boosted(0.0).fit(X, y, X_err=np.full(X.shape, sigma))
    np.testing.assert_array_equal(by_cell.predict(new, cells), model.predict(new))
    assert (model.predict(new, 0 * cells) != model.predict(new)).any()
    np.testing.assert_array_equal(list(model.staged_predict(new, cells))[-1], list(model.staged_predict(new))[-1])


def test_errors_of_y_weigh_rows() -> None:
    X, y, new, truth, sigma = friedman(8, 0.3)
    rng = np.random.default_rng(0)
    y_err = np.where(rng.random(len(y)) < 0.5, 1.0, 15.0)
    noisy = y + rng.normal(scale=y_err)
    weighted, plain = (
        np.mean((boosted(sigma, n_estimators=40).fit(X, noisy, y_err=given).predict(new) - truth) ** 2)
        for given in (y_err, None)
    )
    assert weighted < 0.8 * plain


def test_threads_do_not_change_a_bit() -> None:
    X, y, new, _, sigma = friedman(9, 0.3, n=100)
    one, two = (boosted(sigma, n_jobs=n_jobs).fit(X, y).predict(new) for n_jobs in (1, 2))
    assert one.tobytes() == two.tobytes()


def test_what_errors_hide_is_the_spread_over_quantiles_of_their_laws() -> None:
    X, y, *_, sigma = friedman(10, 0.3, n=150)
    X[0, 3] = np.nan
    model = boosted(sigma, n_estimators=5, learning_rate=0.5, max_leaf_nodes=6).fit(X, y)
    found = model.explain(X[1:2])[0]
    assert found.hidden
    sizes = np.full(X.shape[1], sigma)
    for name, size in found.hidden.items():
        j = model.schema_.names.index(name)
        expected = oracles.hidden(model.predict, model.laws_[j], X[1], sizes, j)
        np.testing.assert_allclose(size, expected, rtol=0.02, atol=0.05)  # the truth misses pieces of 1/4000
    text = str(model.explain(X[:1])[0])
    assert "it starts at" in text
    assert "x3 is missing" in text
    assert "exact values would move the answer" in text


def test_explanation_of_a_class() -> None:
    X, y, *_ = classes(3, n=120)
    model = MeasuredBoostingClassifier(0.15, n_estimators=10, learning_rate=0.3).fit(X, y)
    found = model.explain(X[:1])[0]
    assert found.answer == model.predict(X[:1])[0]
    assert "exact values would move the probability" in str(found)
    np.testing.assert_allclose(sum(found.probabilities), 1.0)
    exact = MeasuredBoostingClassifier(n_estimators=3).fit(X, y).explain(X[:1])[0]
    assert exact.doubt == "none from the errors of its values"


def test_every_parameter_changes_something() -> None:
    X, y, *_, sigma = friedman(11, 0.3, n=100)
    X = np.column_stack([X[:, :4], np.arange(100) % 3])
    changes: dict[str, Any] = {
        "sigma": 2 * sigma,
        "error_model": "laplace",
        "prior": "flat",
        "loss": "absolute_error",
        "n_estimators": 1,
        "learning_rate": 0.5,
        "min_weight_leaf": 9.0,
        "max_leaf_nodes": 4,
        "max_features": 1,
        "max_candidates": 3,
        "ridge": 5.0,
        "n_iter_no_change": 1,
        "validation_fraction": 0.4,
        "categorical_features": [4],
    }
    stopped = boosted({0: sigma, 1: sigma}, n_iter_no_change=3, n_estimators=9, learning_rate=0.3)
    checks.check_every_parameter_changes_something(stopped, changes, X, y + 8 * (X[:, 4] == 1))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"loss": "quantile"}, "loss is 'quantile', must be .*Pinball"),
        ({"learning_rate": 0}, r"learning_rate is 0, must be a number in \(0, 1\], for example 0.1"),
        ({"n_iter_no_change": 0}, "n_iter_no_change is 0, must be a whole number of at least 1, or None"),
        ({"n_iter_no_change": 2, "validation_fraction": 20}, "validation_fraction holds out 20 of 20 rows"),
        ({"validation_fraction": 0.0}, "validation_fraction is 0.0, must be"),
    ],
)
def test_bad_settings_are_named(settings: dict[str, Any], message: str) -> None:
    X, y, *_, sigma = friedman(12, 0.3, n=20)
    with pytest.raises(ValueError, match=message):
        boosted(sigma).set_params(**settings).fit(X, y)


def test_verbs_that_a_sum_of_steps_has_not_are_refused_in_one_line() -> None:
    X, y, *_, sigma = friedman(13, 0.3, n=60)
    model = boosted(sigma, n_estimators=2).fit(X, y)
    with pytest.raises(ValueError, match="has no contributions"):
        model.contributions(X[:1])
    with pytest.raises(ValueError, match="no next_question"):
        model.next_question(X[:1])
