"""A Dask cluster."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hedgerow.distributed.engine import Done, merge_all
from hedgerow.distributed.engines.needs import needs
from hedgerow.distributed.engines.runs_of_parts import FoldRun, runs_of_parts, size_of_run
from hedgerow.distributed.rows.parts import HeldPart, run, run_held

__all__ = ["Dask"]

_PIECE = 1 << 22  # bytes that are sent at a time
_ALIGNED = 64  # bytes
_ARITY = 4  # results that are merged by a task


class Dask:
    """Engine of a Dask cluster.

    Tasks that were on a lost worker run again on another one, and so does what was shared. A fit that is interrupted
    cancels what it has submitted, and nothing else.

    Parameters
    ----------
    client : distributed.Client or str
        Client of the cluster, or the address of its scheduler, such as "tcp://host:8786". Every worker needs hedgerow.

    Examples
    --------
    >>> from dask.distributed import Client  # doctest: +SKIP
    >>> from hedgerow.distributed import Dask  # doctest: +SKIP
    >>> engine = Dask(Client("tcp://scheduler:8786"))  # doctest: +SKIP
    """

    def __init__(self, client: Any) -> None:
        with needs("Dask", "dask"):
            from distributed import Client
        self.client = Client(client) if isinstance(client, str) else client
        if not isinstance(self.client, Client):
            raise TypeError(f"client is {client!r}, must be a distributed.Client or the address of a scheduler")

    def share(self, value: Any) -> Any:
        """A task's result, which can be computed again; what is scattered is lost with its worker.

        Parameters
        ----------
        value
            What all tasks need.

        Returns
        -------
        object
            What stands for the value in calls of `map` and `fold`.
        """
        header, sizes, blob = _pack(value)
        pieces = [self._submit(bytes, blob[at : at + _PIECE]) for at in range(0, len(blob), _PIECE)]
        return self._submit(_load, header, sizes, *pieces)

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
        futures = self._start(parts, task, shared)
        try:
            self._wait(list(futures), done)
            return [sealed.value for sealed in self.client.gather(futures)]
        except BaseException:
            self.client.cancel(futures)
            raise

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
        runs = runs_of_parts(parts, sum(self.client.nthreads().values()))
        waiting = self._start(runs, FoldRun(task, merge), shared)
        level = list(waiting)
        sizes = {future.key: size_of_run(run) for future, run in zip(waiting, runs, strict=True)}
        try:
            while len(level) > 1:
                groups = (level[at : at + _ARITY] for at in range(0, len(level), _ARITY))
                level = [self._submit(_sealed, merge_all, merge, *group, priority=1) for group in groups]
            self._wait(waiting, done, sizes)
            return level[0].result().value if level else None
        except BaseException:
            self.client.cancel([*waiting, *level])
            raise

    def _start(self, parts: Sequence[Any], task: Callable[..., Any], shared: Sequence[Any]) -> list[Any]:
        return [
            self._submit(_sealed, run_held, task, part.rows, part.place, *shared)
            if isinstance(part, HeldPart)
            else self._submit(_sealed, run, task, part, *shared)
            for part in parts
        ]

    def _submit(self, function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
        return self.client.submit(function, *arguments, pure=False, **options)

    def _wait(self, futures: list[Any], done: Done | None, sizes: Mapping[str, int] | None = None) -> None:
        """Wait for futures and raise the first error; each is dropped, so that workers may forget merged results.

        `sizes` are the numbers of parts of futures that stand for several.
        """
        from distributed import as_completed

        finished = as_completed(futures)
        futures.clear()
        for future in finished:
            if future.status != "finished":
                futures.extend(finished.futures)
                future.result()  # raises
            if done is not None:
                done(1 if sizes is None else sizes[future.key])


class _Sealed:
    """A value that travels as one block of bytes: Dask would send its arrays so that they arrive unaligned."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __reduce__(self) -> tuple[Any, ...]:
        return _load, _pack(self.value)

    def __sizeof__(self) -> int:
        from dask.sizeof import sizeof

        return int(sizeof(self.value))


def _sealed(function: Callable[..., Any], *arguments: Any) -> _Sealed:
    return _Sealed(function(*(one.value if isinstance(one, _Sealed) else one for one in arguments)))


def _pack(value: Any) -> tuple[bytes, list[int], bytes]:
    """A pickle without its arrays, their sizes, and one block of their bytes, each at a multiple of `_ALIGNED`."""
    import cloudpickle

    found: list[pickle.PickleBuffer] = []
    header = cloudpickle.dumps(value, protocol=5, buffer_callback=found.append)
    arrays = [one.raw() for one in found]
    block = b"".join(part for array in arrays for part in (array, bytes(-array.nbytes % _ALIGNED)))
    return header, [array.nbytes for array in arrays], block


def _load(header: bytes, sizes: list[int], *pieces: bytes) -> _Sealed:
    """The value; its arrays are views of the block, of which there is no second copy."""
    block, at, arrays = memoryview(b"".join(pieces)), 0, []
    for size in sizes:
        arrays.append(block[at : at + size])
        at += size + -size % _ALIGNED
    return _Sealed(pickle.loads(header, buffers=arrays))
