from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from hedgerow.forest.build import (
    build_forest,
    leaf,
    multiway,
    oblique,
    one_against_rest,
    subset,
    threshold,
    value,
)
from hedgerow.forest.check import InvalidForestError
from hedgerow.forest.kinds import MissingPolicy, NodeKind
from hedgerow.walk import route

A, B, C = leaf([1, 0]), leaf([0, 1]), leaf([2, 2])


def test_a_tree_is_laid_out_breadth_first_with_siblings_side_by_side() -> None:
    left, right = threshold(1, 0.5, A, B), threshold(0, 7, C, A)
    forest = build_forest([leaf([9, 9]), threshold(0, 2, left, right)], 2)
    assert forest.tree_start.tolist() == [0, 1, 8]
    assert forest.leaf_start.tolist() == [0, 1, 5]
    assert forest.kind.tolist() == [0, 1, 1, 1, 0, 0, 0, 0]
    assert forest.feature.tolist() == [-1, 0, 1, 0, -1, -1, -1, -1]
    assert forest.first_child.tolist() == [0, 1, 3, 5, 0, 1, 2, 3]
    assert forest.leaf_counts.tolist() == [[9, 9], [1, 0], [0, 1], [2, 2], [1, 0]]


def test_the_weight_of_a_node_is_that_of_its_children() -> None:
    tree = threshold(0, 0, leaf([1, 2]), threshold(0, 1, leaf([4, 0]), leaf([0, 0], weight=2.5)))
    assert build_forest([tree], 1).weight.tolist() == [9.5, 3, 6.5, 4, 2.5]


def test_a_regression_leaf_is_a_row_of_weight_mean_and_squares() -> None:
    forest = build_forest([value(2.5, weight=4, squares=3)], 1, regression=True)
    assert forest.leaf_counts is None
    assert forest.leaf_stats.tolist() == [[4, 2.5, 3]]
    assert forest.weight.tolist() == [4]


def test_the_bits_of_a_subset_fill_words_of_thirty_two() -> None:
    forest = build_forest([subset(0, [0, 31, 32, 39], 40, A, B)], 1)
    assert forest.payload_codes.tolist() == [1 - 2**31, 1 | 1 << 7]
    codes = np.array([[0.0], [1], [30], [31], [32], [33], [39]])
    assert route(forest, codes)[:, 0].tolist() == [0, 1, 1, 0, 0, 1, 0]


def test_a_multiway_child_can_take_several_categories() -> None:
    forest = build_forest([multiway(0, {4: A, 1: B, 0: A})], 1)
    assert forest.payload_codes.tolist() == [0, 1, -1, -1, 0]
    assert forest.n_children.tolist() == [2, 0, 0]
    assert forest.leaf_counts.tolist() == [[1, 0], [0, 1]]


def test_an_own_branch_is_the_last_child() -> None:
    forest = build_forest([multiway(0, {0: A, 1: B}, own=C)], 1)
    assert forest.missing[0] == MissingPolicy.OWN_BRANCH
    assert forest.n_children[0] == 3
    assert route(forest, np.array([[math.nan], [0.0], [5.0]]))[:, 0].tolist() == [2, 0, 2]


def test_an_oblique_node_names_its_features_in_order() -> None:
    forest = build_forest([oblique({2: -1, 0: 0.5}, 3, A, B), subset(0, [1], 2, A, B)], 3)
    assert forest.kind[0] == NodeKind.OBLIQUE
    assert forest.payload_codes.tolist() == [0, 2, 2]
    assert forest.payload_weights[:2].tolist() == [0.5, -1]
    assert np.isnan(forest.payload_weights[2])
    assert forest.payload_means is None


def test_means_stand_in_for_missing_values_of_an_oblique_node() -> None:
    node = oblique({0: 1.0, 1: 2.0, 2: 4.0}, 3.0, A, B, means={0: 0.5, 1: 1.5, 2: math.nan}, missing="last_child")
    forest = build_forest([node, subset(0, [1], 2, A, B)], 3)
    np.testing.assert_array_equal(forest.payload_means, [0.5, 1.5, math.nan, math.nan])
    nan = math.nan
    rows = [[-1.0, nan, 0.0], [nan, 1.0, 0.0], [-9.0, 0.0, nan], [nan, nan, nan], [nan, nan, 0.0], [nan, nan, -1.0]]
    # sums: -1 + 3, 0.5 + 2, missing, missing, 0.5 + 3, 0.5 + 3 - 4
    assert route(forest, np.array(rows))[:, 0].tolist() == [0, 0, 1, 1, 1, 0]


def test_means_of_other_columns_are_an_error() -> None:
    with pytest.raises(ValueError, match=r"means are of the columns \[0, 2\], weights of \[0, 1\]: give both of each"):
        oblique({0: 1.0, 1: 1.0}, 0, A, B, means={0: 1.0, 2: 1.0})


def test_a_node_can_stand_in_several_trees() -> None:
    shared = threshold(0, 1, A, B)
    forest = build_forest([shared, threshold(0, 0, shared, shared)], 1)
    assert forest.n_nodes == 3 + 7
    assert forest.n_leaves == 2 + 4


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: threshold(0, 1, A, B, missing="nowhere"), "missing is 'nowhere', must be one of spread, first_"),
        (lambda: multiway(0, {0: A, 1: B}, missing="right"), "missing is 'right', must be one of"),
        (lambda: threshold(0, 1, A), "a threshold node with missing='spread' has 2 children, got 1"),
        (lambda: threshold(0, 1, A, B, C), "has 2 children, got 3"),
        (lambda: threshold(0, 1, A, B, missing="own_branch"), "missing='own_branch' has 3 children, got 2"),
        (lambda: one_against_rest(0, 1), "a one_against_rest node with missing='spread' has 2 children, got 0"),
        (lambda: subset(0, [0], 2, A, B, C), "a subset node .* has 2 children, got 3"),
        (lambda: oblique({0: 1}, 1, A), "an? oblique node .* has 2 children, got 1"),
        (lambda: subset(0, [3], 3, A, B), r"members holds 3, must be in 0 \.\. 2 \(n_categories=3\)"),
        (lambda: subset(0, [-1], 3, A, B), "members holds -1, must be in 0"),
    ],
)
def test_nodes_that_cannot_be_are_refused(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (threshold(2, 1, A, B), r"feature of node 0 .* is 2, must be in 0 \.\. 1"),
        (threshold(0, math.nan, A, B), "threshold of node 0 .* is nan"),
        (one_against_rest(0, -1, A, B), "must be the code of a category"),
        (subset(0, [], 3, A, B), "payload 0 is the subset of no category"),
        (oblique({0: math.inf}, 0, A, B), r"payload_weights\[0\] .* must be finite"),
        (oblique({2: 1.0}, 0, A, B), r"payload_codes\[0\] of payload 0 is 2, must be a feature"),
        (multiway(0, {0: A}), "must be that of at least two children"),
        (threshold(0, 1, A, multiway(0, {})), r"payload of node 2 \(multiway\)"),
        (multiway(0, {0: A, 1: B}, missing="own_branch"), "children are in the tree"),
        (threshold(0, 1, A, leaf([-1, 0], weight=1)), "leaf 1 holds a negative count"),
    ],
)
def test_trees_that_make_no_valid_forest_are_refused(tree: Any, message: str) -> None:
    with pytest.raises(InvalidForestError, match=message):
        build_forest([tree], 2)


def test_leaves_must_agree_on_the_number_of_classes() -> None:
    with pytest.raises(ValueError, match="leaves hold 2 and 3 numbers: every leaf needs the same number of classes"):
        build_forest([threshold(0, 1, A, leaf([1, 2, 3]))], 1)


def test_a_forest_needs_a_tree() -> None:
    with pytest.raises(InvalidForestError, match="it has no tree"):
        build_forest([], 1)


def test_negative_codes_of_a_multiway_node_are_refused() -> None:
    with pytest.raises(ValueError, match="-1"):
        build_forest([multiway(0, {0: A, 1: A, -1: B})], 1)
