"""Arguments and options that several commands have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import wraps
from typing import Any

import click

__all__ = [
    "ColumnOptions",
    "FileOptions",
    "columns_options",
    "comma_separated",
    "coverage_option",
    "data_argument",
    "file_options",
    "folds_option",
    "json_option",
    "model_argument",
    "quiet_option",
    "verbose_option",
]

model_argument = click.argument("model", metavar="MODEL")
data_argument = click.argument("data", metavar="DATA")


def _check_folds(context: click.Context, parameter: click.Parameter, folds: int) -> int:
    if folds == 1:
        raise click.UsageError("--folds is 1: cross-validation needs at least 2 folds, 0 skips it")
    return folds


folds_option = click.option(
    "--folds", type=click.IntRange(min=0), default=5, show_default=True, callback=_check_folds,
    help="Folds of cross-validation; 0 for none.",
)  # fmt: skip

coverage_option = click.option(
    "--coverage", type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="How often sets or intervals are to hold the truth; default: as the model was fitted, else 0.9.",
)  # fmt: skip
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs, instead of tables.")
quiet_option = click.option("--quiet", "-q", is_flag=True, help="Print nothing but the answer and errors.")
verbose_option = click.option("--verbose", "-v", is_flag=True, help="List every column, however many there are.")

_COLUMNS = (
    click.option("--target", "-t", metavar="COLUMN", help="The column to predict."),
    click.option("--nominal", metavar="COLUMN", multiple=True, help="Treat as categories: --nominal zip,colour."),
    click.option("--numeric", metavar="COLUMN", multiple=True, help="Treat as numbers."),
    click.option(
        "--ordinal",
        metavar="COLUMN=A<B",
        multiple=True,
        help="Treat as ordered categories: --ordinal 'grade=low<mid<high'.",
    ),
    click.option("--ignore", metavar="COLUMN", multiple=True, help="Leave out: --ignore id,name."),
    click.option("--weight", metavar="COLUMN", help="Sample weights, in fitting and in scores."),
    click.option("--groups", metavar="COLUMN", help="Rows of one group stay in one fold of cross-validation."),
    click.option(
        "--dates",
        type=click.Choice(["days", "parts"]),
        help="Turn dates into numbers: days since 1970, or year, month, day, weekday and hour.",
    ),
)
_FILES = (
    click.option("--missing", metavar="MARKERS", help="Markers of missing values: --missing '?,NA'."),
    click.option(
        "--format",
        "format_name",
        metavar="FORMAT",
        help="csv, tsv, parquet, arff, xlsx or jsonl, if the name does not say.",
    ),
    click.option("--delimiter", metavar="CHARACTER", help="Field delimiter; default: inferred from the header."),
    click.option(
        "--decimal",
        type=click.Choice([".", ","]),
        metavar="CHARACTER",
        help="Decimal sign, '.' or ','; default: inferred from the data.",
    ),
    click.option("--encoding", metavar="NAME", help="Encoding of a text file, such as latin1; default: UTF-8."),
    click.option(
        "--header/--no-header",
        "header",
        default=None,
        help="Whether the first line of a CSV or Excel file names the columns.",
    ),
    click.option(
        "--data", "folder", metavar="FOLDER", help="Folder of datasets that DATA can name; default: HEDGEROW_DATA."
    ),
)


@dataclass(frozen=True)
class ColumnOptions:
    """How columns are to be used."""

    target: str | None
    nominal: tuple[str, ...]
    numeric: tuple[str, ...]
    ordinal: tuple[str, ...]
    ignore: tuple[str, ...]
    weight: str | None
    groups: str | None
    dates: str | None


@dataclass(frozen=True)
class FileOptions:
    """How files are to be read."""

    missing: str | None
    format_name: str | None
    delimiter: str | None
    decimal: str | None
    encoding: str | None
    header: bool | None
    folder: str | None


def columns_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options on columns; the command gets them as `columns`."""
    return _with(function, _COLUMNS, "columns", ColumnOptions)


def file_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options on files; the command gets them as `files`."""
    return _with(function, _FILES, "files", FileOptions)


def _with(function: Callable[..., Any], options: Sequence[Any], name: str, kind: Any) -> Callable[..., Any]:
    @wraps(function)
    def bundled(**given: Any) -> Any:
        bundle = kind(**{field.name: given.pop(field.name) for field in fields(kind)})
        return function(**given, **{name: bundle})

    command: Callable[..., Any] = bundled
    for option in reversed(options):
        command = option(command)
    return command


def comma_separated(given: Sequence[str]) -> list[str]:
    """Options may be repeated, and each may name several: --ignore a,b --ignore c."""
    return [name.strip() for one in given for name in one.split(",") if name.strip()]
