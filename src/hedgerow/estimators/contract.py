"""One door to every estimator: how the command line, plots and checks ask a fitted model.

A *verb* is the name of a method that takes X and answers about its rows, such as "predict_set". :func:`respond` answers
several verbs at once: X is converted once, and all answers that are folds share a walk. Estimators of this family are
:class:`Responder`; any other model is asked verb by verb.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from hedgerow.codegen import LeafRules
    from hedgerow.drawing import TreeView
    from hedgerow.estimators.fitting.bags import UnseenRows

__all__ = [
    *("CODES", "Responder", "Verbs", "offers", "reached_leaves", "read_rows", "respond", "respond_to_rows"),
    *("rules_of", "text_of", "unseen_rows", "view_of"),
]

Floats = NDArray[np.float64]
Verbs = Iterable[str] | Mapping[str, Mapping[str, Any]]
"""Verbs, or verbs with their keyword arguments: ``{"predict": {}, "predict_interval": {"coverage": 0.8}}``."""

CODES = "predict_codes"
"""Verb of every classifier, though no method: the position in `classes_` of the class that `predict` returns."""


@runtime_checkable
class Responder(Protocol):
    """Estimator that answers several verbs about the same rows in one walk."""

    def _read(self, X: Any) -> Floats:
        """Convert X to the rows that the trees are walked with, (n, n_features)."""

    def _respond(self, rows: Floats, verbs: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        """Answer verbs about converted rows."""


def offers(model: Any, verb: str) -> bool:
    """Whether a model has a verb; a class, which must be instantiated first, has none."""
    return not isinstance(model, type) and callable(getattr(model, verb, None))


def read_rows(model: Responder, X: Any) -> Floats:
    """Convert X once for several calls of :func:`respond_to_rows`, (n, n_features)."""
    return model._read(X)


def text_of(model: Any, tree: int, max_depth: int | None = None) -> str:
    """Any tree of a fitted model of this family as text."""
    text: str = model._text(tree, max_depth)
    return text


def rules_of(model: Any, tree: int) -> LeafRules:
    """Rules of any tree of a fitted model of this family."""
    rules: LeafRules = model._rules(tree, "coverage")
    return rules


def view_of(model: Any, tree: int, max_depth: int | str | None = "auto", row: Any = None) -> TreeView:
    """Content of a picture of a tree of a fitted model, see :func:`hedgerow.drawing.view_tree`."""
    view: TreeView = model._view(tree, max_depth, row)
    return view


def reached_leaves(model: Any, X: Any) -> csr_array:
    """Weight with which each row of X reaches each leaf of a model's trees, sparse (n, n_leaves)."""
    if not isinstance(model, Responder):
        raise TypeError(f"model is {model!r}, must be a fitted estimator of hedgerow: wrap others in RuleClassifier")
    rows = model._read(X)
    reached: csr_array = model._walk.spread(rows)  # type: ignore[attr-defined]
    return reached


def unseen_rows(model: Any, X: Any, y: Any, sample_weight: Any = None) -> UnseenRows:
    """Training rows, given again, with those that each tree has not seen."""
    if not isinstance(model, Responder):
        raise TypeError(f"model is {model!r}, must be a fitted estimator of hedgerow: wrap others in RuleClassifier")
    found: UnseenRows = model._unseen_rows(X, y, sample_weight)  # type: ignore[attr-defined]
    return found


def respond(model: Any, X: Any, verbs: Verbs) -> dict[str, Any]:
    """Answer several verbs about X, by verb.

    >>> from hedgerow import CautiousForestClassifier
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> model = CautiousForestClassifier(n_estimators=5, random_state=0).fit(X, y)
    >>> sorted(respond(model, X, ["predict_set", "predict_bounds"]))
    ['predict_bounds', 'predict_set']
    """
    if isinstance(model, Responder):
        return respond_to_rows(model, model._read(X), verbs)
    return {verb: _ask_alone(model, X, verb, arguments) for verb, arguments in _with_arguments(verbs).items()}


def respond_to_rows(model: Responder, rows: Floats, verbs: Verbs) -> dict[str, Any]:
    """Answer several verbs about rows that :func:`read_rows` converted, by verb."""
    return model._respond(rows, _with_arguments(verbs))


def _with_arguments(verbs: Verbs) -> Mapping[str, Mapping[str, Any]]:
    return verbs if isinstance(verbs, Mapping) else {verb: {} for verb in verbs}


def _ask_alone(model: Any, X: Any, verb: str, arguments: Mapping[str, Any]) -> Any:
    if verb == CODES:
        return np.searchsorted(model.classes_, model.predict(X))
    return getattr(model, verb)(X, **arguments)
