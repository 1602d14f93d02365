"""Export of fitted models to ONNX (extra ``hedgerow[onnx]``).

Models that ONNX's ``TreeEnsemble`` can represent exactly are exported in double precision; all others are refused.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils.validation import check_is_fitted

from hedgerow._arrays import Floats
from hedgerow._params import check_choice
from hedgerow.data.table import Kind
from hedgerow.forest.forest import Forest
from hedgerow.forest.kinds import MissingPolicy, NodeKind
from hedgerow.rules import Calibrated, Probability, get
from hedgerow.rules.registry import as_fitted

__all__ = ["to_onnx"]

_OPSETS = {"": 21, "ai.onnx.ml": 5}  # the first with trees in double precision, from the same release
_IR_VERSION = 10  # that release's
_BRANCH_LEQ = 0
_SUM = 1


def to_onnx(model: Any, *, missing: Literal["refuse", "nan"] = "refuse") -> Any:
    """Export a fitted tree or forest as an ``onnx.ModelProto``.

    Parameters
    ----------
    model : a fitted classifier or regressor of this package
        With numeric columns and splits x ≤ t only; for a classifier with a `rule`, with
        :class:`~hedgerow.rules.Probability` ("probability" or "laplace"). Forests of scikit-learn go through
        ``RuleClassifier.from_fitted(theirs, rule="probability")``.
    missing : {"refuse", "nan"}, default="refuse"
        ONNX's trees can't split a row with a missing value over several branches. Trees here do so, with
        ``missing="learned"`` only at nodes that met no missing value in `fit`. Such a forest is refused; with "nan" it
        is exported, and a row whose missing value reaches such a node gets NaN (and a meaningless label). If no node at
        all has a branch for missing values, every row with a missing value gets NaN.

    Returns
    -------
    onnx.ModelProto
        Input ``X``, double (n, n_features). Outputs of a classifier ``label`` (n,) and ``probabilities``, double
        (n, n_classes); of a regressor ``prediction``, double (n,). Thresholds keep their exact meaning: every row
        reaches the same leaves. Sums over trees may differ in their last digits, and with them the label of a tie.

    Raises
    ------
    ValueError
        If the model has splits, or a rule, that ONNX's trees can't express, or would treat missing values otherwise.
    ImportError
        If onnx is not installed.

    Examples
    --------
    >>> from hedgerow import ForestRegressor
    >>> from hedgerow.exchange import to_onnx
    >>> model = ForestRegressor(2, missing="learned", random_state=0).fit([[1.0], [2.0]] * 10, [1.0, 2.0] * 10)
    >>> [node.name for node in to_onnx(model, missing="nan").graph.input]
    ['X']
    """
    forest, values, second_alone = _leaf_values(model)
    rule = as_fitted(model.rule, getattr(model, "rule_", None)) if hasattr(model, "rule") else None
    _refuse_what_onnx_has_not(model, forest, missing)
    onnx = _import_onnx()
    graph = _Graph(onnx)
    guarded = _spread_nodes_to_guard(forest) if missing == "nan" and _learned_branches(forest) else np.empty(0, int)
    folded = graph.tree_ensemble("X", forest, values, guarded)
    if missing == "nan" and not _learned_branches(forest):
        folded = graph.nan_where_missing("X", folded)
    if is_classifier(model):
        shares = graph.both_shares(folded) if second_alone else folded
        if isinstance(rule, Calibrated):
            shares = graph.calibrated(shares, rule, model.class_prior_)
        outputs = graph.classified(shares, model.classes_)
    else:
        outputs = [graph.output("Squeeze", [folded, graph.constant(np.array([1]))], "prediction", np.float64, [None])]
    return graph.model([graph.value_info("X", np.float64, [None, forest.n_features])], outputs)


def _leaf_values(model: Any) -> tuple[Forest, Floats, bool]:
    """Return the forest, each leaf's summand of the answer, (n_leaves, m), and whether it is of class 1 of 2 only."""
    if not isinstance(model, BaseEstimator):
        raise TypeError(f"model is {type(model).__name__}, must be a fitted classifier or regressor of hedgerow")
    check_is_fitted(model)
    forest = getattr(model, "forest_", None)
    if not isinstance(forest, Forest):
        raise TypeError(
            f"model is {type(model).__name__}, must be one of hedgerow's; for a forest of scikit-learn pass "
            'RuleClassifier.from_fitted(model, rule="probability")'
        )
    if getattr(getattr(model, "estimator_", model), "regions_", None) is not None:
        raise ValueError("its rows are in several regions at once, which ONNX's trees can't say: export a plain tree")
    if not is_classifier(model):
        return forest, forest.stats[:, 1:2] / forest.n_trees, False
    rule = getattr(model, "rule", None)
    if rule is not None and not isinstance(get(rule), Probability):
        raise ValueError(
            f"rule is {rule!r}, and ONNX's trees can only average: call model.set_params(rule='probability') first"
        )
    try:
        shares = model.leaf_probabilities() / forest.n_trees
    except (AttributeError, ValueError):
        raise ValueError(
            f"the answers of {type(model).__name__} vary within a leaf, and ONNX's trees have one for each: export a "
            "tree or forest with class counts in its leaves"
        ) from None
    weights = model.get_tree_weights()
    if weights is not None:
        shares = shares * np.repeat(weights, np.diff(forest.leaf_start))[:, np.newaxis]
    second_alone = shares.shape[1] == 2
    return forest, shares[:, 1:] if second_alone else shares, second_alone


def _refuse_what_onnx_has_not(model: Any, forest: Forest, missing: str) -> None:
    check_choice("missing", missing, ("refuse", "nan"), "'refuse' or 'nan'")
    for column in model.schema_.columns:
        if column.kind != Kind.NUMERIC:
            raise ValueError(
                f"column {column.name!r} is {column.kind}: an ONNX model reads numbers, and would need the codes "
                "of its categories; encode the column before fit"
            )
    other = np.setdiff1d(forest.kind, [NodeKind.LEAF, NodeKind.THRESHOLD])
    if other.size:
        name = NodeKind(other[0]).name.lower().replace("_", " ")
        raise ValueError(f"the forest has {name} nodes, ONNX export knows only thresholds (x <= t)")
    policies = forest.missing[forest.kind != NodeKind.LEAF]
    if (policies == MissingPolicy.OWN_BRANCH).any():
        raise ValueError(
            "missing values have a branch of their own, and ONNX's nodes have two: fit with another `missing`"
        )
    if missing == "refuse" and (policies == MissingPolicy.SPREAD).any():
        raise ValueError(
            "the forest divides rows with missing values over branches, which ONNX can't: call "
            "to_onnx(model, missing='nan') to answer NaN for rows that would be divided"
        )


def _learned_branches(forest: Forest) -> bool:
    """Whether some node sends missing values down one branch."""
    inner = forest.kind != NodeKind.LEAF
    return bool((forest.missing[inner] != MissingPolicy.SPREAD).any())


def _spread_nodes_to_guard(forest: Forest) -> NDArray[np.int64]:
    """Nodes that spread rows with a missing value, and that such a row can reach.

    It can't where an ancestor splits the same feature and either spreads as well, so that it is guarded itself, or
    sends missing values down its other branch.
    """
    spread = np.flatnonzero((forest.kind == NodeKind.THRESHOLD) & (forest.missing == MissingPolicy.SPREAD))
    reachable = np.ones(len(spread), dtype=bool)
    child, ancestor = spread.copy(), forest.parent[spread]
    climbing = np.flatnonzero(ancestor >= 0)
    while len(climbing):
        here, below = ancestor[climbing], child[climbing]
        policy, is_first = forest.missing[here], below == forest.root[here] + forest.first_child[here]
        excludes = (policy == MissingPolicy.SPREAD) | (is_first != (policy == MissingPolicy.FIRST_CHILD))
        excludes &= forest.feature[here] == forest.feature[spread[climbing]]
        reachable[climbing[excludes]] = False
        child[climbing], ancestor[climbing] = here, forest.parent[here]
        climbing = climbing[~excludes & (ancestor[climbing] >= 0)]
    return spread[reachable]


def _import_onnx() -> Any:
    try:
        return importlib.import_module("onnx")
    except ImportError as error:
        raise ImportError("to_onnx needs onnx: pip install 'hedgerow[onnx]'") from error


@dataclass
class _Graph:
    """Builder of an ONNX graph; nodes are named by their output."""

    onnx: Any

    def __post_init__(self) -> None:
        self._nodes: list[Any] = []
        self._constants: list[Any] = []

    def value_info(self, name: str, dtype: Any, shape: list[int | None]) -> Any:
        kind = self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return self.onnx.helper.make_tensor_value_info(name, kind, shape)

    def constant(self, values: NDArray[Any]) -> str:
        name = f"constant_{len(self._constants)}"
        self._constants.append(self.onnx.numpy_helper.from_array(values, name))
        return name

    def add(self, op: str, inputs: list[str], name: str = "", **attributes: Any) -> str:
        result = name or f"{op.lower()}_{len(self._nodes)}"
        self._nodes.append(self.onnx.helper.make_node(op, inputs, [result], **attributes))
        return result

    def output(self, op: str, inputs: list[str], name: str, dtype: Any, shape: list[int | None], **how: Any) -> Any:
        return self.value_info(self.add(op, inputs, name, **how), dtype, shape)

    def tree_ensemble(self, rows: str, forest: Forest, values: Floats, guarded: NDArray[np.int64]) -> str:
        """Σ over the trees of the reached leaves' `values`, (n, m). A leaf of ONNX has one number: so m copies."""
        from_array = self.onnx.numpy_helper.from_array
        arrays = _tree_ensemble_arrays(forest, values, guarded)
        as_tensor = {
            name: from_array(arrays.pop(name), name) for name in ("nodes_splits", "leaf_weights", "nodes_modes")
        }
        as_list = {name: array.tolist() for name, array in arrays.items()}
        fixed = {"domain": "ai.onnx.ml", "n_targets": values.shape[1], "aggregate_function": _SUM, "post_transform": 0}
        return self.add("TreeEnsemble", [rows], **as_tensor, **as_list, **fixed)

    def nan_where_missing(self, rows: str, answer: str) -> str:
        zeros = self.add("Mul", [rows, self.constant(np.zeros(1))])  # NaN where x is
        total = self.add("ReduceSum", [zeros, self.constant(np.array([1]))], keepdims=1)
        return self.add("Add", [answer, total])

    def both_shares(self, second: str) -> str:
        """Probabilities of two classes from that of the second."""
        return self.add("Concat", [self.add("Sub", [self.constant(np.ones(1)), second]), second], axis=1)

    def calibrated(self, shares: str, rule: Calibrated, prior: Floats) -> str:
        """Probabilities as :class:`~hedgerow.rules.Calibrated` finishes them."""
        scaled = self.add("Mul", [shares, self.constant(np.array([1.0 - len(prior) * rule.floor]))])
        floored = self.add("Add", [scaled, self.constant(np.array([rule.floor]))])
        powers = self.add("Pow", [floored, self.constant(np.array([rule.sharpness]))])
        odds = self.add("Mul", [powers, self.constant(rule.frequencies(prior))])
        return self.add("Div", [odds, self.add("ReduceSum", [odds, self.constant(np.array([1]))], keepdims=1)])

    def classified(self, shares: str, classes: NDArray[Any]) -> list[Any]:
        """Outputs `label` and `probabilities`."""
        labels = _as_labels(classes)
        shape: list[int | None] = [None, len(labels)]
        probabilities = self.output("Identity", [shares], "probabilities", np.float64, shape)
        number = self.add("ArgMax", ["probabilities"], axis=1, keepdims=0)
        label = self.output("Gather", [self.constant(labels), number], "label", labels.dtype, [None])
        return [label, probabilities]

    def model(self, inputs: list[Any], outputs: list[Any]) -> Any:
        helper = self.onnx.helper
        graph = helper.make_graph(self._nodes, "hedgerow", inputs, outputs, self._constants)
        opsets = [helper.make_opsetid(domain, version) for domain, version in _OPSETS.items()]
        made = helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION, producer_name="hedgerow")
        self.onnx.checker.check_model(made)
        return made


def _as_labels(classes: NDArray[Any]) -> NDArray[Any]:
    """Convert labels to a type that ONNX supports."""
    if classes.dtype.kind in "iu":
        return classes.astype(np.int64)
    if classes.dtype.kind in "bf":
        return classes.astype(np.float64) if classes.dtype.kind == "f" else classes
    if all(isinstance(one, str) for one in classes.tolist()):
        return classes.astype(object)
    raise ValueError(f"classes are {classes[:3].tolist()}, ONNX has labels of numbers, text or truth values: map them")


def _tree_ensemble_arrays(forest: Forest, values: Floats, guarded: NDArray[np.int64]) -> dict[str, NDArray[Any]]:
    """Attributes of a TreeEnsemble: inner nodes and leaves are numbered separately.

    A tree that is a leaf becomes a node with this leaf on both sides. Each of the `guarded` nodes gets a node before it
    that sends missing values to a leaf of NaN (x <= inf is false for NaN alone). Copy k of the trees adds up column k
    of `values`.
    """
    leaf = forest.kind == NodeKind.LEAF
    leaf_number = np.cumsum(leaf) - 1
    is_root = forest.root == np.arange(forest.n_nodes)
    node = ~leaf | is_root
    node_number = np.cumsum(node) - 1
    here = np.flatnonzero(node)
    alone = leaf[here]
    yes = np.where(alone, here, forest.root[here] + forest.first_child[here])
    no = np.where(alone, here, yes + 1)
    guards = np.arange(len(guarded))
    n_copies, n_nodes, n_leaves = values.shape[1], len(here) + len(guards), forest.n_leaves + len(guards)
    entry = np.where(leaf, leaf_number, node_number)
    entry[guarded] = len(here) + guards

    def copies(array: NDArray[Any], of_guards: Any) -> NDArray[Any]:
        return np.tile(np.concatenate([array, np.broadcast_to(of_guards, guards.shape)]), n_copies)

    def targets(number: NDArray[Any], is_leaf: NDArray[Any]) -> NDArray[Any]:
        return number + np.repeat(np.arange(n_copies), n_nodes) * np.where(is_leaf, n_leaves, n_nodes)

    true_leaf, false_leaf = copies(leaf[yes], False), copies(leaf[no], True)
    true_id = targets(copies(entry[yes], node_number[guarded]), true_leaf)
    false_id = targets(copies(entry[no], forest.n_leaves + guards), false_leaf)
    n_unused = _unused_leaves(true_id, true_leaf, false_id, false_leaf)
    first = forest.tree_start[:-1]
    roots = np.where(leaf[first], node_number[first], entry[first])
    tracks_true = (forest.missing[here] == MissingPolicy.FIRST_CHILD).astype(np.int64)
    weights = np.concatenate([values.T, np.full((n_copies, len(guards)), np.nan)], axis=1)
    return {
        "tree_roots": (roots + np.arange(n_copies)[:, np.newaxis] * n_nodes).ravel(),
        "nodes_modes": np.full(n_copies * n_nodes, _BRANCH_LEQ, dtype=np.uint8),
        "nodes_featureids": copies(np.where(alone, 0, forest.feature[here]), forest.feature[guarded]),
        "nodes_splits": copies(np.where(alone, 0.0, forest.threshold[here]), np.inf),
        "nodes_truenodeids": true_id + n_unused * true_leaf,
        "nodes_trueleafs": true_leaf.astype(np.int64),
        "nodes_falsenodeids": false_id + n_unused * false_leaf,
        "nodes_falseleafs": false_leaf.astype(np.int64),
        "nodes_missing_value_tracks_true": copies(tracks_true, 0),
        "leaf_targetids": np.concatenate([np.zeros(n_unused, int), np.repeat(np.arange(n_copies), n_leaves)]),
        "leaf_weights": np.concatenate([np.zeros(n_unused), weights.ravel()]),
    }


def _unused_leaves(
    true_id: NDArray[Any], true_leaf: NDArray[Any], false_id: NDArray[Any], false_leaf: NDArray[Any]
) -> int:
    """Number of unused leaves to put first, so that no leaf has the number of its sibling node.

    onnxruntime 1.21 to 1.23 treats a root as a leaf where these two numbers are equal.
    """
    mixed = true_leaf != false_leaf
    ahead = np.where(true_leaf, false_id - true_id, true_id - false_id)[mixed]
    taken = np.unique(ahead[ahead >= 0])
    free = np.flatnonzero(taken != np.arange(len(taken)))
    return int(free[0]) if len(free) else len(taken)
