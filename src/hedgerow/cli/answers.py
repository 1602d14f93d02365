"""Answers of a model about rows, as columns of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hedgerow.estimators.trees import TreeClassifier, TreeRegressor
from hedgerow.estimators.verbs import ClassAnswers
from hedgerow.folds.uncertainty import entropy_bits
from hedgerow.walk import route

__all__ = ["SEPARATOR", "Answers", "answer"]

Floats = NDArray[np.float64]

SEPARATOR = "|"  # between the classes of a set

_DIGITS = 6  # of probabilities: more are noise, and double the file


@dataclass(frozen=True)
class Answers:
    """Distinct answers, and which of them each row has."""

    different: pa.Table
    which: NDArray[np.int32] | None
    """Row of `different` for each row of the file; None: each has its own."""
    kept: pa.Table | None

    @property
    def n_rows(self) -> int:
        return self.different.num_rows if self.which is None else len(self.which)

    @property
    def names(self) -> list[str]:
        """Names of columns; an answer replaces a kept column of the same name."""
        kept = [] if self.kept is None else self.kept.column_names
        return list(dict.fromkeys([*kept, *self.different.column_names]))

    @property
    def n_undecided(self) -> int:
        """Number of rows that are answered with several classes."""
        if "set" not in self.different.column_names:
            return 0
        several = pc.match_substring(self.different["set"], SEPARATOR).to_numpy()
        return int(np.count_nonzero(several if self.which is None else several[self.which]))

    def table(self) -> pa.Table:
        """Answers for every row of the file, after the columns kept."""
        answers = self.different if self.which is None else self.different.take(pa.array(self.which))
        if self.kept is None:
            return answers
        columns = dict(zip(self.kept.column_names, self.kept.columns, strict=True))
        return pa.table(columns | dict(zip(answers.column_names, answers.columns, strict=True)))


def answer(model: Any, rows: pa.Table, keep: Sequence[str], coverage: float) -> Answers:
    """Predict rows, with all else that the model has to offer, such as bounds; copy the columns to `keep`."""
    X = rows.select(model.schema_.names)
    which = None
    if isinstance(model, TreeClassifier | TreeRegressor):
        distinct, which = _one_row_per_leaf(model, X)
        X = X.take(pa.array(distinct))
    found = _classes(model, X) if hasattr(model, "classes_") else _numbers(model, X, coverage)
    kept = pa.table({name: _plain(rows[name]) for name in keep}) if keep else None
    return Answers(pa.table(found), which, kept)


def _one_row_per_leaf(model: Any, X: pa.Table) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Rows whose answers may differ, and for each row its position among them.

    Rows in the same leaf have the same answer; a row that is spread over several leaves has its own.
    """
    tree = model.forest_
    group = route(tree, model.schema_.read(X), heaviest=False, n_jobs=-1)[:, 0]
    is_spread = group < 0
    n_spread = np.count_nonzero(is_spread)
    group[is_spread] = tree.n_leaves + np.arange(n_spread)
    row_of = np.full(tree.n_leaves + n_spread, -1)
    row_of[group] = np.arange(len(group))
    reached = row_of >= 0
    position = np.cumsum(reached, dtype=np.int32) - np.int32(1)
    return row_of[reached], position[group]


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _classes(model: Any, X: pa.Table) -> dict[str, Any]:
    classes = [str(label) for label in model.classes_.tolist()]
    shares = model.predict_proba(X)
    columns: dict[str, Any] = {"prediction": _labels(model, X, shares)}
    if hasattr(model, "predict_set"):
        columns["set"] = _set_texts(model.predict_set(X), classes)
    columns |= {f"p({name})": share for name, share in zip(classes, shares.T.round(_DIGITS), strict=True)}
    if hasattr(model, "predict_bounds"):
        bounds = model.predict_bounds(X).round(_DIGITS)
        for i, name in enumerate(classes):
            columns |= {f"lower({name})": bounds[:, i, 0], f"upper({name})": bounds[:, i, 1]}
    # A tree's own is the entropy of these shares: no need for another walk.
    unsure = {"uncertainty": entropy_bits(shares)} if isinstance(model, TreeClassifier) else _uncertainty(model, X)
    return columns | {name: found.round(_DIGITS) for name, found in unsure.items()}


def _labels(model: Any, X: pa.Table, shares: Floats) -> Any:
    """Predictions; where they are the most probable classes, without walking the rows once more."""
    if isinstance(model, ClassAnswers) and getattr(model, "cost_matrix", None) is None:
        codes = shares.argmax(axis=1)
    else:
        codes = np.searchsorted(model.classes_, model.predict(X))
    return pa.array(model.classes_.tolist()).take(pa.array(codes))


def _set_texts(sets: NDArray[np.bool_], classes: list[str]) -> Any:
    kinds, which = np.unique(sets, axis=0, return_inverse=True)
    texts = [SEPARATOR.join(name for name, has in zip(classes, kind, strict=True) if has) for kind in kinds]
    return pa.array(texts, pa.string()).take(pa.array(which.reshape(-1).astype(np.int32)))


def _numbers(model: Any, X: pa.Table, coverage: float) -> dict[str, Any]:
    columns: dict[str, Any] = {"prediction": model.predict(X)}
    if hasattr(model, "predict_interval"):
        columns["lower"], columns["upper"] = model.predict_interval(X, coverage).T
    return columns | _uncertainty(model, X)


def _uncertainty(model: Any, X: pa.Table) -> dict[str, Any]:
    """Total, and of what kind; one tree has only one kind."""
    if not hasattr(model, "predict_uncertainty"):
        return {}
    found = model.predict_uncertainty(X)
    if model.forest_.n_trees == 1:
        return {"uncertainty": found.total}
    return {"uncertainty": found.total, "aleatoric": found.aleatoric, "epistemic": found.epistemic}
