"""The picture of coverage: its numbers against the metrics, what is drawn, and what is refused."""

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.datasets import load_diabetes, load_iris

from hedgerow import ConformalClassifier, ConformalRegressor, ForestRegressor, TreeClassifier, metrics
from hedgerow.plots import CoverageDisplay

LEVELS = (0.9, 0.6, 0.8)


def test_numbers_of_sets_are_those_of_the_metrics():
    X, y = load_iris(return_X_y=True)
    model = ConformalClassifier(coverage=0.5).fit(X[::2], y[::2])
    display = CoverageDisplay.from_estimator(model, X[1::2], y[1::2], levels=LEVELS)
    np.testing.assert_array_equal(display.levels, sorted(LEVELS))
    for level, coverage, size in zip(display.levels, display.coverage, display.size, strict=True):
        sets = model.predict_set(X[1::2], coverage=level)
        assert coverage == metrics.set_accuracy(y[1::2], sets, classes=model.classes_)
        assert size == sets.sum(axis=1).mean()
    np.testing.assert_array_equal(display.coverage_line_.get_ydata(), display.coverage)
    np.testing.assert_array_equal(display.size_line_.get_ydata(), display.size)
    assert display.size_ax_.get_ylabel() == "mean number of classes"


@pytest.mark.parametrize("model", [ConformalRegressor(coverage=0.5), ForestRegressor(20, random_state=0)])
def test_intervals_are_drawn_too(model):
    X, y = load_diabetes(return_X_y=True)
    model.fit(X[::2], y[::2])
    display = CoverageDisplay.from_estimator(model, X[1::2], y[1::2], levels=LEVELS)
    expected = [metrics.interval_coverage(y[1::2], model.predict_interval(X[1::2], level)) for level in sorted(LEVELS)]
    np.testing.assert_allclose(display.coverage, expected)


def test_the_band_holds_binomial_shares():
    display = CoverageDisplay(levels=np.array([0.8, 0.9]), coverage=np.zeros(2), size=np.ones(2), n_rows=400)
    for level, (low, high) in zip(display.levels, display.band, strict=True):
        inside = binom.cdf(high * 400, 400, level) - binom.cdf(low * 400, 400, level)
        assert abs(inside - 0.95) < 0.02  # a count more or less has a probability of at most 0.02 here


def test_what_promises_no_coverage_is_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="promises no coverage"):
        CoverageDisplay.from_estimator(TreeClassifier().fit(X, y), X, y)
    model = ConformalClassifier().fit(X, y)
    with pytest.raises(ValueError, match="levels is empty"):
        CoverageDisplay.from_estimator(model, X, y, levels=())
    with pytest.raises(ValueError, match="answers have shape"):
        CoverageDisplay.from_predictions(y, model.predict_set(X), levels=(0.9,), classes=model.classes_)
