"""Every invariant of a Forest, each stated once; the core walks forests that pass without further checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from hedgerow._core import ForestArrays, link_fault, node_fault
from hedgerow.forest.kinds import LEAF_FEATURE, NO_CHILD, NO_PAYLOAD, OBLIQUE_FEATURE, MissingPolicy, NodeKind

if TYPE_CHECKING:
    from hedgerow.forest.forest import Forest

__all__ = [
    "ARRAY_DTYPES",
    "InvalidForestError",
    "check_columns",
    "check_layout",
    "check_leaf_values",
    "check_structure",
]

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
_LEFT_OUT = {"payload_means": np.float64, "leaf_counts": np.float64, "leaf_stats": np.float64}
ARRAY_DTYPES: dict[str, type] = {**_PER_NODE, **_RAGGED, **_LEFT_OUT}
_MAX_FEATURES = np.iinfo(np.int32).max

# Rules of core/forest/check.hpp in its order: the array, and what its entry must be.
_NODE_RULES = (
    ("kind", f"at most {max(NodeKind)}"),
    ("missing", f"at most {max(MissingPolicy)}"),
    ("weight", "finite and not negative"),
    ("feature", f"{LEAF_FEATURE}"),
    ("feature", f"{OBLIQUE_FEATURE}"),
    ("feature", "in 0 .. {last_feature}"),
    ("missing", f"{MissingPolicy.SPREAD:d}"),
    ("threshold", "a number above -inf"),
    ("threshold", "the code of a category"),
    ("threshold", "NaN (unused)"),
    ("payload", f"{NO_PAYLOAD}"),
    ("payload", "in 0 .. {last_payload}"),
)
_LINK_RULES = (
    ("payload", "that of at least two children"),
    ("first_child", "behind the node itself"),
    ("first_child", "such that its children are in the tree"),
    None,  # a node but the roots that is not the child of one node
    None,  # a tree with another number of leaves than leaf_start says
    ("first_child", "its number among the tree's leaves"),
)
_ONE_PARENT, _N_LEAVES = 3, 4


class InvalidForestError(ValueError):
    """A Forest breaks an invariant; the message says which, and where.

    Examples
    --------
    >>> from hedgerow.forest import InvalidForestError, build_forest, leaf, threshold
    >>> try:
    ...     build_forest([threshold(3, 2.0, leaf([3, 1]), leaf([0, 4]))], n_features=1)
    ... except InvalidForestError as error:
    ...     print(error)
    not a valid Forest: feature of node 0 (threshold) in tree 0 is 3, must be in 0 .. 0
    """


def check_layout(forest: Forest) -> None:
    """Check types, ranks, lengths and offsets of the arrays; raise `InvalidForestError` for the first that is wrong."""
    _check_arrays(forest)
    _check_offsets(forest)


def check_structure(forest: Forest) -> None:
    """Check the contents of the arrays, after :func:`check_layout`.

    The order matters: each group relies on those before it.
    """
    arrays = forest.to_core(derive=("weight", "payload", "missing"))
    _check_nodes(forest, arrays)
    _check_payloads(forest)
    _check_links(forest, arrays)
    check_leaf_values(forest)


def check_columns(forest: Forest, n_categories: NDArray[np.int32]) -> None:
    """Check every split against its column: its type, and that the column has the categories that it names.

    `n_categories` has the number of categories of each nominal column, and 0 for those that are split by threshold.
    """
    if forest.only_thresholds and not n_categories.any():
        return
    nodes = np.flatnonzero(forest.feature >= 0)
    kind, n_codes = forest.kind[nodes], n_categories[forest.feature[nodes]]
    tests_presence = (kind == NodeKind.THRESHOLD) & (forest.threshold[nodes] == np.inf)
    by_category = (n_codes > 0) == (kind != NodeKind.THRESHOLD)
    if (wrong := nodes[~(by_category | tests_presence)]).size:
        nominal = n_categories[forest.feature[wrong[0]]] > 0
        must = "a split by category: its column is nominal" if nominal else "a threshold: its column has no categories"
        _fail_at(forest, int(wrong[0]), "kind", must)
    n_named = np.zeros(len(nodes))
    single, listed = kind == NodeKind.ONE_AGAINST_REST, forest.payload[nodes] != NO_PAYLOAD
    n_named[single] = forest.threshold[nodes[single]] + 1
    n_named[listed] = _codes_named(forest)[forest.payload[nodes[listed]]]
    if (wrong := np.flatnonzero(~tests_presence & (n_named > n_codes))).size:
        name = "threshold" if single[wrong[0]] else "payload"
        _fail_at(forest, int(nodes[wrong[0]]), name, f"about the {n_codes[wrong[0]]} categories of its column")


def _codes_named(forest: Forest) -> NDArray[np.float64]:
    """One more than the largest category code in each payload."""
    start = forest.payload_start
    if len(start) == 1:
        return np.zeros(0)
    of_payload = np.zeros(len(start) - 1, dtype=np.uint8)
    of_payload[forest.payload[forest.payload != NO_PAYLOAD]] = forest.kind[forest.payload != NO_PAYLOAD]
    sizes = np.diff(start)
    word = np.arange(len(forest.payload_codes)) - np.repeat(start[:-1], sizes)
    n_bits = np.frexp(forest.payload_codes.view(np.uint32).astype(np.float64))[1]  # highest set bit, from 1
    in_bits = np.maximum.reduceat(np.where(n_bits > 0, 32 * word + n_bits, 0), start[:-1])
    return np.where(of_payload == NodeKind.SUBSET, in_bits, sizes).astype(np.float64)


def _fail(message: str) -> NoReturn:
    raise InvalidForestError(f"not a valid Forest: {message}")


def _check_arrays(forest: Forest) -> None:
    if not isinstance(forest.n_features, (int, np.integer)) or forest.n_features < 1:
        _fail(f"n_features is {forest.n_features!r}, must be an integer of at least 1")
    if forest.n_features > _MAX_FEATURES:
        _fail(f"n_features is {forest.n_features}, must be at most {_MAX_FEATURES}")
    for name, dtype in (_PER_NODE | _RAGGED).items():
        _check_array(name, getattr(forest, name), dtype, 1)
    if forest.payload_means is not None:
        _check_array("payload_means", forest.payload_means, np.float64, 1)
    for name in _PER_NODE:
        if len(getattr(forest, name)) != len(forest.kind):
            _fail(f"{name} has {len(getattr(forest, name))} entries, kind has {len(forest.kind)}: one a node each")
    if (forest.leaf_counts is None) == (forest.leaf_stats is None):
        _fail("it needs either leaf_counts (classification) or leaf_stats (regression)")
    name = "leaf_stats" if forest.leaf_counts is None else "leaf_counts"
    _check_array(name, getattr(forest, name), np.float64, 2)  # with_counts checks leaf values alone


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


def _fail_at(forest: Forest, node: int, name: str, must: str) -> NoReturn:
    tree = int(np.searchsorted(forest.tree_start, node, side="right")) - 1
    kind = forest.kind[node]
    label = NodeKind(kind).name.lower() if kind in list(NodeKind) else "unknown kind"
    value = getattr(forest, name)[node]
    _fail(f"{name} of node {node - forest.tree_start[tree]} ({label}) in tree {tree} is {value}, must be {must}")


def _check_nodes(forest: Forest, arrays: ForestArrays) -> None:
    n_payloads = len(forest.payload_start) - 1
    rule, node, _ = node_fault(arrays)
    if rule >= 0:
        name, must = _NODE_RULES[rule]
        _fail_at(forest, node, name, must.format(last_feature=forest.n_features - 1, last_payload=n_payloads - 1))
    if n_payloads == 0:
        return
    uses = np.bincount(forest.payload[forest.payload != NO_PAYLOAD], minlength=n_payloads)
    if (uses != 1).any():
        _fail(f"payload {int(np.argmax(uses != 1))} is used by {uses[uses != 1][0]} nodes, must be used by 1")


def _check_payloads(forest: Forest) -> None:
    codes, weights, start = forest.payload_codes, forest.payload_weights, forest.payload_start
    n_expected = len(codes) if (forest.kind == NodeKind.OBLIQUE).any() else 0
    if len(weights) != n_expected:
        _fail(f"payload_weights has {len(weights)} entries, must have {n_expected}")
    means = forest.payload_means
    if means is not None and len(means) != n_expected:
        _fail(f"payload_means has {len(means)} entries, must have {n_expected}")
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
    if means is not None and len(means):
        require("payload_means", ~np.isinf(means), "finite, or NaN")
        require("payload_means", oblique | np.isnan(means), "NaN (unused)")

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


def _check_links(forest: Forest, arrays: ForestArrays) -> None:
    """Each node but the roots is the child of one node that comes before it in the same tree; leaves are numbered."""
    starts = forest.payload_start[:-1]
    largest_child = np.maximum.reduceat(forest.payload_codes, starts) if len(starts) else forest.payload_codes
    rule, position, found = link_fault(arrays, largest_child)
    if rule < 0:
        return
    if rule == _N_LEAVES:
        _fail(f"tree {position} has {found} leaves, leaf_start says {np.diff(forest.leaf_start)[position]}")
    if rule == _ONE_PARENT:
        root = forest.tree_start[np.searchsorted(forest.tree_start, position, side="right") - 1]
        _fail(f"node {position - root} of the tree that starts at {root} is the child of {found} nodes")
    name, must = _LINK_RULES[rule] or ("", "")
    _fail_at(forest, position, name, must)


def check_leaf_values(forest: Forest) -> None:
    """Check the counts or statistics of the leaves."""
    values = _leaf_values(forest)
    _check_array("leaf_counts" if forest.leaf_stats is None else "leaf_stats", values, np.float64, 2)
    if len(values) != forest.leaf_start[-1]:
        _fail(f"there are values of {len(values)} leaves, leaf_start says {forest.leaf_start[-1]}")
    n_columns = values.shape[1]
    if forest.leaf_counts is not None and n_columns < 1:
        _fail("leaf_counts has no class")
    if forest.leaf_stats is not None and n_columns != 3:
        _fail(f"leaf_stats has {n_columns} columns, must have 3: weight, mean, sum of squared deviations")
    columns = [values] if forest.leaf_stats is None else list(values.T)
    least = [column.min() for column in columns]
    if not all(np.isfinite([*least, *(column.max() for column in columns)])):
        _fail(f"leaf {int(np.argmin(np.isfinite(values).all(axis=1)))} holds a value that is not finite")
    if forest.leaf_stats is not None:
        del columns[1], least[1]  # means may be negative
    if min(least) < 0:
        negative = np.any([(column < 0).reshape(len(values), -1).any(axis=1) for column in columns], axis=0)
        _fail(f"leaf {int(np.argmax(negative))} holds a negative count, weight or sum of squares")
    if forest.leaf_stats is not None:
        weight, squares = columns
        too_large = (weight > 0) & (squares > np.minimum(weight, 1.0) * np.finfo(np.float64).max)
        if too_large.any():
            _fail(f"leaf {int(np.argmax(too_large))} holds a sum of squares that is infinite in the mean of its rows")
