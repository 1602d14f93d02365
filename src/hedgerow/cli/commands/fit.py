"""``hedgerow fit``: read a file, fit a model, score it, and save it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from hedgerow.cli.options import (
    ColumnOptions,
    FileOptions,
    columns_options,
    comma_separated,
    coverage_option,
    file_options,
    folds_option,
    quiet_option,
    verbose_option,
)

if TYPE_CHECKING:
    from hedgerow.cli.inputs.reading import Source
    from hedgerow.cli.inputs.roles import Training
    from hedgerow.scoring.evaluation import Evaluation

__all__ = ["fit", "fitted", "read_training"]


def _complete_models(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    from hedgerow.cli.model_table import MODELS

    return [name for name in MODELS if name.startswith(incomplete)]


@click.command(
    short_help="Fit a model and show how good it is.",
    epilog="""\b
Examples:
  hedgerow fit patients.csv -t outcome -m cautious -o patients.hedgerow
  hedgerow fit iris --set max_depth=2
  hedgerow fit patients.csv -t outcome -m forest --coverage 0.9 -o p.hedgerow
  hedgerow fit big/*.parquet -t outcome -m forest --engine local
  hedgerow fit loans.arff -t default --ignore id --missing '?,-1'
  hedgerow fit loans.arff -t default --ordinal 'grade=low<mid<high'
""",
)
@click.argument("data", metavar="DATA", nargs=-1, required=True)
@columns_options
@click.option(
    "--model", "-m", default="tree", show_default=True, metavar="NAME", shell_complete=_complete_models,
    help="tree, c45, forest, oblique, oblique-forest, random-trees, cautious, conformal, boundary, naive-bayes-tree, "
    "measured, measured-forest or measured-boosting.",
)  # fmt: skip
@click.option(
    "--set", "settings", metavar="NAME=VALUE", multiple=True, help="A setting of the model: --set max_depth=3."
)
@click.option(
    "--measured",
    metavar="COLUMN=SIZE",
    help="Errors of inputs, as standard deviations, percentages or columns: 'temp=0.3,rain=5%,flow=flow_err'.",
)
@coverage_option
@click.option(
    "--engine", metavar="ENGINE",
    help="Read Parquet files in parts, on local, dask://host:8786, ray, ray://host:10001, spark or sc://host:15002.",
)  # fmt: skip
@click.option("--output", "-o", metavar="FILE", help="Write the model to this file, such as model.hedgerow.")
@folds_option
@verbose_option
@quiet_option
@file_options
def fit(
    data: tuple[str, ...],
    columns: ColumnOptions,
    model: str,
    settings: tuple[str, ...],
    measured: str | None,
    coverage: float | None,
    engine: str | None,
    output: str | None,
    folds: int,
    verbose: bool,
    quiet: bool,
    files: FileOptions,
) -> None:
    """Fit a model to DATA, and score it by cross-validation.

    With --engine, DATA may be many Parquet files, larger than memory; there is no cross-validation then.
    """
    from hedgerow.cli.console import err, note, out, progress, silenced
    from hedgerow.cli.inputs.reading import to_notes
    from hedgerow.cli.inputs.role_table import print_roles
    from hedgerow.cli.model_table import make_model, measured_columns, measured_setting
    from hedgerow.cli.results.destinations import check_model_name, check_writable
    from hedgerow.cli.scores.folds import cross_validate, usable_folds
    from hedgerow.cli.scores.score_table import to_notes as scores_to_notes
    from hedgerow.cli.settings import parse_settings
    from hedgerow.storage import save

    if quiet:
        click.get_current_context().with_resource(silenced(out, err))
    chosen = parse_settings(settings, model)
    if output is not None:
        check_writable(output, data, files.folder)
        check_model_name(output)
    if engine is not None:
        from hedgerow.cli.commands.fit_in_parts import fit_in_parts

        if coverage:
            raise click.UsageError("--engine has no --coverage: leave it out")
        fit_in_parts(data, engine, model, chosen, measured, columns, files, output)
        return
    if len(data) > 1:
        raise click.UsageError(f"DATA is {len(data)} files: add --engine local to read Parquet files in parts")
    training, reading = read_training(data[0], columns, files, measured_columns(measured))
    chosen |= measured_setting(measured, model, training.X.column_names)

    def make() -> Any:
        return make_model(model, training.classification, chosen, coverage=coverage)

    check_weight(make(), model, training)  # before anything is printed
    folds = usable_folds(training, folds) if folds else 0
    print_roles(training, every=verbose)
    with progress() as bars:
        grown = fitted(make(), training, bars)
        evaluation = None
        if folds:
            task = bars.add_task(f"{folds}-fold cross-validation", total=folds)
            evaluation = cross_validate(make, training, folds, lambda: bars.advance(task))
    print_summary(grown, evaluation, folds)
    if output is None:
        note("the model was not saved: add -o model.hedgerow")
        return
    notes = {
        "target": training.target,
        **to_notes(reading),
        "dates": {name: list(parts) for name, parts in training.dates.items()},
        "weight": columns.weight,
        "ignored": [role.name for role in training.roles if role.kind in ("ignored", "weight", "groups")],
        "data": {"name": data[0], "rows": len(training.y)},
        "model": model,
        "folds": folds,
        **scores_to_notes(evaluation),
    }
    save(grown, output, notes=notes)
    out.print(f"Wrote {output}. Next: hedgerow show {output}", soft_wrap=True)


def read_training(
    data: str,
    columns: ColumnOptions,
    files: FileOptions,
    needed: Sequence[str] = (),
    kept: str | None = None,
) -> tuple[Training, Any]:
    """Read DATA and assign a role to every column; `needed` columns are inputs, one is `kept` whatever its role.

    Also returns how the file was read.
    """
    import numpy as np

    from hedgerow.cli.inputs.reading import make_reading, read_all
    from hedgerow.cli.inputs.roles import Wishes, assign

    nominal, numeric, ignore = map(comma_separated, (columns.nominal, columns.numeric, columns.ignore))
    wishes = replace(
        Wishes.of(nominal, numeric, columns.ordinal, ignore, columns.weight, columns.groups),
        dates=columns.dates,
        needed=frozenset(needed),
        kept=kept,
    )
    source = read_all(data, files.folder, make_reading(files, wishes.as_text))
    wishes = replace(wishes, decimal=source.reading.decimal or ".")
    training = assign(source.table, columns.target or source.target, wishes, source.label)
    remarks = tuple(text for name, text in source.remarks if name not in wishes.ignore)
    file_rows = np.flatnonzero(source.table[training.target].is_valid()) + 1
    training = replace(training, remarks=remarks + training.remarks, file_rows=file_rows)
    _check_training(training, source)
    return training, source.reading


def _check_training(training: Training, source: Source) -> None:
    """Refuse infinite numbers, with the row of the file."""
    import pyarrow as pa

    from hedgerow.cli.inputs.finite import check_finite

    rows: Any = training.file_rows
    checked = training.X if training.classification else training.X.append_column(training.target, pa.array(training.y))
    check_finite(checked, source.label, lambda at: int(rows[at]))


def check_weight(model: Any, name: str, training: Training) -> None:
    """Refuse weights for a model that takes none."""
    from sklearn.utils.validation import has_fit_parameter

    from hedgerow.cli.errors import CommandError

    if training.weight is not None and not has_fit_parameter(model, "sample_weight"):
        raise CommandError(f"model {name} takes no sample weights: leave out --weight, or choose another model")


def fitted(model: Any, training: Training, bars: Any) -> Any:
    """Fit the model, with a progress bar of its trees if it reports them."""
    from hedgerow._params import RowError
    from hedgerow.cli.console import GrowthProgress
    from hedgerow.cli.errors import CommandError
    from hedgerow.estimators.contract import offers

    several = "n_estimators" in model.get_params(deep=False)
    task = bars.add_task("growing trees" if several else "growing the tree", total=None)
    reports = offers(model, "set_callbacks")
    if reports:
        model.set_callbacks(GrowthProgress(bars, task))
    try:
        model.fit(training.X, training.y, **training.fit_weight)
    except RowError as error:
        rows: Any = training.file_rows
        raise CommandError(error.in_row(int(rows[error.row]))) from None
    if reports:
        model.set_callbacks()
    bars.remove_task(task)
    return model


def print_summary(model: Any, evaluation: Evaluation | None, folds: int) -> None:
    """Print size and scores, and advice where they are poor."""
    from hedgerow.cli.console import note, out, warn
    from hedgerow.cli.figures import size_of
    from hedgerow.cli.scores.advice import advice_on_scores, advice_on_size
    from hedgerow.cli.scores.score_table import print_confusion, print_scores

    out.print()
    out.print(f"{type(model).__name__}: {size_of(model)}")
    if evaluation is not None:
        out.print(f"On rows that it has not seen ({folds}-fold cross-validation, ± standard error):")
        print_scores(evaluation)
        print_confusion(evaluation)
        if advice := advice_on_scores(evaluation, model):
            warn(advice)
    if advice := advice_on_size(model):
        note(advice)
