"""Table of the roles of columns; of many columns, those that need attention and counts of the others."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from hedgerow.cli.console import note, out
from hedgerow.cli.figures import counted, dropped
from hedgerow.cli.inputs.roles import Role, Training

__all__ = ["print_roles"]

_MOST_ROWS = 12
_LEAST_NAME = 12
_KINDS = ("numeric", "ordinal", "nominal", "weight", "groups", "ignored")


def print_roles(training: Training, *, every: bool = False) -> None:
    """Print the roles of columns: `every` one, or of many only those that need attention."""
    inputs = [role for role in training.roles if role.kind != "target"]
    listed = inputs
    if len(inputs) > _MOST_ROWS and not every:
        listed = [role for role in inputs if _is_notable(role, training)][:_MOST_ROWS]
    table = Table(box=None, pad_edge=False)
    table.add_column("column", overflow="fold", max_width=max(_LEAST_NAME, out.width // 2))
    table.add_column("taken for", no_wrap=True)
    table.add_column("", style="dim", overflow="fold")
    for role in listed:
        table.add_row(role.name, role.kind, role.remark)
    _add_counts(table, [role for role in inputs if role not in listed], bool(listed))
    for role in training.roles:
        if role.kind == "target":
            table.add_row(role.name, role.kind, role.remark, style="bold")
    out.print(table)
    if len(listed) < len(inputs):
        out.print(f"(--verbose lists all {len(inputs)} columns)", style="dim")
    for remark in training.remarks:
        note(remark)
    if training.n_without_target:
        note(dropped(training.n_without_target, training.target))


def _is_notable(role: Role, training: Training) -> bool:
    if role.name not in training.X.column_names:
        return bool(role.remark)  # ignored for a reason that the user did not give
    return bool(training.X[role.name].null_count) or role.looks_like_an_identifier


def _add_counts(table: Table, roles: Sequence[Role], after_others: bool) -> None:
    for kind in dict.fromkeys([*_KINDS, *(role.kind for role in roles)]):
        names = [role.name for role in roles if role.kind == kind]
        if names:
            others = "other " if after_others else ""
            table.add_row(f"{counted(len(names), f'{others}column')}", kind, _span(names))


def _span(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 2 else f"{names[0]}, ..., {names[-1]}"
