"""Trees as rules and in the language of Graphviz."""

from __future__ import annotations

import math
import re
import shutil
import subprocess
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_iris

from codegen.test_code import EVIL, mixed
from hedgerow import ForestClassifier, TreeClassifier, TreeRegressor


@pytest.fixture(scope="module")
def iris() -> Any:
    found = load_iris(as_frame=True)
    return found.data, found.target_names[found.target]


def test_intervals_are_merged_and_rules_sorted(iris: Any) -> None:
    rules = TreeClassifier().fit(*iris).to_rules()
    assert len(rules) == 7
    assert str(rules[0]) == "petal length (cm) <= 2.45: setosa (50 rows, 33.3%; confidence 1, lift 3)"
    assert str(rules[1]).startswith(
        "2.45 < petal length (cm) <= 4.95 and petal width (cm) <= 1.65: versicolor (47 rows"
    )
    assert [rule.coverage for rule in rules] == sorted((rule.coverage for rule in rules), reverse=True)
    by_confidence = TreeClassifier(max_depth=2).fit(*iris).to_rules(sort="confidence")
    assert [round(rule.confidence, 2) for rule in by_confidence] == [1, 0.98, 0.91]
    assert [round(rule.lift, 2) for rule in by_confidence] == [3, 2.93, 2.72]
    assert len(by_confidence[:2]) == 2
    with pytest.raises(ValueError, match="sort is 'size', must be one of 'coverage', 'confidence'"):
        TreeClassifier().fit(*iris).to_rules(sort="size")


def test_rules_hold_for_the_rows_of_their_leaves() -> None:
    """Each condition, read as a person would, is true for exactly the rows that reach the leaf."""
    X, y = mixed(300)
    X = X.dropna().rename(columns={EVIL: "colour", "_age": "age"})
    for settings in ({}, {"nominal": "subset"}, {"nominal": "binary"}, {"missing": "category"}):
        tree = TreeClassifier(pruning=None, max_leaf_nodes=40, **settings).fit(X, y[X.index])
        reached = tree.apply(X)
        rules = tree.to_rules()
        assert sorted(rule.leaf for rule in rules) == list(range(tree.get_n_leaves()))
        for rule in rules:
            holds = np.ones(len(X), dtype=bool)
            for condition in rule.conditions:
                holds &= read(condition, X)
            np.testing.assert_array_equal(holds, reached == rule.leaf, str(rule))
            assert rule.n_rows == pytest.approx(holds.sum())
            assert rule.coverage == pytest.approx(holds.mean())


LEVELS = ["low", "mid", "high"]


def read(condition: str, X: pd.DataFrame) -> Any:
    if both := re.fullmatch(r"(.+) < (\w+) <= (.+)", condition):
        # Texts have six digits; thresholds of these ages have two.
        return (X[both[2]] > float(both[1])) & (X[both[2]] <= float(both[3]))
    name, sign, value = re.fullmatch(r"(\w+) (<=|>|=|!=|not in|in|is known)\s?(.*)", condition, re.S).groups()  # type: ignore[union-attr]
    column = X[name].astype(str) if name != "age" else X[name]
    if sign == "is known":
        return column.notna()
    if sign in ("in", "not in"):
        inside = column.isin(value[1:-1].split(", "))
        return inside if sign == "in" else ~inside
    if name == "grade" and sign in ("<=", ">"):
        position = column.map(LEVELS.index)
        return position <= LEVELS.index(value) if sign == "<=" else position > LEVELS.index(value)
    if sign in ("<=", ">"):
        return column <= float(value) if sign == "<=" else column > float(value)
    return column == value if sign == "=" else column != value


def test_rules_of_numbers_and_as_a_frame() -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    rules = TreeRegressor(max_leaf_nodes=4, pruning=None).fit(X, y).to_rules(sort="confidence")
    deviations = [rule.deviation for rule in rules]
    assert deviations == sorted(deviations)
    assert "±" in str(rules)
    frame = rules.to_frame()
    assert len(frame) == 4
    assert frame["n_rows"].sum() == len(X)
    assert frame["conditions"][0] == " and ".join(rules[0].conditions)
    assert math.isnan(rules[0].lift)


def test_rules_of_a_tree_of_a_forest_and_of_a_leaf(iris: Any) -> None:
    forest = ForestClassifier(3, random_state=0).fit(*iris)
    assert str(forest.to_rules(0)) != str(forest.to_rules(2))
    with pytest.raises(ValueError, match=r"tree is 3, this forest has trees 0 \.\. 2"):
        forest.to_rules(3)
    leaf = TreeRegressor().fit([[0.0]] * 4, [1.0, 1.0, 3.0, 3.0])
    assert str(leaf.to_rules()) == "always: 2 (4 rows, 100.0%; ± 1)"
    assert repr(leaf.to_rules()).startswith("<1 rules>")


def test_dot_has_the_nodes_and_branches_and_quotes_names(iris: Any) -> None:
    dot = TreeClassifier(max_depth=2).fit(*iris).to_dot()
    assert dot.count(" -> ") == 4
    assert 'label="petal length (cm)\\nsetosa 50, versicolor 50, virginica 50"' in dot
    X, y = mixed()
    evil = TreeClassifier(max_depth=3, pruning=None).fit(X, y).to_dot()
    assert '\\"quoted\\" \\\\ `name`' in evil
    forest = ForestClassifier(2, random_state=0).fit(*iris)
    assert forest.to_dot(0) != forest.to_dot(1)
    if program := shutil.which("dot"):
        for text in (dot, evil):
            subprocess.run([program, "-Tsvg"], input=text, text=True, check=True, capture_output=True)
