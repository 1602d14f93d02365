"""Explanations with contributions: the record, the text, plain data and frames."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris

from hedgerow import (
    ConformalClassifier,
    ForestClassifier,
    ForestRegressor,
    RandomTreesClassifier,
    TreeClassifier,
)


def iris() -> Any:
    data = load_iris(as_frame=True)
    return data.data, data.target_names[data.target]


@pytest.mark.parametrize("model", [TreeClassifier(), ForestClassifier(10, random_state=0)])
def test_contributions_to_the_predicted_class_add_up(model: Any) -> None:
    X, y = iris()
    model.fit(X, y)
    rows = X[45:105:5]
    found = model.explain(rows, contributions=True)
    whole = model.contributions(rows)
    for i, one in enumerate(found):
        code = model.classes_.tolist().index(one.answer)
        said = one.contributions
        assert said.of == f"{whole.of} of {one.answer}"
        assert said.base + sum(said.columns.values()) == pytest.approx(whole.answers[i, code], abs=1e-12)
        sizes = [abs(value) for value in said.columns.values()]
        assert sizes == sorted(sizes, reverse=True)
        assert said.values["petal width (cm)"] == f"{rows.iloc[i]['petal width (cm)']:g}"
        assert str(one).splitlines()[-len(said.lines()) :] == said.lines()
        assert json.loads(json.dumps(one.to_dict()))["contributions"]["columns"] == said.columns
    frame = found.to_frame()
    names = [f"contribution of {name}" for name in X.columns]
    np.testing.assert_allclose(frame[names].iloc[0], [found[0].contributions.columns[name] for name in X.columns])
    assert [str(one) for one in found[2:4]] == [str(found[2]), str(found[3])]


def test_nothing_is_said_or_computed_unless_asked_for() -> None:
    X, y = iris()
    found = TreeClassifier().fit(X, y).explain(X[:1])
    assert found[0].contributions is None
    assert "contributions" not in found[0].to_dict()
    assert not any(name.startswith("contribution") for name in found.to_frame().columns)
    assert "Contributions" not in str(found[0])


def test_numbers_and_log_odds() -> None:
    data = load_diabetes(as_frame=True)
    forest = ForestRegressor(5, random_state=0).fit(data.data, data.target)
    one = forest.explain(data.data[:1], contributions=True)[0]
    assert one.contributions.of == "prediction"
    assert one.contributions.answer == pytest.approx(one.answer)
    assert f"{len(data.data.columns) - 5} other columns" in str(one).splitlines()[-1]
    X, y = iris()
    two = y != "setosa"
    model = RandomTreesClassifier(5, random_state=0).fit(X[two], y[two])
    assert "Contributions to the log-odds: " in str(model.explain(X[60:61], contributions=True)[0])


def test_conformal_models_have_the_contributions_of_what_they_wrap() -> None:
    X, y = iris()
    model = ConformalClassifier(ForestClassifier(10, random_state=0)).fit(X, y)
    np.testing.assert_array_equal(model.contributions(X[:2]).values, model.estimator_.contributions(X[:2]).values)


def test_wrong_arguments_are_named() -> None:
    X, y = iris()
    tree = TreeClassifier().fit(X, y)
    with pytest.raises(ValueError, match="contributions is 'yes', must be True or False"):
        tree.explain(X[:1], contributions="yes")
    with pytest.raises(ValueError, match="rule dempster has no answer that adds up over its trees"):
        ForestClassifier(3, rule="dempster", random_state=0).fit(X[50:], y[50:]).explain(X[:1], contributions=True)
