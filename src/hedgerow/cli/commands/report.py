"""``hedgerow report``: a page about models of a file, or about a saved model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from hedgerow.cli.options import (
    ColumnOptions,
    FileOptions,
    columns_options,
    file_options,
    folds_option,
    json_option,
    quiet_option,
    verbose_option,
)

if TYPE_CHECKING:
    from hedgerow.cli.inputs.roles import Training
    from hedgerow.report import Report
    from hedgerow.report.build import Progress

__all__ = ["report"]


_OF_FILES = ("nominal", "numeric", "ordinal", "ignore", "weight", "groups", "dates", "measured", "folds")


@click.command(
    short_help="Write a page about models of a file.",
    epilog="""\b
Examples:
  hedgerow report patients.csv --target outcome -o report.html
  hedgerow report patients.csv --target outcome --by clinic
  hedgerow report sensors.csv -t fault --measured 'temp=0.3,flow=flow_err'
  hedgerow report patients.hedgerow new.csv -o new.html
  hedgerow report iris --json > figures.json
""",
)
@click.argument("sources", metavar="[MODEL] DATA", nargs=-1, required=True)
@columns_options
@click.option("--by", metavar="COLUMN", help="Compare how often it decides and errs by the values of this column.")
@click.option(
    "--measured",
    metavar="COLUMN=SIZE",
    help="Errors of inputs, as standard deviations or columns: 'temp=0.3,flow=flow_err'.",
)
@click.option("--output", "-o", metavar="FILE", help="The page; default: report.html, none with --json.")
@folds_option
@json_option
@verbose_option
@quiet_option
@file_options
def report(
    sources: tuple[str, ...],
    columns: ColumnOptions,
    by: str | None,
    measured: str | None,
    output: str | None,
    folds: int,
    as_json: bool,
    verbose: bool,
    quiet: bool,
    files: FileOptions,
) -> None:
    """Compare models of DATA, and write a page about them; or a page about MODEL on the labelled rows of DATA."""
    from hedgerow.cli.console import err, out, silenced
    from hedgerow.cli.results.destinations import check_page_name, check_writable

    if len(sources) > 2:
        raise click.UsageError(f"give DATA, or MODEL and DATA, not {len(sources)} names")
    if quiet:
        click.get_current_context().with_resource(silenced(err) if as_json else silenced(out, err))
    if output is None and not as_json:
        output = "report.html"
    if output is not None:
        check_page_name(output)
        check_writable(output, sources, files.folder)
    check_installed()
    _check_sources(sources)
    if len(sources) == 2:
        made = _of_model(sources[0], sources[1], columns, by, files)
    else:
        made = _of_data(sources[0], columns, by, measured, folds, files, shown=None if as_json else verbose)
    finish(made, output, as_json)


def _check_sources(sources: tuple[str, ...]) -> None:
    """Refuse a model without rows, and what is said about the columns of a file where a model knows its own."""
    context = click.get_current_context()
    given = {name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE}
    if len(sources) == 1:
        if Path(sources[0]).suffix == ".hedgerow":
            raise click.UsageError(
                f"{sources[0]!r} is a model: name labelled rows after it, or show it alone with hedgerow show "
                f"{sources[0]} --html"
            )
        return
    for option in _OF_FILES:
        if option in given:
            raise click.UsageError(f"--{option} is for models that are fitted to DATA; {sources[0]!r} is one already")


def check_installed() -> None:
    """Ask for the template engine before the work is done."""
    from importlib.util import find_spec

    from hedgerow.cli.errors import CommandError

    if find_spec("jinja2") is None:
        raise CommandError("reports need jinja2: pip install 'hedgerow[report]'")


def finish(made: Report, output: str | None, as_json: bool) -> None:
    """Write the page, and print a summary or the figures."""
    import os

    from hedgerow.cli.console import note, out, warn

    if output is not None:
        made.save(output)
    if as_json:
        print(made.to_json())
        return
    out.print()
    out.print(made.headline, soft_wrap=True)
    figures = made.figures
    for caution in figures["headline"]["cautions"]:
        warn(caution)
    for failed in figures["failed"]:
        note(f"{failed['name']} is left out: {failed['reason']}")
    if output is not None:
        out.print(f"Wrote {output} ({os.path.getsize(output) / 1e6:.1f} MB).", soft_wrap=True)


@contextmanager
def _steps() -> Iterator[Progress]:
    """Progress bars for the steps of `build`."""
    from hedgerow.cli.console import progress
    from hedgerow.report.build import Progress

    with progress() as bars:
        tasks: list[Any] = []

        def begin(step: str, n: int) -> None:
            tasks.append(bars.add_task(step, total=n))

        yield Progress(begin, lambda: bars.advance(tasks[-1]))


# --- A file -------------------------------------------------------------------------------------------------


def _of_data(
    data: str,
    columns: ColumnOptions,
    by: str | None,
    measured: str | None,
    folds: int,
    files: FileOptions,
    *,
    shown: bool | None,
) -> Report:
    """Compare models by cross-validation; `shown` is whether to print all columns, None to print none."""
    from hedgerow.cli.commands.fit import read_training
    from hedgerow.cli.inputs.role_table import print_roles
    from hedgerow.cli.model_table import measured_columns, measured_setting
    from hedgerow.cli.scores.folds import usable_folds
    from hedgerow.report import build
    from hedgerow.report.models import compared_models

    if not folds:
        raise click.UsageError("--folds is 0: a report is about rows that models have not seen; give 2 or more")
    training, _ = read_training(data, columns, files, measured_columns(measured), kept=by)
    folds = usable_folds(training, folds)
    if shown is not None:
        print_roles(training, every=shown)
    sigma = measured_setting(measured, "measured", training.X.column_names).get("sigma")
    kinds = {role.kind for role in training.roles if role.name in training.X.column_names}
    models = compared_models(training.classification, numeric=kinds <= {"numeric"}, sigma=sigma)
    with _steps() as steps:
        return build(
            models,
            training.X,
            training.y,
            sample_weight=training.weight,
            groups=training.groups,
            by=training.kept,
            cv=folds,
            about=_about(training, data, by),
            progress=steps,
        )


def _about(training: Training, data: str, by: str | None) -> Any:
    from hedgerow.cli.figures import dropped
    from hedgerow.report.build import About

    notes = list(training.remarks)
    if training.n_without_target:
        notes.append(dropped(training.n_without_target, training.target))
    inputs = training.X.column_names
    others = [role for role in training.roles if role.name not in inputs and role.kind not in ("target", "date")]
    left_out = tuple((role.name, role.remark or role.kind) for role in others)
    return About(training.target, Path(data).name, tuple(notes), left_out, by, training.file_rows)


# --- A model ------------------------------------------------------------------------------------------------


def _of_model(model: str, data: str, columns: ColumnOptions, by: str | None, files: FileOptions) -> Report:
    import pyarrow as pa
    import pyarrow.compute as pc

    from hedgerow.cli.errors import CommandError
    from hedgerow.cli.figures import dropped
    from hedgerow.cli.fitted import Extra, open_model, read_rows
    from hedgerow.cli.scores.labelled import kind_of_target, to_labels
    from hedgerow.datasets.rows import decode
    from hedgerow.report import build
    from hedgerow.report.build import About

    loaded = open_model(model)
    target = columns.target or loaded.target
    if target is None:
        raise click.UsageError(f"say which column of {data} has the true values, with --target")
    extras = [Extra(target, kind_of_target(loaded.model), "--target")]
    extras += [Extra(by, "text", "--by")] if by and by not in (*loaded.schema.names, target) else []
    table = pa.concat_tables(read_rows(loaded, data, files, extras), promote_options="permissive")
    known = pc.invert(pc.is_null(table[target], nan_is_null=True))
    n_without = table.num_rows - (pc.sum(known).as_py() or 0)
    table = table.filter(known)
    if not table.num_rows:
        raise CommandError(f"target {target!r} has no values: nothing to report on")
    notes = [dropped(n_without, target)] if n_without else []
    if loaded.notes.get("data", {}).get("name") == data:
        notes.append(f"the model was fitted to {Path(data).name}: figures on rows that it has seen are too good")
    with _steps() as steps:
        return build(
            loaded.model,
            table.select(loaded.schema.names),
            to_labels(decode(table[target]), loaded.model),
            by=None if by is None else decode(table[by]),
            about=About(target, Path(data).name, tuple(notes), by=by),
            progress=steps,
        )
