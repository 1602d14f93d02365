"""The command group, and error handling: one line and an exit code."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from typing import Any

import click

from hedgerow._printable import printable
from hedgerow.cli.commands.compare import compare
from hedgerow.cli.commands.completion import completion
from hedgerow.cli.commands.datasets import datasets
from hedgerow.cli.commands.explain import explain
from hedgerow.cli.commands.fit import fit
from hedgerow.cli.commands.help import help_command
from hedgerow.cli.commands.predict import predict
from hedgerow.cli.commands.report import report
from hedgerow.cli.commands.reproduce import reproduce
from hedgerow.cli.commands.score import score
from hedgerow.cli.commands.show import show
from hedgerow.cli.errors import CommandError, one_line

__all__ = ["program", "run"]

DONE, FAILED, WRONG_USAGE, INTERRUPTED = 0, 1, 2, 130

_HELP = """\b
Decision trees and forests that say how sure they are.

\b
  hedgerow fit iris -o iris.hedgerow        fit a tree, and see how good it is
  hedgerow show iris.hedgerow               read it
  hedgerow predict iris.hedgerow new.csv    label, probabilities, how sure
  hedgerow explain iris.hedgerow new.csv    why?
  hedgerow score iris.hedgerow new.csv      how good it is, beside a baseline
  hedgerow report iris -o iris.html         a page about it all

DATA is a file (CSV, TSV, Excel, JSON lines, Parquet, ARFF; also .gz), - for standard input, or the name of a dataset.
"""


class _InOrder(click.Group):
    """Lists commands in the order in which they are used, not alphabetically."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group(
    name="hedgerow",
    cls=_InOrder,
    help=_HELP,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(package_name="hedgerow", prog_name="hedgerow", message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, help="Show where an error came from; may stand anywhere.")
def program(debug: bool) -> None:
    pass


for command in (fit, predict, explain, score, show, compare, report, reproduce, datasets, help_command, completion):
    program.add_command(command)


def run(arguments: list[str]) -> int:
    """Run a command line; errors go to standard error."""
    debug = "--debug" in arguments
    arguments = [argument for argument in arguments if argument != "--debug"]
    warnings.showwarning = _note
    try:
        answer = program.main(args=arguments, prog_name="hedgerow", standalone_mode=False)
        sys.stdout.flush()
    except BaseException as error:
        if debug and not isinstance(error, SystemExit | click.exceptions.Exit):
            _print_traceback()
        return _exit_code(error)
    return answer if isinstance(answer, int) else DONE


def _exit_code(error: BaseException) -> int:
    """Print an error in one line, and return the exit code."""
    match error:
        case SystemExit():
            return error.code if isinstance(error.code, int) else FAILED
        case click.exceptions.NoArgsIsHelpError():
            error.show()
            return WRONG_USAGE
        case click.UsageError():
            command = error.ctx.command_path if error.ctx else "hedgerow"
            return _failed(f"{_sentence(error)} Try: {command} --help", WRONG_USAGE)
        case click.exceptions.Exit():
            return error.exit_code
        case KeyboardInterrupt() | click.Abort():
            return _failed("interrupted", INTERRUPTED)
        case BrokenPipeError():
            # The reader of our output has closed it: what is flushed at exit must go nowhere.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return DONE
        case CommandError() | ValueError() | OSError() | TypeError() | ImportError():
            return _failed(one_line(error), FAILED)
        case _:
            return _failed(f"unexpected {type(error).__name__}: {one_line(error)} (--debug shows where)", FAILED)


def _print_traceback() -> None:
    for line in traceback.format_exc().rstrip("\n").split("\n"):
        print(printable(line), file=sys.stderr)


def _sentence(error: click.UsageError) -> str:
    text = " ".join(error.format_message().split())
    return text if text.endswith((".", "?", "!")) else f"{text}."


def _failed(message: str, code: int) -> int:
    sys.stdout.flush()
    print(printable(f"hedgerow: {message}"), file=sys.stderr)
    return code


def _note(message: Any, category: Any, filename: Any, lineno: Any, file: Any = None, line: Any = None) -> None:
    """Print a warning as a note of one line."""
    print(printable(f"note: {' '.join(str(message).split())}"), file=sys.stderr)
