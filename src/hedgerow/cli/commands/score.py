"""``hedgerow score``: how good a fitted model is on rows whose target is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hedgerow.cli.options import (
    FileOptions,
    coverage_option,
    data_argument,
    file_options,
    json_option,
    model_argument,
    quiet_option,
)

if TYPE_CHECKING:
    from hedgerow.cli.fitted import Extra, Loaded
    from hedgerow.scoring.evaluation import Evaluation

__all__ = ["score"]


@click.command(
    short_help="Score a model on rows with known targets.",
    epilog="""\b
Examples:
  hedgerow score patients.hedgerow new.csv
  hedgerow score patients.hedgerow new.csv --positive ill --groups clinic
  hedgerow score patients.hedgerow new.csv --json > scores.json
""",
)
@model_argument
@data_argument
@click.option("--target", "-t", metavar="COLUMN", help="The column with the true values; default: the model's target.")
@click.option("--weight", metavar="COLUMN", help="Sample weights of the scores.")
@click.option(
    "--groups",
    metavar="COLUMN",
    help="Groups of dependent rows: standard errors are clustered by them, and coverage is shown for each.",
)
@click.option("--positive", metavar="CLASS", help="The positive one of two classes; default: the second.")
@coverage_option
@json_option
@quiet_option
@file_options
def score(
    model: str,
    data: str,
    target: str | None,
    weight: str | None,
    groups: str | None,
    positive: str | None,
    coverage: float | None,
    as_json: bool,
    quiet: bool,
    files: FileOptions,
) -> None:
    """Score MODEL on the rows of DATA, whose target is known, beside a baseline that ignores the inputs."""
    import numpy as np

    from hedgerow.cli.console import err, note, out, progress, silenced, warn
    from hedgerow.cli.figures import counted, dropped
    from hedgerow.cli.fitted import open_model, read_rows
    from hedgerow.cli.inputs.roles import group_parts, sample_weights
    from hedgerow.cli.inputs.unseen import UnseenCategories
    from hedgerow.cli.results.destinations import STANDARD
    from hedgerow.cli.scores.advice import advice_on_scores
    from hedgerow.cli.scores.coverage_table import print_coverage
    from hedgerow.cli.scores.labelled import ask_rows, describe_unknown, to_trial
    from hedgerow.cli.scores.score_table import print_confusion, print_json, print_scores
    from hedgerow.scoring.as_json import to_json
    from hedgerow.scoring.coverage import coverage_to_json, measure_coverage
    from hedgerow.scoring.evaluation import combine, mark
    from hedgerow.scoring.promises import column_of_groups, promised_coverage, promises

    if quiet:
        click.get_current_context().with_resource(silenced(err))
    loaded = open_model(model)
    truth, *others = _extras(loaded, data, target, weight, groups)
    unseen = UnseenCategories(loaded.columns)
    with progress() as bars:
        task = bars.add_task("rows", total=None)
        parts = unseen.watch(read_rows(loaded, data, files, [truth, *others]))
        by = groups or column_of_groups(loaded.model)
        names = [extra.name for extra in others] + ([by] if by else [])
        asked = ask_rows(loaded.model, parts, truth.name, names, coverage, lambda n: bars.advance(task, n))
    trial, unknown = to_trial(
        loaded.model, asked, truth.name, weight=weight, groups=groups, positive=positive, coverage=coverage
    )
    evaluation = combine([mark(trial)])
    promised, kept = promised_coverage(loaded.model, coverage), []
    if promises(loaded.model):
        weights = sample_weights(asked.columns, weight)
        counts = asked.columns if weights is None else asked.columns.take(np.flatnonzero(weights > 0))
        kept = measure_coverage(trial, (by, *group_parts(counts, by)) if by else None)
    unseen.report()
    if asked.n_without_target:
        note(dropped(asked.n_without_target, truth.name))
    for remark in _remarks(loaded, data, weight, evaluation):
        note(remark)
    warnings = [describe_unknown(unknown, truth.name)] if unknown else []
    if advice := advice_on_scores(evaluation, loaded.model):
        warnings.append(advice)
    if as_json:
        found = to_json(evaluation) | (coverage_to_json(kept, promised) if kept else {})
        print_json({"model": model, "data": data, "target": truth.name, **found, "warnings": warnings})
    else:
        rows = f"{counted(evaluation.n_rows, 'row')} of {'standard input' if data == STANDARD else data}"
        out.print(f"{type(loaded.model).__name__} on {rows} (± standard error):", soft_wrap=True)
        print_scores(evaluation)
        print_confusion(evaluation)
        if kept:
            print_coverage(kept, promised)
    for warning in warnings:
        warn(warning)


def _extras(loaded: Loaded, data: str, target: str | None, weight: str | None, groups: str | None) -> list[Extra]:
    """Columns beside the inputs, the target first."""
    from hedgerow.cli.errors import CommandError
    from hedgerow.cli.fitted import Extra
    from hedgerow.cli.scores.labelled import kind_of_target

    name = target or loaded.target
    if name is None:
        raise click.UsageError(f"say which column of {data} has the true values, with --target")
    named_by = "--target" if target else "the model's target; --target names another column"
    extras = [Extra(name, kind_of_target(loaded.model), named_by)]
    extras += [Extra(weight, "number", "--weight")] if weight else []
    extras += [Extra(groups, "text", "--groups")] if groups else []
    inputs = {column.name for column in loaded.columns}
    for extra in extras:
        if extra.name in inputs and extra.name != groups:
            raise CommandError(f"column {extra.name!r} ({extra.named_by}) is an input of the model: name another")
    if len({extra.name for extra in extras}) < len(extras):
        raise click.UsageError("--target, --weight and --groups must be different columns")
    return extras


def _remarks(loaded: Loaded, data: str, weight: str | None, evaluation: Evaluation) -> list[str]:
    """Notes beside the scores: rows that the model has seen, weights, metrics that are not defined."""
    import math

    remarks = []
    if loaded.notes.get("data", {}).get("name") == data:
        remarks.append(f"the model was fitted to {data}: scores on rows that it has seen are too good")
    fit_weight: Any = loaded.notes.get("weight")
    if fit_weight and not weight:
        remarks.append(f"the model was fitted with weights; scores count them, too, with --weight {fit_weight}")
    undefined = {line.metric.name for line in evaluation.lines if math.isnan(line.model.value)}
    if "auc" in undefined:
        remarks.append("AUC is not defined, since all rows are of one class")
    if "r2" in undefined:
        remarks.append("R² is not defined, since the target is the same in all rows")
    return remarks
