"""Files that are replaced only when the new one is complete: a crash leaves the old file or the new one, never half."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

__all__ = ["replaced"]


@contextmanager
def replaced(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A new file beside `path`; when the block ends without an error it is on the disk and takes its place.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     out = Path(folder, "out.csv")
    ...     with replaced(out) as file:
    ...         _ = file.write(b"a,b")
    ...     out.read_bytes()
    b'a,b'
    """
    goal = Path(os.path.realpath(path))
    if goal.exists() and not goal.is_file():
        kind = "a folder" if goal.is_dir() else "no ordinary file"
        raise ValueError(f"{goal} is {kind}: give the name of a file")
    beside = goal.with_name(f".{goal.name}.{secrets.token_hex(4)}.part")
    file = _created(beside, goal)
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, goal)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise
    _sync_folder(goal.parent)


def _created(beside: Path, goal: Path) -> BinaryIO:
    # Opened with the permissions of any new file, which tempfile would narrow.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        return open(os.open(beside, flags, 0o666), "wb")
    except OSError as error:  # of the name that was given, not of the one beside it
        raise type(error)(error.errno, error.strerror, str(goal)) from None


def _sync_folder(folder: Path) -> None:
    """So that the new name survives a loss of power too; systems that can't open folders have no need."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
