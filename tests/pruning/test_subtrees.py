"""Removal of subtrees: which nodes go, which stay, and the counts of a node that became a leaf."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from effort import examples
from hedgerow import Forest
from hedgerow.forest.build import build_forest, leaf, multiway, one_against_rest, threshold, value
from hedgerow.forest.kinds import NodeKind
from hedgerow.pruning import collapse, cut
from oracles import pruning as truth
from pruning_strategies import Grown, grown_trees
from strategies import forests

several = settings(max_examples=examples(22, 100), deadline=None, suppress_health_check=[HealthCheck.too_slow])


@several
@given(forest=forests(), data=st.data())
def test_any_nodes_of_any_forest_can_be_cut(forest: Forest, data: st.DataObject) -> None:
    chosen = data.draw(st.sets(st.integers(0, forest.n_nodes - 1), max_size=6))
    found = cut(forest, sorted(chosen))
    truth.check_cut(forest, chosen, found)
    mask = np.isin(np.arange(forest.n_nodes), list(chosen))
    assert cut(forest, mask) == found
    event(f"kinds left: {len(set(found.kind.tolist()))}")


@several
@given(forest=forests())
def test_what_is_not_cut_has_the_same_bits(forest: Forest) -> None:
    assert cut(forest, []) is forest
    assert cut(forest, forest.leaf_nodes) is forest
    roots = cut(forest, forest.tree_start[:-1])
    assert roots.n_nodes == roots.n_leaves == forest.n_trees
    values = forest.node_stats() if forest.leaf_counts is None else forest.node_counts()
    leaves = roots.leaf_stats if roots.leaf_counts is None else roots.leaf_counts
    assert leaves is not None
    assert leaves.tobytes() == values[forest.tree_start[:-1]].tobytes()


def test_payloads_of_nodes_that_are_gone_are_gone() -> None:
    inner = multiway(1, {0: leaf([1, 0]), 2: leaf([0, 2]), 5: leaf([0, 1])})
    forest = build_forest([multiway(0, {0: inner, 1: one_against_rest(1, 2, leaf([3, 0]), leaf([0, 3]))})], 2)
    pruned = cut(forest, [1])
    assert pruned.counts.tolist() == [[1, 3], [3, 0], [0, 3]]
    assert pruned.payload_codes.tolist() == [0, 1]
    assert pruned.kind.tolist() == [NodeKind.MULTIWAY, 0, NodeKind.ONE_AGAINST_REST, 0, 0]
    assert pruned.weight.tolist() == [10, 4, 6, 3, 3]


def test_a_number_keeps_mean_and_squares_of_what_was_below() -> None:
    forest = build_forest(
        [threshold(0, 1.5, threshold(0, 0.5, value(1, weight=2), value(4, weight=1)), value(9))], 1, regression=True
    )
    assert cut(forest, [1]).stats.tolist() == [[3, 2, 6], [1, 9, 0]]


def collapsed(forest: Forest, node: int = 0) -> set[int]:
    """Top-down: nodes whose leaves make as many training errors as they would."""
    below = truth.below_of(forest, node)
    if not below:
        return set()
    counts = truth.node_values(forest, node)
    own = math.fsum(counts) - max(counts)
    saved = own - math.fsum(
        math.fsum(c) - max(c) for c in (forest.counts[i].tolist() for i in truth._leaf_numbers(forest, node))
    )
    if abs(saved - 1e-3) > 1e-9 and saved < 1e-3:
        return {node}
    return set().union(*(collapsed(forest, child) for child in below))


@several
@given(grown=grown_trees())
def test_subtrees_that_save_no_training_error_collapse(grown: Grown) -> None:
    truth.check_cut(grown.forest, collapsed(grown.forest), collapse(grown.forest))


def test_a_subtree_that_saves_a_part_of_an_error_stays() -> None:
    def tree(amount: float) -> Forest:
        return build_forest([threshold(0, 0.5, leaf([5, 0]), leaf([1, 1 + amount]))], 1)

    assert collapse(tree(0)).n_nodes == 1
    assert collapse(tree(0.0005)).n_nodes == 1
    assert collapse(tree(0.002)).n_nodes == 3


def test_every_tree_of_a_forest_collapses_by_itself() -> None:
    useful, useless = threshold(0, 0.5, leaf([5, 0]), leaf([0, 2])), threshold(0, 0.5, leaf([5, 1]), leaf([4, 2]))
    assert np.diff(collapse(build_forest([useless, useful, useless], 1)).tree_start).tolist() == [1, 3, 1]


def test_numbers_do_not_collapse() -> None:
    forest = build_forest([threshold(0, 0.5, value(1), value(2))], 1, regression=True)
    with pytest.raises(ValueError, match="no class counts"):
        collapse(forest)
