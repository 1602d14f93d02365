"""Models to files and back: a crash while saving leaves the old file or the new one, never half of one."""

from __future__ import annotations

import mmap as memory_maps
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import hedgerow.storage.parts  # noqa: F401 - registers what every model is made of
from hedgerow.packing import ALIGNMENT, PROLOGUE_BYTES, ModelFileError, Prologue, pieces, read_header, unpack
from hedgerow.storage.encoding import decode, encode
from hedgerow.storage.registry import part_of

__all__ = ["load", "save"]

AnyPath = str | os.PathLike[str]
Bytes = NDArray[np.uint8]


def save(model: Any, path: AnyPath) -> None:
    """Write a fitted model of hedgerow to one file, which replaces the file of that name in one step.

    Parameters are stored (a RandomState or a function is refused: a file holds no code), and all that `fit` found.
    Callbacks and metadata requests that were set on the model are not.
    """
    part = part_of(type(model))
    if part is None or not part.is_model:
        raise ModelFileError(
            f"can't save a {type(model).__module__}.{type(model).__qualname__}: save takes a fitted model of hedgerow"
        )
    check_is_fitted(model)
    with _told("can't save this {}", type(model).__name__):
        content, arrays = encode(model, type(model).__name__)
        _replace(Path(os.path.realpath(path)), pieces(content, arrays))


def load(path: AnyPath, *, mmap: bool = False, verify: bool = True) -> Any:
    """The model in a file that :func:`save` wrote, checked before anything walks its trees.

    Parameters
    ----------
    mmap : bool
        Leave the arrays in the file and read what is needed when it is: several processes share one copy. Save over it
        as you like (the old file lives on as long as it is used), but do not change it in place.
    verify : bool
        Compare the checksums of arrays. Without it the header's checksum and every index, count and order are still
        checked, so that predicting is safe; only changed thresholds and counts would pass.

    Raises
    ------
    ModelFileError
        The file is no model file, damaged, from a newer version, or holds what is not registered here.
    OSError
        It can't be opened or read.
    """
    with _told("{}", os.fspath(path)):
        block = _mapped(path) if mmap else _read(path)
        content, arrays = unpack(block, verify=verify)
        model = decode(content, arrays)
        part = part_of(type(model))
        if part is None or not part.is_model:
            raise ModelFileError("it holds no model")
        try:
            check_is_fitted(model)
        except NotFittedError:
            raise ModelFileError("the model in it was not fitted") from None
        return model


@contextmanager
def _told(what: str, name: str) -> Iterator[None]:
    """Errors say which file, or which model."""
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"{what.format(name)}: {error}") from None


# --- Reading ------------------------------------------------------------------------------------------------


def _opened(path: AnyPath) -> tuple[FileIO, int]:
    """An ordinary file and its length; a pipe would make us wait for ever."""
    found = os.stat(path)
    if stat.S_ISDIR(found.st_mode):
        raise ModelFileError("this is a folder, and no model file")
    if not stat.S_ISREG(found.st_mode):
        raise ModelFileError("this is no ordinary file")
    return open(path, "rb", buffering=0), found.st_size


def _read(path: AnyPath) -> Bytes:
    """The whole file; its sizes have been checked before there is memory for it."""
    file, length = _opened(path)
    with file:
        prologue = Prologue.of(file.read(PROLOGUE_BYTES), length)
        header = _aligned(prologue.data_start - PROLOGUE_BYTES)
        _fill(file, header)
        read_header(prologue, header)
        block = _aligned(length)
        file.seek(0)
        _fill(file, block)
    return block


def _aligned(length: int) -> Bytes:
    room = np.empty(length + ALIGNMENT, dtype=np.uint8)
    start = -room.ctypes.data % ALIGNMENT
    return room[start : start + length]


def _fill(file: FileIO, block: Bytes) -> None:
    rest = block.data
    while rest:
        n_read = file.readinto(rest)
        if not n_read:
            raise ModelFileError("it was cut off while it was read")
        rest = rest[n_read:]


def _mapped(path: AnyPath) -> Bytes:
    file, length = _opened(path)
    with file:
        Prologue.of(file.read(PROLOGUE_BYTES), length)
        return np.frombuffer(memory_maps.mmap(file.fileno(), length, access=memory_maps.ACCESS_READ), dtype=np.uint8)


# --- Writing ------------------------------------------------------------------------------------------------


def _replace(path: Path, content: Iterable[Bytes]) -> None:
    """Write a new file beside the old one, make sure that it is on the disk, and put it in its place."""
    if path.exists() and not path.is_file():
        kind = "a folder" if path.is_dir() else "no ordinary file"
        raise ModelFileError(f"{path} is {kind}: give the name of a file")
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        try:
            _write(beside, content)
            os.replace(beside, path)
        except BaseException:
            with suppress(OSError):
                beside.unlink()
            raise
    except OSError as error:
        raise type(error)(error.errno, f"can't save the model: {error.strerror}", str(path)) from error
    _sync_folder(path.parent)


def _write(path: Path, content: Iterable[Bytes]) -> None:
    # Opened with the permissions of any new file, which tempfile would narrow.
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    with open(descriptor, "wb") as file:
        for piece in content:
            file.write(piece.data)
        file.flush()
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """So that the new name survives a loss of power too; systems that can't open folders have no need."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
