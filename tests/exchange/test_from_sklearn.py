"""scikit-learn's trees as a Forest: the same leaf for every row, the same counts, and clear refusals."""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn import ensemble, tree
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from effort import examples
from hedgerow import Forest
from hedgerow.adapt import from_sklearn
from hedgerow.exchange.layout import BinaryTree, lay_out
from hedgerow.exchange.thresholds import widened_thresholds
from hedgerow.forest.kinds import MissingPolicy, NodeKind
from hedgerow.walk import LeafTable, fold, route

NAN = math.nan
LARGEST_FLOAT32 = float(np.finfo(np.float32).max)
Matrix = NDArray[np.float64]

CLASSIFIERS = [
    tree.DecisionTreeClassifier(random_state=0),
    tree.DecisionTreeClassifier(criterion="entropy", ccp_alpha=0.01, random_state=0),
    tree.DecisionTreeClassifier(class_weight="balanced", max_leaf_nodes=9, random_state=0),
    tree.ExtraTreeClassifier(random_state=0),
    ensemble.RandomForestClassifier(7, random_state=0),
    ensemble.RandomForestClassifier(5, class_weight="balanced_subsample", max_depth=4, random_state=0),
    ensemble.RandomForestClassifier(5, bootstrap=False, criterion="log_loss", random_state=0),
    ensemble.ExtraTreesClassifier(7, random_state=0),
    ensemble.BaggingClassifier(n_estimators=7, random_state=0),
    ensemble.BaggingClassifier(tree.ExtraTreeClassifier(), n_estimators=6, max_features=0.5, random_state=0),
    ensemble.BaggingClassifier(n_estimators=6, bootstrap_features=True, max_samples=0.3, random_state=0),
]
REGRESSORS = [
    tree.DecisionTreeRegressor(min_samples_leaf=3, random_state=0),
    tree.DecisionTreeRegressor(max_depth=4, ccp_alpha=1e-6, random_state=0),
    tree.ExtraTreeRegressor(random_state=0),
    ensemble.RandomForestRegressor(7, random_state=0),
    ensemble.ExtraTreesRegressor(7, min_samples_leaf=4, random_state=0),
    ensemble.BaggingRegressor(n_estimators=7, random_state=0),
    ensemble.BaggingRegressor(n_estimators=6, max_features=0.5, bootstrap_features=True, random_state=0),
]


def trees_of(model: Any) -> list[Any]:
    return list(getattr(model, "estimators_", [model]))


def columns_of(model: Any) -> list[Any]:
    return list(getattr(model, "estimators_features_", [slice(None)] * len(trees_of(model))))


def level_order(fitted: Any) -> list[int]:
    """scikit-learn's node numbers level by level, from the definition."""
    order = [0]
    for node in order:
        if fitted.tree_.children_left[node] >= 0:
            order += [int(fitted.tree_.children_left[node]), int(fitted.tree_.children_right[node])]
    return order


def assert_same_leaves(model: Any, forest: Forest, X: NDArray[Any]) -> None:
    """Every row reaches the leaf that scikit-learn's own walk reaches."""
    found = route(forest, np.ascontiguousarray(X, dtype=np.float64))
    for number, (one, columns) in enumerate(zip(trees_of(model), columns_of(model), strict=True)):
        leaves = [node for node in level_order(one) if one.tree_.children_left[node] < 0]
        np.testing.assert_array_equal(np.array(leaves)[found[:, number]], one.apply(X[:, columns]))


def rows_at_thresholds(model: Any, X: Matrix) -> Matrix:
    """Rows with a value at a threshold, next to it in float64, and at and around the float32s next to it."""
    rng = np.random.default_rng(0)
    rows = []
    for one, columns in zip(trees_of(model), columns_of(model), strict=True):
        inner = np.flatnonzero(one.tree_.children_left >= 0)
        for node in rng.permutation(inner)[:12]:
            t, column = one.tree_.threshold[node], np.arange(X.shape[1])[columns][one.tree_.feature[node]]
            near = np.float32(t)
            below, above = np.nextafter(near, np.float32(-np.inf)), np.nextafter(near, np.float32(np.inf))
            middles = [(float(near) + float(other)) / 2 for other in (below, above)]
            for value in (t, float(near), float(below), float(above), *middles):
                for x in (value, np.nextafter(value, -np.inf), np.nextafter(value, np.inf)):
                    row = X[rng.integers(len(X))].copy()
                    row[column] = x
                    rows.append(row)
    return np.array(rows).reshape(-1, X.shape[1])


# -- thresholds


def nearest_float32(x: float) -> Fraction | float:
    """x as float32, rounded half to even, as IEEE 754 defines it; infinite where it overflows."""
    if math.isinf(x) or x == 0:
        return x
    exact = Fraction(x)
    exponent = max(math.frexp(x)[1] - 24, -149)
    unit = Fraction(2) ** exponent
    rounded = round(exact / unit) * unit  # Fraction rounds half to even
    return rounded if abs(rounded) < Fraction(2) ** 128 else math.copysign(math.inf, x)


anything = st.floats(allow_nan=False)
like_float32 = st.floats(allow_nan=False, width=32).map(float)
around_middles = st.builds(
    lambda f, k: float(np.float64(f) + (np.float64(np.nextafter(np.float32(f), np.float32(np.inf))) - f) * k / 4),
    st.floats(-(2.0**120), 2.0**120, width=32),
    st.integers(-4, 4),
)


@settings(max_examples=examples(138, 500), deadline=None)
@given(t=st.one_of(anything, like_float32, around_middles))
@example(t=0.0)
@example(t=-0.0)
@example(t=5e-324)
@example(t=-5e-324)
@example(t=2.0**-149)
@example(t=-(2.0**-149))
@example(t=2.0**-150)
@example(t=-(2.0**-150))
@example(t=LARGEST_FLOAT32)
@example(t=-LARGEST_FLOAT32)
@example(t=float(np.nextafter(-LARGEST_FLOAT32, -np.inf)))
@example(t=2.0**128)
@example(t=-(2.0**128))
@example(t=1e308)
@example(t=-1e308)
@example(t=math.inf)
def test_a_widened_threshold_is_the_largest_double_that_rounds_to_no_more(t: float) -> None:
    found = float(widened_thresholds([t])[0])
    if t == math.inf:
        assert found == math.inf
        return
    after = float(np.nextafter(found, np.inf))
    assert nearest_float32(found) <= t
    assert not nearest_float32(after) <= t


@settings(max_examples=examples(138, 500), deadline=None)
@given(t=st.one_of(anything, around_middles), x=st.one_of(anything, around_middles))
def test_a_widened_threshold_asks_what_float32_asks(t: float, x: float) -> None:
    with np.errstate(over="ignore"):
        expected = float(np.float32(x)) <= t
    assert (x <= float(widened_thresholds([t])[0])) == expected


# -- the same leaf for every row


@pytest.mark.parametrize("seed", range(20))
def test_every_row_reaches_the_same_leaf(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_rows, n_columns = int(rng.integers(20, 200)), int(rng.integers(1, 8))
    X = rng.normal(size=(n_rows, n_columns)) * 10.0 ** rng.integers(-30, 30, size=n_columns)
    X[:, 0] = rng.integers(-3, 4, size=n_rows)  # ties, and thresholds between whole numbers
    y = rng.integers(0, 3, size=n_rows)
    chosen = CLASSIFIERS[seed % len(CLASSIFIERS)] if seed % 2 else REGRESSORS[seed // 2 % len(REGRESSORS)]
    for model in (clone(chosen).fit(X, y), ensemble.ExtraTreesClassifier(5, random_state=seed).fit(X, y)):
        forest = from_sklearn(model)
        for rows in (X, X + rng.normal(size=X.shape) * 1e-8, rng.permuted(X, axis=0), rows_at_thresholds(model, X)):
            assert_same_leaves(model, forest, rows)
            assert_same_leaves(model, forest, rows.astype(np.float32))


@pytest.mark.parametrize("estimator", [*CLASSIFIERS, *REGRESSORS], ids=repr)
def test_missing_values_go_the_same_way(estimator: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = np.digitize(np.nan_to_num(X[:, 0] + X[:, 1]), [-0.5, 0.5])
    holes = np.where(rng.random(X.shape) < 0.2, NAN, X)
    holes[y == 2, 2] = NAN  # so that a tree asks only whether the value is known
    for training in (holes, X):
        model = clone(estimator).fit(training, y)
        assert_same_leaves(model, from_sklearn(model), holes)


def test_a_threshold_of_infinity_asks_whether_a_value_is_known() -> None:
    X = np.array([[1.0], [2.0], [3.0], [NAN], [NAN]])
    model = tree.DecisionTreeClassifier().fit(X, [0, 0, 0, 1, 1])
    forest = from_sklearn(model)
    assert forest.threshold[0] == np.inf
    assert forest.missing[0] == MissingPolicy.LAST_CHILD
    assert_same_leaves(model, forest, np.array([[NAN], [0.0], [3e38]]))


# -- counts and statistics


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_counts_are_what_the_trees_say(estimator: Any, weighted: bool) -> None:
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 3.0], len(X)) if weighted else None
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    model = clone(estimator).fit(X, labels, sample_weight=weight)
    forest = from_sklearn(model)
    forest.check()
    assert forest.n_classes == 3
    assert forest.n_features == 4
    roots = [one.tree_.weighted_n_node_samples[0] for one in trees_of(model)]
    np.testing.assert_allclose(forest.weight[forest.tree_start[:-1]], roots)
    np.testing.assert_allclose(forest.counts.sum(axis=1), forest.weight[forest.leaf_nodes])
    np.testing.assert_allclose(forest.node_counts().sum(axis=1), forest.weight)
    shares = LeafTable.of(forest.counts / forest.counts.sum(axis=1, keepdims=True))
    found = fold(forest, X, [shares])[0] / forest.n_trees
    np.testing.assert_allclose(found, model.predict_proba(X), rtol=0, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_counts_of_one_tree_are_those_of_its_rows(weighted: bool) -> None:
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).integers(1, 5, len(X)) if weighted else np.ones(len(X))
    model = tree.DecisionTreeClassifier(max_depth=3).fit(X, y, sample_weight=weight)
    forest = from_sklearn(model)
    leaves = route(forest, X)[:, 0]
    expected = np.zeros((forest.n_leaves, 3))
    np.add.at(expected, (leaves, y), weight)
    np.testing.assert_allclose(forest.counts, expected, atol=1e-9)


@pytest.mark.parametrize("scale", [1.0, 17.0], ids=["shares", "counts"])
def test_the_meaning_of_value_may_change_between_releases(scale: float) -> None:
    fitted = tree.DecisionTreeClassifier(max_depth=2, random_state=0).fit(*load_iris(return_X_y=True))
    # As in releases before 1.3, whose `value` holds counts, whatever this release holds.
    names = ("children_left", "children_right", "feature", "threshold", "missing_go_to_left", "n_outputs")
    arrays = {name: getattr(fitted.tree_, name) for name in (*names, "weighted_n_node_samples")}
    older = clone(fitted)
    vars(older).update(n_features_in_=4, classes_=fitted.classes_)
    older.tree_ = SimpleNamespace(**arrays, value=fitted.tree_.value * scale)
    assert from_sklearn(older) == from_sklearn(fitted)


def test_bagged_trees_may_lack_a_class() -> None:
    X, y = load_iris(return_X_y=True)
    y = np.where(np.arange(len(y)) < 2, 7, y)  # two rows of the last class
    model = ensemble.BaggingClassifier(n_estimators=8, max_samples=0.2, random_state=0).fit(X, y)
    if len({len(one.classes_) for one in model.estimators_}) == 1:
        model.estimators_[0] = tree.DecisionTreeClassifier().fit(X[y != 1], np.searchsorted(model.classes_, y[y != 1]))
    forest = from_sklearn(model)
    assert forest.n_classes == 4
    shares = LeafTable.of(forest.counts / forest.counts.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(fold(forest, X, [shares])[0] / 8, model.predict_proba(X), atol=1e-12)


@pytest.mark.parametrize("estimator", REGRESSORS, ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_leaves_of_regression_trees_hold_weight_mean_and_squares(estimator: Any, weighted: bool) -> None:
    X, y = load_diabetes(return_X_y=True)
    weight = np.random.default_rng(0).choice([0.5, 1.0, 3.0], len(X)) if weighted else None
    model = clone(estimator).fit(X, y, sample_weight=weight)
    forest = from_sklearn(model)
    forest.check()
    found = fold(forest, X, [LeafTable.of(forest.stats[:, 1:2])])[0][:, 0] / forest.n_trees
    np.testing.assert_allclose(found, model.predict(X), rtol=1e-12)
    if trees_of(model) == [model]:
        leaves, w = route(forest, X)[:, 0], np.ones(len(X)) if weight is None else weight
        for leaf in range(forest.n_leaves):
            here = leaves == leaf
            mean = np.average(y[here], weights=w[here])
            squares = (w[here] * (y[here] - mean) ** 2).sum()
            np.testing.assert_allclose(forest.stats[leaf], [w[here].sum(), mean, squares], rtol=1e-7, atol=1e-6)


@pytest.mark.parametrize("criterion", ["absolute_error", "poisson"])
def test_other_criteria_do_not_say_how_targets_vary(criterion: str) -> None:
    X, y = load_diabetes(return_X_y=True)
    model = tree.DecisionTreeRegressor(criterion=criterion, max_depth=3).fit(X, y)
    with pytest.warns(UserWarning, match=f"criterion='{criterion}' do not store .* lower bounds; fit with criterion="):
        forest = from_sklearn(model)
    np.testing.assert_allclose(forest.stats[route(forest, X)[:, 0], 1], model.predict(X))
    for leaf, (weight, mean, squares) in enumerate(forest.stats):
        here = y[route(forest, X)[:, 0] == leaf]
        assert weight == len(here)
        assert 0 <= squares <= ((here - mean) ** 2).sum() * (1 + 1e-9)
    assert (forest.stats[:, 2] > 0).any() == (criterion == "absolute_error")


def test_friedman_mse_is_another_name_of_squared_error() -> None:
    model = tree.DecisionTreeRegressor(max_depth=3).fit(*load_diabetes(return_X_y=True))
    expected = from_sklearn(model)
    model.criterion = "friedman_mse"  # scikit-learn 1.9 warns where it is passed
    assert from_sklearn(model) == expected


# -- what is not read


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (LogisticRegression(), "a LogisticRegression"),
        (ensemble.GradientBoostingClassifier(), "a GradientBoostingClassifier"),
        (ensemble.HistGradientBoostingRegressor(), "a HistGradientBoostingRegressor"),
        (ensemble.AdaBoostClassifier(), "an AdaBoostClassifier"),
        (ensemble.IsolationForest(), "an IsolationForest"),
        (ensemble.RandomTreesEmbedding(), "a RandomTreesEmbedding"),
        (make_pipeline(StandardScaler(), tree.DecisionTreeClassifier()), "a Pipeline"),
        ("forest", "a str"),
        (tree.DecisionTreeClassifier, "the class DecisionTreeClassifier"),
    ],
)
def test_other_models_are_refused_with_what_is_accepted(model: Any, name: str) -> None:
    with pytest.raises(TypeError, match=rf"model is {name}, must be one of scikit-learn's .*DecisionTree.*Bagging\*"):
        from_sklearn(model)


def test_bagging_of_something_else_is_refused() -> None:
    model = ensemble.BaggingClassifier(LogisticRegression(), n_estimators=2).fit([[0.0], [1.0]] * 5, [0, 1] * 5)
    with pytest.raises(TypeError, match="a BaggingClassifier of LogisticRegression, must be one of"):
        from_sklearn(model)


@pytest.mark.parametrize("model", [CLASSIFIERS[0], CLASSIFIERS[4], CLASSIFIERS[8], REGRESSORS[3]], ids=repr)
def test_a_model_must_be_fitted(model: Any) -> None:
    with pytest.raises(NotFittedError, match="not fitted"):
        from_sklearn(clone(model))


@pytest.mark.parametrize("estimator", [CLASSIFIERS[0], CLASSIFIERS[4], REGRESSORS[0], REGRESSORS[3]], ids=repr)
def test_several_outputs_are_refused(estimator: Any) -> None:
    X, y = load_iris(return_X_y=True)
    model = clone(estimator).fit(X, np.stack([y, y % 2], axis=1))
    with pytest.raises(ValueError, match=r"was fitted with 2 outputs, a Forest has one: fit one model for each"):
        from_sklearn(model)


@pytest.mark.parametrize("make", [tree.DecisionTreeClassifier, ensemble.RandomForestRegressor])
def test_monotonic_constraints_are_refused(make: Any) -> None:
    X, y = load_iris(return_X_y=True)
    model = make(monotonic_cst=[1, 0, 0, -1], random_state=0).fit(X, y > 0)
    with pytest.raises(ValueError, match=r"monotonic_cst=\[1, 0, 0, -1\].*fit it with monotonic_cst=None"):
        from_sklearn(model)


def test_constraints_that_constrain_nothing_are_no_matter() -> None:
    X, y = load_iris(return_X_y=True)
    free = tree.DecisionTreeClassifier(monotonic_cst=[0, 0, 0, 0], random_state=0).fit(X, y > 0)
    assert from_sklearn(free).n_classes == 2


def test_negative_weights_are_refused() -> None:
    X, y = np.arange(6.0)[:, np.newaxis], [0, 1, 0, 1, 0, 1]
    model = tree.DecisionTreeClassifier(max_depth=1).fit(X, y, sample_weight=[1, -0.5, 1, 2, 2, 2])
    with pytest.raises(ValueError, match="fit it without negative weights"):
        from_sklearn(model)


# -- the layout


def test_trees_are_laid_out_level_by_level() -> None:
    one = BinaryTree(
        left=np.array([1, 2, -1, -1, -1]),
        right=np.array([4, 3, -1, -1, -1]),
        feature=np.array([0, 1, -2, -2, -2]),
        threshold=np.array([0.5, 1.5, -2.0, -2.0, -2.0]),
        missing_left=np.array([1, 0, 0, 0, 0]),
        weight=np.array([9.0, 5.0, 2.0, 3.0, 4.0]),
        leaf_row=np.array([[4, 5], [2, 3], [2, 0], [0, 3], [2, 2.0]]),
    )
    forest = lay_out([one, one], n_features=2)
    assert forest.n_trees == 2
    assert forest.kind[:5].tolist() == [NodeKind.THRESHOLD] * 2 + [NodeKind.LEAF] * 3
    assert forest.first_child[:5].tolist() == [1, 3, 0, 1, 2]
    assert forest.missing[:3].tolist() == [MissingPolicy.FIRST_CHILD, MissingPolicy.LAST_CHILD, MissingPolicy.SPREAD]
    assert forest.counts[:3].tolist() == [[2, 2], [2, 0], [0, 3]]
    assert forest.weight[:5].tolist() == [9, 5, 4, 2, 3]
