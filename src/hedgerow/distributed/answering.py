"""A fitted model asked about rows in parts: which columns it takes, and what it answers about some of them."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any

import numpy as np
from joblib import parallel_config

from hedgerow._params import RowError
from hedgerow.distributed.engine import Engine, Part
from hedgerow.distributed.engines import Local
from hedgerow.distributed.rows.parted_rows import PartedRows
from hedgerow.estimators.contract import Verbs, offers, respond

__all__ = ["answers_of", "check_engine", "model_columns", "single_threaded"]


def check_engine(engine: Engine | None, rows: PartedRows, model: Any) -> Engine:
    """The engine, or the default one; it must be able to read the rows."""
    if not isinstance(rows, PartedRows):
        raise TypeError(f"rows is {type(rows).__name__}, must be made by parquet, from_dask, from_ray or from_spark")
    if engine is None:
        engine = Local(getattr(model, "n_jobs", None))
    if not callable(getattr(engine, "fold", None)):
        raise TypeError(f"engine is {engine!r}, must be Local(), Dask(client), Ray() or Spark(session)")
    given = type(engine).__name__
    if rows.home and rows.home != given:
        raise ValueError(f"these rows are held by {rows.home}, and the engine is {given}: use {rows.home}")
    return engine


def model_columns(model: Any, rows: PartedRows) -> tuple[str, ...]:
    """Columns of the rows that a model takes, in its order."""
    if not hasattr(model, "n_features_in_") or not offers(model, "predict"):
        raise TypeError(f"model is {model!r}, must be a fitted estimator")
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        if len(rows.inputs) != model.n_features_in_:
            raise ValueError(
                f"the model was fitted on {model.n_features_in_} columns without names, and the rows have "
                f"{len(rows.inputs)}: name those that it does not take, as in parquet(paths, ignore=[…])"
            )
        return rows.inputs
    known = set(rows.schema.names)
    for name in names:
        if name not in known:
            raise ValueError(f"the rows have no column {name!r}, which the model was fitted on")
    return tuple(map(str, names))


def single_threaded(model: Any) -> Any:
    """The model with one thread: a worker runs as many tasks as it has cores."""
    if "n_jobs" not in model.get_params(deep=False):
        return model
    return copy(model).set_params(n_jobs=1)


def answers_of(
    part: Part, model: Any, columns: tuple[str, ...], verbs: Verbs
) -> Iterator[tuple[int, Any, dict[str, Any]]]:
    """Position of some rows in a part, their table, and the answers by verb."""
    at = 0
    for table in part.batches():
        if not table.num_rows:
            continue
        try:
            with parallel_config("threading", n_jobs=1):
                found = respond(model, _inputs(model, table, columns), verbs)
        except RowError as error:
            problem, row, requirement = error.args
            raise ValueError(f"{part.where(at + row)}: {problem}, {requirement}") from None
        except ValueError as error:
            raise ValueError(f"{part.where(at)} and following: {error}") from error
        yield at, table, found
        at += table.num_rows


def _inputs(model: Any, table: Any, columns: tuple[str, ...]) -> Any:
    """Inputs of a model: an array if it was fitted on one."""
    if hasattr(model, "feature_names_in_"):
        return table.select(list(columns))
    return np.column_stack([table.column(name).to_numpy() for name in columns])
