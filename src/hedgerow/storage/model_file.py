"""Save and load models, with notes."""

from __future__ import annotations

import json
import mmap as memory_maps
import os
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import FileIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._registry import ModelFileError, registration_of
from hedgerow.storage.container import ALIGNMENT, PROLOGUE_BYTES, Layout, Prologue, header_notes, layout_of, pieces
from hedgerow.storage.encoding import decode, encode
from hedgerow.storage.replace import replaced

__all__ = ["load", "read_fitted", "read_notes", "save"]

AnyPath = str | os.PathLike[str]
Bytes = NDArray[np.uint8]


def save(model: Any, path: AnyPath, *, notes: Mapping[str, Any] | None = None) -> None:
    """Write a fitted model to one file, replacing an existing file atomically.

    Parameters and fitted attributes are stored (a RandomState or a function is refused: a file holds no code);
    callbacks and metadata requests are not.

    `notes` are JSON values stored with the model, such as the name of the target. They have no effect on it;
    :func:`read_notes` reads them.

    Parameters
    ----------
    model : fitted estimator
        A model of this package.
    path : str or path
        Name of the file, usually with the ending .hedgerow.
    notes : mapping of str to JSON values, or None, default=None
        Notes that are stored with the model, such as the name of the target. They have no effect on it;
        :func:`hedgerow.storage.read_notes` reads them.

    Raises
    ------
    ModelFileError
        If the model is none of hedgerow, or holds what a file can't, such as a function.
    sklearn.exceptions.NotFittedError
        If it is not fitted.
    OSError
        If the file can't be written.

    Examples
    --------
    >>> import os, tempfile
    >>> from hedgerow import TreeClassifier, load, save
    >>> path = os.path.join(tempfile.mkdtemp(), "tree.hedgerow")
    >>> save(TreeClassifier().fit([[1], [2]], ["a", "b"]), path)
    >>> load(path).predict([[2]])
    array(['b'], dtype='<U1')
    """
    registration = registration_of(type(model))
    if registration is None or not registration.is_model:
        raise ModelFileError(
            f"can't save a {type(model).__module__}.{type(model).__qualname__}: save takes a fitted model of hedgerow"
        )
    from sklearn.utils.validation import check_is_fitted  # here: `read_fitted` must not import scikit-learn

    check_is_fitted(model)
    with _name_in_errors("can't save this {}", type(model).__name__):
        content, arrays = encode(model, type(model).__name__)
        _replace(path, pieces(content, arrays, _plain(notes)))


def load(path: AnyPath, *, mmap: bool = False, verify: bool = True) -> Any:
    """Load a model that :func:`save` wrote, and check it.

    Parameters
    ----------
    path : str or path
        Name of the file.
    mmap : bool, default=False
        Memory-map the arrays: pages are read on demand, and processes share one copy. Saving over the file is safe (the
        old file stays until it is closed), changing it in place is not.
    verify : bool, default=True
        Compare the checksums of arrays. Without it the header's checksum and the structure (indices, counts, order) are
        still checked, so that predicting is safe; only altered thresholds and counts would go unnoticed.

    Returns
    -------
    estimator
        The fitted model.

    Raises
    ------
    ModelFileError
        The file is not a model file, is damaged, has a newer format, or names an unregistered class.
    OSError
        The file can't be opened or read.

    Examples
    --------
    >>> import os, tempfile
    >>> from hedgerow import TreeClassifier, load, save
    >>> path = os.path.join(tempfile.mkdtemp(), "tree.hedgerow")
    >>> save(TreeClassifier().fit([[1], [2]], ["a", "b"]), path)
    >>> load(path).classes_
    array(['a', 'b'], dtype='<U1')
    """
    with _name_in_errors("{}", os.fspath(path)):
        layout, block = _map(path) if mmap else _read(path)
        model = decode(layout.content, layout.arrays(block, verify=verify))
        registration = registration_of(type(model))
        if registration is None or not registration.is_model:
            raise ModelFileError("it holds no model")
        _refuse_unfitted(model)
        return model


def _refuse_unfitted(model: Any) -> None:
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(model)
    except NotFittedError:
        raise ModelFileError("the model was not fitted") from None
    except AttributeError:  # a wrapper asks its parameter `estimator`
        raise ModelFileError("a parameter of the model is not an estimator") from None


def read_fitted(path: AnyPath, names: Collection[str]) -> tuple[str, dict[str, Any]]:
    """Read a model's class name and its fitted attributes of these `names`, without making the model.

    This does not import scikit-learn, whose start-up takes longer than reading many a data file. Names that the file
    does not have are left out. Checksums of arrays are not compared, unlike in :func:`load`.

    Parameters
    ----------
    path : str or path
        Name of the file.
    names : collection of str
        Names of attributes.

    Returns
    -------
    tuple of str and dict
        Name of the class, and attributes by name.

    Raises
    ------
    ModelFileError
        If the file is not a model file or is damaged.

    Examples
    --------
    >>> import os, tempfile
    >>> from hedgerow import TreeClassifier, save
    >>> from hedgerow.storage import read_fitted
    >>> path = os.path.join(tempfile.mkdtemp(), "tree.hedgerow")
    >>> save(TreeClassifier().fit([[1], [2]], ["a", "b"]), path)
    >>> name, found = read_fitted(path, ["classes_"])
    >>> name, found["classes_"]
    ('hedgerow.TreeClassifier', array(['a', 'b'], dtype='<U1'))
    """
    with _name_in_errors("{}", os.fspath(path)):
        layout, block = _map(path)
        arrays = layout.arrays(block, verify=False)
        match layout.content:
            case {"$": str() as kind, "fitted": {"$": "dict", "items": list() as pairs}}:
                pass
            case _:
                raise ModelFileError("it holds no model")
        found = {}
        for pair in pairs:
            match pair:
                case [str() as name, value] if name in names:
                    found[name] = decode(value, arrays)
        return kind, found


def read_notes(path: AnyPath) -> dict[str, Any]:
    """Read the notes saved with a model, without loading it; empty if there are none.

    Parameters
    ----------
    path : str or path
        Name of the file.

    Returns
    -------
    dict
        Notes by name.

    Raises
    ------
    ModelFileError
        If the file is not a model file or is damaged.

    Examples
    --------
    >>> import os, tempfile
    >>> from hedgerow import TreeClassifier, save
    >>> from hedgerow.storage import read_notes
    >>> path = os.path.join(tempfile.mkdtemp(), "tree.hedgerow")
    >>> save(TreeClassifier().fit([[1], [2]], ["a", "b"]), path, notes={"target": "letter"})
    >>> read_notes(path)
    {'target': 'letter'}
    """
    with _name_in_errors("{}", os.fspath(path)):
        file, length = _open(path)
        with file:
            prologue, header = _read_header(file, length)
        return header_notes(prologue, header)


def _plain(notes: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return notes as JSON would restore them."""
    try:
        plain: dict[str, Any] = json.loads(json.dumps(dict(notes or {}), allow_nan=False))
    except (TypeError, ValueError) as error:
        raise ModelFileError(
            f"notes can't be written as JSON ({error}): use text, finite numbers, lists, dicts"
        ) from None
    return plain


@contextmanager
def _name_in_errors(what: str, name: str) -> Iterator[None]:
    """Prefix error messages with the file or the model."""
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"{what.format(name)}: {error}") from None


# --- Reading ------------------------------------------------------------------------------------------------


def _open(path: AnyPath) -> tuple[FileIO, int]:
    """Open a regular file; its length is that of the open file, since another may replace it at any time."""
    try:
        # Non-blocking: opening a pipe would wait for a writer.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except OSError:
        _refuse_special(os.stat(path).st_mode)  # a socket, or on Windows a folder
        raise
    try:
        found = os.fstat(descriptor)
        _refuse_special(found.st_mode)
    except BaseException:
        os.close(descriptor)
        raise
    return open(descriptor, "rb", buffering=0), found.st_size


def _refuse_special(mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise ModelFileError("this is a folder, not a model file")
    if not stat.S_ISREG(mode):
        raise ModelFileError("not a regular file")


def _read(path: AnyPath) -> tuple[Layout, Bytes]:
    """Read a file; sizes are checked before memory is allocated."""
    file, length = _open(path)
    with file:
        prologue, header = _read_header(file, length)
        layout = Layout.of(prologue, header)
        block = _aligned(length)
        _fill(file, block[prologue.data_start :])  # the header has been read
    return layout, block


def _read_header(file: FileIO, length: int) -> tuple[Prologue, Bytes]:
    prologue = Prologue.of(file.read(PROLOGUE_BYTES), length)
    header = _aligned(prologue.data_start - PROLOGUE_BYTES)
    _fill(file, header)
    return prologue, header


def _aligned(length: int) -> Bytes:
    room = np.empty(length + ALIGNMENT, dtype=np.uint8)
    start = -room.ctypes.data % ALIGNMENT
    return room[start : start + length]


def _fill(file: FileIO, block: Bytes) -> None:
    rest = block.data
    while rest:
        n_read = file.readinto(rest)
        if not n_read:
            raise ModelFileError("it was truncated while it was read")
        rest = rest[n_read:]


def _map(path: AnyPath) -> tuple[Layout, Bytes]:
    file, length = _open(path)
    with file:
        Prologue.of(file.read(PROLOGUE_BYTES), length)
        block = np.frombuffer(memory_maps.mmap(file.fileno(), length, access=memory_maps.ACCESS_READ), dtype=np.uint8)
    return layout_of(block), block


# --- Writing ------------------------------------------------------------------------------------------------


def _replace(path: AnyPath, content: Iterable[Bytes]) -> None:
    try:
        with replaced(path) as file:
            for piece in content:
                file.write(piece.data)
    except OSError as error:
        raise type(error)(error.errno, f"can't save the model: {error.strerror}", os.path.realpath(path)) from error
    except ValueError as error:
        raise ModelFileError(str(error)) from None
