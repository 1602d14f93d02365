"""Oblique trees and forests as estimators: parameters, wrappers on top, pruning, and what they are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression, RidgeClassifier

import oracles
from hedgerow import (
    BoundaryClassifier,
    CautiousClassifier,
    ObliqueForestClassifier,
    ObliqueTreeClassifier,
    ObliqueTreeRegressor,
    RuleClassifier,
    TreeClassifier,
    TreeRegressor,
    checks,
    load,
    save,
)
from hedgerow.boundary import algebraic_distance
from hedgerow.forest.kinds import NodeKind
from hedgerow.growth import RidgeSplit
from hedgerow.probability import MEstimate
from hedgerow.rules import Calibrated

Floats = NDArray[np.float64]


def mixed_data() -> tuple[Floats, Floats]:
    """Numbers, a nominal column and a few missing values."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    X[:, 3] = rng.integers(0, 6, size=300)
    signal = X[:, 0] + X[:, 1] / 2 + (X[:, 3] % 3) + rng.normal(size=300)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, signal


LIMITS = {
    "nominal": "binary",
    "missing": "category",
    "max_depth": 2,
    "min_samples_split": 60,
    "min_samples_leaf": 20,
    "min_weight_fraction_leaf": 0.1,
    "min_impurity_decrease": 0.05,
    "max_leaf_nodes": 4,
    "max_features": 1,
    "categorical_features": None,
}


def test_every_parameter_of_the_tree_changes_something() -> None:
    X, signal = mixed_data()
    changes = LIMITS | {"splitter": RidgeSplit(5.0), "criterion": "gini", "leaf_probability": MEstimate(5)}
    changes |= {"class_weight": "balanced", "collapse": True, "pruning": "pessimistic", "stopping": "chi_square"}
    changes |= {"cost_matrix": None, "cost_priors": True, "feature_costs": [1, 9, 1, 9]}
    costs = [[0, 5, 1], [1, 0, 1], [1, 2, 0]]
    tree = ObliqueTreeClassifier(categorical_features=[3], pruning=None, cost_matrix=costs)
    checks.check_every_parameter_changes_something(tree, changes, X, np.digitize(signal, [0, 2.5]))


def test_every_parameter_of_the_regressor_changes_something() -> None:
    X, signal = mixed_data()
    changes = LIMITS | {"splitter": RidgeSplit(5.0), "pruning": "cost_complexity"}
    tree = ObliqueTreeRegressor(categorical_features=[3], pruning=None)
    checks.check_every_parameter_changes_something(tree, changes, X, signal)


def test_every_parameter_of_the_forest_changes_something() -> None:
    X, signal = mixed_data()
    changes = LIMITS | {"splitter": RidgeSplit(5.0), "criterion": "entropy", "n_estimators": 4, "nominal": "multiway"}
    changes |= {"rule": "vote", "calibration": None, "tree_weights": "oob", "bootstrap": False, "max_samples": 0.5}
    changes |= {"class_weight": "balanced", "max_features": None, "cost_matrix": None, "feature_costs": [1, 9, 1, 9]}
    costs = [[0, 5, 1], [1, 0, 1], [1, 2, 0]]
    forest = ObliqueForestClassifier(8, cost_matrix=costs, categorical_features=[3], random_state=0)
    checks.check_every_parameter_changes_something(forest, changes, X, np.digitize(signal, [0, 2.5]))


@pytest.mark.parametrize("pruning", ["pessimistic", "reduced_error", "cost_complexity"])
def test_pruned_trees_keep_their_directions(pruning: str) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    whole = ObliqueTreeClassifier(pruning=None, min_samples_leaf=3).fit(X, y)
    pruned = whole.pruned(X, y, pruning=pruning) if pruning != "cost_complexity" else None
    pruned = pruned or ObliqueTreeClassifier(pruning=pruning, min_samples_leaf=3).fit(X, y)
    pruned.forest_.check()
    assert pruned.get_n_leaves() <= whole.get_n_leaves()
    assert pruned.forest_.kind[0] == NodeKind.OBLIQUE
    first = slice(*pruned.forest_.payload_start[:2])
    assert (pruned.forest_.payload_weights[first] == whole.forest_.payload_weights[first]).all()


def test_the_description_length_has_no_code_for_them() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(ValueError, match="no code for oblique splits"):
        ObliqueTreeClassifier(pruning="description_length").fit(X, y)


def test_they_are_better_where_the_boundary_is_a_slope() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 6))
    z = X @ rng.normal(size=6)
    half = slice(None, 300), slice(300, None)
    fitted = [one.fit(X[half[0]], z[half[0]] > 0) for one in (ObliqueTreeClassifier(), TreeClassifier())]
    oblique, plain = (one.score(X[half[1]], z[half[1]] > 0) for one in fitted)
    assert oblique > 0.95 > 0.85 > plain
    fitted = [one.fit(X[half[0]], z[half[0]]) for one in (ObliqueTreeRegressor(), TreeRegressor())]
    oblique, plain = (one.score(X[half[1]], z[half[1]]) for one in fitted)
    assert oblique > plain + 0.2


def test_importances_follow_what_the_columns_move() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 3)) * [1.0, 100.0, 1.0]
    y = X[:, 0] + X[:, 1] / 100 > 0
    for model in (ObliqueTreeClassifier(max_depth=1), ObliqueForestClassifier(20, max_features=None, random_state=0)):
        found = model.fit(X, y).feature_importances_
        assert_allclose(found, [0.5, 0.5, 0], atol=0.1)
        assert_allclose(RuleClassifier.from_fitted(model).feature_importances_, found)


@pytest.mark.parametrize("splitter", ["ridge", RidgeClassifier()], ids=["ours", "scikit-learn's"])
def test_the_same_seed_gives_the_same_forest_for_any_n_jobs(splitter: Any) -> None:
    X, y = load_iris(return_X_y=True)
    model = ObliqueForestClassifier(6, splitter, max_depth=3, random_state=0)
    forests = [model.set_params(n_jobs=n).fit(X, y).forest_ for n in (1, 2, 5)]
    for other in forests[1:]:
        for name in ("threshold", "feature", "payload_codes", "payload_weights", "leaf_counts"):
            assert getattr(other, name).tobytes() == getattr(forests[0], name).tobytes()


def test_out_of_bag_rows_score_the_forest() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    forest = ObliqueForestClassifier(50, oob_score=True, random_state=0).fit(X, y)
    assert forest.oob_score_ > 0.95
    assert forest.oob_decision_function_.shape == (len(X), 2)
    assert (forest.forest_.kind == NodeKind.OBLIQUE).any()
    assert isinstance(forest.rule_, Calibrated)


@pytest.mark.parametrize("rule", ["probability", "evidence", "dempster", "vote"])
def test_rules_combine_them(rule: str) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    forest = ObliqueForestClassifier(10, random_state=0).fit(X[::2], y[::2])
    model = RuleClassifier.from_fitted(forest, rule)
    assert model.score(X[1::2], y[1::2]) > 0.93
    assert_allclose(model.leaf_counts(X[:5]), forest.leaf_counts(X[:5]))


def test_cautious_sets_cover_more_than_single_classes() -> None:
    X, y = load_iris(return_X_y=True)
    forest = ObliqueForestClassifier(20, calibration=None, min_samples_split=2, random_state=0)
    model = CautiousClassifier(forest).fit(X[::2], y[::2])
    sets = model.predict_set(X[1::2])
    right = sets[np.arange(len(sets)), y[1::2]].mean()
    assert right >= model.score(X[1::2], y[1::2])
    low, high = np.moveaxis(model.predict_bounds(X[1::2]), -1, 0)
    assert (low <= high).all()


def test_boundary_probabilities_use_the_distance_to_the_slope() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = X @ [1.0, 1.0] + rng.normal(size=200) / 3 > 0
    tree = ObliqueTreeClassifier(max_leaf_nodes=2)
    model = BoundaryClassifier(tree, bandwidth=0.2).fit(X, y)
    forest = model.estimator_.forest_
    w, at = forest.payload_weights, forest.threshold[0]
    expected = np.abs(X @ w - at) / np.linalg.norm(w)
    assert_allclose(np.abs(algebraic_distance(forest, X, 1)), expected, rtol=1e-9)
    far, near = np.array([[3.0, 3.0]]), X[[expected.argmin()]]
    assert model.predict_proba(far)[0, 1] > 0.85 > model.predict_proba(near)[0, 1] > 0.1


def test_rows_go_down_as_a_literal_walk_takes_them() -> None:
    X, signal = mixed_data()
    forest = ObliqueTreeClassifier(categorical_features=[3], pruning=None).fit(X, signal > 1).forest_
    assert (forest.kind == NodeKind.OBLIQUE).any()
    tree = ObliqueTreeClassifier(categorical_features=[3], pruning=None).fit(X, signal > 1)
    for row, leaf in zip(X[:60], tree.apply(X[:60]), strict=True):
        assert oracles.route(forest, row, 0) == leaf


def test_a_tree_made_by_a_linear_model_of_scikit_learn_survives_its_file(tmp_path: Any) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    tree = ObliqueTreeClassifier(LogisticRegression(C=0.1), max_depth=2, pruning=None).fit(X / X.std(axis=0), y)
    save(tree, tmp_path / "tree.hedgerow")
    again = load(tmp_path / "tree.hedgerow")
    assert again.splitter.get_params() == tree.splitter.get_params()
    assert (again.predict_proba(X) == tree.predict_proba(X)).all()


def test_a_leaf_of_a_regressor_is_the_mean_of_its_rows() -> None:
    X, y = load_diabetes(return_X_y=True)
    tree = ObliqueTreeRegressor(max_leaf_nodes=5).fit(X, y)
    leaves = tree.apply(X)
    assert_allclose(tree.predict(X), [y[leaves == leaf].mean() for leaf in leaves])
