"""Atomic replacement of files: a crash leaves the old file or the new one."""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows: without locks a part file in use looks like a stale one, so all are kept
    fcntl = None  # type: ignore[assignment]

__all__ = ["replaced"]


@contextmanager
def replaced(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Write a new file beside `path`; if the block ends without an error, sync it and replace `path`.

    The permissions of the old file are kept. Stale part files of killed processes are removed.

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
        kind = "a folder" if goal.is_dir() else "not a regular file"
        raise ValueError(f"{goal} is {kind}: give the name of a file")
    _remove_stale(goal)
    beside, file = _create(goal)
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if fcntl is not None:  # while the lock is held: unlocked, the file would count as stale
                os.replace(beside, goal)
        if fcntl is None:  # Windows can't rename an open file
            os.replace(beside, goal)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise
    _sync_folder(goal.parent)


# --- Part files ---------------------------------------------------------------------------------------------
#
# The writer of a part file holds a lock on it, which the system releases when the process ends, however it ends.


def _prefix(goal: Path) -> str:
    """Prefix of the part files of `goal`: short, since its name may already have 255 bytes."""
    return f".hedgerow-{hashlib.sha256(os.fsencode(goal.name)).hexdigest()[:16]}-"


def _create(goal: Path) -> tuple[Path, BinaryIO]:
    while True:
        beside = goal.with_name(f"{_prefix(goal)}{secrets.token_hex(4)}.part")
        try:
            descriptor = _open_new(beside, goal)
        except OSError as error:  # name the requested file, not the part file
            raise type(error)(error.errno, error.strerror, str(goal)) from None
        with suppress(OSError):  # a file system without locks
            _lock(descriptor)
        if os.fstat(descriptor).st_nlink:
            return beside, open(descriptor, "wb")
        os.close(descriptor)  # removed by another process between creation and lock


def _open_new(beside: Path, goal: Path) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        mode = stat.S_IMODE(goal.stat().st_mode) & 0o777
    except FileNotFoundError:
        return os.open(beside, flags, 0o666)  # default permissions, unlike tempfile's
    descriptor = os.open(beside, flags, mode)
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, mode)  # despite the umask
    return descriptor


def _remove_stale(goal: Path) -> None:
    """Remove part files of `goal` whose writers have ended."""
    if fcntl is None:
        return
    prefix = _prefix(goal)
    with suppress(OSError):  # a folder that can't be listed
        for name in os.listdir(goal.parent):
            if name.startswith(prefix) and name.endswith(".part"):
                _remove_if_unlocked(goal.with_name(name))


def _remove_if_unlocked(part: Path) -> None:
    with suppress(OSError):
        descriptor = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            _lock(descriptor, wait=False)
            part.unlink()
        finally:
            os.close(descriptor)


def _lock(descriptor: int, *, wait: bool = True) -> None:
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))


def _sync_folder(folder: Path) -> None:
    """Make the rename durable; systems that can't open folders do not need it."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
