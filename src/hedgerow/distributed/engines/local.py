"""Threads of this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import Any

from hedgerow.distributed.engine import Done
from hedgerow.walk import n_threads

__all__ = ["Local"]


class Local:
    """Engine of threads in this process: the default, also for files larger than memory.

    At most two parts per thread are held at any time.

    Parameters
    ----------
    n_jobs : int or None, default=None
        Threads; -1 for all cores. None is 1, or what ``joblib.parallel_config`` says. Identical results for any n_jobs.

    Examples
    --------
    >>> from hedgerow.distributed import Local
    >>> engine = Local(n_jobs=2)
    >>> engine.map([1, 2, 3], pow, 2)
    [1, 4, 9]
    >>> engine.fold([1, 2, 3], pow, 2, merge=max)
    9
    """

    in_process = True  # tasks may write to arrays that they are given

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_jobs = n_jobs
        n_threads(n_jobs)  # refuse it early

    def share(self, value: Any) -> Any:
        """The value itself: threads see it.

        Parameters
        ----------
        value
            What all tasks need.

        Returns
        -------
        object
            What stands for the value in calls of `map` and `fold`.
        """
        return value

    def map(self, parts: Sequence[Any], task: Callable[..., Any], *shared: Any, done: Done | None = None) -> list[Any]:
        """Result of each part, in the order of the parts.

        Parameters
        ----------
        parts : Sequence[object]
            Parts of the rows, of :class:`PartedRows`.
        task : Callable[..., object]
            Function ``task(part, *shared)``; must be picklable.
        *shared
            What every task gets, as `share` has returned it.
        done : Done or None, default=None
            Called once for every part that is finished.

        Returns
        -------
        list
            A result for each part.
        """
        results: list[Any] = [None] * len(parts)
        for at, result in self._finished(parts, task, shared, done):
            results[at] = result
        return results

    def fold(
        self,
        parts: Sequence[Any],
        task: Callable[..., Any],
        *shared: Any,
        merge: Callable[[Any, Any], Any],
        done: Done | None = None,
    ) -> Any:
        """Results of all parts, merged as they come.

        Parameters
        ----------
        parts : Sequence[object]
            Parts of the rows, of :class:`PartedRows`.
        task : Callable[..., object]
            Function ``task(part, *shared)``; must be picklable.
        *shared
            What every task gets, as `share` has returned it.
        merge : Callable[[object, object], object]
            Function that merges two results.
        done : Done or None, default=None
            Called once for every part that is finished.

        Returns
        -------
        object
            The merged result; None without parts.
        """
        total: Any = None
        for number, (_, result) in enumerate(self._finished(parts, task, shared, done)):
            total = merge(total, result) if number else result
        return total

    def _finished(
        self, parts: Sequence[Any], task: Callable[..., Any], shared: Sequence[Any], done: Done | None
    ) -> Iterator[tuple[int, Any]]:
        """Position and result of each part, in the order in which they are finished."""
        threads = n_threads(self.n_jobs)
        waiting = iter(enumerate(parts))
        with ThreadPoolExecutor(threads, thread_name_prefix="hedgerow") as pool:
            running: dict[Future[Any], int] = {}
            try:
                while True:
                    for at, part in islice(waiting, 2 * threads - len(running)):
                        running[pool.submit(task, part, *shared)] = at
                    if not running:
                        return
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        at = running.pop(future)
                        yield at, future.result()
                        if done is not None:
                            done(1)
            finally:
                pool.shutdown(wait=False, cancel_futures=True)
