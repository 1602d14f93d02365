"""``hedgerow predict``: rows in, answers out, some at a time and in order."""

from __future__ import annotations

import click

from hedgerow.cli.options import (
    FileOptions,
    comma_separated,
    coverage_option,
    data_argument,
    file_options,
    model_argument,
    quiet_option,
)

__all__ = ["predict"]


@click.command(
    short_help="Predict the rows of a file.",
    epilog="""\b
Examples:
  hedgerow predict patients.hedgerow new.csv -o answers.csv
  hedgerow predict patients.hedgerow new.csv --keep id | head
  zcat huge.csv.gz | hedgerow predict patients.hedgerow - > answers.csv
""",
)
@model_argument
@data_argument
@click.option(
    "--output", "-o", default="-", metavar="FILE",
    help="Output file (.csv, .tsv, .csv.gz, .tsv.gz, .parquet); default: standard output.",
)  # fmt: skip
@click.option("--keep", metavar="COLUMN", multiple=True, help="Copy this column of DATA to the output: --keep id.")
@coverage_option
@click.option(
    "--safe-csv", is_flag=True, help="Put ' before text that a spreadsheet would take for a formula (= + - @)."
)
@quiet_option
@file_options
def predict(
    model: str,
    data: str,
    output: str,
    keep: tuple[str, ...],
    coverage: float | None,
    safe_csv: bool,
    quiet: bool,
    files: FileOptions,
) -> None:
    """Predict the rows of DATA with MODEL: label, probabilities, and how sure it is.

    Files may be larger than memory: rows are read in batches.
    """
    from hedgerow.cli.console import err, out, progress, silenced
    from hedgerow.cli.figures import counted
    from hedgerow.cli.fitted import Extra, open_model, read_rows
    from hedgerow.cli.inputs.prefetch import prefetch
    from hedgerow.cli.inputs.unseen import UnseenCategories
    from hedgerow.cli.results.destinations import STANDARD, check_writable, table_format
    from hedgerow.cli.results.writers import answer_writer

    if quiet:
        click.get_current_context().with_resource(silenced(out, err))
    check_writable(output, [model, data], files.folder)
    if table_format(output).kind == "parquet" and safe_csv:
        raise click.UsageError(f"--safe-csv is for CSV and TSV, and --output is {output!r}: leave out --safe-csv")
    loaded = open_model(model)
    kept = comma_separated(keep)
    rows = read_rows(loaded, data, files, [Extra(name, "text", "--keep") for name in kept])
    n_rows = n_undecided = 0
    unseen = UnseenCategories(loaded.columns)
    reading = prefetch(unseen.watch(rows))
    # A bar among answers on the same screen would be in their way.
    bars = progress(shown=output != STANDARD or not out.is_terminal)
    with reading as tables, answer_writer(output) as write, bars as shown:
        task = shown.add_task("rows", total=None)
        # Imports scikit-learn, which takes longer than all else before the first answer; rows are read meanwhile.
        from hedgerow._params import RowError
        from hedgerow.cli.errors import CommandError
        from hedgerow.cli.results.answer_columns import answer
        from hedgerow.cli.results.formulas import without_formulas

        for table in tables:
            try:
                answers = answer(loaded.model, table, kept, coverage)
            except RowError as error:
                raise CommandError(error.in_row(n_rows + error.row + 1)) from None
            write(without_formulas(answers) if safe_csv else answers)
            n_rows += answers.n_rows
            shown.update(task, completed=n_rows)
            n_undecided += answers.n_undecided
    unseen.report()
    if output != STANDARD:
        doubt = f", {n_undecided} of them with several classes" if n_undecided else ""
        out.print(f"Wrote {output}: {counted(n_rows, 'row')}{doubt}.", soft_wrap=True)
