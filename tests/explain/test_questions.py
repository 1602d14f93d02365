"""What to measure next, against its literal definition, and in a loop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import entropy
from sklearn.datasets import load_diabetes, load_iris, load_wine

import strategies
from hedgerow import (
    CautiousForestClassifier,
    ForestClassifier,
    ForestRegressor,
    NaiveBayesTreeClassifier,
    TreeClassifier,
)
from oracles import questions as oracle


def _rows(X: Any, seed: int, n: int = 4) -> Any:
    rng = np.random.default_rng(seed)
    rows = X[rng.integers(0, len(X), n)].copy()
    rows[rng.random(rows.shape) < 0.6] = np.nan
    return rows


@pytest.mark.parametrize(
    "model",
    [
        TreeClassifier(categorical_features=[3], missing="fractional"),
        TreeClassifier(categorical_features=[3], missing="category", nominal="subset"),
        TreeClassifier.cart(categorical_features=[3], max_depth=6),
        ForestClassifier(6, max_depth=4, categorical_features=[3], random_state=0),
        ForestClassifier(4, nominal="multiway", max_depth=3, categorical_features=[3], random_state=0),
    ],
)
def test_the_expected_entropy_is_that_of_the_definition(model: Any) -> None:
    X, y = strategies.mixed_data()
    model.fit(X, y)
    rows = _rows(X, 1)
    codes = [len(column.categories) for column in model.schema_.columns]

    def doubt(row: Any) -> float:
        return float(entropy(model._respond(row[np.newaxis], {"predict_proba": {}})["predict_proba"][0], base=2))

    for row, found in zip(model._read(rows), model.next_question(rows), strict=True):
        assert found.doubt == pytest.approx(doubt(row), abs=1e-12)
        expected = {one.column: one.expected for one in found.ranked}
        for j in range(4):
            known = None
            if np.isnan(row[j]):
                known = oracle.expected_doubt(model.forest_, row, j, codes[j], model.training_range_[j], doubt)
            assert expected.get(f"x{j}") == (known if known is None else pytest.approx(known, abs=1e-9))


def test_gains_are_ranked_by_what_they_cost() -> None:
    X, y = load_wine(return_X_y=True)
    forest = ForestClassifier(20, random_state=0).fit(X, y)
    nothing = np.full((1, X.shape[1]), np.nan)
    (even,) = forest.next_question(nothing)
    best = even.column
    (dear,) = forest.next_question(nothing, feature_costs={best: 100.0})
    assert dear.column != best
    assert next(one for one in dear.ranked if one.column == best).gain == even.ranked[0].gain
    for one in dear.ranked:
        assert one.gain == pytest.approx(dear.doubt - one.expected)
        assert one.gain_per_cost == one.gain / one.cost
    rates = [one.gain_per_cost for one in dear.ranked]
    assert rates == sorted(rates, reverse=True)
    assert str(dear).startswith("entropy now: 1.5")


def test_only_columns_that_matter_are_asked_for() -> None:
    X, y = load_iris(return_X_y=True)
    tree = TreeClassifier(max_depth=1).fit(X, y)
    missing = X[:1].copy()
    missing[0, [0, 1]] = np.nan
    (found,) = tree.next_question(missing)
    assert found.column is None
    assert found.ranked == ()
    assert str(found) == "Nothing that is missing would change the answer."
    (found,) = tree.next_question(X[:1], columns=["x2", 3])
    assert len(found.ranked) == 1
    assert found.ranked[0].expected == pytest.approx(min(one.expected for one in found.ranked))


def test_sets_and_variances_are_doubts_too() -> None:
    X, y = load_wine(return_X_y=True)
    cautious = CautiousForestClassifier(20, s=2, random_state=0).fit(X, y)
    (found,) = cautious.next_question(np.full((1, X.shape[1]), np.nan))
    assert found.measure == "set_size"
    sets = cautious.predict_set(np.full((1, X.shape[1]), np.nan))
    assert found.doubt == sets.sum() > 1
    assert 1 <= found.ranked[0].expected < found.doubt
    assert cautious.next_question(X[:1] * np.nan, measure="entropy")[0].measure == "entropy"
    X, y = load_diabetes(return_X_y=True)
    forest = ForestRegressor(10, random_state=0).fit(X, y)
    (found,) = forest.next_question(np.full((1, X.shape[1]), np.nan))
    assert found.measure == "variance"
    assert found.ranked[0].gain > 0
    X, y = load_iris(return_X_y=True)
    bayes = NaiveBayesTreeClassifier(random_state=0).fit(X, y)
    assert bayes.next_question(X[:1] * np.nan)[0].measure == "entropy"


def test_a_loop_of_questions_reaches_the_answer_with_few_of_them() -> None:
    X, y = load_wine(return_X_y=True)
    forest = ForestClassifier(30, random_state=0).fit(X[::2], y[::2])
    asked, right = [], []
    for row, label in zip(X[1::12], y[1::12], strict=True):
        known = np.full((1, X.shape[1]), np.nan)
        for _ in range(4):
            column = forest.next_question(known)[0].column
            j = forest.schema_.names.index(str(column))
            known[0, j] = row[j]
        asked.append(np.isnan(known).sum())
        right.append(forest.predict(known)[0] == label)
    assert set(asked) == {X.shape[1] - 4}
    assert np.mean(right) >= 0.8  # of 15 rows; of three equal classes a guess gets 6


def test_errors_name_the_parameter() -> None:
    X, y = load_iris(return_X_y=True)
    tree = TreeClassifier().fit(X, y)
    with pytest.raises(ValueError, match="measure is 'variance', must be one of 'entropy'"):
        tree.next_question(X[:1], measure="variance")
    with pytest.raises(ValueError, match="columns names 'petal', which is not a column"):
        tree.next_question(X[:1], columns=["petal"])
