"""Any forest under any rule: scikit-learn's contract, what is fitted and what is taken as it is, routing, errors."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import BaggingClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier

from hedgerow import ForestClassifier, RandomTreesClassifier, RuleClassifier, TreeClassifier, checks, rules

FOREIGN = [
    DecisionTreeClassifier(random_state=0),
    ExtraTreeClassifier(random_state=0),
    RandomForestClassifier(10, random_state=0),
    ExtraTreesClassifier(10, random_state=0),
    BaggingClassifier(n_estimators=10, max_features=0.7, random_state=0),
]
OWN = [
    TreeClassifier(),
    ForestClassifier(6, calibration=None, random_state=0),
    RandomTreesClassifier(6, random_state=0),
]


def test_every_parameter_changes_something() -> None:
    X, y = load_iris(return_X_y=True)
    changes = {"rule": "evidence", "estimator": ForestClassifier(9, random_state=0)}
    checks.check_every_parameter_changes_something(RuleClassifier(OWN[1]), changes, X, y)


# -- what it answers


@pytest.mark.parametrize("estimator", FOREIGN, ids=repr)
@pytest.mark.parametrize("load", [load_breast_cancer, load_iris])
def test_under_rule_probability_it_is_scikit_learns_own_answer(estimator: Any, load: Any) -> None:
    X, y = load(return_X_y=True)
    theirs = clone(estimator).fit(X[::2], y[::2])
    fitted = RuleClassifier(estimator, rule="probability").fit(X[::2], y[::2])
    for model in (fitted, RuleClassifier.from_fitted(theirs, rule="probability")):
        for rows in (X, X.astype(np.float32)):
            np.testing.assert_allclose(model.predict_proba(rows), theirs.predict_proba(rows), rtol=0, atol=1e-12)
        assert (model.predict(X) == theirs.predict(X)).mean() > 0.99  # but for ties
        assert model.n_features_in_ == X.shape[1]
        np.testing.assert_allclose(model.feature_importances_.sum(), 1)


@pytest.mark.parametrize("estimator", [*FOREIGN, *OWN], ids=repr)
@pytest.mark.parametrize("rule", rules.names(beyond=True))
def test_any_forest_answers_by_any_rule(estimator: Any, rule: str) -> None:
    X, y = load_iris(return_X_y=True)
    model = RuleClassifier(estimator, rule).fit(X[::2], y[::2])
    expected = rules.get(rule).proba(model.leaf_counts(X), model.class_prior_)
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-9, atol=1e-12)
    assert model.apply(X).shape == (150, model.forest_.n_trees)
    assert model.decision_function(X).shape == (150, 3)
    for measure in ("entropy", "plausibility"):
        assert np.isfinite(model.predict_uncertainty(X, measure).total).all()


def test_a_rule_can_be_changed_after_fit() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = RuleClassifier(FOREIGN[2], rule="evidence").fit(X, y)
    forest, evidence = model.forest_, model.predict_proba(X)
    vote = model.set_params(rule="vote").predict_proba(X)
    assert model.forest_ is forest
    assert not np.allclose(evidence, vote)
    np.testing.assert_allclose(model.set_params(rule="evidence").predict_proba(X), evidence)


def test_rules_can_be_compared_in_one_walk() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = RuleClassifier(FOREIGN[3], rule="evidence").fit(X, y)
    scores = rules.compare(model, X)
    assert scores.shape == (len(X), 9)
    np.testing.assert_allclose(scores[:, -1], model.decision_function(X))


def test_none_is_a_forest_of_this_package() -> None:
    X, y = load_iris(return_X_y=True)
    model = RuleClassifier().fit(X, y)
    assert isinstance(model.estimator_, ForestClassifier)
    assert model.estimator is None
    assert repr(model) == "RuleClassifier()"


def test_weights_of_trees_are_kept() -> None:
    X, y = load_iris(return_X_y=True)
    forest = ForestClassifier(4, tree_weights=[0, 0, 0, 1], calibration=None, random_state=0).fit(X, y)
    model = RuleClassifier.from_fitted(forest, rule="probability")
    np.testing.assert_allclose(model.predict_proba(X), forest.predict_proba(X))


# -- what is fitted, and what is taken as it is


def test_the_estimator_is_cloned() -> None:
    X, y = load_iris(return_X_y=True)
    template = RandomForestClassifier(3, random_state=0)
    model = RuleClassifier(template).fit(X, y)
    assert not hasattr(template, "estimators_")
    assert model.estimator_ is not template
    assert model.estimator is template


@pytest.mark.parametrize("estimator", [FOREIGN[2], OWN[1]], ids=repr)
def test_a_frozen_estimator_is_taken_as_it_is(estimator: Any) -> None:
    X, y = load_iris(return_X_y=True)
    fitted = clone(estimator).fit(X[::2], y[::2])
    frozen = RuleClassifier(FrozenEstimator(fitted)).fit(X[1::2], y[1::2])
    adopted = RuleClassifier.from_fitted(fitted)
    again = RuleClassifier.from_fitted(FrozenEstimator(fitted))
    for model in (frozen, adopted, again, clone(adopted).fit(X, y)):
        assert model.estimator_ is fitted
        assert isinstance(model.estimator, FrozenEstimator)
        assert model.predict_proba(X).tobytes() == frozen.predict_proba(X).tobytes()
        np.testing.assert_allclose(model.class_prior_, getattr(fitted, "class_prior_", frozen.class_prior_))
    assert pickle.loads(pickle.dumps(adopted)).predict_proba(X).tobytes() == frozen.predict_proba(X).tobytes()


@pytest.mark.parametrize("routing", [False, True])
def test_a_frozen_estimator_needs_no_weights(routing: bool) -> None:
    X, y = load_iris(return_X_y=True)
    fitted = RandomForestClassifier(3, random_state=0).fit(X, y)
    with sklearn.config_context(enable_metadata_routing=routing):
        model = RuleClassifier(FrozenEstimator(fitted)).fit(X, y, sample_weight=np.ones(len(y)))
    assert model.forest_ == RuleClassifier.from_fitted(fitted).forest_


def test_a_frozen_estimator_must_know_the_classes() -> None:
    X, y = load_iris(return_X_y=True)
    frozen = FrozenEstimator(RandomForestClassifier(3).fit(X[:100], y[:100]))
    with pytest.raises(ValueError, match=r"y has classes \[2\], the frozen estimator has \[0, 1\]"):
        RuleClassifier(frozen).fit(X, y)


def test_labels_may_be_text() -> None:
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])
    for estimator in (FOREIGN[2], OWN[2]):
        model = RuleClassifier(estimator).fit(X, names[y])
        assert model.classes_.tolist() == names.tolist()
        assert model.score(X, names[y]) > 0.9


# -- priors


def test_the_prior_is_that_of_the_training_data() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    weight = np.where(y == 1, 3.0, 1.0)
    for estimator in (FOREIGN[0], FOREIGN[2], FOREIGN[4], OWN[1]):
        model = RuleClassifier(estimator).fit(X, y)
        np.testing.assert_allclose(model.class_prior_, np.bincount(y) / len(y))
        weighted = RuleClassifier(estimator).fit(X, y, sample_weight=weight)
        np.testing.assert_allclose(weighted.class_prior_, np.bincount(y, weights=weight) / weight.sum())


def test_the_prior_of_a_fitted_model_is_that_of_its_roots_or_its_own() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    theirs = FOREIGN[2].fit(X, y)
    model = RuleClassifier.from_fitted(theirs)
    roots = np.array([one.tree_.value[0, 0] for one in theirs.estimators_])
    np.testing.assert_allclose(model.class_prior_, (roots / roots.sum(axis=1, keepdims=True)).mean(axis=0))
    own = RandomTreesClassifier(3, class_prior=[0.25, 0.75]).fit(X, y)
    assert RuleClassifier.from_fitted(own).class_prior_.tolist() == [0.25, 0.75]
    assert RuleClassifier(RandomTreesClassifier(3, class_prior=[0.25, 0.75])).fit(X, y).class_prior_[0] == 0.25


@pytest.mark.parametrize(
    "estimator",
    [
        DecisionTreeClassifier(class_weight="balanced", max_depth=4, random_state=0),
        RandomForestClassifier(50, class_weight="balanced_subsample", max_depth=4, random_state=0),
        BaggingClassifier(DecisionTreeClassifier(class_weight="balanced"), random_state=0),
    ],
    ids=repr,
)
def test_weights_of_classes_are_in_the_prior_too(estimator: Any) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    rare = (y == 1) | (np.arange(len(y)) % 8 == 0)
    model = RuleClassifier(estimator).fit(X[rare], y[rare])
    np.testing.assert_allclose(model.class_prior_, 0.5, atol=0.15)
    assert model.score(X, y) > 0.85


# -- columns and missing values


def frame_with_text() -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], 200)
    size = rng.normal(size=200)
    y = (colour == "red") ^ (size > 1)
    frame = pd.DataFrame({"colour": pd.Categorical(colour), "size": np.where(rng.random(200) < 0.1, np.nan, size)})
    return frame, y


@pytest.mark.parametrize("estimator", OWN, ids=repr)
def test_models_of_this_package_keep_their_columns(estimator: Any) -> None:
    X, y = frame_with_text()
    model = RuleClassifier(estimator).fit(X, y)
    assert model.schema_.n_categories.tolist() == [3, 0]
    assert model.feature_names_in_.tolist() == ["colour", "size"]
    assert model.score(X, y) > 0.8
    adopted = RuleClassifier.from_fitted(model.estimator_)
    assert adopted.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()


def test_names_of_columns_are_checked_as_scikit_learn_does() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = RuleClassifier(FOREIGN[2]).fit(X, y)
    assert model.feature_names_in_.tolist() == list(X.columns)
    assert model.predict_proba(X).shape == (150, 3)
    with pytest.warns(UserWarning, match="X does not have valid feature names, but RuleClassifier was fitted with"):
        model.predict(X.to_numpy())
    with pytest.raises(ValueError, match="Feature names unseen at fit time:\n- other"):
        model.predict(X.rename(columns={X.columns[0]: "other"}))
    unnamed = model.fit(X.to_numpy(), y)
    assert not hasattr(unnamed, "feature_names_in_")
    with pytest.raises(ValueError, match="X has 3 features, but RuleClassifier is expecting 4 features"):
        model.predict(X.to_numpy()[:, :3])


def test_missing_values_are_taken_if_the_estimator_takes_them() -> None:
    X, y = load_iris(return_X_y=True)
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    for estimator in FOREIGN:
        theirs = clone(estimator).fit(holes, y)
        model = RuleClassifier.from_fitted(theirs, rule="probability")
        np.testing.assert_allclose(model.predict_proba(holes), theirs.predict_proba(holes), atol=1e-12)


class WithoutMissing(RandomForestClassifier):
    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = False
        return tags


def test_missing_values_are_refused_if_the_estimator_refuses_them() -> None:
    X, y = load_iris(return_X_y=True)
    model = RuleClassifier(WithoutMissing(3)).fit(X, y)
    assert not model.__sklearn_tags__().input_tags.allow_nan
    assert RuleClassifier().__sklearn_tags__().input_tags.allow_nan
    X[2, 1] = np.nan
    with pytest.raises(
        ValueError, match=r"Input X contains NaN: column 'x1' in row 2\. WithoutMissing takes no missing"
    ):
        model.predict(X)


# -- sample weights and routing


def test_weights_are_passed_on() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    weight = np.random.default_rng(0).choice([0.0, 1.0, 2.0], len(y))
    for estimator in (FOREIGN[2], OWN[1]):
        direct = clone(estimator).fit(X, y, sample_weight=weight)
        wrapped = RuleClassifier(estimator, rule="probability").fit(X, y, sample_weight=weight)
        np.testing.assert_allclose(wrapped.predict_proba(X), direct.predict_proba(X), atol=1e-12)


class WithoutWeights(ClassifierMixin, BaseEstimator):
    def fit(self, X: Any, y: Any) -> WithoutWeights:
        return self


def test_weights_that_an_estimator_does_not_take_are_refused() -> None:
    with pytest.raises(ValueError, match=r"sample_weight was given, but WithoutWeights.fit takes none: leave it out"):
        RuleClassifier(WithoutWeights()).fit([[0.0], [1.0]], [0, 1], sample_weight=[1, 1])


def test_other_metadata_need_routing() -> None:
    with pytest.raises(ValueError, match=r"fit was given \['groups'\].*enable_metadata_routing=True"):
        RuleClassifier().fit([[0.0], [1.0]], [0, 1], groups=[1, 1])


@pytest.mark.parametrize("estimator", [FOREIGN[2], ForestClassifier(5, random_state=0)], ids=repr)
def test_with_routing_weights_go_where_they_are_requested(estimator: Any) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    weight = np.where(y == 1, 5.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        asked = clone(estimator).set_fit_request(sample_weight=True)
        model = RuleClassifier(asked).set_fit_request(sample_weight=True).fit(X, y, sample_weight=weight)
        direct = clone(estimator).fit(X, y, sample_weight=weight)
        expected = RuleClassifier.from_fitted(direct).forest_
        assert model.forest_ == expected
        np.testing.assert_allclose(model.class_prior_, np.bincount(y, weights=weight) / weight.sum())
        spared = clone(estimator).set_fit_request(sample_weight=False)
        unweighted = RuleClassifier(spared).set_fit_request(sample_weight=True).fit(X, y, sample_weight=weight)
        assert unweighted.forest_ == RuleClassifier(clone(estimator)).fit(X, y).forest_
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            RuleClassifier(clone(estimator)).fit(X, y, sample_weight=weight)
        requests = RuleClassifier(asked).set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        scores = cross_val_score(requests, X, y, params={"sample_weight": weight}, cv=2)
    assert (scores > 0.8).all()


def test_parameters_of_the_estimator_can_be_searched() -> None:
    X, y = load_iris(return_X_y=True)
    search = GridSearchCV(
        RuleClassifier(FOREIGN[2]), {"estimator__max_depth": [1, 3], "rule": ["pool", "evidence"]}, cv=2
    )
    assert search.fit(X, y).best_score_ > 0.9


# -- refusals


@pytest.mark.parametrize(
    ("estimator", "error", "message"),
    [
        (LogisticRegression(max_iter=1000), TypeError, "model is a LogisticRegression, must be one of scikit-learn's"),
        (DecisionTreeRegressor(), TypeError, "estimator is DecisionTreeRegressor.*must be a classifier made of trees"),
        (RandomForestClassifier, TypeError, "estimator is <class .*must be a classifier made of trees"),
        ("forest", TypeError, "estimator is 'forest', must be a classifier made of trees"),
    ],
)
def test_other_estimators_are_refused(estimator: Any, error: Any, message: str) -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(error, match=message):
        RuleClassifier(estimator).fit(X, y)


def test_models_must_be_fitted_classifiers() -> None:
    with pytest.raises(NotFittedError, match="not fitted: call fit first"):
        RuleClassifier.from_fitted(RandomForestClassifier())
    with pytest.raises(NotFittedError):
        RuleClassifier(FrozenEstimator(RandomForestClassifier())).fit([[0.0], [1.0]], [0, 1])
    for other in (DecisionTreeRegressor().fit([[0.0], [1.0]], [0, 1]), RandomForestClassifier, "forest", None):
        with pytest.raises(TypeError, match=r"model is .*, must be a classifier made of trees: see hedgerow.adapt"):
            RuleClassifier.from_fitted(other)


def test_a_rule_that_makes_no_sense_is_refused() -> None:
    X, y = load_iris(return_X_y=True)
    for make in (
        lambda: RuleClassifier(rule="majority").fit(X, y),
        lambda: RuleClassifier.from_fitted(None, "majority"),
    ):
        with pytest.raises(ValueError, match="rule is 'majority', must be one of"):
            make()


def test_a_temper_that_nobody_chose_is_refused() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="rule 'tempered' needs held-out rows to choose its temper"):
        RuleClassifier(rule="tempered").fit(X, y)
    model = RuleClassifier.from_fitted(OWN[1].fit(X, y), rules.Evidence(toward="prior", temper=0.1))
    assert model.score(X, y) > 0.95
