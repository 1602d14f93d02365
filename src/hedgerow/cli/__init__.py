"""The command ``hedgerow``: trees and forests without writing Python. It needs ``pip install 'hedgerow[cli]'``."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

__all__ = ["command", "main"]


def command() -> NoReturn:
    """Run :func:`main` and exit.

    Skips the interpreter's own shutdown, in which pyarrow crashes while one of its threads still reads ahead.
    """
    code = main()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0, 1 if the job failed, 2 for wrong usage."""
    try:
        from hedgerow.cli.program import run
    except ModuleNotFoundError as error:
        if error.name not in ("click", "rich", "pyarrow"):
            raise
        print(f"hedgerow: the command line needs {error.name}: pip install 'hedgerow[cli]'", file=sys.stderr)
        return 1
    return run(sys.argv[1:] if arguments is None else list(arguments))
