"""Scores: their definitions, their standard errors, and when a model is worse than guessing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn import metrics as sklearn_metrics
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from hedgerow import TreeClassifier, TreeRegressor, metrics
from hedgerow.cli.scores.advice import advice_on_scores, advice_on_size
from hedgerow.scoring.evaluation import Evaluation, combine, mark
from hedgerow.scoring.metric_table import METRICS, Metric
from hedgerow.scoring.predictions import ClassPredictions, Need, NumberPredictions, Trial, make_trial
from hedgerow.scoring.standard_error import Score, mean_of_folds, mean_of_rows

BY_NAME = {metric.name: metric for metric in METRICS}


def value(name: str, predictions: Any, weight: Any) -> float:
    weight = np.asarray(weight, dtype=float)
    return scored(name, predictions, weight).value


def scored(name: str, predictions: Any, weight: Any) -> Score:
    metric = BY_NAME[name]
    return metric.score(metric.of_rows(predictions, weight), weight, np.arange(len(weight)))


@st.composite
def class_predictions(draw: st.DrawFn, most_classes: int = 4) -> tuple[ClassPredictions, Any]:
    """Rows with probabilities that tie, sets, and weights; some classes may have no row."""
    n, k = draw(st.integers(2, 12)), draw(st.integers(2, most_classes))
    codes = st.lists(st.integers(0, k - 1), min_size=n, max_size=n)
    truth, label = np.array(draw(codes)), np.array(draw(codes))
    shares = st.lists(st.integers(0, 4), min_size=k, max_size=k).filter(any)
    proba = np.array(draw(st.lists(shares, min_size=n, max_size=n)), dtype=float)
    sets = np.array(draw(st.lists(st.lists(st.booleans(), min_size=k, max_size=k), min_size=n, max_size=n)))
    sets[np.arange(n), label] = True
    weight = np.array(draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)), dtype=float)
    positive = draw(st.integers(0, 1))
    proba /= proba.sum(axis=1, keepdims=True)
    return ClassPredictions(tuple(range(k)), truth, label, proba, sets, positive), weight


@st.composite
def number_predictions(draw: st.DrawFn) -> tuple[NumberPredictions, Any]:
    n = draw(st.integers(2, 12))
    numbers = st.lists(st.integers(-8, 8).map(lambda i: i / 4), min_size=n, max_size=n)
    truth, predicted, low, size = (np.array(draw(numbers)) for _ in range(4))
    weight = np.array(draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)), dtype=float)
    return NumberPredictions(truth, predicted, np.stack([low, low + np.abs(size)], axis=1)), weight


# -- values


@given(class_predictions())
def test_scores_of_classes_are_those_of_scikit_learn_and_of_hedgerow(drawn: Any) -> None:
    p, w = drawn
    codes, kept = np.arange(len(p.classes)), {"sample_weight": w}
    assert value("accuracy", p, w) == pytest.approx(sklearn_metrics.accuracy_score(p.truth, p.label, **kept))
    present = np.unique(p.truth)
    recall = sklearn_metrics.recall_score(p.truth, p.label, labels=present, average="macro", **kept)
    assert value("balanced_accuracy", p, w) == pytest.approx(recall)
    assert value("log_loss", p, w) == pytest.approx(
        sklearn_metrics.log_loss(p.truth, p.proba, labels=codes, **kept), abs=1e-12
    )
    brier = sklearn_metrics.brier_score_loss(p.truth, p.proba, labels=codes, **kept)
    assert value("brier", p, w) == pytest.approx(brier, abs=1e-12)
    calibration = metrics.expected_calibration_error(p.truth, p.proba, classes=codes, **kept)
    assert value("calibration_error", p, w) == calibration
    for name, metric in {
        "u65": metrics.u65_score,
        "u80": metrics.u80_score,
        "set_accuracy": metrics.set_accuracy,
        "determinacy": metrics.determinacy,
    }.items():
        assert value(name, p, w) == pytest.approx(metric(p.truth, p.sets, classes=codes, **kept))
    if (p.sets.sum(axis=1) == 1).any():
        single = metrics.single_accuracy(p.truth, p.sets, classes=codes, **kept)
        assert value("single_accuracy", p, w) == pytest.approx(single)
    else:
        assert np.isnan(value("single_accuracy", p, w))


@given(class_predictions())
def test_auc_is_that_of_scikit_learn_for_the_classes_that_rows_have(drawn: Any) -> None:
    p, w = drawn
    present = np.unique(p.truth)
    if len(present) == 1:
        assert np.isnan(value("auc", p, w))
        return
    codes = [p.positive] if len(p.classes) == 2 else present
    each = [sklearn_metrics.roc_auc_score(p.truth == code, p.proba[:, code], sample_weight=w) for code in codes]
    assert value("auc", p, w) == pytest.approx(np.mean(each))
    if len(present) == len(p.classes) > 2:
        together = sklearn_metrics.roc_auc_score(p.truth, p.proba, multi_class="ovr", sample_weight=w)
        assert value("auc", p, w) == pytest.approx(together)


def test_sensitivity_and_specificity_are_the_recalls_of_the_positive_and_the_negative_class() -> None:
    truth, label = np.array([0, 0, 0, 1, 1, 1, 1]), np.array([0, 0, 1, 1, 1, 1, 0])
    p = ClassPredictions(("ill", "well"), truth, label, np.eye(2)[label])
    one = np.ones(7)
    assert value("sensitivity", p, one) == 0.75
    assert value("specificity", p, one) == pytest.approx(2 / 3)
    turned = replace(p, positive=0)
    assert value("sensitivity", turned, one) == pytest.approx(2 / 3)
    assert value("specificity", turned, one) == 0.75
    assert BY_NAME["sensitivity"].title_for(p) == "sensitivity (well)"
    assert BY_NAME["specificity"].title_for(p) == "specificity (ill)"
    only_ill = replace(p, truth=np.zeros(7, dtype=int))
    assert np.isnan(value("sensitivity", only_ill, one))


@given(number_predictions())
def test_scores_of_numbers_are_those_of_scikit_learn_and_of_hedgerow(drawn: Any) -> None:
    p, w = drawn
    rmse = sklearn_metrics.root_mean_squared_error(p.truth, p.value, sample_weight=w)
    assert value("rmse", p, w) == pytest.approx(rmse, abs=1e-12)
    mae = sklearn_metrics.mean_absolute_error(p.truth, p.value, sample_weight=w)
    assert value("mae", p, w) == pytest.approx(mae, abs=1e-12)
    if np.ptp(p.truth):
        r2 = sklearn_metrics.r2_score(p.truth, p.value, sample_weight=w)
        assert value("r2", p, w) == pytest.approx(r2, abs=1e-9)
    else:
        assert np.isnan(value("r2", p, w))
    assert value("coverage", p, w) == pytest.approx(metrics.interval_coverage(p.truth, p.interval, sample_weight=w))
    assert value("width", p, w) == pytest.approx(metrics.mean_interval_width(p.interval, sample_weight=w))


# -- standard errors


def influences(metric: Metric, p: Any, weight: Any) -> Any:
    """Change of the metric by more weight on each row, times the sum of weights: a difference quotient."""
    step = 1e-6
    found = []
    for i in range(len(weight)):
        more, less = weight.copy(), weight.copy()
        more[i] += step
        less[i] -= step
        found.append((value(metric.name, p, more) - value(metric.name, p, less)) / (2 * step))
    return np.array(found) * weight.sum()


@pytest.mark.parametrize("name", [metric.name for metric in METRICS if metric.of_all is None])
@settings(max_examples=15)
@given(st.data())
def test_rows_are_the_metric_and_their_influence_on_it(name: str, data: st.DataObject) -> None:
    metric = BY_NAME[name]
    if metric.needs in (Need.NUMBERS, Need.INTERVALS):
        p, w = data.draw(number_predictions())
    else:
        p, w = data.draw(class_predictions(2 if metric.needs == Need.TWO_CLASSES else 4))
    rows = metric.of_rows(p, w)
    counted = ~np.isnan(rows)
    assume(counted.any() and value(name, p, w) != 0)
    mean = np.average(rows[counted], weights=w[counted])
    # A row that does not count has no influence; the others share the weight of those that count.
    expected = np.where(counted, (rows - mean) * w.sum() / w[counted].sum(), 0.0)
    scale = 1 + np.abs(expected).max()
    np.testing.assert_allclose(influences(metric, p, w) / scale, expected / scale, atol=1e-5)


def test_the_error_of_a_mean_is_the_usual_one() -> None:
    x = np.array([1.0, 4.0, 2.0, 2.0, np.nan])
    one, rows = np.ones(5), np.arange(5)
    known = x[:4]
    assert mean_of_rows(x, one, rows) == Score(2.25, pytest.approx(known.std(ddof=1) / 2))
    assert mean_of_rows(x, 7 * one, rows).error == pytest.approx(known.std(ddof=1) / 2)
    halves = mean_of_rows(x, one, np.array([0, 0, 1, 1, 1]))  # groups with means 2.5 and 2
    assert halves.error == pytest.approx(np.array([2.5, 2.0]).std(ddof=1) / np.sqrt(2))
    assert np.isnan(mean_of_rows(x, one, np.zeros(5, dtype=int)).error)
    assert np.isnan(mean_of_rows(x[4:], one[4:], rows[4:]).value)
    weighted = mean_of_rows(np.array([0.0, 1.0]), np.array([3.0, 1.0]), np.arange(2))
    assert weighted == Score(0.25, pytest.approx(np.sqrt(2 * (0.75**2 + 0.75**2)) / 4))


def test_the_error_of_the_auc_is_delongs() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 300)
    score = np.clip((truth + rng.normal(size=300)).round(1) / 6 + 0.4, 0, 1)
    p = ClassPredictions((0, 1), truth, (score > 0.5).astype(int), np.stack([1 - score, score], axis=1))
    wins = np.array([[(a > b) + (a == b) / 2 for b in score[truth == 0]] for a in score[truth == 1]])
    m, n = wins.shape
    delong = np.sqrt(wins.mean(axis=1).var(ddof=1) / m + wins.mean(axis=0).var(ddof=1) / n)
    found = scored("auc", p, np.ones(300))
    assert found.value == pytest.approx(wins.mean())
    # Ours divides by n instead of n − 1 within each class, and multiplies by 300/299.
    assert found.error == pytest.approx(delong, rel=1 / min(m, n))


def test_folds_without_a_score_are_left_out_of_the_mean() -> None:
    nan = float("nan")
    assert mean_of_folds([Score(1.0), Score(nan), Score(3.0)]) == Score(2.0, pytest.approx(1.0))
    assert mean_of_folds([Score(1.0), Score(nan)]).value == 1.0
    assert np.isnan(mean_of_folds([Score(nan)]).value)


# -- texts


@pytest.mark.parametrize(
    ("name", "score", "text"),
    [
        ("accuracy", Score(0.95349, 0.0116), "0.953 ± 0.012"),
        ("accuracy", Score(1.0), "1.000"),
        ("auc", Score(float("nan")), "–"),
        ("r2", Score(-0.0000001), "0.000"),
        ("rmse", Score(63299.7, 312.4), "63,300 ± 310"),
        ("rmse", Score(41.678, 1.26), "41.68 ± 1.3"),
        ("mae", Score(0.00123456, 0.000012), "0.001235 ± 1.2e-05"),
        ("width", Score(1234.5), "1,234"),
    ],
)
def test_how_scores_are_written(name: str, score: Score, text: str) -> None:
    assert BY_NAME[name].text(score) == text


# -- trials


class Fixed(ClassifierMixin, BaseEstimator):
    """Stands for a fitted classifier."""

    def __init__(self, classes: Any, prior: Any) -> None:
        self.classes_ = np.array(classes)
        self.class_prior_ = np.array(prior)


def test_a_trial_has_the_class_frequencies_of_training_beside_the_model() -> None:
    found = {
        "predict_codes": np.array([0, 1, 1, 0]),
        "predict_proba": np.array([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6], [0.5, 0.5]]),
        "predict_set": np.array([[True, False], [False, True], [True, True], [True, True]]),
    }
    model = Fixed(["a", "c"], [0.25, 0.75])
    trial = make_trial(model, found, np.array([0, 2, 1, 2]), classes=["a", "b", "c"], weight=np.array([1.0, 1, 1, 0]))
    assert isinstance(trial.model, ClassPredictions)
    assert isinstance(trial.guess, ClassPredictions)
    np.testing.assert_array_equal(trial.model.truth, [0, 2, 1])  # a row of weight 0 does not count
    np.testing.assert_array_equal(trial.model.label, [0, 2, 2])
    np.testing.assert_array_equal(trial.model.proba, [[0.9, 0, 0.1], [0.2, 0, 0.8], [0.4, 0, 0.6]])
    assert trial.model.sets is not None
    np.testing.assert_array_equal(trial.model.sets[2], [True, False, True])
    assert trial.guessed == "c"
    np.testing.assert_array_equal(trial.guess.label, [2, 2, 2])
    np.testing.assert_array_equal(trial.guess.proba, [[0.25, 0, 0.75]] * 3)
    assert trial.guess.sets is not None
    np.testing.assert_array_equal(trial.guess.sets, [[False, False, True]] * 3)
    evaluation = combine([mark(trial)])
    lines = {line.metric.name: line for line in evaluation.lines}
    assert lines["accuracy"].model.value == pytest.approx(2 / 3)
    assert lines["accuracy"].guess == Score(pytest.approx(1 / 3), pytest.approx(1 / 3))
    impossible = -np.log(np.finfo(float).eps)  # class b, which the model does not know
    assert lines["log_loss"].model.value == pytest.approx((-np.log(0.9) - np.log(0.8) + impossible) / 3)
    assert lines["log_loss"].guess is not None
    assert lines["log_loss"].guess.value == pytest.approx((-np.log(0.25) - np.log(0.75) + impossible) / 3)
    np.testing.assert_array_equal(evaluation.confusion, [[1, 0, 0], [0, 0, 1], [0, 0, 1]])


class FixedNumbers(RegressorMixin, BaseEstimator):
    """Stands for a fitted regressor of one leaf."""

    def __init__(self, mean: float) -> None:
        self.forest_ = TreeRegressor(max_depth=1).fit([[0.0], [1.0]], [mean, mean]).forest_


def test_numbers_are_compared_with_the_mean_of_training() -> None:
    model = FixedNumbers(2.0)
    trial = make_trial(model, {"predict": np.array([1.0, 3.0, 4.0])}, np.array([1.0, 2.0, 5.0]))
    (lines, guessed) = (combine([mark(trial)]).lines, trial.guessed)
    found = {line.metric.name: (line.model.value, line.guess and line.guess.value) for line in lines}
    assert guessed == 2.0
    assert found["rmse"] == (pytest.approx(np.sqrt(2 / 3)), pytest.approx(np.sqrt(10 / 3)))
    assert found["mae"] == (pytest.approx(2 / 3), pytest.approx(4 / 3))
    assert "coverage" not in found


def test_the_calibration_error_of_folds_is_that_of_their_rows_together() -> None:
    rng = np.random.default_rng(0)
    score = rng.random(90)
    truth = (rng.random(90) < score).astype(np.intp)
    p = ClassPredictions((0, 1), truth, (score > 0.5).astype(np.intp), np.stack([1 - score, score], axis=1))
    guess = replace(p, label=np.zeros(90, dtype=np.intp), proba=np.full((90, 2), 0.5))
    weight = rng.integers(1, 4, 90).astype(float)
    parts = np.array_split(np.arange(90), 9)
    evaluation = combine([mark(Trial(_rows(p, at), _rows(guess, at), 0, weight[at], at)) for at in parts])
    line = evaluation.line("calibration_error")
    assert line is not None
    assert line.guess is not None
    together = metrics.expected_calibration_error(truth, p.proba, classes=[0, 1], sample_weight=weight)
    assert line.model.value == pytest.approx(together)
    assert np.isnan(line.model.error)
    alone = [metrics.expected_calibration_error(truth[at], p.proba[at], classes=[0, 1]) for at in parts]
    assert line.model.value < np.mean(alone)  # noise does not cancel within bins of few rows
    guessed = metrics.expected_calibration_error(truth, guess.proba, classes=[0, 1], sample_weight=weight)
    assert line.guess.value == pytest.approx(guessed)


# -- worse than guessing


def evaluated(n_right: int, n_rows: int, sure: float = 0.9, groups: Any = None, n_folds: int = 1) -> Evaluation:
    """A model that is right for the first rows, sure of all; two classes, of which the first has three quarters."""
    truth = (np.arange(n_rows) % 4 == 3).astype(np.intp)
    label = np.where(np.arange(n_rows) < n_right, truth, 1 - truth)
    proba = np.where(np.eye(2)[label] > 0, sure, 1 - sure)
    model = ClassPredictions(("no", "yes"), truth, label, proba)
    guess = replace(model, label=np.zeros_like(label), proba=np.broadcast_to([0.75, 0.25], (n_rows, 2)))
    groups = np.arange(n_rows) if groups is None else groups
    parts = np.array_split(np.arange(n_rows), n_folds)
    marks = [mark(Trial(_rows(model, at), _rows(guess, at), "no", np.ones(len(at)), groups[at])) for at in parts]
    return combine(marks)


def _rows(p: ClassPredictions, at: Any) -> ClassPredictions:
    return replace(p, truth=p.truth[at], label=p.label[at], proba=p.proba[at])


def test_a_model_is_worse_than_guessing_beyond_two_standard_errors_of_the_difference() -> None:
    assert evaluated(400, 400).better == {"accuracy", "auc", "log_loss", "brier"}
    assert evaluated(200, 400).worse == {"accuracy", "log_loss", "brier"}
    # Accuracy 0.75, as the guess has: the difference is 0. Sure of what is wrong, its probabilities are worse.
    tied = evaluated(300, 400, sure=0.99)
    assert "accuracy" not in tied.worse | tied.better
    assert "log_loss" in tied.worse
    for n_folds in (1, 2, 5):
        assert evaluated(200, 400, n_folds=n_folds).worse == {"accuracy", "log_loss", "brier"}


def test_the_difference_is_paired() -> None:
    n_rows = 100
    truth = (np.arange(n_rows) % 4 == 3).astype(np.intp)
    label = np.zeros(n_rows, dtype=np.intp)
    label[[0, 4, 8, 12, 16]] = 1  # five answers differ from the guess, all of them wrong
    p = ClassPredictions(("no", "yes"), truth, label, np.full((n_rows, 2), 0.5))
    guess = replace(p, label=np.zeros_like(label))
    one, rows = np.ones(n_rows), np.arange(n_rows)
    found = combine([mark(Trial(p, guess, "no", one, rows))])
    accuracy = found.line("accuracy")
    assert accuracy is not None
    assert accuracy.guess is not None
    assert accuracy.model.value == 0.70
    assert abs(accuracy.model.value - accuracy.guess.value) < 2 * accuracy.model.error  # unpaired it would be noise
    assert found.verdicts["accuracy"] == -1  # 0.05 against a standard error of 0.0219
    blocks = combine([mark(Trial(p, guess, "no", one, np.minimum(rows // 20, 4)))])
    assert blocks.verdicts == {}  # five groups say too little


@pytest.mark.parametrize(("extra", "worse"), [(0.005, False), (0.02, True)])
def test_a_difference_of_less_than_one_per_cent_does_not_matter(extra: float, worse: bool) -> None:
    n_rows = 100
    truth = np.arange(n_rows) % 2
    told = 0.5 ** (1 + extra) + 0.001 * (np.arange(n_rows) % 3 - 1)  # nearly the same loss in every row
    proba = np.where(np.eye(2)[truth] > 0, told[:, np.newaxis], 1 - told[:, np.newaxis])
    p = ClassPredictions((0, 1), truth, np.zeros(n_rows, dtype=int), proba)
    guess = replace(p, proba=np.full((n_rows, 2), 0.5))
    found = combine([mark(Trial(p, guess, 0, np.ones(n_rows), np.arange(n_rows)))])
    line = found.line("log_loss")
    assert line is not None
    assert line.model.value == pytest.approx((1 + extra) * np.log(2), rel=1e-4)
    assert (found.verdicts["log_loss"] == -1) == worse


def test_groups_are_what_is_counted() -> None:
    assert evaluated(200, 400, groups=np.arange(400) % 20).worse
    # Five of ten groups are right and five are wrong: it may as well be luck.
    assert not evaluated(200, 400, groups=np.arange(400) // 40).worse
    assert evaluated(200, 400, groups=np.arange(400) % 9).verdicts == {}


def test_rows_of_one_class_and_few_rows_cant_tell() -> None:
    assert evaluated(0, 9).verdicts == {}
    assert evaluated(0, 12).worse
    p = ClassPredictions(("no", "yes"), np.zeros(50, dtype=int), np.ones(50, dtype=int), np.full((50, 2), 0.5))
    guess = replace(p, label=np.zeros(50, dtype=int))
    assert combine([mark(Trial(p, guess, "no", np.ones(50), np.arange(50)))]).verdicts == {}


def test_advice_says_what_is_wrong_and_what_to_set() -> None:
    tree = TreeClassifier(leaf_probability="frequency")
    assert advice_on_scores(evaluated(400, 400), tree) is None
    assert advice_on_scores(evaluated(0, 9), tree) is None
    worse = advice_on_scores(evaluated(200, 400), tree)
    assert worse is not None
    assert worse.startswith("worse than guessing: accuracy 0.500, baseline 0.750; log-loss 1.204, baseline 0.562")
    assert worse.endswith(
        "Try fit with --set leaf_probability=shrinkage or --set min_samples_leaf=10; "
        "hedgerow compare shows what other models reach"
    )
    laplace = advice_on_scores(evaluated(200, 400), TreeClassifier(leaf_probability="laplace", min_samples_leaf=8))
    assert laplace is not None
    assert "Try fit with --set min_samples_leaf=16; " in laplace
    sure = advice_on_scores(evaluated(340, 400, sure=0.9999), tree)
    assert sure is not None
    assert sure.startswith("it tells classes apart, but its probabilities are worse than the class frequencies: log-")
    p = ClassPredictions(("no", "yes"), np.arange(40) % 2, np.zeros(40, dtype=int), np.full((40, 2), 0.5))
    same = combine([mark(Trial(p, p, "no", np.ones(40), np.arange(40)))])
    none = advice_on_scores(same, tree)
    assert none is not None
    assert none.startswith("no better than guessing, as far as 40 rows can tell: accuracy 0.500, baseline 0.500")


def test_a_tree_of_more_leaves_than_a_page_has_lines_is_not_readable() -> None:
    X = np.arange(200.0)[:, np.newaxis]
    large = TreeClassifier(pruning=None).fit(X, np.arange(200) % 2)
    told = advice_on_size(large)
    assert told is not None
    assert told.startswith("a tree of 200 leaves is not one that a person can read: --set max_leaf_nodes=20 grows one")
    small = TreeClassifier(pruning=None, max_leaf_nodes=30).fit(X, np.arange(200) % 2)
    assert small.forest_.n_leaves == 30
    assert len(small.to_text().splitlines()) <= 58
    assert advice_on_size(small) is None
