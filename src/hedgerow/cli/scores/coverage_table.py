"""Table of how often sets or intervals hold the truth."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from hedgerow.cli.console import out
from hedgerow.scoring.coverage import Coverage

__all__ = ["print_coverage"]

_MOST_GROUPS = 20  # that a table shows


def print_coverage(found: Sequence[Coverage], promised: float) -> None:
    """Print coverage with its binomial interval; a mark where the promise is outside it."""
    table = Table(box=None, pad_edge=False)
    table.add_column("", overflow="fold")
    for heading in ("coverage", "95 % interval", "rows"):
        table.add_column(heading, justify="right", no_wrap=True)
    shown = [one for one in found if one.kind != "group"] + [one for one in found if one.kind == "group"][:_MOST_GROUPS]
    broken = False
    for one in shown:
        low, high = one.interval
        below = high < promised
        broken |= below
        title = {"all": "all rows", "class": f"class {one.name!s}", "group": f"{one.column} = {one.name!s}"}[one.kind]
        table.add_row(f"  {title}", f"{one.share:.3f}{' *' * below}", f"{low:.3f} to {high:.3f}", f"{one.n_rows:,}")
    out.print()
    out.print(f"How often sets or intervals hold the truth; {100 * promised:g} % is promised:")
    out.print(table)
    if len(shown) < len(found):
        out.print(f"{len(found) - len(shown)} more groups: see --json.", style="dim")
    if broken:
        out.print("* fewer than promised, beyond chance.", style="dim")
