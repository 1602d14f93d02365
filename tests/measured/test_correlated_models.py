"""Trees, forests and boosting for errors that are correlated between the columns of a row."""

from __future__ import annotations

import pickle
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hedgerow
from hedgerow import (
    MeasuredBoostingClassifier,
    MeasuredBoostingRegressor,
    MeasuredForestClassifier,
    MeasuredForestRegressor,
    MeasuredTreeClassifier,
    MeasuredTreeRegressor,
    RuleClassifier,
)
from hedgerow.measured import Laplace
from hedgerow.measured.errors.correlations import all_pairs, closed_pairs, covariance_of_cells
from hedgerow.measured.errors.error_model import Normal
from hedgerow.measured.laws.boxes import box_probabilities, correlated_posterior
from hedgerow.measured.laws.column_laws import FlatLaw, NormalLaw
from hedgerow.measured.laws.joint_law import JointLaw, factor_points
from hedgerow.measured.regions import Regions, joint_membership
from hedgerow.walk import LeafTable

Floats = Any

COVARIANCE = np.array([[0.36, 0.3, 0.0], [0.3, 0.36, 0.0], [0.0, 0.0, 0.04]])
SMALL = {"n_estimators": 8, "random_state": 0}
MODELS = [
    MeasuredTreeRegressor(COVARIANCE),
    MeasuredForestRegressor(COVARIANCE, **SMALL),
    MeasuredBoostingRegressor(COVARIANCE, **SMALL),
    MeasuredTreeClassifier(COVARIANCE),
    MeasuredForestClassifier(COVARIANCE, **SMALL),
    MeasuredBoostingClassifier(COVARIANCE, **SMALL),
]
NAMES = [type(model).__name__ for model in MODELS]


def drawn(n: int = 150, seed: int = 0) -> tuple[Floats, Floats, Floats]:
    """Rows, whether the first latent value is above the second, and the latent values."""
    rng = np.random.default_rng(seed)
    latent = rng.normal(size=(n, 3))
    return latent + rng.multivariate_normal(np.zeros(3), COVARIANCE, size=n), latent[:, 0] > latent[:, 1], latent


def fitted(model: Any, **changes: Any) -> tuple[Any, Floats]:
    X, above, _ = drawn()
    y = np.where(above, "up", "down") if "Classifier" in type(model).__name__ else 2.0 * above
    return unfitted(model).set_params(**changes).fit(X, y), X


def unfitted(model: Any) -> Any:
    return type(model)(**model.get_params())


def answer(model: Any, X: Floats, **arguments: Any) -> Floats:
    return model.predict_proba(X, **arguments) if hasattr(model, "classes_") else model.predict(X, **arguments)


# --- The law ---------------------------------------------------------------------------------------------------


def law_of(prior: str, d: int) -> JointLaw:
    if prior == "flat":
        one = FlatLaw(Normal(), np.array([0.0]), np.array([1.0]))
        return JointLaw((one,) * d, all_pairs(d))
    return JointLaw(tuple(NormalLaw(Normal(), 0.1 * j, 1.0 + j) for j in range(d)), all_pairs(d))


def cells_of(covariance: Floats, n: int) -> Floats:
    sigma = np.sqrt(np.diag(covariance))
    pairs = all_pairs(len(sigma))
    return np.tile(np.concatenate([sigma, (covariance / np.outer(sigma, sigma))[tuple(pairs.T)]]), (n, 1))


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), d=st.integers(2, 3), prior=st.sampled_from(["flat", "normal"]))
def test_a_mixture_has_the_moments_of_the_posterior(seed: int, d: int, prior: str) -> None:
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(d, d))
    covariance = factor @ factor.T + 0.05 * np.eye(d)
    joint, x, n_parts = law_of(prior, d), rng.normal(size=(3, d)), 512
    mean = np.array([0.1 * j for j in range(d)])
    variance = np.full(d, np.inf) if prior == "flat" else 1.0 + np.arange(d)
    centre, spread = correlated_posterior(x, np.tile(covariance, (3, 1, 1)), mean, variance)
    rows, errors = joint.mixture(x, cells_of(covariance, 3), n_parts)
    laws = [law.as_normal(rows[:, j], errors[:, j]) for j, law in enumerate(joint.laws)]
    means = np.stack([law[0] for law in laws], axis=1).reshape(3, n_parts, d)
    own = np.stack([law[1] for law in laws], axis=1).reshape(3, n_parts, d)
    scale = np.sqrt(spread.max())
    np.testing.assert_allclose(means.mean(axis=1), centre, atol=1e-6 * scale)
    off = means - means.mean(axis=1, keepdims=True)
    found = np.swapaxes(off, 1, 2) @ off / n_parts
    found[:, range(d), range(d)] += (own**2).mean(axis=1)
    np.testing.assert_allclose(found, spread, atol=0.005 * scale**2)
    marginal = [
        law.as_normal(x_j, s_j) for law, x_j, s_j in zip(joint.laws, *marginals(joint, x, covariance), strict=True)
    ]
    np.testing.assert_allclose(np.stack([law[0] for law in marginal], axis=1), centre, atol=1e-6 * scale)
    np.testing.assert_allclose(
        np.stack([law[1] for law in marginal], axis=1) ** 2, spread[:, range(d), range(d)], atol=1e-6 * scale**2
    )


def marginals(joint: JointLaw, x: Floats, covariance: Floats) -> tuple[Floats, Floats]:
    rows, errors = joint.marginal(x, cells_of(covariance, len(x)))
    return rows.T, errors.T


@pytest.mark.parametrize(("d", "rho", "bound"), [(2, 0.99, 1e-9), (2, -0.5, 1e-9), (3, 0.8, 0.0005), (4, 0.5, 0.002)])
def test_memberships_are_probabilities_of_boxes(d: int, rho: float, bound: float) -> None:
    covariance = (1 - rho) * np.eye(d) + rho
    joint, x = law_of("normal", d), np.random.default_rng(d).normal(size=(20, d))
    sides = [-np.inf, -0.3, 0.6, np.inf]
    corners = np.stack(np.meshgrid(*[range(3)] * d, indexing="ij"), axis=-1).reshape(-1, d)
    boxes = np.stack([np.take(sides, corners), np.take(sides, corners + 1)], axis=2)
    mean, variance = np.array([0.1 * j for j in range(d)]), 1.0 + np.arange(d)
    centre, spread = correlated_posterior(x, np.tile(covariance, (20, 1, 1)), mean, variance)
    expected = box_probabilities(boxes, centre, spread)
    found = joint_membership(Regions(boxes, {}), joint, x, cells_of(covariance, 20))
    assert np.sqrt(np.mean((found - expected) ** 2)) < bound
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-9)


def test_to_know_one_value_tells_about_the_errors_of_others() -> None:
    joint = law_of("flat", 2)
    row, cells = np.array([1.0, 2.0]), cells_of(np.array([[1.0, 0.8], [0.8, 4.0]]), 1)[0]
    rows, errors = joint.reveal(row, cells, 0, np.array([0.5, 1.0]))
    np.testing.assert_allclose(rows, [[0.5, 2.0 - 0.8 * 0.5], [1.0, 2.0]])  # the error of the first is 0.5, or 0
    np.testing.assert_allclose(errors[:, :2], [[0.0, np.sqrt(4 - 0.8**2)]] * 2)


def test_missing_and_exact_values_have_no_correlated_errors() -> None:
    joint = law_of("normal", 3)
    cells = cells_of(np.array([[1.0, 0.9, 0.5], [0.9, 1.0, 0.5], [0.5, 0.5, 1.0]]), 2)
    cells[1, 1] = 0.0
    rows, errors = joint.marginal(np.array([[1.0, np.nan, 0.3], [1.0, 0.5, 0.3]]), cells)
    assert np.isnan(rows[0, 1])
    assert (rows[1, 1], errors[1, 1]) == (0.5, 0.0)
    np.testing.assert_allclose(rows[0, [0, 2]], rows[1, [0, 2]])  # neither says anything about the others


@pytest.mark.parametrize(("n_points", "n_factors"), [(2, 1), (64, 1), (64, 5), (7, 2), (1, 1), (8, 0)])
def test_points_of_factors_are_balanced(n_points: int, n_factors: int) -> None:
    points = factor_points(n_points, n_factors)
    assert points.shape == (n_points, n_factors)
    np.testing.assert_allclose(points.mean(axis=0), 0.0, atol=1e-12)


def test_linked_columns_are_all_pairs() -> None:
    assert closed_pairs([(4, 2), (0, 1), (2, 3)]).tolist() == [[0, 1], [2, 3], [2, 4], [3, 4]]
    cells = np.array([[1.0, 2.0, 3.0, 0.5]])
    expected = [[1.0, 1.0, 0.0], [1.0, 4.0, 0.0], [0.0, 0.0, 9.0]]
    np.testing.assert_allclose(covariance_of_cells(cells, 3, np.array([[0, 1]]))[0], expected)


# --- Models ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_models_answer_the_mean_over_the_latent_law(model: Any) -> None:
    """Against exact rows drawn from the law of U given x: a literal truth with a standard error."""
    fit, X = fitted(model)
    regions = {"n_points": None} if "Forest" in type(fit).__name__ else {}
    rng = np.random.default_rng(3)
    mean = np.array([law.normal_prior()[0] for law in fit.laws_])
    variance = np.array([law.normal_prior()[1] for law in fit.laws_])
    centre, spread = correlated_posterior(X[:3], np.tile(COVARIANCE, (3, 1, 1)), mean, variance)
    for i in range(3):
        draws = rng.multivariate_normal(centre[i], spread[i], size=4000)
        raw = fit._raw_query() if "Boosting" in type(fit).__name__ else None
        if raw is None:
            known = answer(fit, draws, X_err=np.zeros_like(draws))
            found = answer(fit.set_params(**regions), X[i : i + 1])
        else:  # a mean of logits
            known = fit._ask_with_errors(draws, np.zeros_like(draws), raw)
            found = fit._ask_with_errors(X[i : i + 1], fit._cells(X[i : i + 1], None), raw)
        error = known.std(axis=0) / np.sqrt(len(draws))
        assert (np.abs(found[0] - known.mean(axis=0)) < 5 * error + 0.01 * np.ptp(known, axis=0)).all()


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_correlations_matter_and_survive_files(model: Any, tmp_path: Path) -> None:
    fit, X = fitted(model)
    apart, _ = fitted(model, sigma=list(np.sqrt(np.diag(COVARIANCE))))
    found = answer(fit, X)
    assert np.isfinite(found).all()
    assert not np.allclose(found, answer(apart, X))
    hedgerow.save(fit, tmp_path / "model.hedgerow")
    for other in (hedgerow.load(tmp_path / "model.hedgerow"), pickle.loads(pickle.dumps(fit))):
        assert answer(other, X).tobytes() == found.tobytes()
    assert answer(fit, X[:5]).tobytes() == found[:5].tobytes()
    assert "Doubt" in str(fit.explain(X[:1])[0])


@pytest.mark.parametrize("model", MODELS, ids=NAMES)
def test_every_way_to_say_a_covariance_is_the_same(model: Any) -> None:
    X, above, _ = drawn(80)
    y = np.where(above, "up", "down") if "Classifier" in type(model).__name__ else 2.0 * above
    sizes = np.sqrt(np.diag(COVARIANCE[:2, :2]))
    X, covariance = X[:, :2], COVARIANCE[:2, :2]
    if "Tree" not in type(model).__name__:  # columns of errors would change what is drawn
        model = unfitted(model).set_params(max_features=None)
    by_matrix = unfitted(model).set_params(sigma=covariance).fit(X, y)
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(a_err=sizes[0], rho=covariance[0, 1] / sizes.prod())
    named = {"a": "a_err", "b": sizes[1], ("b", "a"): "rho"}
    by_columns = unfitted(model).set_params(sigma=named).fit(frame, y)
    by_rows = unfitted(model).set_params(sigma=0.0).fit(X, y, X_err=np.tile(covariance, (80, 1, 1)))
    expected = answer(by_matrix, X)
    np.testing.assert_allclose(answer(by_columns, frame), expected, atol=1e-9)
    np.testing.assert_allclose(answer(by_rows, X, X_err=np.tile(covariance, (80, 1, 1))), expected, atol=1e-9)
    with pytest.warns(UserWarning, match="fit was given X_err"):
        np.testing.assert_allclose(answer(by_rows, X), expected, atol=1e-9)


def test_a_tree_on_a_difference_gains_by_the_correlation() -> None:
    X, above, _ = drawn(800, seed=5)
    train, new = slice(0, 400), slice(400, None)
    errors = {}
    for name, sigma in (("joint", COVARIANCE), ("apart", list(np.sqrt(np.diag(COVARIANCE))))):
        found = MeasuredTreeRegressor(sigma).fit(X[train], 2.0 * above[train]).predict(X[new])
        errors[name] = np.mean((found - 2.0 * above[new]) ** 2)
    assert errors["joint"] < 0.95 * errors["apart"]


def test_forests_have_intervals_and_their_parts() -> None:
    fit, X = fitted(MODELS[1])
    ends = fit.predict_interval(X[:4], coverage=0.8)
    assert (ends[:, 0] < ends[:, 1]).all()
    parts = fit.interval_parts(X[:4], coverage=0.8)
    squares = parts.target**2 + parts.inputs**2 + parts.model**2 + parts.noise**2
    np.testing.assert_allclose(squares, parts.total**2)
    assert (parts.inputs > 0).all()
    assert np.isfinite(fit.predict_uncertainty(X[:4]).total).all()


def test_rules_read_rows_as_their_forest_does() -> None:
    fit, X = fitted(MODELS[4])
    found = RuleClassifier.from_fitted(fit, rule="evidence").predict_proba(X[:5])
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    walk, leaves = fit._walk, np.random.default_rng(0).uniform(0.1, 1.0, size=(fit.forest_.n_leaves, 2))
    reached = walk.spread(X[:5]).toarray()
    starts = fit.forest_.leaf_start
    means = np.stack([reached[:, a:b] @ leaves[a:b] for a, b in pairwise(starts)], axis=1)
    weights = np.array([1.0, 0.5, 0.0, 2.0, 1.0, 1.0, 1.0, 1.0])
    tables = [LeafTable.of(leaves, link="log"), LeafTable.of(leaves, op="min"), LeafTable.of(leaves)]
    logs, least, sums = walk.fold(X[:5], tables, weights)
    np.testing.assert_allclose(logs, weights @ np.log(means), atol=1e-9)
    np.testing.assert_allclose(least, means[:, weights > 0].min(axis=1), atol=1e-9)
    np.testing.assert_allclose(sums, weights @ means, atol=0.2)  # over points


# --- What is refused -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sigma", "message"),
    [
        (np.eye(2), r"has shape \(2, 2\), must be \(3, 3\)"),
        (np.array([[1, 2, 0], [2, 1, 0], [0, 0, 1.0]]), "is not positive: its least eigenvalue is -1"),
        (np.array([[1, 0.5, 0], [0.2, 1, 0], [0, 0, 1.0]]), "is not symmetric"),
        ({"a": 1, "b": 1, ("a", "d"): 0.5}, "sigma names 'd', which is not a column of X"),
        ({"a": 1, "b": 1, ("a", "b"): 1.5}, "correlation of the errors of 'a' and 'b' is 1.5, must be a number from"),
        ({"a": 1, "b": 1, ("a", "b"): "rho"}, "sigma names 'rho', which is not a column of X"),
        ({"a": 1, "b": 1, ("a", "b"): 0.1, ("b", "a"): 0.2}, "is there twice: name each pair of columns once"),
        ({"a": 1, "b": 1, ("a", "a"): 0.1}, "is a column and itself"),
        ({"a": 1, "b": 1, ("a", "b", "c"): 0.1}, "must be a column, or a pair of columns"),
        ({"a": 1, ("a", "b"): 0.1}, "'b' has none: give it a standard deviation"),
        (
            {"a": 1, "b": 1, "c": 1, ("a", "b"): 0.9, ("b", "c"): 0.9, ("a", "c"): -0.9},
            "the correlations of the errors of 'a', 'b', 'c' contradict each other: the least eigenvalue",
        ),
    ],
)
def test_wrong_covariances_are_refused_in_one_line(sigma: Any, message: str) -> None:
    X, above, _ = drawn(30)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    for model in (MeasuredTreeRegressor(sigma), MeasuredForestRegressor(sigma, n_estimators=2)):
        with pytest.raises(ValueError, match=message) as error:
            model.fit(frame, above.astype(float))
        assert "\n" not in str(error.value)


def test_correlations_of_rows_are_checked() -> None:
    X, above, _ = drawn(30)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(rho=0.5)
    tree = MeasuredTreeRegressor({"a": 1.0, "b": 1.0, ("a", "b"): "rho"}).fit(frame, above.astype(float))
    with pytest.raises(ValueError, match=r"'a' and 'b' is 1.2 in row 3, must be a number from -1 to 1"):
        tree.predict(frame.assign(rho=np.where(np.arange(30) == 3, 1.2, 0.5)))
    with pytest.raises(ValueError, match="X has no column 'rho', which holds the correlation"):
        tree.predict(frame.drop(columns="rho"))
    wrong = np.tile(np.eye(4), (30, 1, 1))
    wrong[7, 0, 0] = -1.0
    with pytest.raises(ValueError, match="the covariance of the errors of each row, of row 7 is not positive"):
        tree.predict(frame, X_err=wrong)
    with pytest.raises(ValueError, match=r"must be \(4, 4\) or \(30, 4, 4\)"):
        tree.predict(frame, X_err=wrong[:5])


@pytest.mark.parametrize("changes", [{"prior": "kde"}, {"error_model": Laplace()}])
def test_correlated_errors_are_normal(changes: Any) -> None:
    X, above, _ = drawn(30)
    with pytest.raises(ValueError, match="need error_model='normal', and prior='normal' or 'flat'"):
        MeasuredTreeRegressor(COVARIANCE, **changes).fit(X, above.astype(float))
