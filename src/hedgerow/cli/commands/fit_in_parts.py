"""``hedgerow fit --engine``: Parquet files that are read in parts, on threads, Dask, Ray or Spark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hedgerow.cli.errors import CommandError, UsageError
from hedgerow.cli.options import ColumnOptions, FileOptions, comma_separated

if TYPE_CHECKING:
    from hedgerow.distributed import Engine, PartedRows

__all__ = ["fit_in_parts", "make_engine"]

_WHOLE_FILES = "reads Parquet files as they are"


def make_engine(name: str) -> Engine:
    """The engine of ``--engine``: local, dask://host:8786, ray, ray://host:10001, spark or sc://host:15002."""
    from hedgerow.distributed import Dask, Local, Ray, Spark

    if name == "local":
        return Local(-1)
    if name.startswith("dask://") and len(name) > len("dask://"):
        return Dask(name.replace("dask://", "tcp://", 1))
    if name == "ray" or name.startswith("ray://"):
        return Ray(None if name == "ray" else name)
    if name == "spark":
        return Spark()
    if name.startswith("sc://"):
        from pyspark.sql import SparkSession

        return Spark(SparkSession.builder.remote(name).getOrCreate())
    raise UsageError(
        f"--engine is {name!r}, must be local, dask://host:8786, ray, ray://host:10001, spark or sc://host:15002"
    )


def fit_in_parts(
    data: Sequence[str],
    engine: str,
    model: str,
    settings: dict[str, Any],
    measured: str | None,
    columns: ColumnOptions,
    files: FileOptions,
    output: str | None,
) -> None:
    """Fit a model to files in parts, print its size and out-of-bag or leave-one-out score, and save it."""
    from hedgerow import distributed
    from hedgerow.cli.console import note, out, progress
    from hedgerow.cli.figures import size_of
    from hedgerow.cli.model_table import make_model, measured_setting
    from hedgerow.storage import save

    _check_options(columns, files)
    if columns.target is None:
        raise UsageError("--engine needs the column to predict: add --target COLUMN")
    ignored = comma_separated(columns.ignore)
    rows = distributed.parquet(list(data), target=columns.target, weight=columns.weight, ignore=ignored)
    settings = settings | measured_setting(measured, model, rows.inputs)
    runs_on = make_engine(engine)
    estimator = make_model(model, _is_classification(rows, runs_on, columns), settings)
    out.print(f"{rows!r}"[1:-1], soft_wrap=True)
    with progress(time_left=True) as bars:
        tasks: dict[str, Any] = {}

        def show(stage: str, n_done: int, total: int) -> None:
            if stage not in tasks:
                for task in tasks.values():
                    bars.update(task, visible=False)
                tasks[stage] = bars.add_task(stage, total=total)
            bars.update(tasks[stage], completed=n_done, total=total)

        grown = distributed.fit(estimator, rows, runs_on, progress=show)
    out.print(f"{type(grown).__name__}: {size_of(grown)}")
    for attribute, title in (("oob_score_", "out-of-bag score"), ("loo_score_", "leave-one-out score")):
        if getattr(grown, attribute, None) is not None:
            out.print(f"{title} {getattr(grown, attribute):.3f}")
    if output is None:
        note("the model was not saved: add -o model.hedgerow")
        return
    notes = {
        "target": columns.target,
        "missing": [],
        "decimal": ".",
        "units": {},
        "header": None,
        "dates": {},
        "weight": columns.weight,
        "ignored": [*ignored, *([columns.weight] if columns.weight else [])],
        "data": {"name": data[0] if len(data) == 1 else f"{data[0]} and {len(data) - 1} more", "rows": rows.n_rows},
        "model": model,
        "folds": 0,
    }
    save(grown, output, notes=notes)
    out.print(f"Wrote {output}. Next: hedgerow show {output}", soft_wrap=True)


def _check_options(columns: ColumnOptions, files: FileOptions) -> None:
    """Refuse options that change how rows are read; --nominal and --numeric may name the target."""
    target = {columns.target}
    given = {
        "--ordinal": columns.ordinal,
        "--groups": columns.groups,
        "--dates": columns.dates,
        "--nominal": set(comma_separated(columns.nominal)) - target,
        "--numeric": set(comma_separated(columns.numeric)) - target,
        "--missing": files.missing,
        "--delimiter": files.delimiter,
        "--decimal": files.decimal,
        "--encoding": files.encoding,
    }
    for option, value in given.items():
        if value:
            raise UsageError(f"--engine {_WHOLE_FILES}: leave out {option}, and write the columns with their types")


def _is_classification(rows: PartedRows, engine: Engine, columns: ColumnOptions) -> bool:
    """Whether the target is taken for classes, as :func:`hedgerow.cli.inputs.roles.assign` does."""
    import pyarrow as pa

    from hedgerow.cli.inputs.roles import MANY_CLASSES

    kind = rows.schema.field(rows.target).type
    if rows.target in comma_separated(columns.numeric):
        return False
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    if rows.target in comma_separated(columns.nominal) or not is_number:
        return True
    some = [replace(part, columns=(rows.target,), text=()) for part in rows.parts]
    values = engine.fold(some, few_values, rows.target, MANY_CLASSES, merge=_Union(MANY_CLASSES))
    if values is None or not all(float(value).is_integer() for value in values):
        return False
    if len(values) == 1:
        raise CommandError(f"target {rows.target!r} is {next(iter(values)):g} in every row: nothing to predict")
    return True


def few_values(part: Any, name: str, most: int) -> frozenset[Any] | None:
    """Different values of a column in a part; None if there are more than `most`."""
    found: frozenset[Any] | None = frozenset()
    for table in part.batches():
        found = _Union(most)(found, frozenset(table.column(name).drop_null().unique().to_pylist()))
    return found


class _Union:
    """Merges sets of values; None stands for too many."""

    def __init__(self, most: int) -> None:
        self.most = most

    def __call__(self, one: frozenset[Any] | None, other: frozenset[Any] | None) -> frozenset[Any] | None:
        if one is None or other is None or len(one | other) > self.most:
            return None
        return one | other
