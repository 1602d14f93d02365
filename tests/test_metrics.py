"""Metrics of sets of classes, of probabilities and of intervals, and their scorers."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hedgerow import metrics
from oracles.metrics import calibration_error

METRICS = {
    "u65": metrics.u65_score,
    "u80": metrics.u80_score,
    "set": metrics.set_accuracy,
    "single": metrics.single_accuracy,
    "determinacy": metrics.determinacy,
    "size": metrics.mean_set_size,
}
SCORERS = {
    "u65": metrics.u65_scorer,
    "u80": metrics.u80_scorer,
    "set": metrics.set_accuracy_scorer,
    "single": metrics.single_accuracy_scorer,
    "determinacy": metrics.determinacy_scorer,
    "size": metrics.neg_mean_set_size_scorer,
}
every_metric = pytest.mark.parametrize("metric", METRICS.values(), ids=METRICS.keys())


def one_row(name: str, truth: Any, members: set[Any]) -> float | None:
    """The definition, of one row; None where it has no say."""
    m, right = len(members), truth in members
    return {
        "u65": (1.6 / m - 0.6 / m**2) * right,
        "u80": (2.2 / m - 1.2 / m**2) * right,
        "set": float(right),
        "single": float(right) if m == 1 else None,
        "determinacy": float(m == 1),
        "size": float(m),
    }[name]


@st.composite
def answers(draw: st.DrawFn) -> tuple[list[str], Any, list[str], list[int]]:
    """Labels, sets that are not empty, classes and weights; the first set has one class."""
    n, k = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    classes = draw(st.permutations("abcd"))[:k]
    y = draw(st.lists(st.sampled_from(classes), min_size=n, max_size=n))
    rows = draw(st.lists(st.sets(st.integers(0, k - 1), min_size=1), min_size=n, max_size=n))
    rows[0] = {min(rows[0])}
    sets = np.array([[j in row for j in range(k)] for row in rows])
    return y, sets, classes, draw(st.lists(st.integers(1, 3), min_size=n, max_size=n))


@pytest.mark.parametrize("name", METRICS)
@given(answers())
def test_metrics_are_means_of_their_definition(name: str, drawn: Any) -> None:
    y, sets, classes, weights = drawn
    members = [{c for c, is_in in zip(classes, row, strict=True) if is_in} for row in sets]
    each = [one_row(name, truth, row) for truth, row in zip(y, members, strict=True)]
    counted = [(value, w) for value, w in zip(each, weights, strict=True) if value is not None]
    plain = METRICS[name](y, sets, classes=classes)
    weighted = METRICS[name](y, sets, classes=classes, sample_weight=weights)
    assert isinstance(plain, float)
    assert plain == pytest.approx(sum(value for value, _ in counted) / len(counted))
    assert weighted == pytest.approx(sum(value * w for value, w in counted) / sum(w for _, w in counted))
    repeated = METRICS[name](np.repeat(y, weights), np.repeat(sets, weights, axis=0), classes=classes)
    assert weighted == pytest.approx(repeated)


def test_two_classes_are_worth_what_the_names_say() -> None:
    sets, classes = [[True, True]], [0, 1]
    assert metrics.u65_score([0], sets, classes=classes) == pytest.approx(0.65)
    assert metrics.u80_score([0], sets, classes=classes) == pytest.approx(0.80)


@given(answers())
def test_single_classes_are_scored_by_their_accuracy(drawn: Any) -> None:
    y, sets, classes, weights = drawn
    first = sets.argmax(axis=1)
    single = np.eye(len(classes), dtype=bool)[first]
    expected = accuracy_score(y, np.array(classes)[first], sample_weight=weights)
    for name in ("u65", "u80", "set", "single"):
        assert METRICS[name](y, single, classes=classes, sample_weight=weights) == pytest.approx(expected)


@pytest.mark.parametrize("classes", [[3, 7], [3.0, 7.5], ["x", "y"], [True, False]])
@every_metric
def test_labels_of_any_kind(metric: Any, classes: Any) -> None:
    labels = np.asarray(classes)
    sets = [[True, False], [False, True]]
    for y in (labels, list(classes), pd.Series(labels), pd.Series(labels).astype("category")):
        assert metric(y, sets, classes=classes) == 1.0
    mixed = np.array(["x", 7], dtype=object)
    assert metric(mixed, sets, classes=mixed) == 1.0
    flipped = metric(labels[::-1], sets, classes=classes)
    assert flipped == (1.0 if metric in (metrics.determinacy, metrics.mean_set_size) else 0.0)


def test_no_single_class_has_no_accuracy() -> None:
    with pytest.warns(UndefinedMetricWarning, match="no set has a single class"):
        assert np.isnan(metrics.single_accuracy([0], [[True, True]], classes=[0, 1]))
    with pytest.warns(UndefinedMetricWarning, match="no set has a single class"):
        score = metrics.single_accuracy([0, 0], [[True, True], [True, False]], classes=[0, 1], sample_weight=[1, 0])
    assert np.isnan(score)


def test_sizes_need_no_truth() -> None:
    sets = [[True, True, False], [False, True, False]]
    assert metrics.determinacy(None, sets) == 0.5
    assert metrics.mean_set_size(None, sets, sample_weight=[1, 3]) == 1.25


# -- what is refused


@every_metric
def test_sets_that_are_none_are_refused(metric: Any) -> None:
    for sets in ([True, False], [[[True]]], np.empty((0, 2), dtype=bool)):
        with pytest.raises(ValueError, match=r"sets have shape .*, must have shape \(n, n_classes\)"):
            metric([0], sets, classes=[0, 1])
    for sets in ([[0, 1]], [[0.5, 1.0]], [["a", "b"]]):
        with pytest.raises(ValueError, match=r"sets are .*, must be bool, as predict_set returns"):
            metric([0], sets, classes=[0, 1])
    with pytest.raises(ValueError, match=r"sets\[1\] is empty"):
        metric([0, 0], [[True, False], [False, False]], classes=[0, 1])


@every_metric
def test_labels_that_do_not_fit_are_refused(metric: Any) -> None:
    sets = [[True, False], [True, True]]
    with pytest.raises(ValueError, match="y_true has 5, which is not in classes: 0, 1"):
        metric([0, 5], sets, classes=[0, 1])
    with pytest.raises(ValueError, match="y_true has '0', which is not in classes: 0, 1"):
        metric(["0", "1"], sets, classes=[0, 1])
    with pytest.raises(ValueError, match="y_true has nan, which is not in classes"):
        metric([0, np.nan], sets, classes=[0, 1])
    with pytest.raises(ValueError, match=r"y_true has shape \(3,\), must have a label for each of 2 rows"):
        metric([0, 1, 1], sets, classes=[0, 1])
    with pytest.raises(ValueError, match="classes has 1 more than once"):
        metric([1, 1], sets, classes=[1, 1])
    with pytest.raises(ValueError, match=r"classes have shape \(3,\), must have a label for each of 2 columns"):
        metric([0, 1], sets, classes=[0, 1, 2])


@every_metric
def test_weights_that_do_not_fit_are_refused(metric: Any) -> None:
    sets = [[True, False], [True, True]]
    with pytest.raises(ValueError, match=r"sample_weight has shape \(1,\), must have a weight for each of 2 rows"):
        metric([0, 1], sets, classes=[0, 1], sample_weight=[1])
    for weights in ([-1, 2], [np.nan, 1], [0, 0]):
        with pytest.raises(ValueError, match="sample_weight must be finite, not negative and not all zero"):
            metric([0, 1], sets, classes=[0, 1], sample_weight=weights)


# -- scorers


class Careful(ClassifierMixin, BaseEstimator):
    """Answers with all classes that are nearly as likely as the likeliest."""

    def __init__(self, width: float = 0.1) -> None:
        self.width = width

    def fit(self, X: Any, y: Any) -> Careful:
        self.model_ = GaussianNB().fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X: Any) -> Any:
        return self.model_.predict(X)

    def predict_set(self, X: Any) -> Any:
        p = self.model_.predict_proba(X)
        return p >= p.max(axis=1, keepdims=True) - self.width


@pytest.fixture(scope="module")
def iris() -> tuple[Any, Any]:
    X, y = load_iris(return_X_y=True)
    return X[:, :2], np.array(["setosa", "versicolor", "virginica"])[y]


@pytest.mark.parametrize("name", SCORERS)
def test_a_scorer_says_what_its_metric_says(iris: Any, name: str) -> None:
    X, y = iris
    model = Careful(0.3).fit(X, y)
    weights = np.arange(len(y)) % 3 + 1.0
    sign = -1 if name == "size" else 1
    for options in ({}, {"sample_weight": weights}):
        expected = sign * METRICS[name](y, model.predict_set(X), classes=model.classes_, **options)
        for scorer in (SCORERS[name], clone(SCORERS[name], safe=False), pickle.loads(pickle.dumps(SCORERS[name]))):
            assert scorer(model, X, y, **options) == expected


def test_scorers_in_cross_validation_and_grid_search(iris: Any) -> None:
    X, y = iris
    found = cross_validate(Careful(), X, y, scoring=SCORERS, error_score="raise")
    assert {f"test_{name}" for name in SCORERS} <= set(found)
    assert (found["test_size"] <= -1).all()
    alone = cross_validate(Careful(), X, y, scoring=metrics.u65_scorer, error_score="raise")
    np.testing.assert_array_equal(alone["test_score"], found["test_u65"])
    search = GridSearchCV(Careful(), {"width": [0.0, 0.3, 1.0]}, scoring=metrics.u65_scorer, error_score="raise")
    search.fit(X, y)
    assert search.best_params_ == {"width": 0.3}
    assert search.score(X, y) == metrics.u65_scorer(search.best_estimator_, X, y)
    assert clone(search).scoring == metrics.u65_scorer
    both = GridSearchCV(Careful(), {"width": [0.0, 0.3]}, scoring=SCORERS, refit="u80", error_score="raise").fit(X, y)
    assert both.best_params_ == {"width": 0.3}


def test_scorers_take_weights_by_metadata_routing(iris: Any) -> None:
    X, y = iris
    weights = np.arange(len(y)) % 5.0
    with config_context(enable_metadata_routing=True):
        plain = cross_validate(Careful(0.3), X, y, scoring=metrics.u65_scorer, error_score="raise")["test_score"]
        for name, request in (("sample_weight", True), ("importance", "importance")):
            scorer = metrics.u65_scorer.set_score_request(sample_weight=request)
            ones, weighted = (
                cross_validate(Careful(0.3), X, y, scoring=scorer, params={name: one}, error_score="raise")[
                    "test_score"
                ]
                for one in (np.ones(len(y)), weights)
            )
            np.testing.assert_allclose(ones, plain)
            assert not np.allclose(weighted, plain)
        with pytest.raises(Exception, match="sample_weight"):
            cross_validate(Careful(), X, y, scoring=metrics.u65_scorer, params={"sample_weight": weights})


def test_scorers_look_inside_pipelines_and_searches(iris: Any) -> None:
    X, y = iris
    shifted = make_pipeline(StandardScaler(), Careful(0.3)).fit(X, y)
    scaled = StandardScaler().fit_transform(X)
    expected = metrics.u65_scorer(Careful(0.3).fit(scaled, y), scaled, y)
    assert metrics.u65_scorer(shifted, X, y) == expected
    assert metrics.u65_scorer(FrozenEstimator(Careful(0.3).fit(X, y)), X, y) > 0.7
    search = GridSearchCV(shifted, {"careful__width": [0.3]}, scoring=metrics.u65_scorer, error_score="raise").fit(X, y)
    assert metrics.u65_scorer(search, X, y) == expected
    nested = cross_validate(search, X, y, scoring=metrics.u65_scorer, error_score="raise")
    assert (nested["test_score"] > 0.6).all()


def test_a_scorer_of_ones_own() -> None:
    def share(y_true: Any, sets: Any, *, classes: Any, of: Any) -> float:
        return float(sets[:, list(classes).index(of)].mean())

    X, y = np.array([[0.0], [1.0], [0.1], [1.1]]), [0, 1, 0, 1]
    scorer = metrics.make_set_scorer(share, greater_is_better=False, of=1)
    assert scorer(Careful(0.0).fit(X, y), X, y) == -0.5
    assert repr(scorer) == "make_set_scorer(share, greater_is_better=False, of=1)"
    assert repr(metrics.u65_scorer) == "make_set_scorer(u65_score)"
    with pytest.raises(TypeError, match="metric is 'u65', must be a function"):
        metrics.make_set_scorer("u65")  # type: ignore[arg-type]


def test_estimators_without_sets_are_refused(iris: Any) -> None:
    X, y = iris
    model = LogisticRegression().fit(X, y)
    for inside in (model, make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y)):
        with pytest.raises(AttributeError, match="LogisticRegression has no predict_set"):
            metrics.u65_scorer(inside, X, y)


# -- probabilities


@st.composite
def probabilities(draw: st.DrawFn) -> tuple[list[str], list[list[float]], list[str], list[int]]:
    """Labels, rows of probabilities that often lie on the edge of a bin, classes and weights."""
    n, k = draw(st.integers(1, 8)), draw(st.integers(2, 4))
    classes = list("abcd"[:k])
    shares = draw(st.lists(st.lists(st.integers(0, 15), min_size=k, max_size=k).filter(any), min_size=n, max_size=n))
    y = draw(st.lists(st.sampled_from(classes), min_size=n, max_size=n))
    proba = [[share / sum(row) for share in row] for row in shares]
    return y, proba, classes, draw(st.lists(st.integers(1, 3), min_size=n, max_size=n))


@given(probabilities(), st.integers(1, 16))
def test_calibration_error_is_its_definition(drawn: Any, n_bins: int) -> None:
    y, proba, classes, weights = drawn
    found = metrics.expected_calibration_error(y, proba, classes=classes, n_bins=n_bins, sample_weight=weights)
    assert isinstance(found, float)
    assert found == pytest.approx(calibration_error(y, proba, classes, n_bins, weights), abs=1e-12)
    plain = metrics.expected_calibration_error(y, proba, classes=classes, n_bins=n_bins)
    assert plain == pytest.approx(calibration_error(y, proba, classes, n_bins, [1] * len(y)), abs=1e-12)
    repeated = np.repeat(y, weights), np.repeat(proba, weights, axis=0)
    assert found == pytest.approx(
        metrics.expected_calibration_error(*repeated, classes=classes, n_bins=n_bins), abs=1e-12
    )


def test_calibration_error_of_the_class_frequencies_is_none() -> None:
    y = ["a"] * 7 + ["b"] * 3
    assert metrics.expected_calibration_error(y, [[0.7, 0.3]] * 10) == pytest.approx(0, abs=1e-15)
    assert metrics.expected_calibration_error(y, [0.3] * 10) == pytest.approx(0, abs=1e-15)
    assert metrics.expected_calibration_error(y, [[1.0, 0.0]] * 10) == pytest.approx(0.3)


def test_calibration_error_is_a_scorer_by_scikit_learn(iris: Any) -> None:
    X, y = iris
    error, model = metrics.expected_calibration_error, GaussianNB()
    scorer = make_scorer(error, response_method="predict_proba", greater_is_better=False)
    assert scorer(model.fit(X, y), X, y) == -error(y, model.predict_proba(X))
    two = y != "setosa"  # scikit-learn passes one column
    assert scorer(model.fit(X[two], y[two]), X[two], y[two]) == pytest.approx(
        -error(y[two], model.predict_proba(X[two]))
    )


@pytest.mark.parametrize(
    ("proba", "options", "words"),
    [
        ([[0.5, 0.5]], {"n_bins": 0}, "n_bins is 0, must be a whole number of at least 1"),
        ([[0.5, 0.5]], {"n_bins": 2.5}, "n_bins is 2.5"),
        ([[0.5, 0.5]], {"n_bins": True}, "n_bins is True"),
        ([[1.5, -0.5]], {}, r"y_proba\[0, 0\] is 1.5, must be a probability"),
        ([[0.5, np.nan]], {}, r"y_proba\[0, 1\] is nan, must be a probability"),
        ([[[0.5, 0.5]]], {}, r"y_proba has shape \(1, 1, 2\), must have shape \(n, n_classes\)"),
        (np.empty((0, 2)), {}, "at least one row"),
        ([["x", "y"]], {}, "y_proba is .*, must be an array of numbers"),
        ([[0.2, 0.3, 0.5]], {}, "classes have shape"),
        ([[0.5, 0.5]], {"sample_weight": [1, 1]}, "sample_weight has shape"),
    ],
)
def test_probabilities_that_are_none_are_refused(proba: Any, options: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        metrics.expected_calibration_error([0], proba, **{"classes": [0, 1], **options})


# -- intervals


def test_intervals_are_judged_by_what_they_cover_and_their_width() -> None:
    y, intervals = [1.0, 2.0, 3.0, 4.0], [[0, 1], [0, 1], [3, 5], [0, 4]]
    assert metrics.interval_coverage(y, intervals) == 0.75  # both ends belong to the interval
    assert metrics.interval_coverage(y, intervals, sample_weight=[1, 5, 1, 1]) == 3 / 8
    assert metrics.mean_interval_width(intervals) == 2.0
    assert metrics.mean_interval_width(intervals, sample_weight=[1, 1, 2, 0]) == 1.5


@pytest.mark.parametrize(
    ("intervals", "words"),
    [
        ([0, 1], "intervals have shape"),
        ([[0, 1, 2]], "must have shape"),
        (np.empty((0, 2)), "at least one row"),
        ([[2, 1]], r"intervals\[0\] is from 2.0 to 1.0: the lower end must come first"),
        ([[0, np.nan]], r"intervals\[0\] is from 0.0 to nan"),
        ([[0, 1], [0, 1]], "y_true has shape"),
    ],
)
def test_intervals_that_are_none_are_refused(intervals: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        metrics.interval_coverage([1.0], intervals)


def test_interval_score_of_true_quantiles_is_the_least():
    rng = np.random.default_rng(0)
    y = rng.normal(size=20_000)
    z = 1.2815515655446004  # the 0.9 quantile of a standard normal
    scores = [
        metrics.interval_score(y, np.tile([-width, width], (len(y), 1)), coverage=0.8)
        for width in (0.8 * z, z, 1.2 * z)
    ]
    assert scores[1] == min(scores)


def test_stratified_coverage_is_that_of_the_worst_stratum():
    y = ["a", "a", "b", "b"]
    sets = np.array([[True, False], [False, True], [True, True], [False, False]])
    assert metrics.set_coverage(y, sets, classes=["a", "b"]) == 0.5
    assert metrics.size_stratified_coverage(y, sets, classes=["a", "b"]) == 0.5
    assert metrics.size_stratified_coverage(y[3:], sets[3:], classes=["a", "b"]) == 0.0
    weight = [1.0, 3.0, 1.0, 0.0]
    assert metrics.size_stratified_coverage(y, sets, classes=["a", "b"], sample_weight=weight) == 0.25
    ends = np.array([[0, 1], [0, 1], [0, 2], [0, 4], [0, 4], [0, 8]])
    assert metrics.width_stratified_coverage([0.5, 3, 1, 5, 3, 3], ends, n_bins=3) == 0.5
    assert metrics.width_stratified_coverage([0.5, 3, 1, 5, 3, 3], ends, n_bins=1) == pytest.approx(2 / 3)
