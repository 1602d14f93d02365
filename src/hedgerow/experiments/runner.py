"""Runs the parts of a study that are not stored yet, in several processes."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context, parent_process

from threadpoolctl import threadpool_limits

from hedgerow.experiments.sources import Source
from hedgerow.experiments.store import Scores, Store, Unit
from hedgerow.experiments.study import Study

__all__ = ["Finished", "run_units", "units_of"]

_POLL_SECONDS = 0.5  # while another process works on what is left


@dataclass(frozen=True)
class Finished:
    """A unit that is stored now, and the processor time that it took; None where another process did it."""

    unit: Unit
    seconds: float | None


def units_of(study: Study, datasets: Sequence[str], quick: bool) -> list[Unit]:
    """Units of a study on these datasets."""
    name = f"{study.name}-{study.revision}"
    return [Unit(name, dataset, part) for dataset in datasets for part in study.parts(dataset, quick)]


def run_units(
    study: Study,
    units: Sequence[Unit],
    source: Source,
    store: Store,
    n_jobs: int,
    report: Callable[[Finished], None],
) -> None:
    """Run and store all units that are not stored yet; those that other processes work on are waited for."""
    waiting = {unit: None for unit in units if unit not in store.finished(unit.study)}
    with _workers(n_jobs) as submit:
        running: dict[Future[tuple[Scores, float]], Unit] = {}
        while waiting or running:
            while len(running) < n_jobs and (unit := store.claim(waiting)) is not None:
                del waiting[unit]
                running[submit(study, source, unit)] = unit
            if running:
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    unit = running.pop(future)
                    scores, seconds = future.result()
                    store.add(unit, scores, seconds)
                    report(Finished(unit, seconds))
            elif waiting:
                time.sleep(_POLL_SECONDS)
            if waiting:
                for unit in store.finished(next(iter(waiting)).study) & waiting.keys():
                    del waiting[unit]
                    report(Finished(unit, None))


def _run(study: Study, source: Source, unit: Unit) -> tuple[Scores, float]:
    start = time.process_time()
    with threadpool_limits(1):  # the processes share the cores: threads of BLAS and OpenMP would wait for each other
        scores = study.run(source, unit.dataset, unit.part)
    return scores, time.process_time() - start


@contextmanager
def _workers(n_jobs: int) -> Iterator[Callable[[Study, Source, Unit], Future[tuple[Scores, float]]]]:
    """Function that runs a unit: here if there is one job, else in a process of a pool."""
    if n_jobs == 1:
        yield _run_here
        return
    # Spawned: a fork would copy the threads' locks as they happen to be.
    with ProcessPoolExecutor(n_jobs, mp_context=get_context("spawn"), initializer=_end_with_parent) as pool:
        try:
            yield lambda study, source, unit: pool.submit(_run, study, source, unit)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _run_here(study: Study, source: Source, unit: Unit) -> Future[tuple[Scores, float]]:
    future: Future[tuple[Scores, float]] = Future()
    future.set_result(_run(study, source, unit))
    return future


def _end_with_parent() -> None:
    """End this process when the one that started it does, even by SIGKILL: nobody would take its results."""
    parent = parent_process()
    assert parent is not None, "runs in workers only"

    def end() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=end, daemon=True).start()
