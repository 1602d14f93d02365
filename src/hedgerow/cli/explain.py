"""``hedgerow explain``: the reasons for a prediction."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import signature
from typing import TYPE_CHECKING, Any

import click

from hedgerow.cli.options import FileOptions, comma_separated, data_argument, file_options, model_argument

if TYPE_CHECKING:
    from hedgerow.cli.fitted import Loaded

__all__ = ["explain"]


@click.command(
    short_help="Explain the prediction for a row.",
    epilog="""\b
Examples:
  hedgerow explain patients.hedgerow new.csv --row 17
  hedgerow explain iris.hedgerow iris --row 1 --row 78
  hedgerow explain patients.hedgerow new.csv --row 17 --contributions
  hedgerow explain patients.hedgerow new.csv --row 17 --change --fixed age,sex
""",
)
@model_argument
@data_argument
@click.option(
    "--row", "numbers", type=click.IntRange(min=1), multiple=True, default=(1,), show_default=True, metavar="K",
    help="Row of DATA, counted from 1; may be repeated.",
)  # fmt: skip
@click.option(
    "--coverage", type=click.FloatRange(0, 1, min_open=True, max_open=True), metavar="C",
    help="Of sets and intervals, where the model has them; default: the model's own.",
)  # fmt: skip
@click.option("--contributions", is_flag=True, help="What each column adds to the answer: exact Shapley values.")
@click.option("--change", is_flag=True, help="The nearest change of the row that leads to each other answer.")
@click.option("--fixed", metavar="COLUMN", multiple=True, help="Columns that --change leaves alone: --fixed age,sex.")
@click.option(
    "--reach", metavar="ANSWER", help="The answer that --change is to reach: a class, or LOW:HIGH for a number."
)  # fmt: skip
@click.option("--ask-next", is_flag=True, help="Which of the missing columns to measure next.")
@file_options
def explain(
    model: str,
    data: str,
    numbers: tuple[int, ...],
    coverage: float | None,
    contributions: bool,
    change: bool,
    fixed: tuple[str, ...],
    reach: str | None,
    ask_next: bool,
    files: FileOptions,
) -> None:
    """Explain predictions of MODEL for rows of DATA: the path down the tree, or the votes of the trees."""
    from hedgerow.cli.console import out
    from hedgerow.cli.fitted import open_model, read_rows
    from hedgerow.cli.inputs.unseen import UnseenCategories
    from hedgerow.cli.ways_out import change_lines, question_lines

    if (fixed or reach) and not change:
        raise click.UsageError("--fixed and --reach belong to --change: add it")
    loaded = open_model(model)
    settings = _coverage_settings(loaded, coverage)
    parts = read_rows(loaded, data, files)
    found = dict(_picked(parts, set(numbers), data))
    unseen = UnseenCategories(loaded.columns)
    for row in found.values():
        unseen.count(row)
    unseen.report()
    for number in numbers:
        out.print(f"Row {number}", style="bold")
        for line in _lines(loaded, found[number], settings):
            out.print(line, soft_wrap=True)
        if contributions:
            for line in _contribution_lines(loaded, found[number]):
                out.print(line, soft_wrap=True)
        if change:
            for line in change_lines(loaded, found[number], comma_separated(fixed), reach):
                out.print(line, soft_wrap=True)
        if ask_next:
            for line in question_lines(loaded, found[number]):
                out.print(line, soft_wrap=True)
        out.print()


def _picked(parts: Iterator[Any], numbers: set[int], data: str) -> Iterator[tuple[int, Any]]:
    """Yield the rows with these numbers; reading stops after the last of them."""
    from hedgerow.cli.errors import CommandError
    from hedgerow.cli.figures import counted

    n_seen = 0
    for part in parts:
        for number in sorted(numbers):
            if n_seen < number <= n_seen + part.num_rows:
                yield number, part.slice(number - n_seen - 1, 1)
        n_seen += part.num_rows
        if n_seen >= max(numbers):
            return
    raise CommandError(f"{data} has {counted(n_seen, 'row')}, --row is {max(numbers)}")


def _coverage_settings(loaded: Loaded, coverage: float | None) -> dict[str, float]:
    """Keyword arguments of `explain` for this coverage, none if it was not given."""
    if coverage is None:
        return {}
    if "coverage" not in signature(loaded.model.explain).parameters:
        name = type(loaded.model).__name__
        raise click.UsageError(
            f"--coverage is {coverage:g}, but a {name} promises none: fit with --coverage {coverage:g}"
        )
    return {"coverage": coverage}


def _contribution_lines(loaded: Loaded, row: Any) -> list[str]:
    """Lines about what each column adds to the answer for a row."""
    from hedgerow.cli.errors import CommandError
    from hedgerow.estimators.contract import offers

    if not offers(loaded.model, "contributions"):
        raise CommandError(
            f"{type(loaded.model).__name__} has no contributions: --contributions needs a model of plain trees"
        )
    X = row.select([column.name for column in loaded.columns])
    found = loaded.model.contributions(X)
    label = loaded.model.predict(X).tolist()[0] if found.classes else None
    lines: list[str] = found.of_row(0, label).lines()
    return lines


def _lines(loaded: Loaded, row: Any, settings: dict[str, float]) -> list[str]:
    X = row.select([column.name for column in loaded.columns])
    lines = str(loaded.model.explain(X, **settings)[0]).split("\n")
    if loaded.target:
        lines[0] = f"{loaded.target} = {lines[0]}"
    return lines
