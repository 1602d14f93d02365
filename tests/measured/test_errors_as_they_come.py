"""Errors as they come: relative, from repeated measurements, between limits, and of categories."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone
from tests.oracles import measured as oracles

import hedgerow
from hedgerow import (
    MeasuredBoostingRegressor,
    MeasuredForestClassifier,
    MeasuredForestRegressor,
    MeasuredTreeClassifier,
    MeasuredTreeRegressor,
)
from hedgerow.measured import Misclassification, RelativeError, average_repeats, membership, read_limits
from hedgerow.measured.errors.misclassification import true_shares
from hedgerow.measured.laws.column_laws import CategoryLaw
from hedgerow.measured.many_trees.measured_walk import ManySoftTrees
from hedgerow.measured.one_tree.categories import Categories

Floats = Any


# --- relative -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [MeasuredTreeRegressor(max_leaf_nodes=4), MeasuredForestRegressor(n_estimators=3)])
def test_relative_errors_are_those_of_cells(model: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.lognormal(size=(200, 2))
    X[::17, 0] = np.nan
    y = np.nan_to_num(X[:, 0])
    model = model.set_params(sigma={0: RelativeError(0.2, least=0.1)})
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    cells = np.zeros_like(X)
    cells[:, 0] = np.hypot(0.2 * np.nan_to_num(X[:, 0]), 0.1) * ~np.isnan(X[:, 0])
    found = clone(model).fit(X, y).predict(X)
    expected = clone(model).fit(X, y, X_err=cells).predict(X, X_err=cells)
    np.testing.assert_array_equal(found, expected)


def test_one_relative_error_is_that_of_all_numeric_columns(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.lognormal(size=80), "b": rng.lognormal(size=80), "c": rng.choice(["x", "y"], 80)})
    y = X["a"] + X["b"]
    one = MeasuredForestRegressor(RelativeError(0.1), n_estimators=2, random_state=0).fit(X, y)
    each = MeasuredForestRegressor(
        {"a": RelativeError(0.1), "b": RelativeError(0.1)}, n_estimators=2, random_state=0
    ).fit(X, y)
    np.testing.assert_array_equal(one.predict(X), each.predict(X))
    hedgerow.save(one, tmp_path / "model.hedgerow")
    np.testing.assert_array_equal(hedgerow.load(tmp_path / "model.hedgerow").predict(X), one.predict(X))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RelativeError(-0.1), "RelativeError: fraction is -0.1, must be a number of at least 0"),
        (lambda: RelativeError(0.1, least=-1), "RelativeError: least is -1"),
        (lambda: RelativeError("5 %"), "RelativeError: fraction is '5 %'"),
        (
            lambda: MeasuredTreeRegressor({"c": RelativeError(0.1)}).fit(
                pd.DataFrame({"c": ["x", "y"] * 5}), range(10)
            ),
            "sigma gives column 'c' an error, but it is nominal",
        ),
    ],
)
def test_relative_errors_are_checked(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        make()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "model",
    [MeasuredTreeRegressor(), MeasuredForestRegressor(n_estimators=2), MeasuredBoostingRegressor(n_estimators=2)],
)
def test_columns_of_errors_are_asked_for_in_one_line(model: Any) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=60), "x_err": rng.uniform(0.1, 0.3, size=60)})
    model = clone(model).set_params(sigma={"x": "x_err"}).fit(X, X["x"])
    for wrong, message in (
        (X[["x"]], "X has no column 'x_err', which holds the errors of 'x': add it, zeros for exact values"),
        (X.assign(x_err=np.nan), "column 'x_err', the error of 'x' is nan in row 0, must be a standard deviation"),
        (X.assign(x_err=-1.0), "column 'x_err', the error of 'x' is -1.0 in row 0"),
    ):
        with pytest.raises(ValueError, match=message) as error:
            model.predict(wrong)
        assert "\n" not in str(error.value)


# --- repeated measurements ----------------------------------------------------------------------------------


def test_repeats_are_averaged_and_their_error_is_pooled() -> None:
    rng = np.random.default_rng(0)
    latent = rng.normal(size=4000)
    values = latent[:, np.newaxis] + 0.3 * rng.normal(size=(4000, 3))
    values[rng.random(values.shape) < 0.3] = np.nan
    found = average_repeats(values)
    squares, more = 0.0, 0
    for row, value in zip(values, found.value, strict=True):
        known = row[~np.isnan(row)]
        if len(known) == 0:
            assert np.isnan(value)
            continue
        assert value == pytest.approx(known.mean())
        squares += ((known - known.mean()) ** 2).sum()
        more += len(known) - 1
    single = np.sqrt(squares / more)
    count = (~np.isnan(values)).sum(axis=1)
    np.testing.assert_allclose(found.sigma[count > 0], single / np.sqrt(count[count > 0]))
    assert (found.sigma[count == 0] == 0).all()
    # The standard error of an estimated standard deviation is about σ/√(2·more).
    assert abs(single - 0.3) < 4 * 0.3 / np.sqrt(2 * more)
    frame = average_repeats(pd.DataFrame(values, columns=["a", "b", "c"]))
    np.testing.assert_array_equal(frame.value, found.value)
    np.testing.assert_allclose(average_repeats(values[:3], sigma=0.6).sigma, 0.6 / np.sqrt(count[:3]))


@pytest.mark.parametrize(
    ("values", "sigma", "message"),
    [
        ([[1.0], [2.0]], None, "values has no row with two measurements: pass sigma"),
        ([1.0, 2.0], None, r"values has shape \(2,\)"),
        ([[1.0, np.inf]], None, "values has shape"),
        ([["a", "b"]], None, "values must be numbers"),
        ([[1.0, 2.0]], -1.0, "sigma is -1.0"),
    ],
)
def test_repeats_are_checked(values: Any, sigma: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        average_repeats(values, sigma)
    assert "\n" not in str(error.value)


# --- limits -------------------------------------------------------------------------------------------------


def test_values_between_limits_have_the_prior_cut_off_there() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(3.0, 2.0, size=400)
    limits = read_limits([-np.inf, 1.0, 2.5, 4.0], [0.5, 2.0, 2.5, np.nan], least=-2.0, most=9.0)
    X, errors = np.append(x, limits.value)[:, np.newaxis], np.append(np.zeros(400), limits.sigma)[:, np.newaxis]
    at = np.array([-1.0, 0.2, 1.3, 2.5, 6.0])
    boxes = np.array([[[-np.inf, t]] for t in at])
    found = membership(boxes, X, "uniform", prior="normal", X_err=errors)[400:]
    mean, variance = X.mean(), X.var() - (errors**2).mean()
    law = stats.norm(mean, np.sqrt(variance))
    for row, low, high in zip(found, [-2.0, 1.0, 2.5, 4.0], [0.5, 2.0, 2.5, 9.0], strict=True):
        if low == high:
            np.testing.assert_array_equal(row, low <= at)
            continue
        inside = np.clip(at, low, high)
        np.testing.assert_allclose(row, (law.cdf(inside) - law.cdf(low)) / (law.cdf(high) - law.cdf(low)), atol=1e-6)


def test_values_without_limits_are_missing() -> None:
    found = read_limits([np.nan, 1.0], [np.nan, 1.0])
    np.testing.assert_array_equal(found.value, [np.nan, 1.0])
    np.testing.assert_array_equal(found.sigma, [0.0, 0.0])


@pytest.mark.parametrize(
    ("low", "high", "given", "message"),
    [
        ([1.0, 3.0], [2.0, 2.0], {}, "low is 3.0 and high 2.0 in row 1, limits must not cross"),
        ([np.nan], [2.0], {}, "low is missing in row 0, pass least"),
        ([1.0], [np.inf], {}, "high is missing in row 0, pass most"),
        ([np.nan], [-2.0], {"least": 0.0}, "low is 0.0 and high -2.0 in row 0, limits must not cross"),
        ([np.nan], [2.0], {"least": "0"}, "least is '0', must be a finite number"),
        ([1.0], [2.0, 3.0], {}, "low has 1 limits, high has 2"),
        ([[1.0]], [2.0], {}, r"low has shape \(1, 1\)"),
        (["a"], [2.0], {}, "low must hold a limit for each row"),
    ],
)
def test_limits_are_checked(low: Any, high: Any, given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        read_limits(low, high, **given)
    assert "\n" not in str(error.value)


# --- categories ---------------------------------------------------------------------------------------------


def nominal(seed: int, n: int = 600, rate: float = 0.25) -> tuple[pd.DataFrame, Floats, Floats]:
    """A category that decides, recorded wrongly at a rate, and a number; the truth."""
    rng = np.random.default_rng(seed)
    true = rng.choice(3, p=[0.5, 0.3, 0.2], size=n)
    recorded = np.where(rng.random(n) < rate, (true + rng.integers(1, 3, size=n)) % 3, true)
    truth = np.array([0.0, 3.0, 10.0])[true]
    X = pd.DataFrame({"kind": np.array(["a", "b", "c"])[recorded], "x": rng.normal(size=n)})
    return X, truth, truth + rng.normal(scale=0.3, size=n)


def test_what_is_known_of_a_category_follows_bayes_rule() -> None:
    X, _, y = nominal(0)
    model = MeasuredForestRegressor(error_model={"kind": Misclassification(0.25)}, n_estimators=2, random_state=0).fit(
        X, y
    )
    law = model.laws_[0]
    matrix = np.full((3, 3), 0.125)
    np.fill_diagonal(matrix, 0.75)
    recorded = X["kind"].value_counts(normalize=True)[["a", "b", "c"]].to_numpy()
    np.testing.assert_allclose(law.shares @ matrix, recorded, atol=1e-6)  # the inverse exists: likelihood is met
    for code in range(3):
        joint = law.shares * matrix[:, code]
        np.testing.assert_allclose(law.given[code], joint / joint.sum(), atol=1e-12)
    assert np.abs(law.shares - [0.5, 0.3, 0.2]).max() < 0.08


def test_frequencies_of_true_categories_are_the_likeliest() -> None:
    rng = np.random.default_rng(0)
    matrix = rng.dirichlet([8, 1, 1], size=3)[[0, 1, 2]]
    matrix = 0.7 * np.eye(3) + 0.3 * matrix
    true = np.array([0.2, 0.5, 0.3])
    np.testing.assert_allclose(true_shares(true @ matrix, matrix), true, atol=1e-6)
    # Recorded more seldom than it must be by mistake alone: on the border, and better than any shares near.
    recorded = np.array([0.9, 0.1, 0.0])
    found = true_shares(recorded, matrix)

    def likelihood(shares: Floats) -> float:
        return float(recorded[:2] @ np.log((shares @ matrix)[:2]))

    for _ in range(200):
        other = 0.99 * found + 0.01 * rng.dirichlet(np.ones(3))
        assert likelihood(other) <= likelihood(found) + 1e-9


def test_products_with_sets_are_those_of_their_columns() -> None:
    rng = np.random.default_rng(1)
    given = rng.dirichlet(np.ones(4), size=4)
    law = CategoryLaw(rng.dirichlet(np.ones(4)), given)
    codes = rng.integers(0, 4, size=50).astype(float)
    codes[::7] = np.nan
    column = Categories(law, codes, one_against_rest=False)
    v, basis, residuals = rng.normal(size=50), rng.normal(size=(50, 3)), rng.normal(size=(50, 2))
    sets = np.array([[1, 0, 0, 0], [1, 0, 1, 0], [0, 1, 1, 1]], dtype=bool)
    found = column.moments(v, basis, residuals).of_sets(sets)
    for i, members in enumerate(sets):
        inside = [law.shares[members].sum() if np.isnan(code) else given[int(code)][members].sum() for code in codes]
        c = v * np.array(inside)
        assert found.norms[i] == pytest.approx(c @ c)
        np.testing.assert_allclose(found.basis[i], c @ basis)
        np.testing.assert_allclose(found.residuals[i], c @ residuals)
        np.testing.assert_allclose(v * column.within(members), c)


@pytest.mark.parametrize(
    "model",
    [
        MeasuredTreeRegressor(max_leaf_nodes=3),
        MeasuredForestRegressor(n_estimators=30, max_features=None, random_state=0),
        MeasuredBoostingRegressor(),
    ],
)
def test_values_of_categories_are_found_behind_the_errors(model: Any) -> None:
    """A category that was recorded wrongly answers the mean over what it may be: the truth given the record."""
    X, _, y = nominal(2)
    new, truth, _ = nominal(3)
    model = clone(model).set_params(error_model={"kind": Misclassification(0.25)}).fit(X, y)
    by_record = pd.Series(truth).groupby(new["kind"].to_numpy()).mean()
    answers = pd.Series(model.predict(new)).groupby(new["kind"].to_numpy()).mean()
    np.testing.assert_allclose(answers, by_record, atol=0.6)
    if isinstance(model, MeasuredTreeRegressor):
        assert (np.abs(np.sort(model.values_)[:, np.newaxis] - [0.0, 3.0, 10.0]).min(axis=0) < 0.7).all()


def test_memberships_of_misclassified_rows_are_those_of_sets() -> None:
    X, _, y = nominal(4, 200)
    model = MeasuredForestRegressor(
        {"x": 0.5},
        {"kind": Misclassification({"a": {"b": 0.2}, "c": {"a": 0.1, "b": 0.1}})},
        n_estimators=3,
        min_weight_leaf=3,
        random_state=0,
    ).fit(X, y)
    rows = model._read(X[:10])
    sigma = model.error_sizes_.of_rows(rows, model.schema_.names)
    walk = ManySoftTrees.of(model.forest_, model.laws_).walk(lambda given: sigma, 0.0, 1)
    for row, errors, found in zip(rows, sigma, walk.spread(rows).toarray(), strict=True):
        np.testing.assert_allclose(found, oracles.soft_shares(model.forest_, model.laws_, row, errors), atol=1e-12)


def test_no_error_is_exact_and_one_tree_is_all_of_them(tmp_path: Path) -> None:
    X, _, y = nominal(5, 200)
    labels = np.where(y > 2, "high", "low")
    for plain in (MeasuredForestClassifier(n_estimators=3, random_state=0), MeasuredTreeClassifier(max_leaf_nodes=3)):
        exact = clone(plain).fit(X, labels)
        none = clone(plain).set_params(error_model={"kind": Misclassification(0.0)}).fit(X, labels)
        np.testing.assert_allclose(none.predict_proba(X), exact.predict_proba(X), atol=1e-9)
        rates = np.full((3, 3), 0.1)
        np.fill_diagonal(rates, 0.8)
        model = clone(plain).set_params(error_model={"kind": Misclassification(rates)}).fit(X, labels)
        same = clone(plain).set_params(error_model={"kind": Misclassification(0.2)}).fit(X, labels)
        np.testing.assert_allclose(model.predict_proba(X), same.predict_proba(X), atol=1e-12)
        hedgerow.save(model, tmp_path / "model.hedgerow")
        np.testing.assert_array_equal(
            hedgerow.load(tmp_path / "model.hedgerow").predict_proba(X), model.predict_proba(X)
        )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"kind": Misclassification(1.5)}, "the rate of column 'kind' is 1.5, must be a number in"),
        ({"kind": Misclassification(np.eye(2))}, r"rates of shape \(2, 2\), must be \(3, 3\)"),
        ({"kind": Misclassification("often")}, r"rates of shape \(0,\)"),
        ({"kind": Misclassification(np.full((3, 3), 0.5))}, "must not be negative and add up to 1"),
        ({"kind": Misclassification({"a": {"b": 0.7, "c": 0.7}})}, "must not be negative and add up to 1"),
        ({"kind": Misclassification({"z": {"a": 0.1}})}, "names 'z', which is not a category: these are 'a', 'b', 'c'"),
        ({"kind": Misclassification({"a": {"b": -0.1}})}, "the rate of 'b' for 'a' is -0.1"),
        ({"x": Misclassification(0.1)}, "is a Misclassification, and it is numeric"),
    ],
)
def test_rates_are_checked(given: Any, message: str) -> None:
    X, _, y = nominal(6, 60)
    with pytest.raises(ValueError, match=message) as error:
        MeasuredForestRegressor(error_model=given, n_estimators=1).fit(X, y)
    assert "\n" not in str(error.value)


def test_laws_of_categories_are_checked() -> None:
    shares = np.array([0.5, 0.5])
    for given in (np.eye(3), np.eye(2, dtype=int), np.array([[0.5, 0.4], [0.0, 1.0]]), np.array([[1.5, -0.5], [0, 1]])):
        with pytest.raises(ValueError, match="given"):
            CategoryLaw(shares, given)
