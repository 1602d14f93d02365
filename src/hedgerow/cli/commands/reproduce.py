"""``hedgerow reproduce``: the experiments of the source documents, beside their published figures."""

from __future__ import annotations

from collections import Counter
from typing import Any

import click

from hedgerow.cli.options import comma_separated, quiet_option

__all__ = ["reproduce"]

_STYLES = {"holds": "green", "does not hold": "red", "not decidable": "yellow"}


@click.command(
    short_help="Run the experiments of the papers.",
    epilog="""\b
Examples:
  hedgerow reproduce all --quick
  hedgerow reproduce combining --data papers-data --jobs 2
  hedgerow reproduce boundary --only iris,wine

NAME is combining, boundary, cautious, measured, lecture or all. What is finished is stored in --out as it comes: the
same command goes on where it was stopped, and several may share the work.
""",
)
@click.argument("name", metavar="NAME")
@click.option("--quick", is_flag=True, help="Small datasets and few repeats: a look in a few minutes.")
@click.option(
    "--data", "folder", metavar="DIR", envvar="HEDGEROW_DATA", help="A folder of Parquet files; or set HEDGEROW_DATA."
)
@click.option("--out", default="reproduction", show_default=True, metavar="DIR", help="Where results and pages go.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Processes; default: one for each core.")
@click.option("--only", metavar="DATASET", multiple=True, help="These datasets only: --only iris,wine.")
@click.option("--stored", is_flag=True, help="Run nothing: write the pages from what is stored so far.")
@quiet_option
def reproduce(
    name: str,
    quick: bool,
    folder: str | None,
    out: str,
    jobs: int | None,
    only: tuple[str, ...],
    stored: bool,
    quiet: bool,
) -> None:
    """Run an experiment of one of the papers: tables and figures beside the published ones, and which claims hold."""
    from hedgerow.cli.console import err, progress, silenced
    from hedgerow.experiments import reproduce as run

    if quiet:
        click.get_current_context().with_resource(silenced(err))
    with progress(time_left=True) as bars:
        outcomes = run(
            name,
            quick=quick,
            data=folder,
            out=out,
            n_jobs=jobs,
            only=comma_separated(only),
            stored=stored,
            progress=_Bars(bars),
        )
    for outcome in outcomes:
        _print(outcome)


class _Bars:
    """A bar for each experiment, and a line for each dataset."""

    def __init__(self, bars: Any) -> None:
        self._bars = bars
        self._task: Any = None

    def start(self, study: str, n_units: int, n_stored: int) -> None:
        from hedgerow.cli.console import note

        self._task = self._bars.add_task(study, total=n_units, completed=n_stored)
        if n_stored:
            note(f"{study}: {n_stored} of {n_units} parts are stored already")

    def unit(self, finished: Any) -> None:
        self._bars.advance(self._task)

    def dataset(self, name: str, seconds: float) -> None:
        from hedgerow.cli.console import err

        err.print(f"{name}: done, {seconds:.1f} s of processor time", soft_wrap=True)

    def left_out(self, dataset: str, why: str) -> None:
        from hedgerow.cli.console import warn

        warn(f"{dataset} is left out: {why}")


def _print(outcome: Any) -> None:
    from rich.table import Table
    from rich.text import Text

    from hedgerow.cli.console import out

    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column("verdict", no_wrap=True)
    table.add_column("claim", overflow="fold")
    for claim in outcome.report.claims:
        text = Text.assemble(claim.text, "\n", (claim.evidence, "dim"))
        table.add_row(Text(claim.verdict, style=_STYLES[claim.verdict]), text)
    verdicts = Counter(claim.verdict for claim in outcome.report.claims)
    counts = ", ".join(f"{one} {verdicts[one]}" for one in _STYLES if verdicts[one])
    out.print(Text(f"{outcome.name}: {outcome.report.title}", style="bold"), soft_wrap=True)
    out.print(table)
    out.print(f"{len(outcome.report.claims)} claims: {counts}")
    out.print(
        f"{outcome.page}: tables and figures, {outcome.seconds / 60:.1f} minutes of processor time", soft_wrap=True
    )
