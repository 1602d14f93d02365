"""Oblique splits: directions against literal ones, limits, missing values, and linear models of scikit-learn."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.datasets import load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import HuberRegressor, LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.svm import SVC, LinearSVC, OneClassSVM

from growth_problems import grow, options_of, random_problem
from hedgerow import Forest, ObliqueTreeClassifier, ObliqueTreeRegressor, TreeClassifier
from hedgerow.forest.kinds import NodeKind
from hedgerow.growth import RidgeSplit, linear_model
from oracles.growth import Problem
from oracles.oblique import check_tree

CRITERIA = ("gini", "entropy", "gain_ratio", "squared_error")


def slanted_problem(seed: int, criterion: str, *, gaps: float = 0.03, **changes: Any) -> Problem:
    """Three numeric columns whose sum matters and a nominal one; a few values, `gaps`, are missing."""
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, 70, 4, criterion=criterion, missing="fractional")
    X = rng.normal(size=(70, 3))
    signal = X @ [1.0, -2.0, 0.5] + rng.normal(size=70) / 3
    X[rng.random(X.shape) < gaps] = np.nan
    targets = signal if criterion == "squared_error" else np.digitize(signal, [-1.0, 1.0])
    columns = [*X.T.tolist(), rng.integers(0, 3, 70).astype(float).tolist()]
    return replace(
        problem,
        columns=columns,
        n_categories=[0, 0, 0, 3],
        targets=[float(t) for t in targets],
        n_classes=0 if criterion == "squared_error" else 3,
        weights=rng.integers(1, 4, 70).astype(float).tolist(),
        min_fraction=0.0,
        max_depth=4,
        **changes,
    )


def grow_oblique(problem: Problem, model: Any) -> Forest:
    options = options_of(problem)
    options.linear_model = model
    return grow(problem, options)


@pytest.mark.parametrize("penalty", [0.01, 1.0])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_every_node_has_the_best_of_literal_directions_and_columns(criterion: str, penalty: float) -> None:
    n_oblique = 0
    for seed in range(3):
        problem = slanted_problem(seed, criterion)
        n_oblique += check_tree(problem, grow_oblique(problem, penalty), penalty)
    assert n_oblique >= 3


def test_directions_are_literal_where_a_fifth_of_the_values_is_missing() -> None:
    problem = slanted_problem(3, "gini", gaps=0.2)
    forest = grow_oblique(problem, 0.1)
    assert check_tree(problem, forest, 0.1) > 0
    assert forest.payload_means is not None
    assert np.isfinite(forest.payload_means).any()


@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
def test_an_oblique_split_costs_as_much_as_its_columns(criterion: str) -> None:
    problem = slanted_problem(0, criterion, feature_costs=[1.0, 2.0, 4.0, 1.0])
    cheap = check_tree(problem, grow_oblique(problem, 0.01), 0.01)
    free = replace(problem, feature_costs=None)
    assert cheap < check_tree(free, grow_oblique(free, 0.01), 0.01)


def plane(n_rows: int = 200) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    X = np.random.default_rng(0).normal(size=(n_rows, 2))
    return X, X @ [3.0, 1.0] > 0.5


def test_a_plane_takes_one_split_in_the_unit_of_the_column_that_weighs_most() -> None:
    X, y = plane()
    tree = ObliqueTreeClassifier().fit(X, y)
    assert tree.get_n_leaves() == 2
    np.testing.assert_allclose(tree.forest_.payload_weights, [1.0, 1 / 3], rtol=0.2)
    assert tree.forest_.payload_weights[0] == 1.0
    assert TreeClassifier().fit(X, y).get_n_leaves() > 5


def test_training_rows_go_where_predictions_go() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 5)) * 10.0 ** rng.integers(-6, 6, 5) + 1e5
    y = rng.integers(0, 3, 300)
    tree = ObliqueTreeClassifier(pruning=None, leaf_probability="frequency").fit(X, y)
    assert (tree.forest_.kind == NodeKind.OBLIQUE).any()
    assert (tree.predict(X) == y).all()


def test_weights_of_rows_are_repeated_rows() -> None:
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = ObliqueTreeClassifier(pruning=None).fit(X, y, sample_weight=weight)
    repeated = ObliqueTreeClassifier(pruning=None).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert weighted.to_text() == repeated.to_text()


def test_the_unit_of_a_column_does_not_matter() -> None:
    X, y = load_iris(return_X_y=True)
    tree = ObliqueTreeClassifier().fit(X, y)
    other = ObliqueTreeClassifier().fit(X * 2.0 ** np.array([5, -3, 0, 9]), y)
    assert (tree.predict(X) == other.predict(X * 2.0 ** np.array([5, -3, 0, 9]))).all()


def test_extreme_columns_are_left_to_axis_parallel_splits() -> None:
    X = np.array([[1e308, 1e308], [-1e308, 1e308], [1e308, -1e308], [-1e308, -1e308]] * 3)
    tree = ObliqueTreeClassifier(pruning=None).fit(X, X[:, 0] > 0)
    assert tree.forest_.feature[0] == 0


def test_constant_and_equal_columns_do_no_harm() -> None:
    X, y = plane()
    tree = ObliqueTreeClassifier(RidgeSplit(0.0)).fit(np.column_stack([np.ones(len(X)), X, X[:, 0]]), y)
    assert tree.get_n_leaves() == 2
    assert 0 not in tree.forest_.payload_codes


def test_nominal_columns_are_split_alone() -> None:
    X, y = plane()
    codes = np.random.default_rng(1).integers(0, 3, len(X))
    tree = ObliqueTreeClassifier(categorical_features=[2]).fit(np.column_stack([X, codes]), y ^ (codes == 1))
    assert 2 not in tree.forest_.payload_codes[~np.isnan(tree.forest_.payload_weights)]
    assert set(tree.forest_.kind.tolist()) >= {NodeKind.MULTIWAY, NodeKind.OBLIQUE}


@pytest.mark.parametrize("row", [[np.nan, 1.0], [np.nan, np.nan]])
def test_a_row_without_a_value_that_weighs_much_or_without_any_is_spread(row: list[float]) -> None:
    X, y = plane()
    X[:5, 0] = np.nan
    tree = ObliqueTreeClassifier(max_depth=1).fit(X, y)
    assert tree.forest_.kind[0] == NodeKind.OBLIQUE
    shares = tree.forest_.weight[1:3] / tree.forest_.weight[0]
    counts = tree.leaf_counts([row])[0, 0]
    np.testing.assert_allclose(counts, shares @ tree.forest_.counts[:2], rtol=1e-12)


def test_the_mean_of_the_node_stands_in_for_a_value_that_weighs_little() -> None:
    X, y = plane()
    X[:5, 1] = np.nan
    tree = ObliqueTreeClassifier(max_depth=1).fit(X, y)
    forest = tree.forest_
    assert forest.payload_means is not None
    assert forest.payload_codes.tolist() == [0, 1]
    assert np.isnan(forest.payload_means[0])
    np.testing.assert_allclose(forest.payload_means[1], np.nanmean(X[:, 1]), rtol=1e-12)
    rows = np.column_stack([np.linspace(-2, 2, 41), np.full(41, np.nan)])
    total = rows[:, 0] + forest.payload_weights[1] * np.nanmean(X[:, 1])
    np.testing.assert_array_equal(tree.apply(rows), (total > forest.threshold[0]).astype(int))
    assert "with the mean " in str(tree.explain(rows[:1])[0])


def test_a_column_with_many_missing_values_takes_no_part() -> None:
    X, y = plane()
    X = np.column_stack([X, X[:, 0]])
    X[:120, 2] = np.nan
    tree = ObliqueTreeClassifier().fit(X, y)
    assert 2 not in tree.forest_.payload_codes


# -- linear models of scikit-learn


@pytest.mark.parametrize(
    "splitter",
    [LinearSVC(), LogisticRegression(), RidgeClassifier(), LinearDiscriminantAnalysis(), SVC(kernel="linear")],
    ids=lambda splitter: type(splitter).__name__,
)
def test_a_linear_classifier_makes_the_splits(splitter: Any) -> None:
    X, y = plane()
    tree = ObliqueTreeClassifier(splitter, max_depth=2, pruning=None).fit(X, y)
    assert tree.forest_.kind[0] == NodeKind.OBLIQUE
    assert tree.score(X, y) > 0.97
    assert not hasattr(splitter, "coef_")


def test_a_node_that_a_linear_model_fails_on_is_split_along_a_column() -> None:
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], 10, axis=0)  # no variance within the groups: an IndexError in its solver
    tree = ObliqueTreeClassifier(LinearDiscriminantAnalysis(), pruning=None).fit(X, X[:, 0] > 0)
    assert tree.forest_.feature[0] == 0


@pytest.mark.parametrize(
    "splitter", [Ridge(), LinearRegression(), HuberRegressor()], ids=lambda splitter: type(splitter).__name__
)
def test_a_linear_regressor_makes_the_splits(splitter: Any) -> None:
    X, y = plane()
    tree = ObliqueTreeRegressor(splitter, max_depth=1, pruning=None).fit(X, y * 10.0)
    assert tree.forest_.kind[0] == NodeKind.OBLIQUE
    assert tree.score(X, y * 10.0) > 0.5


def test_ridge_is_ridge() -> None:
    X, y = load_iris(return_X_y=True)
    ours = ObliqueTreeRegressor(RidgeSplit(0.1), max_depth=1, pruning=None).fit(X, y)
    theirs = ObliqueTreeRegressor(Ridge(alpha=0.1 * len(y)), max_depth=1, pruning=None).fit(X, y)
    assert ours.to_text() == theirs.to_text()


def test_the_seed_of_the_tree_is_that_of_a_splitter_that_draws() -> None:
    X, y = plane()
    tree = ObliqueTreeClassifier(LinearSVC(), random_state=0, max_depth=2, pruning=None)
    texts = [tree.fit(X, y ^ (X[:, 0] > 1)).to_text() for _ in range(2)]
    assert texts[0] == texts[1]


def test_a_splitter_without_weights_gets_repeated_rows() -> None:
    X, y = plane()
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    tree = ObliqueTreeClassifier(LinearDiscriminantAnalysis(), pruning=None)
    weighted = tree.fit(X, y, sample_weight=weight).to_text()
    assert weighted == tree.fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)).to_text()
    with pytest.raises(ValueError, match="takes no sample_weight, and rows have fractional weights"):
        tree.fit(X, y, sample_weight=weight + 0.25)


class Failing(RidgeClassifier):
    """Fits the first rows that it sees, and no others."""

    n_fits = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        Failing.n_fits += 1
        if Failing.n_fits > 1:
            raise RuntimeError("out of luck")
        return super().fit(X, y, sample_weight)


def test_an_error_of_the_splitter_is_raised_and_the_earlier_tree_survives() -> None:
    X, y = plane()
    tree = ObliqueTreeClassifier().fit(X, y)
    before = tree.to_text()
    with pytest.raises(RuntimeError, match="out of luck"):
        tree.set_params(splitter=Failing()).fit(X, y)
    assert tree.to_text() == before


class Undecided(BaseEstimator):
    """No classifier, no regressor."""

    def fit(self, X: Any, y: Any) -> Any:
        return self


@pytest.mark.parametrize(
    ("splitter", "message"),
    [
        (LinearSVC, r"splitter is the class LinearSVC, must be an instance: LinearSVC\(\)"),
        ("svm", r"splitter is 'svm', must be 'ridge', RidgeSplit\(...\), or a linear model .* such as LinearSVC\(\)"),
        (Ridge(), r"splitter is Ridge, which is not a classifier: classes are split by one such as LinearSVC\(\)"),
        (Undecided(), "splitter is Undecided, which is not a classifier"),
        (OneClassSVM(), "splitter is OneClassSVM, which is not a classifier"),
        (GaussianNB(), "splitter is GaussianNB, which is not linear: after fit it has no coef_"),
        (SVC(), "splitter is SVC, which is not linear"),
        (LogisticRegression(C=-1), "splitter LogisticRegression can't be fitted to two groups of rows: .*'C'"),
    ],
    ids=str,
)
def test_a_wrong_splitter_of_classes_is_an_error(splitter: Any, message: str) -> None:
    X, y = plane()
    with pytest.raises(ValueError, match=message):
        ObliqueTreeClassifier(splitter).fit(X, y)


@pytest.mark.parametrize(
    ("splitter", "message"),
    [
        (LinearSVC(), r"splitter is LinearSVC, which is not a regressor: numbers are split by one such as Ridge\(\)"),
        (KNeighborsRegressor(), "splitter is KNeighborsRegressor, which is not linear"),
    ],
    ids=str,
)
def test_a_wrong_splitter_of_numbers_is_an_error(splitter: Any, message: str) -> None:
    X, y = plane()
    with pytest.raises(ValueError, match=message):
        ObliqueTreeRegressor(splitter).fit(X, y)


@pytest.mark.parametrize("penalty", [-0.1, float("inf"), "0", None])
def test_a_wrong_penalty_is_an_error(penalty: Any) -> None:
    with pytest.raises(ValueError, match=r"RidgeSplit: penalty is .*, must be"):
        RidgeSplit(penalty)


def test_the_alias_is_the_default_ridge() -> None:
    assert linear_model("ridge", of_classes=True) == RidgeSplit().penalty
