"""Several answers in one walk, and the folds behind them."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

import oracles
from effort import examples
from hedgerow import (
    BoundaryClassifier,
    CautiousClassifier,
    CautiousForestClassifier,
    ConformalClassifier,
    ConformalRegressor,
    Forest,
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
    ObliqueTreeRegressor,
    RandomTreesClassifier,
    RuleClassifier,
    TreeClassifier,
    TreeRegressor,
    save,
)
from hedgerow.cli.fitted import open_model
from hedgerow.cli.results.answer_columns import answer
from hedgerow.data.table import Schema
from hedgerow.estimators.contract import CODES, offers, respond
from hedgerow.folds import (
    EntropyUncertainty,
    Fold,
    Frequency,
    Mean,
    PlausibilityUncertainty,
    Variance,
    leaf_counts,
    tree_votes,
)
from hedgerow.rules import Evidence, Probability
from hedgerow.walk import ForestWalk, LeafTable, Query, ask, gather, quantiles, soft, walks
from strategies import forests_with_rows

several = settings(max_examples=examples(16, 60), deadline=None)


class CountedWalk:
    """Forest walk that counts its folds."""

    def __init__(self, forest: Forest) -> None:
        self.walk, self.n_walks, self.n_tables = ForestWalk(forest, None), 0, 0
        self.forest = forest

    def route(self, rows: Any) -> Any:
        return self.walk.route(rows)

    def fold(self, rows: Any, tables: Any, tree_weights: Any = None, *, per_tree: Any = None) -> Any:
        self.n_walks += 1
        self.n_tables += len(tables)
        return self.walk.fold(rows, tables, tree_weights, per_tree=per_tree)


@several
@given(forests_with_rows(regression=False))
def test_queries_share_a_walk_and_equal_tables_a_fold(drawn: tuple[Forest, Any]) -> None:
    forest, rows = drawn
    prior = np.full(forest.n_classes, 1 / forest.n_classes)
    frequency = Frequency()
    table = frequency.table_of(forest.distinct_counts, prior)
    walk = CountedWalk(forest)
    shares, same, counts, votes = ask(
        walk,
        rows,
        [frequency.query(table, prior), frequency.query(table, prior), leaf_counts(forest), tree_votes(forest)],
    )
    assert (walk.n_walks, walk.n_tables) == (1, 3)
    assert shares.tobytes() == same.tobytes()
    expected, n_trees = oracles.fold(
        forest, rows, frequency.table(forest.counts, prior), ["identity"] * len(prior), ["sum"] * len(prior)
    )
    np.testing.assert_allclose(shares, expected / n_trees[:, np.newaxis], rtol=1e-13, atol=1e-15)
    assert counts.tobytes() == gather(forest, rows, forest.counts).tobytes()
    assert votes.tolist() == gather(forest, rows, forest.answer_counts()).argmax(axis=2).tolist()


@several
@given(forests_with_rows(regression=False), st.data())
def test_queries_with_other_tree_weights_take_a_walk_of_their_own(drawn: tuple[Forest, Any], data: Any) -> None:
    forest, rows = drawn
    weights = np.array(
        data.draw(st.lists(st.sampled_from((0.5, 1.0, 2.0)), min_size=forest.n_trees, max_size=forest.n_trees))
    )
    table = LeafTable.of(np.ones((forest.n_leaves, 1)))
    walk = CountedWalk(forest)
    plain, weighted, again = ask(
        walk,
        rows,
        [
            Query(table, lambda folded, _: folded[:, 0]),
            Query(table, lambda folded, _: folded[:, 0], tree_weights=weights),
            Query(table, lambda folded, n_trees: folded[:, 0] / n_trees),
        ],
    )
    assert walk.n_walks == 2
    np.testing.assert_allclose(plain, forest.n_trees)
    np.testing.assert_allclose(weighted, weights.sum())
    np.testing.assert_allclose(again, 1.0)


@several
@given(forests_with_rows(regression=False))
def test_entropy_of_a_spread_row_is_that_of_the_mixture(drawn: tuple[Forest, Any]) -> None:
    forest, rows = drawn
    prior = np.full(forest.n_classes, 1 / forest.n_classes)
    fold = EntropyUncertainty(Frequency())
    table = fold.table_of(forest.distinct_counts, prior)
    found = ask(ForestWalk(forest, None), rows, [fold.query(table, prior)])[0]
    shares = Frequency().table(forest.counts, prior)
    for i, x in enumerate(rows):
        says = []
        for tree in range(forest.n_trees):
            of_tree, reached = shares[forest.leaf_start[tree] :], oracles.spread(forest, x, tree)
            says.append([oracles.weighted_mean(of_tree, reached, k) for k in range(len(prior))])
        total = sum(map(oracles.LINKS["entropy"], np.mean(says, axis=0)))
        aleatoric = np.mean([sum(map(oracles.LINKS["entropy"], one)) for one in says])
        assert found.total[i] == pytest.approx(total, abs=1e-12)
        assert found.aleatoric[i] == pytest.approx(aleatoric, abs=1e-12)
        assert found.epistemic[i] == pytest.approx(max(total - aleatoric, 0.0), abs=1e-12)


@several
@given(forests_with_rows(regression=True))
def test_mean_and_variance_follow_the_law_of_total_variance(drawn: tuple[Forest, Any]) -> None:
    forest, rows = drawn
    queries = [fold.query(fold.leaf_table(forest.stats, None), None) for fold in (Mean(), Variance())]
    mean, uncertainty = ask(ForestWalk(forest, None), rows, queries)
    weight, means, squares = forest.stats.T
    variance = squares / np.where(weight > 0, weight, 1.0)
    reached = gather(forest, rows, np.stack([means, means**2, variance], axis=1))
    np.testing.assert_allclose(mean, reached[..., 0].mean(axis=1), rtol=1e-12, atol=1e-12)
    total = reached[..., 2].mean(axis=1) + reached[..., 1].mean(axis=1) - mean**2
    np.testing.assert_allclose(uncertainty.total, total, rtol=1e-9, atol=1e-9 * (1 + np.abs(reached).max()))
    np.testing.assert_allclose(uncertainty.total, uncertainty.aleatoric + uncertainty.epistemic)


def test_a_fold_of_trees_in_numpy_is_that_of_the_walk() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 4)), rng.integers(0, 3, 80)
    model = ForestClassifier(7, calibration=None, random_state=0).fit(X, y)
    counts = model.leaf_counts(X)
    for rule in (Probability(), Evidence()):
        np.testing.assert_allclose(
            rule.of_trees(counts, model.class_prior_), model.set_params(rule=rule).predict_proba(X), rtol=1e-12
        )


@pytest.mark.parametrize("measure", ["leaf_entropy", "plausibility"])
def test_uncertainties_of_trees_in_numpy_are_those_of_the_walk(measure: str) -> None:
    X, y = load_iris(return_X_y=True)
    model = ForestClassifier(5, calibration=None, random_state=0).fit(X, y == 1)
    expected = model.predict_uncertainty(X[48:54], measure=measure)
    fold, context = {
        "leaf_entropy": (EntropyUncertainty(Frequency()), model.class_prior_),
        "plausibility": (PlausibilityUncertainty(), None),
    }[measure]
    found = fold.of_trees(model.leaf_counts(X[48:54]).reshape(2, 3, 5, 2), context)
    assert found.shape == (2, 3)
    assert found.measure == expected.measure
    for name in ("total", "aleatoric", "epistemic"):
        np.testing.assert_allclose(getattr(found, name).ravel(), getattr(expected, name), rtol=1e-12, atol=1e-15)


class Broken(Fold[None, Any]):
    fold = ("square", "sum")  # type: ignore[assignment]

    def table(self, leaves: Any, context: None) -> Any:
        return leaves

    def finish(self, folded: Any, n_trees: Any, context: None) -> Any:
        return folded


def test_a_fold_with_an_unknown_link_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"fold broken: its fold is \('square', 'sum'\), must be one of"):
        Broken().of_trees([[1, 2]], None)


def test_only_plain_sums_can_be_kept_apart_by_tree() -> None:
    forest = TreeClassifier().fit([[0], [1]], [0, 1]).forest_
    table = LeafTable.of(np.ones((forest.n_leaves, 1)), op="max")
    with pytest.raises(ValueError, match="only sums without a link can be kept apart"):
        ask(ForestWalk(forest, None), np.zeros((1, 1)), [Query(table, lambda folded, _: folded, per_tree=True)])


class Counter:
    """Counts conversions of X and walks of the core while a model works; quantiles are a walk of their own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.n_read = self.n_walks = 0
        read = Schema.read

        def counted_read(schema: Any, X: Any, **others: Any) -> Any:
            self.n_read += 1
            return read(schema, X, **others)

        monkeypatch.setattr(Schema, "read", counted_read)
        for name in ("core_fold", "core_route", "core_spread"):
            monkeypatch.setattr(walks, name, self.counted(getattr(walks, name)))
        for name in ("soft_fold", "soft_spread"):
            monkeypatch.setattr(soft, name, self.counted(getattr(soft, name)))
        monkeypatch.setattr(quantiles, "core_quantiles", self.counted(quantiles.core_quantiles))

    def counted(self, walk: Any) -> Any:
        def run(*arguments: Any) -> Any:
            self.n_walks += 1
            return walk(*arguments)

        return run


MODELS = [
    TreeClassifier(),
    TreeClassifier(cost_matrix=[[0, 1], [5, 0]]),
    TreeRegressor(),
    ForestClassifier(5, random_state=0),
    ForestClassifier(5, tree_weights="oob", random_state=0),
    ForestRegressor(5, random_state=0),
    RandomTreesClassifier(5, random_state=0),
    NaiveBayesTreeClassifier(),
    CautiousForestClassifier(n_estimators=5, random_state=0),
    CautiousClassifier(ForestClassifier(5, tree_weights=[1, 2, 3, 4, 5], random_state=0)),
    RuleClassifier(ForestClassifier(5, random_state=0), rule="dempster"),
    BoundaryClassifier(),
    BoundaryClassifier(decide="tree"),
    MeasuredTreeClassifier(0.1),
    MeasuredTreeClassifier(0.1, leaf="counts"),
    MeasuredTreeRegressor(0.1),
    MeasuredForestClassifier(0.1, n_estimators=5, random_state=0),
    MeasuredForestRegressor(0.1, n_estimators=5, random_state=0),
    MeasuredBoostingClassifier(0.1, n_estimators=5, random_state=0),
    MeasuredBoostingRegressor(0.1, n_estimators=5, random_state=0),
    ObliqueTreeClassifier(random_state=0),
    ObliqueTreeRegressor(random_state=0),
    ObliqueForestClassifier(5, random_state=0),
    ConformalClassifier(ForestClassifier(20, random_state=0), random_state=0),
    ConformalClassifier(ForestClassifier(20, random_state=0), method="jackknife+", random_state=0),
    ConformalRegressor(ForestRegressor(20, random_state=0), random_state=0),
    ConformalRegressor(ForestRegressor(20, random_state=0), method="jackknife+", random_state=0),
]


N_ROWS = 10


def fit(model: Any) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    frame = pa.table({f"x{j}": column for j, column in enumerate(X.T)})
    y = (X[:, 0] > 0.1 * rng.normal(size=60)).astype(float)
    return clone(model).fit(frame, y), frame.slice(0, N_ROWS)


def most_walks(model: Any) -> int:
    """Two; quantiles, leaves that trees with weights are explained by, and trees kept apart take one more.

    What errors hide of a sum of trees is asked for each row.
    """
    if isinstance(model, MeasuredBoostingRegressor):
        return 1 + N_ROWS
    apart = getattr(model, "method", None) == "jackknife+"
    weighs = not isinstance(model, ConformalClassifier | ConformalRegressor) and model.get_tree_weights() is not None
    return 2 + (apart or isinstance(model, ForestRegressor) or weighs)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_explain_converts_once_and_walks_at_most_twice(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fitted, X = fit(model)
    counter = Counter(monkeypatch)
    fitted.explain(X)
    assert counter.n_read == 1
    assert counter.n_walks <= most_walks(fitted)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_prediction_of_the_command_line_converts_once_and_walks_at_most_twice(
    model: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fitted, X = fit(model)
    save(fitted, tmp_path / "model.hedgerow")
    loaded = open_model(str(tmp_path / "model.hedgerow"))
    assert loaded.model is not None
    counter = Counter(monkeypatch)
    found = answer(loaded.model, X, (), 0.9).table()
    assert counter.n_read == 1
    assert counter.n_walks <= most_walks(fitted)
    assert found["prediction"].to_pylist() == fitted.predict(X).tolist()
    if "predict_bounds" in dir(fitted):
        bounds = np.stack([found["lower(0.0)"].to_numpy(), found["upper(0.0)"].to_numpy()], axis=1)
        np.testing.assert_allclose(bounds, fitted.predict_bounds(X)[:, 0], atol=1e-6)
    if offers(fitted, "predict_uncertainty"):
        np.testing.assert_allclose(found["uncertainty"].to_numpy(), fitted.predict_uncertainty(X).total, atol=1e-6)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_verbs_answered_together_have_the_bits_of_each_alone(model: Any) -> None:
    fitted, X = fit(model)
    wanted = ["predict", "predict_proba", "predict_set", "predict_bounds", "predict_uncertainty", "leaf_counts"]
    verbs = [verb for verb in wanted if offers(fitted, verb)]
    together = respond(fitted, X, verbs)
    assert list(together) == verbs
    for verb, found in together.items():
        alone = getattr(fitted, verb)(X)
        assert pickle.dumps(found) == pickle.dumps(alone), verb


def test_a_foreign_model_is_asked_verb_by_verb() -> None:
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array(["a", "b", "b"])
    theirs = DecisionTreeClassifier(random_state=0).fit(X, y)
    found = respond(theirs, X, ["predict_proba", CODES])
    assert found["predict_proba"].tolist() == theirs.predict_proba(X).tolist()
    assert found[CODES].tolist() == [0, 1, 1]
    assert offers(theirs, "predict_proba")
    assert not offers(theirs, "predict_set")
    assert not offers(DecisionTreeClassifier, "predict_proba")


def test_tree_weights_are_those_of_the_wrapped_forest() -> None:
    X, y = np.arange(12.0).reshape(-1, 1), np.arange(12) % 2
    weighted = ForestClassifier(2, tree_weights=[1, 3], random_state=0).fit(X, y)
    for model in (weighted, RuleClassifier.from_fitted(weighted), CautiousClassifier.from_fitted(weighted)):
        assert model.get_tree_weights().tolist() == [0.5, 1.5]
    theirs = DecisionTreeClassifier(random_state=0).fit(X, y)
    for plain in (TreeClassifier().fit(X, y), TreeRegressor().fit(X, y), RuleClassifier.from_fitted(theirs)):
        assert plain.get_tree_weights() is None
