"""Forests and random trees on rows in parts: processor time, memory, bytes that move, and what smaller bags cost.

`--large` adds 10,000,000 rows out of core, or as many as it says, and forests of bags from more rows; it takes a
quarter of an hour on an idle machine and 2 GB on disk.
"""

from __future__ import annotations

import argparse
import json
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial, reduce
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from sklearn.base import clone
from sklearn.metrics import log_loss, roc_auc_score

from hedgerow import ForestClassifier, RandomTreesClassifier, distributed

N_COLUMNS = 20
GROUP = 1 << 17


def block(number: int, n_rows: int) -> pa.Table:
    """Rows of two classes, which five of the columns tell apart, more or less."""
    rng = np.random.default_rng([1, number])
    X = rng.standard_normal((n_rows, N_COLUMNS), dtype=np.float32).astype(np.float64)
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.7 * np.sin(2 * X[:, 3]) + 0.5 * X[:, 4] + rng.standard_normal(n_rows)
    columns: dict[str, Any] = {f"x{j}": X[:, j] for j in range(N_COLUMNS)}
    return pa.table(columns | {"y": (score > 0.3).astype(np.int32)})


def write(path: Path, n_rows: int) -> str:
    """A Parquet file of so many rows."""
    with pq.ParquetWriter(path, block(0, 0).schema, compression="zstd", use_dictionary=["y"]) as out:
        for number, first in enumerate(range(0, n_rows, GROUP)):
            out.write_table(block(number, min(GROUP, n_rows - first)), row_group_size=GROUP)
    return str(path)


class Counting:
    """Threads of this process that count the bytes which an engine with workers would send."""

    def __init__(self, n_jobs: int = 1) -> None:
        self.engine = distributed.Local(n_jobs)
        self.there, self.back = 0, 0

    def share(self, value: Any) -> Any:
        self.there += len(pickle.dumps(value))
        return value

    def map(self, parts: Sequence[Any], task: Callable[..., Any], *shared: Any, done: Any = None) -> list[Any]:
        self.there += sum(len(pickle.dumps(part)) for part in parts)
        results = self.engine.map(parts, task, *shared, done=done)
        self.back += sum(len(pickle.dumps(result)) for result in results)
        return results

    def fold(self, parts: Sequence[Any], task: Callable[..., Any], *shared: Any, merge: Any, done: Any = None) -> Any:
        return reduce(merge, self.map(parts, task, *shared, done=done))


def processor(job: Callable[[], object]) -> float:
    """Seconds of processor time."""
    start = time.process_time()
    job()
    return time.process_time() - start


def threads(path: str) -> None:
    """Processor time of two threads against one."""
    print("\nprocessor time of Local(2) / Local(1), and of the same fit in one process / Local(1)")
    rows = distributed.parquet(path, target="y")
    table = pq.read_table(path)
    X, y = table.drop_columns(["y"]), table["y"].to_numpy()
    forest = ForestClassifier(bootstrap="poisson", random_state=0)
    for name, model in (
        ("random trees, 10", RandomTreesClassifier(10, random_state=0)),
        ("forest, 6 trees", clone(forest).set_params(n_estimators=6)),
        ("forest, 20 trees, bags of 2**14", clone(forest).set_params(n_estimators=20, max_samples=1 << 14)),
    ):
        one = processor(partial(distributed.fit, model, rows, distributed.Local(1)))
        two = processor(partial(distributed.fit, model, rows, distributed.Local(2)))
        whole = processor(partial(model.fit, X, y))
        print(f"  {name:<40} {one:6.1f} s  {two / one:5.2f}  {whole / one:5.2f}")


def bytes_moved(path: str) -> None:
    """Bytes to the tasks and back, by the way of growing."""
    rows = distributed.parquet(path, target="y")
    print(f"\nMB sent to tasks and back, {rows.n_rows:,} rows x {N_COLUMNS}, 20 trees")
    for name, settings, memory in (
        ("codes of all rows, to each worker", {}, 1 << 30),
        ("bags of 2**16 rows", {"max_samples": 1 << 16}, 1 << 30),
        ("bags of 2**12 rows", {"max_samples": 1 << 12}, 1 << 30),
    ):
        engine = Counting()
        model = ForestClassifier(20, bootstrap="poisson", random_state=0, **settings)
        fitted = distributed.fit(model, rows, engine, memory=memory)
        print(
            f"  {name:<36} {engine.there / 1e6:8.1f} there {engine.back / 1e6:8.1f} back; "
            f"model {len(pickle.dumps(fitted)) / 1e6:6.1f}"
        )


OUT_OF_CORE = """
import json, resource, sys, time
from hedgerow import ForestClassifier, RandomTreesClassifier, distributed
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
model = eval(sys.argv[2])
rows = distributed.parquet(sys.argv[1], target="y")
peak = 0
def anonymous():
    return int(next(line for line in open("/proc/self/status") if line.startswith("RssAnon")).split()[1])
def progress(stage, done, total):
    global peak
    peak = max(peak, anonymous())
start = time.process_time()
distributed.fit(model, rows, distributed.Local(2), memory=int(sys.argv[3]), progress=progress)
peak = max(peak, anonymous())
print(json.dumps([before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, peak, time.process_time() - start]))
"""


def out_of_core(path: str) -> None:
    """Resident memory of fits in a process of their own, two threads."""
    n_rows = pq.ParquetFile(path).metadata.num_rows
    print(f"\nout of core, {n_rows:,} rows x {N_COLUMNS} ({n_rows * N_COLUMNS * 8 / 1e9:.2f} GB as numbers)")
    print(
        "  model                                                     imports  peak resident  not of files   processor"
    )
    for model in (
        "RandomTreesClassifier(10, random_state=0)",
        "ForestClassifier(4, max_samples=2**18, random_state=0)",
        "ForestClassifier(2, random_state=0)",
    ):
        command = [sys.executable, "-c", OUT_OF_CORE, path, model, str(64 << 20)]
        found = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        before, most, anonymous, taken = json.loads(found)
        print(f"  {model:<56} {before / 1e6:5.2f} GB {most / 1e6:10.2f} GB {anonymous / 1e6:10.2f} GB {taken:10.0f} s")


def bags(path: str) -> None:
    """What bags of part of the rows are worth: accuracy, AUC and log-loss on rows that no forest has seen."""
    test = block(1 << 20, 60_000)
    X, y = test.drop_columns(["y"]), test["y"].to_numpy()
    n_rows = pq.ParquetFile(path).metadata.num_rows
    print(f"\n20 trees, at most {n_rows:,} rows: accuracy, AUC, log-loss of 60,000 other rows, million leaves")
    for name, most, settings in (
        ("full bags of 250,000 rows", 250_000, {}),
        ("bags of 250,000 from all rows", n_rows, {"max_samples": 250_000}),
        ("full bags of all rows", n_rows, {}),
    ):
        rows = distributed.parquet(path, target="y")
        if most < n_rows:
            kept = [part for part in rows.parts if part.first + part.n_rows <= most]
            rows = distributed.PartedRows(
                tuple(kept), rows.schema, sum(part.n_rows for part in kept), rows.inputs, "y", None
            )
        start = time.process_time()
        model = distributed.fit(ForestClassifier(20, random_state=0, **settings), rows, distributed.Local(2))
        p = model.predict_proba(X)[:, 1]
        print(
            f"  {name:<34} {rows.n_rows:>10,} rows  {((p > 0.5) == y).mean():.4f}  {roc_auc_score(y, p):.4f}  "
            f"{log_loss(y, p):.4f}  {model.forest_.n_leaves / 1e6:.2f}  processor {time.process_time() - start:.0f} s"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", nargs="?", type=int, const=10_000_000, metavar="ROWS")
    large = parser.parse_args().large
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder, "rows.parquet"), 200_000)
        threads(path)
        bytes_moved(path)
        if large:
            out_of_core(write(Path(folder, "large.parquet"), large))
            bags(write(Path(folder, "medium.parquet"), 1_500_000))


if __name__ == "__main__":
    main()
