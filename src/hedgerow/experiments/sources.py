"""Where the data of experiments comes from: a folder of Parquet files, or what ships with scikit-learn."""

from __future__ import annotations

import csv
import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.datasets import DataFileError, Dataset, load

__all__ = ["Problem", "Source"]

_SHIPPED = frozenset(("breast-cancer", "diabetes", "digits", "iris", "wine"))


@dataclass(frozen=True)
class Problem:
    """Two-class problem made of a dataset: some of its classes against the rest."""

    dataset: str
    positive: tuple[str, ...] = ()
    """Positive classes; none: the rarest, the first of equals."""

    def target(self, y: NDArray[Any]) -> NDArray[np.intp]:
        """Return 1 for the positive class and 0 for the others."""
        labels = y.astype(str)
        chosen = self.positive
        if not chosen:
            classes, n_rows = np.unique(labels, return_counts=True)
            chosen = (str(classes[n_rows.argmin()]),)
        return np.isin(labels, chosen).astype(np.intp)


@dataclass(frozen=True)
class Source:
    """A folder of Parquet files with a manifest, or None: what ships with scikit-learn."""

    folder: str | None = None

    def __post_init__(self) -> None:
        if self.folder is not None and not Path(self.folder).is_dir():
            raise DataFileError(f"--data is {self.folder!r}, which is not a folder")

    def has(self, dataset: str) -> bool:
        """Whether the data is there."""
        if self.folder is None:
            return dataset in _SHIPPED
        return Path(self.folder, f"{dataset}.parquet").is_file()

    def load(self, dataset: str) -> Dataset:
        """Read a dataset; the last few stay in memory."""
        return _load(dataset, self.folder)

    def digest(self, dataset: str) -> str:
        """Fingerprint of the data, checked against the manifest of the folder, if there is one."""
        if self.folder is None:
            return "scikit-learn"
        found = hashlib.sha256(Path(self.folder, f"{dataset}.parquet").read_bytes()).hexdigest()
        expected = _manifest(self.folder).get(dataset, found)
        if found != expected:
            raise DataFileError(
                f"{dataset}.parquet has the checksum {found[:12]}…, manifest.csv says {expected[:12]}…: fetch the file "
                "anew, or correct the manifest"
            )
        return found


@lru_cache(maxsize=4)
def _load(dataset: str, folder: str | None) -> Dataset:
    return load(dataset, data=folder)


@lru_cache(maxsize=4)
def _manifest(folder: str) -> dict[str, str]:
    path = Path(folder, "manifest.csv")
    if not path.is_file():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        return {row["name"]: row["sha256"] for row in csv.DictReader(file) if row.get("sha256")}
