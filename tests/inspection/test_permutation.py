"""Importances: the core against the definition, bags drawn again, and what a user can get wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes, load_iris
from sklearn.inspection import partial_dependence
from sklearn.inspection import permutation_importance as of_scikit_learn

import hedgerow
from effort import examples
from hedgerow import Forest
from hedgerow._core import permutation_losses
from hedgerow.estimators.contract import unseen_rows
from hedgerow.inspection import minimal_depth, permutation_importance
from oracles.importance import LOSSES, shuffled, tree_loss
from strategies import forests, mixed_data, rows_of

Floats = NDArray[np.float64]


@st.composite
def _cases(draw: st.DrawFn) -> tuple[Forest, Floats, Floats, Floats, NDArray[np.uint8] | None, int]:
    regression = draw(st.booleans())
    forest = draw(forests(regression=regression, max_trees=2))
    X = draw(rows_of(forest, min_rows=2, max_rows=10))
    n = len(X)
    entry = st.floats(-5, 5) if regression else st.integers(0, forest.n_classes - 1).map(float)
    truth = np.array(draw(st.lists(entry, min_size=n, max_size=n)))
    weight = np.array(draw(st.lists(st.sampled_from((0.0, 1.0, 1.0, 2.5)), min_size=n, max_size=n)))
    seen = draw(st.none() | st.lists(st.booleans(), min_size=n * forest.n_trees, max_size=n * forest.n_trees))
    mask = None
    if seen is not None:
        mask = np.packbits(np.array(seen).reshape(forest.n_trees, n), axis=1, bitorder="little")
    return forest, X, truth, weight, mask, draw(st.integers(3, 4) if regression else st.integers(0, 2))


@settings(max_examples=examples(16, 60))
@given(_cases(), st.booleans(), st.integers(0, 2**32))
def test_losses_are_those_of_the_definition(case: Any, left_out: bool, seed: int) -> None:
    """All kinds of nodes, rows that are spread, weights of 0, bags or none, single columns and a pair."""
    forest, X, truth, weight, mask, loss = case
    regression = loss > 2
    units = [[j] for j in range(forest.n_features)] + [[0, forest.n_features - 1]]
    if regression:
        answers, leaf_weight, empty = forest.stats[:, 1:2].copy(), None, np.zeros(1)
    else:
        total = forest.counts.sum(axis=1, keepdims=True)
        empty = np.full(forest.n_classes, 1 / forest.n_classes)
        answers = np.where(total > 0, forest.counts / np.where(total > 0, total, 1.0), empty)
        leaf_weight = None
    if left_out and not regression:
        # Counts to which every row has added its own, as those that are left out have.
        counts = hedgerow.walk.tally(forest, X, truth.astype(np.int32), weight) + 1e-3
        leaf_weight = counts.sum(axis=1)
        answers = counts / leaf_weight[:, np.newaxis]
    n = forest.n_trees
    found, plain, permuted = np.zeros(n), np.zeros(n), np.zeros((n, len(units)))
    starts = np.cumsum([0, *map(len, units)], dtype=np.int64)
    flat = np.concatenate(units).astype(np.int32)
    nothing = np.zeros(len(units) + 1, dtype=np.int64), np.empty(0, dtype=np.int32)
    arguments = (forest.core_with_weight, X, answers, leaf_weight, empty, truth, weight, mask, starts, flat, *nothing)
    permutation_losses(*arguments, loss, 2, seed, 0.05, found, plain, permuted, 1)
    for tree in range(n):
        bag = np.zeros(len(X), bool) if mask is None else np.unpackbits(mask[tree], bitorder="little")[: len(X)] > 0
        rows = [i for i in range(len(X)) if weight[i] > 0 and not bag[i]]
        assert found[tree] == pytest.approx(sum(weight[i] for i in rows))
        if not rows:
            continue
        of_leaves = answers if leaf_weight is None else answers * leaf_weight[:, np.newaxis]
        out = None if leaf_weight is None else empty
        slow = (forest, tree, X, of_leaves, truth, weight, rows, LOSSES[loss])
        np.testing.assert_allclose(plain[tree], tree_loss(*slow, leave_out=out), rtol=1e-7, atol=1e-9)
        for number, unit in enumerate(units):
            donors = [shuffled(seed, tree, repeat, [rows]) for repeat in range(2)]
            expected = np.mean([tree_loss(*slow, unit, donor, out) for donor in donors])
            np.testing.assert_allclose(permuted[tree, number], expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_bags_drawn_again_are_those_of_fit(weighted: bool) -> None:
    X, y = mixed_data(100)
    weight = np.arange(100) % 4.0 if weighted else None
    for model, target in ((hedgerow.ForestClassifier, y), (hedgerow.ForestRegressor, y * 1.0)):
        forest = model(7, random_state=3, max_samples=0.8)
        kept = forest._fit(X, target, weight, keep_bags=True)
        again = unseen_rows(forest, X, target, weight)
        used = np.flatnonzero(np.ones(100) if weight is None else weight > 0)
        bits = np.unpackbits(kept.seen, axis=1, count=100, bitorder="little")[:, used]
        assert (np.unpackbits(again.seen, axis=1, count=len(used), bitorder="little") == bits).all()


def test_importances_find_the_columns_that_matter_and_survive_a_file(tmp_path: Any) -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    forest = hedgerow.ForestClassifier(50, random_state=0).fit(X, y)
    found = permutation_importance(forest, X, y)
    assert found.importances.shape == (4, 50)
    assert set(np.argsort(found.importances_mean)[2:]) == {2, 3}
    assert found.relative.max() == 1
    np.testing.assert_allclose(found.standard_error * np.sqrt(50), found.importances_std)
    hedgerow.save(forest, tmp_path / "forest.hedgerow")
    loaded = hedgerow.load(tmp_path / "forest.hedgerow").set_params(n_jobs=2)
    again = permutation_importance(loaded, X, y, n_jobs=2)
    assert again.importances.tobytes() == found.importances.tobytes()
    assert list(found.to_frame().columns) == ["importance", "standard_error", "relative"]
    assert "loss in accuracy, mean over 50 trees" in str(found)


def test_a_copy_of_a_column_hides_it_unless_both_are_permuted_and_takes_no_credit_given_it() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(600, 2))
    X = np.column_stack([x[:, 0], x[:, 0] + 0.05 * rng.normal(size=600), x[:, 1]])
    y = (x[:, 0] + 0.3 * rng.normal(size=600) > 0).astype(int)
    forest = hedgerow.ForestClassifier(60, random_state=0).fit(X, y)
    alone = permutation_importance(forest, X, y).importances_mean
    together = permutation_importance(forest, X, y, groups=[[0, 1], 2])
    assert together.names == ("x0+x1", "x2")
    assert together.importances_mean[0] > 1.3 * alone[:2].max()
    given_the_other = permutation_importance(forest, X, y, conditional=True).importances_mean
    assert (given_the_other[:2] < alone[:2] / 2).all()
    assert given_the_other[2] == alone[2]  # correlated with none: permuted as before


def test_random_trees_leave_rows_out() -> None:
    X, y = mixed_data(150)
    model = hedgerow.RandomTreesClassifier(20, random_state=0).fit(X, y)
    found = permutation_importance(model, X, y, scoring="neg_log_loss")
    assert found.importances.shape == (4, 20)
    assert found.importances_mean.argmax() in (0, 3)
    with pytest.raises(ValueError, match="not what the trees have counted"):
        permutation_importance(model, X[:100], y[:100])


def test_regression_by_r2_and_errors() -> None:
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    forest = hedgerow.ForestRegressor(20, random_state=0).fit(X, y)
    by_r2 = permutation_importance(forest, X, y)
    by_error = permutation_importance(forest, X, y, scoring="neg_mean_squared_error")
    assert by_r2.scoring == "r2"
    assert by_error.importances_mean / y.var() == pytest.approx(by_r2.importances_mean, rel=0.1)


def test_errors_name_the_way_out() -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    forest = hedgerow.ForestClassifier(5, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"not what the model was fitted with.*rows='all'"):
        permutation_importance(forest, X[::-1], y)
    with pytest.raises(ValueError, match="groups names column 'age', but the model was fitted with"):
        permutation_importance(forest, X, y, groups=["age"])
    with pytest.raises(ValueError, match="groups names column 4"):
        permutation_importance(forest, X, y, groups=[4])
    with pytest.raises(ValueError, match=r"scoring is 'r2', must be one of 'accuracy'"):
        permutation_importance(forest, X, y, scoring="r2")
    with pytest.raises(ValueError, match=r"this forest has no bags.*bootstrap=True"):
        permutation_importance(hedgerow.ForestClassifier(5, bootstrap=False).fit(X, y), X, y)
    tree = hedgerow.TreeClassifier().fit(X, y)
    with pytest.raises(ValueError, match=r"TreeClassifier has no bags.*rows='all'"):
        permutation_importance(tree, X, y)
    assert np.isnan(permutation_importance(tree, X, y, rows="all").standard_error).all()
    with pytest.raises(TypeError, match="wrap forests of other libraries"):
        permutation_importance(object(), X, y)


def test_minimal_depths_are_those_of_the_trees() -> None:
    X, y = mixed_data(150)
    forest = hedgerow.ForestClassifier(6, nominal="multiway", random_state=0).fit(X, y)
    found = minimal_depth(forest)
    depth = forest.forest_.node_depths()
    for tree in range(6):
        nodes = range(*forest.forest_.tree_start[tree : tree + 2])
        for column in range(4):
            of_column = [depth[node] for node in nodes if forest.forest_.feature[node] == column]
            assert found.depths[column, tree] == min(of_column, default=forest.forest_.depths[tree])
    assert 0 < found.threshold < forest.forest_.depths.max()


@pytest.mark.parametrize("kind", ["classifier", "regressor"])
def test_inspection_of_scikit_learn_takes_our_estimators(kind: str) -> None:
    """Partial dependence, individual curves and its own permutation importance; the fast way is for its own classes."""
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model: Any = hedgerow.ForestRegressor(5, random_state=0).fit(X, y)
    if kind == "classifier":
        y = (y > 140).astype(int)
        model = hedgerow.ForestClassifier(5, random_state=0).fit(X, y)
    curves = partial_dependence(model, X[:50], ["bmi"], kind="both", grid_resolution=5)
    assert curves["average"].shape == (1, 5)
    assert curves["individual"].shape == (1, 50, 5)
    assert of_scikit_learn(model, X[:50], y[:50], n_repeats=2, random_state=0).importances.shape == (10, 2)
    with pytest.raises(ValueError, match="Only the following estimators support the 'recursion' method"):
        partial_dependence(model, X[:50], ["bmi"], method="recursion")
