"""A Spark session, classic or Connect: data frames only, mapped in Arrow."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import Any
from uuid import uuid4

from hedgerow.distributed.engine import Done, add
from hedgerow.distributed.engines.needs import needs
from hedgerow.distributed.engines.runs_of_parts import FoldRun, runs_of_parts
from hedgerow.distributed.engines.spark_tasks import Pieces, Task, Whole, add_pieces, merging, share_file, whole_arrays
from hedgerow.distributed.rows.parts import HeldPart

__all__ = ["Spark"]

_ARITY = 8  # results that are merged by a task


class Spark:
    """Engine of a Spark session, of 4.0 or newer, also through Spark Connect.

    Tasks that were on a lost executor run again. A fit that is interrupted cancels what it has submitted. Progress is
    reported when a pass has ended.

    Parameters
    ----------
    session : pyspark.sql.SparkSession or None, default=None
        None for the active session, or a new one. Every executor needs hedgerow in its Python, which the variable
        PYSPARK_PYTHON names.

    Examples
    --------
    >>> from pyspark.sql import SparkSession  # doctest: +SKIP
    >>> from hedgerow.distributed import Spark  # doctest: +SKIP
    >>> engine = Spark(SparkSession.builder.remote("sc://host:15002").getOrCreate())  # doctest: +SKIP
    """

    def __init__(self, session: Any = None) -> None:
        with needs("Spark", "spark"):
            from pyspark.sql import SparkSession
        if session is None:
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # executors on this machine
            session = SparkSession.builder.config("spark.ui.showConsoleProgress", "false").getOrCreate()
        self.session = session

    def share(self, value: Any) -> Any:
        """A broadcast variable; through Connect, which has none, a file that every executor fetches.

        Parameters
        ----------
        value
            What all tasks need.

        Returns
        -------
        object
            What stands for the value in calls of `map` and `fold`.
        """
        context = getattr(self.session, "_sc", None)
        return share_file(self.session, value) if context is None else context.broadcast(value)

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
        if not parts:
            return []
        with self._cancelled_on_errors():
            table = self._mapped(parts, Task(task, shared, Whole())).toArrow()
        return [result for _, result in _results(table, len(parts), done)]

    def fold(
        self,
        parts: Sequence[Any],
        task: Callable[..., Any],
        *shared: Any,
        merge: Callable[[Any, Any], Any],
        done: Done | None = None,
    ) -> Any:
        """Results of all parts: arrays are added up in pieces, anything else is merged by some.

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
        if not parts:
            return None
        adds = merge is add
        emit: Any = Pieces() if adds else Whole(_ARITY)
        with self._cancelled_on_errors():
            context = getattr(self.session, "_sc", None)  # Connect has none, and does not tell how many cores there are
            runs = parts if context is None else runs_of_parts(parts, context.defaultParallelism)
            groups = self._mapped(runs, Task(FoldRun(task, merge), shared, emit)).groupBy("name", "at")
            table = groups.applyInArrow(merging(add_pieces if adds else merge), Task.schema).toArrow()
        found = list(_results(table, len(parts), done))
        return whole_arrays(found) if adds else reduce(merge, (result for _, result in found))

    def _mapped(self, parts: Sequence[Any], task: Task) -> Any:
        if isinstance(parts[0], HeldPart):
            frame, places = parts[0].rows[0], {part.rows[1]: (at, part.place) for at, part in enumerate(parts)}
            return frame.mapInArrow(task.on_rows(places), Task.schema)
        import pyarrow as pa

        recipes = pa.table({"at": pa.array(range(len(parts)), pa.int64()), "part": [pickle.dumps(p) for p in parts]})
        frame = self.session.createDataFrame(recipes).repartitionByRange(len(parts), "at")
        return frame.mapInArrow(task.on_recipes, Task.schema)

    @contextmanager
    def _cancelled_on_errors(self) -> Iterator[None]:
        tag = f"hedgerow-{uuid4().hex}"
        self.session.addTag(tag)
        try:
            yield
        except BaseException as error:
            self.session.interruptTag(tag)
            if _is_interrupt(error):
                raise KeyboardInterrupt from None
            raise
        finally:
            self.session.removeTag(tag)


def _is_interrupt(error: BaseException | None) -> bool:
    """Whether an error follows from Ctrl-C: Spark then raises that its job was cancelled."""
    return error is not None and (isinstance(error, KeyboardInterrupt) or _is_interrupt(error.__context__))


def _results(table: Any, n_parts: int, done: Done | None) -> Iterator[tuple[tuple[str, int], Any]]:
    """Keys and values of a finished pass, in the order of the keys; raises the first part's error as it was."""
    columns = (table.column(name).to_pylist() for name in ("name", "at", "data"))
    rows = sorted(zip(*columns, strict=True), key=lambda row: row[:2])
    for name, _, data in rows:
        if name == "":
            raise pickle.loads(data)
    if done is not None:
        done(n_parts)
    for name, at, data in rows:
        yield (name, at), pickle.loads(data)
