"""``hedgerow datasets``: the datasets that DATA can name."""

from __future__ import annotations

import click

__all__ = ["datasets"]


@click.command(
    short_help="List known datasets, or fetch one.",
    epilog="""\b
Examples:
  hedgerow datasets
  hedgerow datasets --fetch credit-g
  hedgerow compare credit-g
""",
)
@click.option("--data", "folder", metavar="FOLDER", help="Folder of Parquet files; default: HEDGEROW_DATA.")
@click.option("--fetch", metavar="NAME", help="Fetch a dataset of OpenML by its name or number, and keep it.")
def datasets(folder: str | None, fetch: str | None) -> None:
    """List the datasets that can be named as DATA, or fetch one from OpenML."""
    from rich.table import Table

    from hedgerow.cli.console import out
    from hedgerow.cli.figures import counted
    from hedgerow.datasets import entries, fetch_openml

    if fetch is not None:
        dataset = fetch_openml(int(fetch) if fetch.isdigit() else fetch)
        out.print(
            f"{dataset.name}: {counted(dataset.X.num_rows, 'row')}, {counted(dataset.X.num_columns, 'column')}, "
            f"target {dataset.target!r} ({dataset.task})",
            soft_wrap=True,
        )
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("name", no_wrap=True)
    table.add_column("rows", justify="right")
    table.add_column("columns", justify="right")
    table.add_column("from", overflow="fold")
    for entry in entries(data=folder):
        table.add_row(entry.name, str(entry.n_rows), str(entry.n_features), entry.source)
    out.print(table)
