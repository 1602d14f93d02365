"""ConformalClassifier: what sets are made of, what can be changed, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import hedgerow
from hedgerow import CautiousForestClassifier, ConformalClassifier, ForestClassifier, RandomTreesClassifier
from hedgerow.conformal import Raps
from oracles import conformal as oracle

FOREST = ForestClassifier(30, random_state=0)


def three_classes(n_rows=300, seed=0):
    return make_classification(
        n_rows, 6, n_informative=4, n_classes=3, n_clusters_per_class=1, class_sep=0.7, random_state=seed
    )


def truth_of(sets, codes):
    return sets[np.arange(len(codes)), codes]


def test_sets_have_the_classes_below_the_threshold_of_out_of_bag_scores():
    X, y = three_classes()
    forest = ForestClassifier(25, calibration=None, min_samples_split=2, random_state=0)
    model = ConformalClassifier(forest, 0.8).fit(X[:200], y[:200])
    twin = clone(forest)
    bags = twin._fit_and_keep_bags(X[:200], y[:200])
    shares = oracle.out_of_bag(bags, twin.leaf_probabilities())
    scores = [1 - p[code] for p, code in zip(shares, y[:200], strict=True) if p is not None]
    limit = oracle.threshold(scores, 0.8)
    expected = 1 - twin.predict_proba(X[200:]) <= limit + 1e-9
    alone = ~expected.any(axis=1)
    expected[alone] = twin.predict_proba(X[200:])[alone] == twin.predict_proba(X[200:])[alone].max(axis=1)[:, None]
    np.testing.assert_array_equal(model.predict_set(X[200:]), expected)
    assert model.method_ == "oob"


def test_leave_one_out_scores_are_those_of_random_trees():
    X, y = three_classes(150)
    model = ConformalClassifier(RandomTreesClassifier(20, random_state=0)).fit(X, y)
    twin = RandomTreesClassifier(20, loo_score=True, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.calibration_.proba, twin.loo_decision_function_)
    assert model.method_ == "loo"
    assert not hasattr(model.estimator_, "loo_decision_function_")


def test_a_frozen_model_is_calibrated_by_the_rows_of_fit():
    X, y = three_classes()
    fitted = LogisticRegression().fit(X[:100], y[:100])
    model = ConformalClassifier(FrozenEstimator(fitted), 0.8).fit(X[100:200], y[100:200])
    scores = 1 - fitted.predict_proba(X[100:200])[np.arange(100), y[100:200]]
    limit = oracle.threshold(scores, 0.8)
    np.testing.assert_array_equal(
        model.set_params(allow_empty=True).predict_set(X[200:]), 1 - fitted.predict_proba(X[200:]) <= limit + 1e-9
    )
    same = ConformalClassifier.from_fitted(fitted, X[100:200], y[100:200], coverage=0.8, allow_empty=True)
    np.testing.assert_array_equal(same.predict_set(X[200:]), model.predict_set(X[200:]))


def test_cross_validation_answers_each_row_by_a_model_without_it():
    X, y = three_classes(90)
    model = ConformalClassifier(LogisticRegression(), method="cv", cv=3, random_state=1).fit(X, y)
    assert model.calibration_.proba.shape == (90, 3)
    inside = model.estimator_.predict_proba(X)
    assert (np.abs(model.calibration_.proba - inside).max(axis=1) > 0).all()


@pytest.mark.parametrize("method", ["oob", "cv", "split"])
@pytest.mark.parametrize("name", ["lac", "aps", "raps", "bounds"])
def test_sets_hold_the_truth_about_as_often_as_promised(method, name):
    X, y = three_classes(900)
    estimator = CautiousForestClassifier(30, s=1, random_state=0) if name == "bounds" else FOREST
    model = ConformalClassifier(estimator, 0.8, name, method, random_state=0).fit(X[:500], y[:500])
    # The share of 400 rows: standard error 0.02; that of the threshold, by at least 100 rows, 0.04. Four of both.
    assert truth_of(model.predict_set(X[500:]), y[500:]).mean() > 0.8 - 4 * np.hypot(0.02, 0.04)


def test_coverage_and_score_can_be_changed_after_fit():
    X, y = three_classes()
    model = ConformalClassifier(FOREST, 0.6, random_state=0).fit(X, y)
    small = model.predict_set(X)
    large = model.set_params(coverage=0.99).predict_set(X)
    assert (small <= large).all()
    assert small.sum() < large.sum()
    np.testing.assert_array_equal(model.predict_set(X, coverage=0.6), small)
    fresh = ConformalClassifier(FOREST, 0.99, Raps(0.3), random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.set_params(conformity_score=Raps(0.3)).predict_set(X), fresh.predict_set(X))
    with pytest.raises(ValueError, match="CredalBounds reads predict_bounds, which fit has not kept: fit again"):
        model.set_params(conformity_score="bounds").predict_set(X)


def test_sets_are_empty_only_if_allowed():
    X, y = make_classification(400, 5, random_state=0)
    model = ConformalClassifier(FOREST, 0.5).fit(X[:200], y[:200])
    assert model.predict_set(X[200:]).any(axis=1).all()
    sets = model.set_params(allow_empty=True).predict_set(X[200:])
    assert not sets.any(axis=1).all()
    assert "no class" in str(model.explain(X[200:][~sets.any(axis=1)][:1])[0])


def test_groups_by_class_have_a_threshold_each():
    X, y = three_classes(600)
    y = np.where((y == 2) & (np.arange(600) % 3 > 0), 1, y)  # a rare class
    model = ConformalClassifier(FOREST, 0.8, groups="class", allow_empty=True).fit(X[:400], y[:400])
    calibration = model.calibration_
    proba = model.predict_proba(X[400:])
    for code in range(3):
        own = calibration.codes == code
        limit = oracle.threshold((1 - calibration.proba[own, code]).tolist(), 0.8)
        np.testing.assert_array_equal(model.predict_set(X[400:])[:, code], 1 - proba[:, code] <= limit + 1e-9)


def test_groups_by_column_have_a_threshold_each():
    X, y = three_classes(400)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["site"] = np.where(X[:, 0] > 0, "north", "south")
    model = ConformalClassifier(FOREST, 0.8, groups="site", allow_empty=True).fit(frame[:300], y[:300])
    new, proba = frame[300:], model.predict_proba(frame[300:])
    sets, calibration = model.predict_set(new), model.calibration_
    assert calibration.groups.names == ("site = north", "site = south")
    scores = 1 - calibration.proba[np.arange(300), calibration.codes]
    for name in ("north", "south"):
        rows = (new["site"] == name).to_numpy()
        limit = oracle.threshold(scores[(frame["site"][:300] == name).to_numpy()].tolist(), 0.8)
        np.testing.assert_array_equal(sets[rows], 1 - proba[rows] <= limit + 1e-9)
    strange = new.assign(site="west")
    limit = oracle.threshold(scores.tolist(), 0.8)
    np.testing.assert_array_equal(model.predict_set(strange), 1 - model.predict_proba(strange) <= limit + 1e-9)
    assert "of site = " in str(model.explain(new[:1])[0])


def test_weights_count_calibration_rows():
    X, y = three_classes(200)
    fitted = LogisticRegression().fit(X[:80], y[:80])
    weight = np.arange(120) % 3
    weighted = ConformalClassifier(FrozenEstimator(fitted), 0.7).fit(X[80:], y[80:], weight)
    rows = np.repeat(np.arange(80, 200), weight)
    repeated = ConformalClassifier(FrozenEstimator(fitted), 0.7).fit(X[rows], y[rows])
    np.testing.assert_array_equal(weighted.predict_set(X), repeated.predict_set(X))
    np.testing.assert_allclose(weighted.predict_bounds(X), repeated.predict_bounds(X))


def test_randomized_sets_break_ties():
    X = np.arange(200.0)[:, np.newaxis]
    y = np.arange(200) % 2
    constant = DummyClassifier().fit(X, y)  # probabilities of a half for every row: all scores are tied
    model = ConformalClassifier(FrozenEstimator(constant), 0.6, allow_empty=True, random_state=0)
    assert model.fit(X, y).predict_set(X).all()
    model.set_params(randomized=True).fit(X, y)
    sets = model.predict_set(X)
    # Each class of 200 rows is kept with probability 0.6: standard error 0.035.
    assert abs(sets[:, 0].mean() - 0.6) < 4 * 0.035
    np.testing.assert_array_equal(model.predict_set(X[50:60]), sets[50:60])
    np.testing.assert_array_equal(clone(model).fit(X, y).predict_set(X), sets)


@pytest.mark.parametrize(("name", "drawn"), [("lac", False), ("aps", True), ("raps", True)])
def test_scores_with_many_ties_are_randomized_by_default(name, drawn):
    X, y = three_classes()
    model = ConformalClassifier(FOREST, 0.8, random_state=0).fit(X, y).set_params(conformity_score=name)
    found = model.predict_set(X)
    np.testing.assert_array_equal(found, model.set_params(randomized=drawn).predict_set(X))
    assert (found != model.set_params(randomized=False).predict_set(X)).any() == drawn
    fixed = ConformalClassifier(FOREST, 0.8, randomized=False).fit(X, y)
    with pytest.raises(ValueError, match="randomized=True was set after fit: fit again"):
        fixed.set_params(randomized=True).predict_set(X)


def test_venn_abers_bounds_are_those_of_isotonic_regression():
    X, y = make_classification(200, 5, random_state=0)
    model = ConformalClassifier(FOREST).fit(X[:150], y[:150])
    calibration = model.calibration_
    scores, events = calibration.proba[:, 1], (calibration.codes == 1).astype(float)
    expected = [
        oracle.venn_abers(scores, events, calibration.weight, one) for one in model.predict_proba(X[150:160])[:, 1]
    ]
    bounds = model.predict_bounds(X[150:160])
    np.testing.assert_allclose(bounds[:, 1], expected, atol=1e-12)
    np.testing.assert_allclose(bounds[:, 0], 1 - bounds[:, 1, ::-1])
    merged = model.set_params(probabilities="venn_abers").predict_proba(X[150:160])
    p0, p1 = np.array(expected).T
    np.testing.assert_allclose(merged[:, 1], p1 / (1 - p0 + p1))
    np.testing.assert_array_equal(model.predict(X[150:160]), merged.argmax(axis=1))


def test_venn_abers_calibrates_each_of_several_classes():
    X, y = three_classes()
    model = ConformalClassifier(FOREST, probabilities="venn_abers").fit(X, y)
    bounds = model.predict_bounds(X[:20])
    assert bounds.shape == (20, 3, 2)
    assert (bounds[..., 0] <= bounds[..., 1]).all()
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_a_foreign_model_is_wrapped_as_it_is():
    X, y = three_classes()
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    model = ConformalClassifier(pipeline).fit(X, y)
    assert model.method_ == "cv"
    np.testing.assert_array_equal(model.predict_proba(X), clone(pipeline).fit(X, y).predict_proba(X))
    assert "Probabilities: " in str(model.explain(X[:1])[0])
    assert not hasattr(model, "predict_uncertainty")
    theirs = ConformalClassifier(RandomForestClassifier(20, random_state=0)).fit(X, y)
    assert theirs.method_ == "oob"
    assert truth_of(theirs.predict_set(X), y).mean() > 0.9


def test_a_class_that_a_fold_has_not_seen_has_no_probability():
    X, y = three_classes(60)
    y = np.where(np.arange(60) == 7, "lone", y.astype(str))
    model = ConformalClassifier(LogisticRegression(), method="cv", cv=3).fit(X, y)
    lone = model.classes_.tolist().index("lone")
    assert model.calibration_.proba[7, lone] == 0
    assert model.predict_set(X).shape == (60, 4)


def test_it_works_in_searches_and_scores():
    X, y = three_classes()
    assert cross_val_score(ConformalClassifier(FOREST), X, y, cv=2).min() > 0.5


def test_explanations_say_what_is_kept_at_which_level():
    X, y = three_classes()
    model = ConformalClassifier(FOREST, 0.8).fit(X, y)
    for one, kept in zip(model.explain(X[:20]), model.predict_set(X[:20]), strict=True):
        assert one.set == tuple(np.flatnonzero(kept))
        below = np.array(one.levels) < 0.8 - 1e-9
        assert kept.sum() == 1 or (below == kept).all()
        assert one.n_rows == (300.0,)
        assert "Set at 0.8 coverage" in str(one)
        assert "(300 calibration rows)" in str(one)
    by_class = ConformalClassifier(FOREST, 0.8, groups="class").fit(X, y).explain(X[:1])[0]
    assert by_class.n_rows == tuple(np.bincount(y))


def test_a_model_survives_its_file(tmp_path):
    X, y = three_classes(120)
    model = ConformalClassifier(FOREST, 0.7, Raps(0.2), groups="class", randomized=True).fit(X, y)
    hedgerow.save(model, tmp_path / "model.hedgerow")
    twin = hedgerow.load(tmp_path / "model.hedgerow")
    np.testing.assert_array_equal(twin.predict_set(X), model.predict_set(X))
    np.testing.assert_array_equal(twin.predict_bounds(X), model.predict_bounds(X))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"coverage": 1.0}, r"coverage is 1.0, must be a number in \(0, 1\), for example 0.9"),
        ({"coverage": 0.999}, "coverage=0.999 need at least 999 calibration samples, and there are 60 samples"),
        ({"coverage": 0.95, "groups": "class"}, r"at least 19 calibration samples in every class, and class 2 has 7"),
        ({"groups": "colour"}, "groups is 'colour', must be None, 'class', or a column, by name or position: 'x0'"),
        ({"groups": 0}, r"in every group, and group x0 = .* has 1 \(60 of 60 have too few\)"),
        ({"method": "bag"}, r"method is 'bag', must be one of 'auto', 'oob', 'jackknife\+', 'loo', 'cv', 'split'"),
        ({"method": "loo"}, "method='loo' needs a RandomTreesClassifier, and this is a ForestClassifier"),
        ({"method": "cv", "cv": 1}, "cv is 1, must be a whole number of at least 2 folds, or a splitter"),
        ({"probabilities": "isotonic"}, "probabilities is 'isotonic', must be one of 'estimator', 'venn_abers'"),
        ({"randomized": 1}, "randomized is 1, must be True or False, or 'auto'"),
        ({"conformity_score": "bounds"}, "CredalBounds needs a classifier with predict_bounds, which ForestClassifier"),
    ],
)
def test_what_makes_no_sense_is_refused(settings, message):
    X, y = three_classes(60)
    y = np.where((y == 2) & (np.cumsum(y == 2) > 7), 0, y)
    with pytest.raises(ValueError, match=message):
        ConformalClassifier(FOREST).set_params(**settings).fit(X, y)


def test_out_of_bag_needs_bootstrap():
    X, y = three_classes(60)
    with pytest.raises(ValueError, match="method='oob' needs a forest with bootstrap=True, and this ForestClassifier"):
        ConformalClassifier(ForestClassifier(bootstrap=False), method="oob").fit(X, y)
    with pytest.raises(ValueError, match="method='oob' needs a forest of bootstrap samples, which LogisticRegression"):
        ConformalClassifier(LogisticRegression(), method="oob").fit(X, y)
    assert ConformalClassifier(ForestClassifier(5, bootstrap=False), coverage=0.5).fit(X, y).method_ == "cv"


def test_a_frozen_estimator_is_split():
    X, y = three_classes(60)
    frozen = FrozenEstimator(LogisticRegression().fit(X, y))
    with pytest.raises(ValueError, match="method='oob' fits the estimator, and this one is frozen"):
        ConformalClassifier(frozen, method="oob").fit(X, y)
    with pytest.raises(ValueError, match="y has classes"):
        ConformalClassifier(frozen).fit(X, y + 1)
    with pytest.raises(TypeError, match="must be a classifier with predict_proba"):
        ConformalClassifier(3).fit(X, y)
