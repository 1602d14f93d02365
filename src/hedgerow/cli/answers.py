"""What a model says about rows, as columns of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hedgerow.cli.fitted import Loaded

__all__ = ["SEPARATOR", "answer_table"]

SEPARATOR = "|"  # between the classes of a set


def answer_table(loaded: Loaded, part: pa.Table, keep: Sequence[str], coverage: float) -> pa.Table:
    """Columns to keep, the prediction, and what else the model has to say."""
    model = loaded.model
    X = part.select([column.name for column in loaded.columns])
    columns: dict[str, Any] = {name: _plain(part[name]) for name in keep}
    answers = _classes(model, X) if hasattr(model, "classes_") else _numbers(model, X, coverage)
    return pa.table(columns | answers)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def _classes(model: Any, X: pa.Table) -> dict[str, Any]:
    classes = [str(label) for label in model.classes_.tolist()]
    columns: dict[str, Any] = {"prediction": _labels(model.predict(X), model.classes_)}
    if hasattr(model, "predict_set"):
        columns["set"] = _set_texts(model.predict_set(X), classes)
    columns |= {f"p({name})": share for name, share in zip(classes, model.predict_proba(X).T, strict=True)}
    if hasattr(model, "predict_bounds"):
        bounds = model.predict_bounds(X)
        for i, name in enumerate(classes):
            columns |= {f"lower({name})": bounds[:, i, 0], f"upper({name})": bounds[:, i, 1]}
    return columns | _uncertainty(model, X)


def _labels(predicted: NDArray[Any], classes: NDArray[Any]) -> Any:
    """Of text as codes: a million Python strings would take longer than all else."""
    if predicted.dtype.kind not in "US":
        return pa.array(predicted)
    codes = np.searchsorted(classes, predicted).astype(np.int32)
    return pa.array(classes.tolist(), pa.string()).take(pa.array(codes))


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
