"""Random decision trees as an estimator: scikit-learn's contract, counting more rows, priors, and errors."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris

import oracles
from effort import examples
from hedgerow import RandomTreesClassifier, checks, rules
from strategies import mixed_data

several = settings(max_examples=examples(11, 40), deadline=None)


def test_every_parameter_changes_something() -> None:
    X, y = mixed_data(300)
    changes = {
        "n_estimators": 6,
        "rule": "vote",
        "min_samples_leaf": 5,
        "max_depth": 3,
        "missing": "category",
        "class_prior": [0.2, 0.2, 0.6],
        "categorical_features": None,
    }
    checks.check_every_parameter_changes_something(RandomTreesClassifier(5, categorical_features=[3]), changes, X, y)


# -- counting rows


@st.composite
def problems(draw: st.DrawFn) -> tuple[Any, Any, Any]:
    n_rows, n_columns = draw(st.integers(2, 30)), draw(st.integers(1, 3))
    cell = st.one_of(st.integers(0, 3).map(float), st.floats(-2, 2), st.just(np.nan))
    X = np.array(
        draw(st.lists(st.lists(cell, min_size=n_columns, max_size=n_columns), min_size=n_rows, max_size=n_rows))
    )
    y = np.array(draw(st.lists(st.integers(0, 2), min_size=n_rows, max_size=n_rows)))
    weight = np.array(draw(st.lists(st.sampled_from([0.0, 1.0, 2.0, 0.25]), min_size=n_rows, max_size=n_rows)))
    weight[0] = 1.0
    return X, y, weight


@several
@given(problem=problems(), seed=st.integers(0, 5))
def test_fit_counts_what_routing_its_rows_counts(problem: tuple[Any, Any, Any], seed: int) -> None:
    X, y, weight = problem
    model = RandomTreesClassifier(3, random_state=seed, min_samples_leaf=1 + seed % 3).fit(X, y, weight)
    codes = np.searchsorted(model.classes_, y)
    expected = np.zeros_like(model.forest_.counts)
    for row, code, one in zip(X, codes, weight, strict=True):
        for tree in range(3):
            for leaf, share in oracles.spread(model.forest_, row, tree).items():
                expected[model.forest_.leaf_start[tree] + leaf, code] += one / model.weight_unit_ * share
    np.testing.assert_allclose(model.forest_.counts, expected, rtol=1e-12, atol=1e-12)


@several
@given(problem=problems(), seed=st.integers(0, 5))
def test_more_rows_are_counted_as_fit_would_have(problem: tuple[Any, Any, Any], seed: int) -> None:
    X, y, weight = problem
    fitted = RandomTreesClassifier(3, random_state=seed).fit(X, y, weight)
    grown = RandomTreesClassifier(3, random_state=seed).fit(X, y, weight)
    again = grown.partial_fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(again.forest_.counts, 2 * fitted.forest_.counts, rtol=1e-12, atol=1e-12)
    assert again.forest_.weight.tobytes() == fitted.forest_.weight.tobytes()
    np.testing.assert_allclose(again.class_count_, 2 * fitted.class_count_)
    np.testing.assert_allclose(again.class_prior_, fitted.class_prior_)


def test_whole_counts_are_exact_in_any_portions() -> None:
    X, y = load_iris(return_X_y=True)
    all_at_once = RandomTreesClassifier(20, random_state=0).fit(X[::2], y[::2]).partial_fit(X[1::2], y[1::2])
    in_portions = RandomTreesClassifier(20, random_state=0).fit(X[::2], y[::2])
    for portion in np.array_split(np.arange(1, len(X), 2), 7):
        in_portions.partial_fit(X[portion], y[portion])
    assert all_at_once.forest_ == in_portions.forest_
    assert in_portions.class_count_.tolist() == [50, 50, 50]
    assert all_at_once.predict_proba(X).tobytes() == in_portions.predict_proba(X).tobytes()


def test_more_rows_change_the_answer_and_not_the_structure() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = RandomTreesClassifier(30, random_state=0).fit(X[:100], y[:100])
    before, probabilities = model.forest_, model.predict_proba(X)
    model.partial_fit(X[100:400], y[100:400])
    assert model.forest_.threshold.tobytes() == before.threshold.tobytes()
    assert before.counts.sum() == 30 * 100, "the earlier forest must stay as it was"
    assert model.forest_.counts.sum() == 30 * 400
    assert (model.predict_proba(X) != probabilities).any()
    assert model.score(X[400:], y[400:]) > 0.93


def test_what_follows_from_the_rest_is_made_when_it_is_asked_for() -> None:
    X, y = load_iris(return_X_y=True)
    gaps = np.where(np.arange(X.size).reshape(X.shape) % 7 == 0, np.nan, X)
    model = RandomTreesClassifier(5, rule="pool", min_samples_leaf=1, random_state=0).fit(X, y)
    forest = model.forest_
    whole = pickle.loads(pickle.dumps(clone(model).fit(X, y)))
    n_bytes = forest.nbytes
    assert n_bytes < whole.forest_.nbytes
    assert model.predict_proba(X).tobytes() == whole.predict_proba(X).tobytes()
    assert forest.nbytes == n_bytes, "rows without gaps need no weights"
    assert model.predict_proba(gaps).tobytes() == whole.predict_proba(gaps).tobytes()
    assert forest.nbytes == n_bytes + 8 * forest.n_nodes
    assert forest.weight.tolist() == forest.node_counts().sum(axis=1).tolist()
    assert (forest.payload == -1).all()
    assert not forest.missing.any()
    assert not any(array.flags.writeable for array in (forest.weight, forest.payload, forest.missing))
    assert forest == whole.forest_
    with pytest.raises(AttributeError, match="'Forest' object has no attribute 'wait'"):
        forest.wait  # noqa: B018


def test_the_first_partial_fit_is_a_fit() -> None:
    X, y = load_iris(return_X_y=True)
    first = RandomTreesClassifier(5, random_state=0).partial_fit(X, y)
    assert first.forest_ == RandomTreesClassifier(5, random_state=0).fit(X, y).forest_


def test_classes_can_be_named_before_they_are_seen() -> None:
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])
    model = RandomTreesClassifier(20, random_state=0).partial_fit(X[:100], names[y[:100]], classes=names)
    assert model.classes_.tolist() == names.tolist()
    assert model.class_prior_.tolist() == [0.5, 0.5, 0.0]
    assert (model.predict_proba(X)[:, 2] == 0).all()
    for rule in rules.names():
        probabilities = model.set_params(rule=rule).predict_proba(X)
        assert np.isfinite(probabilities).all()
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    model.set_params(rule="evidence").partial_fit(X[100:], names[y[100:]])
    np.testing.assert_allclose(model.class_prior_, 1 / 3)
    assert model.score(X, names[y]) > 0.95


def test_a_refused_portion_leaves_the_model_as_it_was() -> None:
    X, y = load_iris(return_X_y=True)
    model = RandomTreesClassifier(5, random_state=0).fit(X[:100], y[:100])
    before, answers = model.forest_, checks.outputs(model, X)
    for wrong, message in (
        ((X, y), r"classes \[2\].* not among \[0, 1\]"),
        ((X[:, :3], y), "3 features"),
        ((X[:10], y[:9]), "inconsistent numbers of samples"),
        ((X[:10], y[:10], None, -np.ones(10)), "must not be negative"),
        ((X[:10], y[:10], [0, 1, 2]), r"classes are \[0 1 2\], but this model was fitted with \[0 1\]"),
    ):
        with pytest.raises(ValueError, match=message):
            model.partial_fit(*wrong)
        assert model.forest_ is before
    assert checks.outputs(model, X) == answers


def test_unseen_categories_are_spread() -> None:
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], 200)
    frame = pd.DataFrame({"colour": pd.Categorical(colour), "size": rng.normal(size=200)})
    y = (colour == "red") ^ (frame["size"].to_numpy() > 1)
    model = RandomTreesClassifier(50, random_state=0).fit(frame, y)
    unknown = pd.DataFrame({"colour": ["violet"], "size": [0.0]})
    unknown_and_missing = pd.DataFrame({"colour": [None], "size": [0.0]})
    assert model.predict_proba(unknown).tolist() == model.predict_proba(unknown_and_missing).tolist()
    more = model.partial_fit(unknown, [True])
    np.testing.assert_allclose(more.forest_.counts.sum(), 50 * 201)


# -- priors


def test_a_given_prior_replaces_the_shares() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = RandomTreesClassifier(20, class_prior=[0.9, 0.1], random_state=0).fit(X, y)
    assert model.class_prior_.tolist() == [0.9, 0.1]
    counts = model.leaf_counts(X)
    np.testing.assert_allclose(model.predict_proba(X), model.rule_.proba(counts, [0.9, 0.1]), rtol=1e-9)
    assert model.class_count_.tolist() == [212, 357]


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ([0.5, 0.4], "class_prior is .* add up to 1"),
        ([1.0, 0.0], "class_prior is 0 for class 1, which has counts"),
        ([0.2, 0.3, 0.5], "class_prior has shape .* each of 2 classes"),
        ([np.nan, 1.0], "class_prior is .* must be probabilities"),
        ("uniform", "class_prior is 'uniform', must be an array of numbers"),
    ],
)
def test_a_prior_that_makes_no_sense_is_refused(prior: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RandomTreesClassifier(2, class_prior=prior).fit([[0], [1]], [0, 1])


# -- odd data


@pytest.mark.parametrize("rule", rules.names(beyond=True))
@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[1.0], [2.0]], [0, 0]),
        ([[1.0]], ["only"]),
        ([[1.0], [1.0], [1.0]], [0, 1, 1]),
        ([[np.nan], [np.nan]], [0, 1]),
        ([[np.nan, 1.0], [2.0, np.nan], [3.0, 3.0]], [0, 1, 2]),
    ],
)
def test_odd_data_give_probabilities(rule: str, X: Any, y: Any) -> None:
    model = RandomTreesClassifier(3, rule=rule, random_state=0).fit(X, y)
    probabilities = model.predict_proba([*X, [np.nan] * len(X[0])])
    assert probabilities.shape == (len(X) + 1, len(set(y)))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert np.isfinite(model.decision_function(X)).all()


def test_a_row_with_everything_missing_gives_no_false_certainty() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    unknown = np.full((1, X.shape[1]), np.nan)
    for rule in ("probability", "pool", rules.Evidence(toward="prior")):
        model = RandomTreesClassifier(50, rule=rule, min_samples_leaf=1, random_state=0).fit(X, y)
        np.testing.assert_allclose(model.predict_proba(unknown)[0], model.class_prior_, atol=0.01)
    # Larger leaves shrink less toward the prior than small ones, which tempers the mean of both: 0.1 of 50 trees.
    tempered = RandomTreesClassifier(50, random_state=0).fit(X, y)
    np.testing.assert_allclose(tempered.predict_proba(unknown)[0], tempered.class_prior_, atol=0.1)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_estimators": 0}, "n_estimators is 0"),
        ({"min_samples_leaf": 0}, "min_samples_leaf is 0"),
        ({"min_samples_leaf": "small"}, "min_samples_leaf is 'small', must be .* or 'auto'"),
        ({"max_depth": 0}, "max_depth is 0"),
        ({"rule": "majority"}, "rule is 'majority', must be one of 'probability', 'laplace'.*'evidence'"),
        ({"rule": rules.Dempster}, r"pass an instance: Dempster\(\)"),
        ({"rule": object()}, "no table and no fold and no finish"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        RandomTreesClassifier(**settings).fit([[0], [1]], [0, 1])
