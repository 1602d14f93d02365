"""MAPIE and crepes take estimators of this package as they are."""

import numpy as np
import pytest
from sklearn.datasets import make_classification, make_friedman1

from hedgerow import ConformalClassifier, ForestClassifier, ForestRegressor


def test_mapie_calibrates_a_forest():
    mapie = pytest.importorskip("mapie.classification", reason="MAPIE is not installed")
    X, y = make_classification(600, 6, n_informative=4, n_classes=3, random_state=0)
    forest = ForestClassifier(30, random_state=0).fit(X[:200], y[:200])
    theirs = mapie.SplitConformalClassifier(forest, 0.8, "lac", prefit=True).conformalize(X[200:400], y[200:400])
    ours = ConformalClassifier.from_fitted(forest, X[200:400], y[200:400], coverage=0.8, allow_empty=True)
    np.testing.assert_array_equal(theirs.predict_set(X[400:])[1][:, :, 0], ours.predict_set(X[400:]))


def test_mapie_cross_validates_a_forest():
    mapie = pytest.importorskip("mapie.regression", reason="MAPIE is not installed")
    X, y = make_friedman1(200, random_state=0)
    theirs = mapie.CrossConformalRegressor(ForestRegressor(10, random_state=0), 0.8, cv=3)
    _, ends = theirs.fit_conformalize(X[:150], y[:150]).predict_interval(X[150:])
    assert ends.shape == (50, 2, 1)


def test_crepes_wraps_a_forest():
    crepes = pytest.importorskip("crepes", reason="crepes is not installed")
    X, y = make_friedman1(400, random_state=0)
    wrapped = crepes.WrapRegressor(ForestRegressor(20, random_state=0))
    wrapped.fit(X[:200], y[:200])
    wrapped.calibrate(X[200:300], y[200:300])
    ends = wrapped.predict_int(X[300:], confidence=0.8)
    errors = np.sort(np.abs(y[200:300] - wrapped.predict(X[200:300])))
    np.testing.assert_allclose(ends[:, 1] - wrapped.predict(X[300:]), errors[int(np.ceil(101 * 0.8)) - 1])
