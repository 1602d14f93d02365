from __future__ import annotations

import copy
import math
import pickle
from dataclasses import replace
from operator import attrgetter, methodcaller
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris, make_classification
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_validate
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.class_weight import compute_sample_weight

from hedgerow import TreeClassifier, TreeRegressor
from hedgerow.forest.kinds import MissingPolicy, NodeKind
from hedgerow.growth import Category, Fractional, Learned
from hedgerow.probability import Frequency, Laplace, MEstimate
from hedgerow.walk import spread
from oracles.growth import Problem, conditional_entropy, exact_shares, judge, root_instances, splits
from strategies import LIBRARIES, LogicalColumn

NAN = math.nan
Matrix = NDArray[np.float64]
MISSING = ("fractional", "category", "learned")
VERBS = ("predict", "apply", "predict_uncertainty")
CLASSIFIER_VERBS = (*VERBS, "predict_proba", "leaf_counts")


# -- scikit-learn's contract


def test_parameters_survive_a_clone() -> None:
    tree = TreeClassifier("gini", missing=Fractional(0.1), max_depth=3, leaf_probability=MEstimate(4))
    parameters = clone(tree).get_params()
    assert parameters == tree.get_params()
    assert parameters["missing"] == Fractional(0.1)
    assert not hasattr(clone(tree.fit([[0], [1]], [0, 1])), "forest_")
    assert TreeRegressor(max_leaf_nodes=7).get_params()["max_leaf_nodes"] == 7


def test_a_repr_shows_what_is_not_default() -> None:
    assert repr(TreeClassifier(max_depth=3)) == "TreeClassifier(max_depth=3)"
    assert repr(TreeRegressor(missing="learned")) == "TreeRegressor(missing='learned')"


def test_cart_is_a_gini_tree_of_binary_splits_that_can_be_changed() -> None:
    tree = TreeClassifier.cart(max_depth=2, criterion="entropy")
    assert (tree.criterion, tree.nominal, tree.missing, tree.max_depth) == ("entropy", "binary", "learned", 2)
    assert TreeClassifier.cart().criterion == "gini"


@pytest.mark.parametrize(
    ("verb", "ask"),
    [
        *((verb, methodcaller(verb, [[0.0]])) for verb in CLASSIFIER_VERBS),
        *((verb, methodcaller(verb)) for verb in ("get_depth", "get_n_leaves", "to_text")),
        ("feature_importances_", attrgetter("feature_importances_")),
    ],
)
def test_nothing_can_be_asked_before_fit(verb: str, ask: Any) -> None:
    for tree in (TreeClassifier(), TreeRegressor()):
        if not hasattr(type(tree), verb):
            continue
        with pytest.raises(NotFittedError):
            ask(tree)


def test_fit_leaves_names_and_numbers() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    tree = TreeClassifier(max_depth=2).fit(X, y)
    assert tree.n_features_in_ == 4
    assert tree.feature_names_in_.tolist() == list(X.columns)
    assert tree.classes_.tolist() == [0, 1, 2]
    assert tree.n_classes_ == 3
    np.testing.assert_allclose(tree.class_prior_, [1 / 3, 1 / 3, 1 / 3])
    assert (tree.get_depth(), tree.get_n_leaves()) == (2, 3)
    assert tree.schema_.names == tuple(X.columns)
    assert tree.forest_.n_trees == 1
    assert not hasattr(TreeRegressor().fit(X.to_numpy(), y), "feature_names_in_")


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("criterion", "gini"),
        ("nominal", "binary"),
        ("missing", "category"),
        ("missing", "learned"),
        ("missing", Fractional(1.0)),
        ("max_depth", 2),
        ("min_samples_split", 20),
        ("min_samples_leaf", 5),
        ("min_weight_fraction_leaf", 0.1),
        ("min_impurity_decrease", 0.05),
        ("max_leaf_nodes", 4),
        ("max_features", 1),
        ("class_weight", {0: 9, 1: 1}),
        ("leaf_probability", "laplace"),
        ("leaf_probability", MEstimate(3)),
        ("categorical_features", [0]),
    ],
)
def test_every_parameter_changes_something(parameter: str, value: Any) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (120, 3)).astype(float)
    y = ((X[:, 0] > 2) ^ (X[:, 1] == 1) ^ (rng.random(120) < 0.2)).astype(int)
    X[rng.random(X.shape) < 0.15] = NAN

    def proba(estimator: Any, **parameters: Any) -> Any:
        tree = estimator(categorical_features=[1], random_state=0).set_params(**parameters).fit(X, y)
        return (tree.predict_proba if hasattr(tree, "predict_proba") else tree.predict)(X).tolist()

    assert proba(TreeClassifier) != proba(TreeClassifier, **{parameter: value})
    if parameter in TreeRegressor().get_params():
        assert proba(TreeRegressor) != proba(TreeRegressor, **{parameter: value})


def test_the_random_state_draws_the_features() -> None:
    X, y = make_classification(300, 10, random_state=0)

    def forest(random_state: Any) -> Any:
        return TreeClassifier(max_features=2, random_state=random_state).fit(X, y).forest_

    assert forest(1) == forest(1)
    assert forest(1) != forest(2)
    assert forest(np.random.RandomState(1)) == forest(1)
    every = [TreeClassifier(max_features=m, random_state=i).fit(X, y).forest_ for i, m in enumerate((None, 10, 1.0))]
    assert every[0] == every[1] == every[2]
    three = {m: TreeClassifier(max_features=m, random_state=1).fit(X, y).forest_ for m in (3, "sqrt", "log2", 0.39)}
    assert all(one == three[3] for one in three.values())
    assert three[3] != every[0]


def test_a_fraction_of_rows_is_a_number_of_rows() -> None:
    X, y = load_iris(return_X_y=True)
    weight = np.ones(150)
    weight[::3] = 0  # a row of weight 0 is no row: a hundred are left
    for parameter, fraction, number in (("min_samples_leaf", 0.095, 10), ("min_samples_split", 0.3, 30)):
        by_fraction = TreeClassifier("gini", **{parameter: fraction}).fit(X, y, weight).forest_
        assert by_fraction == TreeClassifier("gini", **{parameter: number}).fit(X, y, weight).forest_


# -- the lecture's trees

HEIGHT_HAIR_EYE = ["tdl+", "sdl+", "tbl-", "trl-", "sbl-", "tbw+", "tdw+", "sbw+"]
SPELLED = {"t": "tall", "s": "short", "d": "dark", "b": "blonde", "r": "red", "l": "blue", "w": "brown"}


def lecture_table() -> tuple[pd.DataFrame, list[str]]:
    samples = [[SPELLED[letter] for letter in sample[:3]] for sample in HEIGHT_HAIR_EYE]
    return pd.DataFrame(samples, columns=["height", "hair", "eye"]), [sample[3] for sample in HEIGHT_HAIR_EYE]


def as_problem(frame: pd.DataFrame, labels: list[str], **changes: Any) -> Problem:
    coded = [pd.Categorical(frame[name]) for name in frame]
    problem = Problem(
        columns=[[float(code) for code in column.codes] for column in coded],
        n_categories=[len(column.categories) for column in coded],
        targets=[sorted(set(labels)).index(label) for label in labels],
        weights=[1.0] * len(labels),
        n_classes=len(set(labels)),
        criterion="entropy",
    )
    return replace(problem, **changes)


def test_the_lectures_conditional_entropies() -> None:
    frame, labels = lecture_table()
    problem = as_problem(frame, labels)
    offered = [splits(problem, root_instances(problem), feature)[0] for feature in range(3)]
    bits = [conditional_entropy(problem, split) for split in offered]
    np.testing.assert_allclose(bits, [0.951, 0.5, 0.607], atol=5e-4)


def test_the_lectures_tree_asks_for_hair_and_then_for_eyes() -> None:
    frame, labels = lecture_table()
    tree = TreeClassifier("entropy").fit(frame, labels)
    assert tree.to_text() == "\n".join(
        [
            "hair = blonde",
            "|   eye = blue: - (- 2)",
            "|   eye = brown: + (+ 2)",
            "hair = dark: + (+ 3)",
            "hair = red: - (- 1)",
        ]
    )
    assert tree.predict(frame).tolist() == labels


def test_the_lectures_numeric_attribute_is_asked_for_at_49() -> None:
    temperature, labels = [40, 48, 50, 54, 60, 70], list("NNYYYN")
    tree = TreeClassifier("entropy").fit(np.array([temperature]).T, labels)
    assert tree.forest_.threshold[0] == 49
    problem = as_problem(pd.DataFrame({"T": temperature}), labels, columns=[temperature], n_categories=[0])
    right = judge(problem, root_instances(problem), 0).right
    assert right is not None
    assert right.threshold == 49
    np.testing.assert_allclose(conditional_entropy(problem, right), 0.541, atol=5e-4)
    # The other candidate of the slide, T > 65, leaves more doubt.
    other = next(q for q in splits(problem, root_instances(problem), 0) if q.threshold == 65)
    assert conditional_entropy(problem, other) > 0.8


def test_a_row_without_the_lectures_b_goes_both_ways() -> None:
    # 50 rows, 40 with B=1 and 10 with B=0. Two of the 40 are no, three of the 10 are yes.
    B = pd.Series(["1"] * 40 + ["0"] * 10)
    y = np.array(["yes"] * 38 + ["no"] * 2 + ["yes"] * 3 + ["no"] * 7)
    tree = TreeClassifier().fit(pd.DataFrame({"B": B}), y)
    unknown = pd.DataFrame({"B": pd.Series([None], dtype=object)})
    zero, one = (float(share) for share in exact_shares([10, 40]))
    weights = spread(tree.forest_, np.array([[NAN]])).toarray()
    np.testing.assert_allclose(weights, [[zero, one]], rtol=1e-15)
    no, yes = zero * 7 / 10 + one * 2 / 40, zero * 3 / 10 + one * 38 / 40
    np.testing.assert_allclose(tree.predict_proba(unknown), [[no, yes]], rtol=1e-12)
    np.testing.assert_allclose(tree.leaf_counts(unknown), [[[0.2 * 7 + 0.8 * 2, 0.2 * 3 + 0.8 * 38]]], rtol=1e-12)
    assert tree.predict(unknown).tolist() == ["yes"]
    assert tree.apply(unknown).tolist() == [1]  # the heavier


# -- inputs as they come


def mixed_columns(n_rows: int = 60, seed: int = 0) -> tuple[LogicalColumn, ...]:
    """Text, ordered levels, numbers and truth values, some of each missing."""
    rng = np.random.default_rng(seed)

    def column(name: str, storage: str, choices: list[Any], levels: tuple[str, ...] = ()) -> LogicalColumn:
        drawn = [choices[i] for i in rng.integers(0, len(choices), n_rows)]
        return LogicalColumn(name, storage, tuple(None if rng.random() < 0.1 else v for v in drawn), levels)

    sizes = ("small", "medium", "large")
    return (
        column("colour", "text", ["red", "green", "blue"]),
        column("size", "ordered", list(sizes), sizes),
        column("length", "float", [round(float(x), 2) for x in rng.normal(size=20)]),
        column("count", "integer", list(range(5))),
        column("new", "boolean", [True, False]),
        column("origin", "category", ["x", "y", "z"], ("z", "y", "x")),
    )


def labels_for(columns: tuple[LogicalColumn, ...], seed: int = 0) -> list[str]:
    rng = np.random.default_rng(seed)
    colour, size, length = columns[0].values, columns[1].values, columns[2].values
    return [
        "yes" if (c == "red") ^ (s in ("medium", "large")) ^ ((x or 0) > 1) ^ (rng.random() < 0.1) else "no"
        for c, s, x in zip(colour, size, length, strict=True)
    ]


@pytest.mark.parametrize("nominal", ["multiway", "binary"])
@pytest.mark.parametrize("missing", MISSING)
def test_every_library_gives_the_same_tree_and_the_same_predictions(missing: str, nominal: str) -> None:
    columns, unseen = mixed_columns(), mixed_columns(seed=1)
    y = labels_for(columns)
    forests, probabilities, means = [], [], []
    for convert in LIBRARIES.values():
        X, rows = convert(columns), convert(unseen)
        tree = TreeClassifier(missing=missing, nominal=nominal).fit(X, y)
        regressor = TreeRegressor(missing=missing, nominal=nominal).fit(X, [float(label == "yes") for label in y])
        forests.append((tree.forest_, regressor.forest_))
        probabilities.append(tree.predict_proba(rows))
        means.append(regressor.predict(rows))
    assert len(forests) == 3
    assert forests[0] == forests[1] == forests[2]
    assert probabilities[0].tobytes() == probabilities[1].tobytes() == probabilities[2].tobytes()
    assert means[0].tobytes() == means[1].tobytes() == means[2].tobytes()
    kinds = set(forests[0][0].kind.tolist())
    assert kinds == {
        NodeKind.LEAF,
        NodeKind.THRESHOLD,
        NodeKind[{"multiway": "MULTIWAY"}.get(nominal, "ONE_AGAINST_REST")],
    }


def test_ordered_levels_are_split_in_their_order() -> None:
    # Of low < mid < high, the alphabet would put high first.
    levels = pd.Categorical(["low", "mid", "high"] * 4, categories=["low", "mid", "high"], ordered=True)
    tree = TreeClassifier().fit(pd.DataFrame({"level": levels}), ["a", "a", "b"] * 4)
    assert tree.forest_.kind[0] == NodeKind.THRESHOLD
    assert tree.get_n_leaves() == 2
    assert tree.predict(pd.DataFrame({"level": levels[:3]})).tolist() == ["a", "a", "b"]


def test_a_category_that_fit_has_not_seen_is_like_a_missing_one() -> None:
    X = pd.DataFrame({"hair": ["dark", "red", "red", "blonde"] * 3})
    y = [0, 1, 1, 0] * 3
    rows = pd.DataFrame({"hair": ["green", None]})
    for missing in MISSING:
        for nominal in ("multiway", "binary"):
            tree = TreeClassifier(missing=missing, nominal=nominal).fit(X, y)
            unseen, none = tree.predict_proba(rows)
            assert unseen.tolist() == none.tolist() == [0.5, 0.5]  # spread: no training row was missing


def test_columns_are_matched_by_name() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    tree = TreeClassifier().fit(X, y)
    with pytest.raises(ValueError, match="must be in the same order"):
        tree.predict(X[X.columns[::-1]])
    with pytest.raises(ValueError, match="unseen at fit time:\n- petal girth"):
        tree.predict(X.rename(columns={"petal width (cm)": "petal girth"}))
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        tree.predict(X.to_numpy())
    with pytest.warns(UserWarning, match="fitted without feature names"):
        TreeClassifier().fit(X.to_numpy(), y).predict(X)
    with pytest.raises(ValueError, match="X has 3 features, but TreeClassifier is expecting 4"):
        TreeClassifier().fit(X.to_numpy(), y).predict(X.to_numpy()[:, :3])


@pytest.mark.parametrize("missing", MISSING)
@pytest.mark.parametrize("estimator", [TreeClassifier, TreeClassifier.cart, TreeRegressor])
def test_a_column_without_any_value_is_never_asked_for(estimator: Any, missing: str) -> None:
    X = np.array([[NAN, x, NAN] for x in range(8)])
    y = [0, 1, 0, 1, 1, 0, 0, 1]
    tree = estimator(missing=missing, pruning=None).fit(X, y)
    assert set(tree.forest_.feature.tolist()) == {1, -1}
    assert tree.predict(X).tolist() == y
    nominal = estimator(missing=missing, pruning=None).fit(pd.DataFrame({"a": [None] * 8, "b": X[:, 1]}), y)
    assert set(nominal.forest_.feature.tolist()) == {1, -1}
    only = estimator(missing=missing).fit(X[:, :1], y)
    assert only.get_n_leaves() == 1
    assert only.feature_importances_.tolist() == [0]


def test_one_class_is_one_leaf() -> None:
    tree = TreeClassifier().fit([[1.0], [2.0], [3.0]], ["a", "a", "a"])
    assert tree.get_n_leaves() == 1
    assert tree.get_depth() == 0
    assert tree.predict_proba([[9.0]]).tolist() == [[1.0]]
    assert tree.predict([[9.0]]).tolist() == ["a"]
    assert tree.feature_importances_.tolist() == [0.0]
    assert tree.predict_uncertainty([[9.0]]).total.tolist() == [0.0]
    assert tree.to_text() == "a (a 3)"


def test_one_row_is_one_leaf() -> None:
    assert TreeClassifier().fit([[1.0, NAN]], [4]).predict([[NAN, NAN]]).tolist() == [4]
    regressor = TreeRegressor().fit([[1.0, NAN]], [4.5])
    assert regressor.predict([[NAN, NAN]]).tolist() == [4.5]
    assert regressor.predict_uncertainty([[1.0, 2.0]]).total.tolist() == [0.0]
    assert regressor.feature_importances_.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(
    "y", [["n", "n", "y", "y"], [0, 0, 7, 7], [-1, -1, 1, 1], [False, False, True, True], [2.0, 2.0, 3.0, 3.0]]
)
def test_labels_of_any_type_come_back_as_they_were(y: list[Any]) -> None:
    tree = TreeClassifier().fit([[1], [2], [3], [4]], y)
    predicted = tree.predict([[1], [4]])
    assert predicted.tolist() == [y[0], y[-1]]
    assert predicted.dtype == np.asarray(y).dtype
    assert tree.classes_.tolist() == sorted(set(y))


# -- what is refused, and that it leaves no trace

GOOD_X = np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 5.0], [4.0, 7.0], [5.0, NAN], [6.0, 5.0]])
GOOD_Y = np.array([0, 0, 1, 1, 0, 1])


def _settings_refused() -> list[Any]:
    """(id, parameters, message) for both estimators."""
    whole = {
        "max_depth": (0, -1, 2.0, "deep", True, math.inf),
        "max_leaf_nodes": (1, 0, 2.5, "many", False),
    }
    rows = {
        "min_samples_split": (1, 0, 0.0, 1.5, "two", True, None),
        "min_samples_leaf": (0, -3, 0.0, 1.5, "one", True, None, math.nan),
    }
    reals = {
        "min_weight_fraction_leaf": (-0.1, 0.6, "half", None, math.nan, True),
        "min_impurity_decrease": (-1e-9, "none", None, math.nan),
    }
    messages = {
        "max_depth": "must be a whole number of at least 1, or None",
        "max_leaf_nodes": "must be a whole number of at least 2, or None",
        "min_samples_split": "must be a whole number of at least 2 rows, or a fraction",
        "min_samples_leaf": "must be a whole number of at least 1 rows, or a fraction",
        "min_weight_fraction_leaf": r"must be a number in \[0, 0.5\]",
        "min_impurity_decrease": r"must be a number in \[0, inf\]",
        "max_features": r"must be a whole number in 1 .. 2 .*sqrt.*log2",
        "nominal": "must be one of 'multiway', 'binary', 'subset'",
        "missing": r"must be one of 'fractional', 'category', 'learned', 'random', or an instance: Fractional\(",
    }
    wrong: dict[str, tuple[Any, ...]] = {
        **whole,
        **rows,
        **reals,
        "max_features": (0, 3, -1, 0.0, 1.5, "all", True, math.nan),
        "nominal": ("ternary", None, 1),
        "missing": ("ignore", None, Fractional, 0.5),
    }
    refused = []
    for name, values in wrong.items():
        refused += [({name: value}, rf"{name} is .*{messages[name]}", repr(value)) for value in values]
    refused += [
        ({"missing": Fractional(value)}, r"min_fraction is .*must be a number in \[0, 1\]", repr(value))
        for value in (-0.1, 1.1, "a")
    ]
    return [pytest.param(*one, id=f"{next(iter(one[0]))}={one[2]}") for one in refused]


CLASSIFIER_SETTINGS_REFUSED = [
    pytest.param({name: value}, f"{name} is .*must be one of {known}", repr(value), id=f"{name}={value!r}")
    for name, known, values in (
        ("criterion", "'gini', 'entropy', 'gain_ratio'", ("squared_error", "Gini", None)),
        ("leaf_probability", "'shrinkage', 'frequency', 'laplace'", ("m", None, 2.0)),
    )
    for value in values
]


def check_that_a_failed_fit_leaves_no_trace(
    tree: Any, X: Any, y: Any, weight: Any, message: str, parameters: dict[str, Any] | None = None
) -> str:
    """Fits well, fails to fit, and predicts as before; the text of the error."""
    tree.fit(GOOD_X, GOOD_Y)
    forest, attributes = tree.forest_, set(vars(tree))
    before = tree.predict(GOOD_X)
    usual = tree.get_params()
    tree.set_params(**parameters or {})
    with pytest.raises((ValueError, TypeError), match=message) as error:
        tree.fit(X, y, weight)
    assert tree.forest_ is forest
    assert set(vars(tree)) == attributes
    if "leaf_probability" in (parameters or {}):  # predict would refuse it too
        tree.set_params(leaf_probability=usual["leaf_probability"])
    np.testing.assert_array_equal(tree.predict(GOOD_X), before)
    return str(error.value)


@pytest.mark.parametrize(("parameters", "message", "shown"), [*_settings_refused(), *CLASSIFIER_SETTINGS_REFUSED])
def test_a_setting_that_makes_no_sense_is_named_with_its_value(
    parameters: dict[str, Any], message: str, shown: str
) -> None:
    text = check_that_a_failed_fit_leaves_no_trace(TreeClassifier(), GOOD_X, GOOD_Y, None, message, parameters)
    assert shown in text


@pytest.mark.parametrize(("parameters", "message", "shown"), _settings_refused())
def test_a_regressor_names_its_settings_too(parameters: dict[str, Any], message: str, shown: str) -> None:
    text = check_that_a_failed_fit_leaves_no_trace(TreeRegressor(), GOOD_X, GOOD_Y, None, message, parameters)
    assert shown in text


@pytest.mark.parametrize("parameter", ["max_depth", "max_leaf_nodes"])
def test_a_limit_may_be_larger_than_any_tree(parameter: str) -> None:
    free = TreeClassifier().fit(GOOD_X, GOOD_Y)
    roomy = TreeClassifier(**{parameter: 10**30}).fit(GOOD_X, GOOD_Y)
    assert roomy.get_n_leaves() == free.get_n_leaves()


@pytest.mark.parametrize("m", [-1, math.nan])
def test_an_m_that_makes_no_sense_is_refused_by_fit(m: float) -> None:
    with pytest.raises(ValueError, match="m is"):
        TreeClassifier(leaf_probability=MEstimate(m)).fit(GOOD_X, GOOD_Y)


@pytest.mark.parametrize(
    ("tree", "y", "weight", "message"),
    [
        (TreeClassifier(), GOOD_Y, [1e308] * 6, "sample_weight"),
        (TreeRegressor(), [1e200, -1e200, 1e200, 0, 0, 0], None, "Input y"),
        (TreeRegressor(), [1e308, -1e308, 1e308, 1e308, 1e308, 0], None, "Input y"),
    ],
)
def test_sums_beyond_the_largest_number_are_refused_by_name(tree: Any, y: Any, weight: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tree.fit(GOOD_X, y, weight)


DATA_REFUSED = [
    pytest.param(GOOD_X[:5], GOOD_Y, None, "inconsistent numbers of samples", id="rows"),
    pytest.param(GOOD_X, None, None, "requires y to be passed", id="no y"),
    pytest.param(GOOD_X, [0, 1, NAN, 1, 0, 1], None, "Input y contains NaN", id="y is NaN"),
    pytest.param(GOOD_X, GOOD_Y, [1, 1, -1, 1, 1, 1], "must not be negative", id="negative weight"),
    pytest.param(GOOD_X, GOOD_Y, np.zeros(6), "zero in every row", id="zero weights"),
    pytest.param(GOOD_X, GOOD_Y, np.ones(5), r"expected \(6,\)", id="too few weights"),
    pytest.param(GOOD_X, GOOD_Y, np.ones((6, 1)), "must be 1D", id="two-dimensional weights"),
    pytest.param(GOOD_X, GOOD_Y, [1, NAN, 1, 1, 1, 1], "sample_weight contains NaN", id="NaN weight"),
    pytest.param(np.where(GOOD_X == 4, np.inf, GOOD_X), GOOD_Y, None, "X contains infinity", id="infinity in X"),
    pytest.param(GOOD_X[:0], [], None, "minimum of 1 is required", id="no rows"),
    pytest.param(GOOD_X[:, 0], GOOD_Y, None, "Expected 2D array", id="one-dimensional X"),
    pytest.param([["a"]] * 6, GOOD_Y, None, "could not convert string", id="text in an array"),
]


@pytest.mark.parametrize("estimator", [TreeClassifier, TreeRegressor])
@pytest.mark.parametrize(("X", "y", "weight", "message"), DATA_REFUSED)
def test_data_that_make_no_sense_are_refused(estimator: Any, X: Any, y: Any, weight: Any, message: str) -> None:
    text = check_that_a_failed_fit_leaves_no_trace(estimator(), X, y, weight, message)
    assert text


@pytest.mark.parametrize("y", [["a", None, "b", "b", "a", "a"], [0.5, 1.5, 2.5, 0.5, 1.25, 0.1]])
def test_a_classifier_needs_a_class_in_every_row(y: Any) -> None:
    y = np.array(y, dtype=object) if None in y else y
    message = "row 1 has no label|Unknown label type"
    check_that_a_failed_fit_leaves_no_trace(TreeClassifier(), GOOD_X, y, None, message)


@pytest.mark.parametrize("bad", [np.inf, -np.inf, NAN])
def test_a_regressor_needs_a_finite_number_in_every_row(bad: float) -> None:
    y = [1.0, 2.0, 3.0, bad, 5.0, 6.0]
    check_that_a_failed_fit_leaves_no_trace(TreeRegressor(), GOOD_X, y, None, f"row 3 is {bad}")


def test_a_failed_fit_with_other_columns_leaves_their_names() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    tree = TreeClassifier().fit(X, y)
    with pytest.raises(ValueError, match="max_depth"):
        tree.set_params(max_depth=-1).fit(X.rename(columns=str.upper).iloc[:, :2], y)
    assert tree.feature_names_in_.tolist() == list(X.columns)
    assert tree.n_features_in_ == 4
    assert tree.predict(X).shape == (150,)


def test_a_change_of_columns_is_learned_by_the_next_fit() -> None:
    tree = TreeClassifier().fit(pd.DataFrame({"a": [1, 2], "b": [1, 2]}), [0, 1])
    tree.fit(pd.DataFrame({"c": [1.0, 2.0]}), ["x", "y"])
    assert tree.feature_names_in_.tolist() == ["c"]
    assert tree.predict(pd.DataFrame({"c": [2.0]})).tolist() == ["y"]


# -- weights


def test_rows_of_weight_zero_are_no_rows() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 5, (80, 3)).astype(float)
    X[rng.random(X.shape) < 0.1] = NAN
    y = rng.integers(0, 3, 80)
    weight = rng.integers(0, 3, 80).astype(float)
    used = weight > 0
    for missing in MISSING:
        for limits in ({}, {"min_samples_leaf": 0.05, "min_samples_split": 0.1, "min_weight_fraction_leaf": 0.02}):
            classifier, regressor = TreeClassifier(missing=missing, **limits), TreeRegressor(missing=missing, **limits)
            for tree in (classifier, regressor):
                assert clone(tree).fit(X, y, weight).forest_ == clone(tree).fit(X[used], y[used], weight[used]).forest_


def test_a_class_of_weight_zero_keeps_its_place() -> None:
    tree = TreeClassifier(leaf_probability="frequency").fit([[1], [2], [3]], ["a", "b", "c"], sample_weight=[1, 0, 1])
    assert tree.classes_.tolist() == ["a", "b", "c"]
    assert tree.class_prior_.tolist() == [0.5, 0, 0.5]
    assert tree.predict_proba([[2], [3]]).tolist() == [[1, 0, 0], [0, 0, 1]]


def test_weights_may_come_as_any_column() -> None:
    weight = [1, 2, 1, 2, 1, 3]
    forests = [
        TreeClassifier().fit(GOOD_X, GOOD_Y, given).forest_
        for given in (weight, tuple(weight), np.array(weight), pd.Series(weight), np.array(weight, dtype=np.float32))
    ]
    assert all(forest == forests[0] for forest in forests)
    assert forests[0].weight[0] == 10


@pytest.mark.parametrize("class_weight", [{0: 1, 1: 5, 2: 0.25}, "balanced"])
def test_class_weights_are_sample_weights(class_weight: Any) -> None:
    X, y = load_iris(return_X_y=True)
    X, y = X[10:], y[10:]
    explicit = compute_sample_weight(class_weight, y)
    weighted = TreeClassifier("gini", max_depth=3).fit(X, y, sample_weight=explicit)
    by_class = TreeClassifier("gini", max_depth=3, class_weight=class_weight).fit(X, y)
    assert by_class.forest_ == weighted.forest_
    assert by_class.class_prior_.tolist() == weighted.class_prior_.tolist()
    relative = np.arange(140) % 3 / 10
    both = TreeClassifier(class_weight=class_weight).fit(X, y, sample_weight=relative)
    product = TreeClassifier().fit(X, y, sample_weight=explicit * relative)
    np.testing.assert_allclose(both.leaf_counts(X), product.leaf_counts(X))


def test_class_weights_go_by_label() -> None:
    tree = TreeClassifier(class_weight={"a": 3, "b": 1}).fit([[1], [1], [2]], ["a", "b", "b"])
    assert tree.leaf_counts([[1]]).tolist() == [[[3, 1]]]


def test_sample_weights_are_routed_through_pipelines_and_cross_validation() -> None:
    X, y = load_iris(return_X_y=True)
    weight = np.random.default_rng(0).uniform(0.1, 5, 150)
    with sklearn.config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        tree = TreeClassifier(max_depth=2).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        pipeline = Pipeline([("scale", scaler), ("tree", tree)]).fit(X, y, sample_weight=weight)
        scaled = StandardScaler().fit_transform(X)
        assert pipeline["tree"].forest_ == TreeClassifier(max_depth=2).fit(scaled, y, weight).forest_
        assert pipeline["tree"].forest_ != TreeClassifier(max_depth=2).fit(scaled, y).forest_
        scores = cross_validate(
            pipeline, X, y, params={"sample_weight": weight}, return_estimator=True, return_indices=True, cv=3
        )
        train = scores["indices"]["train"][0]
        expected = TreeClassifier(max_depth=2).fit(StandardScaler().fit_transform(X[train]), y[train], weight[train])
        assert scores["estimator"][0]["tree"].forest_ == expected.forest_
        assert (scores["test_score"] > 0.8).all()


# -- predictions


def spread_by_hand(tree: Any, rows: Matrix) -> Matrix:
    """Weights of leaves, (n, n_leaves), down the forest's own arrays."""
    return np.asarray(spread(tree.forest_, rows).toarray())


@pytest.fixture
def gappy() -> tuple[Matrix, NDArray[np.int64]]:
    rng = np.random.default_rng(4)
    X = rng.integers(0, 6, (150, 3)).astype(float)
    y = (X[:, 0] > 2).astype(int) + (X[:, 1] > 3)
    y = np.where(rng.random(150) < 0.15, rng.integers(0, 3, 150), y)
    X[rng.random(X.shape) < 0.1] = NAN
    return X, y


@pytest.mark.parametrize("missing", MISSING)
def test_probabilities_are_the_weighted_mean_of_the_leaves(missing: str, gappy: Any) -> None:
    X, y = gappy
    tree = TreeClassifier("entropy", missing=missing, max_depth=4, leaf_probability="frequency").fit(X, y)
    weights = spread_by_hand(tree, X)
    counts = tree.forest_.counts
    np.testing.assert_allclose(
        tree.predict_proba(X), weights @ (counts / counts.sum(axis=1, keepdims=True)), rtol=1e-12
    )
    leaf_counts = tree.leaf_counts(X)
    assert leaf_counts.shape == (150, 1, 3)
    np.testing.assert_allclose(leaf_counts[:, 0], weights @ counts, rtol=1e-12)
    assert (tree.predict(X) == tree.classes_[tree.predict_proba(X).argmax(axis=1)]).all()
    assert tree.score(X, y) > 0.7


@pytest.mark.parametrize("missing", MISSING)
def test_apply_names_the_leaf_whose_counts_are_told(missing: str, gappy: Any) -> None:
    X, y = gappy
    tree = TreeClassifier(missing=missing).fit(X, y)
    leaves = tree.apply(X)
    assert leaves.shape == (150,)
    weights = spread_by_hand(tree, X)
    in_one_leaf = (weights > 0).sum(axis=1) == 1
    assert in_one_leaf.sum() > 80
    assert leaves[in_one_leaf].tolist() == weights[in_one_leaf].argmax(axis=1).tolist()
    np.testing.assert_array_equal(
        tree.leaf_counts(X)[in_one_leaf, 0], tree.forest_.counts[leaves[in_one_leaf]], strict=True
    )


def test_the_first_of_equally_probable_classes_is_predicted() -> None:
    tree = TreeClassifier().fit([[1], [1]], ["b", "a"])
    assert tree.predict_proba([[1]]).tolist() == [[0.5, 0.5]]
    assert tree.predict([[1]]).tolist() == ["a"]


def test_a_regressor_predicts_the_weighted_mean() -> None:
    tree = TreeRegressor(pruning=None).fit([[1], [1], [2]], [10, 40, 7], sample_weight=[2, 1, 1])
    np.testing.assert_allclose(tree.predict([[1], [2]]), [20, 7])
    # Three quarters of the weight went left.
    np.testing.assert_allclose(tree.predict([[NAN]]), [0.75 * 20 + 0.25 * 7])


def test_uncertainty_of_a_class_is_entropy_in_bits(gappy: Any) -> None:
    X, y = gappy
    tree = TreeClassifier(max_depth=2).fit(X, y)
    found = tree.predict_uncertainty(X, "leaf_entropy")
    bits = [-sum(p * math.log2(p) for p in row if p > 0) for row in tree.predict_proba(X)]
    np.testing.assert_allclose(found.total, bits, rtol=1e-12)
    np.testing.assert_array_equal(found.aleatoric, found.total)
    np.testing.assert_array_equal(found.epistemic, np.zeros(150))
    assert found.measure == "leaf_entropy"
    assert found.total.max() > 0.5


def test_uncertainty_of_a_number_is_the_variance_of_the_leaf() -> None:
    X, y = [[1], [1], [1], [2], [2]], [1.0, 2.0, 6.0, 100.0, 104.0]
    tree = TreeRegressor().fit(X, y)
    found = tree.predict_uncertainty([[1], [2]], "variance")
    np.testing.assert_allclose(found.total, [np.var([1, 2, 6]), np.var([100, 104])])
    np.testing.assert_array_equal(found.aleatoric, found.total)
    assert found.epistemic.tolist() == [0, 0]
    assert found.measure == "variance"
    # A row that goes both ways is one of all five: three parts of it left and two right, as the rows went.
    np.testing.assert_allclose(tree.predict_uncertainty([[NAN]]).total, [np.std(y)])


def test_uncertainty_of_a_mixture_follows_the_law_of_total_variance() -> None:
    X, y = load_diabetes(return_X_y=True)
    X = X.copy()
    X[np.random.default_rng(0).random(X.shape) < 0.2] = NAN
    tree = TreeRegressor(min_samples_leaf=20).fit(X, y)
    weights = spread_by_hand(tree, X)
    assert (weights > 0).sum(axis=1).max() > 3
    weight, mean, squares = tree.forest_.stats.T
    mixture = []
    for row in weights:
        centre = math.fsum(row * mean)
        mixture.append(math.fsum(row * (squares / weight + (mean - centre) ** 2)))
    np.testing.assert_allclose(tree.predict_uncertainty(X, "variance").total, mixture, rtol=1e-9)
    np.testing.assert_allclose(tree.predict(X), weights @ mean, rtol=1e-12)


def test_the_leaf_probability_may_be_changed_after_fit() -> None:
    X, y = [[1], [1], [1], [2]], ["a", "a", "b", "b"]
    tree = TreeClassifier().fit(X, y)
    forest = tree.forest_
    prior = np.array([0.5, 0.5])
    counts = tree.forest_.counts[tree.apply([[1], [2]])]
    assert counts.tolist() == [[2, 1], [0, 1]]
    for given, estimate in (
        ("frequency", Frequency()),
        ("laplace", Laplace()),
        (MEstimate(5), MEstimate(5)),
        (MEstimate(1), MEstimate(1)),
        ("frequency", Frequency()),
    ):
        tree.set_params(leaf_probability=given)
        np.testing.assert_allclose(tree.predict_proba([[1], [2]]), estimate(counts, prior), rtol=1e-15)
    assert tree.forest_ is forest
    tree.set_params(leaf_probability="nothing")
    with pytest.raises(ValueError, match="leaf_probability is 'nothing'"):
        tree.predict_proba([[1]])


def test_the_m_estimate_uses_the_weighted_share_of_each_class() -> None:
    tree = TreeClassifier(leaf_probability=MEstimate(2)).fit([[1], [1], [2]], [0, 1, 1], sample_weight=[3, 1, 1])
    np.testing.assert_allclose(tree.class_prior_, [0.6, 0.4])
    np.testing.assert_allclose(tree.predict_proba([[2]]), [[2 * 0.6 / 3, (1 + 2 * 0.4) / 3]])


def test_a_table_of_an_earlier_fit_is_not_used_again() -> None:
    tree = TreeClassifier(leaf_probability="frequency").fit([[1], [2]], [0, 1])
    assert tree.predict_proba([[1]]).tolist() == [[1, 0]]
    tree.fit([[1], [2]], [1, 0])
    assert tree.predict_proba([[1]]).tolist() == [[0, 1]]
    regressor = TreeRegressor(pruning=None).fit([[1], [2]], [0, 1])
    assert regressor.predict([[1]]).tolist() == [0]
    assert regressor.fit([[1], [2]], [5, 6]).predict([[1]]).tolist() == [5]


@pytest.mark.parametrize("way", ["pickle", "copy", "deepcopy", "joblib"])
@pytest.mark.parametrize("estimator", [TreeClassifier(leaf_probability=MEstimate(3)), TreeRegressor(missing="learned")])
def test_a_fitted_tree_survives_its_file(estimator: Any, way: str, tmp_path: Path) -> None:
    columns = mixed_columns()
    X = LIBRARIES["pandas"](columns)
    y = np.array([label == "yes" for label in labels_for(columns)])
    tree = clone(estimator).fit(X, y)
    before = tree.predict(X), tree.predict_uncertainty(X).total
    if way == "joblib":
        joblib.dump(tree, tmp_path / "tree.joblib")
        again = joblib.load(tmp_path / "tree.joblib")
    else:
        again = {
            "pickle": lambda: pickle.loads(pickle.dumps(tree)),
            "copy": lambda: copy.copy(tree),
            "deepcopy": lambda: copy.deepcopy(tree),
        }[way]()
    assert again.forest_ == tree.forest_
    assert again.get_params() == tree.get_params()
    assert again.predict(X).tobytes() == before[0].tobytes()
    assert again.predict_uncertainty(X).total.tobytes() == before[1].tobytes()
    # The copy has a table of its own: what is changed there is not seen here.
    if isinstance(again, TreeClassifier):
        again.set_params(leaf_probability="frequency").predict_proba(X)
        assert tree.predict_uncertainty(X).total.tobytes() == before[1].tobytes()


def test_a_pickle_holds_no_finished_table() -> None:
    X, y = load_iris(return_X_y=True)
    tree = TreeClassifier().fit(X, y)
    tree.apply(X)  # what the schema keeps in mind is small, and may be pickled
    without = len(pickle.dumps(tree))
    tree.predict_proba(X)
    assert len(pickle.dumps(tree)) == without


def test_one_row_is_predicted_as_among_many(gappy: Any) -> None:
    X, y = gappy
    for tree in (TreeClassifier(max_depth=3).fit(X, y), TreeRegressor(max_depth=3).fit(X, y)):
        verb = tree.predict_proba if isinstance(tree, TreeClassifier) else tree.predict
        assert np.concatenate([verb(row[None]) for row in X]).tobytes() == verb(X).tobytes()


# -- what the tree says about itself


def test_the_text_has_the_names_of_columns_categories_and_classes() -> None:
    columns = mixed_columns()
    tree = TreeClassifier(missing="category", max_depth=3, pruning=None)
    tree.fit(LIBRARIES["polars"](columns), labels_for(columns))
    text = tree.to_text()
    assert "colour = red" in text
    assert "colour is missing" in text
    assert "yes (" in text
    assert "no (" in text
    assert tree.to_text(max_depth=1).count("\n") < text.count("\n")
    assert "…" in tree.to_text(max_depth=1)
    regressor = TreeRegressor(max_depth=1, pruning=None).fit(pd.DataFrame({"width": [1.0, 2.0]}), [3.0, 5.0])
    assert regressor.to_text() == "width <= 1.5: 3 ± 0 (n = 1)\nwidth > 1.5: 5 ± 0 (n = 1)"


def test_a_learned_side_is_told_by_the_forest() -> None:
    X = [[1], [2], [3], [4], [NAN], [NAN]]
    low = TreeClassifier.cart().fit(X, [0, 0, 1, 1, 0, 0])
    high = TreeClassifier.cart().fit(X, [0, 0, 1, 1, 1, 1])
    assert low.forest_.missing[0] == MissingPolicy.FIRST_CHILD
    assert high.forest_.missing[0] == MissingPolicy.LAST_CHILD
    assert (low.predict([[NAN]]), high.predict([[NAN]])) == (0, 1)


def test_strategies_for_missing_values_may_be_instances() -> None:
    X, y = [[1], [2], [3], [4], [NAN], [NAN]], [0, 1, 1, 0, 0, 1]
    for name, instance in (("fractional", Fractional()), ("category", Category()), ("learned", Learned())):
        assert TreeClassifier(missing=name).fit(X, y).forest_ == TreeClassifier(missing=instance).fit(X, y).forest_


@pytest.mark.parametrize("criterion", ["gini", "entropy", "gain_ratio"])
def test_importances_add_up_to_one(criterion: str) -> None:
    X, y = load_iris(return_X_y=True)
    importances = TreeClassifier(criterion).fit(X, y).feature_importances_
    assert importances.shape == (4,)
    assert (importances >= 0).all()
    np.testing.assert_allclose(importances.sum(), 1)
    np.testing.assert_allclose(TreeRegressor().fit(X, y).feature_importances_.sum(), 1)


def test_importances_are_those_of_the_criterion_that_grew_the_tree() -> None:
    X, y = make_classification(200, 4, random_state=1)
    tree = TreeClassifier("entropy", max_depth=3).fit(X, y)
    before = tree.feature_importances_.tolist()
    assert tree.set_params(criterion="gini").feature_importances_.tolist() == before


def test_importances_of_gain_ratio_are_counted_in_bits() -> None:
    X, y = make_classification(200, 4, random_state=1)
    tree = TreeClassifier("entropy", max_depth=1).fit(X, y)
    assert sorted(tree.feature_importances_.tolist()) == [0, 0, 0, 1]
    deep = TreeClassifier("gain_ratio", max_depth=3).fit(X, y)
    counts = deep.forest_.node_counts()
    share = counts / counts.sum(axis=1, keepdims=True)
    bits = -(counts * np.log2(np.where(share > 0, share, 1))).sum(axis=1)
    decrease = np.zeros(4)
    for node in np.flatnonzero(deep.forest_.feature >= 0):
        decrease[deep.forest_.feature[node]] += bits[node] - bits[deep.forest_.parent == node].sum()
    np.testing.assert_allclose(deep.feature_importances_, decrease / decrease.sum(), rtol=1e-9)
