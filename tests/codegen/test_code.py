"""Generated code answers as the model does, to the last bit."""

from __future__ import annotations

import math
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.ensemble import ExtraTreesClassifier

from codegen.answers import LANGUAGES, assert_equal_bits, of_language, of_model
from effort import daily, examples
from hedgerow import (
    BoundaryClassifier,
    CautiousForestClassifier,
    ForestClassifier,
    ForestRegressor,
    MeasuredTreeRegressor,
    NaiveBayesTreeClassifier,
    ObliqueForestClassifier,
    ObliqueTreeClassifier,
    RandomTreesClassifier,
    RuleClassifier,
    TreeClassifier,
    TreeRegressor,
)
from hedgerow.codegen import make_program, python_code
from hedgerow.codegen.finish import Divide, summation_order
from hedgerow.codegen.sql import DIALECTS
from hedgerow.data.columns import Column, Kind
from hedgerow.data.table import Schema
from hedgerow.forest.kinds import NodeKind
from hedgerow.forest.splits import Split
from hedgerow.walk import LeafTable, fold
from strategies import forests_with_rows

EVIL = """it's a "quoted" \\ `name` /* no */ -- ??/ ü"""


def mixed(n: int = 150, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    """Every kind of column, odd names, missing values; three classes."""
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            EVIL: rng.choice(["red", EVIL, "green", "blue"], n),
            "grade": pd.Categorical(rng.choice(["low", "mid", "high"], n), ["low", "mid", "high"], ordered=True),
            "smoker": rng.random(n) < 0.4,
            "_age": rng.normal(50, 10, n).round(1),
            "place": rng.choice([f"p{i}" for i in range(12)], n),
        }
    )
    score = (X[EVIL] == "red") * 2 + X["smoker"] + (X["grade"] == "high") + X["_age"] / 30 + rng.normal(size=n) / 3
    X.loc[rng.random(n) < 0.1, "_age"] = np.nan
    return X, np.array(["no", "it's", "yes"])[np.digitize(score, [2.4, 3.6])]


def holes(X: pd.DataFrame, seed: int = 1) -> pd.DataFrame:
    """Rows with missing values everywhere, and categories that were not there in training."""
    rng, X = np.random.default_rng(seed), X.copy()
    for name in X.columns:
        if X[name].dtype != bool:
            X.loc[rng.random(len(X)) < 0.2, name] = None
        if X[name].dtype == object:
            X.loc[rng.random(len(X)) < 0.05, name] = "new"
    return X


def five() -> dict[str, Any]:
    """Data, with holes in half of the rows."""
    found: dict[str, Any] = {"mixed": mixed()}
    for load in (load_iris, load_wine, load_breast_cancer, load_digits):
        X, y = load(return_X_y=True, as_frame=True)
        found[load.__name__] = (X, y)
    return found


MODELS = {
    "tree": lambda: TreeClassifier(max_leaf_nodes=30, pruning=None),
    "learned, subsets": lambda: TreeClassifier.cart(nominal="subset", max_leaf_nodes=30),
    "missing as a value": lambda: TreeClassifier(missing="category", nominal="binary", max_leaf_nodes=20),
    "costs": lambda: TreeClassifier(cost_matrix=[[0, 1, 2], [3, 0, 1], [1, 7, 0]]),
    "forest": lambda: ForestClassifier(3, calibration=None, max_leaf_nodes=8, random_state=0),
    "calibrated forest": lambda: ForestClassifier(3, max_leaf_nodes=8, random_state=0),
    "weighted forest": lambda: ForestClassifier(
        3, calibration=None, tree_weights=[1.0, 0.0, 2.5], rule="laplace", max_leaf_nodes=8, random_state=0
    ),
    "oblique": lambda: ObliqueTreeClassifier(max_leaf_nodes=6, pruning=None),
    "oblique forest": lambda: ObliqueForestClassifier(2, calibration=None, max_leaf_nodes=5, random_state=0),
    "pooled": lambda: RandomTreesClassifier(2, rule="pool", max_depth=2, random_state=0),
    "votes": lambda: RandomTreesClassifier(2, rule="vote", max_depth=2, random_state=0),
    "one tree by a rule": lambda: RuleClassifier(TreeClassifier(max_depth=3), rule="laplace"),
}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", MODELS)
def test_code_answers_as_the_model(name: str, language: str, tmp_path: Path) -> None:
    X, y = mixed()
    model = MODELS[name]().fit(X, y)
    rows = pd.concat([X, holes(X)], ignore_index=True)
    proba, labels = of_model(model, rows)
    found, found_labels = of_language(language, model, rows, tmp_path)
    assert_equal_bits(found, proba)
    assert found_labels == labels


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", daily(("mixed", "load_iris", "load_breast_cancer"), five()))
def test_all_rows_of_five_data_sets(name: str, language: str, tmp_path: Path) -> None:
    X, y = five()[name]
    rows = pd.concat([X, holes(X)], ignore_index=True)
    for model in (
        TreeClassifier(max_leaf_nodes=10, pruning=None).fit(X, y),
        ForestClassifier(2, max_leaf_nodes=5, random_state=0).fit(X, y),
    ):
        proba, labels = of_model(model, rows)
        found, found_labels = of_language(language, model, rows, tmp_path)
        assert_equal_bits(found, proba)
        assert found_labels == labels


@pytest.mark.parametrize("language", LANGUAGES)
def test_regression(language: str, tmp_path: Path) -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    rows = pd.concat([X, holes(X)], ignore_index=True)
    for model in (
        TreeRegressor(max_leaf_nodes=20, pruning=None).fit(X, y),
        ForestRegressor(3, max_leaf_nodes=8, random_state=0).fit(X, y),
    ):
        found, _ = of_language(language, model, rows, tmp_path)
        assert_equal_bits(found, of_model(model, rows)[0])


@settings(max_examples=examples(8, 30))
@given(forests_with_rows(regression=True))
def test_any_forest_in_python(drawn: Any) -> None:
    """Every kind of node and policy, weights of 0, chains; numbers that look for trouble."""
    forest, rows = drawn
    n_codes = 80
    split = {
        int(forest.feature[at]) for at in np.flatnonzero(forest.kind > NodeKind.THRESHOLD) if forest.feature[at] >= 0
    }
    columns = [
        Column(f"x{j}", Kind.NOMINAL if j in split else Kind.NUMERIC, tuple(range(n_codes)) if j in split else ())
        for j in range(forest.n_features)
    ]
    mixed_columns = {j for j in split if ((forest.feature == j) & (forest.kind == NodeKind.THRESHOLD)).any()}
    if mixed_columns or (split and (forest.kind == NodeKind.OBLIQUE).any()):
        return  # a forest of an estimator has no such columns
    for j in split:
        code = rows[:, j]
        code[~((code >= 0) & (code < n_codes) & (code == np.floor(code)))] = np.nan
    values = forest.stats[:, 1:2]
    program = make_program("any", forest, Schema(tuple(columns), named=True), values, (Divide(forest.n_trees),))
    module: dict[str, Any] = {}
    exec(python_code(program, "0"), module)
    expected = fold(forest, rows, [LeafTable.of(values)])[0] / forest.n_trees
    found = np.array([[module["predict"](row)] for row in rows.tolist()])
    assert_equal_bits(found, expected)


def test_deep_trees_and_many_classes(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": np.arange(30.0)})
    deep = TreeClassifier.cart().fit(X, np.arange(30) // 2 % 10)
    rows = X + rng.choice([0.0, 0.5], (30, 1))
    chain = TreeRegressor(pruning=None).fit(X, 2.0 ** np.arange(30))
    assert chain.get_depth() > 2 * 8, "more levels than CASEs are nested"
    for language in LANGUAGES:
        assert_equal_bits(of_language(language, deep, rows, tmp_path)[0], of_model(deep, rows)[0])
        assert_equal_bits(of_language(language, chain, rows, tmp_path)[0], of_model(chain, rows)[0])


def test_a_forest_of_scikit_learn_in_c(tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    theirs = ExtraTreesClassifier(3, max_depth=3, random_state=0).fit(X, y)
    model = RuleClassifier.from_fitted(theirs)
    assert_equal_bits(of_language("c", model, X, tmp_path)[0], of_model(model, X)[0])


# -- numbers


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_sqlite_reads_every_number_to_the_last_bit(value: float) -> None:
    (found,) = sqlite3.connect(":memory:").execute(f"SELECT {DIALECTS['sqlite'].number(value)}").fetchone()
    assert found == value


@pytest.mark.parametrize("n", [1, 2, 5, 7, 8, 9, 15, 16, 17, 26, 127, 128, 129, 200, 300])
def test_sums_are_added_in_the_order_of_numpy(n: int) -> None:
    def total(order: Any) -> float:
        return float(values[order]) if not isinstance(order, list) else total(order[0]) + total(order[1])

    for seed in range(20):
        values = np.random.default_rng(seed).random(n) * 10.0 ** np.random.default_rng(seed).integers(-8, 8, n)
        assert total(summation_order(n)) == np.add.reduce(values[np.newaxis], axis=1)[0]


def test_shares_of_a_wide_node_are_those_of_the_core() -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"c": rng.choice([f"c{i}" for i in range(30)], 400)})
    tree = TreeRegressor(pruning=None).fit(X, rng.normal(size=400), sample_weight=rng.random(400))
    split = Split(tree.forest_, 0)
    shares = [split.spread_share(child) for child in range(len(split.children))]
    reached = tree._walk.spread(np.array([[np.nan]])).toarray()[0]
    assert shares == reached.tolist()


# -- refusals


def test_what_has_no_code_says_so() -> None:
    X, y = load_iris(return_X_y=True)
    for model in (CautiousForestClassifier(3), BoundaryClassifier(), NaiveBayesTreeClassifier()):
        with pytest.raises(ValueError, match="computes its answers from more than sums over leaves"):
            model.fit(X, y).to_c()
    with pytest.raises(ValueError, match=r"MeasuredTreeRegressor: its rows are in several regions at once"):
        MeasuredTreeRegressor(0.1, max_leaf_nodes=3).fit(X, y).to_sql()
    random = RandomTreesClassifier(3, rule="evidence", random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"rule is 'evidence', .* call model.set_params\(rule='probability'\) first"):
        random.to_python()


def test_sql_that_would_be_too_large_is_refused_before_it_is_written() -> None:
    X, y = load_digits(return_X_y=True)
    oblique = ObliqueForestClassifier(30, random_state=0).fit(X[:, 20:40], y)
    size = r"to_sql writes at most 5,000 nodes, and this oblique forest of 30 trees has [\d,]+: "
    with pytest.raises(ValueError, match=size + r"fit fewer or smaller trees .* or use to_c\(\) or `hedgerow predict`"):
        oblique.to_sql()
    spread = (
        r"at most 1,200 nodes where rows with a missing value reach several leaves, and this forest of 16 trees has"
    )
    with pytest.raises(ValueError, match=spread):
        ForestClassifier(16, random_state=0).fit(X, y).to_sql()


def test_wrong_arguments_are_named() -> None:
    tree = TreeRegressor().fit([[0.0], [1.0]], [0.0, 1.0])
    with pytest.raises(ValueError, match="dialect is 'oracle', must be one of 'duckdb', 'sqlite'"):
        tree.to_sql("oracle")
    with pytest.raises(ValueError, match="output is 'proba', and this model predicts numbers"):
        tree.to_sql(output="proba")
    with pytest.raises(ValueError, match="name is '1x', must be a C identifier"):
        tree.to_c("1x")
    named = TreeClassifier().fit(pd.DataFrame({"c": ["a\x00", "b"] * 5}), [0, 1] * 5)
    with pytest.raises(ValueError, match="has a NUL character"):
        named.to_sql()


def test_python_refuses_what_predict_refuses() -> None:
    module: dict[str, Any] = {}
    exec(TreeRegressor().fit([[0.0], [1.0]], [0.0, 1.0]).to_python(), module)
    with pytest.raises(ValueError, match="x0 is infinite"):
        module["predict"]([math.inf])
    with pytest.raises(ValueError, match="the row has 2 values, must have 1"):
        module["predict"]([1.0, 2.0])
