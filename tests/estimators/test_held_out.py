"""What fit chooses by held-out rows: the exponent of a rule, the size of leaves; and leave-one-out answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.metrics import log_loss

from effort import examples
from hedgerow import ForestClassifier, ForestRegressor, RandomTreesClassifier, RuleClassifier, rules
from hedgerow.estimators.fitting.calibration import HeldOut, best_exponent
from hedgerow.estimators.fitting.node_sizes import NodeSizes
from hedgerow.rules import Calibrated, Evidence, Probability
from hedgerow.walk import fold, route, tally
from strategies import mixed_data

several = settings(max_examples=examples(8, 25), deadline=None)


def coin_flips(n_rows: int, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, 5)), rng.integers(0, 2, n_rows)


# -- the exponent


@several
@given(seed=st.integers(0, 10_000), n_classes=st.integers(2, 4), scale=st.sampled_from([0.1, 1.0, 30.0]))
def test_the_exponent_has_the_least_log_loss(seed: int, n_classes: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    evidence = scale * rng.normal(size=(60, n_classes))
    prior = rng.dirichlet(np.full(n_classes, 3.0))
    held_out = HeldOut(rng.integers(0, n_classes, 60).astype(np.int32), rng.random(60), prior, 60)

    def loss(t: float) -> float:
        logs = np.log(prior) + t * evidence
        shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        of_truth = (shares / shares.sum(axis=1, keepdims=True))[np.arange(60), held_out.codes]
        return float((held_out.weight * -np.log(np.maximum(of_truth, 1e-300))).sum())

    found, mean_loss = best_exponent(evidence, held_out, most=4.0, pull=0.0)
    slow = minimize_scalar(loss, bounds=(1e-3, 4.0), method="bounded", options={"xatol": 1e-9})
    assert loss(found) <= slow.fun + 1e-6 * abs(slow.fun)
    assert mean_loss == pytest.approx(loss(found) / held_out.weight.sum(), rel=1e-9)


def test_few_rows_pull_the_exponent_to_one() -> None:
    sure = np.array([[2.0, -2.0], [-2.0, 2.0]])
    held_out = HeldOut(np.array([0, 1], np.int32), np.ones(2), np.array([0.5, 0.5]), 2)
    assert best_exponent(sure, held_out, most=4.0, pull=0.0)[0] == pytest.approx(4.0, rel=1e-4)
    assert 1.0 < best_exponent(sure, held_out, most=4.0, pull=1.0)[0] < 1.2


# -- node sizes


def test_cutting_small_nodes_is_growing_with_the_least_size_that_is_split() -> None:
    """Draws are addressed by path, so both are the same forest where every row counts once."""
    X, y = load_breast_cancer(return_X_y=True)
    settings: dict[str, Any] = {"n_estimators": 5, "bootstrap": False, "random_state": 0, "splitter": "random"}
    full = ForestClassifier(**settings, min_samples_split=2).fit(X, y).forest_
    for size in (2, 4, 16):
        cut = NodeSizes.of(full, [size]).cut(size)
        grown = ForestClassifier(**settings, min_samples_split=size).fit(X, y).forest_
        np.testing.assert_array_equal(route(cut, X), route(grown, X))
        np.testing.assert_array_equal(cut.counts, grown.counts)


def test_tables_of_sizes_are_those_of_the_cut_forests() -> None:
    X, y = load_iris(return_X_y=True)
    forest = ForestClassifier(7, random_state=0, min_samples_split=2).fit(X, y).forest_
    prior = np.full(3, 1 / 3)
    cuts = NodeSizes.of(forest, [2, 8, 40])
    for size, table in zip(cuts.sizes, cuts.tables(Probability().leaf_table(cuts.values, prior)), strict=True):
        cut = cuts.cut(size)
        expected = fold(cut, X, [Probability().table_of(cut.distinct_counts, prior)])
        np.testing.assert_array_equal(fold(forest, X, [table])[0], expected[0])


def noisy_numbers(n_rows: int, noise: float) -> tuple[Any, Any]:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(n_rows, 3)).round(1)
    return X, X[:, 0] + noise * rng.normal(size=n_rows)


@pytest.mark.parametrize("noise", [0.01, 2.0])
def test_a_regression_forest_takes_the_size_with_the_least_squared_error_out_of_bag(noise: float) -> None:
    X, y = noisy_numbers(120, noise)
    model = ForestRegressor(15, random_state=0).fit(X, y)
    errors = []
    for size in (4, 8, 16, 32):
        forest = ForestRegressor(15, random_state=0, min_samples_split=size)
        bags = forest._fit_and_keep_bags(X, y)
        assert bags is not None
        leaves = forest.apply(X) + forest.forest_.leaf_start[:-1]
        seen = np.unpackbits(bags.seen, axis=1, count=len(X), bitorder="little").T.astype(bool)
        means = np.ma.masked_array(forest.forest_.stats[leaves, 1], seen).mean(axis=1)
        errors.append(((y - means) ** 2).sum())
    # Growth counts rows, and a cut draws: where they differ for a node the errors do in a few per cent.
    chosen = (4, 8, 16, 32).index(model.min_samples_split_)
    assert errors[chosen] <= 1.03 * min(errors)
    assert model.min_samples_split_ == (4 if noise < 1 else 32)


def test_targets_of_leaves_are_those_of_the_rows_that_reach_them_after_a_cut() -> None:
    X, y = noisy_numbers(200, 1.0)
    X[::9, 1] = np.nan
    model = ForestRegressor(4, bootstrap=False, random_state=0, missing="learned").fit(X, y)
    assert model.min_samples_split_ == 4  # no rows are out of a bag
    grown = ForestRegressor(4, bootstrap=False, random_state=0, missing="learned", min_samples_split=2).fit(X, y)
    for size in (4, 16, 10_000):
        cuts = NodeSizes.of(grown.forest_, [size])
        samples = grown.leaf_samples_
        rows = samples.start, samples.ranks, np.ones(len(samples.ranks))
        start, ranks, _ = cuts.gather(rows, size)
        cut = cuts.cut(size)
        leaves = route(cut, X) + cut.leaf_start[:-1]
        assert len(start) == cut.n_leaves + 1
        for leaf in range(cut.n_leaves):
            reached = np.sort(y[np.flatnonzero((leaves == leaf).any(axis=1))])
            np.testing.assert_array_equal(np.sort(samples.values[ranks[start[leaf] : start[leaf + 1]]]), reached)
            np.testing.assert_allclose(cut.stats[leaf, 1], reached.mean(), atol=1e-12)


def test_a_refit_forgets_the_size_and_the_score_of_an_earlier_one() -> None:
    X, y = noisy_numbers(60, 1.0)
    model = ForestRegressor(5, oob_score=True, random_state=0)
    with pytest.warns(UserWarning, match="in the bag of every tree"):
        model.fit(X, y)
    model.set_params(oob_score=False, min_samples_split=5).fit(X, y)
    assert not {"min_samples_split_", "oob_score_", "oob_prediction_"} & set(vars(model))


# -- forests


def test_calibration_lowers_the_log_loss_of_new_rows() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    plain, calibrated = (
        ForestClassifier(random_state=0, calibration=how).fit(X[::2], y[::2]).predict_proba(X[1::2])
        for how in (None, "auto")
    )
    assert log_loss(y[1::2], calibrated) < log_loss(y[1::2], plain)


def test_out_of_bag_answers_are_calibrated_too() -> None:
    X, y = mixed_data(300)
    model = ForestClassifier(40, oob_score=True, random_state=0, min_samples_split=2).fit(X, y)
    plain = ForestClassifier(40, oob_score=True, random_state=0, min_samples_split=2, calibration=None).fit(X, y)
    assert isinstance(model.rule_, Calibrated)
    assert not hasattr(plain, "rule_")
    floor, t, prior = model.rule_.floor, model.rule_.sharpness, model.class_prior_
    odds = prior * (((1 - 3 * floor) * plain.oob_decision_function_ + floor) / prior) ** t
    np.testing.assert_allclose(model.oob_decision_function_, odds / odds.sum(axis=1, keepdims=True), rtol=1e-10)
    assert log_loss(y, model.oob_decision_function_) <= log_loss(y, np.clip(plain.oob_decision_function_, 1e-9, 1))


def test_on_coin_flips_a_forest_answers_the_class_frequencies() -> None:
    X, y = coin_flips(600)
    X_new, _ = coin_flips(200, seed=1)
    shares = ForestClassifier(random_state=0).fit(X, y).predict_proba(X_new)
    assert np.abs(shares - 0.5).max() < 0.25
    tempered = RandomTreesClassifier(random_state=0).fit(X, y).predict_proba(X_new)
    assert np.abs(tempered - 0.5).max() < 0.25


def test_a_changed_rule_is_not_calibrated() -> None:
    X, y = mixed_data()
    model = ForestClassifier(20, random_state=0).fit(X, y)
    other = RuleClassifier.from_fitted(model, rule="vote")
    np.testing.assert_array_equal(model.set_params(rule="vote").predict_proba(X), other.predict_proba(X))
    with pytest.raises(ValueError, match="has no temper yet"):
        model.set_params(rule="tempered").predict_proba(X)


def test_any_rule_that_folds_can_be_calibrated() -> None:
    X, y = mixed_data()
    for rule in rules.names():
        model = ForestClassifier(20, rule=rule, calibration="oob", random_state=0).fit(X, y)
        assert model.rule_.before_fit == rules.get(rule)
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    tempered = ForestClassifier(20, rule="tempered", random_state=0).fit(X, y)
    assert isinstance(tempered.rule_, Evidence)
    assert 0 < tempered.rule_.temper <= 1


def test_a_refit_forgets_what_an_earlier_fit_chose() -> None:
    X, y = mixed_data()
    model = ForestClassifier(10, random_state=0).fit(X, y)
    assert model.min_samples_split_ in (2, 4, 8, 16)
    model.set_params(calibration=None, min_samples_split=4).fit(X, y)
    assert not hasattr(model, "rule_")
    assert not hasattr(model, "min_samples_split_")


def test_many_rows_are_thinned_for_calibration_and_the_answer_hardly_changes() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12_000, 3))
    y = (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int)
    thinned = ForestClassifier(20, random_state=0, min_samples_split=8).fit(X, y)
    whole = ForestClassifier(20, random_state=0, min_samples_split=8, oob_score=True).fit(X, y)
    # The estimate's standard error from 4,000 rows is about 0.03 here: twelve standard errors are no accident.
    assert thinned.rule_.sharpness == pytest.approx(whole.rule_.sharpness, abs=0.1)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"calibration": "oob", "bootstrap": False}, "calibration='oob' needs bootstrap=True"),
        ({"rule": "tempered", "bootstrap": False}, "rule 'tempered' needs bootstrap=True"),
        ({"calibration": "isotonic"}, "calibration is 'isotonic', must be 'oob', 'auto' or None"),
        ({"calibration": "oob", "rule": "median"}, "needs a rule that folds, median does not"),
        ({"calibration": "oob", "rule": "tempered"}, "is calibrated by its temper"),
        ({"min_samples_split": "automatic"}, "min_samples_split is 'automatic', must be .* or 'auto'"),
    ],
)
def test_settings_that_do_not_fit_together_are_refused(settings: dict[str, Any], message: str) -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        ForestClassifier(5, **settings).fit(X, y)


def test_without_bootstrap_nothing_is_calibrated() -> None:
    X, y = load_iris(return_X_y=True)
    model = ForestClassifier(5, bootstrap=False, random_state=0).fit(X, y)
    assert not hasattr(model, "rule_")
    np.testing.assert_allclose(
        model.predict_proba(X), RuleClassifier.from_fitted(model, "probability").predict_proba(X)
    )


# -- leave-one-out


@st.composite
def problems(draw: st.DrawFn) -> tuple[Any, Any, Any]:
    n_rows, n_columns = draw(st.integers(2, 20)), draw(st.integers(1, 3))
    cell = st.one_of(st.integers(0, 3).map(float), st.floats(-2, 2), st.just(np.nan))
    X = draw(st.lists(st.lists(cell, min_size=n_columns, max_size=n_columns), min_size=n_rows, max_size=n_rows))
    y = np.array(draw(st.lists(st.integers(0, 2), min_size=n_rows, max_size=n_rows)))
    some = draw(st.sampled_from([[1.0], [0.0, 1.0, 2.0], [0.25, 1.5]]))
    weight = np.array(draw(st.lists(st.sampled_from(some), min_size=n_rows, max_size=n_rows)))
    weight[0] = 1.0
    return np.array(X), y, weight


@several
@given(
    problem=problems(),
    rule=st.sampled_from(["probability", "evidence", "dempster", "cautious", "pool", "tempered"]),
    leaf=st.sampled_from([1, 2, "auto"]),
    missing=st.sampled_from(["fractional", "category"]),
)
@pytest.mark.filterwarnings("ignore:.*leave-one-out has nothing left")
def test_leave_one_out_is_counting_without_the_row(problem: Any, rule: str, leaf: Any, missing: str) -> None:
    X, y, weight = problem
    model = RandomTreesClassifier(
        4, rule=rule, min_samples_leaf=leaf, missing=missing, loo_score=True, random_state=0
    ).fit(X, y, sample_weight=weight)
    forest, prior, combine = model.forest_, model.class_prior_, model._rule()
    codes, weight = np.searchsorted(model.classes_, y).astype(np.int32), weight / model.weight_unit_
    rows = model.schema_.read(X)
    for i in range(len(X)):
        row = np.ascontiguousarray(rows[i : i + 1])
        own = tally(forest, row, codes[i : i + 1], weight[i : i + 1])
        left = forest.counts - own
        without = forest.with_counts(np.where(left > 1e-9 * forest.counts, left, 0.0))
        table = combine.table_of(without.distinct_counts, prior)
        expected = combine.finish(fold(without, row, [table])[0], forest.n_trees, prior)[0]
        np.testing.assert_allclose(model.loo_decision_function_[i], expected, rtol=1e-9, atol=1e-12)
    right = model.loo_decision_function_.argmax(axis=1) == codes
    assert model.loo_score_ == pytest.approx((weight * right).sum() / weight.sum())


def test_leave_one_out_foretells_the_accuracy_on_new_rows() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = RandomTreesClassifier(loo_score=True, random_state=0).fit(X[::2], y[::2])
    assert model.min_samples_leaf_ in (2, 4, 8, 16, 32)
    # Both are shares of 284 rows: standard errors of about 0.013 each.
    assert model.loo_score_ == pytest.approx(model.score(X[1::2], y[1::2]), abs=0.05)


def test_leaves_of_single_rows_are_pointed_out() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.warns(UserWarning, match="hold nothing but the row: leave-one-out has nothing left"):
        RandomTreesClassifier(5, min_samples_leaf=1, max_depth=None, loo_score=True, random_state=0).fit(X, y)


def test_leave_one_out_is_refused_where_it_can_not_be_right() -> None:
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="loo_score needs a rule that folds, median does not"):
        RandomTreesClassifier(5, rule="median", loo_score=True).fit(X, y)
    model = RandomTreesClassifier(5, loo_score=True, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="partial_fit keeps none"):
        model.partial_fit(X, y)


def test_one_class_needs_no_temper() -> None:
    model = RandomTreesClassifier(3, random_state=0).fit([[0.0], [1.0]], ["a", "a"])
    np.testing.assert_array_equal(model.predict_proba([[5.0]]), [[1.0]])
    forest = ForestClassifier(3, random_state=0).fit([[0.0], [1.0]], ["a", "a"])
    np.testing.assert_array_equal(forest.predict_proba([[5.0]]), [[1.0]])
