"""Arguments and options that several commands have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

__all__ = ["columns_options", "comma_separated", "data_argument", "file_options", "folds_option", "model_argument"]

Function = TypeVar("Function", bound=Callable[..., Any])

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

_COLUMNS = (
    click.option("--target", "-t", metavar="COLUMN", help="The column to predict."),
    click.option("--nominal", metavar="COLUMN", multiple=True, help="Take it for categories: --nominal zip,colour."),
    click.option("--numeric", metavar="COLUMN", multiple=True, help="Take it for numbers."),
    click.option(
        "--ordinal",
        metavar="COLUMN=A<B",
        multiple=True,
        help="Take it for ordered categories: --ordinal 'grade=low<mid<high'.",
    ),
    click.option("--ignore", metavar="COLUMN", multiple=True, help="Leave it out: --ignore id,name."),
)
_FILES = (
    click.option("--missing", metavar="MARKERS", help="What stands for a missing value: --missing '?,NA'."),
    click.option(
        "--format", "format_name", metavar="FORMAT", help="csv, tsv, parquet or arff, if the name does not say."
    ),
    click.option("--delimiter", metavar="CHARACTER", help="What stands between fields, if it can't be guessed."),
    click.option(
        "--data", "folder", metavar="FOLDER", help="Parquet files that can be named as DATA; or set HEDGEROW_DATA."
    ),
)


def columns_options(function: Function) -> Function:
    """What columns are to be taken for."""
    return _with(function, _COLUMNS)


def file_options(function: Function) -> Function:
    """How a file is to be read."""
    return _with(function, _FILES)


def _with(function: Function, options: Sequence[Callable[[Function], Function]]) -> Function:
    for option in reversed(options):
        function = option(function)
    return function


def comma_separated(given: Sequence[str]) -> list[str]:
    """Options may be repeated, and each may name several: --ignore a,b --ignore c."""
    return [name.strip() for one in given for name in one.split(",") if name.strip()]
