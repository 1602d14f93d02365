from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression

from hedgerow import (
    BoundaryClassifier,
    CautiousClassifier,
    CautiousForestClassifier,
    ConformalClassifier,
    ConformalRegressor,
    ForestClassifier,
    ForestRegressor,
    MeasuredBoostingClassifier,
    MeasuredBoostingRegressor,
    MeasuredForestClassifier,
    MeasuredForestRegressor,
    MeasuredTreeClassifier,
    MeasuredTreeRegressor,
    NaiveBayesTreeClassifier,
    ObliqueForestClassifier,
    ObliqueTreeClassifier,
    RandomTreesClassifier,
    TreeClassifier,
    TreeRegressor,
)
from hedgerow.explain.reasons import REASONS
from oracles import measured as soft_truth
from oracles import reasons as truth

Floats = NDArray[np.float64]


def flowers() -> tuple[pd.DataFrame, NDArray[Any]]:
    """Iris with errors of the labels, and a nominal column."""
    X, y = load_iris(as_frame=True, return_X_y=True)
    rng = np.random.default_rng(0)
    y = np.where(rng.random(len(y)) < 0.15, rng.integers(0, 3, len(y)), y)
    X["site"] = pd.Categorical(np.where(rng.random(len(y)) < 0.6, np.array(["meadow", "wood", "bog"])[y], "bog"))
    return X, np.array(["setosa", "versicolor", "virginica"])[y]


def strange(X: pd.DataFrame) -> pd.DataFrame:
    """Rows as they are, with gaps, with a new category, and outside the training range."""
    rng = np.random.default_rng(1)
    rows = X.iloc[::4].reset_index(drop=True)
    for name in rows.columns:
        rows.loc[rng.random(len(rows)) < 0.15, name] = np.nan
    rows.iloc[-4:-2, 2] += 4.0
    rows.iloc[-2:, 2] += 20.0
    return rows


@pytest.mark.parametrize(
    "model",
    [
        TreeClassifier(max_depth=3),
        TreeClassifier(max_depth=3, leaf_probability="laplace"),
        ForestClassifier(9, random_state=0),
        ForestClassifier(9, max_depth=2, rule="evidence", random_state=0),
        RandomTreesClassifier(9, random_state=0),
        ObliqueForestClassifier(5, random_state=0),
        CautiousForestClassifier(9, s=2, aggregate="average", random_state=0),
        CautiousForestClassifier(9, s=2, aggregate="belief", weighting="epistemic", random_state=0),
        CautiousForestClassifier(9, s=2, aggregate="vote", random_state=0),
        CautiousClassifier(RandomTreesClassifier(9, random_state=0), s=1),
    ],
    ids=str,
)
def test_shares_are_those_of_the_definition(model: Any) -> None:
    X, y = flowers()
    rows = strange(X)
    if isinstance(model, ObliqueForestClassifier):
        X, rows = X.drop(columns="site"), rows.drop(columns="site")
    found = model.fit(X, y).explain(rows)
    forest, sets = model.forest_, model.predict_set(rows) if hasattr(model, "predict_set") else None
    if sets is None:
        certainty = model._leaf_certainty()
        lower = certainty.lower if certainty.row_of is None else certainty.lower[certainty.row_of]
    else:
        lower = forest.counts / (forest.counts.sum(axis=1, keepdims=True) + model.s)
    used = np.flatnonzero(forest.split_features).tolist()
    weights = model.get_tree_weights()
    for i, row in enumerate(model.schema_.read(rows)):
        widths = truth.widths_outside(row, model._training_range(), used)
        parts = truth.class_parts(truth.trees_of_row(forest, row, lower, weights), widths)
        if sets is not None and sets[i].sum() == 1:
            expected = [float(widths >= 1.0), *[0.0] * 6]
        else:
            expected = truth.shares(parts)
            now = 1 - 0.5**widths * model.predict_proba(rows[i : i + 1]).max() if sets is None else sum(parts.values())
            np.testing.assert_allclose(found.reasons.doubt[i], now if now > 1e-12 else 0.0, atol=1e-12)
            if now <= 1e-12:
                expected = [0.0] * 7
        np.testing.assert_allclose(found.reasons.shares[i], expected, atol=1e-9)
        assert found[i].reason == found.reasons.main[i]
        assert sum(found[i].reasons.values()) == pytest.approx(float(any(expected)))


@pytest.mark.parametrize(
    "model",
    [TreeRegressor(max_depth=3), ForestRegressor(9, min_samples_leaf=5, random_state=0)],
    ids=str,
)
def test_variances_are_those_of_the_definition(model: Any) -> None:
    X, y = load_diabetes(return_X_y=True)
    rows = X[::20].copy()
    rows[np.random.default_rng(0).random(rows.shape) < 0.2] = np.nan
    rows[-3:] *= 3
    found = model.fit(X, y).explain(rows)
    forest = model.forest_
    roots = forest.node_stats()[forest.tree_start[:-1]]
    used = np.flatnonzero(forest.split_features).tolist()
    for i, row in enumerate(rows):
        trees = []
        for tree in range(forest.n_trees):
            first = int(forest.leaf_start[tree])
            shares = truth.oracles.spread(forest, row, tree)
            trees.append([(share, *forest.stats[first + leaf].tolist()) for leaf, share in shares.items()])
        widths = truth.widths_outside(row, model.training_range_, used)
        parts = truth.number_parts(trees, float((roots[:, 2] / roots[:, 0]).mean()), widths)
        np.testing.assert_allclose(found.reasons.doubt[i], sum(parts.values()), rtol=1e-9)
        np.testing.assert_allclose(found.reasons.shares[i], truth.shares(parts), atol=1e-9)


def gaps(X: Floats) -> Floats:
    rows = X[::10].copy()
    rows[np.random.default_rng(0).random(rows.shape) < 0.2] = np.nan
    return rows


@pytest.mark.parametrize("leaf", ["least_squares", "counts"])
def test_a_measured_tree_tells_errors_from_missing_values(leaf: str) -> None:
    X, y = load_iris(return_X_y=True)
    model = MeasuredTreeClassifier(0.4, max_leaf_nodes=5, leaf=leaf).fit(X, y)
    rows = gaps(X)
    found = model.explain(rows)
    values = np.clip(model._region_probabilities(), 0.0, 1.0)
    counts = model.forest_.counts
    shares, exact = model.membership(rows), model.membership(rows, np.zeros_like(rows))

    def of_row(share: Floats) -> list[truth.TreeOfRow]:
        return [truth.TreeOfRow(1.0, list(zip(share.tolist(), values.tolist(), counts.tolist(), strict=True)))]

    for i, row in enumerate(rows):
        readings = of_row(exact[i]) if np.isnan(row).any() else None
        used = np.flatnonzero(model.forest_.split_features).tolist()
        widths = truth.widths_outside(row, model.training_range_, used)
        parts = truth.class_parts(of_row(shares[i]), widths, readings=readings, soft=True)
        np.testing.assert_allclose(found.reasons.shares[i], truth.shares(parts), atol=1e-9)
        if not np.isnan(row).any():
            assert found.reasons.shares[i, truth.NAMES.index("missing input")] == 0
    main = found.reasons.main.tolist()
    assert "measurement error" in main
    assert "missing input" in main


def test_errors_name_the_column_that_costs_most() -> None:
    X, y = load_iris(return_X_y=True)
    model = MeasuredTreeClassifier(0.3, max_leaf_nodes=4).fit(X, y)
    rows = X[::7]
    boxes, seen = model.regions_, 0
    for i, one in enumerate(model.explain(rows)):
        for why in one.why:
            if why.name == "measurement error":
                seen += 1
                costs = why.facts["cost_of_column"]
                for j, name in enumerate(model.schema_.names):
                    expected = sum(
                        soft_truth.error_cost(boxes, values, model.laws_, rows[i], model.sigma_, j)
                        for values in model._region_probabilities().T
                    )
                    assert costs.get(name, 0.0) == pytest.approx(expected, abs=1e-6)
                assert why.remedy == f"Measure {max(costs, key=costs.get)} more exactly"
    assert seen > 5


def test_the_number_of_a_measured_tree_is_divided_by_the_law_of_total_variance() -> None:
    X, y = load_diabetes(return_X_y=True)
    model = MeasuredTreeRegressor(0.02, max_leaf_nodes=6).fit(X, y)
    rows = gaps(X)
    found = model.explain(rows)
    n, mean, squares = model.forest_.stats.T
    shares, exact = model.membership(rows), model.membership(rows, np.zeros_like(rows))
    for i, row in enumerate(rows):

        def between(share: Floats) -> float:
            return float(share @ (mean - share @ mean) ** 2)

        missing = min(between(exact[i]), between(shares[i])) if np.isnan(row).any() else 0.0
        parts = dict.fromkeys(truth.NAMES, 0.0) | {
            "measurement error": between(shares[i]) - missing,
            "missing input": missing,
            "few cases": float(shares[i] @ (squares / n**2)),
            "mixed leaves": float(shares[i] @ (squares / n)),
        }
        np.testing.assert_allclose(found.reasons.shares[i], truth.shares(parts), atol=1e-9)


@pytest.mark.parametrize("estimator", [TreeClassifier(max_depth=3), ObliqueTreeClassifier(max_depth=2)], ids=str)
def test_a_boundary_classifier_says_what_the_distance_costs(estimator: Any) -> None:
    X, y = load_iris(return_X_y=True)
    y = np.where(np.random.default_rng(0).random(len(y)) < 0.1, 0, y)
    model = BoundaryClassifier(estimator, bandwidth=0.3, boundary_weight=0.7).fit(X, y)
    found = model.explain(X)
    tree = model.estimator_
    lower = tree.leaf_probabilities()
    used = np.flatnonzero(model.forest_.split_features).tolist()
    probabilities = model.predict_proba(X)
    seen = 0
    for i, row in enumerate(X):
        leaves = truth.trees_of_row(model.forest_, row, lower)
        widths = truth.widths_outside(row, tree.training_range_, used)
        parts = truth.class_parts(leaves, widths, boundary=float(probabilities[i].max()))
        np.testing.assert_allclose(found.reasons.shares[i], truth.shares(parts), atol=1e-9)
        np.testing.assert_allclose(found.reasons.doubt[i], 1 - probabilities[i].max(), atol=1e-12)
        for why in found[i].why:
            if why.name == "near the boundary":
                seen += 1
                separator = model.nearest_separator(X[i : i + 1])
                column, threshold = int(separator.feature[0]), float(separator.threshold[0])
                if column >= 0:
                    assert why.facts["in_units_of_column"] == pytest.approx(abs(row[column] - threshold))
                    assert model.schema_.names[column] in why.text
                assert why.facts["distance"] == pytest.approx(np.abs(model.algebraic_distance(X[i : i + 1])).min())
    assert seen > 5


@pytest.mark.parametrize(
    "estimator",
    [
        ForestClassifier(20, random_state=0),
        RandomForestClassifier(20, random_state=0),
        NaiveBayesTreeClassifier(random_state=0),
        BoundaryClassifier(TreeClassifier(max_depth=3)),
        CautiousForestClassifier(20, random_state=0),
        MeasuredTreeClassifier(0.2),
        MeasuredForestClassifier(0.2, n_estimators=8, random_state=0),
        MeasuredBoostingClassifier(0.2, n_estimators=8),
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_conformal_set_is_in_doubt_unless_it_is_a_single_class(estimator: Any) -> None:
    X, y = load_iris(return_X_y=True)
    y = np.where(np.random.default_rng(0).random(len(y)) < 0.1, 0, y)
    model = ConformalClassifier(estimator, coverage=0.97, method="cv").fit(X, y)
    for coverage in (0.6, 0.97):
        sets = model.predict_set(X, coverage=coverage)
        found = model.explain(X, coverage=coverage)
        sizes = sets.sum(axis=1)
        np.testing.assert_array_equal(found.reasons.shares.any(axis=1), sizes != 1)
        np.testing.assert_allclose(found.reasons.shares.sum(axis=1), sizes != 1)
        for i in np.flatnonzero(sizes != 1)[:3]:
            assert found[i].reason is not None
            assert found[i].set == tuple(model.classes_[sets[i]])
            assert all(one.resolves is None for one in found[i].why)
            if sizes[i] == 0:
                assert found[i].reasons == {"unlike the training data": 1.0}


def test_an_interval_is_divided_as_the_forest_inside_divides_it() -> None:
    X, y = load_diabetes(return_X_y=True)
    own = ConformalRegressor(ForestRegressor(10, random_state=0)).fit(X, y)
    np.testing.assert_array_equal(own.explain(X[:9]).reasons.shares, own.estimator_.explain(X[:9]).reasons.shares)
    theirs = ConformalRegressor(RandomForestRegressor(10, random_state=0)).fit(X, y)
    found = theirs.explain(X[:9])
    np.testing.assert_allclose(found.reasons.shares.sum(axis=1), 1)
    np.testing.assert_allclose([one.model.answer for one in found], theirs.predict(X[:9]))
    trees = np.stack([tree.predict(X[:9]) for tree in theirs.estimator_.estimators_])
    parts = found.reasons.shares[:, truth.NAMES.index("conflict")] * found.reasons.doubt
    np.testing.assert_allclose(parts, trees.var(axis=0))


@pytest.mark.parametrize(
    "model",
    [
        ConformalClassifier(LogisticRegression(tol=0.1)),
        ConformalClassifier(HistGradientBoostingClassifier(max_iter=2)),
        ConformalRegressor(LinearRegression()),
    ],
    ids=lambda one: type(one.estimator).__name__,
)
def test_models_without_trees_have_no_reasons(model: Any) -> None:
    X, y = load_iris(return_X_y=True)
    found = model.fit(X, y).explain(X)
    assert not found.reasons.shares.any()
    assert found[0].reason is None
    assert found[0].model is None
    assert len(found.to_frame()) == len(X)


def test_boosting_divides_what_exact_and_complete_values_would_tell() -> None:
    X, y = load_iris(return_X_y=True)
    model = MeasuredBoostingClassifier(0.3, n_estimators=10).fit(X, y)
    rows = gaps(X)
    found = model.explain(rows)
    names = list(truth.NAMES)
    for i, row in enumerate(rows):
        now = model.predict_proba(row[np.newaxis]).max()
        exact = model.predict_proba(row[np.newaxis], X_err=np.zeros((1, 4))).max()
        error = max(exact - now, 0.0)
        assert found.reasons.shares[i, names.index("measurement error")] == pytest.approx(error / (1 - now), abs=1e-6)
        if not np.isnan(row).any():
            assert found.reasons.shares[i, names.index("missing input")] == 0
    numbers = MeasuredBoostingRegressor(0.3, n_estimators=10).fit(X[:, 1:], X[:, 0])
    for one in numbers.explain(rows[:, 1:]):
        total = sum(size**2 for size in one.hidden.values())
        gone = sum(size**2 for name, size in one.hidden.items() if f"{name} is missing" in " ".join(one.measured))
        if total:
            assert one.reasons.get("missing input", 0.0) == pytest.approx(gone / total)


@pytest.mark.parametrize("aggregate", ["average", "belief", "vote"])
@pytest.mark.parametrize("weighting", ["uniform", "samples", "epistemic"])
def test_as_many_rows_as_are_said_to_decide_do(aggregate: str, weighting: str) -> None:
    X, y = flowers()
    model = CautiousForestClassifier(15, s=5, aggregate=aggregate, weighting=weighting, random_state=0).fit(X, y)
    rows = X[model.predict_set(X).sum(axis=1) > 1][:40]
    assert len(rows) or aggregate == "vote"
    if not len(rows):
        return
    said = 0
    for i, one in enumerate(model.explain(rows)):
        for why in one.why:
            if why.name != "few cases":
                continue
            for factor in range(2, 11):
                more = CautiousClassifier.from_fitted(
                    _with_more_rows(model.estimator_, factor), s=5, aggregate=aggregate, weighting=weighting
                )
                single = more.predict_set(rows[i : i + 1]).sum() == 1
                if single:
                    break
            assert (why.facts["factor"] or None) == (factor if single else None)
            assert why.resolves is bool(single)
            said += 1
    assert said or aggregate != "average"


def _with_more_rows(forest: ForestClassifier, factor: int) -> ForestClassifier:
    """Forest whose leaves have `factor` times as many rows of each class."""
    more = ForestClassifier(**forest.get_params())
    vars(more).update(vars(forest))
    more.forest_ = replace(forest.forest_, leaf_counts=forest.forest_.counts * factor)
    more._tables = type(forest._tables)()
    return more


def test_missing_values_that_are_said_to_decide_do() -> None:
    X, y = flowers()
    model = CautiousForestClassifier(15, s=1, random_state=0).fit(X, y)
    rows = X.copy()
    rows["petal length (cm)"] = np.nan
    rows.loc[::2, "site"] = np.nan
    said = 0
    for i, one in enumerate(model.explain(rows)):
        for why in one.why:
            if why.name == "missing input":
                for column in why.facts["columns"]:
                    for value in column["values"]:
                        known = rows[i : i + 1].copy()
                        known[column["column"]] = (
                            pd.Categorical([value["example"]], X["site"].cat.categories)
                            if column["column"] == "site"
                            else value["example"]
                        )
                        (answer,) = model.predict_set(known)
                        assert tuple(model.classes_[answer]) == tuple(value["answer"])
                        assert value["single"] is bool(answer.sum() == 1)
                        said += 1
                    assert sum(value["probability"] for value in column["values"]) == pytest.approx(1)
    assert said > 20


def test_outside_columns_and_empty_leaves_are_named() -> None:
    X, y = flowers()
    model = RandomTreesClassifier(20, random_state=0).fit(X, y)
    far = X[:1].copy()
    far["petal width (cm)"] = 30.0
    (one,) = model.explain(far)
    assert one.reason == "unlike the training data"
    assert "petal width (cm) 30 is above the training range, 2.5" in str(one.why[0])
    assert one.why[0].facts["outside"][0] == {"column": "petal width (cm)", "value": 30.0, "low": 0.1, "high": 2.5}


def test_mixed_leaves_show_training_rows_of_other_classes() -> None:
    X, y = flowers()
    model = TreeClassifier(max_depth=2).fit(X, y)
    seen = 0
    for i, one in enumerate(model.explain(X, training=(X, y))):
        for why in one.why:
            if why.name == "mixed leaves":
                for near in why.facts["similar"]:
                    seen += 1
                    assert y[near["row"]] == near["label"] != model.predict(X[i : i + 1])[0]
                    assert model.apply(X[i : i + 1])[0] == model.apply(X.iloc[[near["row"]]])[0]
    assert seen > 10


@pytest.mark.parametrize(
    "model",
    [
        BoundaryClassifier(TreeClassifier(max_depth=2)),
        MeasuredTreeClassifier(0.3, max_leaf_nodes=4),
        MeasuredForestClassifier(0.3, n_estimators=4, random_state=0),
        MeasuredBoostingClassifier(0.3, n_estimators=4),
        ConformalClassifier(TreeClassifier(max_depth=2), coverage=0.99, method="cv"),
        ConformalRegressor(TreeRegressor(max_depth=2), method="cv"),
        MeasuredTreeRegressor(0.3, max_leaf_nodes=4),
        MeasuredForestRegressor(0.3, n_estimators=4, random_state=0),
    ],
    ids=lambda one: type(one).__name__,
)
def test_every_model_with_mixed_leaves_names_training_rows(model: Any) -> None:
    X, y = load_iris(return_X_y=True)
    y = np.where(np.random.default_rng(0).random(len(y)) < 0.15, 0, y)
    of_classes = hasattr(model, "predict_proba")
    if not of_classes:
        y = X[:, 0] + y
    model.fit(X, y)
    rows = X[::9]
    found = model.explain(rows, training=(X, y))
    named = [(one, why) for one in found for why in one.why if why.name == "mixed leaves"]
    assert named
    for one, why in named:
        for near in why.facts["similar"]:
            assert near["label"] == y[near["row"]]
            assert not of_classes or near["label"] != one.answer
    assert any(why.facts["similar"] for _, why in named)


MARKUP = "<script>alert(1)</script>\x1b[31m&[bold]"


@pytest.mark.parametrize(
    "model",
    [
        ForestClassifier(5, random_state=0),
        TreeClassifier(max_depth=2),
        CautiousForestClassifier(5, s=4, random_state=0),
        BoundaryClassifier(TreeClassifier(max_depth=2)),
        ConformalClassifier(ForestClassifier(5, random_state=0), coverage=0.99),
        MeasuredTreeClassifier(0.3),
        MeasuredForestClassifier(0.3, n_estimators=4, random_state=0),
        MeasuredBoostingClassifier(0.3, n_estimators=4),
        NaiveBayesTreeClassifier(random_state=0),
    ],
    ids=lambda one: type(one).__name__,
)
def test_names_and_categories_are_shown_literally(model: Any) -> None:
    X, y = flowers()
    X = X.drop(columns="site").rename(columns={"petal length (cm)": MARKUP})
    y = np.where(y == "setosa", y, np.where(y == "virginica", MARKUP, "<b>bold</b>")).astype(object)
    model.fit(X, y)
    rows = X[::5].reset_index(drop=True)
    if not isinstance(model, BoundaryClassifier):
        rows.loc[::2, MARKUP] = np.nan
    rows.loc[1, MARKUP] = 40.0
    found = model.explain(rows)
    for html in (found._repr_html_(), *(one._repr_html_() for one in found)):
        assert "<script" not in html
        assert "<b>" not in html
        assert "\x1b" not in html
    for one in found:
        text = "\n".join([str(one), *one.why_lines()])
        assert "\x1b" not in text
        json.dumps(one.to_dict())
    frame = found.to_frame()
    assert list(frame["reason"]) == [one.reason for one in found]
    np.testing.assert_allclose(frame[[one.name for one in REASONS]].to_numpy(), found.reasons.shares)


@pytest.mark.parametrize(
    "model", [ForestRegressor(5, random_state=0), MeasuredForestRegressor(0.01, n_estimators=4, random_state=0)]
)
def test_numbers_have_frames_and_html(model: Any) -> None:
    X, y = load_diabetes(return_X_y=True)
    found = model.fit(X, y).explain(X[:30])
    assert "10 more rows" in found._repr_html_()
    assert found.to_frame()["answer"].tolist() == model.predict(X[:30]).tolist()
    assert json.loads(json.dumps(found[3].to_dict()))["reason"] == found[3].reason
