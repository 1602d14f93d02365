"""NaiveBayesTreeClassifier: scikit-learn's contract and ours, what it says, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import GaussianNB

from hedgerow import NaiveBayesTreeClassifier, RuleClassifier, checks
from hedgerow.exchange.onnx import to_onnx
from hedgerow.naive_bayes import Gaussian, LeafModels


def mixed(n_rows: int = 400, seed: int = 0) -> tuple[Any, Any]:
    """Two columns that naive Bayes can't use together, one of them nominal, and some that are missing."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    X[:, 3] = rng.integers(0, 3, size=n_rows)
    y = (X[:, 0] > 0) ^ (X[:, 3] == 1) ^ (rng.random(n_rows) < 0.05)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, np.where(y, "yes", "no")


def test_every_parameter_changes_something() -> None:
    X, y = mixed()
    changes = {
        "numeric": "gaussian",
        "min_samples_split": 0.9,
        "min_error_reduction": 0.9,
        "categorical_features": None,
    }
    checks.check_every_parameter_changes_something(NaiveBayesTreeClassifier(categorical_features=[3]), changes, X, y)


def test_the_seed_draws_the_folds() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    trees = {NaiveBayesTreeClassifier(random_state=seed).fit(X[:, :6], y).to_text() for seed in range(5)}
    assert len(trees) > 1


def test_it_takes_interactions_apart() -> None:
    X, y = mixed()
    held_out, truth = mixed(seed=1)
    model = NaiveBayesTreeClassifier(categorical_features=[3], random_state=0).fit(X, y)
    assert model.score(held_out, truth) > 0.85
    flat = NaiveBayesTreeClassifier(categorical_features=[3], min_samples_split=1.0, min_error_reduction=1.0)
    assert flat.fit(X, y).get_n_leaves() == 1
    assert flat.score(held_out, truth) < 0.75


@pytest.mark.parametrize("numeric", ["entropy", "gaussian"])
def test_it_is_as_good_as_naive_bayes_where_that_is_good(numeric: str) -> None:
    X, y = load_iris(return_X_y=True)
    ours = cross_val_score(NaiveBayesTreeClassifier(numeric, random_state=0), X, y, cv=5).mean()
    assert ours > cross_val_score(GaussianNB(), X, y, cv=5).mean() - 0.05


def test_text_names_columns_categories_and_rows() -> None:
    X, y = mixed()
    colour = np.array(["red", "green", "blue"])[np.nan_to_num(X[:, 3]).astype(int)]
    frame = pd.DataFrame({"size": X[:, 0], "colour": colour})
    model = NaiveBayesTreeClassifier(random_state=0).fit(frame, y)
    text = model.to_text()
    assert "colour = green: naive Bayes of " in text
    assert text.count("naive Bayes of ") == model.get_n_leaves()
    assert model.get_depth() >= 1
    top = model.to_text(max_depth=0)
    assert top.startswith(("no (", "yes ("))
    single = NaiveBayesTreeClassifier().fit([[1.0]], ["only"])
    assert single.to_text() == "naive Bayes of 1 row (only 1)"


def test_answers_mix_over_the_leaves_of_a_missing_value() -> None:
    X, y = mixed()
    model = NaiveBayesTreeClassifier(categorical_features=[3], random_state=0).fit(X, y)
    assert model.forest_.feature[0] == 3
    row = np.array([[0.3, 0.1, -0.2, np.nan]])
    known = np.repeat(row, 3, axis=0)
    known[:, 3] = [0, 1, 2]
    share = np.bincount(X[~np.isnan(X[:, 3]), 3].astype(int)) / (~np.isnan(X[:, 3])).sum()
    # A leaf below a branch has one category, which says nothing: it answers as if the category were missing.
    expected = share @ model.predict_proba(known)
    np.testing.assert_allclose(model.predict_proba(row)[0], expected, rtol=1e-9)
    unseen = row.copy()
    unseen[0, 3] = 7
    np.testing.assert_allclose(model.predict_proba(unseen), model.predict_proba(row))
    assert model.apply(row).shape == (1,)


def test_counts_are_the_rows() -> None:
    X, y = mixed()
    model = NaiveBayesTreeClassifier(categorical_features=[3], random_state=0).fit(X, y)
    np.testing.assert_allclose(model.forest_.counts.sum(axis=0), [(y == "no").sum(), (y == "yes").sum()])
    assert model.leaf_counts(X).shape == (400, 1, 2)
    leaves = model.apply(X)
    complete = ~np.isnan(X).any(axis=1)
    np.testing.assert_allclose(model.leaf_counts(X)[complete, 0], model.forest_.counts[leaves[complete]])


def test_one_row_is_answered_as_many() -> None:
    X, y = mixed()
    model = NaiveBayesTreeClassifier(categorical_features=[3], random_state=0).fit(X, y)
    many = model.predict_proba(X)
    one = np.concatenate([model.predict_proba(X[i : i + 1]) for i in range(50)])
    assert one.tobytes() == many[:50].tobytes()


def test_uncertainty() -> None:
    X, y = mixed()
    model = NaiveBayesTreeClassifier(categorical_features=[3], random_state=0).fit(X, y)
    found = model.predict_uncertainty(X)
    shares = model.predict_proba(X)
    np.testing.assert_allclose(found.total, -(shares * np.log2(shares)).sum(axis=1), atol=1e-12)
    assert not found.epistemic.any()
    assert model.predict_uncertainty(X, measure="plausibility").epistemic.min() > 0
    with pytest.raises(ValueError, match="measure is 'gini'"):
        model.predict_uncertainty(X, measure="gini")


def test_its_leaves_can_be_read_by_a_rule() -> None:
    X, y = mixed()
    model = NaiveBayesTreeClassifier(categorical_features=[3], random_state=0).fit(X, y)
    wrapped = RuleClassifier.from_fitted(model, "laplace")
    assert wrapped.forest_ == model.forest_


def test_onnx_is_refused_because_answers_vary_within_a_leaf() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="answers of NaiveBayesTreeClassifier vary within a leaf"):
        to_onnx(NaiveBayesTreeClassifier(random_state=0).fit(X, y))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"numeric": "kernel"}, r"numeric is 'kernel', must be one of 'entropy', 'gaussian', or an instance"),
        ({"numeric": None}, "numeric is None"),
        ({"min_samples_split": 1}, "min_samples_split is 1, must be a whole number of at least 2 rows, or a fraction"),
        ({"min_samples_split": 1.5}, "min_samples_split is 1.5"),
        ({"min_samples_split": True}, "min_samples_split is True"),
        ({"min_error_reduction": -0.1}, r"min_error_reduction is -0.1, must be a number in \[0, 1\]"),
        ({"min_error_reduction": "5%"}, "min_error_reduction is '5%'"),
        ({"categorical_features": [9]}, "categorical_features has index 9"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], message: str) -> None:
    X, y = mixed(40)
    with pytest.raises(ValueError, match=message):
        NaiveBayesTreeClassifier(**settings).fit(X, y)


@pytest.mark.parametrize("smoothing", [0, -1.0, 2.0, "much", np.nan])
def test_smoothing_must_make_sense(smoothing: Any) -> None:
    with pytest.raises(ValueError, match=r"smoothing is .*must be a number in"):
        Gaussian(smoothing)


def test_weights_are_not_taken() -> None:
    X, y = mixed(40)
    with pytest.raises(TypeError):
        NaiveBayesTreeClassifier().fit(X, y, np.ones(40))  # type: ignore[call-arg]


def test_leaf_models_of_another_tree_are_refused() -> None:
    X, y = mixed()
    model = NaiveBayesTreeClassifier(categorical_features=[3], random_state=0).fit(X, y)
    other = NaiveBayesTreeClassifier(min_error_reduction=1.0).fit(X, y)
    model.leaf_models_ = other.leaf_models_
    with pytest.raises(ValueError, match="leaf_models_ are those of another tree"):
        model._check_fitted()
    other.leaf_models_ = LeafModels(**vars(other.leaf_models_) | {"nominal": np.array([False, True, False, False])})
    with pytest.raises(ValueError, match="nominal in other columns"):
        other._check_fitted()
    other.leaf_models_ = None
    with pytest.raises(ValueError, match="naive Bayes classifiers of its leaves"):
        other._check_fitted()
