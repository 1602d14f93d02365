"""Uncertainty by entropy: the average over prunings against its slow truth, and what the two parts mean."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier
from tests.oracles import prunings as oracle

import hedgerow
from effort import examples
from hedgerow import ForestClassifier, ForestRegressor, RandomTreesClassifier, RuleClassifier, TreeClassifier
from hedgerow.folds import Prunings
from hedgerow.folds.prunings import M, dirichlet_entropy_bits
from hedgerow.folds.uncertainty import widths_outside
from hedgerow.forest.build import build_forest, leaf, threshold

Floats = NDArray[np.float64]
several = settings(max_examples=examples(14, 50), deadline=None)


@st.composite
def trees(draw: st.DrawFn, n_classes: int = 2, depth: int = 3) -> Any:
    """Counts of a leaf, or a tuple of two trees."""
    if depth == 0 or draw(st.booleans()):
        return [float(n) for n in draw(st.lists(st.integers(0, 4), min_size=n_classes, max_size=n_classes))]
    return draw(trees(n_classes, depth - 1)), draw(trees(n_classes, depth - 1))


def forest_of(*given: Any) -> hedgerow.Forest:
    def node(tree: Any) -> Any:
        if isinstance(tree, list):
            return leaf(tree)
        return threshold(0, 0.0, *(node(child) for child in tree))

    return build_forest([node(tree) for tree in given], n_features=1)


def leaf_order(forest: hedgerow.Forest, tree: int = 0) -> list[int]:
    """Leaves from left to right; a forest numbers them by depth."""

    def below(node: int) -> list[int]:
        if forest.n_children[node] == 0:
            return [int(np.searchsorted(forest.leaf_nodes, node))]
        first = int(forest.root[node] + forest.first_child[node])
        return [*below(first), *below(first + 1)]

    return below(int(forest.tree_start[tree]))


def halved(tree: Any) -> Any:
    """What counts are worth where labels chose the splits."""
    return [n / 2 for n in tree] if isinstance(tree, list) else tuple(map(halved, tree))


# -- the average over prunings


@several
@given(tree=trees(), share=st.floats(0.1, 0.9), chosen=st.booleans())
def test_the_average_is_that_of_all_prunings(tree: Any, share: float, chosen: bool) -> None:
    forest, prior = forest_of(tree), np.array([1 - share, share])
    found = Prunings(chosen=chosen).posteriors(forest, forest.counts, prior)
    tree = halved(tree) if chosen else tree
    evidence = [oracle.evidence(tree, m * prior, chosen) for m in M]
    assert evidence[M.index(found.m)] == pytest.approx(max(evidence), rel=1e-9)
    shares, bits = oracle.average(tree, found.m * prior, chosen)
    order = leaf_order(forest)
    np.testing.assert_allclose(found.shares[order], shares, rtol=1e-9)
    np.testing.assert_allclose(found.bits[order], bits, rtol=1e-6)  # by quadrature


@several
@given(tree=trees(n_classes=3), chosen=st.booleans())
def test_so_are_the_shares_of_three_classes(tree: Any, chosen: bool) -> None:
    forest, prior = forest_of(tree), np.array([0.5, 0.3, 0.2])
    found = Prunings(chosen=chosen).posteriors(forest, forest.counts, prior)
    expected, _ = oracle.average(halved(tree) if chosen else tree, found.m * prior, chosen)
    np.testing.assert_allclose(found.shares[leaf_order(forest)], expected, rtol=1e-9)


@several
@given(one=trees(), other=trees())
def test_trees_only_share_m(one: Any, other: Any) -> None:
    prior = np.array([0.4, 0.6])
    both = forest_of(one, other)
    found = Prunings().posteriors(both, both.counts, prior)
    for number, tree in enumerate((one, other)):
        expected, _ = oracle.average(halved(tree), found.m * prior, chosen=True)
        np.testing.assert_allclose(found.shares[leaf_order(both, number)], expected, rtol=1e-9)


def test_trees_are_averaged_some_at_a_time_with_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), rng.integers(0, 3, 200)
    model = ForestClassifier(5, random_state=0).fit(X, y)
    at_once = Prunings().posteriors(model.forest_, model.forest_.counts, model.class_prior_)
    monkeypatch.setattr("hedgerow.folds.prunings._TREES_FOR_M", 1)
    monkeypatch.setattr("hedgerow.folds.prunings._NODES_AT_ONCE", 10)
    one_by_one = Prunings().posteriors(model.forest_, model.forest_.counts, model.class_prior_)
    assert at_once.shares.tobytes() == one_by_one.shares.tobytes()
    assert at_once.bits.tobytes() == one_by_one.bits.tobytes()


@several
@given(alpha=st.lists(st.floats(0.01, 50), min_size=1, max_size=5))
def test_mean_entropy_is_less_than_that_of_the_mean(alpha: list[float]) -> None:
    given_ = np.array(alpha)
    share = given_ / given_.sum()
    assert 0 <= dirichlet_entropy_bits(given_) <= -(share * np.log2(share)).sum() + 1e-12


def test_mean_entropy_of_many_draws() -> None:
    draws = np.random.default_rng(0).dirichlet([0.5, 2.0, 3.0], size=200_000)
    bits = -(draws * np.log2(np.where(draws > 0, draws, 1))).sum(axis=1)
    # The standard error of the mean of 200,000 draws, five times.
    assert dirichlet_entropy_bits(np.array([0.5, 2.0, 3.0])) == pytest.approx(bits.mean(), abs=5 * bits.std() / 447)


# -- rows outside the training range


def test_distance_is_counted_in_widths_of_the_range() -> None:
    ranges = np.array([[0.0, 2.0], [-1.0, 0.0], [5.0, 5.0], [np.nan, np.nan]])
    rows = np.array(
        [[1.0, -0.5, 9.0, 9.0], [4.0, -0.5, 5.0, 0.0], [-1.0, 3.0, 5.0, 0.0], [np.nan, -2.0, 5.0, 0.0], [np.nan] * 4]
    )
    assert widths_outside(rows, ranges).tolist() == [0.0, 1.0, 3.0, 1.0, 0.0]
    assert widths_outside(rows, ranges[2:3]).tolist() == [0.0] * 5


def noisy(n: int, rng: np.random.Generator) -> tuple[Floats, NDArray[np.int64], Floats]:
    """Rows in the unit cube, labels, and the probability of class 1: 0.9 or 0.1, by the first column."""
    X = rng.random((n, 4))
    share = np.where(X[:, 0] > 0.5, 0.9, 0.1)
    return X, (rng.random(n) < share).astype(np.int64), share


def test_epistemic_uncertainty_grows_outside_the_training_range() -> None:
    rng = np.random.default_rng(0)
    X, y, _ = noisy(500, rng)
    for model in (ForestClassifier(20, random_state=0), TreeClassifier(), RandomTreesClassifier(20, random_state=0)):
        model.fit(X, y)
        parts = [
            model.predict_uncertainty(X + np.array([0, shift, 0, 0])).epistemic.mean() for shift in (0, 1.5, 3, 1e300)
        ]
        if not model.forest_.split_features[1]:
            assert len(set(parts)) == 1  # nothing depends on it
        else:
            assert (np.array(parts[1:]) > parts[0]).all()


def test_a_model_without_a_training_range_answers_as_if_inside() -> None:
    rng = np.random.default_rng(0)
    X, y, _ = noisy(200, rng)
    model = ForestClassifier(10, random_state=0).fit(X, y)
    inside = model.predict_uncertainty(X).total
    del model.training_range_  # as in older model files
    model._tables = type(model._tables)()
    np.testing.assert_allclose(model.predict_uncertainty(X).total, inside)
    far = model.predict_uncertainty(X + 100)
    np.testing.assert_allclose(far.total, model.predict_uncertainty(X + 10).total)


def test_rows_of_partial_fit_widen_the_range() -> None:
    rng = np.random.default_rng(0)
    X, y, _ = noisy(200, rng)
    model = RandomTreesClassifier(5, random_state=0).fit(X, y)
    model.partial_fit(X * 3 - 1, y, sample_weight=np.r_[np.ones(199), 0])
    rows = np.concatenate([X, (X * 3 - 1)[:-1]])
    np.testing.assert_array_equal(model.training_range_, np.stack([rows.min(axis=0), rows.max(axis=0)], axis=1))


# -- the parts mean what they say


@pytest.mark.parametrize("n", [100, 500])
def test_noise_alone_is_aleatoric(n: int) -> None:
    rng = np.random.default_rng(n)
    X, y, asked = rng.normal(size=(n, 10)), rng.integers(0, 2, n), rng.normal(size=(500, 10))
    for model in (
        ForestClassifier(random_state=0),
        ForestClassifier(bootstrap=False, random_state=0),
        RandomTreesClassifier(random_state=0),
        RuleClassifier(RandomForestClassifier(random_state=0)),
    ):
        found = model.fit(X, y).predict_uncertainty(asked)
        assert found.aleatoric.mean() > 0.8 * found.total.mean()
        np.testing.assert_allclose(found.aleatoric + found.epistemic, found.total, rtol=1e-12)


def test_without_noise_little_is_aleatoric() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((1000, 4))
    found = ForestClassifier(random_state=0).fit(X, X[:, 0] > 0.5).predict_uncertainty(rng.random((500, 4)))
    assert found.aleatoric.mean() < 0.05


def test_a_missing_value_is_epistemic() -> None:
    X = np.repeat([[0.0], [1.0]], 50, axis=0)
    y = np.repeat([0, 1], 50)
    tree = TreeClassifier().fit(X, y)
    known, missing = (tree.predict_uncertainty([[value]]) for value in (0.0, np.nan))
    assert missing.aleatoric == pytest.approx(known.aleatoric, abs=1e-9)
    assert missing.epistemic == pytest.approx(1 - missing.aleatoric)


def test_tree_weights_count() -> None:
    rng = np.random.default_rng(0)
    X, y, _ = noisy(100, rng)
    weights = np.r_[1.0, np.zeros(9)]
    model = ForestClassifier(10, min_samples_leaf=5, tree_weights=weights, random_state=0).fit(X, y)
    for measure in ("entropy", "leaf_entropy", "plausibility"):
        first = model.predict_uncertainty(X, measure).aleatoric
        model.set_params(tree_weights=None)
        assert not np.allclose(model.predict_uncertainty(X, measure).aleatoric, first)
        model.set_params(tree_weights=weights)


def test_deviations_are_the_roots_of_variances() -> None:
    rng = np.random.default_rng(0)
    X = rng.random((100, 2))
    model = ForestRegressor(10, random_state=0).fit(X, X[:, 0] + rng.normal(size=100))
    deviation, variance = model.predict_uncertainty(X), model.predict_uncertainty(X, "variance")
    for part in ("total", "aleatoric", "epistemic"):
        np.testing.assert_allclose(getattr(deviation, part) ** 2, getattr(variance, part))
    assert (deviation.measure, variance.measure) == ("deviation", "variance")
    with pytest.raises(ValueError, match="measure is 'entropy', must be 'deviation' or 'variance'"):
        model.predict_uncertainty(X, "entropy")
