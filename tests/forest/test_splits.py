from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import examples
from hedgerow import Forest
from hedgerow.forest.build import Node, build_forest, leaf, multiway, oblique, one_against_rest, subset, threshold
from hedgerow.forest.kinds import NO_CHILD, MissingPolicy, NodeKind
from hedgerow.forest.names import Names
from hedgerow.forest.splits import Split, restore_missing, splits_by_kind
from hedgerow.walk import route
from strategies import forests, rows_of

YES, NO, OWN = leaf([3, 0]), leaf([0, 1]), leaf([1, 1])


def split_of(tree: Node) -> Split:
    return Split(build_forest([tree], 2), 0)


def leaf_reached(forest: Forest, tree: int, row: np.ndarray) -> int:
    """Number of the leaf, by the reader alone; -1 for a row that is spread."""
    node = int(forest.tree_start[tree])
    while forest.kind[node] != NodeKind.LEAF:
        split = Split(forest, node)
        child = split.child_of(split.value(row))
        if child is None:
            if split.missing == MissingPolicy.SPREAD:
                return -1
            (node,) = split.children_without_value()
        else:
            node = split.children[child]
    return int(forest.first_child[node])


@settings(max_examples=examples(14, 60), deadline=None)
@given(st.data())
def test_the_reader_takes_the_branches_of_the_core(data: st.DataObject) -> None:
    forest = data.draw(forests())
    X = data.draw(rows_of(forest))
    found = [[leaf_reached(forest, tree, row) for tree in range(forest.n_trees)] for row in X]
    assert found == route(forest, X, heaviest=False).tolist()


@settings(max_examples=examples(14, 60), deadline=None)
@given(forests())
def test_every_split_is_listed_once_by_its_kind(forest: Forest) -> None:
    found = {
        node: (kind, feature)
        for kind, (nodes, features) in splits_by_kind(forest).items()
        for node, feature in zip(nodes.tolist(), features.tolist(), strict=True)
    }
    splits = [Split(forest, node) for node in np.flatnonzero(forest.kind != NodeKind.LEAF).tolist()]
    assert found == {split.node: (split.kind, split.feature) for split in splits}
    assert sum(len(nodes) for nodes, _ in splits_by_kind(forest).values()) == len(splits)


def test_splits_on_imputed_values_become_splits_on_missing_ones() -> None:
    # Column 0: 5 is the largest known value; column 1: the code 2 stands for missing.
    tree = threshold(0, 5.0, multiway(1, {0: YES, 2: NO}), threshold(0, 3.0, YES, NO))
    forest = restore_missing(build_forest([tree], 2), np.array([5.0, np.nan]), np.array([-1, 2]))
    forest.check()
    root, nominal, low = (Split(forest, node) for node in np.flatnonzero(forest.kind != NodeKind.LEAF).tolist())
    assert root.tests_presence
    assert (low.threshold, low.missing) == (3.0, MissingPolicy.LAST_CHILD)
    assert (nominal.missing, nominal.codes.tolist()) == (MissingPolicy.OWN_BRANCH, [0, NO_CHILD])


@settings(max_examples=examples(14, 60), deadline=None)
@given(forests())
def test_the_codes_that_lead_to_a_child_take_it(forest: Forest) -> None:
    for node in np.flatnonzero(forest.kind != NodeKind.LEAF):
        split = Split(forest, int(node))
        if not split.is_nominal:
            continue
        for n in (1, 7, 100):
            taken = [split.child_of(float(code)) for code in range(n)]
            assert split.child_of_codes(n).tolist() == [NO_CHILD if child is None else child for child in taken]
            for child in range(len(split.children)):
                assert split.codes_to(child, n) == [code for code in range(n) if taken[code] == child]


@pytest.mark.parametrize(
    ("tree", "texts"),
    [
        (threshold(0, 2.5, YES, NO), ["size <= 2.5", "size > 2.5"]),
        (threshold(0, math.inf, YES, NO), ["size is known", "size is missing"]),
        (threshold(1, 0.5, YES, NO), ["colour <= red", "colour > red"]),
        (one_against_rest(1, 2, YES, NO, OWN, missing="own_branch"), ["colour = blue", "colour != blue"]),
        (subset(1, [0, 2], 3, YES, NO), ["colour in {red, blue}", "colour not in {red, blue}"]),
        (multiway(1, {0: YES, 1: NO, 2: NO}, own=OWN), ["colour = red", "colour in {green, blue}"]),
        (oblique({0: -0.5, 1: 2.0}, 1.0, YES, NO), ["-0.5·size + 2·colour <= 1", "-0.5·size + 2·colour > 1"]),
    ],
)
def test_a_split_has_the_condition_of_each_child(tree: Node, texts: list[str]) -> None:
    split = split_of(tree)
    names = Names.of(split.forest, ["size", "colour"], None, [[], ["red", "green", "blue"]])
    own = ["colour is missing"] if len(split.children) == 3 else []
    assert split.branch_texts(names) == [*texts, *own]
    assert [split.is_missing_branch(child) for child in range(len(split.children))] == [
        text.endswith("is missing") for text in (*texts, *own)
    ]


def test_a_missing_value_of_weight_0_is_missing_as_in_the_core() -> None:
    split = split_of(oblique({0: 1.0, 1: 0.0}, 0.5, YES, NO))
    row = np.array([0.0, np.nan])
    assert split.child_of(split.value(row)) is None
    assert route(split.forest, row[np.newaxis], heaviest=False).tolist() == [[-1]]
    assert split.children_without_value() == [1, 2]
    assert split.spread_share(0) == 0.75
