"""Runs experiments by name, and writes what came out."""

from __future__ import annotations

import difflib
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Protocol

from hedgerow.datasets import DataFileError
from hedgerow.experiments.findings import Report, write
from hedgerow.experiments.runner import Finished, run_units, units_of
from hedgerow.experiments.sources import Source
from hedgerow.experiments.store import Store, Unit
from hedgerow.experiments.study import Results, Study

__all__ = ["Outcome", "Progress", "names", "reproduce"]

# Class of each study, in the module of its name; imported when it is run, since estimators take long to import.
_STUDIES = {
    "combining": "Combining",
    "boundary": "Boundary",
    "cautious": "Cautious",
    "measured": "Measured",
    "lecture": "Lecture",
}


@dataclass(frozen=True)
class Outcome:
    """Report of a study, the page that it was written to, and the processor time of its units, added up.

    Parameters
    ----------
    name : str
        Name of the study.
    report : Report
        Its tables, figures and claims.
    page : Path
        The page that was written.
    seconds : float
        Processor time of its units, added up.

    Examples
    --------
    >>> from hedgerow.experiments import reproduce
    >>> outcome = reproduce("lecture", quick=True)[0]  # doctest: +SKIP
    >>> outcome.name, outcome.page.name  # doctest: +SKIP
    ('lecture', 'lecture.md')
    """

    name: str
    report: Report
    page: Path
    seconds: float


class Progress(Protocol):
    """Receiver of progress reports.

    Examples
    --------
    A receiver that prints the datasets that are done:

    >>> class Printed:
    ...     def start(self, study, n_units, n_stored):
    ...         print(f"{study}: {n_stored} of {n_units} are stored")
    ...
    ...     def unit(self, finished):
    ...         pass
    ...
    ...     def dataset(self, name, seconds):
    ...         print(f"{name}: {seconds:.0f} s")
    ...
    ...     def left_out(self, dataset, why):
    ...         print(f"{dataset}: {why}")
    >>> Printed().start("boundary", 20, 5)
    boundary: 5 of 20 are stored
    """

    def start(self, study: str, n_units: int, n_stored: int) -> None:
        """Work on a study begins.

        Parameters
        ----------
        study : str
            Name of the study.
        n_units : int
            Number of units of work.
        n_stored : int
            Number of them that are stored already.
        """

    def unit(self, finished: Finished) -> None:
        """A unit is stored.

        Parameters
        ----------
        finished : Finished
            The unit, with its time and results.
        """

    def dataset(self, name: str, seconds: float) -> None:
        """All units of a dataset are stored.

        Parameters
        ----------
        name : str
            Name of the dataset.
        seconds : float
            Processor time.
        """

    def left_out(self, dataset: str, why: str) -> None:
        """A dataset can't be used.

        Parameters
        ----------
        dataset : str
            Name of the dataset.
        why : str
            The reason.
        """


class _Silent:
    def start(self, study: str, n_units: int, n_stored: int) -> None: ...

    def unit(self, finished: Finished) -> None: ...

    def dataset(self, name: str, seconds: float) -> None: ...

    def left_out(self, dataset: str, why: str) -> None: ...


def names() -> tuple[str, ...]:
    """Names of the experiments.

    Returns
    -------
    tuple of str
        The names, without "all".

    Examples
    --------
    >>> from hedgerow.experiments import names
    >>> names()
    ('combining', 'boundary', 'cautious', 'measured', 'lecture')
    """
    return tuple(_STUDIES)


def reproduce(
    name: str = "all",
    *,
    quick: bool = False,
    data: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] = "reproduction",
    n_jobs: int | None = None,
    only: Sequence[str] = (),
    stored: bool = False,
    progress: Progress | None = None,
) -> list[Outcome]:
    """Run an experiment, or all, and write tables, figures and claims.

    Finished parts are stored in ``out/results.sqlite`` and not computed again; several processes may share one store.

    Parameters
    ----------
    name : str, default="all"
        One of :func:`names`, or "all".
    quick : bool, default=False
        Small datasets and few repeats: a look at everything in a few minutes. What it stores counts for the full run.
    data : path or None, default=None
        Folder of Parquet files; None: the datasets that ship with scikit-learn.
    out : path, default="reproduction"
        Folder for the store and the pages.
    n_jobs : int or None, default=None
        Processes; None: one for each core.
    only : sequence of str, default=()
        Run these datasets only.
    stored : bool, default=False
        Write the pages from what is stored, and run nothing.
    progress : Progress or None, default=None
        Receives every unit and dataset.

    Returns
    -------
    list of Outcome
        One for each study.

    Raises
    ------
    ValueError
        If a name is not known, `out` is a file or holds pages without their store, or there is nothing stored to write
        from.

    Examples
    --------
    >>> from hedgerow.experiments import reproduce
    >>> for outcome in reproduce("boundary", quick=True, only=["iris"]):  # doctest: +SKIP
    ...     print(outcome.page)
    reproduction/boundary.md
    """
    chosen = _chosen(name)
    source = Source(None if data is None else os.fspath(data))
    folder = Path(out)
    if folder.is_file():
        raise ValueError(f"--out is {str(out)!r}, which is a file: name a folder")
    receiver: Progress = _Silent() if progress is None else progress
    jobs = (os.cpu_count() or 1) if n_jobs is None else n_jobs
    if jobs < 1:
        raise ValueError(f"n_jobs is {n_jobs}, must be a number of processes of at least 1")
    store_path = folder / "results.sqlite"
    if not store_path.exists():
        _check_no_pages(chosen, folder, store_path)
    wanted = {study: _datasets(study, source, quick, only, receiver) for study in chosen}
    if only:
        _check_only(only, wanted, source, quick)
    outcomes = []
    with Store(store_path, version("hedgerow")) as store:
        for study, datasets in wanted.items():
            usable = _usable(datasets, source, store, receiver)
            units = units_of(study, usable, quick)
            if not units:
                continue
            done = store.finished(units[0].study)
            if stored:
                units = [unit for unit in units if unit in done]
                if not units:
                    continue
            else:
                receiver.start(study.name, len(units), len(done.intersection(units)))
                run_units(study, units, source, store, jobs, _Reporting(receiver, units, done))
            of_run = set(units)
            scores = store.scores(units[0].study)
            rows = (row for row in scores if Unit(units[0].study, row[0], row[1]) in of_run)
            report = study.report(Results(rows, quick))
            seconds = store.seconds(units[0].study)
            n_all = len(units_of(study, usable, quick=False))
            how = _how(study, source, quick, only) + _extent(units, n_all, seconds)
            page = write(report, study.name, folder, how)
            outcomes.append(Outcome(study.name, report, page, seconds))
    if not outcomes and stored:
        raise ValueError(f"{folder} has no results of {name!r} yet: run it without --stored")
    if not outcomes:
        needed = sorted({one for study, found in wanted.items() for one in (*study.absent(source), *found)})
        raise ValueError(
            f"no dataset of {name!r} can be used from {source.folder}: its datasets are {', '.join(needed)}"
        )
    return outcomes


def _chosen(name: str) -> list[Study]:
    if name != "all" and name not in _STUDIES:
        similar = difflib.get_close_matches(name, _STUDIES, n=1)
        hint = f"did you mean {similar[0]!r}? " if similar else ""
        raise ValueError(f"there is no experiment {name!r}: {hint}known are {', '.join(_STUDIES)}, and all")
    return [
        getattr(import_module(f"hedgerow.experiments.{one}"), class_name)()
        for one, class_name in _STUDIES.items()
        if name in (one, "all")
    ]


def _check_no_pages(chosen: Iterable[Study], folder: Path, store_path: Path) -> None:
    """Raise an error if there are pages whose results are not stored: they could not be written again."""
    for study in chosen:
        page = folder / f"{study.name}.md"
        if page.exists():
            raise ValueError(
                f"{page} is there, but not {store_path}, which its results come from: it would be overwritten; choose "
                "another --out, or move the page away"
            )


def _datasets(study: Study, source: Source, quick: bool, only: Sequence[str], receiver: Progress) -> list[str]:
    found = study.datasets(source, quick)
    if source.folder is not None and not only:
        for one in study.absent(source):
            receiver.left_out(one, f"no {one}.parquet in {source.folder}")
    return [one for one in found if not only or one in only]


def _check_only(only: Iterable[str], wanted: dict[Study, list[str]], source: Source, quick: bool) -> None:
    found = {one for datasets in wanted.values() for one in datasets}
    if unknown := [one for one in only if one not in found]:
        known = sorted({one for study in wanted for one in study.datasets(source, quick)})
        raise ValueError(f"--only names {unknown[0]!r}, which is not among the datasets here: {', '.join(known)}")


def _usable(datasets: Sequence[str], source: Source, store: Store, receiver: Progress) -> list[str]:
    """Datasets whose files are what they should be; the others are reported, and the rest goes on."""
    usable = []
    for one in datasets:
        try:
            if source.has(one):
                store.check_data(one, source.digest(one))
        except DataFileError as error:
            receiver.left_out(one, str(error))
        else:
            usable.append(one)
    return usable


def _how(study: Study, source: Source, quick: bool, only: Sequence[str]) -> str:
    options = [
        *(["--quick"] if quick else []),
        *(["--data DIR"] if source.folder is not None else []),
        *([f"--only {','.join(only)}"] if only else []),
    ]
    return f"Made by `{' '.join(['hedgerow reproduce', study.name, *options])}` with hedgerow {version('hedgerow')}"


def _extent(units: Sequence[Unit], n_all: int, seconds: float) -> str:
    """How much of the full study these units are."""
    counts = Counter(unit.dataset for unit in units)
    runs = f"all {n_all}" if len(units) == n_all else f"{len(units)} of the {n_all}"
    datasets = f"{len(counts)} dataset{'' if len(counts) == 1 else 's'}"
    fewer = {one: n for one, n in counts.items() if n < max(counts.values())}
    least = "".join(f" ({one}: {n} of {max(counts.values())})" for one, n in fewer.items())
    return f": {runs} runs of the full study on {datasets}{least}, {seconds / 60:.1f} minutes of processor time."


class _Reporting:
    """Passes on finished units, and datasets when their last unit is stored."""

    def __init__(self, receiver: Progress, units: Sequence[Unit], done: set[Unit]) -> None:
        self._receiver = receiver
        self._left = Counter(unit.dataset for unit in units if unit not in done)
        self._seconds: Counter[str] = Counter()

    def __call__(self, finished: Finished) -> None:
        name = finished.unit.dataset
        self._left[name] -= 1
        self._seconds[name] += finished.seconds or 0.0  # type: ignore[assignment]
        self._receiver.unit(finished)
        if self._left[name] == 0:
            self._receiver.dataset(name, self._seconds[name])
