"""The command ``hedgerow``: trees and forests without writing Python. It needs ``pip install 'hedgerow[cli]'``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


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
