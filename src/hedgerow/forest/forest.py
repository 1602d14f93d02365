"""The one finished tree structure: frozen arrays, all trees concatenated.

In a tree the root comes first, every child after its parent, and siblings stand side by side, so that sums and
checks are loops and never recursions. Nothing here learns: growth makes a Forest, pruning makes another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._core import node_depths, node_stats, node_sums, parents
from hedgerow._lazy import lazy
from hedgerow._rebuild import reduce_to_constructor
from hedgerow._registry import register
from hedgerow.forest.check import ARRAY_DTYPES, check_layout, check_leaf_values, check_structure
from hedgerow.forest.counts import DistinctCounts
from hedgerow.forest.kinds import NO_PAYLOAD, MissingPolicy, NodeKind
from hedgerow.forest.text import Names, tree_text
from hedgerow.storage.container import pack, unpack

__all__ = ["Forest"]

# What grown trees may leave out, because it follows from the rest: made when somebody asks.
_IMPLIED = {"weight": np.empty(0), "payload": np.empty(0, dtype=np.int32), "missing": np.empty(0, dtype=np.uint8)}
# What each step of a walk reads stands side by side in memory; these three arrays are views of it.
_NODE_FIELDS = ("threshold", "feature", "first_child")
_NODE = np.dtype([("threshold", np.float64), ("feature", np.int32), ("first_child", np.int32)])


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees as arrays; see the table in ``docs/forest.md`` for what each one means.

    Every array is read-only. Construction checks every invariant (:meth:`check`), so that a Forest that exists can be
    walked; only what the core has grown (:meth:`from_core`) or made of one (:meth:`rearranged`) is taken as it is.
    `leaf_counts` is there for classification, `leaf_stats` (weight, mean, sum of squared deviations) for regression;
    the other one is None.
    """

    n_features: int
    threshold: NDArray[np.float64]
    weight: NDArray[np.float64]
    feature: NDArray[np.int32]
    first_child: NDArray[np.int32]
    payload: NDArray[np.int32]
    kind: NDArray[np.uint8]
    missing: NDArray[np.uint8]
    tree_start: NDArray[np.int64]
    leaf_start: NDArray[np.int64]
    payload_start: NDArray[np.int64]
    payload_codes: NDArray[np.int32]
    payload_weights: NDArray[np.float64]
    # By a factory: a plain default would be an attribute of the class, and `__getattr__` never asked.
    leaf_counts: NDArray[np.float64] | None = field(default_factory=lambda: None)
    leaf_stats: NDArray[np.float64] | None = None
    _nodes: NDArray[Any] = field(init=False)

    def __post_init__(self) -> None:
        self._settle()

    def _settle(self, nodes: NDArray[Any] | None = None) -> None:
        """Check and freeze; `nodes` is what the arrays of nodes are views of, if they are."""
        check_layout(self)
        self._freeze(nodes)
        check_structure(self)

    @classmethod
    def _of(cls, arrays: Mapping[str, Any]) -> Forest:
        forest = object.__new__(cls)
        for one in fields(cls):
            if one.init:
                object.__setattr__(forest, one.name, arrays.get(one.name))
        return forest

    def _freeze(self, nodes: NDArray[Any] | None = None) -> None:
        if nodes is None:
            nodes = np.empty(self.n_nodes, dtype=_NODE)
            for name in _NODE_FIELDS:
                nodes[name] = getattr(self, name)
            nodes.flags.writeable = False
        object.__setattr__(self, "_nodes", nodes)
        for name, array in self._arrays_by_name().items():
            # What somebody else may still write to is copied.
            frozen = nodes[name] if name in _NODE_FIELDS else array.copy() if array.flags.writeable else array
            frozen.flags.writeable = False
            object.__setattr__(self, name, frozen)

    @classmethod
    def from_core(
        cls,
        n_features: int,
        nodes: NDArray[np.uint8],
        *,
        shared_counts: DistinctCounts | None = None,
        **arrays: NDArray[Any] | None,
    ) -> Forest:
        """What the core has grown, taken as it is: nobody else has these arrays, and growth keeps the invariants.

        `nodes` has the bytes of each node in a row. To check millions of nodes takes longer than to grow them. An empty
        `weight` stands for the sums of the leaves' counts, an empty `payload` for none, an empty `missing` for nodes
        that all spread; `shared_counts` stand for `leaf_counts`.
        """
        forest = object.__new__(cls)
        if shared_counts is not None:
            object.__setattr__(forest, "distinct_counts", shared_counts.frozen())
            del arrays["leaf_counts"]
        records = nodes.view(_NODE)[:, 0]
        views = {"_nodes": records, **{name: records[name] for name in _NODE_FIELDS}}
        for name, array in {**arrays, **views}.items():
            if name in _IMPLIED and array is not None and not len(array):
                continue
            if array is not None:
                array.flags.writeable = False
            object.__setattr__(forest, name, array)
        object.__setattr__(forest, "n_features", n_features)
        return forest

    def rearranged(self, nodes: NDArray[np.uint8], *arrays: NDArray[Any]) -> Forest:
        """What the core has made of this forest: as its :attr:`arrays`, and the values of the leaves."""
        names = ("weight", "payload", "kind", "missing", "tree_start", "leaf_start")
        ragged = ("payload_start", "payload_codes", "payload_weights")
        of_classes = self.leaf_counts is not None
        leaves = arrays[-1].reshape(-1, self.n_classes if of_classes else 3)
        others: dict[str, Any] = dict(zip(names + ragged, arrays[:-1], strict=True))
        return Forest.from_core(
            self.n_features,
            nodes,
            leaf_counts=leaves if of_classes else None,
            leaf_stats=None if of_classes else leaves,
            **others,
        )

    def check(self) -> None:
        """Raise :class:`~hedgerow.forest.check.InvalidForestError` for the first invariant that does not hold."""
        check_layout(self)
        check_structure(self)

    def with_counts(self, leaf_counts: NDArray[np.float64]) -> Forest:
        """The same trees with other counts in their leaves."""
        forest = object.__new__(Forest)  # nothing else depends on the counts, so that nothing else need be checked
        vars(forest).update(vars(self), weight=self.weight)  # which stays, also where it followed from the counts
        vars(forest).pop("distinct_counts", None)
        counts = leaf_counts.copy()
        counts.flags.writeable = False
        object.__setattr__(forest, "leaf_counts", counts)
        check_leaf_values(forest)
        return forest

    def _arrays_by_name(self) -> dict[str, NDArray[Any]]:
        values = {field.name: getattr(self, field.name) for field in fields(self) if field.init}
        return {name: value for name, value in values.items() if isinstance(value, np.ndarray)}

    # -- sizes

    @property
    def n_trees(self) -> int:
        return len(self.tree_start) - 1

    @property
    def n_nodes(self) -> int:
        return len(self.kind)

    @property
    def n_leaves(self) -> int:
        return int(self.leaf_start[-1])

    @property
    def n_classes(self) -> int:
        """Number of classes; an error for a regression forest."""
        made = "leaf_counts" in vars(self)
        return int((self.counts if made else self.distinct_counts.counts).shape[1])

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays that there are so far."""
        there = [vars(self).get(one.name) for one in fields(self) if one.init]
        there += vars(self).get("distinct_counts", ())
        arrays = {id(array): array.nbytes for array in there if isinstance(array, np.ndarray)}
        return sum(arrays.values())

    @property
    def depths(self) -> NDArray[np.int64]:
        """Depth of each tree; a tree that is one leaf has depth 0."""
        deepest: NDArray[np.int64] = np.maximum.reduceat(self.node_depths(), self.tree_start[:-1])
        return deepest

    @property
    def counts(self) -> NDArray[np.float64]:
        """`leaf_counts` of a classification forest; an error for any other."""
        if self.leaf_counts is None:
            raise ValueError("this is a regression forest: it has leaf_stats and node_stats(), and no class counts")
        return self.leaf_counts

    @lazy
    def distinct_counts(self) -> DistinctCounts:
        """`counts` without repetitions, and which of them each leaf has."""
        return DistinctCounts.of(self.counts)

    @property
    def stats(self) -> NDArray[np.float64]:
        """`leaf_stats` of a regression forest; an error for any other."""
        if self.leaf_stats is None:
            raise ValueError("this is a classification forest: it has leaf_counts and node_counts(), and no means")
        return self.leaf_stats

    # -- derived per node

    def __getattr__(self, name: str) -> Any:
        """What is implied, once somebody asks for it."""
        if name not in (*_IMPLIED, "leaf_counts") or "_nodes" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if name == "leaf_counts":
            made: NDArray[Any] = self.distinct_counts.of_each_leaf(self.distinct_counts.counts)
        elif name == "weight":
            of_rows = self.distinct_counts.counts.sum(axis=1, keepdims=True)
            made = node_sums(self.structure, self.distinct_counts.of_each_leaf(of_rows))[:, 0]
        else:
            made = np.full(self.n_nodes, NO_PAYLOAD if name == "payload" else MissingPolicy.SPREAD, ARRAY_DTYPES[name])
        made.flags.writeable = False
        object.__setattr__(self, name, made)
        for given in ("structure", "arrays"):  # from now on with it
            vars(self).pop(given, None)
        return made

    @lazy
    def structure(self) -> tuple[Any, ...]:
        """What the core is given, in the order in which it wants it; what is implied is left out."""
        nodes = self._nodes.view(np.uint8).reshape(self.n_nodes, _NODE.itemsize)
        weight, payload, missing = (vars(self).get(name, absent) for name, absent in _IMPLIED.items())
        return (
            *(nodes, weight, payload, self.kind, missing, self.tree_start, self.leaf_start),
            *(self.payload_start, self.payload_codes, self.payload_weights),
            *(int(self.n_features), bool(self.kind.max() <= int(NodeKind.THRESHOLD))),
        )

    @lazy
    def arrays(self) -> tuple[Any, ...]:
        """The same with the weights of nodes, by which rows are divided."""
        nodes, _, *rest = self.structure
        return (nodes, self.weight, *rest)

    def arrays_for(self, X: NDArray[np.float64]) -> tuple[Any, ...]:
        """What the core is given for a walk of these rows: weights only if one of them may be divided."""
        whole = "weight" in vars(self) or not self.structure[-1] or np.isnan(X).any()
        return self.arrays if whole else self.structure

    @lazy
    def n_children(self) -> NDArray[np.int64]:
        """Children of each node: 0 in a leaf, else 2 or, multiway, as many as the payload names; own branch: 1 more."""
        n = np.where(self.kind == NodeKind.LEAF, 0, 2)
        multiway = self.kind == NodeKind.MULTIWAY
        if multiway.any():
            largest = np.maximum.reduceat(self.payload_codes, self.payload_start[:-1])
            n[multiway] = largest[self.payload[multiway]] + 1
        n += self.missing == MissingPolicy.OWN_BRANCH
        return n

    @lazy
    def root(self) -> NDArray[np.int64]:
        """The root of each node's tree."""
        return np.repeat(self.tree_start[:-1], np.diff(self.tree_start))

    @lazy
    def parent(self) -> NDArray[np.int64]:
        """The parent of each node, as a position in these arrays; -1 for roots."""
        return parents(self.structure)

    @lazy
    def leaf_nodes(self) -> NDArray[np.int64]:
        """The node of each leaf, in leaf order."""
        return np.flatnonzero(self.kind == NodeKind.LEAF)

    def node_depths(self) -> NDArray[np.int64]:
        """Distance of each node from its root."""
        return node_depths(self.parent)

    def node_counts(self) -> NDArray[np.float64]:
        """Class counts of each node, (n_nodes, n_classes): those of its leaves added up."""
        return node_sums(self.structure, self.counts)

    def answer_counts(self) -> NDArray[np.float64]:
        """The counts that each leaf answers by, (n_leaves, n_classes).

        They are its own; those of its nearest ancestor that has rows where it has none (C4.5's empty branches).
        """
        empty = np.flatnonzero(~self.counts.any(axis=1))
        if not len(empty):
            return self.counts
        of_nodes = self.node_counts()
        at = self.leaf_nodes[empty]
        while (climbing := ~of_nodes[at].any(axis=1) & (self.parent[at] >= 0)).any():
            at[climbing] = self.parent[at[climbing]]
        answers = self.counts.copy()
        answers[empty] = of_nodes[at]
        return answers

    def node_stats(self) -> NDArray[np.float64]:
        """Weight, mean and sum of squared deviations of each node, (n_nodes, 3): those of its leaves merged."""
        stats = np.zeros((self.n_nodes, 3))
        stats[self.leaf_nodes] = self.stats
        node_stats(self.parent, stats)
        return stats

    def boxes(self, tree: int = 0) -> NDArray[np.float64]:
        """The box of each leaf of a tree, (leaves, n_features, 2): lower < x ≤ upper.

        Tests on categories and oblique tests do not narrow a box.
        """
        start, end = self.tree_start[tree], self.tree_start[tree + 1]
        box = np.empty((end - start, self.n_features, 2))
        box[0] = -np.inf, np.inf
        for node in np.flatnonzero(self.kind[start:end] != NodeKind.LEAF):
            at = start + node
            first = self.first_child[at]
            box[first : first + self.n_children[at]] = box[node]
            if self.kind[at] == NodeKind.THRESHOLD:
                feature, threshold = self.feature[at], self.threshold[at]
                box[first, feature, 1] = min(threshold, box[node, feature, 1])
                box[first + 1, feature, 0] = max(threshold, box[node, feature, 0])
        leaves: NDArray[np.float64] = box[self.kind[start:end] == NodeKind.LEAF]
        return leaves

    # -- text and plain data

    def to_text(
        self,
        tree: int = 0,
        *,
        feature_names: Sequence[str] | None = None,
        class_names: Sequence[Any] | None = None,
        categories: Sequence[Sequence[Any]] | None = None,
        leaf_answers: Sequence[str] | None = None,
        max_depth: int | None = None,
    ) -> str:
        """One tree as text, a line for each branch, with the names of columns, categories and classes if given.

        `leaf_answers` has what each leaf of a classification forest answers, where that is not its most frequent class.
        """
        if leaf_answers is not None and len(leaf_answers) != len(self.counts):
            raise ValueError(f"leaf_answers has {len(leaf_answers)} entries, this forest has {self.n_leaves} leaves")
        names = Names.of(self, feature_names, class_names, categories)
        return tree_text(self, tree, names, max_depth, leaf_answers)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, with None for NaN and "inf", which JSON does not know; see :meth:`from_dict`."""
        plain: dict[str, Any] = {"n_features": int(self.n_features)}
        for name, array in self._arrays_by_name().items():
            plain[name] = array.tolist()
            if name in _NAN_MEANS_UNUSED:
                plain[name] = [None if np.isnan(x) else "inf" if np.isinf(x) else x for x in plain[name]]
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Forest:
        """The inverse of :meth:`to_dict`."""
        known = {field.name for field in fields(cls) if field.init}
        if unknown := sorted(set(plain) - known):
            raise ValueError(f"not the dictionary of a Forest: unknown entries {unknown}")
        if missing := sorted(known - set(plain) - {"leaf_counts", "leaf_stats"}):
            raise ValueError(f"not the dictionary of a Forest: missing entries {missing}")
        arrays: dict[str, Any] = {
            name: _from_plain(name, value) for name, value in plain.items() if name != "n_features"
        }
        return cls(n_features=plain["n_features"], **arrays)

    def __eq__(self, other: object) -> bool:
        """Whether both are the same bit for bit (NaN equals NaN)."""
        if not isinstance(other, Forest):
            return NotImplemented
        mine, theirs = self._arrays_by_name(), other._arrays_by_name()
        return (
            self.n_features == other.n_features
            and mine.keys() == theirs.keys()
            and all(
                a.shape == b.shape and a.tobytes() == b.tobytes()
                for a, b in zip(mine.values(), theirs.values(), strict=True)
            )
        )

    __hash__ = None  # type: ignore[assignment]

    # -- files and pickles

    def stored(self) -> dict[str, Any]:
        """What model files and pickles hold of it: `n_features` and arrays, the nodes as they stand in memory."""
        kept = {name: array for name, array in self._arrays_by_name().items() if name not in _NODE_FIELDS}
        return {"n_features": int(self.n_features), "nodes": self.structure[0], **kept}

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any]) -> Forest:
        """The inverse of :meth:`stored`, checked; read-only arrays are not copied."""
        arrays = dict(stored)
        raw = arrays.pop("nodes", None)
        if not isinstance(raw, np.ndarray) or raw.dtype != np.uint8 or raw.ndim != 2 or raw.shape[1] != _NODE.itemsize:
            raise ValueError(f"nodes must be a uint8 array of {_NODE.itemsize} columns")
        optional = {"leaf_counts", "leaf_stats"}
        wanted = {one.name for one in fields(cls) if one.init} - {*_NODE_FIELDS, *optional}
        if odd := wanted ^ (set(arrays) - optional):
            raise ValueError(f"a forest has other parts: {', '.join(sorted(odd))}")
        nodes = raw.reshape(-1).view(_NODE.newbyteorder("<")).astype(_NODE, copy=raw.flags.writeable)
        nodes.flags.writeable = False
        forest = cls._of(arrays | {name: nodes[name] for name in _NODE_FIELDS})
        forest._settle(nodes)
        return forest

    # For skops, which looks for the class and its arguments; pickle and copy call __reduce_ex__.
    __reduce__ = reduce_to_constructor

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        # The bytes of a model file, and its checks: a pickle is checked and its arrays are read-only again.
        stored = self.stored()
        names = [name for name, value in stored.items() if isinstance(value, np.ndarray)]
        content = {"n_features": stored["n_features"], "arrays": names}
        return _unpacked, (pack(content, [stored[name] for name in names]),)

    def __repr__(self) -> str:
        kind = f"{self.n_classes} classes" if self.leaf_stats is None else "regression"
        return (
            f"<Forest: {self.n_trees} tree{'s' * (self.n_trees != 1)}, {self.n_leaves} leaves, "
            f"{self.n_features} features, {kind}, depth {self.depths.max()}>"
        )


def _unpacked(block: NDArray[np.uint8]) -> Forest:
    content, arrays = unpack(block)
    return Forest.from_stored(
        {"n_features": content["n_features"], **dict(zip(content["arrays"], arrays, strict=True))}
    )


_NAN_MEANS_UNUSED = ("threshold", "payload_weights")


def _from_plain(name: str, value: Any) -> NDArray[Any] | None:
    if value is None:
        return None
    dtype = ARRAY_DTYPES[name]
    try:
        if name in _NAN_MEANS_UNUSED:
            value = [np.nan if x is None else float(x) for x in value]
        given = np.array(value)
        array: NDArray[Any] = given.astype(dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"not the dictionary of a Forest: {name!r} holds no {dtype.__name__}: {error}") from None
    if given.size and not np.array_equal(array, given, equal_nan=name in _NAN_MEANS_UNUSED):
        raise ValueError(f"not the dictionary of a Forest: {name!r} holds no {dtype.__name__}")
    return array


register(Forest, name="hedgerow.Forest", take=Forest.stored, make=Forest.from_stored)
