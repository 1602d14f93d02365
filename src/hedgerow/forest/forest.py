"""Finished trees as read-only arrays, all trees concatenated.

In a tree the root comes first, every child after its parent, and siblings are contiguous, so sums and checks are loops
and never recursions. Nothing here learns: growth makes a Forest, pruning makes another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._core import ForestArrays, Packing, node_depths, node_sums, parents
from hedgerow._lazy import lazy, lazy_fields
from hedgerow._rebuild import reduce_to_constructor
from hedgerow._registry import register
from hedgerow.forest import figures
from hedgerow.forest.check import check_layout, check_leaf_values, check_structure
from hedgerow.forest.concatenate import concatenated_arrays
from hedgerow.forest.counts import DistinctCounts
from hedgerow.forest.kinds import NodeKind
from hedgerow.forest.plain import arrays_to_lists, lists_to_arrays
from hedgerow.forest.text import Names, tree_text
from hedgerow.storage.container import pack, unpack

__all__ = ["Forest"]

# Each step of a walk reads these three, so they are contiguous in memory: fields of one record per node.
_NODE = np.dtype([("threshold", np.float64), ("feature", np.int32), ("first_child", np.int32)])
_NODE_FIELDS = ("threshold", "feature", "first_child")
_DERIVABLE = ("weight", "payload", "missing")
_LEFT_OUT = ("leaf_counts", "leaf_stats", "payload_means")  # None in some forests


@lazy_fields(
    weight=figures.summed_weights,
    payload=figures.no_payloads,
    missing=figures.all_spread,
    leaf_counts=figures.expanded_counts,
)
@dataclass(frozen=True, eq=False)
class Forest:
    """Trees as arrays; ``docs/forest.md`` has a table of what each one means.

    Every array is read-only. The constructor checks every invariant (:meth:`check`), so that a Forest that exists can
    be walked; :meth:`trusted` takes arrays of the core without a check. Classification forests have `leaf_counts`,
    regression forests `leaf_stats` (weight, mean, sum of squared deviations); the other one is None.

    Parameters
    ----------
    n_features : int
        Number of columns.
    threshold : float64 array of shape (n_nodes,)
        A row goes to the first child when x ≤ threshold; of splits of one category against the rest its code;
        NaN where unused.
    weight : float64 array of shape (n_nodes,)
        Training weight when grown, by which rows without a value are spread.
    feature : int32 array of shape (n_nodes,)
        Column of the split; −1 is a leaf, −2 an oblique split.
    first_child : int32 array of shape (n_nodes,)
        Position of the first child from the tree's root; in a leaf its number within the tree.
    payload : int32 array of shape (n_nodes,)
        Position in the ragged payloads; −1 is none.
    kind : uint8 array of shape (n_nodes,)
        Kind of each node, a :class:`NodeKind`.
    missing : uint8 array of shape (n_nodes,)
        Where rows without a value go, a :class:`MissingPolicy`.
    tree_start : int64 array of shape (n_trees + 1,)
        First node of each tree.
    leaf_start : int64 array of shape (n_trees + 1,)
        First leaf of each tree.
    payload_start : int64 array
        Where each payload begins.
    payload_codes : int32 array
        Child of each category (multiway), bits of a set (subset), or columns of a sum (oblique).
    payload_weights : float64 array
        Weights of the columns of oblique splits.
    leaf_counts : float64 array of shape (n_leaves, n_classes) or None, default=None
        Weighted training rows of each class; None of numbers.
    leaf_stats : float64 array of shape (n_leaves, 3) or None, default=None
        Weight, mean and sum of squared deviations of the targets; None of classes.
    payload_means : float64 array or None, default=None
        Means that stand in for missing values in oblique splits.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow import TreeClassifier
    >>> forest = TreeClassifier().fit([[1], [2], [3]], ["a", "a", "b"]).forest_
    >>> forest.n_nodes, forest.n_leaves, float(forest.threshold[0])
    (3, 2, 2.5)
    >>> forest.leaf_counts
    array([[2., 0.],
           [0., 1.]])
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
    leaf_counts: NDArray[np.float64] | None = None
    leaf_stats: NDArray[np.float64] | None = None
    payload_means: NDArray[np.float64] | None = None
    _nodes: NDArray[Any] = field(init=False)

    def __post_init__(self) -> None:
        check_layout(self)
        nodes = np.empty(self.n_nodes, dtype=_NODE)
        for name in _NODE_FIELDS:
            nodes[name] = getattr(self, name)
        self._keep(nodes, _unwritable(self._arrays()))
        check_structure(self)

    @classmethod
    def trusted(
        cls,
        *,
        n_features: int,
        nodes: NDArray[np.uint8],
        distinct_counts: DistinctCounts | None = None,
        **arrays: NDArray[Any] | None,
    ) -> Forest:
        """Make a forest of valid arrays that no other code writes to, without checks and copies.

        Checking millions of nodes takes longer than growing them. `nodes` has the bytes of `threshold`, `feature` and
        `first_child` of each node in a row; other arrays have the names of the constructor. Those that follow from the
        others may be None, and are derived when they are first read: `weight` if no training row had a missing value,
        `payload` if no node has one, `missing` if all nodes spread, `leaf_counts` if there are `distinct_counts`.

        Parameters
        ----------
        n_features : int
            Number of columns.
        nodes : array of NODE records
            Nodes of all trees.
        distinct_counts : DistinctCounts or None, default=None
            Counts of the leaves without repetitions, if they are known.
        **arrays
            The other arrays of a forest, by name.

        Returns
        -------
        Forest
            The forest, which holds these arrays themselves.
        """
        forest = cls.__new__(cls)
        kept: dict[str, Any] = {name: array for name, array in arrays.items() if array is not None}
        if distinct_counts is not None:
            kept["distinct_counts"] = distinct_counts.frozen()
        else:
            kept.setdefault("leaf_counts", None)
        forest._keep(nodes.view(_NODE)[:, 0], {"n_features": n_features, **kept})
        return forest

    def _keep(self, nodes: NDArray[Any], attributes: Mapping[str, Any]) -> None:
        """Set attributes of a new forest; arrays become read-only."""
        kept = {**attributes, "_nodes": nodes, **{name: nodes[name] for name in _NODE_FIELDS}}
        for value in kept.values():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
        vars(self).update(kept)

    @classmethod
    def concatenate(cls, forests: Sequence[Forest]) -> Forest:
        """Make one forest of the trees of several, in order; all must have the same features and classes.

        Parameters
        ----------
        forests : sequence of Forest
            At least one.

        Returns
        -------
        Forest
            The trees together.

        Raises
        ------
        ValueError
            If features or classes differ.
        """
        return cls.trusted(**concatenated_arrays(forests))

    def with_counts(self, leaf_counts: NDArray[np.float64]) -> Forest:
        """Copy of the forest with other counts in its leaves; `weight` stays what it was in training.

        Parameters
        ----------
        leaf_counts : array of shape (n_leaves, n_classes)
            Counts of the leaves.

        Returns
        -------
        Forest
            The copy; all other arrays are shared.
        """
        changed = {"weight": self.weight, "leaf_counts": leaf_counts.copy(), "distinct_counts": None}
        forest = Forest.trusted(**self.parts() | changed)
        check_leaf_values(forest)  # nothing else depends on the counts
        return forest

    def check(self) -> None:
        """Raise :class:`~hedgerow.forest.check.InvalidForestError` for the first invariant that does not hold.

        Raises
        ------
        InvalidForestError
            If an invariant does not hold; the message says which, and where.
        """
        check_layout(self)
        check_structure(self)

    # -- the arrays, for the core, files and copies

    def _arrays(self) -> dict[str, NDArray[Any]]:
        values = {one.name: getattr(self, one.name) for one in fields(self) if one.init}
        return {name: value for name, value in values.items() if isinstance(value, np.ndarray)}

    def parts(self) -> dict[str, Any]:
        """Arguments of :meth:`trusted`; None for arrays that would have to be derived.

        Returns
        -------
        dict
            Arrays by name.
        """
        names = (one.name for one in fields(self) if one.init and one.name not in _NODE_FIELDS)
        return {"nodes": self._node_bytes, **{name: vars(self).get(name) for name in (*names, "distinct_counts")}}

    @property
    def _node_bytes(self) -> NDArray[np.uint8]:
        return self._nodes.view(np.uint8).reshape(self.n_nodes, _NODE.itemsize)

    def to_core(self, derive: Sequence[str] = ()) -> ForestArrays:
        """The arrays as functions of the core take them; of those that are left out only the ones to `derive`.

        Parameters
        ----------
        derive : sequence of str, default=()
            Names of optional arrays to compute where they are absent.

        Returns
        -------
        ForestArrays
            Arrays for the core; they are not copied.
        """
        optional: dict[str, Any] = {
            name: getattr(self, name) if name in derive else vars(self).get(name) for name in _DERIVABLE
        }
        return ForestArrays(
            nodes=self._node_bytes,
            kind=self.kind,
            **optional,
            tree_start=self.tree_start,
            leaf_start=self.leaf_start,
            payload_start=self.payload_start,
            payload_codes=self.payload_codes,
            payload_weights=self.payload_weights,
            payload_means=self.payload_means,
            n_features=int(self.n_features),
            only_thresholds=self.only_thresholds,
            packing=self._packing,
        )

    @lazy
    def _packing(self) -> Packing:
        """Packed trees, once walks have made them: kept as long as the forest, never copied or stored."""
        return Packing()

    @lazy
    def core(self) -> ForestArrays:
        """The arrays as functions of the core take them that spread no row."""
        return self.to_core()

    @lazy
    def core_with_weight(self) -> ForestArrays:
        """The arrays as functions of the core take them that spread rows."""
        return self.to_core(["weight"])

    def core_for(self, X: NDArray[np.float64]) -> ForestArrays:
        """The arrays for a walk of these rows: `weight` is derived only if one of them may be spread.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Rows, converted: float64, row-major.

        Returns
        -------
        ForestArrays
            Arrays for the core; they are not copied.
        """
        spreads = "weight" in vars(self) or not self.only_thresholds or np.isnan(X).any()
        return self.core_with_weight if spreads else self.core

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
        distinct: DistinctCounts | None = vars(self).get("distinct_counts")
        return int((self.counts if distinct is None else distinct.counts).shape[1])

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays that there are so far."""
        there = [vars(self).get(one.name) for one in fields(self) if one.init]
        there += vars(self).get("distinct_counts", ())
        arrays = {id(array): array.nbytes for array in there if isinstance(array, np.ndarray)}
        return sum(arrays.values())

    @lazy
    def only_thresholds(self) -> bool:
        """Whether every node is a leaf or a threshold split."""
        return bool(self.kind.max() <= int(NodeKind.THRESHOLD))

    # -- values of leaves

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

    # -- derived figures

    @property
    def depths(self) -> NDArray[np.int64]:
        """Depth of each tree; a tree that is one leaf has depth 0."""
        return np.maximum.reduceat(self.node_depths(), self.tree_start[:-1])

    @lazy
    def n_children(self) -> NDArray[np.int64]:
        """Children of each node: 0 in a leaf, else 2 or, multiway, as many as the payload names; own branch: 1 more."""
        return figures.n_children(self)

    @lazy
    def root(self) -> NDArray[np.int64]:
        """Root of each node's tree."""
        return np.repeat(self.tree_start[:-1], np.diff(self.tree_start))

    @lazy
    def parent(self) -> NDArray[np.int64]:
        """Parent of each node, as a position in these arrays; -1 for roots."""
        return parents(self.core)

    @lazy
    def leaf_nodes(self) -> NDArray[np.int64]:
        """Node of each leaf, in leaf order."""
        return np.flatnonzero(self.kind == NodeKind.LEAF)

    @property
    def split_features(self) -> NDArray[np.bool_]:
        """Whether any node splits on each feature, alone or in an oblique split, (n_features,)."""
        return figures.split_features(self)

    def node_depths(self) -> NDArray[np.int64]:
        """Distance of each node from its root.

        Returns
        -------
        ndarray of shape (n_nodes,)
            Depths; 0 at roots.
        """
        return node_depths(self.parent)

    def node_counts(self, leaf_counts: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """Class counts of each node, (n_nodes, n_classes): the sum over its leaves, of these counts or its own.

        Parameters
        ----------
        leaf_counts : array of shape (n_leaves, n_classes) or None, default=None
            Weighted class counts of each leaf, of a classification forest.

        Returns
        -------
        ndarray of shape (n_nodes, n_classes)
            Counts.
        """
        return node_sums(self.core, self.counts if leaf_counts is None else np.ascontiguousarray(leaf_counts))

    def answer_counts(self) -> NDArray[np.float64]:
        """Counts that each leaf predicts from, (n_leaves, n_classes).

        They are its own; for a leaf without rows, those of its nearest ancestor that has any (C4.5's empty branches).

        Returns
        -------
        ndarray of shape (n_leaves, n_classes)
            Counts; the same array as `leaf_counts` where no leaf is empty.
        """
        return figures.answer_counts(self)

    def node_stats(self) -> NDArray[np.float64]:
        """Weight, mean and sum of squared deviations of each node, (n_nodes, 3), merged from its leaves.

        Returns
        -------
        ndarray of shape (n_nodes, 3)
            Moments.
        """
        return figures.node_stats(self)

    def boxes(self, tree: int = 0) -> NDArray[np.float64]:
        """Box of each leaf of a tree, (leaves, n_features, 2): lower < x ≤ upper.

        Splits by category and oblique splits do not narrow a box.

        Parameters
        ----------
        tree : int, default=0
            Number of the tree, from 0.

        Returns
        -------
        ndarray of shape (n_leaves, n_features, 2)
            Lower and upper bounds of the tree's leaves; infinite where there is none.
        """
        return figures.leaf_boxes(self, tree)

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
        """One tree as text, a line per branch, with the names of columns, categories and classes if given.

        `leaf_answers` has the prediction of each leaf of a classification forest, where that is not its majority class.

        Parameters
        ----------
        tree : int, default=0
            Number of the tree, from 0.
        feature_names : sequence of str or None, default=None
            Names of the columns; None: their numbers.
        class_names : sequence or None, default=None
            Labels in the order of the counts; None: their numbers.
        categories : sequence of sequences or None, default=None
            Names of the categories of each column.
        leaf_answers : sequence of str or None, default=None
            Text of each leaf; None: its class or mean.
        max_depth : int or None, default=None
            Levels that are shown; None shows all.

        Returns
        -------
        str
            Lines.

        Raises
        ------
        ValueError
            If names or answers are too few or too many, or there is no such tree.
        """
        if leaf_answers is not None and len(leaf_answers) != len(self.counts):
            raise ValueError(f"leaf_answers has {len(leaf_answers)} entries, this forest has {self.n_leaves} leaves")
        names = Names.of(self, feature_names, class_names, categories)
        return tree_text(self, tree, names, max_depth, leaf_answers)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, with None for NaN and "inf", which JSON lacks; see :meth:`from_dict`.

        Returns
        -------
        dict
            Plain values by name.
        """
        return {"n_features": int(self.n_features), **arrays_to_lists(self._arrays())}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Forest:
        """The inverse of :meth:`to_dict`.

        Parameters
        ----------
        plain : mapping
            Lists and numbers, as :meth:`to_dict` returns them.

        Returns
        -------
        Forest
            The forest, checked.

        Raises
        ------
        InvalidForestError
            If an invariant does not hold.
        """
        required = (one.name for one in fields(cls) if one.init and one.name not in _LEFT_OUT)
        arrays = lists_to_arrays(plain, required, _LEFT_OUT)
        return cls(n_features=plain["n_features"], **arrays)

    def __eq__(self, other: object) -> bool:
        """Whether both are equal bit for bit (NaN equals NaN)."""
        if not isinstance(other, Forest):
            return NotImplemented
        mine, theirs = self._arrays(), other._arrays()
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
        """Contents of model files and pickles: `n_features` and arrays, with the nodes as they are in memory.

        Returns
        -------
        dict
            Arrays by name.
        """
        kept = {name: array for name, array in self._arrays().items() if name not in _NODE_FIELDS}
        return {"n_features": int(self.n_features), "nodes": self._node_bytes, **kept}

    @classmethod
    def from_stored(cls, stored: Mapping[str, Any]) -> Forest:
        """The inverse of :meth:`stored`, checked; read-only arrays are not copied.

        Parameters
        ----------
        stored : mapping
            Arrays by name, as :meth:`stored` returns them.

        Returns
        -------
        Forest
            The forest, checked.

        Raises
        ------
        ValueError
            If arrays are missing, or have other types; an :class:`~hedgerow.forest.InvalidForestError` is one.
        """
        arrays = {name: value for name, value in stored.items() if value is not None}
        raw = arrays.pop("nodes", None)
        if not isinstance(raw, np.ndarray) or raw.dtype != np.uint8 or raw.ndim != 2 or raw.shape[1] != _NODE.itemsize:
            raise ValueError(f"nodes must be a uint8 array of {_NODE.itemsize} columns")
        wanted = {one.name for one in fields(cls) if one.init} - {*_NODE_FIELDS, *_LEFT_OUT}
        if odd := wanted ^ (set(arrays) - set(_LEFT_OUT)):
            raise ValueError(f"a forest has other parts: {', '.join(sorted(odd))}")
        nodes = raw.reshape(-1).view(_NODE.newbyteorder("<")).astype(_NODE, copy=raw.flags.writeable)
        forest = cls.trusted(nodes=nodes.view(np.uint8).reshape(raw.shape), **_unwritable(arrays))
        forest.check()
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


def _unwritable(values: Mapping[str, Any]) -> dict[str, Any]:
    """Copies of arrays that somebody else could write to."""
    return {
        name: value.copy() if isinstance(value, np.ndarray) and value.flags.writeable else value
        for name, value in values.items()
    }


def _unpacked(block: NDArray[np.uint8]) -> Forest:
    content, arrays = unpack(block)
    return Forest.from_stored(
        {"n_features": content["n_features"], **dict(zip(content["arrays"], arrays, strict=True))}
    )


register(Forest, name="hedgerow.Forest", take=Forest.stored, make=Forest.from_stored)
