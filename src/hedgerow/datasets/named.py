"""Data by name: files in a folder of yours, what was fetched, and what ships with scikit-learn."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from hedgerow.datasets.cache import cache_folder, cached, cached_table
from hedgerow.datasets.files import open_rows
from hedgerow.datasets.rows import DataFileError, decode

__all__ = ["Dataset", "Entry", "entries", "load"]

AnyPath = str | os.PathLike[str]

# name, function of sklearn.datasets, target
_SHIPPED = {
    "breast-cancer": ("load_breast_cancer", "diagnosis"),
    "diabetes": ("load_diabetes", "progression"),
    "digits": ("load_digits", "digit"),
    "iris": ("load_iris", "species"),
    "wine": ("load_wine", "cultivar"),
}
_TARGETS = ("target", "class", "label", "y")


@dataclass(frozen=True)
class Dataset:
    """A table of inputs, and what is to be predicted.

    Parameters
    ----------
    name : str
        Name of the dataset.
    X : array-like or frame of shape (n_samples, n_features)
        Inputs, a row for each of y.
    y : array-like of shape (n_samples,)
        Labels or numbers, one for each row.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from hedgerow.datasets import Dataset
    >>> data = Dataset.of("patients", pa.table({"age": [30, 61, 44], "ill": ["no", "yes", None]}), "ill")
    >>> data.X.column_names, data.y, data.task
    (['age'], array(['no', 'yes'], dtype='<U3'), 'classification')
    """

    name: str
    X: pa.Table
    y: NDArray[Any]
    target: str
    """Name of y."""

    @property
    def task(self) -> str:
        """Classification if y is text or truth values, or regression."""
        return "regression" if self.y.dtype.kind in "iuf" else "classification"

    @property
    def table(self) -> pa.Table:
        """The inputs, and the target as the last column."""
        return self.X.append_column(self.target, pa.array(self.y.tolist()))

    @classmethod
    def of(cls, name: str, table: pa.Table, target: str) -> Dataset:
        """Split a table into inputs and target; rows without a target are dropped.

        Parameters
        ----------
        name : str
            Name of the dataset.
        table : pyarrow Table
            Inputs and target.
        target : str
            Name of the column to predict.

        Returns
        -------
        Dataset
            The dataset.
        """
        table = table.filter(table[target].is_valid())
        column = decode(table[target])
        values = column.to_numpy()
        y = values.astype(str) if pa.types.is_string(column.type) else values
        return cls(name, table.drop_columns([target]), y, target)


@dataclass(frozen=True)
class Entry:
    """A dataset that can be loaded by its name, and its source.

    Parameters
    ----------
    name : str
        Name by which it is loaded.
    source : str
        Where it comes from: "scikit-learn", "OpenML" or a folder.
    n_rows : int
        Number of rows.
    n_features : int
        Number of columns without the target.

    Examples
    --------
    >>> from hedgerow.datasets import entries
    >>> next(entry for entry in entries() if entry.name == "iris")
    Entry(name='iris', source='scikit-learn', n_rows=150, n_features=4)
    """

    name: str
    source: str
    n_rows: int
    n_features: int


def load(name: str, *, data: AnyPath | None = None, data_home: AnyPath | None = None) -> Dataset:
    """A dataset by its name: from the folder `data`, from the cache of `fetch_openml`, or from scikit-learn.

    Parameters
    ----------
    name : str
        One of :func:`entries`.
    data : path or None, default=None
        Folder of Parquet files to look in first; None: that in HEDGEROW_DATA. The target of a file is its column called
        target, class, label or y, else the last one.
    data_home : path or None, default=None
        Folder of downloaded datasets; None: HEDGEROW_CACHE, or ``hedgerow`` in the user's folder of caches.

    Returns
    -------
    Dataset
        Inputs, target and their names.

    Raises
    ------
    DataFileError
        If there is no dataset of this name; the message suggests similar ones.

    Examples
    --------
    >>> from hedgerow.datasets import load
    >>> load("iris").target
    'species'
    """
    folder = _folder(data)
    if folder is not None and (path := folder / f"{name}.parquet").is_file():
        table = open_rows(str(path)).table()
        return Dataset.of(name, table, _likely_target(table.column_names))
    cache = cache_folder(data_home)
    for entry in cached(cache):
        if entry.origin.name == name:
            return Dataset.of(name, cached_table(cache, entry), entry.origin.target)
    if name in _SHIPPED:
        return _shipped(name)
    known = sorted({entry.name for entry in entries(data=data, data_home=data_home)})
    similar = difflib.get_close_matches(name, known, n=3)
    hint = f"did you mean {' or '.join(map(repr, similar))}?" if similar else "'hedgerow datasets' lists what there is"
    raise DataFileError(f"there is no dataset {name!r}; {hint}")


def entries(*, data: AnyPath | None = None, data_home: AnyPath | None = None) -> list[Entry]:
    """List the datasets that :func:`load` finds, in the order of its search.

    Parameters
    ----------
    data : path or None, default=None
        Folder of datasets to look in first.
    data_home : path or None, default=None
        Folder of downloaded datasets; None: HEDGEROW_CACHE, or ``hedgerow`` in the user's folder of caches.

    Returns
    -------
    list of Entry
        Name, source and size of each.

    Examples
    --------
    >>> from hedgerow.datasets import entries
    >>> [entry.name for entry in entries() if entry.source == "scikit-learn"][:2]
    ['breast-cancer', 'diabetes']
    """
    return [*_in_folder(_folder(data)), *_in_cache(cache_folder(data_home)), *_with_scikit_learn()]


def _folder(data: AnyPath | None) -> Path | None:
    named = data or os.environ.get("HEDGEROW_DATA")
    if named is None:
        return None
    folder = Path(named)
    if not folder.is_dir():
        given = "--data" if data else "HEDGEROW_DATA"
        raise DataFileError(f"{given} is {str(folder)!r}, which is not a folder")
    return folder


def _in_folder(folder: Path | None) -> Iterator[Entry]:
    for path in sorted(folder.glob("*.parquet")) if folder else ():
        about = pq.read_metadata(path)
        yield Entry(path.stem, str(folder), about.num_rows, about.num_columns - 1)


def _in_cache(folder: Path) -> Iterator[Entry]:
    for entry in cached(folder):
        yield Entry(entry.origin.name, f"OpenML {entry.origin.id}", entry.n_rows, entry.n_columns - 1)


def _with_scikit_learn() -> Iterator[Entry]:
    for name in _SHIPPED:
        dataset = _shipped(name)
        yield Entry(name, "scikit-learn", dataset.X.num_rows, dataset.X.num_columns)


def _shipped(name: str) -> Dataset:
    import sklearn.datasets  # here, because it takes longer to import than all of hedgerow

    function, target = _SHIPPED[name]
    bunch = getattr(sklearn.datasets, function)()
    columns = {str(column): bunch.data[:, j] for j, column in enumerate(bunch.feature_names)}
    classes = getattr(bunch, "target_names", None)
    y = bunch.target if classes is None else np.asarray(classes).astype(str)[bunch.target]
    return Dataset(name, pa.table(columns), y, target)


def _likely_target(names: list[str]) -> str:
    return next((name for name in _TARGETS if name in names), names[-1])
