"""``hedgerow compare``: rules, cautious aggregates and plain baselines side by side."""

from __future__ import annotations

import click

from hedgerow.cli.options import (
    ColumnOptions,
    FileOptions,
    columns_options,
    data_argument,
    file_options,
    json_option,
    quiet_option,
    verbose_option,
)

__all__ = ["compare"]


@click.command(
    short_help="Compare models by cross-validation.",
    epilog="""\b
Examples:
  hedgerow compare patients.csv --target outcome
  hedgerow compare iris --folds 10 --trees 50
  hedgerow compare patients.csv --target outcome --json > scores.json
""",
)
@data_argument
@columns_options
@click.option("--folds", type=click.IntRange(min=2), default=5, show_default=True, help="Folds of cross-validation.")
@click.option("--trees", type=click.IntRange(min=1), default=100, show_default=True, help="Trees of each forest.")
@click.option(
    "--leaf", type=click.IntRange(min=1), default=4, show_default=True, help="Minimum rows in a leaf, for rules."
)
@click.option(
    "--caution", type=click.FloatRange(0, min_open=True), default=1.0, show_default=True, metavar="S",
    help="Parameter s of cautious forests: unseen rows that each leaf allows for.",
)  # fmt: skip
@json_option
@verbose_option
@quiet_option
@file_options
def compare(
    data: str,
    columns: ColumnOptions,
    folds: int,
    trees: int,
    leaf: int,
    caution: float,
    as_json: bool,
    verbose: bool,
    quiet: bool,
    files: FileOptions,
) -> None:
    """Compare all rules, cautious aggregates and plain baselines on DATA by cross-validation."""
    from hedgerow.cli.commands.fit import read_training
    from hedgerow.cli.console import err, progress, silenced
    from hedgerow.cli.inputs.role_table import print_roles
    from hedgerow.cli.scores.contest import Setup, contest
    from hedgerow.cli.scores.contest_table import contest_to_json, print_contest
    from hedgerow.cli.scores.folds import usable_folds
    from hedgerow.cli.scores.score_table import print_json

    if quiet:
        click.get_current_context().with_resource(silenced(err))
    training, _ = read_training(data, columns, files)
    folds = usable_folds(training, folds)
    if not (quiet or as_json):
        print_roles(training, every=verbose)
    with progress() as bars:
        task = bars.add_task(f"{folds} folds", total=folds)
        found = contest(training, folds, Setup(trees, leaf, caution), lambda: bars.advance(task))
    if as_json:
        print_json({"data": data, "target": training.target, **contest_to_json(found, folds)})
    else:
        print_contest(found, folds)
