"""Registry of the classes that a model file can hold, by name. Files contain no code: a class must be registered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypeVar

__all__ = ["ModelFileError", "Registration", "register", "registration_named", "registration_of", "registrations"]

Class = TypeVar("Class", bound=type)


class ModelFileError(ValueError):
    """Raised for a model that can't be stored or a file that can't be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from hedgerow import load
    >>> from hedgerow.storage import ModelFileError
    >>> path = pathlib.Path(tempfile.mkdtemp(), "model.hedgerow")
    >>> _ = path.write_bytes(b"something else")
    >>> try:
    ...     load(path)
    ... except ModelFileError as error:
    ...     print(str(error).rpartition(": ")[2])
    not a hedgerow model file (bad magic number)
    """

    __module__ = "hedgerow.storage"  # tracebacks show the public name


@dataclass(frozen=True)
class Registration:
    """A registered class: `take` turns an instance into named values, `make` checks them and rebuilds it."""

    cls: type
    name: str
    take: Callable[[Any], Mapping[str, Any]]
    make: Callable[[dict[str, Any]], Any]
    is_model: bool


_BY_NAME: dict[str, Registration] = {}
_BY_CLASS: dict[type, Registration] = {}
_LOADERS: list[Callable[[], object]] = []


def when_unknown(load: Callable[[], object]) -> None:
    """Call `load`, which imports a module that registers classes, when a file names an unregistered class."""
    _LOADERS.append(load)


def register(
    cls: Class,
    *,
    name: str | None = None,
    take: Callable[[Any], Mapping[str, Any]] | None = None,
    make: Callable[[dict[str, Any]], Any] | None = None,
    is_model: bool = False,
    former_names: Iterable[str] = (),
) -> Class:
    """Let model files hold instances of `cls`, a dataclass of plain values such as a rule of your own.

    Its fields are stored, and reading a file calls ``cls(**fields)``: its ``__post_init__`` should check them. The file
    names it by `name`, by default its module and qualified name; the reader of the file must register it too. Returns
    the class, to be used as a decorator. Classes that are no dataclasses need `take` and its inverse `make`.
    Files with one of the `former_names` can still be read.

    Parameters
    ----------
    name : str or None, default=None
        Name in files; None: module and qualified name of the class.
    take : callable or None, default=None
        Function from an instance to a mapping of plain values; None: the fields of the dataclass.
    make : callable or None, default=None
        Function from these values to an instance; None: the class itself.
    is_model : bool, default=False
        Whether a file can hold an instance alone.
    former_names : iterable of str, default=()
        Names that older files have.

    Returns
    -------
    type
        The class.

    Raises
    ------
    TypeError
        If the class is no dataclass, and `take` and `make` are missing.
    ValueError
        If another class has the name.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from hedgerow.rules import Pool
    >>> from hedgerow.storage import register
    >>> @register
    ... @dataclass(frozen=True)
    ... class HalfPool(Pool):
    ...     share: float = 0.5
    """
    if take is None and (not isinstance(cls, type) or not is_dataclass(cls)):
        raise TypeError(f"register takes a dataclass, got {cls!r}: decorate the class with @dataclass(frozen=True)")
    registration = Registration(
        cls,
        name or f"{cls.__module__}.{cls.__qualname__}",
        take or _fields,
        make or (lambda values: cls(**values)),
        is_model,
    )
    # A module that is reloaded registers its classes again.
    for one in (registration.name, *former_names):
        known = _BY_NAME.get(one)
        if known is not None and known.cls.__qualname__ != cls.__qualname__:
            raise ValueError(f"the name {one!r} stands for {known.cls!r} already: choose another name")
        _BY_NAME[one] = registration
    _BY_CLASS[cls] = registration
    return cls


def _fields(value: Any) -> dict[str, Any]:
    return {field.name: getattr(value, field.name) for field in fields(value) if field.init}


def registrations() -> dict[str, Registration]:
    """All registered classes, by their names and former names."""
    return dict(sorted(_BY_NAME.items()))


def registration_of(cls: type) -> Registration | None:
    """Registration of exactly this class, or None. (A subclass may mean something else.)"""
    return _BY_CLASS.get(cls)


def registration_named(name: str) -> Registration:
    """Return the class that a file names, or raise an error with the fix."""
    if name.startswith(("hedgerow.", "sklearn.")):  # ours, and those of scikit-learn that we register
        for load in _LOADERS:
            if name in _BY_NAME:
                break
            load()
    try:
        return _BY_NAME[name]
    except KeyError:
        raise ModelFileError(
            f"it holds a {name[:100]!r}, which is not registered here: import its module and call "
            "hedgerow.storage.register(...), or install the hedgerow that wrote it"
        ) from None
