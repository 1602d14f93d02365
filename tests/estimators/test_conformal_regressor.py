"""ConformalRegressor: what intervals are made of, what can be changed, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.ensemble import RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression

import hedgerow
from hedgerow import ConformalRegressor, ForestRegressor, MeasuredTreeRegressor, TreeRegressor
from hedgerow.conformal import NormalizedError
from hedgerow.walk.quantiles import predict_quantiles
from oracles import conformal as oracle

FOREST = ForestRegressor(25, random_state=0)


def rows(n_rows=300, seed=0):
    return make_friedman1(n_rows, noise=1.0, random_state=seed)


def test_intervals_are_as_wide_as_out_of_bag_errors_ask_for():
    X, y = rows()
    model = ConformalRegressor(FOREST, 0.8, "absolute").fit(X[:200], y[:200])
    twin = clone(FOREST)
    bags = twin._fit_and_keep_bags(X[:200], y[:200])
    means = oracle.out_of_bag(bags, twin.forest_.stats[:, 1])
    errors = [abs(one - m) for one, m in zip(y[:200], means, strict=True) if m is not None]
    width = oracle.threshold(errors, 0.8)
    expected = np.stack([twin.predict(X[200:]) - width, twin.predict(X[200:]) + width], axis=1)
    np.testing.assert_allclose(model.predict_interval(X[200:]), expected)
    assert model.method_ == "oob"


def test_normalized_intervals_are_wider_where_the_model_is_less_sure():
    X, y = rows()
    model = ConformalRegressor(FOREST, 0.8, NormalizedError(0.2)).fit(X[:200], y[:200])
    widths = np.diff(model.predict_interval(X[200:]), axis=1)[:, 0]
    unit = model.predict_uncertainty(X[200:]).total / model.calibration_.scale + 0.2
    np.testing.assert_allclose(widths / unit, np.full(100, widths[0] / unit[0]))


def test_out_of_bag_quantiles_are_those_of_the_trees_without_the_row():
    X, y = rows(60)
    X[::7, 2] = np.nan
    forest = ForestRegressor(6, random_state=0)
    bags = forest._fit_and_keep_bags(X, y)
    answers, unseen = forest._respond_out_of_bag(bags, {"predict_quantiles": {"q": (0.2, 0.7)}})
    found = iter(answers["predict_quantiles"])
    seen = np.unpackbits(bags.seen, axis=1, count=60, bitorder="little").astype(bool)
    for row in np.flatnonzero(unseen):
        # The same forest, with this row alone and its bags as they are.
        alone = np.ascontiguousarray(bags.rows[row : row + 1])
        skip = np.packbits(seen[:, row : row + 1], axis=1, bitorder="little")
        expected = predict_quantiles(forest.forest_, forest.leaf_samples_, alone, (0.2, 0.7), skip=skip)
        np.testing.assert_array_equal(next(found), expected[0])
        trees = np.flatnonzero(~seen[:, row])
        if not np.isnan(alone).any():
            np.testing.assert_array_equal(expected[0], quantiles_of(forest, alone[0], trees, (0.2, 0.7)))


def quantiles_of(forest, row, trees, probabilities):
    """Least target with a cumulated share of at least each probability, each tree giving its leaf the same weight."""
    samples, leaves = forest.leaf_samples_, forest.apply(row[np.newaxis])[0]
    share = np.zeros(len(samples.values))
    for tree in trees:
        leaf = forest.forest_.leaf_start[tree] + leaves[tree]
        ranks = samples.ranks[samples.start[leaf] : samples.start[leaf + 1]]
        np.add.at(share, ranks, 1 / len(ranks) / len(trees))
    return [samples.values[np.argmax(np.cumsum(share) >= p - 1e-9)] for p in probabilities]


def test_quantile_intervals_move_both_quantiles_alike():
    X, y = rows()
    model = ConformalRegressor(FOREST, 0.8, "cqr").fit(X[:200], y[:200])
    moved = model.predict_interval(X[200:]) - model.estimator_.predict_quantiles(X[200:], (0.1, 0.9))
    np.testing.assert_allclose(moved[:, 1], moved[0, 1])
    np.testing.assert_allclose(moved[:, 0], -moved[:, 1])


@pytest.mark.parametrize("sides", ["both", "each", "lower", "upper"])
@pytest.mark.parametrize("name", ["absolute", "normalized", "cqr"])
def test_intervals_hold_the_target_about_as_often_as_promised(name, sides):
    # 100 trees: with few, out-of-bag answers are those of fewer still, and intervals are wider than promised.
    X, y = rows(900)
    model = ConformalRegressor(ForestRegressor(random_state=0), 0.8, name, sides=sides).fit(X[:500], y[:500])
    lower, upper = model.predict_interval(X[500:]).T
    share = ((lower <= y[500:]) & (y[500:] <= upper)).mean()
    # Standard error of the share of 400 rows 0.02, and of the quantile of 500 rows 0.018: four of both.
    assert abs(share - 0.8) < 4 * np.hypot(0.02, 0.018)
    assert np.isinf(lower).all() == (sides == "upper")
    assert np.isinf(upper).all() == (sides == "lower")


def test_each_end_has_half_of_what_is_not_covered():
    X, y = rows(600)
    y = y + np.random.default_rng(0).exponential(4, 600)  # a long tail above
    model = ConformalRegressor(FOREST, 0.8, "absolute", sides="each").fit(X, y)
    below, above = (np.abs(ends - model.predict(X)) for ends in model.predict_interval(X).T)
    assert above[0] > below[0]
    assert below[0] == pytest.approx(oracle.threshold(model.calibration_.scores[:, 0].tolist(), 0.9))
    assert above[0] == pytest.approx(oracle.threshold(model.calibration_.scores[:, 1].tolist(), 0.9))


def test_coverage_and_sides_can_be_changed_after_fit():
    X, y = rows()
    model = ConformalRegressor(FOREST, 0.6).fit(X, y)
    narrow = model.predict_interval(X)
    assert (np.diff(model.predict_interval(X, coverage=0.95)) > np.diff(narrow)).all()
    np.testing.assert_array_equal(
        model.set_params(sides="each").predict_interval(X),
        ConformalRegressor(FOREST, 0.6, sides="each").fit(X, y).predict_interval(X),
    )
    with pytest.raises(ValueError, match="conformity_score='cqr' was set after fit: fit again"):
        model.set_params(conformity_score="cqr").predict_interval(X)
    other = ConformalRegressor(FOREST, conformity_score=NormalizedError(0.2)).fit(X, y)
    with pytest.raises(ValueError, match="conformity_score='normalized' was set after fit: fit again"):
        other.set_params(conformity_score="normalized").predict_interval(X)


def test_quantiles_are_predictions_and_quantiles_of_errors():
    X, y = rows(200)
    model = ConformalRegressor(FOREST, conformity_score="absolute").fit(X, y)
    low, middle, high = model.predict_quantiles(X[:5], (0.1, 0.5, 0.9)).T
    predicted = model.predict(X[:5])
    np.testing.assert_allclose(high - predicted, oracle.threshold(model.calibration_.scores[:, 1].tolist(), 0.9))
    np.testing.assert_allclose(predicted - low, oracle.threshold(model.calibration_.scores[:, 0].tolist(), 0.9))
    assert ((low < middle) & (middle < high)).all()
    with pytest.raises(ValueError, match=r"q is 1.0, must be one or several numbers in \(0, 1\)"):
        model.predict_quantiles(X, 1.0)
    quantile = ConformalRegressor(FOREST, conformity_score="cqr").fit(X, y)
    assert not hasattr(quantile, "predict_quantiles")


def test_groups_have_a_width_each():
    X, y = rows(400)
    site = np.where(np.arange(400) % 2, "steady", "noisy")
    frame = pd.DataFrame(X).add_prefix("x").assign(site=site)
    y = y + np.where(site == "noisy", 6, 0) * np.random.default_rng(0).normal(size=400)
    model = ConformalRegressor(FOREST, 0.8, "absolute", groups="site").fit(frame, y)
    widths = np.diff(model.predict_interval(frame))[:, 0]
    assert len(np.unique(widths.round(9))) == 2
    assert widths[0] > 1.5 * widths[1]
    assert "of site = noisy" in str(model.explain(frame[:1])[0])


@pytest.mark.parametrize(
    ("estimator", "method"),
    [
        (TreeRegressor(), "cv"),
        (MeasuredTreeRegressor(0.1), "cv"),
        (LinearRegression(), "cv"),
        (RandomForestRegressor(20, random_state=0), "oob"),
        (ForestRegressor(20, bootstrap=False, random_state=0), "cv"),
    ],
)
def test_any_regressor_can_be_wrapped(estimator, method):
    X, y = rows(200)
    model = ConformalRegressor(estimator, 0.8, cv=3, random_state=0).fit(X[:150], y[:150])
    assert model.method_ == method
    lower, upper = model.predict_interval(X[150:]).T
    # 50 rows: standard error 0.057; with that of the quantile of 150 rows, 0.033, four times 0.066.
    assert ((lower <= y[150:]) & (y[150:] <= upper)).mean() > 0.8 - 4 * 0.066
    assert "Interval at 0.8 coverage" in str(model.explain(X[:1])[0])
    np.testing.assert_array_equal(model.predict(X), clone(estimator).fit(X[:150], y[:150]).predict(X))


def test_a_frozen_model_is_calibrated_by_the_rows_of_fit():
    X, y = rows(200)
    fitted = LinearRegression().fit(X[:100], y[:100])
    model = ConformalRegressor.from_fitted(fitted, X[100:], y[100:], coverage=0.8)
    width = oracle.threshold(np.abs(y[100:] - fitted.predict(X[100:])).tolist(), 0.8)
    np.testing.assert_allclose(model.predict_interval(X)[:, 1], fitted.predict(X) + width)
    with pytest.raises(ValueError, match="method='cv' fits the estimator, and this one is frozen"):
        ConformalRegressor(FrozenEstimator(fitted), method="cv").fit(X, y)


def test_a_model_survives_its_file(tmp_path):
    X, y = rows(150)
    model = ConformalRegressor(FOREST, 0.7, NormalizedError(0.3), sides="each").fit(X, y)
    hedgerow.save(model, tmp_path / "model.hedgerow")
    twin = hedgerow.load(tmp_path / "model.hedgerow")
    np.testing.assert_array_equal(twin.predict_interval(X), model.predict_interval(X))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"coverage": 0}, r"coverage is 0, must be a number in \(0, 1\)"),
        ({"coverage": 0.99}, "intervals with coverage=0.99 need at least 99 calibration samples, and there are 60"),
        ({"coverage": 0.98, "sides": "each"}, "need at least 99 calibration samples, and there are 60"),
        ({"sides": "left"}, "sides is 'left', must be one of 'both', 'each', 'lower', 'upper'"),
        ({"method": "loo"}, "method='loo' needs a RandomTreesClassifier, and this is a ForestRegressor"),
        ({"conformity_score": "pinball"}, "must be one of 'absolute', 'normalized', 'cqr'"),
        ({"estimator": LinearRegression(), "conformity_score": "cqr"}, "needs a regressor with predict_quantiles"),
    ],
)
def test_what_makes_no_sense_is_refused(settings, message):
    X, y = rows(60)
    with pytest.raises(ValueError, match=message):
        ConformalRegressor(FOREST).set_params(**settings).fit(X, y)
