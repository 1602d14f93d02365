"""Dask, Ray and Spark on one machine: processor time, time of one and two workers, memory of a worker, lost workers.

Each run has a process of its own, with its cluster; its processor time is that of all its processes during the fit.
Arguments choose the runs: `bench_engines.py local dask-1 dask-2`; all by default. A name that ends in `-killed` loses a
worker in each half of the main stage. `--model forest` grows a forest instead of random trees.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import json
import logging
import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from bench_distributed_forests import N_COLUMNS, write

from hedgerow import ForestClassifier, RandomTreesClassifier, distributed

RUNS = ("local-1", "local-2", "dask-1", "dask-1-malloc", "dask-2", "ray-1", "ray-2", "dask-2-killed", "ray-2-killed")
MODELS: dict[str, Callable[[int], Any]] = {
    "trees": lambda n: RandomTreesClassifier(n, random_state=0),
    "forest": lambda n: ForestClassifier(n, random_state=0),
}
MAIN_STAGE = {"trees": "counting rows in leaves", "forest": "growing trees"}
TICKS = os.sysconf("SC_CLK_TCK")


def processes() -> dict[int, list[str]]:
    """Fields of /proc/PID/stat from the state on, of this process and all below it."""
    every: dict[int, list[str]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            every[int(folder.name)] = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
    below = {os.getpid()}
    while more := {pid for pid, fields in every.items() if int(fields[1]) in below} - below:
        below |= more
    return {pid: every[pid] for pid in below if pid in every}


def processor_time() -> float:
    """Seconds of this process, of all below it, and of those that have ended and were waited for."""
    return sum(int(field) for fields in processes().values() for field in fields[11:15]) / TICKS


def memory(pid: int, name: str) -> int:
    """Bytes of a figure of /proc/PID/status."""
    line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith(name))
    return int(line.split()[1]) * 1024


def is_worker(pid: int, engine: str) -> bool:
    """Whether a process runs tasks."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return False
    if engine == "ray":
        return command.startswith("ray::")
    if engine == "spark":
        return "pyspark.daemon" in command and int(processes()[pid][1]) != os.getpid()
    return "multiprocessing.spawn" in command and "spawn_main" in command


def workers(engine: str) -> list[int]:
    """Processes that run tasks."""
    return [pid for pid in processes() if pid != os.getpid() and is_worker(pid, engine)]


@contextmanager
def engine_of(name: str, n: int, *, malloc: bool = False) -> Iterator[Any]:
    """An engine of n workers on this machine."""
    if name == "local":
        yield distributed.Local(n)
    elif name == "dask":
        import dask
        from dask.distributed import Client, LocalCluster

        given: dict[str, Any] = {"distributed.deploy.lost-worker-timeout": "10 minutes"}
        if malloc:
            given["distributed.nanny.pre-spawn-environ"] = {"OMP_NUM_THREADS": 1}
        with (
            dask.config.set(given),
            LocalCluster(
                n_workers=n,
                threads_per_worker=1,
                memory_limit=0,
                dashboard_address=None,
                silence_logs=logging.CRITICAL,
            ) as cluster,
            Client(cluster) as client,
        ):
            yield distributed.Dask(client)
    elif name == "ray":
        import ray

        os.environ |= {"RAY_AUTH_MODE": "disabled", "RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
        ray.init(num_cpus=n, include_dashboard=False, log_to_driver=False, object_store_memory=1 << 30)
        yield distributed.Ray()
        ray.shutdown()
    else:
        from pyspark.sql import SparkSession

        os.environ |= {"PYSPARK_PYTHON": sys.executable}
        os.environ |= {"PYSPARK_SUBMIT_ARGS": "--driver-memory 2g pyspark-shell"}
        options = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": str(n),
        }
        builder = SparkSession.builder.master(f"local[{n},4]")
        for option, value in options.items():
            builder = builder.config(option, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield distributed.Spark(session)
        session.stop()


def digest(model: Any) -> str:
    """Digest of the trees."""
    forest, found = model.forest_, hashlib.sha256()
    for array in (forest.feature, forest.threshold, forest.first_child, forest.counts):
        found.update(array.tobytes())
    return found.hexdigest()[:12]


def measure(run: str, path: str, model: str, n_trees: int) -> dict[str, Any]:
    """Fit once in this process, and say what it took."""
    engine_name, n_workers, *flags = run.split("-")
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # processes below whose parent ends become children of this one
    rows = distributed.parquet(path, target="y")
    waiting = {3, len(rows.parts) // 2 + 1} if "killed" in flags else set()
    stages: dict[str, float] = {}

    def progress(stage: str, n_done: int, total: int) -> None:
        stages.setdefault(stage, time.perf_counter())
        if stage == MAIN_STAGE[model] and waiting and n_done >= min(waiting):
            waiting.remove(min(waiting))
            if others := workers(engine_name):
                os.kill(max(others), signal.SIGKILL)

    with engine_of(engine_name, int(n_workers), malloc="malloc" in flags) as engine:
        small = distributed.PartedRows(rows.parts[:2], rows.schema, 2 * rows.parts[0].n_rows, rows.inputs, "y")
        distributed.fit(MODELS[model](1), small, engine)  # every worker has imported all
        others = [os.getpid()] if engine_name == "local" else workers(engine_name)
        for pid in others:
            Path(f"/proc/{pid}/clear_refs").write_text("5")  # forget the peak
        before = {pid: memory(pid, "VmRSS") for pid in others}
        start, begun = time.perf_counter(), processor_time()
        fitted = distributed.fit(MODELS[model](n_trees), rows, engine, progress=progress)
        taken, cpu = time.perf_counter() - start, processor_time() - begun
        more = [memory(pid, "VmHWM") - before[pid] for pid in others if Path(f"/proc/{pid}").exists()]
        held = sum(array.nbytes for array in fitted.forest_.parts().values() if hasattr(array, "nbytes"))
    times = list(stages.items())
    return {
        "run": run,
        "cpu": cpu,
        "wall": taken,
        "worker": max(more, default=0),
        "part": rows.parts[0].n_rows * N_COLUMNS * 8,
        "model": held,
        "digest": digest(fitted),
        "stages": {
            name: round(after - at, 1)
            for (name, at), (_, after) in zip(times, [*times[1:], ("", start + taken)], strict=True)
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="*", default=RUNS)
    parser.add_argument("--model", choices=MODELS, default="trees")
    parser.add_argument("--trees", type=int, default=10)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--data", help="file of rows that an earlier run has written, or that this one writes")
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        warnings.simplefilter("ignore")
        print(json.dumps(measure(given.runs[0], given.one, given.model, given.trees)), flush=True)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(given.data or Path(folder, "rows.parquet"))
        if not path.exists():
            write(path, given.rows)
        n_rows = pq.read_metadata(path).num_rows
        print(f"{given.trees} {given.model}, {n_rows:,} rows x {N_COLUMNS}")
        print("run              processor s   wall s   worker MB beside imports   part MB   model MB   digest")
        for run in given.runs:
            command = [sys.executable, __file__, run, "--one", str(path), "--model", given.model, "--trees"]
            text = subprocess.run([*command, str(given.trees)], check=True, stdout=subprocess.PIPE, text=True).stdout
            found = json.loads(text.splitlines()[-1])
            mega = {name: found[name] / 1e6 for name in ("worker", "part", "model")}
            print(
                f"{run:<16} {found['cpu']:11.1f} {found['wall']:8.1f} {mega['worker']:26.0f} {mega['part']:9.0f} "
                f"{mega['model']:10.1f}   {found['digest']}",
                flush=True,
            )
            print(f"    {found['stages']}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
