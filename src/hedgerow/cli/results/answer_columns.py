"""Predictions for rows of a file, as columns of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from sklearn.base import is_classifier

from hedgerow._arrays import Floats
from hedgerow.datasets.rows import decode
from hedgerow.estimators.contract import CODES, Responder, Verbs, offers, read_rows, respond, respond_to_rows
from hedgerow.estimators.verbs.tree import Tree
from hedgerow.forest.forest import Forest
from hedgerow.scoring.promises import coverage_arguments
from hedgerow.walk import route

__all__ = ["SEPARATOR", "Answers", "answer"]

SEPARATOR = "|"  # between the classes of a set

_DIGITS = 6  # of probabilities: more are noise, and double the size of the file


@dataclass(frozen=True)
class Answers:
    """A table of distinct answers, and which of them each row of a file has."""

    different: pa.Table
    which: NDArray[np.int32] | None
    """For each row of the file, its row of `different`; None: row i has answer i."""
    kept: pa.Table | None

    @property
    def n_rows(self) -> int:
        return self.different.num_rows if self.which is None else len(self.which)

    @property
    def names(self) -> list[str]:
        """Names of the columns; an answer replaces a kept column of the same name."""
        kept = [] if self.kept is None else self.kept.column_names
        return list(dict.fromkeys([*kept, *self.different.column_names]))

    @property
    def n_undecided(self) -> int:
        """Number of rows whose set has several classes."""
        if "set" not in self.different.column_names:
            return 0
        several = pc.match_substring(self.different["set"], SEPARATOR).to_numpy()
        return int(np.count_nonzero(several if self.which is None else several[self.which]))

    def table(self) -> pa.Table:
        """Answers for each row of the file, after its kept columns."""
        answers = self.different if self.which is None else self.different.take(pa.array(self.which))
        if self.kept is None:
            return answers
        columns = dict(zip(self.kept.column_names, self.kept.columns, strict=True))
        return pa.table(columns | dict(zip(answers.column_names, answers.columns, strict=True)))


def answer(model: Any, rows: pa.Table, keep: Sequence[str], coverage: float | None) -> Answers:
    """Predict rows, with all that the model says about its certainty; copy the columns to `keep`."""
    X, which = rows.select(model.schema_.names), None
    converted = read_rows(model, X) if isinstance(model, Responder) else X
    if isinstance(model, Tree):
        distinct, which = _one_row_per_leaf(model.forest_, converted)
        converted = np.ascontiguousarray(converted[distinct])
    kept = pa.table({name: decode(rows[name]) for name in keep}) if keep else None
    return Answers(pa.table(_columns(model, converted, coverage)), which, kept)


def _one_row_per_leaf(tree: Forest, rows: Floats) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Rows whose answers may differ, and for each row its position among them.

    Rows in the same leaf have the same answer; a row that is spread over several leaves has its own.
    """
    group = route(tree, rows, heaviest=False, n_jobs=-1)[:, 0]
    is_spread = group < 0
    n_spread = np.count_nonzero(is_spread)
    group[is_spread] = tree.n_leaves + np.arange(n_spread)
    row_of = np.full(tree.n_leaves + n_spread, -1)
    row_of[group] = np.arange(len(group))
    reached = row_of >= 0
    position = np.cumsum(reached, dtype=np.int32) - np.int32(1)
    return row_of[reached], position[group]


def _columns(model: Any, X: Any, coverage: float | None) -> dict[str, Any]:
    """Columns of answers, from a table or from converted rows."""
    ask = respond_to_rows if isinstance(X, np.ndarray) else respond
    if is_classifier(model):
        return _class_columns(model, ask(model, X, _class_verbs(model, coverage)))
    return _number_columns(model, ask(model, X, _number_verbs(model, coverage)))


def _class_verbs(model: Any, coverage: float | None) -> Verbs:
    verbs: dict[str, dict[str, Any]] = {CODES: {}}
    verbs |= {verb: {} for verb in ("predict_proba", "predict_bounds", "predict_uncertainty") if offers(model, verb)}
    sets = coverage_arguments(model, "predict_set", coverage)
    return verbs if sets is None else verbs | {"predict_set": sets}


def _number_verbs(model: Any, coverage: float | None) -> Verbs:
    verbs: dict[str, dict[str, Any]] = {"predict": {}}
    intervals = coverage_arguments(model, "predict_interval", coverage)
    verbs |= {} if intervals is None else {"predict_interval": intervals}
    return verbs | ({"predict_uncertainty": {}} if offers(model, "predict_uncertainty") else {})


def _class_columns(model: Any, found: dict[str, Any]) -> dict[str, Any]:
    classes = [str(label) for label in model.classes_.tolist()]
    columns: dict[str, Any] = {"prediction": pa.array(model.classes_.tolist()).take(pa.array(found[CODES]))}
    if "predict_set" in found:
        columns["set"] = _set_texts(found["predict_set"], classes)
    shares = found["predict_proba"].T.round(_DIGITS)
    columns |= {f"p({name})": share for name, share in zip(classes, shares, strict=True)}
    if "predict_bounds" in found:
        bounds = found["predict_bounds"].round(_DIGITS)
        for i, name in enumerate(classes):
            columns |= {f"lower({name})": bounds[:, i, 0], f"upper({name})": bounds[:, i, 1]}
    return columns | {name: one.round(_DIGITS) for name, one in _uncertainty_columns(model, found).items()}


def _set_texts(sets: NDArray[np.bool_], classes: list[str]) -> Any:
    kinds, which = np.unique(sets, axis=0, return_inverse=True)
    texts = [SEPARATOR.join(name for name, has in zip(classes, kind, strict=True) if has) for kind in kinds]
    return pa.array(texts, pa.string()).take(pa.array(which.reshape(-1).astype(np.int32)))


def _number_columns(model: Any, found: dict[str, Any]) -> dict[str, Any]:
    columns: dict[str, Any] = {"prediction": found["predict"]}
    if "predict_interval" in found:
        columns["lower"], columns["upper"] = found["predict_interval"].T
    return columns | _uncertainty_columns(model, found)


def _uncertainty_columns(model: Any, found: dict[str, Any]) -> dict[str, Any]:
    """Total uncertainty and, of several trees, its aleatoric and epistemic parts."""
    if "predict_uncertainty" not in found:
        return {}
    uncertainty = found["predict_uncertainty"]
    if model.forest_.n_trees == 1:
        return {"uncertainty": uncertainty.total}
    return {"uncertainty": uncertainty.total, "aleatoric": uncertainty.aleatoric, "epistemic": uncertainty.epistemic}
