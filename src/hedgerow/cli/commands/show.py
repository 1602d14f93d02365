"""``hedgerow show``: a model on the screen, a tree as text and a forest in figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hedgerow.cli.options import model_argument
from hedgerow.cli.results.tree_formats import FORMATS, tree_format

if TYPE_CHECKING:
    from rich.text import Text

    from hedgerow.cli.fitted import Loaded

__all__ = ["show"]

_BAR = 24
_PAGE = 60  # lines
_MOST_COLUMNS = 12
_SHOWN = ("accuracy", "auc", "log_loss", "u65", "r2", "mae")
_COLOURS = ("green", "magenta", "cyan", "yellow", "blue", "red")


@click.command(
    short_help="Show a tree as text, or a summary.",
    epilog="""\b
Examples:
  hedgerow show iris.hedgerow
  hedgerow show forest.hedgerow --tree 0 --depth 3
  hedgerow show iris.hedgerow -o iris.svg
  hedgerow show iris.hedgerow --format rules
  hedgerow show iris.hedgerow --format sql
  hedgerow show iris.hedgerow --html -o iris.html
""",
)
@model_argument
@click.option("--tree", type=click.IntRange(min=0), metavar="K", help="A tree of a forest, by the number in 'explain'.")
@click.option("--depth", type=click.IntRange(min=1), metavar="N", help="Summarise what is below this depth.")
@click.option(
    "--format",
    "format_name",
    type=click.Choice(FORMATS),
    help="Picture (svg, png, pdf), rules of a tree, code of the model, or a page (html); default: by FILE.",
)
@click.option("--html", "as_html", is_flag=True, help="A page with the tree and a place to try rows; --format html.")
@click.option(
    "--output", "-o", metavar="FILE", help="Output file: .svg, .png, .pdf, .txt, .dot, .sql, .py, .c or .html."
)
@click.option(
    "--dialect", type=click.Choice(["duckdb", "sqlite"]), default="duckdb", help="SQL dialect of --format sql."
)
def show(
    model: str,
    tree: int | None,
    depth: int | None,
    format_name: str | None,
    as_html: bool,
    output: str | None,
    dialect: str,
) -> None:
    """Show the tree in MODEL as text, or a summary of a forest; or its picture, rules, code, or a page."""
    from hedgerow.cli.console import note, out
    from hedgerow.cli.errors import CommandError
    from hedgerow.cli.fitted import open_model
    from hedgerow.cli.results.destinations import check_writable
    from hedgerow.cli.results.tree_files import tree_content
    from hedgerow.storage.replace import replaced

    if as_html and format_name not in (None, "html"):
        raise click.UsageError(f"--html and --format {format_name} are two formats: give one")
    wanted = tree_format("html" if as_html else format_name, output)
    if wanted == "html" and (tree, depth) != (None, None):
        raise click.UsageError("a page shows the whole model: leave out --tree and --depth")
    if output is not None:
        check_writable(output, [model])
    loaded = open_model(model)
    n_trees = loaded.model.forest_.n_trees
    if tree is not None and tree >= n_trees:
        raise CommandError(f"{model} has trees 0 to {n_trees - 1}, --tree is {tree}")
    if wanted is not None:
        content = _page(loaded) if wanted == "html" else tree_content(loaded.model, wanted, tree or 0, depth, dialect)
        if output is None:
            click.echo(content.decode(), nl=False)
        else:
            with replaced(output) as file:
                file.write(content)
        return
    for line in _facts(loaded):
        out.print(line, soft_wrap=True)
    out.print()
    if n_trees == 1 or tree is not None:
        lines = _coloured(loaded, tree or 0, depth)
        if depth is None and len(lines) > _PAGE:
            note(f"the tree has {len(lines):,} lines: --depth 3 shows its top")
        for coloured in lines:
            out.print(coloured, soft_wrap=True)
    else:
        _print_importances(loaded.model)
        out.print(f"hedgerow show {model} --tree 0 --depth 3 shows one of its trees.", style="dim", soft_wrap=True)


def _page(loaded: Loaded) -> bytes:
    from hedgerow.cli.commands.report import check_installed
    from hedgerow.report import About, build

    check_installed()
    data = loaded.notes.get("data", {}).get("name")
    about = About(loaded.target or "the target", None if data is None else Path(data).name)
    made = build(loaded.model, about=about)
    return made.to_html().encode()


def _facts(loaded: Loaded) -> list[str]:
    from hedgerow.cli.figures import counted, size_of

    model, notes = loaded.model, loaded.notes
    lines = [f"{type(model).__name__}: {size_of(model)}"]
    rows = notes.get("data", {}).get("rows")
    grown = f"grown from {counted(rows, 'row')} of {notes['data']['name']}" if rows else "grown in Python"
    lines.append(f"predicts {loaded.target or 'its target'} from {counted(len(loaded.columns), 'column')}; {grown}")
    labels = getattr(model, "classes_", None)
    if labels is not None:
        shown = ", ".join(map(str, labels.tolist()[:10])) + ", ..." * (len(labels) > 10)
        lines.append(f"classes: {shown}")
    changed = _changed_settings(model)
    if changed:
        lines.append("settings: " + ", ".join(f"{name}={value!r}" for name, value in changed.items()))
    scores = _scores(notes)
    if scores:
        lines.append(f"on unseen rows ({notes['folds']}-fold): " + ", ".join(scores))
    return lines


def _scores(notes: dict[str, Any]) -> list[str]:
    """The scores that say most, each with that of guessing; all are for `fit` and `score`."""
    from math import nan

    from hedgerow.scoring.metric_table import METRICS
    from hedgerow.scoring.standard_error import Score

    scores, guessed = notes.get("scores", {}), notes.get("baseline", {})
    texts = []
    for metric in METRICS:
        if metric.name in _SHOWN and metric.name in scores:
            baseline = f" (baseline {metric.text(Score(guessed[metric.name]))})" if metric.name in guessed else ""
            value, error = scores[metric.name]
            texts.append(f"{metric.heading} {metric.text(Score(value, nan if error is None else error))}{baseline}")
    return texts


def _changed_settings(model: Any) -> dict[str, Any]:
    default = type(model)().get_params(deep=False)
    given = model.get_params(deep=False)
    return {name: value for name, value in given.items() if name != "n_jobs" and repr(value) != repr(default.get(name))}


def _coloured(loaded: Loaded, tree: int, depth: int | None) -> list[Text]:
    """The tree's text, the answers in the colour of their class."""
    from rich.text import Text

    from hedgerow._printable import printable
    from hedgerow.estimators.contract import text_of

    model = loaded.model
    labels = getattr(model, "classes_", None)
    text = text_of(model, tree, depth)
    colour = {
        printable(str(label)): _COLOURS[i % len(_COLOURS)]
        for i, label in enumerate([] if labels is None else labels.tolist())
    }
    lines = []
    for line in map(printable, text.split("\n")):
        question, colon, answer = line.rpartition(": ")
        name = answer.removeprefix("… ").rpartition(" (")[0]
        lines.append(Text.assemble(question + colon, (answer, colour.get(name, "bold") if colon else "")))
    return lines


def _print_importances(model: Any) -> None:
    from rich.table import Table

    from hedgerow.cli.console import out
    from hedgerow.cli.figures import counted

    shares = model.feature_importances_
    order = (-shares).argsort(kind="stable")[:_MOST_COLUMNS]
    table = Table(box=None, pad_edge=False, title="Feature importance", title_justify="left")
    table.add_column("column", overflow="fold")
    table.add_column("share", justify="right")
    table.add_column("")
    for j in order:
        bar = "█" * round(_BAR * float(shares[j] / max(shares.max(), 1e-300)))
        table.add_row(model.schema_.names[j], f"{shares[j]:.1%}", bar, style=None)
    out.print(table)
    if len(shares) > _MOST_COLUMNS:
        out.print(f"and {counted(len(shares) - _MOST_COLUMNS, 'more column')}", style="dim")
