"""A fit on a cluster is the fit in one process, whatever happens to the workers."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Thread
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from distributed_failures import deadly, deaths, enter_stage, leave_mark
from distributed_problems import ESTIMATORS, KINDS, PARTS, digest, table_of, write
from effort import daily, daily_pairs, examples
from hedgerow import distributed

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # of the engines
]


def rows_of(kind: str, folder: Path, n_parts: int = 4) -> distributed.PartedRows:
    path = write(table_of(kind), folder / f"{kind}.parquet")
    return distributed.parquet(path, target="outcome", weight="weight" if kind == "weights" else None, n_parts=n_parts)


def fitted(estimator: Any, rows: distributed.PartedRows, engine: Any = None, **options: Any) -> str:
    return digest(distributed.fit(estimator, rows, engine, structure_rows=300, **options))


@pytest.mark.parametrize(
    ("estimator", "kind"),
    daily_pairs(ESTIMATORS, KINDS),
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_parts_do_not_change_a_bit(engine: Any, estimator: Any, kind: str, tmp_path: Path) -> None:
    expected = fitted(estimator, rows_of(kind, tmp_path, 1))
    assert {fitted(estimator, rows_of(kind, tmp_path, n), engine) for n in PARTS} == {expected}


@pytest.mark.parametrize("estimator", daily(ESTIMATORS[1:2], ESTIMATORS), ids=lambda model: type(model).__name__)
def test_a_worker_that_is_killed_in_each_pass_costs_nothing_but_time(
    engine: Any, estimator: Any, tmp_path: Path
) -> None:
    rows = rows_of("missing", tmp_path, 7)  # more parts than the forest has trees: stages of trees read no parts
    folder = tmp_path / "deaths"
    passes: set[str] = set()

    def watch(stage: str, n_done: int, n_parts: int) -> None:
        if n_done == 0 and len(passes) < examples(2, 99):  # a worker that starts again takes seconds
            enter_stage(folder, stage)
            if n_parts == len(rows.parts):
                passes.add(stage)

    survivors = deadly(rows, folder, 1)
    assert fitted(estimator, survivors, engine, progress=watch) == fitted(estimator, rows)
    assert deaths(folder) == passes
    assert len(passes) > examples(1, 2)


def test_two_fits_at_once_do_not_meet(engine: Any, tmp_path: Path) -> None:
    rows = [rows_of(kind, tmp_path) for kind in ("numbers", "nominal")]
    found: dict[int, str] = {}

    def fit(number: int) -> None:
        found[number] = fitted(ESTIMATORS[0], rows[number], engine)

    threads = [Thread(target=fit, args=(number,)) for number in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: fitted(ESTIMATORS[0], one) for number, one in enumerate(rows)}


@pytest.mark.parametrize("verb", ["map", "fold"])
def test_an_interrupt_cancels_what_was_submitted(engine: Any, verb: str, tmp_path: Path) -> None:
    def interrupt(n_parts: int) -> None:
        raise KeyboardInterrupt

    def press_keys() -> None:
        while not any(tmp_path.iterdir()):
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    more: Any = {"merge": max} if verb == "fold" else {}
    if isinstance(engine, distributed.Spark):  # which reports progress when a pass has ended
        Thread(target=press_keys).start()
    else:
        more["done"] = interrupt
    with pytest.raises(KeyboardInterrupt):
        getattr(engine, verb)(range(150), leave_mark, str(tmp_path), **more)
    gc.collect()
    assert engine.map([151], leave_mark, str(tmp_path)) == [151]  # the cluster is as it was
    time.sleep(1)
    assert len(list(tmp_path.iterdir())) < 100


def test_what_is_wrong_in_a_part_is_said_as_in_one_process(engine: Any, tmp_path: Path) -> None:
    table = table_of("numbers")
    table = table.set_column(4, "outcome", pa.array([*table["outcome"].to_pylist()[:-3], None, "well", "sick"]))
    path = write(table, tmp_path / "rows.parquet")
    rows = distributed.parquet(path, target="outcome", n_parts=4)
    with pytest.raises(ValueError, match=r"rows.parquet: row 1398 has no value of 'outcome': drop the rows whose"):
        fitted(ESTIMATORS[0], rows, engine)


def test_a_task_may_fold_several_parts(engine: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hedgerow.distributed.engines.runs_of_parts._RUNS_PER_CORE", 1)
    finished: list[int] = []
    assert engine.fold(list(range(11)), pow, 2, merge=max, done=finished.append) == 100
    assert sum(finished) == 11


def test_no_parts_have_no_results(engine: Any) -> None:
    assert engine.map([], leave_mark, "") == []
    assert engine.fold([], leave_mark, "", merge=max) is None


def test_parts_may_be_empty_and_have_one_class_only(engine: Any, tmp_path: Path) -> None:
    table = table_of("missing").sort_by("outcome")
    whole = tmp_path / "whole.parquet"
    pq.write_table(table, whole)
    for number, first in enumerate((0, 0, 900, 1_400)):  # none, one class, both, none
        some = table.slice(first, (0, 900, 500, 0)[number])
        pq.write_table(some, tmp_path / f"part-{number}.parquet")
    rows = distributed.parquet(tmp_path / "part-*.parquet", target="outcome")
    expected = fitted(ESTIMATORS[0], distributed.parquet(whole, target="outcome"))
    assert fitted(ESTIMATORS[0], rows, engine) == expected


@pytest.mark.thorough
@pytest.mark.xdist_group("dask")
def test_workers_may_come_and_go_during_a_fit(dask_engine: Any, tmp_path: Path) -> None:
    cluster = dask_engine.client.cluster
    sizes = {"choosing rows for the structure": 3, "counting rows in leaves": 1}

    def scale(stage: str, n_done: int, n_parts: int) -> None:
        if n_done == 1 and stage in sizes:
            cluster.scale(sizes[stage])

    rows = rows_of("numbers", tmp_path, 7)
    try:
        assert fitted(ESTIMATORS[0], rows, dask_engine, progress=scale) == fitted(ESTIMATORS[0], rows)
    finally:
        cluster.scale(2)
        dask_engine.client.wait_for_workers(2)


@pytest.mark.thorough
@pytest.mark.xdist_group("dask")
def test_the_example_of_two_workers_runs(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    script = Path(__file__).parents[3] / "examples" / "two_workers.py"
    run = subprocess.run([sys.executable, script, str(tmp_path)], check=False, capture_output=True, text=True)
    assert "the same forest as in one process, bit for bit" in run.stdout, run.stderr
    assert pq.read_metadata(tmp_path / "answers.parquet").num_rows == 20_000
