"""Proximities against their literal definition, and what follows from them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine

import strategies
from effort import examples
from hedgerow import (
    ForestClassifier,
    ForestRegressor,
    MeasuredTreeClassifier,
    RandomTreesClassifier,
    RuleClassifier,
    TreeClassifier,
)
from hedgerow.estimators.contract import unseen_rows
from hedgerow.inspection import neighbors, outlier_scores, prototypes, proximity
from hedgerow.walk import ForestWalk
from oracles import proximity as oracle


class OfForest:
    """A forest that can be asked like a fitted model."""

    def __init__(self, forest: Any) -> None:
        self.forest_, self._walk = forest, ForestWalk(forest, 1)

    def _read(self, X: Any) -> Any:
        return X

    def _respond(self, rows: Any, verbs: Any) -> Any:
        raise NotImplementedError

    def get_tree_weights(self) -> None:
        return None


@given(strategies.forests_with_rows())
@settings(max_examples=examples(16, 60), deadline=None)
def test_it_is_the_chance_of_reaching_the_same_leaf(case: Any) -> None:
    forest, rows = case
    found = proximity(OfForest(forest), rows, rows[::-1].copy()).toarray()
    expected = [[oracle.proximity(forest, x, y) for y in rows[::-1]] for x in rows]
    assert np.allclose(found, expected, rtol=0, atol=1e-12)


def _fitted(**settings_of: Any) -> tuple[ForestClassifier, Any, Any]:
    X, y = strategies.mixed_data()
    return ForestClassifier(15, random_state=0, **settings_of).fit(X, y), X, y


def test_a_row_is_as_close_to_itself_as_can_be_and_closeness_is_mutual() -> None:
    forest, X, _ = _fitted()
    close = proximity(forest, X).toarray()
    known = ~np.isnan(X).any(axis=1)
    assert np.allclose(np.diag(close)[known], 1.0)
    assert (np.diag(close) <= 1).all()
    assert np.allclose(close, close.T, rtol=0, atol=1e-12)


def test_trees_count_by_their_weights() -> None:
    forest, X, _ = _fitted(tree_weights=np.arange(15.0))
    expected = [[oracle.proximity(forest.forest_, x, y, forest.get_tree_weights()) for y in X[5:10]] for x in X[:5]]
    assert np.allclose(proximity(forest, X[:5], X[5:10]).toarray(), expected, rtol=0, atol=1e-12)


def test_the_largest_entries_are_those_of_the_full_matrix() -> None:
    forest, X, _ = _fitted()
    full, near = proximity(forest, X).toarray(), neighbors(forest, X, X[:30], n_neighbors=7)
    for row, indices, shares in zip(full, *near, strict=False):
        order = np.lexsort((np.arange(len(row)), -row))[:7]
        order = order[row[order] > 0]
        assert (indices[: len(order)] == order).all()
        assert (indices[len(order) :] == -1).all()
        assert (shares[: len(order)] == row[order]).all()
    kept = proximity(forest, X[:30], X, n_neighbors=7)
    assert np.diff(kept.indptr).max() == 7
    assert (kept.toarray() <= full[:30]).all()


def test_a_training_row_is_not_its_own_neighbor() -> None:
    forest, X, _ = _fitted()
    near = neighbors(forest, X, n_neighbors=3)
    assert not (near.indices == np.arange(len(X))[:, np.newaxis]).any()


@pytest.mark.parametrize("n_jobs", [2, 5])
def test_the_same_for_any_n_jobs_and_whatever_rows_stand_beside(n_jobs: int) -> None:
    forest, X, _ = _fitted()
    one, many = proximity(forest, X, X), proximity(forest.set_params(n_jobs=n_jobs), X, X)
    assert (one.toarray() == many.toarray()).all()
    assert (proximity(forest, X[7:8], X).toarray() == one.toarray()[7:8]).all()


def test_outliers_as_breiman_defines_them() -> None:
    X, y = load_wine(return_X_y=True)
    forest = ForestClassifier(50, random_state=0).fit(X, y)
    close = proximity(forest, X).toarray()
    assert np.allclose(outlier_scores(forest, X, y), oracle.outlier_scores(close, y))


def test_outliers_out_of_bag_count_trees_that_saw_neither_row() -> None:
    X, y = load_wine(return_X_y=True)
    X, y = X[::6], y[::6]
    forest = ForestClassifier(25, random_state=0).fit(X, y)
    bits = unseen_rows(forest, X, y).seen
    unseen = np.unpackbits(bits, axis=1, count=len(X), bitorder="little").T == 0
    close = np.array(
        [
            [oracle.out_of_bag(forest.forest_, X[i], X[j], unseen[i], unseen[j]) for j in range(len(X))]
            for i in range(len(X))
        ]
    )
    assert np.allclose(outlier_scores(forest, X, y, rows="oob"), oracle.outlier_scores(close, y))


def test_out_of_bag_scores_need_what_was_fitted() -> None:
    X, y = load_wine(return_X_y=True)
    forest = ForestClassifier(10, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="y is None, and rows='oob' needs the y of fit"):
        outlier_scores(forest, X, rows="oob")
    with pytest.raises(ValueError, match="is not what the model was fitted with"):
        outlier_scores(forest, X[1:], y[1:], rows="oob")
    with pytest.raises(ValueError, match="rows is 'bag', must be"):
        outlier_scores(forest, X, y, rows="bag")
    weighted = ForestClassifier(10, random_state=0).fit(X, y, sample_weight=np.arange(len(X)))
    with pytest.raises(ValueError, match="sample_weight is 0 for 1 rows"):
        outlier_scores(weighted, X, y, rows="oob", sample_weight=np.arange(len(X)))
    random = RandomTreesClassifier(10, random_state=0).fit(X, y)
    np.testing.assert_array_equal(outlier_scores(random, X, y, rows="oob"), outlier_scores(random, X, y))


def test_a_mislabelled_row_is_an_outlier_of_its_class() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    forest = ForestClassifier(60, random_state=0).fit(X, y)
    wrong = y.copy()
    surest = int(forest.predict_proba(X)[:, 1].argmax())
    wrong[surest] = 0
    scores = outlier_scores(forest, X, wrong)
    assert scores[surest] > 10
    assert (scores[wrong == 0] >= scores[surest]).mean() < 0.1


def test_regressors_have_outliers_too() -> None:
    X, y = load_diabetes(return_X_y=True)
    forest = ForestRegressor(20, random_state=0).fit(X, y)
    scores = outlier_scores(forest, X)
    assert scores.shape == (len(X),)
    np.testing.assert_allclose(np.median(scores), 0, atol=1e-14)  # the mean of two middle scores, -s and s


def test_prototypes_stand_for_rows_of_their_class() -> None:
    X, y = load_iris(return_X_y=True)
    forest = ForestClassifier(50, random_state=0).fit(X, y)
    found = prototypes(forest, X, y, n_prototypes=2, n_neighbors=15)
    assert [one.label for one in found] == [0, 0, 1, 1, 2, 2]
    for first, second in zip(found[::2], found[1::2], strict=True):
        assert not set(first.covered) & set(second.covered)
        assert len(first.covered) >= len(second.covered)
        assert (y[list(first.covered)] == first.label).all()
        assert first.row == first.covered[0]


def test_fewer_prototypes_than_asked_for_where_all_rows_are_covered() -> None:
    tree = TreeClassifier.cart().fit([[0.0], [1.0], [9.0]], ["a", "a", "b"])
    found = prototypes(tree, [[0.0], [1.0], [9.0]], ["a", "a", "b"], n_prototypes=5)
    assert [(one.label, one.covered) for one in found] == [("a", (0, 1)), ("b", (2,))]


def test_soft_trees_count_by_membership() -> None:
    X, y = load_iris(return_X_y=True)
    tree = MeasuredTreeClassifier(0.3, max_leaf_nodes=4).fit(X, y)
    shares = tree._walk.spread(X[:9]).toarray()
    assert np.allclose(proximity(tree, X[:9]).toarray(), shares @ shares.T)


def test_errors_name_the_parameter() -> None:
    X, y = load_iris(return_X_y=True)
    tree = TreeClassifier().fit(X, y)
    with pytest.raises(ValueError, match="n_neighbors is 0"):
        neighbors(tree, X, n_neighbors=0)
    with pytest.raises(TypeError, match="must be a fitted estimator of hedgerow"):
        proximity(object(), X)  # type: ignore[arg-type]
    assert proximity(RuleClassifier.from_fitted(tree), X[:2]).shape == (2, 2)
