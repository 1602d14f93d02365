"""C4.5's pruning against the recursion that the book describes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, event, given, settings
from hypothesis import strategies as st

from effort import daily_pairs, examples
from hedgerow import Forest, TreeClassifier
from hedgerow.forest.build import build_forest, leaf, multiway, threshold
from hedgerow.growth import Fractional
from hedgerow.pruning import Pessimistic, pessimistic
from oracles import pruning as truth
from pruning_strategies import Grown, grown_from, grown_trees, noisy_rows, refilled_trees

several = settings(max_examples=examples(22, 100), deadline=None, suppress_health_check=[HealthCheck.too_slow])
CONFIDENCES = (0.25, 0.25, 0.1, 0.01, 0.5)


def min_fraction_of(grown: Grown) -> float:
    missing = grown.growth.missing
    return missing.min_fraction if isinstance(missing, Fractional) else 1 / 64


def check_against_the_recursion(grown: Grown, confidence: float, raising: bool) -> tuple[Forest, bool]:
    """The pruned tree, and whether a branch was raised in it."""
    problem = truth.Problem(
        grown.forest,
        grown.X,
        grown.y.tolist(),
        grown.training.sample_weight.tolist(),
        grown.training.n_classes,
        confidence,
        raising,
        min_fraction_of(grown),
    )
    try:
        expected = truth.pessimistic(problem, truth.grown(problem))
    except truth.UnclearError:
        assume(False)
    found = pessimistic(
        grown.forest,
        grown.X,
        grown.y,
        grown.training.sample_weight,
        confidence=confidence,
        raising=raising,
        min_fraction=min_fraction_of(grown),
    )
    found.check()
    truth.check_same_tree(problem, expected, found)
    return found, expected.node != 0 or raised_somewhere(expected, grown.forest)


def raised_somewhere(tree: truth.Tree, forest: Forest) -> bool:
    """Whether a child stands where another node stood when the tree was grown."""
    if tree.is_leaf:
        return False
    below = truth.below_of(forest, tree.node)
    return any(child.node not in below or raised_somewhere(child, forest) for child in tree.children)


@several
@given(grown=grown_trees(), confidence=st.sampled_from(CONFIDENCES), raising=st.booleans())
def test_grown_trees_are_pruned_as_the_recursion_prunes_them(grown: Grown, confidence: float, raising: bool) -> None:
    found, raised = check_against_the_recursion(grown, confidence, raising)
    event(f"nodes left: {'all' if found.n_nodes == grown.forest.n_nodes else 'one' if found.n_nodes == 1 else 'some'}")
    event(f"raised: {raised}")


@several
@given(grown=refilled_trees(), confidence=st.sampled_from(CONFIDENCES), raising=st.booleans())
def test_trees_of_any_shape_are_pruned_as_the_recursion_prunes_them(
    grown: Grown, confidence: float, raising: bool
) -> None:
    check_against_the_recursion(grown, confidence, raising)


@pytest.mark.parametrize(("missing", "nominal"), daily_pairs([0.0, 0.1, 0.3], ["multiway", "binary"]))
def test_branches_are_raised_and_raised_again(nominal: str, missing: float) -> None:
    n_raised = 0
    for seed in range(12):
        training = noisy_rows(seed, 150, n_columns=4, n_classes=2, missing=missing, weighted=seed % 2 == 1)
        growth = {"criterion": "entropy", "nominal": nominal, "missing": Fractional(0.0), "min_samples_leaf": 2}
        grown = grown_from(training, **growth)
        n_raised += check_against_the_recursion(grown, 0.25, True)[1]
    assert n_raised > 0


@pytest.mark.parametrize(
    ("n", "errors", "expected"),
    # Quinlan's own figures (C4.5, 1993, section 4.2): U25%(0, 6), U25%(0, 9), U25%(0, 1).
    [(6, 0, 6 * 0.206), (9, 0, 9 * 0.143), (1, 0, 0.750)],
)
def test_the_limits_of_the_book(n: float, errors: float, expected: float) -> None:
    assert truth.upper_limit([n - errors, errors], 0.25) == pytest.approx(expected, rel=2e-3)


def test_the_books_tree_of_voters_becomes_a_leaf() -> None:
    # C4.5 (1993), section 4.2: leaves with 6, 9 and 1 rows of one class; as a leaf 16 with 1 error.
    tree = multiway(0, {0: leaf([6, 0]), 1: leaf([9, 0]), 2: leaf([0, 1])})
    forest = build_forest([tree], 1)
    X = np.repeat([0.0, 1.0, 2.0], [6, 9, 1])[:, np.newaxis]
    y = np.repeat([0, 0, 1], [6, 9, 1])
    assert sum(truth.upper_limit(c, 0.25) for c in ([6, 0], [9, 0], [0, 1])) == pytest.approx(3.273, abs=5e-3)
    # The book has 16 · 0.157 = 2.512 by the exact limit; the normal approximation gives a little less.
    assert truth.upper_limit([15, 1], 0.25) == pytest.approx(2.476, abs=5e-4)
    for raising in (False, True):
        pruned = pessimistic(forest, X, y, raising=raising)
        assert pruned.n_nodes == 1
        assert pruned.counts.tolist() == [[15, 1]]
        assert pruned.weight.tolist() == [16]


def test_the_last_of_equally_large_branches_is_raised() -> None:
    # Both branches ask the same split, of which only the threshold tells which one was taken.
    def branch(at: float) -> Any:
        return threshold(1, at, leaf([10, 0]), leaf([0, 10]))

    forest = build_forest([threshold(0, 0.5, branch(0.5), branch(0.25))], 2)
    X = np.array([[a, b] for a in (0.0, 1.0) for b in (0.0, 1.0) for _ in range(10)])
    y = X[:, 1].astype(int)
    pruned = pessimistic(forest, X, y)
    assert pruned.threshold[0] == 0.25
    assert pruned.counts.tolist() == [[20, 0], [0, 20]]
    assert pruned.weight.tolist() == [40, 20, 20]


def test_rows_with_missing_values_stay_whole_in_a_raised_branch() -> None:
    grown = [
        grown_from(noisy_rows(seed, 150, 4, 2, missing=0.2), criterion="entropy", missing=Fractional(0.0))
        for seed in range(8)
    ]
    pruned, raised = zip(*(check_against_the_recursion(one, 0.25, True) for one in grown), strict=True)
    assert any(raised)
    for forest in pruned:
        np.testing.assert_allclose(forest.weight[0], 150)
        np.testing.assert_allclose(forest.counts.sum(), 150)


def test_a_deep_tree_needs_no_deep_stack() -> None:
    n = 3_000  # one row leaves the chain at each split
    chain = leaf([1, 0])
    for i in range(n - 2, -1, -1):
        chain = threshold(0, i + 0.5, leaf([(i + n) % 2, (i + n + 1) % 2]), chain)
    forest = build_forest([chain], 1)
    assert forest.depths[0] == n - 1
    X = np.arange(n, dtype=float)[:, np.newaxis]
    y = (np.arange(n) + n + 1) % 2
    for raising in (False, True):
        pruned = pessimistic(forest, X, y, raising=raising)
        pruned.check()
        np.testing.assert_allclose(pruned.counts.sum(axis=0), [n / 2, n / 2])


def test_a_long_chain_is_pruned_with_raising() -> None:
    X = np.arange(1500, dtype=float)[:, np.newaxis]
    y = np.arange(1500) % 2
    tree = TreeClassifier(pruning=None).fit(X, y)
    assert tree.get_depth() > 400
    pruned = TreeClassifier(pruning="pessimistic").fit(X, y)
    pruned.forest_.check()
    assert pruned.get_n_leaves() <= tree.get_n_leaves()


def test_a_smaller_confidence_prunes_more() -> None:
    grown = grown_from(noisy_rows(0, 400, 5, 2), criterion="entropy")
    sizes = [
        pessimistic(grown.forest, grown.X, grown.y, confidence=confidence, raising=False).n_nodes
        for confidence in (0.5, 0.25, 0.05, 1e-6)
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1]


def test_weights_are_repeated_rows() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, (150, 4)).astype(float)
    y = ((X[:, 0] > 2) ^ (rng.random(150) < 0.2)).astype(int)
    weight = rng.integers(0, 4, 150)
    weighted = TreeClassifier(pruning="pessimistic").fit(X, y, weight)
    repeated = TreeClassifier(pruning="pessimistic").fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert weighted.forest_ == repeated.forest_
    assert 1 < weighted.get_n_leaves() < TreeClassifier(pruning=None).fit(X, y, weight).get_n_leaves()


@pytest.mark.parametrize("confidence", [0, -0.1, 0.51, 1, math.nan, "a quarter", None])
def test_a_confidence_that_makes_no_sense_is_refused(confidence: Any) -> None:
    with pytest.raises(ValueError, match=rf"confidence is {confidence!r}, must be a number in \(0, 0.5\]"):
        Pessimistic(confidence=confidence)


def test_raising_is_a_truth_value() -> None:
    with pytest.raises(ValueError, match="raising is 'no', must be True or False"):
        Pessimistic(raising="no")  # type: ignore[arg-type]
