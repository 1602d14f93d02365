"""Results of a fit that are kept on disk, so that a second fit goes on where the first one ended."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from hedgerow.storage.replace import replaced

__all__ = ["Checkpoint"]

_IDENTITY = "fit.json"


class Checkpoint:
    """Folder of arrays by name; without a folder nothing is kept.

    Parameters
    ----------
    folder : path or None
        Made if it is not there.
    """

    def __init__(self, folder: str | os.PathLike[str] | None) -> None:
        self.folder = None if folder is None else Path(folder)

    def open(self, fit: Mapping[str, Any], seed: int | None) -> int | None:
        """Compare with the fit that the folder belongs to, or make the folder; return the seed of that fit.

        `fit` is what must agree; `seed` is None if it was drawn, so that the earlier draw is kept.
        """
        if self.folder is None:
            return seed
        file = self.folder / _IDENTITY
        given = {name: _digest(value) for name, value in fit.items()}
        if file.exists():
            known = json.loads(file.read_text(encoding="utf-8"))
            for name, digest in given.items():
                if known["fit"].get(name) != digest:
                    raise ValueError(
                        f"checkpoint {self.folder} belongs to another fit, with other {name}: give another folder, or "
                        "remove this one"
                    )
            return int(known["seed"])
        if self.folder.exists() and not self.folder.is_dir():
            raise ValueError(f"checkpoint {self.folder} is a file: give a new folder")
        if self.folder.exists() and any(self.folder.iterdir()):
            raise ValueError(f"checkpoint {self.folder} is a folder with other files: give a new one")
        return seed

    def start(self, fit: Mapping[str, Any], seed: int) -> None:
        """Write which fit the folder belongs to."""
        if self.folder is None or (self.folder / _IDENTITY).exists():
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"fit": {name: _digest(value) for name, value in fit.items()}, "seed": seed})
        with replaced(self.folder / _IDENTITY) as out:
            out.write(text.encode())

    @property
    def keeps(self) -> bool:
        """Whether there is a folder."""
        return self.folder is not None

    def load(self, name: str) -> dict[str, NDArray[Any]] | None:
        """Arrays that were saved under a name; None if there are none."""
        if self.folder is None or not (file := self.folder / f"{name}.npz").exists():
            return None
        try:
            with np.load(file, allow_pickle=False) as kept:
                return dict(kept)
        except (OSError, ValueError, EOFError, BadZipFile):
            raise ValueError(f"{file} in the checkpoint is damaged: remove it, and it will be made again") from None

    def save(self, name: str, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Keep arrays under a name; the file is replaced only when the new one is complete."""
        if self.folder is not None:
            with replaced(self.folder / f"{name}.npz") as out:
                np.savez(out, **dict(arrays))  # type: ignore[arg-type]

    def names(self) -> list[str]:
        """Names of what was saved, sorted."""
        return [] if self.folder is None else sorted(file.stem for file in self.folder.glob("*.npz"))


def _digest(value: Any) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()[:16]
