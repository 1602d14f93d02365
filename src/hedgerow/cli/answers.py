"""What a model says about rows, as columns of a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from hedgerow.cli.questions import Questions
from hedgerow.estimators.trees import TreeClassifier
from hedgerow.estimators.verbs import ClassAnswers
from hedgerow.folds.uncertainty import entropy_bits

__all__ = ["SEPARATOR", "Answers", "answered"]

Floats = NDArray[np.float64]

SEPARATOR = "|"  # between the classes of a set

_DIGITS = 6  # of shares: more say nothing about the world, and double the file


@dataclass(frozen=True)
class Answers:
    """A table of answers, as short as it can be: many rows of a file may have the same."""

    different: pa.Table
    which: NDArray[np.int32] | None
    """For each row of the file, its row of `different`; None: each has its own."""
    kept: pa.Table | None

    @property
    def n_rows(self) -> int:
        return self.different.num_rows if self.which is None else len(self.which)

    @property
    def names(self) -> list[str]:
        """Those of the columns; an answer takes the place of what was kept under its name."""
        kept = [] if self.kept is None else self.kept.column_names
        return list(dict.fromkeys([*kept, *self.different.column_names]))

    @property
    def n_undecided(self) -> int:
        """Rows that are answered with several classes."""
        if "set" not in self.different.column_names:
            return 0
        several = pc.match_substring(self.different["set"], SEPARATOR).to_numpy()
        return int(np.count_nonzero(several if self.which is None else several[self.which]))

    def table(self) -> pa.Table:
        """A row for each of the file, behind what was kept of it."""
        answers = self.different if self.which is None else self.different.take(pa.array(self.which))
        if self.kept is None:
            return answers
        columns = dict(zip(self.kept.column_names, self.kept.columns, strict=True))
        return pa.table(columns | dict(zip(answers.column_names, answers.columns, strict=True)))


def answered(model: Any, questions: Questions, coverage: float) -> Answers:
    """The prediction, and what else the model has to say."""
    X = questions.asked
    found = _classes(model, X) if hasattr(model, "classes_") else _numbers(model, X, coverage)
    return Answers(pa.table(found), questions.which, questions.kept)


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
