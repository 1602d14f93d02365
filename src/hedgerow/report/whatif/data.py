"""Data of the section "What if": columns, models, and the models that it can't hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from hedgerow._arrays import Floats
from hedgerow._printable import printable
from hedgerow.data.columns import Column
from hedgerow.data.table import Schema
from hedgerow.estimators.contract import Responder, read_rows
from hedgerow.forest.figures import split_features
from hedgerow.report.whatif.made_up import made_up_rows
from hedgerow.report.whatif.size import Embedded, fit_to_size
from hedgerow.report.whatif.walkable import Walkable, walkable

__all__ = ["MOST_BYTES", "whatif_data"]

MOST_BYTES = 1_500_000
"""Bytes of all models together, as JSON."""


def whatif_data(
    models: Mapping[str, Any] | Any, X: Any = None, *, start: str | None = None, most_bytes: int = MOST_BYTES
) -> dict[str, Any]:
    """JSON for ``whatif.js``, which walks the models in the browser.

    Parameters
    ----------
    models : mapping of names to fitted models, or one fitted model
        In the order of the menu. Those whose answers can't be walked are in ``not_walked``, with the reason.
    X : table or None
        Rows of the page: ranges, typical values, and how well smaller forests agree are taken from them. None: from
        rows made up of values between the thresholds of the models.
    start : str or None
        Name of the model that is chosen first; None, or one that can't be walked: the first.
    most_bytes : int
        Size of all models together. Of those beyond it only some trees are taken, or larger leaves, whichever agrees
        better with the whole model about these rows; ``agreement`` says how well.
    """
    named = models if isinstance(models, Mapping) else {type(models).__name__: models}
    taken, not_walked, schema = {}, [], None
    for name, model in named.items():
        try:
            taken[name] = walkable(_checked(model, schema))
        except ValueError as error:
            not_walked.append({"name": name, "reason": str(error)})
            continue
        schema = schema or model.schema_
    found: dict[str, Any] = {"version": 1, "start": start, "made_up": X is None}
    found |= {"columns": [], "models": [], "not_walked": not_walked}
    if schema is None:
        return found
    first = named[next(iter(taken))]
    rows = made_up_rows([one.forest for one in taken.values()], schema) if X is None else read_rows(first, X)
    embedded = fit_to_size({name: (named[name], whole) for name, whole in taken.items()}, rows, most_bytes)
    found["columns"] = _columns(schema, rows, [named[name] for name in taken])
    found["models"] = [_model(name, named[name], taken[name], one) for name, one in embedded.items()]
    return found


def _checked(model: Any, schema: Schema | None) -> Any:
    if not isinstance(model, Responder) and not hasattr(model, "estimator_"):
        raise ValueError("is not a model of trees of this library")
    check_is_fitted(model)
    if schema is not None and model.schema_.columns != schema.columns:
        raise ValueError("reads other columns than the first model")
    return model


def _model(name: str, model: Any, whole: Walkable, embedded: Embedded) -> dict[str, Any]:
    forest = embedded.part.forest
    return {
        "name": name,
        "title": type(model).__name__,
        "classes": [printable(label) for label in model.classes_.tolist()] if is_classifier(model) else None,
        "n_trees": forest.n_trees,
        "of_trees": whole.forest.n_trees,
        "least_rows": embedded.least_rows,
        "without_interval": embedded.without_interval,
        "agreement": None if embedded.agreement is None else asdict(embedded.agreement),
        "splits_on": np.flatnonzero(split_features(forest)).tolist(),
        **embedded.json,
    }


def _columns(schema: Schema, rows: Floats, models: list[Any]) -> list[dict[str, Any]]:
    importances = [np.asarray(model.feature_importances_) for model in models if hasattr(model, "feature_importances_")]
    importance = np.mean(importances, axis=0) if importances else np.zeros(schema.n_features)
    return [
        _column(column, values[~np.isnan(values)], values, float(weight))
        for column, values, weight in zip(schema.columns, rows.T, importance, strict=True)
    ]


def _column(column: Column, known: Floats, values: Floats, importance: float) -> dict[str, Any]:
    found = {
        "name": column.name,
        "kind": column.kind.value,
        "categories": [_plain(category) for category in column.categories],
        "importance": importance,
        "missing": float(np.isnan(values).mean()),
        "typical": None,
    }
    if not len(known):
        return found
    if column.categories:
        codes = np.bincount(known.astype(np.int64), minlength=len(column.categories))
        return found | {"typical": int(codes.argmax())}
    whole = bool((known == np.floor(known)).all())
    typical = float(np.quantile(known, 0.5, method="lower" if whole else "linear"))
    return found | {"typical": typical, "low": float(known.min()), "high": float(known.max()), "whole": whole}


def _plain(category: Any) -> Any:
    """A category as JSON has it; what it has no word for as text."""
    return category if isinstance(category, str | bool | int) or np.isfinite(category) else str(category)
