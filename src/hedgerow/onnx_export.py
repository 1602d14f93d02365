"""Fitted models as ONNX, for runtimes that know nothing of this package (extra ``hedgerow[onnx]``).

What can be said exactly by ONNX's ``TreeEnsemble`` is exported, in double precision; everything else is refused.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from hedgerow._params import check_choice
from hedgerow.forest import Forest
from hedgerow.nodes import MissingPolicy, NodeKind
from hedgerow.rules import Probability, get
from hedgerow.table import Kind

__all__ = ["to_onnx"]

Floats = NDArray[np.float64]

_OPSETS = {"": 21, "ai.onnx.ml": 5}  # the first with trees in double precision, from the same release
_IR_VERSION = 10  # that release's
_BRANCH_LEQ = 0
_SUM = 1


def to_onnx(model: Any, *, missing: Literal["refuse", "nan"] = "refuse") -> Any:
    """A fitted tree or forest as an ``onnx.ModelProto``.

    Parameters
    ----------
    model : a fitted classifier or regressor of this package
        With numeric columns and questions x ≤ t alone; of a classifier that has a `rule`, with
        :class:`~hedgerow.rules.Probability` ("probability" or "laplace"). Forests of scikit-learn go through
        ``RuleClassifier.from_fitted(theirs, rule="probability")``.
    missing : {"refuse", "nan"}
        ONNX's trees can't divide a row whose value is missing over branches, as trees here do (with
        ``missing="learned"`` those nodes that met no missing value in `fit`). Such a forest is refused; with "nan" it
        is exported, and every row with a missing value gets NaN for an answer (and a label without meaning).

    Returns
    -------
    onnx.ModelProto
        Input ``X``, double (n, n_features). Outputs of a classifier ``label`` (n,) and ``probabilities``, double
        (n, n_classes); of a regressor ``prediction``, double (n,). Thresholds keep their exact meaning: every row
        reaches the same leaves. Sums over trees may differ in their last digits, and with them the label of a tie.
    """
    forest, values, second_alone = _leaf_values(model)
    _refuse_what_onnx_has_not(model, forest, missing)
    onnx = _import_onnx()
    graph = _Graph(onnx)
    folded = graph.tree_ensemble("X", forest, values)
    if missing == "nan":
        folded = graph.nan_where_missing("X", folded)
    if is_classifier(model):
        outputs = graph.classified(folded, model.classes_, second_alone)
    else:
        outputs = [graph.output("Squeeze", [folded, graph.constant(np.array([1]))], "prediction", np.float64, [None])]
    return graph.model([graph.value_info("X", np.float64, [None, forest.n_features])], outputs)


def _leaf_values(model: Any) -> tuple[Forest, Floats, bool]:
    """The forest, what each leaf adds to the answer, (n_leaves, m), and whether this is the second of two classes'."""
    if isinstance(model, Forest) or not hasattr(model, "get_params"):
        raise TypeError(f"model is {type(model).__name__}, must be a fitted classifier or regressor of hedgerow")
    check_is_fitted(model)
    forest = getattr(model, "forest_", None)
    if not isinstance(forest, Forest):
        raise TypeError(
            f"model is {type(model).__name__}, must be one of hedgerow's; for a forest of scikit-learn pass "
            'RuleClassifier.from_fitted(model, rule="probability")'
        )
    if any(hasattr(one, "membership") for one in (model, getattr(model, "estimator_", None))):
        raise ValueError("its rows are in several regions at once, which ONNX's trees can't say: export a plain tree")
    if not is_classifier(model):
        return forest, forest.stats[:, 1:2] / forest.n_trees, False
    rule = getattr(model, "rule", None)
    if rule is not None and not isinstance(get(rule), Probability):
        raise ValueError(
            f"rule is {rule!r}, and ONNX's trees can only average: call model.set_params(rule='probability') first"
        )
    if not hasattr(model, "_probabilities"):
        raise ValueError(
            f"the answers of {type(model).__name__} vary within a leaf, and ONNX's trees have one for each: export a "
            "tree or forest with class counts in its leaves"
        )
    shares = model._probabilities().of_each_leaf / forest.n_trees
    weights = model._tree_weights() if hasattr(model, "_tree_weights") else None
    if weights is not None:
        shares = shares * np.repeat(weights, np.diff(forest.leaf_start))[:, np.newaxis]
    second_alone = shares.shape[1] == 2
    return forest, shares[:, 1:] if second_alone else shares, second_alone


def _refuse_what_onnx_has_not(model: Any, forest: Forest, missing: str) -> None:
    check_choice("missing", missing, ("refuse", "nan"), "'refuse' or 'nan'")
    for column in model.schema_.columns:
        if column.kind is not Kind.NUMERIC:
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
            "to_onnx(model, missing='nan') to answer NaN for such rows"
        )


def _import_onnx() -> Any:
    try:
        return importlib.import_module("onnx")
    except ImportError as error:
        raise ImportError("to_onnx needs onnx: pip install 'hedgerow[onnx]'") from error


@dataclass
class _Graph:
    """Nodes of an ONNX graph as they are added; each is named by its output."""

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

    def tree_ensemble(self, rows: str, forest: Forest, values: Floats) -> str:
        """Σ over the trees of the reached leaves' `values`, (n, m). A leaf of ONNX has one number: so m copies."""
        from_array = self.onnx.numpy_helper.from_array
        arrays = _tree_ensemble_arrays(forest, values)
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

    def classified(self, folded: str, classes: NDArray[Any], second_alone: bool) -> list[Any]:
        """Outputs `label` and `probabilities`."""
        labels = _as_labels(classes)
        parts = [self.add("Sub", [self.constant(np.ones(1)), folded]), folded] if second_alone else [folded]
        shape: list[int | None] = [None, len(labels)]
        probabilities = self.output("Concat", parts, "probabilities", np.float64, shape, axis=1)
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
    """Labels of a type that ONNX has."""
    if classes.dtype.kind in "iu":
        return classes.astype(np.int64)
    if classes.dtype.kind in "bf":
        return classes.astype(np.float64) if classes.dtype.kind == "f" else classes
    if all(isinstance(one, str) for one in classes.tolist()):
        return classes.astype(object)
    raise ValueError(f"classes are {classes[:3].tolist()}, ONNX has labels of numbers, text or truth values: map them")


def _tree_ensemble_arrays(forest: Forest, values: Floats) -> dict[str, NDArray[Any]]:
    """The attributes of a TreeEnsemble: inner nodes and leaves apart, each with numbers of its own.

    A tree that is a leaf becomes a node with this leaf on both sides. Copy k of the trees adds up column k of `values`.
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
    n_copies, n_nodes, n_leaves = values.shape[1], len(here), forest.n_leaves

    def target(child: NDArray[Any]) -> NDArray[Any]:
        number = np.where(leaf[child], leaf_number[child], node_number[child])
        step = np.where(leaf[child], n_leaves, n_nodes)
        found: NDArray[Any] = (number + np.arange(n_copies)[:, np.newaxis] * step).ravel()
        return found

    def copies(array: NDArray[Any]) -> NDArray[Any]:
        return np.tile(array, n_copies)

    roots = node_number[forest.tree_start[:-1]] + np.arange(n_copies)[:, np.newaxis] * n_nodes
    return {
        "tree_roots": roots.ravel(),
        "nodes_modes": np.full(n_copies * n_nodes, _BRANCH_LEQ, dtype=np.uint8),
        "nodes_featureids": copies(np.where(alone, 0, forest.feature[here])),
        "nodes_splits": copies(np.where(alone, 0.0, forest.threshold[here])),
        "nodes_truenodeids": target(yes),
        "nodes_trueleafs": copies(leaf[yes].astype(np.int64)),
        "nodes_falsenodeids": target(no),
        "nodes_falseleafs": copies(leaf[no].astype(np.int64)),
        "nodes_missing_value_tracks_true": copies((forest.missing[here] == MissingPolicy.FIRST_CHILD).astype(np.int64)),
        "leaf_targetids": np.repeat(np.arange(n_copies), n_leaves),
        "leaf_weights": np.ascontiguousarray(values.T).ravel(),
    }
