"""The jackknife+ after bootstrap: what sets and intervals are made of, beside its literal form, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification, make_friedman1
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression

import hedgerow
from hedgerow import (
    CautiousForestClassifier,
    ConformalClassifier,
    ConformalRegressor,
    ForestClassifier,
    ForestRegressor,
    RuleClassifier,
)
from hedgerow.conformal import NormalizedError
from oracles import conformal as oracle

PLAIN = ForestClassifier(19, calibration=None, min_samples_split=2, random_state=0)
NUMBERS = ForestRegressor(19, random_state=0)


def three_classes(n_rows=160, seed=0):
    return make_classification(
        n_rows, 6, n_informative=4, n_classes=3, n_clusters_per_class=1, class_sep=0.7, random_state=seed
    )


def numbers(n_rows=160, seed=0):
    return make_friedman1(n_rows, noise=1.0, random_state=seed)


@pytest.mark.parametrize("coverage", [0.6, 0.9])
def test_intervals_are_those_of_the_paper(coverage):
    X, y = numbers()
    model = ConformalRegressor(NUMBERS, coverage, "absolute", "jackknife+").fit(X[:120], y[:120])
    twin = clone(NUMBERS)
    bags = twin._fit_and_keep_bags(X[:120], y[:120])
    means = twin.forest_.stats[:, 1]
    own = oracle.out_of_bag(bags, means)
    errors = [abs(target - mean) for target, mean in zip(y[:120], own, strict=True) if mean is not None]
    about_new = oracle.without_each_row(bags, X[120:], means)
    expected = [oracle.jackknife_interval(said, errors, coverage) for said in about_new]
    np.testing.assert_allclose(model.predict_interval(X[120:]), expected)


@pytest.mark.parametrize("coverage", [0.6, 0.9])
def test_sets_have_the_classes_whose_p_value_is_large_enough(coverage):
    X, y = three_classes()
    model = ConformalClassifier(PLAIN, coverage, method="jackknife+", allow_empty=True).fit(X[:120], y[:120])
    twin = clone(PLAIN)
    bags = twin._fit_and_keep_bags(X[:120], y[:120])
    shares = twin.leaf_probabilities()
    known = [(p, code) for p, code in zip(oracle.out_of_bag(bags, shares), y[:120], strict=True) if p is not None]
    own = [oracle.lac(p)[code] for p, code in known]
    expected = [
        oracle.jackknife_set([oracle.lac(p) for p in said], own, coverage)
        for said in oracle.without_each_row(bags, X[120:], shares)
    ]
    np.testing.assert_array_equal(model.predict_set(X[120:]), expected)
    whole = model.set_params(allow_empty=False).predict_set(X[120:])
    assert whole.any(axis=1).all()
    np.testing.assert_array_equal(whole[np.any(expected, axis=1)], np.array(expected)[np.any(expected, axis=1)])


@pytest.mark.parametrize("rule", ["probability", "dempster", "cautious", "evidence"])
def test_about_its_own_row_an_ensemble_gives_the_out_of_bag_answer(rule):
    X, y = three_classes(90)
    X[::5, 1] = np.nan  # rows that are spread over leaves, whose links are applied to means
    forest = ForestClassifier(11, rule=rule, random_state=0)
    model = ConformalClassifier(forest, method="jackknife+").fit(X, y)
    seen = np.unpackbits(clone(forest)._fit_and_keep_bags(X, y).seen, axis=1, count=90, bitorder="little")
    rows = np.flatnonzero(~seen.all(axis=0))
    found = [
        answers["predict_proba"].reshape(-1, len(rows), 3)
        for _, answers in model._ask_ensembles(model._read(X[rows]), {"predict_proba": {}})
    ]
    pairs = np.concatenate(found)
    np.testing.assert_allclose(pairs[np.arange(len(rows)), np.arange(len(rows))], model.calibration_.proba)


@pytest.mark.parametrize("sides", ["both", "each", "lower", "upper"])
@pytest.mark.parametrize("name", ["absolute", "normalized"])
def test_intervals_hold_the_target_about_as_often_as_promised(name, sides):
    X, y = numbers(700)
    model = ConformalRegressor(NUMBERS, 0.8, name, "jackknife+", sides=sides).fit(X[:300], y[:300])
    lower, upper = model.predict_interval(X[300:]).T
    # Standard error of the share of 400 rows 0.02, and of the quantile of 300 rows 0.023: four of both.
    assert abs(((lower <= y[300:]) & (y[300:] <= upper)).mean() - 0.8) < 4 * np.hypot(0.02, 0.023)
    assert np.isinf(lower).all() == (sides == "upper")
    assert np.isinf(upper).all() == (sides == "lower")


def test_each_end_has_errors_of_its_own():
    X, y = numbers()
    settings = {"coverage": 0.8, "conformity_score": NormalizedError(0.3), "method": "jackknife+"}
    each = ConformalRegressor(NUMBERS, sides="each", **settings).fit(X, y).predict_interval(X)
    # An end of half of what is not covered is that of the one-sided interval with this coverage.
    lower = ConformalRegressor(NUMBERS, sides="lower", **settings).fit(X, y).predict_interval(X, coverage=0.9)
    upper = ConformalRegressor(NUMBERS, sides="upper", **settings).fit(X, y).predict_interval(X, coverage=0.9)
    np.testing.assert_array_equal(each, np.stack([lower[:, 0], upper[:, 1]], axis=1))
    quantiles = ConformalRegressor(NUMBERS, sides="both", **settings).fit(X, y).predict_quantiles(X, (0.1, 0.9))
    np.testing.assert_array_equal(quantiles, each)


@pytest.mark.parametrize("name", ["lac", "aps", "raps", "bounds"])
@pytest.mark.parametrize("randomized", [False, True])
def test_sets_hold_the_truth_about_as_often_as_promised(name, randomized):
    X, y = three_classes(700)
    estimator = CautiousForestClassifier(19, s=1, random_state=0) if name == "bounds" else PLAIN
    model = ConformalClassifier(
        estimator, 0.8, name, "jackknife+", randomized=randomized, allow_empty=True, random_state=0
    ).fit(X[:300], y[:300])
    found = model.predict_set(X[300:])[np.arange(400), y[300:]].mean()
    assert found > 0.8 - 4 * np.hypot(0.02, 0.023)
    if randomized:  # without ties nothing is kept that need not be
        assert found < 0.8 + 4 * np.hypot(0.02, 0.023)


def test_groups_are_compared_with_their_own_rows():
    X, y = three_classes(300)
    model = ConformalClassifier(PLAIN, 0.8, method="jackknife+", groups="class").fit(X, y)
    levels = np.array([one.levels for one in model.explain(X[:20])])
    n_rows = model.calibration_.rows_by_group()
    counted = levels * (n_rows + 1)
    np.testing.assert_allclose(counted, counted.round(), atol=1e-9)

    X, y = numbers(300)
    frame = pd.DataFrame(X).add_prefix("x").assign(site=np.where(np.arange(300) % 2, "steady", "noisy"))
    y = y + np.where(frame.site == "noisy", 6, 0) * np.random.default_rng(0).normal(size=300)
    model = ConformalRegressor(NUMBERS, 0.8, "absolute", "jackknife+", groups="site").fit(frame, y)
    widths = np.diff(model.predict_interval(frame))[:, 0]
    assert widths[::2].mean() > 1.5 * widths[1::2].mean()
    alone = clone(model).set_params(groups=None).fit(frame, y)
    np.testing.assert_array_equal(
        model.predict_interval(frame[:5].assign(site="elsewhere")),
        alone.predict_interval(frame[:5].assign(site="elsewhere")),
    )


def test_a_row_of_weight_two_is_two_calibration_rows():
    X, y = numbers(120)
    weight = np.where(np.arange(120) < 60, 2.0, 1.0)
    model = ConformalRegressor(NUMBERS, 0.8, "absolute", "jackknife+").fit(X, y, weight)
    calibration, counts = model.calibration_, np.where(model.calibration_.weight > 1, 2, 1)
    for some, answers in model._ask_ensembles(X[:4], {"predict": {}}):
        about_new = answers["predict"].reshape(some.stop, -1)
        errors = np.repeat(calibration.scores.max(axis=1), counts)
        expected = [oracle.jackknife_interval(np.repeat(said, counts), errors, 0.8) for said in about_new]
        np.testing.assert_allclose(model.predict_interval(X[:4]), expected)


@pytest.mark.parametrize("estimator", [RandomForestClassifier(15, random_state=0), RuleClassifier(PLAIN, "pool")])
def test_other_forests_of_classes_are_asked_too(estimator, tmp_path):
    X, y = three_classes()
    model = ConformalClassifier(estimator, 0.8, method="jackknife+").fit(X, y)
    sets = model.predict_set(X)
    assert sets[np.arange(len(y)), y].mean() > 0.8
    assert "Kept above a coverage of" in str(model.explain(X[:1])[0])


def test_other_forests_of_numbers_are_asked_too():
    X, y = numbers()
    model = ConformalRegressor(RandomForestRegressor(15, random_state=0), 0.8, method="jackknife+").fit(X, y)
    lower, upper = model.predict_interval(X).T
    assert ((lower <= y) & (y <= upper)).mean() > 0.8


def test_models_survive_their_files_and_rows_do_not_depend_on_each_other(tmp_path):
    X, y = three_classes()
    for model in (
        ConformalClassifier(ForestClassifier(19, tree_weights="oob", random_state=0), 0.7, method="jackknife+"),
        ConformalRegressor(NUMBERS, 0.7, method="jackknife+"),
    ):
        model.fit(X, y)
        verb = "predict_set" if hasattr(model, "predict_set") else "predict_interval"
        together = getattr(model, verb)(X)
        hedgerow.save(model, tmp_path / "model.hedgerow")
        np.testing.assert_array_equal(getattr(hedgerow.load(tmp_path / "model.hedgerow"), verb)(X), together)
        np.testing.assert_array_equal([getattr(model, verb)(X[i : i + 1])[0] for i in range(20)], together[:20])
        assert "ensembles_" not in vars(model.set_params(method="oob").fit(X, y))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"conformity_score": "cqr"}, "can't for conformity_score Cqr, which reads quantiles"),
        ({"estimator": LinearRegression()}, r"method='jackknife\+' needs a forest of bootstrap samples"),
        (
            {"estimator": ForestRegressor(5, bootstrap=False)},
            r"method='jackknife\+' needs a forest with bootstrap=True",
        ),
        ({"coverage": 0.999}, "need at least 999 calibration samples, and there are 60"),
    ],
)
def test_what_makes_no_sense_is_refused(settings, message):
    X, y = numbers(60)
    with pytest.raises(ValueError, match=message):
        ConformalRegressor(ForestRegressor(60, random_state=0), method="jackknife+").set_params(**settings).fit(X, y)
