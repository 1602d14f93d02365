"""The contract suite passes for our estimators, and fails for estimators that break it."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

import hedgerow
from hedgerow import (
    ConformalClassifier,
    ConformalRegressor,
    ForestClassifier,
    ForestRegressor,
    MeasuredTreeRegressor,
    TreeClassifier,
    TreeRegressor,
    checks,
)
from hedgerow.probability import MEstimate

# A boosted sum keeps no targets in its leaves that could tell its spread: ConformalRegressor gives it intervals.
WITHOUT_SPREAD = {"MeasuredBoostingRegressor"}


@pytest.mark.parametrize("name", [name for name in hedgerow.__all__ if name.endswith(("Classifier", "Regressor"))])
def test_every_estimator_says_how_unsure_it_is_and_why(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = X[:, 0] + rng.normal(size=80) / 2
    model = getattr(hedgerow, name)().fit(X, y if name.endswith("Regressor") else np.digitize(y, [0.0]))
    assert all(str(one) for one in model.explain(X[:3]))
    assert hasattr(model, "predict_uncertainty") == (name not in WITHOUT_SPREAD)
    if name in WITHOUT_SPREAD:
        return
    found = model.predict_uncertainty(rng.normal(size=(50, 2)))
    assert found.total.shape == (50,)
    assert (found.total >= 0).all()
    assert found.total.max() > 0
    power = 2 if found.measure == "deviation" else 1
    np.testing.assert_allclose(found.aleatoric**power + found.epistemic**power, found.total**power, atol=1e-12)


def test_the_deviation_of_a_soft_tree_without_errors_is_that_of_a_plain_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = X[:, 0] + rng.normal(size=80) / 2
    soft = MeasuredTreeRegressor(max_leaf_nodes=4).fit(X, y)
    leaves = soft.apply(X)
    expected = [np.std(y[leaves == leaf]) for leaf in leaves]
    np.testing.assert_allclose(soft.predict_uncertainty(X).total, expected)


def data_in_which_everything_matters():
    """Categories, missing values, three classes of different size and noise, as an array with a nominal column."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    X[:, 3] = rng.integers(0, 6, size=300)
    signal = X[:, 0] + (X[:, 3] % 3) + rng.normal(size=300)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, signal


COMMON_CHANGES = {
    "nominal": "binary",
    "missing": "category",
    "max_depth": 2,
    "min_samples_split": 60,
    "min_samples_leaf": 20,
    "min_weight_fraction_leaf": 0.1,
    "min_impurity_decrease": 0.05,
    "max_leaf_nodes": 4,
    "max_features": 1,
    "categorical_features": None,
}


def test_every_parameter_of_the_classifier_changes_something():
    X, signal = data_in_which_everything_matters()
    changes = COMMON_CHANGES | {"criterion": "gini", "leaf_probability": MEstimate(5), "class_weight": "balanced"}
    changes |= {"collapse": True, "pruning": "pessimistic", "stopping": "chi_square"}
    changes |= {"cost_matrix": None, "cost_priors": True, "feature_costs": [1, 9, 1, 9]}
    costs = [[0, 5, 1], [1, 0, 1], [1, 2, 0]]
    estimator = TreeClassifier(categorical_features=[3], pruning=None, cost_matrix=costs)
    checks.check_every_parameter_changes_something(estimator, changes, X, np.digitize(signal, [0, 2.5]))


def test_every_parameter_of_the_regressor_changes_something():
    X, signal = data_in_which_everything_matters()
    estimator = TreeRegressor(categorical_features=[3], pruning=None)
    changes = COMMON_CHANGES | {"pruning": "cost_complexity"}
    checks.check_every_parameter_changes_something(estimator, changes, X, signal)


def test_the_seed_matters_where_features_are_drawn():
    X, signal = data_in_which_everything_matters()
    answers = [checks.outputs(TreeRegressor(max_features=1, random_state=s).fit(X, signal), X) for s in (0, 1)]
    assert answers[0] != answers[1]


class Broken(ClassifierMixin, BaseEstimator):
    """Answers with the most frequent label; each `fault` breaks one sentence of the contract."""

    def __init__(self, fault="", decoration=0, n_jobs=None):
        self.fault = fault
        self.decoration = decoration
        self.n_jobs = n_jobs

    def fit(self, X, y, sample_weight=None):
        if self.fault == "forgets":
            self.classes_ = None
        array = np.asarray(X, dtype=object)
        if (
            len(array) == 0
            or len(array) != len(y)
            or None in list(y)
            or (sample_weight is not None and min(sample_weight) < 0)
        ):
            raise ValueError("bad input")
        numbers = [x for row in array.tolist() for x in row if isinstance(x, float)]
        if np.inf in numbers:
            raise ValueError("infinite")
        if hasattr(X, "columns"):
            self.feature_names_in_ = np.array([str(name) for name in X.columns])
        self.classes_ = np.unique(y)
        self.answer_ = self.classes_[0]
        if self.fault == "random":
            self.answer_ = str(np.random.default_rng().random())
        if self.fault == "threads":
            self.answer_ = str(self.n_jobs)
        if self.fault == "layout":
            self.answer_ = type(X).__name__ + str(getattr(getattr(X, "flags", None), "c_contiguous", ""))
        return self

    def predict(self, X):
        if self.fault == "neighbours":
            return np.full(len(X), len(X))
        return np.full(len(X), self.answer_, dtype=object) if self.classes_ is not None else np.zeros(len(X))

    def __getstate__(self):
        state = super().__getstate__()
        return state | {"answer_": "lost"} if self.fault == "pickle" else state


@pytest.mark.parametrize(
    ("fault", "check"),
    [
        ("random", checks.check_the_same_seed_gives_the_same_bits_for_any_n_jobs),
        ("threads", checks.check_the_same_seed_gives_the_same_bits_for_any_n_jobs),
        ("layout", checks.check_layouts_give_the_same_bits),
        ("neighbours", checks.check_a_row_is_answered_alike_alone_and_among_others),
        ("layout", checks.check_frames_of_all_libraries_give_the_same_bits),
        ("", checks.check_names_are_honoured),
        ("forgets", checks.check_a_failed_fit_keeps_the_earlier_one),
        ("pickle", checks.check_a_fitted_model_survives_pickle_and_copy),
    ],
)
def test_a_broken_estimator_is_caught(fault, check):
    with pytest.raises(AssertionError):
        check(Broken(fault))


def test_a_parameter_that_does_nothing_is_caught():
    X, signal = data_in_which_everything_matters()
    with pytest.raises(AssertionError, match="decoration=1 changes nothing"):
        checks.check_every_parameter_changes_something(Broken(), {"fault": "random", "decoration": 1}, X, signal > 0)


def test_a_parameter_that_was_not_tried_is_caught():
    X, signal = data_in_which_everything_matters()
    with pytest.raises(AssertionError, match="decoration"):
        checks.check_every_parameter_changes_something(Broken(), {"fault": "random"}, X, signal > 0)


def test_every_parameter_of_the_conformal_classifier_changes_something():
    X, signal = data_in_which_everything_matters()
    forest = ForestClassifier(20, max_depth=3, random_state=0)
    estimator = ConformalClassifier(forest, 0.65, "aps", "cv", randomized=True)
    changes = {
        "estimator": TreeClassifier(max_depth=2),
        "coverage": 0.95,
        "conformity_score": "lac",
        "method": "oob",
        "groups": "class",
        "probabilities": "venn_abers",
        "randomized": False,
        "allow_empty": True,
        "cv": 3,
    }
    checks.check_every_parameter_changes_something(estimator, changes, X, np.digitize(signal, [0, 2.5]))


def test_every_parameter_of_the_conformal_regressor_changes_something():
    X, signal = data_in_which_everything_matters()
    X[:, 3] = np.where(np.isnan(X[:, 3]), 6.0, X[:, 3])  # a row without a group would be refused
    estimator = ConformalRegressor(ForestRegressor(20, max_depth=3, random_state=0), 0.7, method="cv")
    changes = {
        "estimator": TreeRegressor(max_depth=2),
        "coverage": 0.95,
        "conformity_score": "absolute",
        "method": "oob",
        "sides": "lower",
        "groups": 3,
        "cv": 3,
    }
    checks.check_every_parameter_changes_something(estimator, changes, X, signal)
