"""Consoles: answers go to standard output, everything else to standard error; colours only on a terminal."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from hedgerow._printable import printable

__all__ = ["GrowthProgress", "err", "fits", "note", "out", "progress", "silenced", "warn"]

_ANY_WIDTH = 10_000


class PlainConsole(Console):
    """A console that shows text as it is: no markup, no emoji codes, and control characters escaped.

    Each string is one line or one cell. Colours come by `style=` or as `Text`, whose content must be `printable`.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **options)

    def render_str(self, text: str, *args: Any, **options: Any) -> Text:
        return super().render_str(printable(text), *args, **options)


out = PlainConsole(soft_wrap=False)
err = PlainConsole(stderr=True)


def note(message: str) -> None:
    """Print a remark to standard error."""
    err.print(f"note: {message}", style="dim", soft_wrap=True)


def warn(message: str) -> None:
    """Print a warning to standard error."""
    err.print(f"warning: {message}", style="yellow", soft_wrap=True)


def fits(table: Table) -> bool:
    """Whether the screen is wide enough for a table."""
    return out.measure(table, options=out.options.update(max_width=_ANY_WIDTH)).maximum <= out.width


@contextmanager
def silenced(*consoles: Console) -> Iterator[None]:
    """Print nothing on these consoles, and no warnings; errors are printed otherwise."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for console in consoles:
            console.quiet = True
        try:
            yield
        finally:
            for console in consoles:
                console.quiet = False


@contextmanager
def progress(*, shown: bool = True, time_left: bool = False) -> Iterator[Progress]:
    """Progress bars on standard error, removed when the work is done; none if it is not a terminal."""
    times = (TimeElapsedColumn(), *((TextColumn("left"), TimeRemainingColumn()) if time_left else ()))
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), *times)
    disable = not (shown and err.is_terminal and not err.quiet)
    # Standard output is left alone: answers may be written to it meanwhile.
    with Progress(*columns, console=err, transient=True, disable=disable, redirect_stdout=False) as bars:
        yield bars


class GrowthProgress:
    """Callback of scikit-learn that advances a bar with every tree."""

    def __init__(self, bars: Progress, task: Any) -> None:
        self._bars = bars
        self._task = task

    def setup(self, estimator: Any, context: Any) -> None:
        self._bars.update(self._task, total=context.max_subtasks, completed=0)

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        if context.max_subtasks:
            self._bars.update(self._task, total=context.max_subtasks)

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        if not context.max_subtasks:
            self._bars.advance(self._task)

    def teardown(self, estimator: Any, context: Any) -> None:
        pass
