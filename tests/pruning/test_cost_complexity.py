"""Cost-complexity pruning: scikit-learn's path, the smallest minimiser, and the choice of alpha."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, make_classification, make_regression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import oracles
from effort import examples
from hedgerow import Forest, TreeClassifier, TreeRegressor
from hedgerow.forest.build import build_forest, leaf, threshold
from hedgerow.pruning import CostComplexity, Grower, cost_complexity, cut, links_of
from hedgerow.pruning.training_rows import hash_positions, select_rows
from oracles import pruning as truth
from pruning_strategies import Grown, grown_from, grown_trees, noisy_rows

several = settings(max_examples=examples(14, 60), deadline=None, suppress_health_check=[HealthCheck.too_slow])


# -- scikit-learn's trees


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_the_path_is_scikit_learns(load: Any, criterion: str) -> None:
    X, y = load(return_X_y=True)
    limits = {"criterion": criterion, "max_depth": 3}
    ours = TreeClassifier.cart(**limits)
    # scikit-learn draws between equally good splits: one of a few draws is ours.
    probabilities = ours.fit(X, y).predict_proba(X)
    drawn = (DecisionTreeClassifier(**limits, random_state=seed) for seed in range(50))
    theirs = next(one for one in drawn if np.allclose(one.fit(X, y).predict_proba(X), probabilities))
    found, expected = ours.cost_complexity_pruning_path(X, y), theirs.cost_complexity_pruning_path(X, y)
    np.testing.assert_allclose(found.ccp_alphas, expected.ccp_alphas, atol=1e-12)
    np.testing.assert_allclose(found.impurities, expected.impurities, atol=1e-12)
    for alpha in np.concatenate([found.ccp_alphas * 1.001, [0.003, 0.01, 0.1, 1]]):
        pruned = TreeClassifier.cart(**limits, pruning=CostComplexity(float(alpha))).fit(X, y)
        fitted = clone(theirs).set_params(ccp_alpha=alpha).fit(X, y)
        assert pruned.get_n_leaves() == fitted.get_n_leaves()
        np.testing.assert_allclose(pruned.predict_proba(X), fitted.predict_proba(X), atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_path_of_numbers_is_scikit_learns(weighted: bool) -> None:
    X, y = load_diabetes(return_X_y=True)
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y)) if weighted else None
    found = TreeRegressor(max_depth=4).cost_complexity_pruning_path(X, y, sample_weight=weight)
    theirs = DecisionTreeRegressor(max_depth=4, random_state=0)
    expected = theirs.cost_complexity_pruning_path(X, y, sample_weight=weight)
    np.testing.assert_allclose(found.ccp_alphas, expected.ccp_alphas, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.impurities, expected.impurities, rtol=1e-9)
    for alpha in found.ccp_alphas[1:] * 1.0001:
        pruned = TreeRegressor(max_depth=4, pruning=CostComplexity(float(alpha))).fit(X, y, weight)
        fitted = DecisionTreeRegressor(max_depth=4, ccp_alpha=alpha, random_state=0).fit(X, y, weight)
        np.testing.assert_allclose(pruned.predict(X), fitted.predict(X), rtol=1e-9)


def test_the_path_does_not_depend_on_the_pruning_that_is_set() -> None:
    X, y = load_iris(return_X_y=True)
    path = TreeClassifier(pruning=None).cost_complexity_pruning_path(X, y)
    same = TreeClassifier(pruning="reduced_error").cost_complexity_pruning_path(X, y)
    assert path.ccp_alphas.tolist() == same.ccp_alphas.tolist()
    assert path.ccp_alphas[0] == 0
    assert (np.diff(path.ccp_alphas) >= 0).all()
    assert (np.diff(path.impurities) >= -1e-15).all()


# -- by definition


@several
@given(grown=grown_trees(max_rows=25), alpha=st.sampled_from([0.0, 1e-6, 0.01, 0.02, 0.1, 0.5]), gini=st.booleans())
def test_the_tree_is_the_smallest_that_minimises_its_cost(grown: Grown, alpha: float, gini: bool) -> None:
    forest = grown.forest
    assume(forest.n_leaves <= 12)
    impurity = "gini" if gini else "entropy"

    def risk(node: int) -> float:
        counts = truth.node_values(forest, node)
        shares = [count / math.fsum(counts) for count in counts]
        bits = 1 - math.fsum(p * p for p in shares) if gini else -math.fsum(p * math.log2(p) for p in shares if p > 0)
        return math.fsum(counts) / float(forest.weight[0]) * bits

    pruned = cost_complexity(forest, alpha, impurity)
    n_leaves, least = truth.smallest_minimiser(forest, risk, alpha)
    links = links_of(pruned, impurity)
    np.testing.assert_allclose(links.impurities[0] + alpha * pruned.n_leaves, least, rtol=1e-9, atol=1e-9)
    assert pruned.n_leaves == n_leaves


@several
@given(grown=grown_trees(max_rows=40, regression=True))
def test_each_step_takes_the_weakest_link(grown: Grown) -> None:
    forest = grown.forest
    links = links_of(forest, "squared_error")
    assert len(links.alphas) == len(links.nodes) == len(links.impurities) - 1
    stats = forest.node_stats()
    left = set(truth.inner_nodes(forest))

    def leaves(node: int) -> list[int]:
        return [node] if node not in left else [one for child in truth.below_of(forest, node) for one in leaves(child)]

    def below(node: int) -> set[int]:
        return {node}.union(*(below(child) for child in truth.below_of(forest, node)))

    for step, (node, alpha) in enumerate(zip(links.nodes.tolist(), links.alphas, strict=True)):
        risks = {one: (stats[one, 2] - stats[leaves(one), 2].sum(), len(leaves(one)) - 1) for one in left}
        g = {one: risk / n / forest.weight[0] for one, (risk, n) in risks.items()}
        scale = 1e-9 * stats[0, 2] / forest.weight[0] + 1e-300
        assert node in left
        assert g[node] <= min(g.values()) + scale
        assert abs(alpha - max(g[node], 0)) <= scale
        left -= below(node)
        total = stats[leaves(0), 2].sum() / forest.weight[0]
        np.testing.assert_allclose(links.impurities[step + 1], total, rtol=1e-9, atol=scale)
    assert not left


def test_sums_over_leaves_go_along() -> None:
    training = noisy_rows(0, 80, 3, 2)
    rows = noisy_rows(1, 40, 3, 2, missing=0.1)
    forest = grown_from(training, criterion="gini").forest
    links = links_of(forest, "gini", rows)
    X, y, w = np.ascontiguousarray(rows.values), rows.labels.tolist(), rows.sample_weight.tolist()  # type: ignore[union-attr]
    for step in (0, len(links.nodes) // 2, len(links.nodes)):
        pruned = cut(forest, links.nodes[:step])
        loss = math.fsum(
            truth.held_out_loss(pruned, node, X, y, w) for node in range(pruned.n_nodes) if pruned.kind[node] == 0
        )
        np.testing.assert_allclose(links.losses[step], [loss, loss], atol=1e-9)


# -- the choice of alpha


def chosen_by_hand(grown: Grown, folds: int, standard_errors: float, seed: int) -> Forest:
    """Prune every fold's tree at every candidate, count what it loses, and take the largest of the best."""
    training = grown.training
    path = links_of(grown.forest, "squared_error" if training.labels is None else "gini")
    alphas = sorted({0.0, *path.alphas.tolist()})
    distinct = [a for a, b in zip(alphas, [-1.0, *alphas], strict=False) if a - b > 1e-12 * path.impurities.max()]
    candidates = [*(math.sqrt(a * b) for a, b in pairwise(distinct)), math.inf]
    if len(candidates) < 2:
        return grown.forest
    places = hash_positions(training, seed)
    losses: list[list[tuple[float, float]]] = [[] for _ in candidates]
    for fold in range(folds):
        inside = (places * folds).astype(int) == fold
        if not inside.any() or inside.all():
            continue
        tree, rows = grown.grow(select_rows(training, ~inside)), select_rows(training, inside)
        for found, candidate in zip(losses, candidates, strict=True):
            pruned = cost_complexity(
                tree, min(candidate, 1e300), "squared_error" if training.labels is None else "gini"
            )
            y = (rows.targets if rows.labels is None else rows.labels).tolist()  # type: ignore[union-attr]
            for x, truth_of_row, weight in zip(np.ascontiguousarray(rows.values), y, rows.sample_weight, strict=True):
                found += parts_of_loss(pruned, x, truth_of_row, float(weight))
    total = math.fsum(weight for weight, _ in losses[0])
    means = [math.fsum(w * loss for w, loss in found) / total for found in losses]
    best = means.index(min(means))
    variance = math.fsum(w * (loss - means[best]) ** 2 for w, loss in losses[best]) / total
    bar = means[best] + standard_errors * math.sqrt(variance / total)
    alpha = [c for c, mean in zip(candidates, means, strict=True) if mean <= bar * (1 + 1e-9)][-1]
    return cost_complexity(grown.forest, min(alpha, 1e300), "squared_error" if training.labels is None else "gini")


def parts_of_loss(forest: Forest, x: Any, y: float, weight: float) -> list[tuple[float, float]]:
    answers = forest.counts.argmax(axis=1) if forest.leaf_counts is not None else forest.stats[:, 1]
    return [
        (weight * share, float(y != answers[i]) if forest.leaf_counts is not None else (y - float(answers[i])) ** 2)
        for i, share in oracles.spread(forest, x, 0).items()
    ]


@pytest.mark.parametrize("standard_errors", [0.0, 1.0])
@pytest.mark.parametrize("n_classes", [0, 2, 3])
def test_alpha_is_chosen_by_cross_validation(n_classes: int, standard_errors: float) -> None:
    for seed, folds in ((0, 5), (1, 3), (2, 10)):
        training = noisy_rows(seed, examples(40, 60), 3, n_classes, weighted=seed == 1)
        grown = grown_from(training, criterion="gini" if n_classes else "squared_error")
        grower = Grower(grown.grow, "gini" if n_classes else "squared_error", 1 / 64)
        strategy = CostComplexity(folds=folds, standard_errors=standard_errors)
        assert strategy(training, grower, seed) == chosen_by_hand(grown, folds, standard_errors, seed)


def test_noise_is_pruned_away_and_signal_stays() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    noise = TreeRegressor(pruning=CostComplexity(standard_errors=1), random_state=0).fit(X, rng.normal(size=400))
    assert noise.get_n_leaves() < 5
    y = np.where(X[:, 0] > 0, 5.0, 0.0) + np.where(X[:, 1] > 0.5, 3.0, 0.0) + rng.normal(size=400) / 2
    tree = TreeRegressor(pruning=CostComplexity(standard_errors=1), random_state=0).fit(X, y)
    assert 4 <= tree.get_n_leaves() <= 8
    assert tree.get_n_leaves() < TreeRegressor(pruning=None).fit(X, y).get_n_leaves() / 10


@pytest.mark.parametrize("make", [make_classification, make_regression])
def test_more_standard_errors_prune_more(make: Any) -> None:
    X, y = make(200, 5, random_state=0)
    if make is make_classification:
        y = np.where(np.random.default_rng(0).random(200) < 0.2, 1 - y, y)
    estimator = TreeClassifier if make is make_classification else TreeRegressor
    sizes = [
        estimator(pruning=CostComplexity(standard_errors=s), random_state=0).fit(X, y).get_n_leaves()
        for s in (0, 1, 3, 1e6)
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 1


def test_few_rows_do_not_stop_it() -> None:
    for X, y in (([[1.0]], [1]), ([[1.0], [1.0]], [0, 1]), ([[1.0], [2.0]], [0, 1]), ([[1.0]] * 9, list(range(9)))):
        for estimator in (TreeClassifier, TreeRegressor):
            tree = estimator(pruning="cost_complexity", random_state=0).fit(X, y)
            tree.forest_.check()
            assert tree.get_n_leaves() <= 2


# -- what is refused


@pytest.mark.parametrize("alpha", [-1e-9, math.nan, math.inf, "auto", None, True])
def test_an_alpha_that_makes_no_sense_is_refused(alpha: Any) -> None:
    with pytest.raises(ValueError, match=f"alpha is {alpha!r}, must be 'cv' or a number of at least 0"):
        CostComplexity(alpha)


@pytest.mark.parametrize("folds", [1, 0, -5, 2.5, "five", True, None])
def test_folds_that_make_no_sense_are_refused(folds: Any) -> None:
    with pytest.raises(ValueError, match=f"folds is {folds!r}, must be a whole number of at least 2"):
        CostComplexity(folds=folds)


@pytest.mark.parametrize("standard_errors", [-1, math.nan, "one", None, True])
def test_standard_errors_that_make_no_sense_are_refused(standard_errors: Any) -> None:
    with pytest.raises(ValueError, match=f"standard_errors is {standard_errors!r}, must be a number of at least 0"):
        CostComplexity(standard_errors=standard_errors)


def test_one_tree_at_a_time() -> None:
    tree = threshold(0, 0.5, leaf([1, 0]), leaf([0, 1]))
    with pytest.raises(ValueError, match="takes one tree, the forest has 2"):
        cost_complexity(build_forest([tree, tree], 1), 0.1, "gini")
