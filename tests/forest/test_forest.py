from __future__ import annotations

import copy
import json
import math
import pickle
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
from effort import examples
from hedgerow import Forest
from hedgerow._core import node_fault
from hedgerow.forest.build import build_forest, leaf, multiway, oblique, subset, threshold, value
from hedgerow.forest.check import InvalidForestError
from hedgerow.storage import ModelFileError
from hedgerow.storage.container import pack
from hedgerow.walk import route
from strategies import forests, rows_of

several = settings(max_examples=examples(8, 20), deadline=None)

ARRAYS = (
    *("threshold", "weight", "feature", "first_child", "payload", "kind", "missing"),
    *("tree_start", "leaf_start", "payload_start", "payload_codes", "payload_weights"),
)
DERIVED = ("n_children", "root", "parent", "leaf_nodes")


def small_forest() -> Forest:
    """A tree with a payload and weights, and a single leaf."""
    slanted = oblique({0: 0.25, 1: -1.0}, 0.5, leaf([2, 0]), leaf([0, 2]))
    tree = multiway(0, {0: leaf([3, 1]), 2: slanted}, own=leaf([1, 0]))
    return build_forest([tree, leaf([5, 6])], 2)


def regression_forest() -> Forest:
    high = threshold(0, 3.0, value(2.0, weight=1), value(6.0, weight=3, squares=8))
    return build_forest([threshold(0, 1.0, value(-1.0, weight=4, squares=2), high)], 1, regression=True)


def leaf_array(forest: Forest) -> str:
    return "leaf_stats" if forest.leaf_counts is None else "leaf_counts"


# -- frozen


def assert_read_only(forest: Forest) -> None:
    for name in (*ARRAYS, leaf_array(forest)):
        with pytest.raises(ValueError, match="read-only"):
            getattr(forest, name)[...] = 0


@pytest.mark.parametrize("make", [small_forest, regression_forest])
def test_no_array_of_a_forest_can_be_written(make: Any) -> None:
    assert_read_only(make())


def test_no_attribute_of_a_forest_can_be_replaced() -> None:
    with pytest.raises(FrozenInstanceError):
        small_forest().n_features = 3  # type: ignore[misc]


def test_the_arrays_keep_the_types_that_the_core_reads() -> None:
    forest = small_forest()
    found = {name: getattr(forest, name).dtype for name in ARRAYS}
    assert found == {
        **dict.fromkeys(("threshold", "weight", "payload_weights"), np.float64),
        **dict.fromkeys(("feature", "first_child", "payload", "payload_codes"), np.int32),
        **dict.fromkeys(("kind", "missing"), np.uint8),
        **dict.fromkeys(("tree_start", "leaf_start", "payload_start"), np.int64),
    }


# -- sizes


def test_a_forest_knows_its_sizes() -> None:
    forest = small_forest()
    assert (forest.n_trees, forest.n_nodes, forest.n_leaves) == (2, 7, 5)
    assert (forest.n_features, forest.n_classes) == (2, 2)
    assert forest.depths.tolist() == [2, 0]
    assert forest.node_depths().tolist() == [0, 1, 1, 1, 2, 2, 0]


def test_nbytes_is_what_the_arrays_take() -> None:
    forest = small_forest()
    per_node = 7 * (8 + 8 + 4 + 4 + 4 + 1 + 1)
    per_tree = 2 * 3 * 8
    payloads = 3 * 8 + 5 * (4 + 8)
    assert forest.nbytes == per_node + per_tree + payloads + 5 * 2 * 8


def test_a_regression_forest_has_no_classes() -> None:
    with pytest.raises(ValueError, match="this is a regression forest"):
        regression_forest().n_classes  # noqa: B018
    with pytest.raises(ValueError, match="this is a regression forest"):
        regression_forest().node_counts()


def test_a_classification_forest_has_no_statistics() -> None:
    with pytest.raises(ValueError, match="this is a classification forest"):
        small_forest().node_stats()


# -- derived arrays


@several
@given(forests())
def test_depths_parents_and_children_are_those_of_the_definition(forest: Forest) -> None:
    parent = dict.fromkeys(forest.tree_start[:-1].tolist(), -1)
    depth = dict.fromkeys(parent, 0)
    for tree, node in oracles.nodes_of(forest):
        for child in oracles.children(forest, tree, node):
            parent[child], depth[child] = node, depth[node] + 1
    assert forest.parent.tolist() == [parent[node] for node in range(forest.n_nodes)]
    assert forest.node_depths().tolist() == [depth[node] for node in range(forest.n_nodes)]
    assert forest.n_children.tolist() == [oracles.n_children(forest, n) for n in range(forest.n_nodes)]
    assert forest.depths.tolist() == [
        oracles.depth_below(forest, tree, root) for tree, root in enumerate(forest.tree_start[:-1].tolist())
    ]


@several
@given(forests())
def test_leaf_nodes_are_in_the_order_of_leaf_numbers(forest: Forest) -> None:
    expected = {
        oracles.leaves_below(forest, tree, n)[0]: n
        for tree, n in oracles.nodes_of(forest)
        if oracles.n_children(forest, n) == 0
    }
    assert forest.leaf_nodes.tolist() == [expected[number] for number in range(forest.n_leaves)]


@several
@given(forests(regression=False))
def test_the_counts_of_a_node_are_those_of_its_leaves_added_up(forest: Forest) -> None:
    counts = forest.node_counts()
    assert counts.shape == (forest.n_nodes, forest.n_classes)
    for tree, node in oracles.nodes_of(forest):
        below = forest.leaf_counts[oracles.leaves_below(forest, tree, node)]
        # Counts are not negative, so that the order of addition costs at most one rounding for each leaf.
        np.testing.assert_allclose(counts[node], below.sum(axis=0), rtol=1e-13, atol=0)


def direct_stats(leaves: Any) -> tuple[float, float, float]:
    """Weight, mean and sum of squared deviations of leaves, by the two-pass formula with exact sums."""
    weight = math.fsum(leaves[:, 0])
    if weight == 0:
        return 0.0, 0.0, 0.0
    mean = math.fsum(leaves[:, 0] / weight * leaves[:, 1])
    return weight, mean, math.fsum([*leaves[:, 2], *(leaves[:, 0] * (leaves[:, 1] - mean) ** 2)])


@st.composite
def regression_chains(draw: st.DrawFn) -> Forest:
    """Leaves of ordinary size, so that a plain formula can be the truth."""
    amounts = st.sampled_from((0.0, 1.0, 2.5)) | st.floats(0.01, 100)

    def one() -> Any:
        weight = draw(amounts)
        return value(draw(st.floats(-100, 100)), weight=weight, squares=draw(amounts) if weight else 0.0)

    tree = one()
    for _ in range(draw(st.integers(0, 12))):
        tree = draw(st.sampled_from((threshold(0, 0, tree, one()), threshold(0, 0, one(), tree))))
    return build_forest([tree, one()], 1, regression=True)


@several
@given(regression_chains())
def test_the_statistics_of_a_node_are_those_of_its_leaves_merged(forest: Forest) -> None:
    stats = forest.node_stats()
    for tree, node in oracles.nodes_of(forest):
        if oracles.n_children(forest, node) > 0:  # a leaf keeps what it has, also a mean of no rows
            below = forest.leaf_stats[oracles.leaves_below(forest, tree, node)]
            # At most 13 leaves with |mean| <= 100 and weights <= 100: each merge rounds a mean by about 1e-14 and
            # squares (up to 13 * 100 * 200²) by about 1e-8 at worst; 1e-9 relative leaves room and is no bug.
            np.testing.assert_allclose(stats[node], direct_stats(below), rtol=1e-9, atol=1e-9)


def test_statistics_keep_their_digits_when_the_mean_is_large() -> None:
    # Σ x² - n · mean² would lose everything: 1e18 has a last place of 128.
    leaves = [value(1e9 + shift, weight=2, squares=0.5) for shift in (0.0, 1.0, 2.0, 3.0)]
    tree = threshold(0, 0, threshold(0, -1, *leaves[:2]), threshold(0, 1, *leaves[2:]))
    weight, mean, squares = build_forest([tree], 1, regression=True).node_stats()[0]
    assert weight == 8
    assert mean == 1e9 + 1.5
    assert squares == pytest.approx(4 * 0.5 + 2 * (1.5**2 + 0.5**2) * 2, rel=1e-12)


def test_statistics_of_huge_means_are_numbers() -> None:
    tree = threshold(0, 0, value(1e200), value(1e200))
    assert build_forest([tree], 1, regression=True).node_stats()[0].tolist() == [2, 1e200, 0]


# -- boxes


@several
@given(st.data())
def test_a_row_lies_in_the_box_of_its_leaf_and_in_no_other(data: st.DataObject) -> None:
    forest = data.draw(forests(splits=("threshold",)))
    X = data.draw(rows_of(forest, missing=False))
    leaves = route(forest, X)
    for tree in range(forest.n_trees):
        box = forest.boxes(tree)
        assert box.shape == (np.diff(forest.leaf_start)[tree], forest.n_features, 2)
        own_branch = np.isin(np.arange(len(box)), own_branches(forest, tree))
        for x, reached in zip(X, leaves[:, tree], strict=True):
            inside = ((box[:, :, 0] < x) & (x <= box[:, :, 1])).all(axis=1)
            # Rows with a missing value have a branch of their own, whose box says nothing about that value.
            assert np.flatnonzero(inside & ~own_branch).tolist() == [reached]


def own_branches(forest: Forest, tree: int) -> list[int]:
    """Leaves, within their tree, on the way to which a row was missing."""
    start = int(forest.leaf_start[tree])
    return [
        number - start
        for t, node in oracles.nodes_of(forest)
        if t == tree and oracles.n_children(forest, node) == 3
        for number in oracles.leaves_below(forest, tree, oracles.children(forest, tree, node)[2])
    ]


def test_boxes_are_narrowed_by_thresholds_alone() -> None:
    by_category = subset(1, [0], 2, leaf([1]), threshold(0, 4, leaf([2]), leaf([3])))
    forest = build_forest([leaf([0]), threshold(0, 2, by_category, leaf([4]))], 2)
    everything = [-math.inf, math.inf]
    assert forest.boxes().tolist() == [[everything, everything]]
    # Leaves are numbered breadth first; x0 <= 2 and x0 > 4 is the empty box of a leaf that no row reaches.
    assert forest.boxes(tree=1).tolist() == [
        [[2, math.inf], everything],
        [[-math.inf, 2], everything],
        [[-math.inf, 2], everything],
        [[4, 2], everything],
    ]


# -- plain data


@several
@given(forests())
def test_a_forest_survives_its_dictionary_as_json(forest: Forest) -> None:
    assert Forest.from_dict(json.loads(json.dumps(forest.to_dict()))) == forest


def test_the_dictionary_holds_none_for_what_is_unused() -> None:
    plain = small_forest().to_dict()
    assert plain["n_features"] == 2
    assert plain["threshold"] == [None, None, 0.5, None, None, None, None]
    assert plain["payload_weights"] == [None, None, None, 0.25, -1.0]
    assert "leaf_stats" not in plain
    json.dumps(plain, allow_nan=False)


def test_the_dictionary_of_a_forest_that_asks_whether_a_value_is_known_is_json() -> None:
    forest = build_forest([threshold(0, math.inf, leaf([1]), leaf([2]))], 1)
    plain = json.loads(json.dumps(forest.to_dict(), allow_nan=False))
    assert Forest.from_dict(plain) == forest


def test_the_dictionary_is_json_whatever_integer_n_features_was() -> None:
    forest = replace(small_forest(), n_features=np.int64(2))
    assert Forest.from_dict(json.loads(json.dumps(forest.to_dict()))) == small_forest()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"colour": [1]}, r"unknown entries \['colour'\]"),
        ({"_nodes": [1]}, r"unknown entries \['_nodes'\]"),
        ({"kind": ["leaf"]}, "'kind' holds no uint8"),
        ({"weight": 5}, "weight is a 0-D float64 array"),
        ({"threshold": 5}, "'threshold' holds no float64"),
        ({"feature": [2**40] * 7}, "'feature' holds no int32"),
        ({"kind": [-1] * 7}, "'kind' holds no uint8"),
        ({"leaf_counts": [[1, 2], [3]]}, "'leaf_counts' holds no float64"),
        ({"tree_start": None}, "tree_start is a NoneType"),
        ({"n_features": "2"}, "n_features is '2'"),
        ({"leaf_counts": None}, "it needs either leaf_counts"),
        ({"weight": [None] * 7}, "'weight' holds no float64"),
    ],
)
def test_dictionaries_of_no_forest_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Forest.from_dict(small_forest().to_dict() | change)


@pytest.mark.parametrize("name", ["n_features", *ARRAYS])
def test_a_dictionary_needs_every_entry(name: str) -> None:
    plain = small_forest().to_dict()
    del plain[name]
    with pytest.raises(ValueError, match=rf"missing entries \['{name}'\]"):
        Forest.from_dict(plain)


def test_a_dictionary_with_fractions_for_integers_is_refused() -> None:
    plain = small_forest().to_dict()
    plain["kind"] = [number + 0.75 for number in plain["kind"]]
    with pytest.raises(ValueError, match="'kind' holds no uint8"):
        Forest.from_dict(plain)


# -- copies


@pytest.mark.parametrize("make", [small_forest, regression_forest])
@pytest.mark.parametrize("again", [lambda f: pickle.loads(pickle.dumps(f)), copy.deepcopy, copy.copy])
def test_copies_are_equal_read_only_and_can_be_walked(make: Any, again: Any) -> None:
    forest = make()
    twin = again(forest)
    assert twin == forest
    assert twin is not forest
    assert_read_only(twin)
    X = np.linspace(-2, 5, 20 * forest.n_features).reshape(20, -1)
    assert np.array_equal(route(twin, X), route(forest, X))


def test_a_pickle_is_checked_when_it_is_read() -> None:
    forest = small_forest()
    make, (block,) = forest.__reduce_ex__(5)
    assert make(block) == forest
    broken = block.copy()
    broken[-1] ^= 1
    with pytest.raises(ModelFileError, match="damaged"):
        make(broken)


def test_a_pickle_may_be_received_in_the_middle_of_a_message() -> None:
    forest = small_forest()
    buffers: list[pickle.PickleBuffer] = []
    sent = pickle.dumps(forest, protocol=5, buffer_callback=buffers.append)
    messages = [b"." + buffer.raw() for buffer in buffers]
    again = pickle.loads(sent, buffers=[memoryview(message)[1:] for message in messages])
    assert again == forest


def test_a_pickle_whose_bytes_were_made_to_fit_is_checked_too() -> None:
    forest = small_forest()
    broken = forest.stored() | {"kind": np.full_like(forest.kind, 9)}
    names = [name for name in broken if name != "n_features"]
    block = pack({"n_features": forest.n_features, "arrays": names}, [broken[name] for name in names])
    with pytest.raises(InvalidForestError, match="kind of node 0"):
        forest.__reduce_ex__(5)[0](block)


# -- equality


def test_equal_forests_are_the_same_bit_for_bit() -> None:
    assert small_forest() == small_forest()
    zero, minus_zero = (build_forest([threshold(0, t, leaf([1]), leaf([1]))], 1) for t in (0.0, -0.0))
    assert zero != minus_zero


@pytest.mark.parametrize("name", ["threshold", "weight", "leaf_counts", "payload_weights"])
def test_forests_that_differ_in_one_number_are_not_equal(name: str) -> None:
    forest = small_forest()
    changed = getattr(forest, name).copy()
    at = np.unravel_index(np.flatnonzero(np.isfinite(changed))[-1], changed.shape)
    changed[at] = np.nextafter(changed[at], math.inf)
    assert replace(forest, **{name: changed}) != forest


def test_forests_of_other_widths_or_targets_are_not_equal() -> None:
    three_numbers = [leaf([1, 0, 0]), leaf([1, 0, 0])]
    counts = build_forest([threshold(0, 0, *three_numbers)], 1)
    assert counts != build_forest([threshold(0, 0, *three_numbers)], 1, regression=True)
    assert counts != build_forest([threshold(0, 0, *three_numbers)], 2)
    assert counts != build_forest([leaf([1, 0, 0])], 1)
    assert counts != "a forest"


def test_a_forest_has_no_hash() -> None:
    with pytest.raises(TypeError, match="unhashable"):
        hash(small_forest())


def test_a_forest_says_in_one_line_what_it_is() -> None:
    assert repr(small_forest()) == "<Forest: 2 trees, 5 leaves, 2 features, 2 classes, depth 2>"
    assert repr(regression_forest()) == "<Forest: 1 tree, 3 leaves, 1 features, regression, depth 2>"


# -- two ways to make one


def test_arrays_that_are_left_out_are_derived_when_they_are_read() -> None:
    whole = build_forest([threshold(0, 0.5, leaf([1, 0]), leaf([0, 3])), leaf([2, 2])], 1)
    left_out = {"weight": None, "payload": None, "missing": None}
    forest = Forest.trusted(**whole.parts() | left_out)
    assert {name: forest.parts()[name] for name in left_out} == left_out
    assert route(forest, np.array([[0.0], [1.0]])).tolist() == [[0, 0], [1, 0]]
    assert forest.parts()["weight"] is None
    forest.check()
    assert forest == whole
    assert forest.weight is forest.weight
    assert_read_only(forest)


def test_the_core_checks_complete_forests_only() -> None:
    forest = Forest.trusted(**small_forest().parts() | {"weight": None})
    with pytest.raises(ValueError, match="a forest is checked with its weight"):
        node_fault(forest.core)


def test_stored_arrays_must_all_be_there() -> None:
    with pytest.raises(ValueError, match="a forest has other parts: weight"):
        Forest.from_stored(small_forest().stored() | {"weight": None})
