"""Trees for measured inputs: what they are given, what they answer, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, cross_validate
from sklearn.pipeline import make_pipeline
from tests.oracles import measured as oracles

from effort import examples
from hedgerow import (
    CautiousClassifier,
    MeasuredTreeClassifier,
    MeasuredTreeRegressor,
    RuleClassifier,
    checks,
    credal,
    measured,
    onnx_export,
    rules,
)
from hedgerow.measured import CostComplexity, Student, Uniform
from hedgerow.measured.least_squares import least_squares_on_simplex


def sample(n: int = 300, seed: int = 0, sigma: float = 0.15) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    latent = rng.uniform(size=(n, 3))
    y = np.floor(3 * latent[:, 0]) + 2 * (latent[:, 1] > 0.4) * (latent[:, 2] > 0.5)
    return latent + rng.normal(0, sigma, size=latent.shape), y + rng.normal(0, 0.1, size=n)


X, Y = sample()
LABELS = np.array(["few", "many", "some"])[np.digitize(Y, [0.7, 2.5])]


# -- what it says


def test_the_answer_is_the_regions_values_in_proportion_to_the_memberships() -> None:
    model = MeasuredTreeRegressor(0.15, max_leaf_nodes=7).fit(X, Y)
    shares = model.membership(X)
    assert model.regions_.shape == (7, 3, 2)
    assert model.values_.shape == (7,)
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(model.predict(X), shares @ model.values_)
    expected = measured.membership(model.regions_, X, "normal", sigma=0.15, prior="normal")
    np.testing.assert_allclose(shares, expected, atol=1e-14)
    assert (model.apply(X) == shares.argmax(axis=1)).all()
    assert model.score(X, Y) == pytest.approx(r2_score(Y, model.predict(X)))


def test_the_forest_has_the_same_regions_and_says_what_is_in_them() -> None:
    model = MeasuredTreeRegressor(0.15, max_leaf_nodes=7).fit(X, Y)
    model.forest_.check()
    np.testing.assert_array_equal(model.forest_.boxes(), model.regions_)
    weight, mean, squares = model.forest_.stats.T
    shares = model.membership(X)
    np.testing.assert_allclose(weight, shares.sum(axis=0))
    np.testing.assert_array_equal(mean, model.values_)
    np.testing.assert_allclose(squares, (shares * (Y[:, None] - model.values_) ** 2).sum(axis=0))
    assert model.forest_.node_stats()[0, 1] == pytest.approx(Y.mean())  # residuals of least squares add up to 0
    assert model.get_n_leaves() == 7
    assert len(model.to_text().splitlines()) > 7
    assert model.feature_importances_.sum() == pytest.approx(1)


def test_it_is_nearer_to_the_truth_than_a_plain_tree() -> None:
    latent = np.random.default_rng(1).uniform(size=(3000, 3))
    truth = np.floor(3 * latent[:, 0]) + 2 * (latent[:, 1] > 0.4) * (latent[:, 2] > 0.5)
    X_new = latent + np.random.default_rng(2).normal(0, 0.15, size=latent.shape)
    hard, soft = (MeasuredTreeRegressor(sigma, max_leaf_nodes=10).fit(X, Y) for sigma in (0, 0.15))
    errors = [np.mean((model.predict(X_new) - truth) ** 2) for model in (hard, soft)]
    assert errors[1] < 0.9 * errors[0]


def test_every_parameter_changes_something() -> None:
    rng = np.random.default_rng(0)
    mixed = np.column_stack([X, rng.integers(0, 6, size=len(X))])
    y = Y + mixed[:, 3] % 3 + rng.normal(size=len(X))
    mixed[rng.random(mixed.shape) < 0.05] = np.nan
    changes = {
        "sigma": 0.3,
        "error_model": "laplace",
        "prior": "flat",
        "risk": "node",
        "max_leaf_nodes": 4,
        "min_weight_leaf": 60.0,
        "max_candidates": 5,
        "nominal": "binary",
        "pruning": CostComplexity(0.05),
        "categorical_features": None,
    }
    checks.check_every_parameter_changes_something(
        MeasuredTreeRegressor(0.15, categorical_features=[3]), changes, mixed, y
    )
    labels = np.digitize(y, [1.0, 3.0])
    checks.check_every_parameter_changes_something(
        MeasuredTreeClassifier(0.15, categorical_features=[3]), changes | {"leaf": "counts"}, mixed, labels
    )


# -- categories, missing values


def mixed_frame(n: int = 240) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    colour = np.array(["red", "green", "blue", "grey"])[rng.integers(0, 4, size=n)]
    width = rng.normal(size=n)
    frame = pd.DataFrame({"width": width + rng.normal(0, 0.3, size=n), "colour": colour})
    return frame, 2.0 * (width > 0) + 3.0 * np.isin(colour, ["red", "blue"])


@pytest.mark.parametrize("nominal", ["subset", "binary"])
def test_nominal_columns_are_exact(nominal: str) -> None:
    frame, y = mixed_frame()
    model = MeasuredTreeRegressor({"width": 0.3}, nominal=nominal, max_leaf_nodes=8).fit(frame, y)
    assert model.region_categories_.keys() == {1}
    inside = model.region_categories_[1]
    assert inside.shape == (8, 4)
    assert (model.regions_[:, 1] == [-np.inf, np.inf]).all()
    shares = model.membership(frame)
    code = np.searchsorted(["blue", "green", "grey", "red"], frame["colour"])
    assert (shares[~inside.T[code]] == 0).all()
    if nominal == "subset":
        assert "colour in {blue, red}" in model.to_text() or "colour in {green, grey}" in model.to_text()
    assert model.score(frame, y) > 0.8


def test_missing_and_unseen_values_follow_the_law_of_the_column() -> None:
    frame, y = mixed_frame()
    model = MeasuredTreeRegressor({"width": 0.3}, max_leaf_nodes=4).fit(frame, y)
    odd = pd.DataFrame({"width": [None, 5.0], "colour": [None, "purple"]})
    shares = model.membership(odd)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    frequencies = frame["colour"].value_counts(normalize=True).reindex(["blue", "green", "grey", "red"]).to_numpy()
    np.testing.assert_allclose(model.laws_[1].shares, frequencies)
    assert model.predict(odd)[0] == pytest.approx(y.mean(), abs=0.15)
    holes = frame.copy()
    holes.iloc[::7, 0] = np.nan
    holes.iloc[::9, 1] = None
    again = MeasuredTreeRegressor({"width": 0.3}, max_leaf_nodes=6).fit(holes, y)
    assert again.score(frame, y) > 0.8


@pytest.mark.parametrize(
    "data",
    [
        (np.full((6, 2), np.nan), np.arange(6.0)),
        (np.ones((6, 2)), np.arange(6.0)),
        (np.array([[1.0, 2.0]]), np.array([3.0])),
        (np.arange(12.0).reshape(6, 2), np.full(6, 2.0)),
        (np.array([[0.0], [0], [1], [1]]), np.array([0.0, 0, 1, 1])),
    ],
    ids=["all missing", "constant", "one row", "constant target", "ties"],
)
@pytest.mark.parametrize("kind", ["normal", "flat", "kde"])
@pytest.mark.filterwarnings("ignore:column .* has a variance of")
def test_odd_data_is_fitted(data: Any, kind: str) -> None:
    values, y = data
    for sigma in (0.0, 0.3):
        for given_settings in ({}, {"risk": "node"}, {"max_leaf_nodes": None}, {"pruning": "cost_complexity"}):
            model = MeasuredTreeRegressor(sigma, prior=kind, **given_settings).fit(values, y)
            model.forest_.check()
            assert np.isfinite(model.predict(values)).all()
            labels = (y > y.mean()).astype(int)
            classifier = MeasuredTreeClassifier(sigma, prior=kind, **given_settings).fit(values, labels)
            np.testing.assert_allclose(classifier.predict_proba(values).sum(axis=1), 1)


# -- errors of rows and columns


def test_errors_of_cells_columns_and_rows_are_three_ways_to_say_the_same() -> None:
    sigma = np.array([0.1, 0.2, 0.0])
    per_column = MeasuredTreeRegressor(sigma).fit(X, Y)
    per_cell = MeasuredTreeRegressor().fit(X, Y, X_err=np.tile(sigma, (len(X), 1)))
    named = MeasuredTreeRegressor({"x0": 0.1, 1: 0.2}).fit(X, Y)
    np.testing.assert_array_equal(per_cell.regions_, per_column.regions_)
    np.testing.assert_array_equal(named.regions_, per_column.regions_)
    np.testing.assert_allclose(per_cell.predict(X, X_err=np.tile(sigma, (len(X), 1))), per_column.predict(X))
    assert (per_column.error_source_, per_cell.error_source_) == ("sigma", "X_err")
    np.testing.assert_allclose(per_cell.sigma_, sigma)


def test_a_column_may_hold_the_errors_of_another() -> None:
    rng = np.random.default_rng(0)
    errors = rng.uniform(0.05, 0.3, size=len(X))
    frame = pd.DataFrame({"a": X[:, 0], "a_err": errors, "b": X[:, 1]})
    model = MeasuredTreeRegressor({"a": "a_err"}).fit(frame, Y)
    assert (model.regions_[:, 1] == [-np.inf, np.inf]).all(), "it is no feature"
    assert model.n_features_in_ == 3
    cells = np.column_stack([errors, np.zeros((len(X), 2))])
    np.testing.assert_allclose(model.membership(frame), model.membership(frame, X_err=cells))
    expected = MeasuredTreeRegressor().fit(frame[["a", "b"]], Y, X_err=cells[:, [0, 2]])
    np.testing.assert_array_equal(model.regions_[:, [0, 2]], expected.regions_)
    small, large = (frame.assign(a_err=size) for size in (0.01, 1.0))
    assert model.predict(small).std() > model.predict(large).std()


def test_errors_that_come_later_or_not_at_all() -> None:
    cells = np.full_like(X, 0.15)
    exact = MeasuredTreeRegressor().fit(X, Y)
    # Fitted on exact rows, asked about rows that are not: allowed.
    assert not np.array_equal(exact.predict(X, X_err=cells), exact.predict(X))
    np.testing.assert_array_equal(exact.predict(X, X_err=np.zeros_like(X)), exact.predict(X))
    rough = MeasuredTreeRegressor().fit(X, Y, X_err=cells)
    with pytest.warns(UserWarning, match=r"fit was given X_err, and this call is not.*root mean square \(sigma_\)"):
        guessed = rough.predict(X)
    np.testing.assert_allclose(guessed, rough.predict(X, X_err=cells))


def test_frames_of_errors_and_missing_cells() -> None:
    cells = np.random.default_rng(0).uniform(0.05, 0.2, size=X.shape)
    holes = X.copy()
    holes[::5, 1] = np.nan
    cells[::5, 1] = np.nan  # a missing value needs no error
    names = ["a", "b", "c"]
    expected = MeasuredTreeRegressor().fit(holes, Y, X_err=cells)
    for library in (pd.DataFrame, pl.DataFrame):
        data = {name: holes[:, j] for j, name in enumerate(names)}
        errors = {name: cells[:, j] for j, name in enumerate(names)}
        model = MeasuredTreeRegressor().fit(library(data), Y, X_err=library(errors))
        np.testing.assert_array_equal(model.values_, expected.values_)


def test_laws_differ_by_column() -> None:
    models = {"x0": "uniform", 1: Student(3)}
    model = MeasuredTreeRegressor(0.15, models, prior="flat").fit(X, Y)
    assert [type(law.error).__name__ for law in model.laws_] == ["Uniform", "Student", "Normal"]
    assert MeasuredTreeRegressor(0.15, Uniform()).fit(X, Y).laws_[2].error == Uniform()


def test_errors_of_y_weigh_least_squares() -> None:
    rng = np.random.default_rng(0)
    noisy = rng.random(len(X)) < 0.5
    y = Y + np.where(noisy, rng.normal(0, 20, size=len(X)), 0.0)
    y_err = np.where(noisy, 20.0, 0.1)
    weighted = MeasuredTreeRegressor(0.15, max_leaf_nodes=6).fit(X, y, y_err=y_err)
    alone = MeasuredTreeRegressor(0.15, max_leaf_nodes=6).fit(X, y)
    X_new, y_new = sample(seed=3)
    assert weighted.score(X_new, y_new) > 0.6 > alone.score(X_new, y_new)
    same = MeasuredTreeRegressor(0.15, max_leaf_nodes=6).fit(X, Y, y_err=np.full(len(X), 7.0))
    np.testing.assert_allclose(same.predict(X), MeasuredTreeRegressor(0.15, max_leaf_nodes=6).fit(X, Y).predict(X))


def test_only_ratios_of_weights_matter() -> None:
    shares = MeasuredTreeRegressor(0.1).fit(X, Y, sample_weight=np.full(len(X), 1 / len(X)))
    assert shares.get_n_leaves() > 1
    np.testing.assert_allclose(shares.predict(X), MeasuredTreeRegressor(0.1).fit(X, Y).predict(X))


# -- classes


def test_probabilities_are_least_squares_in_the_simplex_or_soft_frequencies() -> None:
    model = MeasuredTreeClassifier(0.15, max_leaf_nodes=8).fit(X, LABELS)
    shares = model.membership(X)
    indicators = (LABELS[:, np.newaxis] == model.classes_).astype(float)
    expected = oracles.simplex_risk(shares, indicators)
    assert ((indicators - shares @ model.values_) ** 2).sum() == pytest.approx(expected, rel=1e-6)
    assert model.values_.min() >= 0
    np.testing.assert_allclose(model.values_.sum(axis=1), 1.0)
    np.testing.assert_allclose(model.predict_proba(X), shares @ model.values_)
    counts = shares.T @ (LABELS[:, np.newaxis] == model.classes_)
    np.testing.assert_allclose(model.forest_.counts, counts, atol=1e-6)
    np.testing.assert_allclose(model.leaf_counts(X)[:, 0], shares @ counts, atol=1e-5)
    model.set_params(leaf="counts")
    expected = shares @ (counts / counts.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(model.predict_proba(X), expected, atol=1e-6)
    assert model.score(X, LABELS) == (model.predict(X) == LABELS).mean() > 0.7
    assert (model.predict_uncertainty(X).total >= 0).all()


def test_values_of_older_models_that_are_no_probabilities_are_clipped() -> None:
    model = MeasuredTreeClassifier(0.15, max_leaf_nodes=8).fit(X, LABELS)
    shares = model.membership(X)
    indicators = (LABELS[:, np.newaxis] == model.classes_).astype(float)
    model.values_ = np.linalg.lstsq(shares, indicators, rcond=None)[0]
    assert model.values_.min() < 0
    clipped = np.clip(shares @ model.values_, 0, 1)
    np.testing.assert_allclose(model.predict_proba(X), clipped / clipped.sum(axis=1, keepdims=True))


@settings(max_examples=examples(8, 25), deadline=None)
@given(seed=st.integers(0, 1000), n_classes=st.integers(1, 4), n_regions=st.integers(1, 6))
def test_least_squares_in_the_simplex_is_the_least_that_a_solver_finds(
    seed: int, n_classes: int, n_regions: int
) -> None:
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(n_regions, 0.5), size=30)
    targets = np.eye(n_classes)[rng.integers(0, n_classes, size=30)]
    weight = rng.uniform(0.5, 2.0, size=30)
    found = least_squares_on_simplex(shares, targets, weight)
    assert found.min() >= 0
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    own = (weight[:, np.newaxis] * (targets - shares @ found) ** 2).sum()
    assert own <= oracles.simplex_risk(shares, targets, weight) * (1 + 1e-6) + 1e-9


@pytest.mark.parametrize("rule", rules.names())
def test_every_rule_works_on_soft_counts(rule: str) -> None:
    y = (Y > 1.5).astype(int)
    model = MeasuredTreeClassifier(0.15, leaf="counts", max_leaf_nodes=8).fit(X, y)
    wrapped = RuleClassifier.from_fitted(model, rule)
    probabilities = wrapped.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_allclose(wrapped.leaf_counts(X), model.leaf_counts(X))
    np.testing.assert_array_equal(wrapped.apply(X)[:, 0], model.apply(X))
    if rule == "probability":
        np.testing.assert_allclose(probabilities, model.predict_proba(X))
        entropy = wrapped.predict_uncertainty(X, "leaf_entropy")
        np.testing.assert_allclose(entropy.total, model.predict_uncertainty(X).total, atol=1e-12)
        assert wrapped.predict_uncertainty(X, "plausibility").total.shape == (len(X),)


@pytest.mark.filterwarnings("ignore:the trees have no distribution in common")
@pytest.mark.parametrize("aggregate", credal.names())
def test_cautious_sets_work_on_soft_counts(aggregate: str) -> None:
    model = MeasuredTreeClassifier(0.15, leaf="counts", max_leaf_nodes=8).fit(X, LABELS)
    wrapped = CautiousClassifier(FrozenEstimator(model), s=5, aggregate=aggregate).fit(X, LABELS)
    sets, bounds = wrapped.predict_set(X), wrapped.predict_bounds(X)
    assert sets.any(axis=1).all()
    assert (bounds[..., 0] <= bounds[..., 1] + 1e-12).all()
    if aggregate == "average":
        table = credal.get(aggregate).leaf_table(model.forest_.counts, 5).values
        expected = credal.get(aggregate).bounds(model.membership(X) @ table, 1)
        np.testing.assert_allclose(bounds, expected, atol=1e-12)
    # A row near a border is in several regions, and less is known about it.
    fitted = CautiousClassifier(MeasuredTreeClassifier(0.15, leaf="counts"), s=5, aggregate=aggregate).fit(X, LABELS)
    assert fitted.predict_set(X).shape == sets.shape


# -- metadata routing


def test_errors_are_routed() -> None:
    cells = np.random.default_rng(0).uniform(0.05, 0.25, size=X.shape)
    with sklearn.config_context(enable_metadata_routing=True):
        model = MeasuredTreeRegressor(max_leaf_nodes=5)
        model.set_fit_request(X_err=True, y_err=True).set_predict_request(X_err=True).set_score_request(X_err=True)
        given = {"X_err": cells, "y_err": np.ones(len(X))}
        scores = cross_validate(model, X, Y, params=given, cv=3)["test_score"]
        for i, (train, test) in enumerate(KFold(3).split(X)):
            fitted = clone(model).fit(X[train], Y[train], X_err=cells[train])
            assert scores[i] == pytest.approx(fitted.score(X[test], Y[test], X_err=cells[test]))
        pipe = make_pipeline(model).fit(X, Y, X_err=cells, y_err=np.ones(len(X)))
        np.testing.assert_array_equal(pipe.predict(X, X_err=cells), pipe[-1].predict(X, X_err=cells))


# -- what is refused


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"sigma": -0.1}, "sigma is -0.1, must be a standard deviation"),
        ({"sigma": np.nan}, "sigma is nan, must be a standard deviation"),
        ({"sigma": np.inf}, "sigma is inf"),
        ({"sigma": [0.1, 0.1]}, "sigma has 2 numbers, X has 3 columns"),
        ({"sigma": [0.1, -0.1, 0]}, "sigma of column 'x1' is -0.1"),
        ({"sigma": "0.1"}, "sigma is '0.1', must be a number, a number for each column, a mapping from columns"),
        ({"sigma": None}, "sigma is None, must be a number"),
        ({"sigma": {"width": 0.1}}, "sigma names 'width', which is not a column of X: these are 'x0', 'x1', 'x2'"),
        ({"sigma": {3: 0.1}}, "sigma names 3, which is not a column"),
        ({"sigma": {"x0": -1}}, "sigma of column 'x0' is -1"),
        ({"sigma": {"x0": "x0"}}, "error of column 'x0' stands in 'x0', which must be another column"),
        ({"sigma": {"x0": "x9"}}, "sigma names 'x9', which is not a column"),
        ({"sigma": {"x0": "x1", "x1": "x2"}}, "holds the error of a column that holds errors"),
        ({"sigma": {"x0": "x1"}}, "column 'x1', the error of 'x0' is -0.* in row"),
        (
            {"error_model": "cauchy"},
            "error_model is 'cauchy', must be one of 'normal', 'uniform', 'laplace', 'student'",
        ),
        ({"error_model": {"x0": "gauss"}}, "error_model is 'gauss'"),
        ({"prior": "gamma"}, "prior is 'gamma', must be one of 'normal', 'flat', 'kde'"),
        ({"risk": "local"}, "risk is 'local', must be one of 'global', 'node'"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes is 1, must be a whole number of at least 2, or None"),
        ({"max_leaf_nodes": 2.5}, "max_leaf_nodes is 2.5"),
        ({"min_weight_leaf": 0}, "min_weight_leaf is 0, must be a positive number"),
        ({"max_candidates": 0}, "max_candidates is 0"),
        ({"nominal": "multiway"}, "nominal is 'multiway', must be one of 'subset', 'binary'"),
        ({"pruning": "pessimistic"}, "pruning is 'pessimistic', must be one of 'cost_complexity'"),
    ],
)
@pytest.mark.parametrize("estimator", [MeasuredTreeRegressor, MeasuredTreeClassifier])
def test_settings_that_make_no_sense_are_refused(estimator: Any, settings: dict[str, Any], message: str) -> None:
    rows = X.copy()
    rows[5, 1] = -0.5
    with pytest.raises(ValueError, match=message):
        estimator(**settings).fit(rows, np.arange(len(X)) % 2)


@pytest.mark.parametrize(
    ("X_err", "message"),
    [
        (np.full(X.shape, -0.1), "X_err of column 'x0' is -0.1 in row 0, must be a standard deviation"),
        (np.full(X.shape, np.nan), "X_err of column 'x0' is nan in row 0"),
        (np.full(X.shape, np.inf), "X_err of column 'x0' is inf in row 0"),
        (np.zeros((len(X), 2)), r"X_err has shape \(300, 2\), X has \(300, 3\)"),
        (np.zeros(len(X)), r"X_err has shape \(300,\)"),
        (0.1, r"X_err has shape \(\)"),
        ([["a"] * 3] * len(X), "X_err must hold numbers"),
    ],
)
def test_errors_of_cells_that_make_no_sense_are_refused(X_err: Any, message: str) -> None:
    fitted = MeasuredTreeRegressor().fit(X, Y)
    with pytest.raises(ValueError, match=message):
        MeasuredTreeRegressor().fit(X, Y, X_err=X_err)
    with pytest.raises(ValueError, match=message):
        fitted.predict(X, X_err=X_err)


def test_errors_of_other_columns_are_refused() -> None:
    frame, y = mixed_frame()
    with pytest.raises(ValueError, match="sigma gives column 'colour' an error, but it is nominal"):
        MeasuredTreeRegressor({"colour": 0.1}).fit(frame, y)
    cells = np.zeros((len(frame), 2))
    cells[3, 1] = 0.2
    with pytest.raises(ValueError, match="X_err gives column 'colour' an error, but it is nominal"):
        MeasuredTreeRegressor().fit(frame, y, X_err=cells)
    renamed = pd.DataFrame(np.zeros((len(frame), 2)), columns=["width", "color"])
    with pytest.raises(ValueError, match=r"X_err has columns \['width', 'color'\], X has \['width', 'colour'\]"):
        MeasuredTreeRegressor().fit(frame, y, X_err=renamed)
    assert MeasuredTreeRegressor(0.2).fit(frame, y).sigma_.tolist() == [0.2, 0.0], "one sigma is for numbers alone"


@pytest.mark.parametrize(
    ("y_err", "message"),
    [
        (np.zeros(300), "y_err of row 0 is 0.0, must be above 0"),
        (np.full(300, -1.0), "y_err of row 0 is -1.0"),
        (np.ones(299), r"y_err has shape \(299,\), must be \(300,\)"),
        (np.full(300, np.nan), "y_err contains NaN"),
    ],
)
def test_errors_of_y_that_make_no_sense_are_refused(y_err: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MeasuredTreeRegressor().fit(X, Y, y_err=y_err)


def test_an_unknown_kind_of_leaf_is_refused() -> None:
    with pytest.raises(ValueError, match="leaf is 'mean', must be 'least_squares' or 'counts'"):
        MeasuredTreeClassifier(leaf="mean").fit(X, LABELS)


def test_onnx_has_no_soft_regions() -> None:
    for model in (
        MeasuredTreeRegressor().fit(X, Y),
        RuleClassifier.from_fitted(MeasuredTreeClassifier().fit(X, LABELS), "probability"),
    ):
        with pytest.raises(ValueError, match="several regions at once, which ONNX's trees can't say"):
            onnx_export.to_onnx(model)
