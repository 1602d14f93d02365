"""Rules at work in forests: one walk for all, changes without a new fit, weights of trees, and out-of-bag answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from hedgerow import ForestClassifier, RandomTreesClassifier, rules
from hedgerow.rules import FoldRule
from hedgerow.rules.base import normalised
from hedgerow.walk import fold


@pytest.fixture(params=["two classes", "three classes"])
def fitted(request: Any) -> tuple[Any, Any]:
    """A forest, and rows; some of the training rows have missing values."""
    X, y = (load_breast_cancer if request.param == "two classes" else load_iris)(return_X_y=True)
    X = X[:, :4].copy()
    X[::9, 0] = np.nan
    return RandomTreesClassifier(25, min_samples_leaf=2, random_state=0).fit(X[::2], y[::2]), X[1::2]


WITHOUT_MISSING = slice(0, 4)  # rows 1, 3, 5, 7 of the data; row 9 is the first whose value is missing


@pytest.mark.parametrize("name", rules.names(beyond=True))
def test_the_estimator_says_what_the_rule_says_of_its_counts(fitted: tuple[Any, Any], name: str) -> None:
    model, X = fitted
    rows = X[WITHOUT_MISSING]
    assert not np.isnan(rows).any()
    rule = rules.get(name)
    model.set_params(rule=name)
    counts = model.leaf_counts(rows)
    np.testing.assert_allclose(model.predict_proba(rows), rule.proba(counts, model.class_prior_), rtol=1e-10)
    if name not in ("dempster", "cautious"):  # their scores order rows in another way than their probabilities
        np.testing.assert_allclose(model.decision_function(rows), rule.decision(counts, model.class_prior_), rtol=1e-9)


@pytest.mark.parametrize("name", rules.names(beyond=True))
def test_the_decision_function_orders_rows_as_the_probabilities_do(fitted: tuple[Any, Any], name: str) -> None:
    model, X = fitted
    model.set_params(rule=name)
    probabilities, decision = model.predict_proba(X), model.decision_function(X)
    if len(model.classes_) == 2:
        order = np.argsort(decision, kind="stable")
        assert (np.diff(probabilities[order, 1]) >= -1e-12).all()
        clear = np.abs(probabilities[:, 1] - 0.5) > 1e-12
        assert ((decision > 0) == (probabilities[:, 1] > 0.5))[clear].all()
    else:
        assert decision.shape == probabilities.shape
        np.testing.assert_array_equal(decision.argmax(axis=1), probabilities.argmax(axis=1))


@pytest.mark.parametrize("name", ["dempster", "cautious"])
def test_belief_decides_by_the_difference_of_pignistic_probabilities(name: str) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = RandomTreesClassifier(10, rule=name, random_state=0).fit(X, y)
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(model.decision_function(X), probabilities[:, 1] - probabilities[:, 0], atol=1e-14)


def test_all_rules_in_one_walk(fitted: tuple[Any, Any]) -> None:
    model, X = fitted
    scores = rules.compare(model, X)
    n_classes = len(model.classes_)
    assert scores.shape == ((len(X), 9) if n_classes == 2 else (len(X), 9, n_classes))
    for number, name in enumerate(rules.names()):
        model.set_params(rule=name)
        rule = rules.get(name)
        assert isinstance(rule, FoldRule)
        table = rule.table_of(model.forest_.distinct_counts, model.class_prior_)
        folded = fold(model.forest_, np.ascontiguousarray(X), [table])[0]
        alone = rule.score(folded, model.forest_.n_trees, model.class_prior_)
        assert scores[:, number].tobytes() == np.ascontiguousarray(alone).tobytes()


def test_tables_for_some_trees_at_a_time_change_no_bit(fitted: tuple[Any, Any], monkeypatch: Any) -> None:
    model, X = fitted
    expected = rules.compare(model, X, ["evidence", "cautious", "pool"])
    for most_bytes in (1, 20_000):
        monkeypatch.setattr("hedgerow.rules.registry._TABLE_BYTES", most_bytes)
        assert rules.compare(model, X, ["evidence", "cautious", "pool"]).tobytes() == expected.tobytes()


def test_compare_refuses_rules_without_a_fold(fitted: tuple[Any, Any]) -> None:
    model, X = fitted
    with pytest.raises(ValueError, match="rule median has no fold"):
        rules.compare(model, X, ["median"])


class Geometric(FoldRule):
    """A user's own: the normalised product."""

    fold = ("log", "sum")

    def table(self, counts: Any, prior: Any) -> Any:
        return normalised(counts + 1.0)

    def finish(self, folded: Any, n_trees: Any, prior: Any) -> Any:
        return normalised(np.exp(folded - folded.max(axis=1, keepdims=True)))


class Parts:
    """A user's own that knows nothing of ours."""

    fold = ("identity", "sum")
    columns = slice(None)

    def table(self, counts: Any, prior: Any) -> Any:
        return counts

    def finish(self, folded: Any, n_trees: Any, prior: Any) -> Any:
        return (folded / folded.sum(axis=1, keepdims=True))[:, self.columns]


def test_rules_of_ones_own(fitted: tuple[Any, Any]) -> None:
    model, X = fitted
    evidence = rules.Evidence(correction=1.0)  # with a uniform prior the same as Geometric
    uniform = np.full(len(model.classes_), 1 / len(model.classes_))
    counts = model.leaf_counts(X[WITHOUT_MISSING])
    own = model.set_params(rule=Geometric()).predict_proba(X[WITHOUT_MISSING])
    np.testing.assert_allclose(own, evidence.proba(counts, uniform), rtol=1e-9)
    pooled = model.set_params(rule="pool").predict_proba(X)
    np.testing.assert_allclose(model.set_params(rule=Parts()).predict_proba(X), pooled)
    short = Parts()
    short.columns = slice(1)
    with pytest.raises(ValueError, match=r"rule Parts: finish returned shape"):
        model.set_params(rule=short).predict_proba(X)


def test_the_lectures_majority() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    forest = ForestClassifier(25, rule="vote", random_state=0).fit(X, y)
    votes = forest.leaf_counts(X).argmax(axis=2)
    np.testing.assert_allclose(forest.predict_proba(X)[:, 1], votes.mean(axis=1))


# -- weights of trees


def test_weights_of_trees_weigh_their_votes() -> None:
    X, y = load_iris(return_X_y=True)
    weights = np.arange(10.0)
    forest = ForestClassifier(10, rule="vote", tree_weights=weights, random_state=0).fit(X, y)
    votes = forest.leaf_counts(X).argmax(axis=2)
    expected = np.stack([((votes == k) * weights).sum(axis=1) / weights.sum() for k in range(3)], axis=1)
    np.testing.assert_allclose(forest.predict_proba(X), expected, atol=1e-15)


@pytest.mark.parametrize("name", rules.names())
def test_equal_weights_are_none_and_a_weight_of_0_leaves_a_tree_out(name: str) -> None:
    X, y = load_iris(return_X_y=True)
    forest = ForestClassifier(6, rule=name, calibration=None, random_state=0).fit(X, y)
    plain = forest.predict_proba(X)
    np.testing.assert_allclose(forest.set_params(tree_weights=[3.0] * 6).predict_proba(X), plain, rtol=1e-12)
    few = ForestClassifier(3, rule=name, calibration=None, random_state=0).fit(
        X, y
    )  # the first three trees are the same
    weighted = forest.set_params(tree_weights=[1, 1, 1, 0, 0, 0]).predict_proba(X)
    if name in ("probability", "laplace", "plausibility", "confidence", "vote", "pool", "cautious"):
        np.testing.assert_allclose(weighted, few.predict_proba(X), rtol=1e-12)
    else:  # three trees that count twice each: their evidence is that of six
        counts = np.repeat(few.leaf_counts(X), 2, axis=1)
        np.testing.assert_allclose(weighted, rules.get(name).proba(counts, few.class_prior_), rtol=1e-9, atol=1e-300)


def test_trees_count_by_their_accuracy_out_of_the_bag() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    weight = np.where(np.arange(len(y)) % 5, 1.0, 2.0)
    forest = ForestClassifier(8, tree_weights="oob", max_depth=2, calibration=None, random_state=0).fit(X, y, weight)
    plain = ForestClassifier(8, oob_score=True, max_depth=2, calibration=None, random_state=0)
    # One tree at a time: what is out of its bag has an out-of-bag answer of a forest whose other trees weigh nothing.
    for tree, found in enumerate(forest.tree_weights_):
        with pytest.warns(UserWarning, match="in the bag of every tree"):
            alone = plain.set_params(tree_weights=np.eye(8)[tree]).fit(X, y, weight)
        answers = alone.oob_decision_function_
        unseen = ~np.isnan(answers[:, 0])
        right = answers[unseen].argmax(axis=1) == y[unseen]
        np.testing.assert_allclose(found, np.average(right, weights=weight[unseen]))
    expected = np.average(normalised(forest.leaf_counts(X)), axis=1, weights=forest.tree_weights_)
    np.testing.assert_allclose(forest.predict_proba(X), expected)


def test_a_tree_that_has_seen_every_row_counts_as_much_as_the_others_on_average() -> None:
    X, y = np.zeros((1, 1)), [0]
    forest = ForestClassifier(3, tree_weights=[1, 2, 3], random_state=0).fit(X, y)
    assert forest.predict_proba(X).tolist() == [[1.0]]
    with pytest.raises(ValueError, match="no tree has a row out of its bag"):
        ForestClassifier(3, tree_weights="oob", random_state=0).fit(X, y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tree_weights": "accuracy"}, "tree_weights is 'accuracy'"),
        ({"tree_weights": "oob", "bootstrap": False}, "needs bootstrap=True"),
        ({"tree_weights": [1, 2]}, r"tree_weights has shape \(2,\), must have a number for each of 5 trees"),
        ({"tree_weights": [0] * 5}, "not all 0"),
        ({"tree_weights": [1, 1, 1, 1, -1]}, "not negative"),
        ({"tree_weights": [1, 1, 1, 1, np.nan]}, "finite"),
        ({"oob_score": True, "rule": "median"}, "oob_score needs a rule that folds, median does not"),
    ],
)
def test_weights_that_make_no_sense_are_refused(settings: dict[str, Any], message: str) -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        ForestClassifier(5, **settings).fit(X, y)


def test_weights_set_after_fit() -> None:
    X, y = load_iris(return_X_y=True)
    forest = ForestClassifier(5, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="was set after fit"):
        forest.set_params(tree_weights="oob").predict(X)
    with pytest.raises(ValueError, match="rule median can't weigh trees"):
        forest.set_params(tree_weights=[1, 2, 3, 4, 5], rule="median").predict(X)


# -- out of the bag


@pytest.mark.parametrize("name", rules.names())
def test_out_of_bag_answers_follow_the_rule(name: str) -> None:
    X, y = load_iris(return_X_y=True)
    forest = ForestClassifier(30, rule=name, oob_score=True, random_state=0).fit(X, y)
    in_bag = np.isnan(forest.oob_decision_function_).any(axis=1)
    assert not in_bag.any()
    np.testing.assert_allclose(forest.oob_decision_function_.sum(axis=1), 1)
    assert forest.oob_score_ == (forest.oob_decision_function_.argmax(axis=1) == y).mean()
    assert forest.oob_score_ > 0.8
    assert (forest.oob_decision_function_ != forest.predict_proba(X)).any()


# -- how unsure


def test_plausibility_tells_a_lack_of_samples_from_noise(fitted: tuple[Any, Any]) -> None:
    model, X = fitted
    rows = X[WITHOUT_MISSING]
    found = model.predict_uncertainty(rows, measure="plausibility")
    counts = model.leaf_counts(rows)
    classes = [1] if counts.shape[2] == 2 else range(counts.shape[2])
    degrees = [rules.plausibility_degrees(counts[..., k], counts.sum(axis=2) - counts[..., k]) for k in classes]
    np.testing.assert_allclose(found.epistemic, np.mean([d.epistemic for d in degrees], axis=0).mean(axis=1))
    np.testing.assert_allclose(found.aleatoric, np.mean([d.aleatoric for d in degrees], axis=0).mean(axis=1))
    np.testing.assert_allclose(found.total, found.aleatoric + found.epistemic)
    assert found.measure == "plausibility"


def test_more_samples_take_away_what_is_epistemic() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = RandomTreesClassifier(25, min_samples_leaf=20, random_state=0).fit(X, y)
    before = model.predict_uncertainty(X, "plausibility")
    for _ in range(20):
        model.partial_fit(X, y)
    after = model.predict_uncertainty(X, "plausibility")
    assert after.epistemic.mean() < before.epistemic.mean() / 5
    assert after.aleatoric.mean() > before.aleatoric.mean() / 2


def test_an_unknown_measure_is_refused(fitted: tuple[Any, Any]) -> None:
    model, X = fitted
    with pytest.raises(ValueError, match="measure is 'variance', must be 'entropy', 'leaf_entropy' or 'plausibility'"):
        model.predict_uncertainty(X, measure="variance")


def test_compare_can_use_the_first_trees_only(fitted: tuple[Any, Any]) -> None:
    model, X = fitted
    found = rules.compare(model, X, n_trees=3)
    weights = (np.arange(model.forest_.n_trees) < 3).astype(np.float64)
    for name, scores in zip(rules.names(), np.moveaxis(found, 1, 0), strict=True):
        rule = rules.get(name)
        assert isinstance(rule, FoldRule)
        table = rule.table_of(model.forest_.distinct_counts, model.class_prior_)
        folded = fold(model.forest_, np.ascontiguousarray(X), [table], tree_weights=weights)[0]
        np.testing.assert_array_equal(scores, rule.score(folded, 3, model.class_prior_))
    with pytest.raises(ValueError, match=r"n_trees is 10000, but the model has \d+ trees"):
        rules.compare(model, X, n_trees=10_000)
