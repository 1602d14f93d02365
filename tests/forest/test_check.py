from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from effort import examples
from hedgerow import Forest, RandomTreesClassifier
from hedgerow.forest.build import (
    Node,
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
from hedgerow.walk import spread
from oracles import is_sound
from strategies import forests

Arrays = dict[str, Any]
Mutation = Callable[[Arrays], object]


def two_trees() -> list[Node]:
    """Tree 0 has every kind of node and own branches; tree 1 is a stump.

    Breadth first, tree 0 is: 0 threshold, 1 one-against-rest, 2 subset, 3 leaf (own branch of 0), 4 multiway,
    5 oblique, 6 and 7 leaves of 2, 8 .. 11 leaves of 4 (11 is its own branch), 12 and 13 leaves of 5.
    Payloads: 0 subset (codes[0]), 1 multiway (codes[1:5]), 2 oblique (codes[5:7]).
    """
    several = multiway(2, {0: leaf([1, 0]), 1: leaf([0, 1]), 3: leaf([2, 2])}, own=leaf([1, 1]))  # 2 has no branch
    slanted = oblique({0: 0.5, 2: -2.0}, 1.0, leaf([3, 0]), leaf([0, 3]), missing="last_child")
    low = one_against_rest(1, 4, several, slanted, missing="first_child")
    high = subset(1, [0, 31], 32, leaf([5, 1]), leaf([1, 5]))
    return [
        threshold(0, 1.5, low, high, leaf([2, 1]), missing="own_branch"),
        threshold(2, 0.0, leaf([1, 9]), leaf([9, 1])),
    ]


def valid_forest() -> Forest:
    return build_forest(two_trees(), 3)


def arrays_of(forest: Forest) -> Arrays:
    """Copies that may be written, with n_features: what Forest is called with."""
    plain: Arrays = {"n_features": forest.n_features}
    for name in forest.to_dict():
        if name != "n_features":
            plain[name] = getattr(forest, name).copy()
    return plain


def put(name: str, at: Any, new: Any) -> Mutation:
    return lambda arrays: arrays[name].__setitem__(at, new)


def use(name: str, new: Any) -> Mutation:
    return lambda arrays: arrays.__setitem__(name, new(arrays[name]) if callable(new) else new)


def both(*mutations: Mutation) -> Mutation:
    return lambda arrays: [mutate(arrays) for mutate in mutations]


def append(*entries: Any) -> Callable[[Any], Any]:
    return lambda array: np.concatenate([array, np.array(entries, dtype=array.dtype)])


def strided(array: Any) -> Any:
    return np.repeat(array, 2, axis=0)[::2]


def no_tree(arrays: Arrays) -> None:
    for name, array in arrays.items():
        if name.endswith("_start"):
            arrays[name] = np.zeros(1, dtype=np.int64)
        elif name != "n_features":
            arrays[name] = array[:0]


STATS = np.array([[1.0, 0.0, 0.0]] * 11)  # as many rows as the forest has leaves


def as_regression(stats: Any) -> Mutation:
    return both(use("leaf_counts", None), use("leaf_stats", stats))


def with_row(row: list[float]) -> Any:
    return np.vstack([STATS[:5], [row], STATS[6:]])


def mean_of(entry: int, mean: float) -> Mutation:
    means = np.full(7, math.nan)
    means[entry] = mean
    return use("payload_means", means)


MUTATIONS: list[tuple[str, Mutation, str]] = [
    # layout
    ("no feature", use("n_features", 0), "n_features is 0, must be an integer of at least 1"),
    ("half a feature", use("n_features", 2.5), "n_features is 2.5"),
    ("a list", use("weight", list), "weight is a list, must be a 1-D float64 array"),
    ("None", use("kind", None), "kind is a NoneType, must be a 1-D uint8 array"),
    ("float32", use("threshold", lambda a: a.astype(np.float32)), "threshold is a 1-D float32 array"),
    ("int64 features", use("feature", lambda a: a.astype(np.int64)), "feature is a 1-D int64 array"),
    ("int32 offsets", use("tree_start", lambda a: a.astype(np.int32)), "tree_start is a 1-D int32 array"),
    ("bytes in foreign order", use("payload_codes", lambda a: a.astype(">i4")), "payload_codes is a 1-D >i4"),
    ("2-D nodes", use("missing", lambda a: a[:, None]), "missing is a 2-D uint8 array, must be a 1-D"),
    ("1-D counts", use("leaf_counts", lambda a: a[:, 0].copy()), "leaf_counts is a 1-D float64 array"),
    ("integer counts", use("leaf_counts", lambda a: a.astype(int)), "leaf_counts is a 2-D int64 array"),
    ("1-D stats", as_regression(np.ones(11)), "leaf_stats is a 1-D float64 array, must be a 2-D"),
    ("strided weights", use("weight", strided), r"weight is not C-contiguous: pass numpy.ascontiguousarray"),
    ("column-major counts", use("leaf_counts", np.asfortranarray), "leaf_counts is not C-contiguous"),
    ("one threshold too many", use("threshold", append(0.0)), "threshold has 18 entries, kind has 17"),
    ("one feature too few", use("feature", lambda a: a[:-1]), "feature has 16 entries, kind has 17"),
    ("one weight too many", use("weight", append(0.0)), "weight has 18 entries"),
    ("one child too many", use("first_child", append(0)), "first_child has 18 entries"),
    ("one payload too many", use("payload", append(-1)), "payload has 18 entries"),
    ("one policy too many", use("missing", append(0)), "missing has 18 entries"),
    ("neither counts nor stats", use("leaf_counts", None), "it needs either leaf_counts"),
    ("counts and stats", use("leaf_stats", STATS), "it needs either leaf_counts"),
    # offsets
    ("no tree start", use("tree_start", lambda a: a[:0]), r"tree_start must run from 0 to 17, is \[\] \.\. \[\]"),
    ("trees start at 1", put("tree_start", 0, 1), r"tree_start must run from 0 to 17, is \[1\]"),
    ("trees end early", put("tree_start", -1, 16), r"tree_start must run from 0 to 17, is \[0\] \.\. \[16\]"),
    ("an empty tree", put("tree_start", 1, 17), "tree_start must increase, but entries 1 and 2 are 17, 17"),
    ("a negative tree start", put("tree_start", 1, -1), "tree_start must increase, but entries 0 and 1 are 0, -1"),
    ("leaves start at 1", put("leaf_start", 0, 1), "leaf_start must run from 0 to 11"),
    ("leaves end late", put("leaf_start", -1, 12), "leaf_start must run from 0 to 11"),
    ("a tree without a leaf", put("leaf_start", 1, 11), "leaf_start must increase"),
    ("payloads start at 1", put("payload_start", 0, 1), "payload_start must run from 0 to 7"),
    ("payloads end late", put("payload_start", -1, 9), "payload_start must run from 0 to 7"),
    ("an empty payload", put("payload_start", 1, 0), "payload_start must increase, but entries 0 and 1 are 0, 0"),
    ("no tree", no_tree, "it has no tree"),
    ("leaves of three trees", use("leaf_start", np.array([0, 4, 9, 11])), "leaf_start has 4 entries, tree_start 3"),
    # nodes
    ("an unknown kind", put("kind", 3, 6), r"kind of node 3 \(unknown kind\) in tree 0 is 6, must be at most 5"),
    ("an unknown policy", put("missing", 14, 4), r"missing of node 0 \(threshold\) in tree 1 is 4, must be at most 3"),
    ("a negative weight", put("weight", 2, -1.0), r"weight of node 2 \(subset\) in tree 0 is -1.0, must be finite"),
    ("a weight of NaN", put("weight", 16, math.nan), r"weight of node 2 \(leaf\) in tree 1 is nan"),
    ("an infinite weight", put("weight", 0, math.inf), r"weight of node 0 \(threshold\) in tree 0 is inf"),
    ("a leaf that asks", put("feature", 3, 0), r"feature of node 3 \(leaf\) in tree 0 is 0, must be -1"),
    ("an oblique node's feature", put("feature", 5, 0), r"feature of node 5 \(oblique\) in tree 0 is 0, must be -2"),
    ("a feature too many", put("feature", 1, 3), r"feature of node 1 \(one_against_rest\) .* 3, must be in 0 \.\. 2"),
    ("no feature to ask", put("feature", 0, -1), r"feature of node 0 \(threshold\) in tree 0 is -1, must be in 0"),
    ("a leaf with a policy", put("missing", 3, 1), r"missing of node 3 \(leaf\) in tree 0 is 1, must be 0"),
    ("a threshold of NaN", put("threshold", 0, math.nan), "threshold of node 0 .* is nan, must be a number above"),
    ("a threshold of -inf", put("threshold", 14, -math.inf), "is -inf, must be a number above -inf"),
    ("an oblique threshold of NaN", put("threshold", 5, math.nan), r"threshold of node 5 \(oblique\) .* is nan"),
    ("half a code", put("threshold", 1, 1.5), "threshold of node 1 .* is 1.5, must be the code of a category"),
    ("a negative code", put("threshold", 1, -1.0), "is -1.0, must be the code of a category"),
    ("an infinite code", put("threshold", 1, math.inf), "is inf, must be the code of a category"),
    ("a code of NaN", put("threshold", 1, math.nan), "is nan, must be the code of a category"),
    ("a leaf with a threshold", put("threshold", 3, 0.0), r"threshold of node 3 \(leaf\) .* must be NaN \(unused\)"),
    ("a subset with a threshold", put("threshold", 2, 0.0), r"threshold of node 2 \(subset\) .* must be NaN"),
    ("a multiway with a threshold", put("threshold", 4, 0.0), r"threshold of node 4 \(multiway\) .* must be NaN"),
    ("a leaf with a payload", put("payload", 3, 0), r"payload of node 3 \(leaf\) in tree 0 is 0, must be -1"),
    ("a threshold with a payload", put("payload", 0, 1), r"payload of node 0 \(threshold\) .* must be -1"),
    ("a subset without payload", put("payload", 2, -1), r"payload of node 2 \(subset\) .* is -1, must be in 0 \.\. 2"),
    ("a payload too many", put("payload", 4, 3), r"payload of node 4 \(multiway\) .* is 3, must be in 0 \.\. 2"),
    ("a payload used twice", put("payload", 4, 0), "payload 0 is used by 2 nodes, must be used by 1"),
    (
        "a payload that no node uses",
        both(
            use("payload_start", append(8)),
            use("payload_codes", append(0)),
            use("payload_weights", append(math.nan)),
        ),
        "payload 3 is used by 0 nodes, must be used by 1",
    ),
    # payloads
    ("too few weights", use("payload_weights", lambda a: a[:-1]), "payload_weights has 6 entries, must have 7"),
    ("an oblique feature too many", put("payload_codes", 6, 3), r"payload_codes\[6\] of payload 2 is 3, must be a fea"),
    ("a negative oblique feature", put("payload_codes", 5, -1), r"payload_codes\[5\] of payload 2 is -1"),
    ("an oblique feature twice", put("payload_codes", 6, 0), "is 0, must be above the feature before it"),
    ("oblique features descending", put("payload_codes", slice(5, 7), [2, 0]), "must be above the feature before"),
    ("a child below none", put("payload_codes", 3, -2), r"payload_codes\[3\] of payload 1 is -2, must be at least -1"),
    ("an infinite coefficient", put("payload_weights", 5, math.inf), r"payload_weights\[5\] .* is inf, must be finite"),
    ("a coefficient of NaN", put("payload_weights", 6, math.nan), r"payload_weights\[6\] .* nan, must be finite"),
    ("a category's coefficient", put("payload_weights", 2, 0.0), r"payload_weights\[2\] .* must be NaN \(unused\)"),
    ("an infinite mean", mean_of(5, math.inf), r"payload_means\[5\] of payload 2 is inf, must be finite, or NaN"),
    ("a category's mean", mean_of(2, 0.0), r"payload_means\[2\] of payload 1 is 0.0, must be NaN \(unused\)"),
    ("too few means", use("payload_means", np.full(3, math.nan)), "payload_means has 3 entries, must have 7"),
    ("a list of means", use("payload_means", [0.5] * 7), "payload_means is a list, must be a 1-D float64 array"),
    ("the empty subset", put("payload_codes", 0, 0), "payload 0 is the subset of no category"),
    ("a child that no code names", put("payload_codes", 4, 3), "payload 1 names child 3 but not child 2"),
    ("a first child that no code names", put("payload_codes", 1, 1), "payload 1 names child 1 but not child 0"),
    ("no code with a branch", put("payload_codes", slice(1, 5), -1), "payload 1 names no child"),
    # links
    (
        "a multiway node with one child",
        both(put("missing", 4, 0), put("payload_codes", slice(1, 5), 0)),
        r"payload of node 4 \(multiway\) .* must be that of at least two children",
    ),
    ("a node that is its own child", put("first_child", 0, 0), "first_child of node 0 .* must be behind the node"),
    ("a child before its parent", put("first_child", 5, 4), r"first_child of node 5 \(oblique\) .* behind the node"),
    ("a negative child", put("first_child", 15 - 1, -3), "first_child of node 0 .* tree 1 is -3, must be behind"),
    ("a child in the next tree", put("first_child", 5, 13), "is 13, must be such that its children are in the tree"),
    ("a child beyond all trees", put("first_child", 14, 2**31 - 1), "such that its children are in the tree"),
    ("a node with two parents", put("first_child", 5, 11), "node 11 of the tree that starts at 0 is the child of 2"),
    ("an own branch too many", put("missing", 14, 3), "in tree 1 is 1, must be such that its children are in the t"),
    (
        "an orphan",
        put("missing", 0, MissingPolicy.SPREAD),
        "node 3 of the tree that starts at 0 is the child of 0 nodes",
    ),
    # leaves
    ("a leaf of the other tree", put("leaf_start", 1, 8), "tree 0 has 9 leaves, leaf_start says 8"),
    ("leaves out of order", put("first_child", [15, 16], [1, 0]), r"\(leaf\) .* is 1, must be its number among"),
    ("a leaf number too large", put("first_child", 16, 2), "is 2, must be its number among the tree's leaves"),
    ("a count of NaN", put("leaf_counts", (7, 1), math.nan), "leaf 7 holds a value that is not finite"),
    ("an infinite count", put("leaf_counts", (0, 0), math.inf), "leaf 0 holds a value that is not finite"),
    ("no class", use("leaf_counts", lambda a: a[:, :0].copy()), "leaf_counts has no class"),
    ("a negative count", put("leaf_counts", (10, 0), -1e-9), "leaf 10 holds a negative count"),
    ("two statistics", as_regression(STATS[:, :2].copy()), "leaf_stats has 2 columns, must have 3: weight, mean"),
    ("a mean of NaN", as_regression(with_row([1, math.nan, 1])), "leaf 5 holds a value that is not finite"),
    ("a negative leaf weight", as_regression(with_row([-1, 0, 0])), "leaf 5 holds a negative count, weight or sum"),
    ("negative squares", as_regression(with_row([1, 0, -1])), "leaf 5 holds a negative count, weight or sum"),
    (
        "squares beyond their weight",
        as_regression(with_row([1e-322, 0, 13])),
        "leaf 5 holds a sum of squares that is infinite",
    ),
]


@pytest.mark.parametrize(
    ("mutate", "message"), [case[1:] for case in MUTATIONS], ids=[name for name, _, _ in MUTATIONS]
)
def test_each_broken_invariant_is_named(mutate: Mutation, message: str) -> None:
    arrays = arrays_of(valid_forest())
    mutate(arrays)
    with pytest.raises(InvalidForestError, match=f"not a valid Forest: .*{message}"):
        Forest(**arrays)


def test_the_forest_that_mutations_start_from_is_valid_and_has_every_kind() -> None:
    forest = valid_forest()
    forest.check()
    assert set(forest.kind.tolist()) == set(NodeKind)
    assert set(forest.missing.tolist()) == set(MissingPolicy)
    assert Forest(**arrays_of(forest)) == forest


def test_the_statistics_that_mutations_start_from_are_valid() -> None:
    arrays = arrays_of(valid_forest())
    as_regression(STATS)(arrays)
    Forest(**arrays).check()


@settings(max_examples=examples(11, 40), deadline=None)
@given(forests())
def test_every_forest_that_can_be_built_is_valid(forest: Forest) -> None:
    forest.check()
    assert Forest(**arrays_of(forest)) == forest


NEW_ENTRIES: dict[str, list[float]] = {
    "threshold": [math.nan, math.inf, -math.inf, 0.0, -1e308],
    "weight": [math.nan, math.inf, -math.inf, -0.0, -1.0, 5e-324],
    "feature": [-2, -1, 0, 1, 4, 5, 2**31 - 1, -(2**31)],
    "first_child": [-1, 0, 1, 2, 3, 5, 2**31 - 1],
    "payload": [-2, -1, 0, 2**31 - 1],
    "kind": [0, 1],  # with others the arrays would not be of thresholds alone
    "missing": [0, 1, 2, 3, 4, 255],
}


# The core looks at many nodes at once, and at each only where something is wrong.
@settings(max_examples=examples(44, 200), deadline=None)
@given(forests(splits=("threshold",), regression=False), st.data())
def test_changed_entries_are_found_where_they_break_an_invariant(forest: Forest, data: st.DataObject) -> None:
    arrays = arrays_of(forest)
    nodes = st.integers(0, len(forest.kind) - 1)
    for _ in range(data.draw(st.integers(1, 3))):
        name = data.draw(st.sampled_from(sorted(NEW_ENTRIES)))
        at = data.draw(nodes)
        other = data.draw(nodes)  # exchanged links may be another order of the same tree
        if data.draw(st.booleans()):
            arrays[name][[at, other]] = arrays[name][[other, at]]
        else:
            arrays[name][at] = data.draw(st.sampled_from(NEW_ENTRIES[name]))
    try:
        Forest(**arrays)
    except InvalidForestError:
        assert not is_sound(arrays)
    else:
        assert is_sound(arrays)


def test_one_wrong_node_among_many_is_found_wherever_it_is() -> None:
    X = np.random.default_rng(0).normal(size=(1500, 2))
    model = RandomTreesClassifier(1, rule="pool", min_samples_leaf=1, random_state=0)
    arrays = arrays_of(model.fit(X, X[:, 0] > 0).forest_)
    assert len(arrays["kind"]) > 2 * 1024  # more than are looked at together
    for node in (0, 1, 1023, 1024, 2047, 2048, len(arrays["kind"]) - 1):
        before = arrays["weight"][node]
        arrays["weight"][node] = -1
        with pytest.raises(InvalidForestError, match=rf"weight of node {node} .* is -1.0"):
            Forest(**arrays)
        arrays["weight"][node] = before
    Forest(**arrays).check()


def test_an_invalid_forest_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="n_features is 0"):
        replace(valid_forest(), n_features=0)


def test_payload_weights_are_only_there_for_oblique_nodes() -> None:
    forest = build_forest([subset(0, [1], 2, leaf([1]), leaf([1]))], 1)
    assert len(forest.payload_weights) == 0
    with pytest.raises(InvalidForestError, match="payload_weights has 1 entries, must have 0"):
        replace(forest, payload_weights=np.array([math.nan]))


def test_the_arrays_a_walk_reads_side_by_side_may_be_given_as_strided_views() -> None:
    arrays = arrays_of(valid_forest())
    for name in ("threshold", "feature", "first_child"):
        arrays[name] = strided(arrays[name])
    assert Forest(**arrays) == valid_forest()


def test_a_negative_mean_is_valid() -> None:
    assert build_forest([value(-2.5, weight=3, squares=1)], 1, regression=True).node_stats().tolist() == [[3, -2.5, 1]]


# -- broken forests that pass


CRAFTED_OFFSETS = """
import numpy as np
from hedgerow.forest.build import build_forest, leaf, subset
from hedgerow.forest.check import InvalidForestError
from dataclasses import replace
forest = build_forest([subset(0, [1], 2, leaf([1.0]), leaf([1.0]))] * 3, 1)
try:
    replace(forest, {name}=np.array([0, 2**62 + 1, -2**62 - 1, forest.{name}[-1]]))
except InvalidForestError as error:
    print(error)
"""


# np.diff of these offsets wraps to positive numbers whose sum is the right one; what trusts it writes out of bounds.
@pytest.mark.parametrize("name", ["tree_start", "payload_start", "leaf_start"])
def test_offsets_whose_differences_overflow_are_refused(name: str) -> None:
    code = CRAFTED_OFFSETS.format(name=name)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0
    assert "not a valid Forest" in run.stdout


def misaligned(array: Any) -> Any:
    bytes_ = np.zeros(array.nbytes + 1, dtype=np.uint8)
    view = bytes_[1:].view(array.dtype)
    view[:] = array
    return view


@pytest.mark.parametrize("name", ["weight", "payload", "tree_start", "payload_weights"])
def test_arrays_that_are_not_aligned_are_refused_or_copied(name: str) -> None:
    arrays = arrays_of(valid_forest())
    use(name, misaligned)(arrays)
    assert not arrays[name].flags.aligned
    try:
        forest = Forest(**arrays)
    except InvalidForestError:
        return
    assert getattr(forest, name).flags.aligned


def test_a_row_reaches_leaves_whatever_the_weights_are() -> None:
    forest = build_forest([threshold(0, 0.0, leaf([1], weight=1), leaf([1], weight=1))], 1)
    heavy = replace(forest, weight=np.array([1.0, 1e308, 1e308]))
    assert spread(heavy, np.array([[math.nan]])).sum() == pytest.approx(1)


def test_a_forest_does_not_change_when_the_arrays_it_was_made_of_do() -> None:
    arrays = arrays_of(valid_forest())
    forest = Forest(**arrays)
    arrays["payload_codes"][1] = 1000
    forest.check()
