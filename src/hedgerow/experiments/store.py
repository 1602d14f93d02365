"""Results of experiments, kept durably: what was finished survives the end of the process, however it comes."""

from __future__ import annotations

import os
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: without locks processes do not see each other, and may do the same work twice
    fcntl = None  # type: ignore[assignment]

__all__ = ["Scores", "Store", "StoreError", "Unit"]

_FORMAT = 1
_TABLES = """
CREATE TABLE about (format INTEGER NOT NULL, version TEXT NOT NULL);
CREATE TABLE data (dataset TEXT PRIMARY KEY, digest TEXT NOT NULL);
CREATE TABLE unit (
    id INTEGER PRIMARY KEY, study TEXT NOT NULL, dataset TEXT NOT NULL, part TEXT NOT NULL, seconds REAL NOT NULL,
    UNIQUE (study, dataset, part)
);
CREATE TABLE score (
    unit INTEGER NOT NULL REFERENCES unit (id), setting TEXT NOT NULL, measure TEXT NOT NULL, value REAL,
    PRIMARY KEY (unit, setting, measure)
) WITHOUT ROWID;
CREATE TABLE claim (
    study TEXT NOT NULL, dataset TEXT NOT NULL, part TEXT NOT NULL, owner TEXT NOT NULL,
    PRIMARY KEY (study, dataset, part)
);
"""

Scores = Mapping[tuple[str, str], float]
"""Values by (setting, measure)."""


class StoreError(ValueError):
    """A result store that can't be used, and what to do about it."""


@dataclass(frozen=True, order=True)
class Unit:
    """Smallest piece of work that is stored: a part of a study (a fold, a sample) on one dataset."""

    study: str
    dataset: str
    part: str


class Store:
    """SQLite file of finished units, shared by any number of processes.

    A unit is written in one synchronous transaction. A process claims a unit before it works on it; the claims of a
    process that has ended, however it ended, are free again, because the system releases the lock on its owner file.
    """

    def __init__(self, path: Path, version: str) -> None:
        self.path = path
        self._owner = f"{os.getpid()}-{secrets.token_hex(4)}"
        path.parent.mkdir(parents=True, exist_ok=True)
        self._database = _opened(path, version)
        self._owner_file = _locked(self._path_of(self._owner))

    def close(self) -> None:
        """Release what this process has claimed."""
        with suppress(sqlite3.Error), self._writing() as database:
            database.execute("DELETE FROM claim WHERE owner = ?", (self._owner,))
        self._database.close()
        with suppress(OSError):
            self._path_of(self._owner).unlink()
        os.close(self._owner_file)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def finished(self, study: str) -> set[Unit]:
        """Units of a study whose scores are stored."""
        found = self._database.execute("SELECT study, dataset, part FROM unit WHERE study = ?", (study,))
        return {Unit(*row) for row in found}

    def claim(self, units: Iterable[Unit]) -> Unit | None:
        """Claim the first of the units that is neither finished nor in progress; None if there is none."""
        with self._writing() as database:
            self._drop_claims_of_the_dead()
            taken = {Unit(*row) for row in database.execute("SELECT study, dataset, part FROM claim")}
            taken |= {Unit(*row) for row in database.execute("SELECT study, dataset, part FROM unit")}
            for unit in units:
                if unit not in taken:
                    database.execute("INSERT INTO claim VALUES (?, ?, ?, ?)", (*_key(unit), self._owner))
                    return unit
        return None

    def add(self, unit: Unit, scores: Scores, seconds: float) -> None:
        """Store the scores of a finished unit. One that is already there is kept: both are the same."""
        with self._writing() as database:
            added = database.execute(
                "INSERT OR IGNORE INTO unit (study, dataset, part, seconds) VALUES (?, ?, ?, ?)", (*_key(unit), seconds)
            )
            if added.rowcount:
                rows = ((added.lastrowid, setting, measure, value) for (setting, measure), value in scores.items())
                database.executemany("INSERT INTO score VALUES (?, ?, ?, ?)", rows)
            database.execute("DELETE FROM claim WHERE study = ? AND dataset = ? AND part = ?", _key(unit))

    def check_data(self, dataset: str, digest: str) -> None:
        """Raise an error if results are stored for other data of this name."""
        with self._writing() as database:
            database.execute("INSERT OR IGNORE INTO data VALUES (?, ?)", (dataset, digest))
            (known,) = database.execute("SELECT digest FROM data WHERE dataset = ?", (dataset,)).fetchone()
        if known != digest:
            raise StoreError(f"{self.path} has results for another file of {dataset!r}: choose another --out")

    def scores(self, study: str) -> Iterator[tuple[str, str, str, str, float]]:
        """Rows (dataset, part, setting, measure, value) of a study, NaN where a value is undefined."""
        query = (
            "SELECT dataset, part, setting, measure, value FROM unit JOIN score ON score.unit = unit.id "
            "WHERE study = ? ORDER BY dataset, part, setting, measure"
        )
        for dataset, part, setting, measure, value in self._database.execute(query, (study,)):
            yield dataset, part, setting, measure, float("nan") if value is None else value

    def seconds(self, study: str) -> float:
        """Processor time that the stored units of a study have taken, added up."""
        (total,) = self._database.execute("SELECT SUM(seconds) FROM unit WHERE study = ?", (study,)).fetchone()
        return float(total or 0.0)

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Transaction that no other process writes beside; rolled back by an error."""
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield self._database
        except BaseException:
            self._database.execute("ROLLBACK")
            raise
        self._database.execute("COMMIT")

    def _drop_claims_of_the_dead(self) -> None:
        for (owner,) in self._database.execute("SELECT DISTINCT owner FROM claim").fetchall():
            if owner != self._owner and _has_ended(self._path_of(owner)):
                self._database.execute("DELETE FROM claim WHERE owner = ?", (owner,))

    def _path_of(self, owner: str) -> Path:
        return self.path.with_name(f".{self.path.name}-{owner}.owner")


def _key(unit: Unit) -> tuple[str, str, str]:
    return unit.study, unit.dataset, unit.part


def _opened(path: Path, version: str) -> sqlite3.Connection:
    database = sqlite3.connect(path, timeout=60, isolation_level=None)
    try:
        database.execute("PRAGMA synchronous = FULL")
        database.execute("BEGIN IMMEDIATE")  # of two processes that start together one makes the tables
        if not database.execute("SELECT name FROM sqlite_master LIMIT 1").fetchone():
            for statement in _TABLES.split(";"):
                database.execute(statement)
            database.execute("INSERT INTO about VALUES (?, ?)", (_FORMAT, version))
        database.execute("COMMIT")
        (state,) = database.execute("PRAGMA quick_check").fetchone()
        if state != "ok":
            raise sqlite3.DatabaseError(state)
        found = database.execute("SELECT format, version FROM about").fetchone()
    except sqlite3.OperationalError as error:
        database.close()
        if "no such table" in str(error):
            raise StoreError(f"{path} is not a store of results: choose another --out") from None
        raise StoreError(f"{path} can't be opened: {error}") from None
    except sqlite3.DatabaseError as error:
        database.close()
        raise StoreError(f"{path} is damaged ({error}): move it away to start anew; nothing was changed") from None
    if found != (_FORMAT, version):
        database.close()
        raise StoreError(
            f"{path} has results of hedgerow {found[1]} (format {found[0]}), this is {version} (format {_FORMAT}): "
            "choose another --out, so that results of two versions do not mix"
        )
    return database


def _locked(path: Path) -> int:
    """Create an owner file and lock it until the process ends."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    return descriptor


def _has_ended(path: Path) -> bool:
    """Whether the process that locked this owner file has ended; its file is removed then."""
    if fcntl is None:
        return False
    try:
        descriptor = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink(missing_ok=True)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True
