"""Cautious forests: sets, bounds and belief, against the leaves' own counts; scikit-learn's contract; errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV

from hedgerow import CautiousClassifier, CautiousForestClassifier, ForestClassifier, checks, credal, metrics


def test_every_parameter_changes_something() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    X[:, 3] = rng.integers(0, 6, size=400)
    y = np.digitize(X[:, 0] + X[:, 3] % 3 + rng.normal(size=400), [0, 2.5])
    X[rng.random(X.shape) < 0.1] = np.nan
    changes = {
        "s": 3.0,
        "weighting": "uniform",
        "aggregate": "average",
        "class_prior": [0.2, 0.2, 0.6],
        "n_estimators": 6,
        "criterion": "entropy",
        "nominal": "binary",
        "missing": "category",
        "max_depth": 3,
        "min_samples_leaf": 10,
        "max_features": None,
        "max_bins": 3,
        "max_samples": 0.5,
        "categorical_features": None,
    }
    estimator = CautiousForestClassifier(n_estimators=5, nominal="subset", categorical_features=[3])
    checks.check_every_parameter_changes_something(estimator, changes, X, y)


@pytest.fixture(params=["two classes", "three classes"])
def fitted(request: Any) -> tuple[Any, Any, Any]:
    X, y = (load_breast_cancer if request.param == "two classes" else load_iris)(return_X_y=True)
    model = CautiousForestClassifier(n_estimators=20, max_samples=0.3, random_state=0).fit(X[::2, :4], y[::2])
    return model, X[1::2, :4], y[1::2]


@pytest.mark.filterwarnings("ignore:the trees have no distribution in common")
@pytest.mark.parametrize("aggregate", credal.names())
@pytest.mark.parametrize("weighting", credal.WEIGHTINGS)
def test_the_model_says_what_the_aggregate_says_of_its_counts(fitted: Any, aggregate: str, weighting: Any) -> None:
    model, X, _ = fitted
    for s in (0.3, 1, 5):
        model.set_params(aggregate=aggregate, weighting=weighting, s=s)
        bounds, sets = credal.get(aggregate, weighting).of_counts(model.leaf_counts(X), s)
        np.testing.assert_allclose(model.predict_bounds(X), bounds, rtol=1e-12, atol=1e-14)
        np.testing.assert_array_equal(model.predict_set(X), sets)
        assert sets.any(axis=1).all()
        assert (bounds[..., 0] <= bounds[..., 1]).all()


def test_belief_of_two_classes_is_the_papers() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = CautiousForestClassifier(n_estimators=30, s=3, random_state=0).fit(X[::2], y[::2])
    counts = model.leaf_counts(X[1::2])
    n, total = counts[..., 1], counts.sum(axis=2)
    mass = 1 - 3 / (total + 3)  # equation 8
    mass /= mass.sum(axis=1, keepdims=True)
    bel = (mass * (n / (total + 3) >= 0.5)).sum(axis=1)  # equation 5
    pl = (mass * ((n + 3) / (total + 3) > 0.5)).sum(axis=1)  # equation 6
    np.testing.assert_allclose(model.predict_bounds(X[1::2])[:, 1], np.stack([bel, pl], axis=1), atol=1e-12)
    clear = (np.abs(bel - 0.5) > 1e-9) & (np.abs(pl - 0.5) > 1e-9)
    expected = np.stack([bel <= 0.5, pl >= 0.5], axis=1)
    np.testing.assert_array_equal(model.predict_set(X[1::2])[clear], expected[clear])


@pytest.mark.parametrize("settings", [{"weighting": "uniform"}, {"weighting": "samples"}, {"aggregate": "average"}])
def test_a_larger_s_never_takes_a_class_away(fitted: Any, settings: dict[str, Any]) -> None:
    model, X, _ = fitted
    before = np.zeros((len(X), len(model.classes_)), dtype=bool)
    for s in (0.01, 0.5, 1, 2, 5, 20, 1000):
        sets = model.set_params(s=s, **settings).predict_set(X)
        assert (before <= sets).all()
        before = sets
    assert before.all(), "with a large s nothing can be ruled out"


@pytest.mark.parametrize("aggregate", ["belief", "average", "vote"])
def test_as_s_goes_to_0_the_set_is_the_prediction(fitted: Any, aggregate: str) -> None:
    model, X, _ = fitted
    probabilities = model.set_params(s=1e-9, aggregate=aggregate).predict_proba(X)
    ordered = np.sort(probabilities, axis=1)
    clear = ordered[:, -1] - ordered[:, -2] > 1e-6
    assert clear.mean() > 0.9
    sets = model.predict_set(X)[clear]
    assert (sets.sum(axis=1) == 1).all()
    np.testing.assert_array_equal(model.classes_[sets.argmax(axis=1)], model.predict(X)[clear])


def test_probabilities_are_votes_with_the_same_weights_or_mean_frequencies(fitted: Any) -> None:
    model, X, _ = fitted
    counts = model.leaf_counts(X)
    total = counts.sum(axis=2)
    model.set_params(s=2.0)
    for weighting, weights in (
        ("uniform", np.ones_like(total)),
        ("samples", total),
        ("epistemic", total / (total + 2)),
    ):
        most = counts == counts.max(axis=2, keepdims=True)
        votes = most / most.sum(axis=2, keepdims=True)
        expected = (votes * weights[..., np.newaxis]).sum(axis=1) / weights.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(model.set_params(weighting=weighting).predict_proba(X), expected)
    model.set_params(aggregate="average")
    np.testing.assert_allclose(model.predict_proba(X), (counts / total[..., np.newaxis]).mean(axis=1))


def test_relabelled_classes_relabel_sets() -> None:
    X, y = load_iris(return_X_y=True)
    names = np.array(["b", "c", "a"])
    plain = CautiousForestClassifier(n_estimators=20, s=2, random_state=0).fit(X, y)
    renamed = CautiousClassifier(FrozenEstimator(plain.estimator_), s=2).fit(X, y)
    np.testing.assert_array_equal(renamed.predict_set(X), plain.predict_set(X))
    other = CautiousForestClassifier(n_estimators=20, s=2, random_state=0).fit(X, names[y])
    order = np.argsort(names)
    # Other trees may break ties in another order, so that only what all agree on is compared.
    assert (other.predict_set(X) == plain.predict_set(X)[:, order]).mean() > 0.97


# -- any forest


@pytest.mark.parametrize("theirs", [RandomForestClassifier, ExtraTreesClassifier])
def test_a_forest_of_scikit_learn(theirs: Any) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    forest = theirs(50, random_state=0).fit(X[::2], y[::2])
    model = CautiousClassifier.from_fitted(forest, aggregate="average", s=1)
    np.testing.assert_allclose(model.predict_proba(X), forest.predict_proba(X), atol=1e-12)
    bounds = model.predict_bounds(X)
    assert (bounds[..., 0] <= model.predict_proba(X)).all()
    assert (model.predict_proba(X) <= bounds[..., 1] + 1e-15).all()
    fitted = CautiousClassifier(theirs(50, random_state=0), aggregate="average").fit(X[::2], y[::2])
    np.testing.assert_array_equal(fitted.predict_set(X), model.predict_set(X))


def test_the_forest_is_a_thin_case_of_the_wrapper() -> None:
    X, y = load_iris(return_X_y=True)
    forest = CautiousForestClassifier(n_estimators=10, s=2, random_state=3).fit(X, y)
    wrapped = CautiousClassifier(ForestClassifier(10, random_state=3), s=2).fit(X, y)
    assert forest.forest_ == wrapped.forest_
    assert checks.outputs(forest, X) == checks.outputs(wrapped, X)


# -- priors


def test_a_prior_moves_frequencies_and_not_the_number_of_rows() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    plain = CautiousForestClassifier(n_estimators=20, aggregate="average", random_state=0).fit(X[::2], y[::2])
    share = plain.class_prior_
    same = plain.predict_bounds(X)
    np.testing.assert_allclose(plain.set_params(class_prior=share).predict_bounds(X), same, atol=1e-12)
    moved = plain.set_params(class_prior=[0.9, 0.1])
    counts = moved.leaf_counts(X)
    frequency = counts / counts.sum(axis=2, keepdims=True) * np.array([0.9, 0.1]) / share
    frequency /= frequency.sum(axis=2, keepdims=True)
    np.testing.assert_allclose(moved.predict_proba(X), frequency.mean(axis=1))
    bounds = moved.predict_bounds(X)
    np.testing.assert_allclose(bounds[..., 1] - bounds[..., 0], same[..., 1] - same[..., 0], atol=1e-12)


# -- choosing s


def test_a_search_over_s_by_u65() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = CautiousForestClassifier(n_estimators=20, random_state=0)
    search = GridSearchCV(model, {"s": [0.1, 1, 1e6]}, scoring=metrics.u65_scorer, cv=3).fit(X, y)
    assert search.best_params_["s"] < 10
    assert search.cv_results_["mean_test_score"].max() > 0.94
    worst = search.cv_results_["mean_test_score"][2]
    np.testing.assert_allclose(worst, 0.65)  # both classes for every row


# -- errors


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"s": 0}, "s is 0, must be a positive number"),
        ({"s": -1.0}, "s is -1.0"),
        ({"s": np.inf}, "s is inf"),
        ({"s": "1"}, "s is '1'"),
        ({"weighting": "size"}, "weighting is 'size'.*'uniform', 'samples', 'epistemic'"),
        ({"aggregate": "mean"}, "aggregate is 'mean'.*'belief', 'average', 'vote', 'conjunction', 'disjunction'"),
        ({"class_prior": [0.5, 0.6]}, "class_prior is .* add up to 1"),
        ({"class_prior": "uniform"}, "class_prior is 'uniform', must be an array of numbers"),
        ({"n_estimators": 0}, "n_estimators is 0"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, Any], message: str) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        CautiousForestClassifier(**{"n_estimators": 2, **settings}).fit(X, y)


def test_class_weights_are_refused_with_a_way_out() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    message = "class_weight, which corrupts bounds.*class_prior instead"
    with pytest.raises(ValueError, match=message):
        CautiousClassifier(ForestClassifier(2, class_weight="balanced")).fit(X, y)
    with pytest.raises(ValueError, match=message):
        CautiousClassifier.from_fitted(RandomForestClassifier(2, class_weight="balanced").fit(X, y))


def test_an_empty_intersection_is_said() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = CautiousForestClassifier(n_estimators=20, aggregate="conjunction", s=0.1, random_state=0).fit(X, y)
    with pytest.warns(UserWarning, match=r"no distribution in common for \d+ of 569 rows"):
        sets = model.predict_set(X)
    assert sets.any(axis=1).all()
