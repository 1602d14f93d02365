"""Every invariant of a Forest, each stated once; what passes here can be walked by the core without a look back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from hedgerow.nodes import LEAF_FEATURE, NO_CHILD, NO_PAYLOAD, OBLIQUE_FEATURE, MissingPolicy, NodeKind

if TYPE_CHECKING:
    from hedgerow.forest import Forest

__all__ = ["ARRAY_DTYPES", "InvalidForestError", "check_forest", "check_leaf_values"]

_PER_NODE = {
    "threshold": np.float64,
    "weight": np.float64,
    "feature": np.int32,
    "first_child": np.int32,
    "payload": np.int32,
    "kind": np.uint8,
    "missing": np.uint8,
}
_RAGGED = {
    "tree_start": np.int64,
    "leaf_start": np.int64,
    "payload_start": np.int64,
    "payload_codes": np.int32,
    "payload_weights": np.float64,
}
ARRAY_DTYPES: dict[str, type] = {**_PER_NODE, **_RAGGED, "leaf_counts": np.float64, "leaf_stats": np.float64}
_HAS_PAYLOAD = (NodeKind.SUBSET, NodeKind.MULTIWAY, NodeKind.OBLIQUE)


class InvalidForestError(ValueError):
    """A Forest breaks an invariant; the message says which, and where."""


def check_forest(forest: Forest) -> None:
    """Raise `InvalidForestError` for the first invariant of `forest` that does not hold.

    The order matters: each group may rely on what the groups before it have established.
    """
    _check_layout(forest)
    _check_offsets(forest)
    _check_nodes(forest)
    _check_payloads(forest)
    _check_links(forest)
    _check_leaves(forest)


def _fail(message: str) -> NoReturn:
    raise InvalidForestError(f"not a valid Forest: {message}")


def _check_layout(forest: Forest) -> None:
    if not isinstance(forest.n_features, (int, np.integer)) or forest.n_features < 1:
        _fail(f"n_features is {forest.n_features!r}, must be an integer of at least 1")
    for name, dtype in (_PER_NODE | _RAGGED).items():
        _check_array(name, getattr(forest, name), dtype, 1)
    for name in _PER_NODE:
        if len(getattr(forest, name)) != len(forest.kind):
            _fail(f"{name} has {len(getattr(forest, name))} entries, kind has {len(forest.kind)}: one a node each")
    if (forest.leaf_counts is None) == (forest.leaf_stats is None):
        _fail("it needs either leaf_counts (classification) or leaf_stats (regression)")
    name = "leaf_stats" if forest.leaf_counts is None else "leaf_counts"
    _check_array(name, getattr(forest, name), np.float64, 2)  # again with the values, which may change alone


def _check_array(name: str, array: Any, dtype: type, n_dim: int) -> None:
    if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != n_dim:
        found = f"{array.ndim}-D {array.dtype} array" if isinstance(array, np.ndarray) else type(array).__name__
        _fail(f"{name} is a {found}, must be a {n_dim}-D {np.dtype(dtype)} array")
    if not array.flags.aligned:
        _fail(f"{name} is not aligned in memory: pass {name}.copy()")
    if not array.flags.c_contiguous and name not in (
        "threshold",
        "feature",
        "first_child",
    ):  # views of one array
        _fail(f"{name} is not C-contiguous: pass numpy.ascontiguousarray({name})")


def _check_offsets(forest: Forest) -> None:
    for name, end in (
        ("tree_start", len(forest.kind)),
        ("payload_start", len(forest.payload_codes)),
        ("leaf_start", len(_leaf_values(forest))),
    ):
        start = getattr(forest, name)
        if len(start) == 0 or start[0] != 0 or start[-1] != end:
            _fail(f"{name} must run from 0 to {end}, is {start[:1]} .. {start[-1:]}")
        # Compared, not subtracted: a difference of crafted offsets may wrap around to a number that looks right.
        falls = start[1:] <= start[:-1]
        if falls.any():
            where = int(np.argmax(falls))
            _fail(f"{name} must increase, but entries {where} and {where + 1} are {start[where]}, {start[where + 1]}")
    if len(forest.tree_start) < 2:
        _fail("it has no tree")
    if len(forest.leaf_start) != len(forest.tree_start):
        _fail(f"leaf_start has {len(forest.leaf_start)} entries, tree_start {len(forest.tree_start)}: one a tree each")


def _leaf_values(forest: Forest) -> NDArray[np.float64]:
    values = forest.leaf_stats if forest.leaf_counts is None else forest.leaf_counts
    assert values is not None
    return values


def _require(forest: Forest, name: str, holds: NDArray[np.bool_], must: str) -> None:
    """Fail with the first node for which `holds` is False."""
    if holds.all():
        return
    node = int(np.argmin(holds))
    tree = int(np.searchsorted(forest.tree_start, node, side="right")) - 1
    kind = forest.kind[node]
    label = NodeKind(kind).name.lower() if kind in list(NodeKind) else "unknown kind"
    value = getattr(forest, name)[node]
    _fail(f"{name} of node {node - forest.tree_start[tree]} ({label}) in tree {tree} is {value}, must be {must}")


def _check_nodes(forest: Forest) -> None:
    kind, feature, threshold = forest.kind, forest.feature, forest.threshold
    _require(forest, "kind", kind <= max(NodeKind), f"at most {max(NodeKind)}")
    _require(forest, "missing", forest.missing <= max(MissingPolicy), f"at most {max(MissingPolicy)}")
    _require(forest, "weight", np.isfinite(forest.weight) & (forest.weight >= 0), "finite and not negative")

    leaf, oblique = kind == NodeKind.LEAF, kind == NodeKind.OBLIQUE
    _require(forest, "feature", ~leaf | (feature == LEAF_FEATURE), f"{LEAF_FEATURE}")
    _require(forest, "feature", ~oblique | (feature == OBLIQUE_FEATURE), f"{OBLIQUE_FEATURE}")
    in_range = (feature >= 0) & (feature < forest.n_features)
    _require(forest, "feature", leaf | oblique | in_range, f"in 0 .. {forest.n_features - 1}")
    _require(forest, "missing", ~leaf | (forest.missing == MissingPolicy.SPREAD), f"{MissingPolicy.SPREAD:d}")

    used = (kind == NodeKind.THRESHOLD) | oblique
    _require(forest, "threshold", ~used | (threshold > -np.inf), "a number above -inf")
    code = (threshold >= 0) & (threshold == np.floor(threshold)) & (threshold < np.inf)
    _require(forest, "threshold", (kind != NodeKind.ONE_AGAINST_REST) | code, "the code of a category")
    unused = ~used & (kind != NodeKind.ONE_AGAINST_REST)
    _require(forest, "threshold", ~unused | np.isnan(threshold), "NaN (unused)")

    payload, n_payloads = forest.payload, len(forest.payload_start) - 1
    wanted = np.isin(kind, _HAS_PAYLOAD)
    _require(forest, "payload", wanted | (payload == NO_PAYLOAD), f"{NO_PAYLOAD}")
    _require(forest, "payload", ~wanted | ((payload >= 0) & (payload < n_payloads)), f"in 0 .. {n_payloads - 1}")
    uses = np.bincount(payload[wanted], minlength=n_payloads)
    if (uses != 1).any():
        _fail(f"payload {int(np.argmax(uses != 1))} is used by {uses[uses != 1][0]} nodes, must be used by 1")


def _check_payloads(forest: Forest) -> None:
    codes, weights, start = forest.payload_codes, forest.payload_weights, forest.payload_start
    n_expected = len(codes) if (forest.kind == NodeKind.OBLIQUE).any() else 0
    if len(weights) != n_expected:
        _fail(f"payload_weights has {len(weights)} entries, must have {n_expected}")
    if len(codes) == 0:
        return
    kind_of_payload = np.empty(len(start) - 1, dtype=np.uint8)
    kind_of_payload[forest.payload[forest.payload != NO_PAYLOAD]] = forest.kind[forest.payload != NO_PAYLOAD]
    payload_of_entry = np.repeat(np.arange(len(start) - 1), np.diff(start))
    kind_of_entry = kind_of_payload[payload_of_entry]

    def require(name: str, entry_holds: NDArray[np.bool_], must: str) -> None:
        if not entry_holds.all():
            entry = int(np.argmin(entry_holds))
            value = getattr(forest, name)[entry]
            _fail(f"{name}[{entry}] of payload {payload_of_entry[entry]} is {value}, must be {must}")

    oblique, multiway = kind_of_entry == NodeKind.OBLIQUE, kind_of_entry == NodeKind.MULTIWAY
    require("payload_codes", ~oblique | ((codes >= 0) & (codes < forest.n_features)), "a feature")
    same = payload_of_entry[1:] == payload_of_entry[:-1]
    ascending = np.concatenate([[True], ~same | (codes[1:] > codes[:-1])])
    require("payload_codes", ~oblique | ascending, "above the feature before it")
    require("payload_codes", ~multiway | (codes >= NO_CHILD), f"at least {NO_CHILD}")
    if len(weights):
        require("payload_weights", ~oblique | np.isfinite(weights), "finite")
        require("payload_weights", oblique | np.isnan(weights), "NaN (unused)")

    subset = np.flatnonzero(kind_of_payload == NodeKind.SUBSET)
    empty = np.bitwise_or.reduceat(codes, start[:-1])[subset] == 0
    if empty.any():
        _fail(f"payload {subset[empty][0]} is the subset of no category")
    _check_children_named(codes[multiway], payload_of_entry[multiway])


def _check_children_named(children: NDArray[np.int32], payload: NDArray[np.int64]) -> None:
    """Child numbers of multiway payloads: 0, 1, … without a gap, so that each child can be reached."""
    pairs = np.unique(np.stack([payload, children], axis=1), axis=0)
    pairs = pairs[pairs[:, 1] != NO_CHILD]
    first = np.concatenate([[True], pairs[1:, 0] != pairs[:-1, 0]])[: len(pairs)]
    expected = np.where(first, 0, np.concatenate([[0], pairs[:-1, 1]])[: len(pairs)] + 1)
    gaps = np.flatnonzero(pairs[:, 1] != expected)
    if len(gaps):
        _fail(f"payload {pairs[gaps[0], 0]} names child {pairs[gaps[0], 1]} but not child {expected[gaps[0]]}")
    if nameless := set(payload.tolist()) - set(pairs[:, 0].tolist()):
        _fail(f"payload {min(nameless)} names no child")


def _check_links(forest: Forest) -> None:
    """Each node but the roots is the child of one node that comes before it in the same tree."""
    leaf = forest.kind == NodeKind.LEAF
    n_children = forest.n_children
    _require(forest, "payload", leaf | (n_children >= 2), "that of at least two children")
    node = np.arange(len(leaf)) - forest.root
    size = np.repeat(np.diff(forest.tree_start), np.diff(forest.tree_start))
    _require(forest, "first_child", leaf | (forest.first_child > node), "behind the node itself")
    _require(
        forest,
        "first_child",
        leaf | (forest.first_child + n_children <= size),
        "such that its children are in the tree",
    )
    inner = np.flatnonzero(~leaf)
    first = (forest.root + forest.first_child)[inner]
    # How many sibling groups cover each node: +1 where one starts, -1 where one ends.
    steps = np.bincount(first, minlength=len(leaf) + 1) - np.bincount(
        first + n_children[inner], minlength=len(leaf) + 1
    )
    covered = np.cumsum(steps[:-1])
    expected = node > 0
    if (covered != expected).any():
        at = int(np.argmax(covered != expected))
        _fail(f"node {node[at]} of the tree that starts at {forest.root[at]} is the child of {covered[at]} nodes")


def _check_leaves(forest: Forest) -> None:
    leaf = forest.kind == NodeKind.LEAF
    n_leaves = np.add.reduceat(leaf, forest.tree_start[:-1], dtype=np.int64)
    if (n_leaves != np.diff(forest.leaf_start)).any():
        tree = int(np.argmax(n_leaves != np.diff(forest.leaf_start)))
        _fail(f"tree {tree} has {n_leaves[tree]} leaves, leaf_start says {np.diff(forest.leaf_start)[tree]}")
    number = np.cumsum(leaf) - 1 - np.repeat(forest.leaf_start[:-1], np.diff(forest.tree_start))
    _require(forest, "first_child", ~leaf | (forest.first_child == number), "its number among the tree's leaves")
    check_leaf_values(forest)


def check_leaf_values(forest: Forest) -> None:
    """What must hold of the leaves' counts or statistics alone."""
    values = _leaf_values(forest)
    _check_array("leaf_counts" if forest.leaf_stats is None else "leaf_stats", values, np.float64, 2)
    if len(values) != forest.leaf_start[-1]:
        _fail(f"there are values of {len(values)} leaves, leaf_start says {forest.leaf_start[-1]}")
    if not np.isfinite(values).all():
        _fail(f"leaf {int(np.argmin(np.isfinite(values).all(axis=1)))} holds a value that is not finite")
    if forest.leaf_counts is not None:
        if values.shape[1] < 1:
            _fail("leaf_counts has no class")
        negative = (values < 0).any(axis=1)
    else:
        if values.shape[1] != 3:
            _fail(f"leaf_stats has {values.shape[1]} columns, must have 3: weight, mean, sum of squared deviations")
        negative = (values[:, [0, 2]] < 0).any(axis=1)
    if negative.any():
        _fail(f"leaf {int(np.argmax(negative))} holds a negative count, weight or sum of squares")
