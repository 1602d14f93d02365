"""Cautious forests: sets, bounds and belief, against the leaves' own counts; scikit-learn's contract; errors."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV

import hedgerow
from effort import daily_pairs
from hedgerow import (
    CautiousClassifier,
    CautiousForestClassifier,
    ForestClassifier,
    TreeClassifier,
    checks,
    credal,
    metrics,
)
from hedgerow.estimators.fitting.caution import GRID, with_prior


def test_every_parameter_changes_something() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    X[:, 3] = rng.integers(0, 6, size=400)
    y = np.digitize(X[:, 0] + X[:, 3] % 3 + rng.normal(size=400), [0, 2.5])
    X[rng.random(X.shape) < 0.1] = np.nan
    changes = {
        "s": 300.0,
        "weighting": "uniform",
        "aggregate": "average",
        "class_prior": [0.2, 0.2, 0.6],
        "n_estimators": 6,
        "criterion": "entropy",
        "nominal": "binary",
        "missing": "category",
        "max_depth": 3,
        "min_samples_split": 30,
        "min_samples_leaf": 10,
        "max_leaf_nodes": 8,
        "splitter": "random",
        "max_features": None,
        "max_bins": 3,
        "bootstrap": False,
        "max_samples": 0.5,
        "categorical_features": None,
    }
    estimator = CautiousForestClassifier(
        n_estimators=15, aggregate="belief", nominal="subset", categorical_features=[3]
    )
    before = checks.outputs(estimator.set_params(random_state=0).fit(X, y), X)
    # Out-of-bag scores change no answer: they are tested on their own.
    assert set(changes) == estimator.get_params().keys() - checks.WITHOUT_EFFECT - {"oob_score"}
    for name, value in changes.items():
        changed = CautiousForestClassifier(**(estimator.get_params() | {name: value})).fit(X, y)
        assert checks.outputs(changed, X) != before, name


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
    model = CautiousForestClassifier(n_estimators=30, s=3, aggregate="belief", random_state=0).fit(X[::2], y[::2])
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
    model.set_params(s=2.0, aggregate="belief")
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
    fitted = CautiousClassifier(theirs(50, random_state=0), s=1).fit(X[::2], y[::2])
    np.testing.assert_array_equal(fitted.predict_set(X), model.predict_set(X))


def test_the_forest_is_a_thin_case_of_the_wrapper() -> None:
    X, y = load_iris(return_X_y=True)
    forest = CautiousForestClassifier(n_estimators=10, s=2, random_state=3).fit(X, y)
    plain = ForestClassifier(10, calibration=None, min_samples_split=2, random_state=3)
    wrapped = CautiousClassifier(plain, s=2).fit(X, y)
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


# -- what out-of-bag rows choose


def coin_flips(n: int = 300) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 8)), rng.integers(0, 2, n), rng.normal(size=(200, 8))


@pytest.mark.parametrize(
    "model",
    [
        CautiousForestClassifier(random_state=0),
        CautiousClassifier(),
        CautiousClassifier(RandomForestClassifier(random_state=0)),
        CautiousForestClassifier(s="u80", random_state=0),
        CautiousForestClassifier(aggregate="belief", random_state=0),
        CautiousForestClassifier(weighting="learned", random_state=0),
    ],
    ids=repr,
)
def test_labels_drawn_by_a_coin_stay_undecided(model: Any) -> None:
    X, y, asked = coin_flips()
    assert metrics.determinacy(None, model.fit(X, y).predict_set(asked)) < 0.5


@pytest.mark.parametrize(
    ("aggregate", "prior"),
    daily_pairs(["average", "belief", "disjunction"], [None, [0.9, 0.1], [0.2, 0.3, 0.5]]),
)
def test_s_has_the_largest_utility_out_of_bag(aggregate: str, prior: Any) -> None:
    n_classes, n_rows, n_trees = 3 if prior is None else len(prior), 80, 15
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4))
    y = np.digitize(X[:, 0] + rng.normal(size=n_rows) / 2, [0, 1][: n_classes - 1])
    weight = rng.integers(0, 3, n_rows).astype(float)
    settings = {"aggregate": aggregate, "class_prior": prior, "random_state": 0}
    models = {s: CautiousForestClassifier(n_trees, s=s, **settings).fit(X, y, weight) for s in ("u65", "u80")}
    model = models["u65"]
    bags = model._template()._fit(X, y, weight, keep_bags=True)
    in_bag = np.unpackbits(bags.seen, axis=1, count=n_rows, bitorder="little").T.astype(bool)
    counts = model._moved(model.leaf_counts(X).reshape(-1, n_classes)).reshape(n_rows, n_trees, n_classes)
    in_practice = with_prior(weight, y, model.class_prior_, None if prior is None else np.array(prior))
    rows = [i for i in range(n_rows) if weight[i] and not in_bag[i].all()]
    aggregates = credal.get(aggregate, "epistemic")
    sets = {s: np.array([aggregates.of_counts(counts[i][~in_bag[i]], s)[1] for i in rows]) for s in GRID}
    truth = {"classes": model.classes_, "sample_weight": in_practice[rows]}
    for utility, score in (("u65", metrics.u65_score), ("u80", metrics.u80_score)):
        found = {s: score(y[rows], of_s, **truth) for s, of_s in sets.items()}
        chosen = models[utility].s_
        assert found[chosen] == pytest.approx(max(found.values()), abs=1e-9)
        assert chosen == min(s for s, one in found.items() if one > max(found.values()) - 1e-9)


def test_more_rows_than_are_read_at_once_are_read_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    whole = CautiousForestClassifier(20, weighting="learned", random_state=0).fit(X, y)
    monkeypatch.setattr("hedgerow.estimators.fitting.caution._ROWS_AT_ONCE", 100)
    parts = CautiousForestClassifier(20, weighting="learned", random_state=0).fit(X, y)
    assert whole.s_ == parts.s_
    np.testing.assert_allclose(whole.tree_weights_, parts.tree_weights_, rtol=1e-6)
    monkeypatch.setattr("hedgerow.estimators.fitting.caution.MOST_ROWS", 100)
    assert CautiousForestClassifier(20, random_state=0).fit(X, y).s_ > 0


def test_the_same_seed_chooses_the_same_for_any_number_of_jobs() -> None:
    X, y = load_iris(return_X_y=True)
    one, other = (
        CautiousForestClassifier(20, weighting="learned", n_jobs=n_jobs, random_state=0).fit(X, y) for n_jobs in (1, 3)
    )
    assert one.s_ == other.s_
    assert one.tree_weights_.tobytes() == other.tree_weights_.tobytes()


def test_a_class_prior_weighs_the_rows_that_choose_s() -> None:
    codes = np.array([0, 0, 0, 1], dtype=np.int32)
    weight = with_prior(np.ones(4), codes, np.array([0.75, 0.25]), np.array([0.5, 0.5]))
    np.testing.assert_allclose([weight[codes == k].sum() / weight.sum() for k in (0, 1)], 0.5)


def test_learned_weights_prefer_trees_that_know() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 30))
    y = (X[:, 0] > 0).astype(int)  # only trees that find this column know anything
    settings = {"max_depth": 1, "max_features": 1, "splitter": "best", "random_state": 0}
    model = CautiousForestClassifier(60, s=1.0, weighting="learned", **settings).fit(X, y)
    knows = model.forest_.feature[model.forest_.tree_start[:-1]] == 0
    assert 0 < knows.sum() < 10
    assert model.tree_weights_.sum() == pytest.approx(1)
    assert (model.tree_weights_ >= 0).all()
    assert model.tree_weights_[knows].min() > 2 * model.tree_weights_[~knows].max()
    rows = rng.normal(size=(300, 30))
    truth = (rows[:, 0] > 0).astype(int)
    learned = metrics.u65_score(truth, model.predict_set(rows), classes=[0, 1])
    uniform = metrics.u65_score(truth, model.set_params(weighting="uniform").predict_set(rows), classes=[0, 1])
    assert learned > uniform


def test_learned_weights_multiply_those_of_the_forest() -> None:
    X, y = load_iris(return_X_y=True)
    given = np.arange(10.0)
    forest = ForestClassifier(10, tree_weights=given, random_state=0)
    model = CautiousClassifier(forest, weighting="learned").fit(X, y)
    product = given * model.tree_weights_
    np.testing.assert_allclose(model.get_tree_weights(), product * (10 / product.sum()))


def test_out_of_bag_scores_are_those_of_its_own_answers() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    for aggregate in ("average", "belief"):
        model = CautiousForestClassifier(60, aggregate=aggregate, oob_score=True, random_state=0).fit(X, y)
        predicted = model.classes_[model.oob_decision_function_.argmax(axis=1)]
        assert model.oob_score_ == (predicted == y).mean() > 0.93


def test_a_failed_fit_leaves_what_was_chosen() -> None:
    X, y = load_iris(return_X_y=True)
    model = CautiousForestClassifier(20, random_state=0).fit(X, y)
    before, s = model.predict_set(X), model.s_
    with pytest.raises(ValueError, match="class_prior"):
        model.set_params(class_prior=[0.5, 0.5, 0.5]).fit(X[:50], y[:50])
    assert model.set_params(class_prior=None).s_ == s
    np.testing.assert_array_equal(model.predict_set(X), before)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda X, y: CautiousForestClassifier(s="u65", bootstrap=False).fit(X, y), "s='u65' needs out-of-bag rows"),
        (lambda X, y: CautiousClassifier(TreeClassifier(), s="u80").fit(X, y), "s='u80' needs .* set s to a number"),
        (
            lambda X, y: CautiousForestClassifier(weighting="learned", bootstrap=False).fit(X, y),
            "weighting='learned' needs out-of-bag rows.*set weighting to 'epistemic', 'uniform' or 'samples'",
        ),
        (
            lambda X, y: CautiousForestClassifier(oob_score=True, bootstrap=False).fit(X, y),
            "oob_score needs out-of-bag",
        ),
        (
            lambda X, y: CautiousClassifier.from_fitted(RandomForestClassifier(2).fit(X, y), s="u65"),
            "s='u65' needs out-of-bag rows, .* RandomForestClassifier has none: let CautiousClassifier fit the forest",
        ),
        (
            lambda X, y: CautiousClassifier(FrozenEstimator(ForestClassifier(2).fit(X, y)), s="u65").fit(X, y),
            "s='u65' needs out-of-bag rows",
        ),
        (
            lambda X, y: CautiousForestClassifier(2, weighting="learned", aggregate="conjunction").fit(X, y),
            "weighting='learned' needs aggregate 'average', 'belief' or 'vote'",
        ),
        (lambda X, y: CautiousForestClassifier(2, s="u70").fit(X, y), "s is 'u70', must be a positive number.*'u65'"),
        (lambda X, y: fitted_forest(X, y).set_params(s="u80").predict_set(X), "s='u80' was set after fit"),
        (
            lambda X, y: fitted_forest(X, y).set_params(aggregate="belief").predict_set(X),
            "s='auto' was chosen in fit for another aggregate",
        ),
        (lambda X, y: fitted_forest(X, y).set_params(weighting="learned").predict_set(X), "was set after fit"),
    ],
)
def test_what_out_of_bag_rows_can_not_choose_is_refused(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(*load_iris(return_X_y=True))


def fitted_forest(X: Any, y: Any) -> CautiousForestClassifier:
    return CautiousForestClassifier(5, random_state=0).fit(X, y)


def test_a_number_may_replace_what_was_chosen() -> None:
    X, y = load_iris(return_X_y=True)
    model = fitted_forest(X, y)
    chosen = model.predict_set(X)
    np.testing.assert_array_equal(model.set_params(s=model.s_).predict_set(X), chosen)
    assert model.set_params(s=1e9, aggregate="belief").predict_set(X).all()


def test_what_was_chosen_survives_copies_and_files(tmp_path: Any) -> None:
    X, y = load_iris(return_X_y=True)
    model = CautiousForestClassifier(20, s="u80", weighting="learned", random_state=0).fit(X, y)
    hedgerow.save(model, tmp_path / "m.hedgerow")
    for again in (hedgerow.load(tmp_path / "m.hedgerow"), pickle.loads(pickle.dumps(model)), copy.copy(model)):
        assert again.s_ == model.s_
        np.testing.assert_array_equal(again.predict_set(X), model.predict_set(X))
    changed = copy.copy(model.set_params(aggregate="belief"))  # can't answer, but may be changed again
    changed.set_params(s=1.0).predict_set(X)
    del model.s_
    with pytest.raises(ValueError, match="s_, which fit chooses for it, is missing"):
        copy.copy(model)


def test_without_out_of_bag_rows_s_is_a_usual_number() -> None:
    X, y = load_iris(return_X_y=True)
    for model in (
        CautiousForestClassifier(5, bootstrap=False, random_state=0).fit(X, y),
        CautiousClassifier(TreeClassifier()).fit(X, y),
        CautiousClassifier.from_fitted(RandomForestClassifier(5, random_state=0).fit(X, y)),
    ):
        assert model.s_ == 1
        model.set_params(aggregate="belief").predict_set(X)  # it was chosen for no aggregate
