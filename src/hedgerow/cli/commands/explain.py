"""``hedgerow explain``: the reasons for a prediction."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from inspect import signature
from typing import TYPE_CHECKING, Any

import click

from hedgerow.cli.options import FileOptions, comma_separated, data_argument, file_options, model_argument

if TYPE_CHECKING:
    from hedgerow.cli.fitted import Loaded
    from hedgerow.contributions import RowContributions
    from hedgerow.counterfactual import Counterfactual
    from hedgerow.explain.questions import NextQuestion

__all__ = ["explain"]


@click.command(
    short_help="Explain the prediction for a row.",
    epilog="""\b
Examples:
  hedgerow explain patients.hedgerow new.csv --row 17
  hedgerow explain iris.hedgerow iris --row 1 --row 78
  hedgerow explain patients.hedgerow new.csv --row 17 --why
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
    help="Coverage of sets and intervals, where the model has them; default: the model's own.",
)  # fmt: skip
@click.option("--why", is_flag=True, help="The reasons for doubt, with their shares, and what would help.")
@click.option("--contributions", is_flag=True, help="What each column adds to the answer: exact Shapley values.")
@click.option("--change", is_flag=True, help="The nearest change of the row that leads to each other answer.")
@click.option("--fixed", metavar="COLUMN", multiple=True, help="Columns that --change leaves alone: --fixed age,sex.")
@click.option(
    "--reach", metavar="ANSWER", help="Answer that --change should reach: a class, or LOW:HIGH for a number."
)  # fmt: skip
@click.option("--ask-next", is_flag=True, help="Which of the missing columns to measure next.")
@click.option("--json", "as_json", is_flag=True, help="An object with all numbers for each row, in one line.")
@file_options
def explain(
    model: str,
    data: str,
    numbers: tuple[int, ...],
    coverage: float | None,
    why: bool,
    contributions: bool,
    change: bool,
    fixed: tuple[str, ...],
    reach: str | None,
    ask_next: bool,
    as_json: bool,
    files: FileOptions,
) -> None:
    """Explain predictions of MODEL for rows of DATA: the path down the tree, or the votes of the trees."""
    from hedgerow.cli.fitted import open_model, read_rows
    from hedgerow.cli.inputs.unseen import UnseenCategories
    from hedgerow.cli.results.next_steps import find_changes, find_question

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
        X = found[number].select([column.name for column in loaded.columns])
        asked = RowAnswers(
            loaded.model.explain(X, **settings)[0],
            _contributions(loaded, X) if contributions else None,
            find_changes(loaded, X, comma_separated(fixed), reach) if change else None,
            find_question(loaded, X) if ask_next else None,
        )
        if as_json:
            click.echo(asked.as_json(number))
        else:
            asked.show(number, loaded.target, why=why)


@dataclass(frozen=True)
class RowAnswers:
    """Text about one row; None where it was not asked for."""

    explanation: Any
    contributions: RowContributions | None
    changes: list[Counterfactual] | None
    question: NextQuestion | None

    def as_json(self, number: int) -> str:
        """All numbers as an object of JSON, in one line."""
        from hedgerow.explain.explained import as_plain

        others = {"contributions": self.contributions, "changes": self.changes, "next_question": self.question}
        plain = {name: as_plain(value) for name, value in others.items() if value is not None}
        return json.dumps({"row": number, **self.explanation.to_dict(), **plain})

    def show(self, number: int, target: str | None, *, why: bool) -> None:
        """Print it as text."""
        from hedgerow.cli.console import out
        from hedgerow.cli.results.next_steps import change_lines, question_lines

        lines = str(self.explanation).split("\n")
        if target:
            lines[0] = f"{target} = {lines[0]}"
        lines += self.explanation.why_lines() if why else []
        lines += [] if self.contributions is None else self.contributions.lines()
        lines += [] if self.changes is None else change_lines(self.changes)
        lines += [] if self.question is None else question_lines(self.question)
        out.print(f"Row {number}", style="bold")
        for line in lines:
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


def _contributions(loaded: Loaded, X: Any) -> RowContributions:
    """Contributions of the columns to the answer for a row."""
    from hedgerow.cli.errors import CommandError
    from hedgerow.estimators.contract import offers

    if not offers(loaded.model, "contributions"):
        raise CommandError(
            f"{type(loaded.model).__name__} has no contributions: --contributions needs a model of plain trees"
        )
    found = loaded.model.contributions(X)
    of_row: RowContributions = found.of_row(0, loaded.model.predict(X).tolist()[0] if found.classes else None)
    return of_row
