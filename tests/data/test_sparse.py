"""Sparse matrices, as pipelines of scikit-learn make them, give the answers of dense ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier

from hedgerow import (
    BoundaryClassifier,
    CautiousClassifier,
    CautiousForestClassifier,
    ForestClassifier,
    ForestRegressor,
    MeasuredTreeClassifier,
    MeasuredTreeRegressor,
    NaiveBayesTreeClassifier,
    RandomTreesClassifier,
    RuleClassifier,
    TreeClassifier,
    TreeRegressor,
)

RNG = np.random.default_rng(0)
X = np.where(RNG.random((60, 5)) < 0.6, 0.0, RNG.normal(size=(60, 5)).round(1))
Y = (X[:, 0] + X[:, 1] > 0.1).astype(int)

ESTIMATORS = [
    TreeClassifier(),
    TreeRegressor(),
    ForestClassifier(3, random_state=0),
    ForestRegressor(3, random_state=0),
    RandomTreesClassifier(3, random_state=0),
    RuleClassifier(RandomForestClassifier(3, random_state=0)),
    RuleClassifier(ForestClassifier(3, random_state=0)),
    CautiousClassifier(),
    CautiousForestClassifier(n_estimators=3, random_state=0),
    NaiveBayesTreeClassifier(),
    MeasuredTreeClassifier(sigma=0.1),
    MeasuredTreeRegressor(sigma=0.1),
    BoundaryClassifier(TreeClassifier(max_depth=2)),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_sparse_rows_get_the_answers_of_dense_ones(estimator: Any) -> None:
    dense = estimator.fit(X, Y)
    expected, forest = dense.predict(X), dense.forest_
    model = estimator.fit(sparse.csr_array(X), Y)
    assert model.forest_ == forest
    np.testing.assert_array_equal(model.predict(sparse.csc_matrix(X)), expected)
    assert model.__sklearn_tags__().input_tags.sparse
