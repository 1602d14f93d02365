"""Predict rows in parts: Parquet in, Parquet out."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow.distributed.answering import answers_of, check_engine, model_columns, single_threaded
from hedgerow.distributed.engine import Engine, Part
from hedgerow.distributed.job import Progress, watch
from hedgerow.distributed.rows.parted_rows import PartedRows, parquet
from hedgerow.distributed.rows.row_blocks import without_dictionary
from hedgerow.estimators.contract import offers
from hedgerow.storage.replace import replaced

__all__ = ["predict"]


def predict(
    model: Any,
    rows: PartedRows,
    engine: Engine | None = None,
    *,
    to: str | os.PathLike[str],
    method: str | Sequence[str] = "predict",
    keep: Sequence[str] = (),
    progress: Progress | None = None,
) -> PartedRows:
    """Predict rows in parts, and write the answers to Parquet files in the order of the rows.

    Parameters
    ----------
    model : estimator
        Fitted; its columns are found by name.
    rows : PartedRows
        From :func:`parquet` or a `from_` function. A target is not needed.
    engine : Engine or None, default=None
        Where to compute; None for :class:`Local` with the model's `n_jobs`.
    to : path
        A name that ends in ``.parquet`` is one file; else a folder with a file for each part, in the order of their
        names. Every worker must see it. A file is replaced only when the new one is complete.
    method : str or sequence of str, default="predict"
        Methods of the model whose answers are written: "predict" as the column ``prediction``, "predict_proba" as
        ``p(class)``, "predict_set" as ``set(class)``, "predict_bounds" as ``lower(class)`` and ``upper(class)``,
        "predict_interval" as ``lower`` and ``upper``; of other methods, columns named after them.
    keep : sequence of str, default=()
        Columns that are copied from `rows`, such as a number of the row.
    progress : callable or None, default=None
        Called as ``progress(stage, n_done, n_parts)``.

    Returns
    -------
    PartedRows
        The written files.

    Raises
    ------
    ValueError
        If the model lacks a method, `keep` names a column that is not there, or `to` can't be written to.

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> from hedgerow import TreeClassifier
    >>> from hedgerow.distributed import parquet, predict
    >>> folder = tempfile.mkdtemp()
    >>> rows = pa.table({"x": [1.0, 2.0, 3.0], "id": [7, 8, 9]})
    >>> pq.write_table(rows, f"{folder}/rows.parquet")
    >>> model = TreeClassifier().fit(rows.select(["x"]), ["a", "a", "b"])
    >>> to = f"{folder}/answers.parquet"
    >>> answers = predict(model, parquet(f"{folder}/rows.parquet"), to=to, keep=["id"])
    >>> pq.read_table(to).to_pydict()
    {'id': [7, 8, 9], 'prediction': ['a', 'a', 'b']}
    """
    engine = check_engine(engine, rows, model)
    columns = model_columns(model, rows)
    methods = (method,) if isinstance(method, str) else tuple(method)
    for name in methods:
        if not offers(model, name):
            raise ValueError(f"method is {name!r}, which {type(model).__name__} does not have")
    for name in keep:
        if name not in rows.schema.names:
            known = ", ".join(map(repr, rows.schema.names[:20]))
            raise ValueError(f"keep has {name!r}, which is not a column of the rows: there are {known}")
    goal = _goal(to)
    parts = [part for part in rows.parts if part.n_rows]
    one_file = goal.suffix == ".parquet"
    folder = goal.with_name(f".{goal.name}.parts") if one_file else goal
    _check_goal(goal, folder, parts)
    folder.mkdir(parents=True, exist_ok=True)
    answer = _Answer(columns, methods, tuple(keep), str(folder))
    done = watch(progress, "predicting", len(parts))
    try:
        engine.map(parts, answer, engine.share(single_threaded(model)), done=done)
        if one_file:
            _join(goal, [folder / _name(part.first) for part in parts])
    finally:
        if one_file:
            shutil.rmtree(folder, ignore_errors=True)
    return parquet(goal)


def _goal(to: str | os.PathLike[str]) -> Path:
    if "://" in str(to):
        raise ValueError(f"to is {str(to)!r}: answers are written to files that all workers see; give a path")
    return Path(os.path.abspath(to))


def _check_goal(goal: Path, folder: Path, parts: Sequence[Any]) -> None:
    if goal.suffix == ".parquet":
        if str(goal) in {part.label for part in parts}:
            raise ValueError(f"to is {goal}, which rows are read from: give another file")
        if goal.is_dir():
            raise ValueError(f"to is {goal}, which is a folder: give the name of a file, or one without .parquet")
    elif goal.is_file():
        raise ValueError(f"to is {goal}, which is a file: give a folder, or a name that ends in .parquet")
    elif goal.exists():
        expected = {_name(part.first) for part in parts}
        for file in sorted(goal.glob("*.parquet")):
            if file.name not in expected:
                raise ValueError(f"to is {goal}, which holds {file.name}: give a new folder")


def _name(first: int) -> str:
    """Name of the file of a part: names and rows have the same order."""
    return f"rows-{first:014d}.parquet"


def _join(goal: Path, files: Sequence[Path]) -> None:
    """One file of several, row group by row group."""
    import pyarrow.parquet as pq

    schema = pq.read_schema(files[0])
    with replaced(goal) as out, pq.ParquetWriter(out, schema) as writer:
        for name in files:
            with pq.ParquetFile(name) as file:
                for batch in file.iter_batches():
                    writer.write_batch(batch)


@dataclass(frozen=True)
class _Answer:
    """Task that writes the answers about a part, and returns how many."""

    columns: tuple[str, ...]
    methods: tuple[str, ...]
    keep: tuple[str, ...]
    folder: str

    def __call__(self, part: Part, model: Any) -> int:
        import pyarrow as pa
        import pyarrow.parquet as pq

        n_rows, writer = 0, None
        with replaced(Path(self.folder, _name(part.first))) as out, ExitStack() as opened:
            for _, table, found in answers_of(part, model, self.columns, self.methods):
                kept = {name: without_dictionary(table.column(name)) for name in self.keep}
                answers = pa.table(kept | _columns(model, found))
                if writer is None:
                    writer = opened.enter_context(pq.ParquetWriter(out, answers.schema))
                writer.write_table(answers)
                n_rows += answers.num_rows
        return n_rows


def _columns(model: Any, found: Mapping[str, Any]) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    for method, answer in found.items():
        classes = [str(label) for label in getattr(model, "classes_", ())]
        match method:
            case "predict":
                columns["prediction"] = answer
            case "predict_proba":
                columns |= {f"p({label})": answer[:, k] for k, label in enumerate(classes)}
            case "predict_set":
                columns |= {f"set({label})": answer[:, k] for k, label in enumerate(classes)}
            case "predict_bounds":
                for k, label in enumerate(classes):
                    columns |= {f"lower({label})": answer[:, k, 0], f"upper({label})": answer[:, k, 1]}
            case "predict_interval":
                columns |= {"lower": answer[:, 0], "upper": answer[:, 1]}
            case _ if is_dataclass(answer):
                values = {one.name: getattr(answer, one.name) for one in fields(answer)}
                columns |= {f"{method}.{name}": one for name, one in values.items() if np.ndim(one) == 1}
            case _:
                columns |= _numbered(method, answer)
    return {name: np.ascontiguousarray(values) for name, values in columns.items()}


def _numbered(method: str, answer: Any) -> dict[str, Any]:
    """Columns of an array that are not known by name."""
    values = np.asarray(answer)
    if values.ndim == 1:
        return {method: values}
    if values.ndim != 2:
        raise ValueError(f"method {method!r} gives arrays of {values.ndim} dimensions, which are not columns")
    return {f"{method}.{k}": values[:, k] for k in range(values.shape[1])}
