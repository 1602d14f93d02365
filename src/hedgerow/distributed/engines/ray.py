"""A Ray cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hedgerow.distributed.engine import Done, merge_all
from hedgerow.distributed.engines.needs import needs
from hedgerow.distributed.engines.runs_of_parts import FoldRun, runs_of_parts, size_of_run
from hedgerow.distributed.rows.parts import HeldPart, run, run_held

__all__ = ["Ray"]

_ARITY = 4  # results that are merged by a task
_SECONDS = 0.5  # between two looks at what is finished


class Ray:
    """Engine of a Ray cluster.

    Tasks that were on a lost worker run again. A fit that is interrupted cancels what it has submitted, and nothing
    else.

    Parameters
    ----------
    address : str or None, default=None
        Address for ``ray.init``, if it was not called yet; None starts Ray on this machine, or takes what the variable
        RAY_ADDRESS names. Every node needs hedgerow.

    Examples
    --------
    >>> from hedgerow.distributed import Ray  # doctest: +SKIP
    >>> engine = Ray("ray://head:10001")  # doctest: +SKIP
    """

    def __init__(self, address: str | None = None) -> None:
        with needs("Ray", "ray"):
            import ray
        if not ray.is_initialized():
            ray.init(address)
        self._ray = ray
        # The first result says that the task has ended, without its value.
        self._run = ray.remote(num_returns=2)(_with_end_marker(run))
        self._run_held = ray.remote(num_returns=2)(_with_end_marker(run_held))
        self._merge = ray.remote(merge_all)

    def share(self, value: Any) -> Any:
        """An object in the store of this process, which every node copies once.

        Parameters
        ----------
        value
            What all tasks need.

        Returns
        -------
        object
            What stands for the value in calls of `map` and `fold`.
        """
        return self._ray.put(value)

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
        ends, results = self._start(parts, task, shared)
        return list(self._finish(ends, results, done))

    def fold(
        self,
        parts: Sequence[Any],
        task: Callable[..., Any],
        *shared: Any,
        merge: Callable[[Any, Any], Any],
        done: Done | None = None,
    ) -> Any:
        """Results of all parts, merged on the workers.

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
        runs = runs_of_parts(parts, int(self._ray.cluster_resources().get("CPU", 1)))
        ends, level = self._start(runs, FoldRun(task, merge), shared)
        sizes = dict(zip(ends, map(size_of_run, runs), strict=True))
        while len(level) > 1:
            level = [self._merge.remote(merge, *level[at : at + _ARITY]) for at in range(0, len(level), _ARITY)]
        found = self._finish(ends, level, done, sizes)
        return found[0] if found else None

    def _start(
        self, parts: Sequence[Any], task: Callable[..., Any], shared: Sequence[Any]
    ) -> tuple[list[Any], list[Any]]:
        started = [
            self._run_held.remote(task, part.rows, part.place, *shared)
            if isinstance(part, HeldPart)
            else self._run.remote(task, part, *shared)
            for part in parts
        ]
        return [end for end, _ in started], [result for _, result in started]

    def _finish(
        self, ends: list[Any], results: list[Any], done: Done | None, sizes: Mapping[Any, int] | None = None
    ) -> list[Any]:
        """Values of the results, once all tasks have ended; raises the first error of a task as it was raised.

        `sizes` are the numbers of parts of tasks that stand for several.
        """
        from ray.exceptions import RayTaskError

        waiting = ends
        try:
            while waiting:
                ended, waiting = self._ray.wait(waiting, num_returns=len(waiting), timeout=_SECONDS)
                self._ray.get(ended)
                if done is not None and ended:
                    done(len(ended) if sizes is None else sum(sizes[end] for end in ended))
            return list(self._ray.get(results))
        except BaseException as error:
            for reference in [*waiting, *results]:
                self._ray.cancel(reference)
            if isinstance(error, RayTaskError) and error.cause is not None:
                raise error.cause from None
            raise


def _with_end_marker(function: Callable[..., Any]) -> Callable[..., tuple[None, Any]]:
    def run(*arguments: Any) -> tuple[None, Any]:
        return None, function(*arguments)

    return run
