"""Soft walks of many trees: memberships are those of boxes, and what is moved stays within the tolerance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import strategies
from tests.oracles import measured as oracles

from effort import examples
from hedgerow import MeasuredForestRegressor
from hedgerow.folds import Mean
from hedgerow.measured.many_trees.measured_walk import ManySoftTrees
from hedgerow.walk import MOST_POINTS, LeafTable, ask, latin_strata


def grown(seed: int, prior: str = "normal", **settings: Any) -> tuple[MeasuredForestRegressor, np.ndarray]:
    """A forest of two numeric columns, one of categories, and missing values everywhere; and rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(80, 3))
    X[:, 2] = rng.integers(0, 4, size=80)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 2]) % 2 + rng.normal(size=80) / 10
    model = MeasuredForestRegressor(
        {0: 0.4, 1: 0.5}, prior=prior, categorical_features=[2], n_estimators=4, min_weight_leaf=2, random_state=seed
    )
    return model.set_params(**settings).fit(X, y), X[:20]


def walk_of(model: MeasuredForestRegressor, tolerance: float, n_jobs: int = 1, n_points: int | None = None) -> Any:
    sizes = model.error_sizes_
    soft = ManySoftTrees.of(model.forest_, model.laws_)
    return soft.walk(lambda rows: sizes.of_rows(rows, model.schema_.names), tolerance, n_jobs, n_points)


@pytest.mark.parametrize("prior", ["normal", "flat", "kde"])
def test_memberships_are_those_of_boxes_and_sets(prior: str) -> None:
    model, rows = grown(0, prior)
    shares = walk_of(model, 0.0).spread(rows).toarray()
    sigma = model.error_sizes_.of_rows(rows, model.schema_.names)
    for row, errors, found in zip(rows, sigma, shares, strict=True):
        np.testing.assert_allclose(found, oracles.soft_shares(model.forest_, model.laws_, row, errors), atol=1e-12)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 50), tolerance=st.sampled_from([0.0, 1e-4, 0.01, 0.3, 1.0]))
def test_what_is_moved_stays_within_the_tolerance(seed: int, tolerance: float) -> None:
    model, rows = grown(seed)
    exact, found = (walk_of(model, one).spread(rows).toarray() for one in (0.0, tolerance))
    starts = model.forest_.leaf_start[:-1]
    np.testing.assert_allclose(np.add.reduceat(found, starts, axis=1), 1.0, atol=1e-12)
    moved = np.add.reduceat(np.abs(found - exact), starts, axis=1) / 2
    assert (moved <= tolerance + 1e-12).all()


def test_folds_are_weighted_means_of_leaves_linked_and_folded() -> None:
    model, rows = grown(3)
    rng = np.random.default_rng(0)
    values = rng.uniform(0.1, 1, size=(model.forest_.n_leaves, 4))
    table = LeafTable.of(values, link=["identity", "log", "entropy", "identity"], op=["sum", "sum", "sum", "max"])
    weights = np.array([1.0, 0.5, 0.0, 2.0])
    walk = walk_of(model, 0.01)
    (folded,) = walk.fold(rows, [table], weights)
    shares = walk.spread(rows).toarray()
    starts = [*model.forest_.leaf_start]
    expected = np.zeros((len(rows), 4))
    expected[:, 3] = -np.inf
    for weight, first, last in zip(weights, starts, starts[1:], strict=False):
        if weight == 0:
            continue
        mean = shares[:, first:last] @ values[first:last]
        linked = np.column_stack([mean[:, 0], np.log(mean[:, 1]), -mean[:, 2] * np.log2(mean[:, 2])])
        expected[:, :3] += weight * linked
        expected[:, 3] = np.maximum(expected[:, 3], mean[:, 3])
    np.testing.assert_allclose(folded, expected, atol=1e-12)


def test_rows_are_skipped_by_tree() -> None:
    model, rows = grown(4)
    skip = np.zeros((4, 3), dtype=np.uint8)
    skip[1, 0] = 0b101
    one = LeafTable.of(np.ones((model.forest_.n_leaves, 1)))
    (folded,) = walk_of(model, 0.01).fold(rows, [one], skip=skip)
    expected = np.full(len(rows), 4.0)
    expected[[0, 2]] = 3
    np.testing.assert_allclose(folded[:, 0], expected)


def test_threads_and_neighbours_do_not_change_a_bit() -> None:
    model, rows = grown(5)
    query = Mean().query(LeafTable.of(model.forest_.stats[:, 1:2]), None)
    many = np.tile(rows, (40, 1))
    (alone,), (among,), (threads,) = (
        ask(walk_of(model, 0.01), rows[:1], [query]),
        ask(walk_of(model, 0.01), many, [query]),
        ask(walk_of(model, 0.01, 2), many, [query]),
    )
    assert among[0] == alone[0]
    assert among.tobytes() == threads.tobytes()


def test_the_most_probable_leaf_is_reached() -> None:
    model, rows = grown(6)
    walk = walk_of(model, 0.01)
    shares = walk.spread(rows).toarray()
    starts = model.forest_.leaf_start
    for tree, leaves in enumerate(walk.route(rows).T):
        of_tree = shares[:, starts[tree] : starts[tree + 1]]
        np.testing.assert_array_equal(leaves, of_tree.argmax(axis=1))


@settings(max_examples=examples(8, 20), deadline=None)
@given(data=st.data())
def test_odd_rows_are_in_some_leaf(data: st.DataObject) -> None:
    model, _ = grown(7)
    rows = data.draw(strategies.rows_of(model.forest_))
    assert np.isfinite(model.predict(rows)).all()


@pytest.mark.parametrize(
    ("n_points", "prior"),
    [*((n, prior) for n in (1, 5) for prior in ("normal", "flat")), (MOST_POINTS, "normal")],
)
def test_points_go_down_as_exact_rows_do(prior: str, n_points: int) -> None:
    model, rows = grown(8, prior)
    forest = model.forest_
    n_columns = len(np.unique(forest.feature[forest.feature >= 0]))
    strata = latin_strata(forest.n_trees, n_points, n_columns)
    assert n_columns == 3
    values = np.random.default_rng(0).normal(size=(forest.n_leaves, 2))
    weights = np.array([1.0, 0.5, 0.0, 2.0])
    (folded,) = walk_of(model, 0.0, n_points=n_points).fold(rows, [LeafTable.of(values)], weights)
    sigma = model.error_sizes_.of_rows(rows, model.schema_.names)
    for row, errors, found in zip(rows[: 8 if n_points < 10 else 3], sigma, folded, strict=False):
        means = oracles.point_means(forest, model.laws_, row, errors, strata, values)
        np.testing.assert_allclose(found, weights @ means, atol=1e-12)


@given(n_trees=st.integers(1, 20), n_points=st.integers(1, 40), n_columns=st.integers(1, 4))
@settings(max_examples=20, deadline=None)
def test_points_of_a_tree_are_in_different_parts_of_each_column(n_trees: int, n_points: int, n_columns: int) -> None:
    strata = latin_strata(n_trees, n_points, n_columns)
    assert strata.shape == (n_trees, n_points, n_columns)
    expected = (np.arange(n_points) + 0.5) / n_points
    within = np.sort((strata + 0.5) / 256, axis=1) - expected[:, np.newaxis]
    assert (np.abs(within) <= 0.5 / n_points + 1 / 256).all()
    if n_trees * n_points <= 64:  # all trees together are stratified as well
        places = np.sort(strata.reshape(-1, n_columns), axis=0) / 256 * (n_trees * n_points)
        assert (np.abs(places - np.arange(n_trees * n_points)[:, np.newaxis] - 0.5) <= 1).all()


def test_means_over_points_are_near_means_over_regions() -> None:
    model, rows = grown(9, n_estimators=40)
    leaves = model.forest_.stats[:, 1:2]
    squares = LeafTable.of(np.hstack([leaves, leaves**2]))
    exact = walk_of(model, 0.0)
    (means,) = exact.fold(rows, [squares], per_tree=[True])
    spread = np.sqrt(np.mean(means[:, :, 1] - means[:, :, 0] ** 2, axis=1))
    for n_points in (4, 16, 64):
        model.set_params(n_points=n_points)
        error = model.predict(rows) - means[:, :, 0].mean(axis=1)
        bound = spread / np.sqrt(40 * (n_points - 1)) + np.ptp(leaves) / 512
        assert np.sqrt(np.mean((error / bound) ** 2)) < 1.5


def test_points_answer_sums_and_regions_all_else() -> None:
    model, rows = grown(10)
    exact, points = walk_of(model, 0.01), walk_of(model, 0.01, n_points=8)
    values = np.random.default_rng(0).uniform(0.1, 1, size=(model.forest_.n_leaves, 1))
    plain, logs, lows = (
        LeafTable.of(values),
        LeafTable.of(values, link="log"),
        LeafTable.of(values, op="min"),
    )
    tables = [logs, plain, plain, lows]
    found = points.fold(rows, tables, per_tree=[False, False, True, False])
    expected = exact.fold(rows, tables, per_tree=[False, False, True, False])
    for i in (0, 2, 3):
        assert found[i].tobytes() == expected[i].tobytes()
    assert found[1].tobytes() == points.fold(rows, [plain])[0].tobytes() != expected[1].tobytes()
    np.testing.assert_array_equal(points.route(rows), exact.route(rows))
    np.testing.assert_array_equal(points.spread(rows).toarray(), exact.spread(rows).toarray())


def test_threads_and_neighbours_do_not_change_a_bit_of_points() -> None:
    model, rows = grown(5, n_points=7)
    many = np.tile(rows, (40, 1))
    answers = model.predict(many)
    assert answers.tobytes() == np.tile(model.predict(rows), 40).tobytes()
    assert answers[:1].tobytes() == model.predict(rows[:1]).tobytes()
    assert answers.tobytes() == model.set_params(n_jobs=2).predict(many).tobytes()


def test_points_of_exact_rows_are_the_rows() -> None:
    model, rows = grown(11)
    known = rows[~np.isnan(rows).any(axis=1)]
    exact = model.predict(known, X_err=np.zeros_like(known))
    found = model.set_params(n_points=3).predict(known, X_err=np.zeros_like(known))
    np.testing.assert_allclose(found, exact, rtol=1e-12)


@pytest.mark.parametrize("wrong", [0, 257, 1.5, "8"])
def test_numbers_of_points_are_checked(wrong: Any) -> None:
    model, rows = grown(5)
    with pytest.raises((ValueError, TypeError), match="n_points"):
        model.set_params(n_points=wrong).predict(rows)
    with pytest.raises((ValueError, TypeError), match="n_points"):
        MeasuredForestRegressor(n_points=wrong).fit(np.zeros((30, 1)), np.arange(30.0))


@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_odd_rows_have_points(data: st.DataObject) -> None:
    model, _ = grown(7, n_points=2)
    rows = data.draw(strategies.rows_of(model.forest_))
    assert np.isfinite(model.predict(rows)).all()
