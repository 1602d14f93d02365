"""Quantiles and intervals of measured forests: weighted residuals, targets with errors, and parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.oracles import measured as oracles

import hedgerow
from hedgerow import ConformalRegressor, MeasuredForestRegressor
from hedgerow.measured.residuals import Residuals, mixture_quantiles

Floats = Any


def data(seed: int = 0, n: int = 120) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    latent = rng.uniform(size=(n, 2))
    return latent + rng.normal(scale=0.1, size=(n, 2)), 4 * latent[:, 0] + rng.normal(scale=0.5, size=n)


def forest(**settings: Any) -> MeasuredForestRegressor:
    return MeasuredForestRegressor(0.1, n_estimators=8, random_state=0).set_params(**settings)


def literal_weights(model: Any, X: Floats, rows: Floats, weight: Floats) -> Floats:
    sizes = model.error_sizes_
    sigma, new = (sizes.of_rows(part, model.schema_.names) for part in (X, rows))
    return np.array(
        [
            oracles.residual_weights(model.forest_, model.laws_, row, errors, X, sigma, weight)
            for row, errors in zip(rows, new, strict=True)
        ]
    )


@pytest.mark.filterwarnings("ignore:.* in the bag of every tree")
def test_quantiles_are_those_of_weighted_out_of_bag_residuals(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("soft_trees", "forests", "residual_answers"):
        monkeypatch.setattr(f"hedgerow.estimators.measured.{name}.TOLERANCE", 0.0)
    X, y = data()
    weight = np.random.default_rng(1).integers(1, 4, size=len(y)).astype(float)
    model = forest(oob_score=True, min_weight_leaf=10).fit(X, y, sample_weight=weight)
    residuals = y - model.oob_prediction_
    known = ~np.isnan(residuals)
    weights = literal_weights(model, X[known], X[:4], weight[known])
    levels = [0.9, 0.1, 0.5]
    found = model.predict_quantiles(X[:4], levels)
    for row, answer, of_row in zip(found, model.predict(X[:4]), weights, strict=True):
        expected = [oracles.residual_quantile(residuals[known], of_row, level) for level in levels]
        np.testing.assert_allclose(row, answer + np.array(expected), atol=1e-9)
    np.testing.assert_array_equal(model.predict_interval(X[:4], 0.8), found[:, [1, 0]])


@pytest.mark.filterwarnings("ignore:.* in the bag of every tree")
def test_errors_of_targets_are_taken_out_and_convolved(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("soft_trees", "forests", "residual_answers"):
        monkeypatch.setattr(f"hedgerow.estimators.measured.{name}.TOLERANCE", 0.0)
    X, y = data(1)
    rng = np.random.default_rng(2)
    y_err = rng.uniform(0.1, 0.6, size=len(y))
    model = forest(oob_score=True, min_weight_leaf=10).fit(X, y, y_err=y_err)
    residuals = y - model.oob_prediction_
    known = ~np.isnan(residuals)
    weights = literal_weights(model, X[known], X[:3], np.ones(known.sum()))
    new = rng.uniform(0.2, 1.0, size=3)
    found = model.predict_quantiles(X[:3], [0.05, 0.7], y_err=new)
    for row, answer, of_row, error in zip(found, model.predict(X[:3]), weights, new, strict=True):
        expected = [
            oracles.convolved_quantile(residuals[known], y_err[known], of_row, error, level) for level in (0.05, 0.7)
        ]
        np.testing.assert_allclose(row, answer + np.array(expected), atol=1e-8)


def test_mixtures_of_values_and_normal_laws_have_quantiles() -> None:
    centres, spreads = np.array([[0.0, 1.0, 5.0]]), np.array([[0.0, 0.0, 2.0]])
    weights = np.array([[0.25, 0.25, 0.5]])
    found = mixture_quantiles(centres, spreads, weights, np.array([0.2, 0.3, 0.9, 0.75]))
    low, high = found[0, :2]
    assert low == pytest.approx(0, abs=1e-9)
    assert high == pytest.approx(1, abs=1e-9)
    from scipy.stats import norm

    assert found[0, 2] == pytest.approx(5 + 2 * norm.ppf(0.8))
    assert found[0, 3] == pytest.approx(5.0)


@pytest.mark.parametrize("asks_about", ["observed", "true", "better"])
def test_intervals_hold_targets_as_often_as_they_say(asks_about: str) -> None:
    """Of 400 rows a share of .9 has a standard error of .015; residuals of 300 rows another .02: four of both."""
    rng = np.random.default_rng(3)
    latent = rng.uniform(size=(700, 2))
    X = latent + rng.normal(scale=0.1, size=(700, 2))
    truth = 4 * latent[:, 0] + rng.normal(scale=0.3, size=700)
    errors = rng.uniform(0.2, 1.0, size=700)
    y = truth + errors * rng.normal(size=700)
    model = forest(n_estimators=30).fit(X[:300], y[:300], y_err=errors[:300])
    better = truth + 0.2 * rng.normal(size=700)
    about, y_err = {"observed": (y, None), "true": (truth, 0), "better": (better, 0.2)}[asks_about]
    low, high = model.predict_interval(X[300:], y_err=y_err).T
    inside = (low <= about[300:]) & (about[300:] <= high)
    assert 0.8 < inside.mean() <= 1.0
    assert np.mean(high - low) < (4.2 if asks_about == "observed" else 3.2)


def test_parts_add_up_and_follow_what_is_known() -> None:
    X, y = data(4, 300)
    model = forest(n_estimators=20).fit(X, y, y_err=np.full(len(y), 0.2))
    parts = model.interval_parts(X[:20], 0.8)
    names = ("target", "inputs", "model", "noise")
    squares = sum(getattr(parts, name) ** 2 for name in names)
    np.testing.assert_allclose(squares, parts.total**2)
    np.testing.assert_allclose(parts.target, 0.2)
    np.testing.assert_array_equal(np.stack([parts.lower, parts.upper], axis=1), model.predict_interval(X[:20], 0.8))
    np.testing.assert_allclose(parts.prediction, model.set_params(n_points=None).predict(X[:20]))
    assert list(parts.to_dict()) == ["prediction", "lower", "upper", "total", *names]

    exact = model.interval_parts(X[:20], X_err=np.zeros((20, 2)), y_err=0)
    np.testing.assert_array_equal(exact.target, 0)
    np.testing.assert_allclose(exact.inputs, 0, atol=1e-9)
    rough = model.interval_parts(X[:20], X_err=np.full((20, 2), 0.3), y_err=np.full(20, 3.0))
    assert (rough.inputs >= parts.inputs).mean() > 0.8
    np.testing.assert_allclose(rough.target, 3.0)
    assert (rough.upper - rough.lower > parts.upper - parts.lower).all()


def test_how_far_answers_vary_with_the_inputs_is_near_its_variance_over_draws() -> None:
    X, y = data(5, 300)
    model = forest(n_estimators=20).fit(X, y)
    rows = X[:10]
    drawn = []
    rng = np.random.default_rng(0)
    for law, x in zip(model.laws_, rows.T, strict=True):
        share = law.variance / (law.variance + 0.01)
        drawn.append(law.mean + share * (x - law.mean) + np.sqrt(share) * 0.1 * rng.normal(size=(2000, 10)))
    latent = np.stack(drawn, axis=2).reshape(-1, 2)
    answers = model.predict(latent, X_err=np.zeros_like(latent)).reshape(2000, 10)
    np.testing.assert_allclose(model.interval_parts(rows).inputs, answers.std(axis=0), rtol=0.25)


def test_points_and_threads_do_not_change_intervals() -> None:
    X, y = data(6)
    model = forest().fit(X, y)
    expected = model.predict_interval(X)
    np.testing.assert_array_equal(model.set_params(n_points=3, n_jobs=2).predict_interval(X), expected)
    np.testing.assert_array_equal(model.predict_interval(X[:1]), expected[:1])


def test_conformal_intervals_stand_on_those_of_the_forest() -> None:
    X, y = data(7, 500)
    for score in ("cqr", "normalized"):
        model = ConformalRegressor(forest(), conformity_score=score).fit(X[:300], y[:300])
        low, high = model.predict_interval(X[300:]).T
        assert 0.82 < np.mean((low <= y[300:]) & (y[300:] <= high)) < 0.97


def test_without_bootstrap_there_are_no_residuals() -> None:
    X, y = data(8)
    model = forest(bootstrap=False)
    assert not hasattr(model, "predict_quantiles")
    model.fit(X, y)
    assert model.residuals_ is None
    for verb in ("predict_quantiles", "predict_interval", "interval_parts"):
        with pytest.raises(AttributeError, match=verb):
            getattr(model, verb)


def test_residuals_survive_a_file(tmp_path: Path) -> None:
    X, y = data(9)
    model = forest().fit(X, y, y_err=np.full(len(y), 0.3))
    hedgerow.save(model, tmp_path / "model.hedgerow")
    read = hedgerow.load(tmp_path / "model.hedgerow")
    np.testing.assert_array_equal(
        read.predict_quantiles(X, [0.2, 0.6], y_err=0.5), model.predict_quantiles(X, [0.2, 0.6], y_err=0.5)
    )
    old = hedgerow.load(Path(__file__).parents[1] / "model_files" / "v1_measured_forest_regressor.hedgerow")
    assert not hasattr(old, "predict_interval")


@pytest.mark.parametrize(
    ("y_err", "message"),
    [
        (-1.0, "y_err is -1.0, must be a number of at least 0"),
        (np.ones(3), r"y_err has shape \(3,\), must be \(120,\)"),
        (np.full(120, -2.0), "y_err of row 0 is -2.0"),
        (np.full(120, np.nan), "y_err contains NaN"),
        ("wide", "y_err is 'wide', must hold"),
    ],
)
def test_errors_of_new_targets_are_checked(y_err: Any, message: str) -> None:
    X, y = data(10)
    model = forest().fit(X, y)
    for verb in (model.predict_quantiles, model.predict_interval, model.interval_parts):
        with pytest.raises(ValueError, match=message) as error:
            verb(X, y_err=y_err)
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("q", [-0.1, 1.5, [[0.5]], np.nan])
def test_levels_are_checked(q: Any) -> None:
    X, y = data(10)
    with pytest.raises(ValueError, match="must be one or several numbers in"):
        forest().fit(X, y).predict_quantiles(X, q)


def test_residuals_are_checked() -> None:
    good = Residuals.of(np.array([[0, 2], [1, 2]]), 3, np.array([0.5, -0.5]), np.ones(2), np.zeros(2))
    np.testing.assert_array_equal(good.start, [0, 1, 2, 4])
    fields = {name: getattr(good, name) for name in ("start", "rows", "values", "weight", "y_err")}
    for wrong in (
        {"values": good.values[::-1].copy()},
        {"weight": np.zeros(2)},
        {"y_err": np.array([0.0, -1.0])},
        {"y_err": np.array([0.0, np.inf])},
        {"start": good.start[::-1].copy()},
        {"rows": good.rows + np.int32(2)},
        {"rows": good.rows.astype(np.int64)},
        {"values": good.values[:1]},
    ):
        with pytest.raises(ValueError, match="residuals"):
            Residuals(**fields | wrong)
