"""Pruning as a parameter of trees, and of trees that are fitted."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import NotFittedError

from hedgerow import TreeClassifier, TreeRegressor, load, save
from hedgerow.checks import outputs
from hedgerow.growth import Fractional
from hedgerow.pruning import (
    CostComplexity,
    DescriptionLength,
    Pessimistic,
    ReducedError,
    collapse,
    cost_complexity,
    description_length,
    pessimistic,
    reduced_error,
)

CLASS_STRATEGIES = ("pessimistic", "reduced_error", "cost_complexity", "description_length")
NUMBER_STRATEGIES = ("reduced_error", "cost_complexity")


def noisy(n_rows: int = 200, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4)).round(1)
    X[:, 3] = rng.integers(0, 4, n_rows)
    y = ((X[:, 0] > 0) ^ (X[:, 3] == 1) ^ (rng.random(n_rows) < 0.15)).astype(int)
    X[rng.random(X.shape) < 0.05] = math.nan
    return X, y


# -- what each way comes to


def test_a_strategy_is_the_function_of_its_name() -> None:
    X, y = noisy()
    grown = TreeClassifier(pruning=None, categorical_features=[3]).fit(X, y).forest_

    def pruned(pruning: Any, **more: Any) -> Any:
        return TreeClassifier(pruning=pruning, categorical_features=[3], **more).fit(X, y).forest_

    assert pruned("pessimistic") == pruned(Pessimistic()) == pessimistic(grown, X, y)
    assert pruned(Pessimistic(0.05, raising=False)) == pessimistic(grown, X, y, confidence=0.05, raising=False)
    assert pruned(CostComplexity(0.01)) == cost_complexity(grown, 0.01, "entropy")
    assert pruned("description_length") == pruned(DescriptionLength()) == description_length(grown, X, [0, 0, 0, 4])
    assert pruned(None, collapse=True) == collapse(grown)
    assert pruned("pessimistic", collapse=True) == pessimistic(collapse(grown), X, y)
    coarse = TreeClassifier(pruning=None, missing=Fractional(0.5)).fit(X, y).forest_
    fitted = TreeClassifier(pruning="pessimistic", missing=Fractional(0.5)).fit(X, y).forest_
    assert fitted == pessimistic(coarse, X, y, min_fraction=0.5)


def test_every_way_prunes_noise() -> None:
    X, y = noisy(400)
    full = TreeClassifier(pruning=None).fit(X, y).get_n_leaves()
    for name in CLASS_STRATEGIES:
        tree = TreeClassifier(pruning=name, random_state=0).fit(X, y)
        assert 1 < tree.get_n_leaves() < full, name
        assert tree.score(X, y) > 0.6, name


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({"pruning": Pessimistic(0.25)}, True),
        ({"pruning": Pessimistic(0.01)}, False),
        ({"pruning": Pessimistic(raising=False)}, False),
        ({"pruning": None}, False),
        ({"pruning": "reduced_error"}, False),
        ({"collapse": True, "pruning": None}, False),
    ],
)
def test_every_setting_changes_something(changes: dict[str, Any], same: bool) -> None:
    X, y = noisy(300, seed=9)
    usual = TreeClassifier(pruning="pessimistic", criterion="entropy", random_state=0)
    changed = clone(usual).set_params(**changes)
    assert (outputs(usual.fit(X, y), X) == outputs(changed.fit(X, y), X)) == same


def test_cart_is_not_pruned() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    assert TreeClassifier.cart().pruning is None
    assert TreeClassifier.cart().fit(X, y).score(X, y) == 1
    assert TreeClassifier.cart(pruning="pessimistic").fit(X, y).score(X, y) < 1


def test_the_random_state_draws_the_rows_to_judge_by() -> None:
    X, y = noisy()
    for pruning in ("reduced_error", "cost_complexity"):
        trees = [TreeClassifier(pruning=pruning, random_state=seed).fit(X, y).forest_ for seed in (0, 0, 1, 2, 3)]
        assert trees[0] == trees[1]
        assert any(tree != trees[0] for tree in trees[2:])


@pytest.mark.parametrize("pruning", CLASS_STRATEGIES)
def test_the_order_of_rows_changes_nothing(pruning: str) -> None:
    X, y = noisy()
    X = np.nan_to_num(X)  # parts of rows are added in another order, which rounding shows
    order = np.random.default_rng(1).permutation(len(y))
    tree = TreeClassifier(pruning=pruning, random_state=0)
    assert clone(tree).fit(X, y).forest_ == clone(tree).fit(X[order], y[order]).forest_


@pytest.mark.parametrize("pruning", CLASS_STRATEGIES)
def test_weights_are_repeated_rows(pruning: str) -> None:
    X, y = noisy()
    X = np.nan_to_num(X)
    weight = np.random.default_rng(1).integers(0, 4, len(y))
    tree = TreeClassifier(pruning=pruning, random_state=0)
    weighted, repeated = (
        clone(tree).fit(X, y, weight),
        clone(tree).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight)),
    )
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=1e-12)
    assert weighted.get_n_leaves() == repeated.get_n_leaves()


# -- by rows of one's own


def test_a_fitted_tree_is_pruned_by_a_validation_set() -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    names = np.array(["malignant", "benign"])[y]
    tree = TreeClassifier(pruning=None).fit(X[:300], names[:300])
    before = tree.forest_
    pruned = tree.pruned(X[300:], names[300:])
    assert tree.forest_ is before
    assert type(pruned) is TreeClassifier
    assert pruned.get_params() == tree.get_params()
    assert pruned.get_n_leaves() < tree.get_n_leaves()
    assert pruned.score(X[300:], names[300:]) >= tree.score(X[300:], names[300:])
    codes = np.searchsorted(tree.classes_, names[300:])
    assert pruned.forest_ == reduced_error(before, X[300:].to_numpy(), codes)
    greedy = tree.pruned(X[300:], names[300:], pruning=ReducedError(order="greedy"))
    assert greedy.forest_ == reduced_error(before, X[300:].to_numpy(), codes, order="greedy")
    assert pruned.predict_proba(X).shape == (len(y), 2)
    assert not np.array_equal(pruned.predict_proba(X), tree.predict_proba(X))


def test_weights_count_in_a_validation_set() -> None:
    X, y = noisy(300)
    tree = TreeClassifier(pruning=None).fit(X[:150], y[:150])
    weight = np.random.default_rng(0).integers(0, 5, 150)
    repeated = tree.pruned(np.repeat(X[150:], weight, axis=0), np.repeat(y[150:], weight))
    assert tree.pruned(X[150:], y[150:], weight).forest_ == repeated.forest_
    assert tree.pruned(X[150:], y[150:]).forest_ != repeated.forest_


def test_numbers_are_pruned_by_a_validation_set() -> None:
    X, y = load_diabetes(return_X_y=True)
    tree = TreeRegressor(pruning=None).fit(X[:300], y[:300])
    pruned = tree.pruned(X[300:], y[300:])
    assert pruned.score(X[300:], y[300:]) > tree.score(X[300:], y[300:])
    assert pruned.forest_ == reduced_error(tree.forest_, X[300:], y[300:])


def test_other_ways_take_the_rows_of_fit() -> None:
    X, y = noisy()
    tree = TreeClassifier(pruning=None, missing=Fractional(0.0)).fit(X, y)
    fitted = {name: TreeClassifier(pruning=name, missing=Fractional(0.0)).fit(X, y) for name in CLASS_STRATEGIES}
    for name in ("pessimistic", "description_length"):
        assert tree.pruned(X, y, pruning=name).forest_ == fitted[name].forest_
    by_alpha = TreeClassifier(pruning=CostComplexity(0.02), missing=Fractional(0.0)).fit(X, y)
    assert tree.pruned(X, y, pruning=CostComplexity(0.02)).forest_ == by_alpha.forest_


def test_what_pruned_refuses() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(NotFittedError):
        TreeClassifier().pruned(X, y)
    tree = TreeClassifier().fit(X, y)
    with pytest.raises(ValueError, match="pruning is None, must be a pruning method"):
        tree.pruned(X, y, pruning=None)
    with pytest.raises(ValueError, match=r"grows trees to choose alpha.*give alpha as a number"):
        tree.pruned(X, y, pruning="cost_complexity")
    with pytest.raises(ValueError, match=r"y has classes \[3\], which are not among \[0, 1, 2\]"):
        tree.pruned(X, y + 1)
    with pytest.raises(ValueError, match="X has 3 features"):
        tree.pruned(X[:, :3], y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        tree.pruned(X, y[:-1])


# -- what fit refuses, and what comes back from a file


@pytest.mark.parametrize("pruning", ["C4.5", 3, Pessimistic, True, ""])
def test_a_way_that_does_not_exist_is_named(pruning: Any) -> None:
    X, y = load_iris(return_X_y=True)
    for tree in (TreeClassifier(pruning=pruning), TreeRegressor(pruning=pruning)):
        with pytest.raises(ValueError, match=r"pruning is .*must be one of 'pessimistic', 'reduced_error'") as error:
            tree.fit(X, y)
        assert repr(pruning) in str(error.value)


@pytest.mark.parametrize("pruning", ["pessimistic", "description_length", Pessimistic(0.1), DescriptionLength()])
def test_what_counts_errors_needs_classes(pruning: Any) -> None:
    X, y = load_diabetes(return_X_y=True)
    with pytest.raises(ValueError, match="which counts errors: a regression tree has none, use 'cost_complexity'"):
        TreeRegressor(pruning=pruning).fit(X, y)
    with pytest.raises(ValueError, match="counts errors"):
        TreeRegressor(pruning=None).fit(X, y).pruned(X, y, pruning=pruning)


@pytest.mark.parametrize("given", ["yes", 1, None])
def test_collapse_is_a_truth_value(given: Any) -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=f"collapse is {given!r}, must be True or False"):
        TreeClassifier(collapse=given).fit(X, y)


@pytest.mark.parametrize(
    "pruning",
    [*CLASS_STRATEGIES, None, Pessimistic(0.1, False), ReducedError(0.25, "greedy"), CostComplexity(0.5, 3, 1.0)],
)
def test_strategies_come_back_from_a_file(pruning: Any, tmp_path: Any) -> None:
    X, y = load_iris(return_X_y=True)
    model = TreeClassifier(pruning=pruning, random_state=0).fit(X, y)
    save(model, tmp_path / "model.hedgerow")
    twin = load(tmp_path / "model.hedgerow")
    assert twin.pruning == pruning
    assert twin.forest_ == model.forest_
    assert twin.fit(X, y).forest_ == model.forest_


def test_categories_and_missing_values_go_together_with_pruning() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", "blue", None], 300),
            "size": np.where(rng.random(300) < 0.1, np.nan, rng.normal(size=300)),
        }
    )
    y = np.where((frame["colour"] == "red") ^ (rng.random(300) < 0.1), "yes", "no")
    for missing in ("fractional", "category", "learned", "random"):
        for nominal in ("multiway", "binary", "subset"):
            tree = TreeClassifier(pruning="pessimistic", missing=missing, nominal=nominal, random_state=0).fit(frame, y)
            tree.forest_.check()
            assert tree.get_n_leaves() < 20
            assert "colour" in tree.to_text().split("\n")[0]
