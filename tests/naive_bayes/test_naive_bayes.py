"""Naive Bayes by counts, its discretisation and the tree that it steers, against the slow and literal NBTree."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.naive_bayes import CategoricalNB, GaussianNB

from effort import examples
from growth_problems import value_columns
from hedgerow.forest.build import build_forest
from hedgerow.naive_bayes import Entropy, Examples, Gaussian, LeafModels, NaiveBayesGrowth, cut_points
from hedgerow.naive_bayes.cross_validation import hits
from hedgerow.naive_bayes.discretisation import best_thresholds, midpoints
from hedgerow.naive_bayes.groups import all_rows, concatenate, divide
from hedgerow.naive_bayes.nbtree import candidate_splits
from hedgerow.walk import spread
from oracles import naive_bayes as oracle

SMALL = settings(max_examples=examples(16, 60), deadline=None)


@st.composite
def datasets(draw: st.DrawFn, max_rows: int = 24, gaussian: bool = False) -> oracle.Data:
    """A few rows in the order of their classes; ties, constants, missing values, one class and one row are common."""
    n_rows, n_classes = draw(st.integers(1, max_rows) | st.just(max_rows)), draw(st.integers(1, 3))
    columns, n_categories = [], []
    for _ in range(draw(st.integers(1, 3))):
        categories = draw(st.sampled_from([0, 0, 2, 4]))
        pool = range(categories) if categories else draw(st.sampled_from([(0, 1), (-2, 0.1, 0.7, 3, 5), range(9)]))
        present = st.sampled_from([float(x) for x in pool])
        missing = draw(st.sampled_from(["none", "none", "few", "all"]))
        entry = {"none": present, "few": present | present | st.just(math.nan), "all": st.just(math.nan)}[missing]
        columns.append(draw(st.lists(entry, min_size=n_rows, max_size=n_rows)))
        n_categories.append(categories)
    labels = draw(st.lists(st.integers(0, n_classes - 1), min_size=n_rows, max_size=n_rows))
    if draw(st.booleans()):  # something to find, so that intervals are cut
        flips = draw(st.lists(st.sampled_from([0, 0, 0, 0, 1]), min_size=n_rows, max_size=n_rows))
        signal = draw(st.sampled_from(columns))
        labels = [(int(x > 0.5) + flip) % n_classes for x, flip in zip(signal, flips, strict=True)]
    order = sorted(range(n_rows), key=labels.__getitem__)
    rows = [[column[i] for column in columns] for i in order]
    labels = [labels[i] for i in order]
    return oracle.Data(rows, labels, n_classes, n_categories, 1e-9 if gaussian else 0.0)


def examples_of(data: oracle.Data) -> Examples:
    values = np.asfortranarray(np.array(data.rows, dtype=np.float64).reshape(len(data.rows), -1))
    return Examples(values, np.array(data.labels), data.n_classes, np.array(data.n_categories, dtype=np.int32))


def numeric_of(data: oracle.Data) -> Any:
    return Gaussian(data.smoothing) if data.smoothing else Entropy()


either = st.booleans().flatmap(lambda gaussian: datasets(gaussian=gaussian))


# -- discretisation


@SMALL
@given(datasets(max_rows=40))
def test_cuts_are_those_of_fayyad_and_irani(data: oracle.Data) -> None:
    for column in data.columns:
        x = [row[column] for row in data.rows]
        expected = oracle.cut_points(data, oracle.known(data, data.whole(), column), column)
        assert cut_points(x, data.labels).tolist() == expected


def test_cuts_of_many_rows_and_classes() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=600).round(1)
    y = np.digitize(x + rng.normal(size=600) / 4, [-1, 0, 0.5, 2])
    order = np.argsort(y, kind="stable")
    data = oracle.Data(x[order, np.newaxis].tolist(), y[order].tolist(), 5, [0])
    expected = oracle.cut_points(data, data.whole(), 0)
    assert len(expected) >= 3
    assert cut_points(x, y).tolist() == expected


@SMALL
@given(datasets())
def test_thresholds_have_the_least_entropy(data: oracle.Data) -> None:
    examples = examples_of(data)
    found = best_thresholds(examples, all_rows(examples))
    for column in data.columns:
        best = oracle.best_cut(data, oracle.known(data, data.whole(), column), column)
        if data.n_categories[column] or best is None:
            assert math.isnan(found[column])
        else:
            assert found[column] == best[0]


def test_a_midpoint_is_below_the_higher_number() -> None:
    low = np.array([1.0, 1.0, -1.7e308, 1.7e308, 5e-324, -0.0])
    high = np.array([2.0, math.nextafter(1.0, 2.0), 1.7e308, 1.79e308, 1e-323, 5e-324])
    middle = midpoints(low, high)
    assert ((low <= middle) & (middle < high)).all()
    assert middle[0] == 1.5


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([[1.0], [2.0]], [0, 1], "one number and class a row"),
        ([1.0, 2.0, 3.0], [0, 1], "one number and class a row"),
        ([1.0, math.inf], [0, 1], "x contains infinity"),
    ],
)
def test_cut_points_say_what_is_wrong(x: Any, y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cut_points(x, y)


# -- cross-validated counts


@SMALL
@given(either)
def test_utilities_are_those_of_explicit_folds(data: oracle.Data) -> None:
    examples = examples_of(data)
    root = all_rows(examples)
    np.testing.assert_allclose(hits(examples, root, numeric_of(data)), [float(oracle.hits(data, data.whole()))])
    asked = oracle.splits(data, data.whole())
    found = candidate_splits(examples, root)
    assert [split.feature for split in found] == [split.feature for split in asked]
    for theirs, ours in zip(asked, found, strict=True):
        branches = oracle.divide(data, data.whole(), theirs)
        groups = divide(root, ours.branch, ours.n_branches)
        np.testing.assert_allclose(
            np.bincount(groups.group, groups.weight, groups.n_groups),
            [float(sum(w for _, w in part)) for part in branches],
        )
        expected = [float(oracle.hits(data, part)) for part in branches]
        np.testing.assert_allclose(hits(examples, groups, numeric_of(data)), expected, atol=1e-12)


@SMALL
@given(datasets())
def test_branches_hold_the_rows_and_entries_of_nodes(data: oracle.Data) -> None:
    examples = examples_of(data)
    root = all_rows(examples)
    for split in candidate_splits(examples, root):
        groups = divide(root, split.branch, split.n_branches)
        parts = [groups.select(branch) for branch in range(groups.n_groups)]
        again = concatenate(parts)
        for name in ("row", "weight", "group", "entry_at", "entry_column", "entry_value"):
            np.testing.assert_array_equal(getattr(again, name), getattr(groups, name))
        for part in parts:
            known = ~np.isnan(examples.values[part.row])
            assert len(part.entry_at) == known.sum()
            at, column = part.entry_at, part.entry_column
            np.testing.assert_array_equal(examples.values[part.row[at], column], part.entry_value)
            assert (np.lexsort((at, part.entry_value, column)) == np.arange(len(at))).all()


def test_a_small_part_of_a_row_follows_the_heaviest_branch() -> None:
    data = oracle.Data([[math.nan], [math.nan], [0.0], [1.0], [1.0]], [0, 0, 0, 1, 1], 2, [0])
    parts = [(0, Fraction(1, 65)), (1, Fraction(1, 64)), *((i, Fraction(1)) for i in (2, 3, 4))]
    root = replace(all_rows(examples_of(data)), weight=np.array([float(weight) for _, weight in parts]))
    groups = divide(root, np.array([-1, -1, 0, 1, 1]), 2)
    expected = oracle.divide(data, parts, oracle.Split(0, 0.5, ()))
    assert [[row for row, _ in part] for part in expected] == [[1, 2], [0, 1, 3, 4]]
    found = [(int(row), weight) for row, weight in zip(groups.row, groups.weight, strict=True)]
    assert found == [(i, pytest.approx(float(weight))) for part in expected for i, weight in part]


def test_the_first_of_equal_columns_is_asked() -> None:
    x = np.repeat([0.0, 1.0, 2.0, 3.0], 20)
    forest, _ = NaiveBayesGrowth("gaussian", 2, 0.05).grow(
        Examples.shuffle(np.column_stack([x, x]), (x.astype(np.int32) % 2), 2, np.zeros(2, dtype=np.int32), seed=0)
    )
    assert set(forest.feature.tolist()) == {-1, 0}


# -- the tree


@settings(max_examples=examples(11, 40), deadline=None)
@given(either, st.sampled_from([2, 5]), st.sampled_from([0.05, 0.3]))
def test_trees_and_answers_are_those_of_the_literal_nbtree(data: oracle.Data, least: int, reduction: float) -> None:
    examples = examples_of(data)
    forest, models = NaiveBayesGrowth(numeric_of(data), least, reduction).grow(examples)
    forest.check()
    tree = oracle.grow(data, data.whole(), least, reduction)
    expected = build_forest([oracle.as_node(data, tree)], examples.n_features)
    for name in ("kind", "feature", "first_child", "threshold", "payload_codes"):
        np.testing.assert_array_equal(getattr(forest, name), getattr(expected, name))
    np.testing.assert_allclose(forest.weight, expected.weight)
    np.testing.assert_allclose(forest.counts, expected.counts, atol=1e-12)

    unseen = [[math.nan] * examples.n_features, [0.5 if not n else n - 1.0 for n in data.n_categories]]
    rows = np.array([*data.rows, *unseen], dtype=np.float64)
    reached = spread(forest, rows)
    row = np.repeat(np.arange(len(rows)), np.diff(reached.indptr))
    shares = models.predict_proba(rows[row], reached.indices.astype(np.int64)) * reached.data[:, np.newaxis]
    found = np.add.reduceat(shares, reached.indptr[:-1], axis=0)
    np.testing.assert_allclose(found, [oracle.predict_proba(data, tree, one) for one in rows.tolist()], atol=1e-9)


def test_a_tree_of_several_levels_is_the_literal_one() -> None:
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 3, size=(150, 4)).astype(float)
    labels = ((codes[:, 0] == 1) ^ (codes[:, 1] > 0) ^ (rng.random(150) < 0.1)).astype(int)
    codes[rng.random(codes.shape) < 0.05] = math.nan
    order = np.argsort(labels, kind="stable")
    data = oracle.Data(codes[order].tolist(), labels[order].tolist(), 2, [3, 0, 3, 0])
    forest, _ = NaiveBayesGrowth("entropy", 30, 0.05).grow(examples_of(data))
    tree = oracle.grow(data, data.whole(), 30, 0.05)
    expected = build_forest([oracle.as_node(data, tree)], 4)
    assert forest.n_leaves > 2
    np.testing.assert_array_equal(forest.feature, expected.feature)
    np.testing.assert_array_equal(forest.threshold, expected.threshold)
    np.testing.assert_allclose(forest.counts, expected.counts)


@settings(max_examples=examples(16, 60), deadline=None)
@given(st.data(), st.booleans())
def test_awkward_numbers_give_probabilities(data: Any, gaussian: bool) -> None:
    """The ends of float64, neighbours, denormal numbers: no warning, no NaN."""
    n_rows = data.draw(st.integers(1, 20))
    columns = [data.draw(value_columns(n_rows)) for _ in range(data.draw(st.integers(1, 3)))]
    labels = np.array(data.draw(st.lists(st.integers(0, 2), min_size=n_rows, max_size=n_rows)), dtype=np.int32)
    values = np.asfortranarray(np.array([column for column, _ in columns]).T)
    kinds = np.array([n_categories for _, n_categories in columns], dtype=np.int32)
    examples = Examples.shuffle(values, labels, 3, kinds, seed=0)
    forest, models = NaiveBayesGrowth("gaussian" if gaussian else "entropy", 2, 0.0).grow(examples)
    forest.check()
    rows = np.vstack([values, np.full(len(columns), 1.7e308), np.full(len(columns), -5e-324)])
    for leaf in range(forest.n_leaves):
        shares = models.predict_proba(rows, np.full(len(rows), leaf))
        np.testing.assert_allclose(shares.sum(axis=1), 1.0)


# -- one leaf is the naive Bayes of scikit-learn


def _one_leaf(values: Any, y: Any, n_categories: list[int], numeric: Any) -> tuple[LeafModels, Any]:
    kinds = np.array(n_categories, dtype=np.int32)
    examples = Examples.shuffle(np.asfortranarray(values), y.astype(np.int32), y.max() + 1, kinds, seed=1)
    models = LeafModels.of(examples, all_rows(examples), numeric)
    n = np.bincount(y)
    return models, (n + 1) / (n.sum() + len(n))


def test_one_leaf_of_categories_is_categorical_naive_bayes() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, size=200)
    X = (rng.integers(0, 4, size=(200, 5)) + y[:, np.newaxis]) % 4
    models, prior = _one_leaf(X.astype(float), y, [4] * 5, Entropy())
    theirs = CategoricalNB(alpha=1.0, class_prior=prior).fit(X, y)
    np.testing.assert_allclose(
        models.predict_proba(X.astype(float), np.zeros(200, dtype=np.int64)), theirs.predict_proba(X), rtol=1e-10
    )


def test_one_leaf_of_intervals_is_categorical_naive_bayes_of_the_intervals() -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, size=300)
    X = rng.normal(size=(300, 4)) + y[:, np.newaxis] * [2, 1, 0.5, 0]
    models, prior = _one_leaf(X, y, [0] * 4, Entropy())
    codes = np.stack([np.searchsorted(cut_points(x, y), x) for x in X.T], axis=1)
    theirs = CategoricalNB(alpha=1.0, class_prior=prior).fit(codes, y)
    found = models.predict_proba(X, np.zeros(300, dtype=np.int64))
    np.testing.assert_allclose(found, theirs.predict_proba(codes), rtol=1e-10)


def test_one_leaf_of_densities_is_gaussian_naive_bayes() -> None:
    rng = np.random.default_rng(2)
    y = rng.integers(0, 3, size=300)
    X = rng.normal(size=(300, 4)) + y[:, np.newaxis] * [2, 1, 0.5, 0]
    X = (X - X.mean(axis=0)) / X.std(axis=0)  # scikit-learn smooths by the largest variance, we by the column's own
    models, prior = _one_leaf(X, y, [0] * 4, Gaussian())
    theirs = GaussianNB(priors=prior).fit(X, y)
    found = models.predict_proba(X, np.zeros(300, dtype=np.int64))
    np.testing.assert_allclose(found, theirs.predict_proba(X), rtol=1e-9, atol=1e-300)
    units = X * [1e-6, 1.0, 1e6, 1e200]
    models, _ = _one_leaf(units, y, [0] * 4, Gaussian())
    np.testing.assert_allclose(models.predict_proba(units, np.zeros(300, dtype=np.int64)), found, rtol=1e-9)


@pytest.mark.parametrize("numeric", ["entropy", "gaussian"])
def test_columns_that_say_nothing_change_nothing(numeric: str) -> None:
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, size=90)
    X = np.column_stack([rng.normal(size=90) + y, np.full(90, 0.1), np.full(90, np.nan), np.zeros(90)])
    strategy = Gaussian() if numeric == "gaussian" else Entropy()
    with_them, _ = _one_leaf(X, y, [0, 0, 0, 1], strategy)
    without, _ = _one_leaf(X[:, :1], y, [0], strategy)
    leaf = np.zeros(90, dtype=np.int64)
    np.testing.assert_array_equal(with_them.predict_proba(X, leaf), without.predict_proba(X[:, :1].copy(), leaf))


# -- what a file must hold


def test_leaf_models_are_checked() -> None:
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 2, size=60)
    X[:, 0] += 3 * y
    good = vars(_one_leaf(X, y, [0, 0], Gaussian())[0]) | vars(_one_leaf(X, y, [0, 0], Entropy())[0])
    normal = vars(_one_leaf(X, y, [0, 0], Gaussian())[0])
    LeafModels(**good)
    for changes, message in (
        ({"log_prior": np.zeros(2)}, "log_prior must be a 2-D float64 array"),
        ({"slot_start": good["slot_start"][:-1]}, "slot_start must run from 0"),
        ({"slot_start": good["slot_start"] + 1}, "slot_start must run from 0"),
        ({"slot_start": np.array([0, 2**62, good["slot_start"][-1]])}, "must not decrease"),
        ({"log_share": good["log_share"][:, :1]}, "a row for each slot"),
        ({"scale": np.ones(3)}, "a number for each column"),
        ({"log_prior": good["log_prior"] + 5}, "log_prior must be logarithms of probabilities"),
        ({"log_share": np.full_like(good["log_share"], np.nan)}, "log_share must be logarithms"),
        ({"edge": np.full_like(good["edge"], np.nan)}, "edges must be numbers"),
        ({"scale": np.array([1.0, 0.0])}, "scales must be positive"),
        ({"mean": np.zeros((1, 1, 2))}, "mean and deviation must be of all leaves"),
        ({"mean": np.full((1, 2, 2), np.inf), "deviation": normal["deviation"]}, "means finite"),
        ({"mean": normal["mean"], "deviation": -normal["deviation"]}, "deviations must be positive"),
    ):
        with pytest.raises(ValueError, match=message):
            LeafModels(**good | changes)
