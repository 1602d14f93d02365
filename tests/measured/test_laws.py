"""Where latent values may be: error models, priors and memberships, against quadrature."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from effort import examples
from hedgerow.data.columns import Column, Kind
from hedgerow.data.table import Schema, read_table
from hedgerow.measured import FlatPrior, KdePrior, Normal, NormalPrior, Student, membership
from hedgerow.measured.errors.error_model import error_model
from hedgerow.measured.laws.column_laws import CategoryLaw, ExactLaw, FlatLaw, HistogramLaw, NormalLaw
from hedgerow.measured.laws.priors import deconvolve, learn_laws, prior
from oracles import measured as oracles

MODELS = ["normal", "uniform", "laplace", "student"]
places = st.floats(-6, 6)
sizes = st.floats(0.05, 3)


@pytest.mark.parametrize("name", MODELS)
def test_errors_have_the_law_that_they_say_and_standard_deviation_1(name: str) -> None:
    model, truth = error_model(name), oracles.error_density(name)
    z = np.linspace(-9, 9, 301)
    np.testing.assert_allclose(model.cdf(z), truth.cdf(z), atol=1e-13)
    np.testing.assert_allclose(truth.std(), 1.0)
    inside = truth.pdf(z) > 0
    shift = model.log_density(z)[inside] - truth.logpdf(z)[inside]
    np.testing.assert_allclose(shift, shift[0], atol=1e-10)
    assert (model.log_density(z)[~inside] == -np.inf).all()


@pytest.mark.parametrize("name", MODELS)
def test_masses_are_right_far_out(name: str) -> None:
    model, truth = error_model(name), oracles.error_density(name)
    low = np.array([-30.0, -9, -1, 0, 0.5, 8.5, 20])
    high = low + 0.7
    mirrored = np.where(low > 0, truth.cdf(-low) - truth.cdf(-high), truth.cdf(high) - truth.cdf(low))
    np.testing.assert_allclose(model.mass(low, high), mirrored, rtol=1e-10, atol=1e-300)


@settings(max_examples=examples(8, 25), deadline=None)
@given(st.sampled_from(MODELS), places, st.floats(0.1, 4), places, sizes, places)
def test_a_normal_prior_agrees_with_quadrature(
    name: str, mean: float, spread: float, x: float, sigma: float, at: float
) -> None:
    law = NormalLaw(error_model(name), mean, spread**2)
    truth = stats.norm(mean, spread)
    ends = [mean + step * spread for step in (-9, -4, -2, 0, 2, 4, 9)]
    # Where quadrature sees anything: within ten standard deviations of U if the error has bounds, else within 37 of X,
    # where the density of two normal laws, exp(-37²/2), is still above the smallest float64.
    bounded = oracles.error_density(name).support()[1] < np.inf
    reach = 6 * spread if bounded else 30 * np.hypot(spread, sigma)
    x = float(np.clip(x, mean - reach, mean + reach))
    expected = oracles.posterior(truth.pdf, ends, oracles.error_density(name), x, sigma, at)
    found = law.below(np.array([x]), np.array([sigma]), np.array([at]))[0, 0]
    assert found == pytest.approx(expected, abs=2e-9)


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(MODELS), st.lists(st.floats(0.01, 1), min_size=1, max_size=6), places, sizes, places)
def test_a_histogram_agrees_with_quadrature(name: str, parts: list[float], x: float, sigma: float, at: float) -> None:
    shares = np.array(parts) / sum(parts)
    edges = np.linspace(-2.0, 2.0, len(shares) + 1)
    x, at = float(np.clip(x, -3, 3)), float(np.clip(at, -2, 2))
    if name == "uniform":
        sigma = max(sigma, 1.0)  # else x is out of reach of all bins
    law = HistogramLaw(error_model(name), edges, shares)

    def density(u: float) -> float:
        return (
            float(shares[min(int(np.searchsorted(edges, u, side="right")) - 1, len(shares) - 1)]) if abs(u) <= 2 else 0
        )

    expected = oracles.posterior(density, edges.tolist(), oracles.error_density(name), x, sigma, at)
    assert law.below(np.array([x]), np.array([sigma]), np.array([at]))[0, 0] == pytest.approx(expected, abs=1e-7)


def test_the_normal_case_is_the_closed_form() -> None:
    rng = np.random.default_rng(0)
    x, sigma = rng.normal(2, 3, size=50), rng.uniform(0.1, 2, size=50)
    law = NormalPrior().learn(x, sigma, np.ones(50), error_model("normal"), "x")
    assert isinstance(law, NormalLaw)
    assert law.mean == pytest.approx(x.mean())
    assert law.variance == pytest.approx(x.var() - (sigma**2).mean())
    share = law.variance / (law.variance + sigma**2)
    truth = stats.norm(x.mean() + share * (x - x.mean()), np.sqrt(share) * sigma)
    for at in (-3.0, 0.0, 2.5):
        np.testing.assert_allclose(law.below(x, sigma, np.array([at]))[:, 0], truth.cdf(at), atol=1e-13)


def test_a_uniform_error_cuts_the_prior_off() -> None:
    law = NormalLaw(error_model("uniform"), 1.0, 4.0)
    x, sigma, at = np.array([0.0, 3.0, 9.0]), np.array([0.5, 2.0, 1.0]), np.linspace(-4, 11, 40)
    reach = np.sqrt(3) * sigma
    for i in range(3):
        ends = (x[i] - reach[i] - 1) / 2, (x[i] + reach[i] - 1) / 2
        truth = stats.truncnorm(*ends, loc=1, scale=2)
        np.testing.assert_allclose(law.below(x, sigma, at)[i], truth.cdf(at), atol=1e-9)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("kind", ["normal", "flat", "kde"])
def test_laws_rise_from_0_to_1_also_for_values_far_out(name: str, kind: str) -> None:
    rng = np.random.default_rng(0)
    known = rng.normal(size=300)
    law = prior(kind).learn(known, np.full(300, 0.3), np.ones(300), error_model(name), "x")
    x = np.array([-1e6, -40, -3, 0, 0.1, 4, 60, 1e8, np.nan])
    sigma = np.array([0.3, 1e-9, 0.3, 0.0, 5, 0.3, 2, 0.3, 0.3])
    below = law.below(x, sigma, np.array([-1e9, -50, -1, 0, 0.05, 1, 50, 1e9]))
    assert np.isfinite(below).all()
    assert (np.diff(below, axis=1) >= 0).all()
    np.testing.assert_allclose(below[:, [0, -1]], [[0, 1]] * len(x), atol=1e-12)


def test_an_error_of_0_is_exact_and_a_missing_value_follows_the_law() -> None:
    at = np.array([-1.0, 0.0, 1.0])
    law = NormalLaw(error_model("normal"), 0.0, 1.0)
    below = law.below(np.array([0.0, np.nan]), np.zeros(2), at)
    assert below[0].tolist() == [0, 1, 1]
    np.testing.assert_allclose(below[1], stats.norm.cdf(at))
    flat = FlatPrior().learn(np.array([-1.0, 0, 0, 5]), np.ones(4), np.ones(4), error_model("normal"), "x")
    assert isinstance(flat, FlatLaw)
    assert flat.below(np.array([np.nan]), np.ones(1), at)[0].tolist() == [0.25, 0.75, 0.75]


def test_an_exact_column_knows_its_law_and_the_prior_for_rows_that_bring_errors() -> None:
    x = np.array([0.0, 0, 0, 1])
    schema = Schema((Column("x", Kind.NUMERIC),), named=False)
    (law,) = learn_laws(x[:, None], schema, np.zeros((4, 1)), np.ones(4), [error_model("normal")], NormalPrior())
    assert isinstance(law, ExactLaw)
    assert law.below(np.array([np.nan]), np.zeros(1), np.array([0.5]))[0, 0] == 0.75
    normal = NormalLaw(error_model("normal"), 0.25, x.var())
    x_new, sigma, at = np.array([0.3]), np.array([0.2]), np.array([0.5])
    np.testing.assert_allclose(law.below(x_new, sigma, at), normal.below(x_new, sigma, at))


def test_errors_larger_than_the_variance_are_told() -> None:
    x = np.array([0.0, 1.0])
    with pytest.warns(UserWarning, match=r"column 'width' has a variance of 0.25, less than the 4 of its errors"):
        law = NormalPrior().learn(x, np.full(2, 2.0), np.ones(2), error_model("normal"), "width")
    assert law.below(x, np.full(2, 2.0), np.array([0.4, 0.6])).tolist() == [[0, 1], [0, 1]]


def test_deconvolution_finds_two_lumps() -> None:
    # Lumps at 0 and 3 with spread 0.2 under errors of 0.8: X has a variance of 2.25 + 0.04 + 0.64.
    rng = np.random.default_rng(0)
    latent = np.where(rng.random(2000) < 0.5, 0.0, 3.0) + rng.normal(0, 0.2, size=2000)
    sigma = rng.uniform(0.6, 1.0, size=2000)
    for name in MODELS:
        noise = oracles.error_density(name).rvs(size=2000, random_state=1) * sigma
        edges, shares = deconvolve(latent + noise, sigma, np.ones(2000), error_model(name), 96)
        middle = (edges[:-1] + edges[1:]) / 2
        assert shares.min() >= 0
        assert shares.sum() == pytest.approx(1)
        assert shares[np.abs(middle - 1.5) < 0.4].sum() < 0.06, "the valley between the lumps"
        variance = shares @ (middle - shares @ middle) ** 2
        assert variance == pytest.approx(latent.var(), rel=0.12)


def test_deconvolution_does_not_look_at_the_order_of_rows() -> None:
    rng = np.random.default_rng(0)
    x, sigma, weight = rng.normal(size=3000), rng.uniform(0, 1, size=3000), rng.uniform(size=3000)
    order = rng.permutation(3000)
    one, other = (
        deconvolve(*(a[o] for a in (x, sigma, weight)), error_model("normal"), 64) for o in (slice(None), order)
    )
    assert np.array_equal(one[1], other[1])


# -- memberships


def partition(draw: st.DrawFn, n_features: int) -> np.ndarray:
    boxes = [np.tile([-np.inf, np.inf], (n_features, 1))]
    for _ in range(draw(st.integers(0, 7))):
        box = boxes.pop(draw(st.integers(0, len(boxes) - 1)))
        j, at = draw(st.integers(0, n_features - 1)), draw(st.sampled_from([-1.0, -0.3, 0.0, 0.4, 1.1]))
        if box[j, 0] < at < box[j, 1]:
            left, right = box.copy(), box.copy()
            left[j, 1], right[j, 0] = at, at
            boxes += [left, right]
        else:
            boxes.append(box)
    return np.array(boxes)


@settings(max_examples=examples(14, 50), deadline=None)
@given(st.data())
def test_memberships_of_a_partition_are_products_and_add_up_to_1(data: Any) -> None:
    n_features = data.draw(st.integers(1, 3))
    regions = partition(data.draw, n_features)
    entry = st.sampled_from([np.nan, -1.0, 0.0, 0.4, 0.7, 3.0])
    X = np.array(data.draw(st.lists(st.lists(entry, min_size=n_features, max_size=n_features), min_size=1, max_size=6)))
    X_err = np.array(data.draw(st.lists(st.sampled_from([0.0, 0.2, 1.0]), min_size=X.size, max_size=X.size))).reshape(
        X.shape
    )
    kind, name = data.draw(st.sampled_from(["flat", "kde"])), data.draw(st.sampled_from(MODELS))
    found = membership(regions, X, name, X_err=X_err, prior=kind)
    assert found.shape == (len(X), len(regions))
    assert found.min() >= -1e-15
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)
    schema = Schema(tuple(Column(f"x{j}", Kind.NUMERIC) for j in range(n_features)), named=False)
    laws = learn_laws(X, schema, X_err, np.ones(len(X)), [error_model(name)] * n_features, prior(kind))
    for k, region in enumerate(regions):
        box = oracles.Box({j: tuple(region[j]) for j in range(n_features)}, {})
        np.testing.assert_allclose(found[:, k], oracles.shares(box, laws, X, X_err), atol=1e-13)


def test_without_errors_a_row_is_where_it_is() -> None:
    regions = [[[-np.inf, 1]], [[1, 2]], [[2, np.inf]]]
    assert membership(regions, [[1.0], [1.5], [2.0], [7.0]]).tolist() == [[1, 0, 0], [0, 1, 0], [0, 1, 0], [0, 0, 1]]


def test_categories_are_known_or_have_their_shares() -> None:
    law = CategoryLaw(np.array([0.5, 0.3, 0.2]))
    sets = np.array([[True, False, True], [False, True, False]])
    found = law.within(np.array([0.0, 1, 2, np.nan]), sets)
    np.testing.assert_allclose(found, [[1, 0], [0, 1], [1, 0], [0.7, 0.3]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"regions": [[[0, 1], [0, 1]]]}, r"regions has shape \(1, 2, 2\), must be \(k, 1, 2\)"),
        ({"regions": [[[1, 0]]]}, "lower bound above the upper"),
        (
            {"error_model": "cauchy"},
            "error_model is 'cauchy', must be one of 'normal', 'uniform', 'laplace', 'student'",
        ),
        ({"error_model": {"x9": "normal"}}, "error_model names 'x9', which is not a column of X: these are 'x0'"),
        ({"prior": "beta"}, "prior is 'beta', must be one of 'normal', 'flat', 'kde'"),
        ({"sigma": -1.0}, "sigma is -1.0, must be a standard deviation"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    good = {"regions": [[[-np.inf, np.inf]]], "X": [[0.0], [1.0]], "sigma": 0.1}
    with pytest.raises(ValueError, match=message):
        membership(**good | arguments)


@pytest.mark.parametrize("df", [2, 2.0, 1, -1, np.nan, np.inf, "5", True])
def test_students_law_needs_a_variance(df: Any) -> None:
    with pytest.raises(ValueError, match=r"Student: df is .*must be a finite number above 2"):
        Student(df)


def test_the_number_of_bins_is_checked() -> None:
    with pytest.raises(ValueError, match="KdePrior: bins is 3"):
        KdePrior(3)


@pytest.mark.parametrize(
    ("law", "changes"),
    [
        (NormalLaw, {"mean": np.nan}),
        (NormalLaw, {"variance": -1.0}),
        (NormalLaw, {"error": "normal"}),
        (FlatLaw, {"places": np.array([1.0, 1.0])}),
        (FlatLaw, {"reached": np.array([0.5, 2.0])}),
        (FlatLaw, {"reached": np.array([0.5])}),
        (HistogramLaw, {"shares": np.array([0.5, 0.5])}),
        (HistogramLaw, {"shares": np.array([2.0])}),
        (HistogramLaw, {"edges": np.array([0.0, np.inf])}),
        (HistogramLaw, {"error": None}),
        (ExactLaw, {"otherwise": None}),
        (CategoryLaw, {"shares": np.array([0.5, 0.6])}),
        (CategoryLaw, {"shares": np.array([-0.5, 1.5])}),
        (CategoryLaw, {"shares": [1.0]}),
    ],
)
def test_laws_check_what_a_file_brings(law: Any, changes: dict[str, Any]) -> None:
    seen = {"places": np.array([0.0, 1.0]), "reached": np.array([0.5, 1.0])}
    good = {
        NormalLaw: {"error": error_model("normal"), "mean": 0.0, "variance": 1.0},
        FlatLaw: {"error": error_model("normal"), **seen},
        HistogramLaw: {"error": error_model("normal"), "edges": np.array([0.0, 1.0]), "shares": np.array([1.0])},
        ExactLaw: {"error": error_model("normal"), **seen, "otherwise": NormalLaw(error_model("normal"), 0.0, 1.0)},
        CategoryLaw: {"shares": np.array([0.5, 0.5])},
    }[law]
    law(**good)
    with pytest.raises(ValueError, match=r".+"):
        law(**good | changes)


@pytest.mark.parametrize("law_of", ["normal", "flat", "kde"])
def test_coarse_probabilities_are_near_and_do_not_depend_on_other_rows(law_of: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 1))
    X[::9] = np.nan
    sigma = np.where(rng.random((200, 1)) < 0.2, 0.0, rng.uniform(0.1, 1.0, size=(200, 1)))
    sigma[np.isnan(X)] = 0.0
    schema = read_table(X, categorical_features=None).schema
    (law,) = learn_laws(X, schema, sigma, np.ones(200), [Normal()], prior(law_of))
    at = np.linspace(-9, 9, 41)
    exact, found = law.below(X[:, 0], sigma[:, 0], at), np.full((200, 50), -1.0)
    law.fill_coarsely(X[:, 0], sigma[:, 0], at, found[:, 3:44])
    assert (found[:, [2, 44]] == -1).all()
    assert np.abs(found[:, 3:44] - exact).max() < 0.0008
    alone = np.empty((1, 41))
    for row in (0, 1, 50):
        law.fill_coarsely(X[row], sigma[row], at, alone)
        assert alone.tobytes() == np.ascontiguousarray(found[row : row + 1, 3:44]).tobytes()
