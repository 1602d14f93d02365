"""Sample weights: counts or relative, their range, and the forms that they come in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.ensemble import AdaBoostClassifier, RandomForestClassifier
from sklearn.model_selection import cross_val_score
from sklearn.tree import DecisionTreeClassifier

import hedgerow
from hedgerow import (
    BoundaryClassifier,
    CautiousClassifier,
    CautiousForestClassifier,
    ForestClassifier,
    ForestRegressor,
    MeasuredTreeClassifier,
    MeasuredTreeRegressor,
    RandomTreesClassifier,
    RuleClassifier,
    TreeClassifier,
    TreeRegressor,
)
from hedgerow.credal import get
from hedgerow.data.targets import read_weights
from hedgerow.estimators.fitting.bagging import n_draws
from hedgerow.growth import Fractional

NAN = np.nan

WEIGHTED = [
    TreeClassifier(),
    TreeClassifier.c45(),
    TreeClassifier.cart(),
    TreeClassifier(pruning="description_length", leaf_probability="laplace"),
    TreeClassifier(stopping="chi_square", pruning=None),
    TreeRegressor(),
    TreeRegressor(pruning=None, missing=Fractional(min_fraction=0.0)),
    ForestClassifier(5, bootstrap=False, random_state=0),
    ForestClassifier(5, max_samples=0.5, random_state=0),
    ForestRegressor(5, bootstrap=False, missing="fractional", random_state=0),
    RandomTreesClassifier(5, random_state=0),
    MeasuredTreeClassifier(0.3),
    MeasuredTreeRegressor(0.3),
    BoundaryClassifier(),
    RuleClassifier(ForestClassifier(5, bootstrap=False, random_state=0)),
    RuleClassifier(DecisionTreeClassifier(random_state=0)),
    CautiousForestClassifier(n_estimators=5, random_state=0),
]


def answers(model: Any, X: Any) -> Any:
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


# -- counts, or relative weights


@pytest.mark.parametrize("estimator", WEIGHTED, ids=repr)
@pytest.mark.parametrize("factor", [1 / 150, 0.5, 1e-30, np.pi * 1e20])
def test_a_common_factor_that_leaves_no_whole_numbers_changes_nothing(estimator: Any, factor: float) -> None:
    X, y = load_iris(return_X_y=True)
    plain = clone(estimator).fit(X, y)
    scaled = clone(estimator).fit(X, y, sample_weight=np.full(150, factor))
    np.testing.assert_allclose(answers(scaled, X), answers(plain, X), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(scaled.forest_.weight, plain.forest_.weight, rtol=1e-9)


def test_whole_weights_are_copies() -> None:
    X, y = load_iris(return_X_y=True)
    weight = np.arange(150) % 4
    copies = TreeClassifier().fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert TreeClassifier().fit(X, y, sample_weight=weight).forest_ == copies.forest_


def test_relative_weights_add_up_to_the_rows_that_count() -> None:
    X = np.zeros((4, 1))
    np.testing.assert_allclose(read_weights([0.1, 0.1, 0, 0.2], X), [0.75, 0.75, 0, 1.5])
    assert read_weights([2, 4, 0, 6], X).tolist() == [2, 4, 0, 6]
    # Beyond 2**53 all floats are whole: they count nothing.
    assert read_weights([2.0**60, 2.0**60, 0, 2.0**61], X).tolist() == [0.75, 0.75, 0, 1.5]


@pytest.mark.parametrize(
    ("weight", "class_weight", "expected"),
    [
        (None, {0: 0.5, 1: 1.5}, [0.5, 0.5, 1.5, 1.5]),
        (None, {0: 0.1, 1: 0.3}, [0.5, 0.5, 1.5, 1.5]),
        (None, {0: 1, 1: 3}, [1, 1, 3, 3]),
        ([100, 100, 200, 0], {0: 0.5, 1: 1.5}, [50, 50, 300, 0]),
        ([100, 300, 100, 100], {0: 0.001, 1: 0.003}, [60, 180, 180, 180]),
        ([0.2, 0.2, 0.4, 0.4], {0: 0, 1: 0.1}, [0, 0, 4 / 3, 4 / 3]),
    ],
)
def test_class_weights_that_are_not_whole_numbers_keep_the_total(weight: Any, class_weight: Any, expected: Any) -> None:
    found = read_weights(weight, np.zeros((4, 1)), class_weight, np.array([0, 0, 1, 1]))
    np.testing.assert_allclose(found, expected)


# Wine has 178 rows, so that a standard error of the difference is about 0.025; twice that is allowed.
@pytest.mark.parametrize(("load", "tolerance"), [(load_breast_cancer, 0.02), (load_wine, 0.05)])
@pytest.mark.parametrize("tree", [TreeClassifier(), TreeClassifier.c45()], ids=["default", "c45"])
def test_boosted_trees_are_about_as_good_as_scikit_learns(load: Any, tolerance: float, tree: Any) -> None:
    X, y = load(return_X_y=True)

    def accuracy(one: Any) -> float:
        return float(cross_val_score(AdaBoostClassifier(one, n_estimators=10, random_state=0), X, y, cv=3).mean())

    assert accuracy(tree) > accuracy(DecisionTreeClassifier(max_depth=3, random_state=0)) - tolerance


def test_partial_fit_keeps_the_unit_of_the_first_call() -> None:
    X, y = load_iris(return_X_y=True)
    weight = np.linspace(0.001, 0.002, 150)
    model = RandomTreesClassifier(5, random_state=0).fit(X[::2], y[::2], sample_weight=weight[::2])
    assert model.weight_unit_ == pytest.approx(weight[::2].mean())
    model.partial_fit(X[1::2], y[1::2], sample_weight=weight[1::2])
    expected = np.bincount(y, weights=weight) / model.weight_unit_
    np.testing.assert_allclose(model.class_count_, expected)
    np.testing.assert_allclose(model.forest_.counts.sum(axis=0), 5 * expected)
    counted = RandomTreesClassifier(5, random_state=0).fit(X[::2], y[::2])
    counted.partial_fit(X[1::2], y[1::2], sample_weight=np.full(75, 0.5))
    assert counted.weight_unit_ == 1
    assert counted.class_count_.sum() == 75 * 1.5


def test_the_unit_of_weights_survives_a_file(tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    model = RandomTreesClassifier(3, random_state=0).fit(X, y, sample_weight=np.full(150, 0.01))
    hedgerow.save(model, tmp_path / "model.hedgerow")
    assert hedgerow.load(tmp_path / "model.hedgerow").weight_unit_ == model.weight_unit_ == 0.01
    model.weight_unit_ = -1.0
    with pytest.raises(ValueError, match="weight_unit_ must be a positive number"):
        hedgerow.save(model, tmp_path / "wrong.hedgerow")


# -- weights of very different size


def test_weights_that_are_too_far_apart_are_refused() -> None:
    X, y = [[3, 1], [NAN, NAN], [3, 0]], [3, 2, 1]
    with pytest.raises(ValueError, match="sample_weight of row 1 is 1e-300, less than 1e-100 of the largest, 1: use 0"):
        TreeRegressor().fit(X, y, sample_weight=[1, 1e-300, 1e-300])
    with pytest.raises(ValueError, match="class_weight times sample_weight of row 2"):
        TreeClassifier(class_weight={1: 1e-60, 2: 1, 3: 1}).fit(X, y, sample_weight=[1, 1, 1e-60])


@pytest.mark.parametrize("estimator", WEIGHTED, ids=repr)
@pytest.mark.filterwarnings("ignore:column .* has a variance of:UserWarning")  # one row has nearly all of the weight
def test_weights_of_very_different_size_give_finite_answers(estimator: Any, tmp_path: Path) -> None:
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 5, size=(rng.integers(3, 25), 3)).astype(float)
        X[rng.random(X.shape) < 0.3] = NAN
        y = np.concatenate([[0, 1, 2], rng.integers(0, 3, size=len(X) - 3)])
        model = clone(estimator).fit(X, y, sample_weight=10.0 ** -rng.uniform(0, 99, size=len(X)))
        assert np.isfinite(answers(model, X)).all()
        model.forest_.check()
    if "Decision" not in repr(model):  # scikit-learn's are not saved
        hedgerow.save(model, tmp_path / "model.hedgerow")
        assert hedgerow.load(tmp_path / "model.hedgerow").forest_ == model.forest_


# -- draws


def test_a_fraction_of_the_draws_is_one_of_the_rows() -> None:
    assert n_draws(True, 0.5, False, 1000) == 500
    assert n_draws(True, None, False, 1000) == 1000
    X, y = load_iris(return_X_y=True)
    for weight in (np.full(150, 1_000_000), np.full(150, 1e-6), np.full(150, 1)):
        forest = ForestClassifier(3, max_samples=0.5, random_state=0).fit(X, y, sample_weight=weight)
        assert forest.forest_.weight[forest.forest_.tree_start[:-1]].tolist() == [75, 75, 75]
    some = np.where(np.arange(150) < 100, 3, 0)
    forest = ForestClassifier(2, max_samples=0.5, random_state=0).fit(X, y, sample_weight=some)
    assert forest.forest_.weight[forest.forest_.tree_start[:-1]].tolist() == [50, 50]


# -- the forms that weights and data come in


@pytest.mark.parametrize("estimator", WEIGHTED, ids=repr)
def test_weights_may_be_a_column_of_a_table(estimator: Any) -> None:
    X, y = load_iris(return_X_y=True)
    table = np.column_stack([np.arange(150) % 3 + 1.0, np.zeros(150)])
    strided = clone(estimator).fit(X, y, sample_weight=table[:, 0])
    assert strided.forest_ == clone(estimator).fit(X, y, sample_weight=table[:, 0].copy()).forest_


@pytest.mark.parametrize("weight", [1.0, 2, np.float64(2), np.array(2.0)])
def test_a_number_is_the_weight_of_every_row(weight: Any) -> None:
    X, y = load_iris(return_X_y=True)
    tree = TreeClassifier().fit(X, y, sample_weight=weight)
    assert tree.forest_ == TreeClassifier().fit(X, y, sample_weight=np.full(150, float(weight))).forest_


def test_masked_entries_of_x_are_missing() -> None:
    X, y = load_iris(return_X_y=True)
    mask = np.random.default_rng(0).random(X.shape) < 0.2
    expected = TreeClassifier().fit(np.where(mask, NAN, X), y)
    tree = TreeClassifier().fit(np.ma.array(X, mask=mask), y)
    assert tree.forest_ == expected.forest_
    found = tree.predict_proba(np.ma.array(X, mask=mask))
    assert found.tobytes() == expected.predict_proba(np.where(mask, NAN, X)).tobytes()
    tens = (10 * X).astype(int)
    whole = TreeClassifier().fit(np.ma.array(tens, mask=mask), y)
    assert whole.forest_ == TreeClassifier().fit(np.where(mask, NAN, tens), y).forest_
    assert TreeClassifier().fit(np.ma.array(X), y).forest_ == TreeClassifier().fit(X, y).forest_


@pytest.mark.parametrize("estimator", [TreeClassifier(), TreeRegressor(pruning=None)], ids=repr)
def test_masked_targets_and_weights_are_refused(estimator: Any) -> None:
    X, y = np.arange(4.0)[:, np.newaxis], [0, 0, 1, 1]
    with pytest.raises(ValueError, match="Input y is masked in row 2"):
        clone(estimator).fit(X, np.ma.array(y, mask=[0, 0, 1, 0]))
    with pytest.raises(ValueError, match="sample_weight of row 1 is masked"):
        clone(estimator).fit(X, y, sample_weight=np.ma.array([1, 1, 1, 1], mask=[0, 1, 0, 0]))
    whole = clone(estimator).fit(X, np.ma.array(y), sample_weight=np.ma.array([1, 1, 1, 1]))
    assert whole.forest_ == clone(estimator).fit(X, y).forest_


def test_masked_errors_of_measurements_are_refused() -> None:
    X, y = np.arange(4.0)[:, np.newaxis], [0.0, 1, 1, 0]
    with pytest.raises(ValueError, match="y_err is masked in row 3"):
        MeasuredTreeRegressor().fit(X, y, y_err=np.ma.array(np.ones(4), mask=[0, 0, 0, 1]))
    with pytest.raises(ValueError, match="X_err of column 'x0' is nan in row 3"):
        MeasuredTreeRegressor().fit(X, y, X_err=np.ma.array(np.ones((4, 1)), mask=[[0], [0], [0], [1]]))


@pytest.mark.parametrize(
    "X", [[["1"], ["2"]], np.array([["1"], ["2"]]), np.array([[1.0], ["2"]], dtype=object), np.array([[b"1"], [b"2"]])]
)
def test_digits_in_an_array_are_text(X: Any) -> None:
    with pytest.raises(ValueError, match=r"Input X contains text: column 'x0' has b?'.' in row .*must hold numbers"):
        TreeClassifier().fit(X, [0, 1])
    with pytest.raises(ValueError, match="Input X contains text"):
        TreeClassifier().fit([[1.0], [2.0]], [0, 1]).predict(X)


# -- weights of trees


@pytest.mark.parametrize("aggregate", ["belief", "average", "vote", "conjunction", "disjunction"])
def test_sets_honour_tree_weights(aggregate: str) -> None:
    X, y = load_iris(return_X_y=True)
    forest = ForestClassifier(5, max_depth=2, tree_weights=[0, 0, 1, 0, 0], min_samples_split=2, random_state=0)
    taken = CautiousClassifier.from_fitted(clone(forest).fit(X, y), s=1.0, aggregate=aggregate)
    fitted = CautiousClassifier(forest, s=1.0, aggregate=aggregate).fit(X, y)
    counts = fitted.leaf_counts(X)[:, 2:3]
    bounds, sets = get(aggregate, "epistemic").of_counts(counts, 1.0)
    for model in (taken, fitted):
        np.testing.assert_allclose(model.predict_bounds(X), bounds)
        assert (model.predict_set(X) == sets).all()
        assert (model.predict(X) == counts[:, 0].argmax(axis=1)).all()


def test_sets_honour_the_prior_of_random_trees() -> None:
    X, y = load_iris(return_X_y=True)
    X, y = X[:120], y[:120]
    prior = [0.2, 0.2, 0.6]
    trees = RandomTreesClassifier(5, random_state=0)
    expected = CautiousClassifier(trees, class_prior=prior).fit(X, y)
    own = clone(trees).set_params(class_prior=prior)
    for model in (CautiousClassifier(own).fit(X, y), CautiousClassifier.from_fitted(clone(own).fit(X, y))):
        np.testing.assert_allclose(model.class_prior_, [50 / 120, 50 / 120, 20 / 120])
        assert model.predict_bounds(X).tobytes() == expected.predict_bounds(X).tobytes()
    again = CautiousClassifier(own, class_prior=prior).fit(X, y)
    assert again.predict_bounds(X).tobytes() == expected.predict_bounds(X).tobytes()


# -- metadata routing


MADE_HERE = [
    CautiousForestClassifier(n_estimators=5, random_state=0),
    CautiousClassifier(),
    RuleClassifier(),
    BoundaryClassifier(),
]


@pytest.mark.parametrize("estimator", MADE_HERE, ids=repr)
def test_models_made_here_request_the_weights_that_they_are_passed(estimator: Any) -> None:
    X, y = load_iris(return_X_y=True)
    weight = np.arange(150) % 3 + 1.0
    expected = clone(estimator).fit(X, y, sample_weight=weight)
    with sklearn.config_context(enable_metadata_routing=True):
        assert clone(estimator).fit(X, y, sample_weight=weight).forest_ == expected.forest_
        asked = clone(estimator).set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        scores = cross_val_score(asked, X, y, params={"sample_weight": weight}, cv=3)
    assert (scores > 0.85).all()


def test_foreign_trees_are_given_rescaled_weights() -> None:
    X, y = load_iris(return_X_y=True)
    forest = RandomForestClassifier(5, bootstrap=False, random_state=0)
    shares = RuleClassifier(forest).fit(X, y, sample_weight=np.full(150, 1 / 150))
    np.testing.assert_allclose(shares.predict_proba(X), RuleClassifier(forest).fit(X, y).predict_proba(X))
