from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from joblib import Parallel, delayed, parallel_config

from effort import daily
from hedgerow.forest.build import build_forest, leaf, threshold
from hedgerow.walk import LeafTable, fold
from hedgerow.walk.walks import n_threads

# 300 trees pass over 16 384 rows, and each adds 64 columns for each of 2 000 tables: 6e11 additions, which take
# minutes on any machine. All tables share one output, so that it takes little memory. 64 features make blocks of 256
# rows: a worker sees that it shall end after each tree of a block, every 3e7 additions.
LONG_FOLD = """
import signal, sys
import numpy as np
from joblib import effective_n_jobs  # which the walk would import: Ctrl-C is to end the walk, and no import
from hedgerow.forest.build import build_forest, leaf, threshold
from hedgerow.walk import LeafTable, fold

# A parent that was started in the background may have left the signal ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
forest = build_forest([threshold(0, 0.5, leaf([1.0]), leaf([2.0]))] * 300, 64)
X = np.random.default_rng(0).random((16_384, 64))
table = LeafTable.of(np.ones((forest.n_leaves, 64)))
out = np.zeros((len(X), 64))
print("started", flush=True)
try:
    fold(forest, X, [table] * 2_000, out=[out] * 2_000, n_jobs=int(sys.argv[1]))
except KeyboardInterrupt:
    print("interrupted", flush=True)
else:
    print("finished", flush=True)
# The next call finds nothing left over of the one that was ended.
print(fold(forest, X[:9], [LeafTable.of(forest.leaf_counts)], n_jobs=2)[0].shape)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot send SIGINT to one process")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_ends_a_long_walk(n_jobs: int) -> None:
    command = [sys.executable, "-c", LONG_FOLD, str(n_jobs)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "started\n"
            time.sleep(1)
            assert process.poll() is None
            process.send_signal(signal.SIGINT)
            # It takes a fraction of a second; a busy machine may need more, but far less than the whole fold.
            output, errors = process.communicate(timeout=20)
        finally:
            process.kill()
    assert output.splitlines() == ["interrupted", "(9, 1)"], errors
    assert process.returncode == 0


# A million million draws for ten rows: days. Few rows alone would make it work that is too short for a thread.
MANY_DRAWS = """
import signal
import numpy as np
from hedgerow import ForestClassifier

signal.signal(signal.SIGINT, signal.default_int_handler)
X = np.arange(10.0)[:, np.newaxis]
model = ForestClassifier(n_estimators=1, max_samples=2**32 - 1, random_state=0)
print("started", flush=True)
try:
    model.fit(X, X[:, 0] > 4)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot send SIGINT to one process")
def test_ctrl_c_ends_bootstrap_draws() -> None:
    command = [sys.executable, "-c", MANY_DRAWS]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "started\n"
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            output, errors = process.communicate(timeout=20)
        finally:
            process.kill()
    assert (output, process.returncode) == ("interrupted\n", 0), errors


def test_more_threads_than_blocks_do_no_harm() -> None:
    forest = build_forest([threshold(0, 0.5, leaf([1.0]), leaf([2.0]))] * 20, 1)
    X = np.linspace(0, 1, 1001)[:, None]  # one block, but enough walks for threads
    expected = np.where(X <= 0.5, 20.0, 40.0)
    assert np.array_equal(fold(forest, X, [LeafTable.of(forest.counts)], n_jobs=16)[0], expected)


def test_python_goes_on_during_a_walk() -> None:
    forest = build_forest([threshold(0, 0.5, leaf([1.0]), leaf([2.0]))] * 300, 1)
    X = np.random.default_rng(0).random((400_000, 1))
    out = np.zeros((len(X), 1))
    with ThreadPoolExecutor(1) as pool:
        folding = pool.submit(fold, forest, X, [LeafTable.of(forest.counts)], out=[out])
        in_between = False
        while not (folding.done() or in_between):
            last, first = out[-1, 0], out[0, 0]  # in this order: the first block is walked before the last
            in_between = bool(first > 0 and last == 0)
    assert in_between


def threads_in_worker(_: int) -> list[int]:
    return [n_threads(n_jobs) for n_jobs in (None, -1, 3)]


def test_workers_of_joblib_do_not_take_more_threads_than_their_share(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    cores = n_threads(-1)
    assert Parallel(2, backend="threading")(delayed(threads_in_worker)(i) for i in range(2)) == [[1, 1, 3]] * 2
    share = max(cores // 2, 1)
    assert Parallel(2, backend="loky")(delayed(threads_in_worker)(i) for i in range(2)) == [[1, share, 3]] * 2
    with parallel_config(backend="threading", n_jobs=2):
        assert threads_in_worker(0) == [2, cores, 3]
    assert n_threads(-1) == cores


def test_walks_can_run_at_the_same_time_in_threads_of_python() -> None:
    forest = build_forest([threshold(0, i / 40, leaf([1.0]), leaf([2.0])) for i in range(40)], 1)
    table = LeafTable.of(forest.counts)
    rows = [np.random.default_rng(i).random((5000, 1)) for i in range(8)]
    alone = [fold(forest, X, [table])[0] for X in rows]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda X: fold(forest, X, [table], n_jobs=2)[0], rows))
    assert all(np.array_equal(a, b) for a, b in zip(alone, together, strict=True))


# A daemon thread is in the core most of the time; when the interpreter shuts down it may be about to poll for signals,
# or to return.
DAEMON = """
import sys, threading, time
import numpy as np
from hedgerow import ForestClassifier

rng = np.random.default_rng(0)
X = rng.random((20_000, 10))
model = ForestClassifier(n_estimators=20, n_jobs=2, random_state=0)
model.fit(X[:2000], X[:2000, 0] > 0.5)
work = (lambda: model.predict_proba(X)) if sys.argv[1] == "predict" else (lambda: model.fit(X, X[:, 0] > 0.5))

def forever():
    while True:
        work()

for _ in range(3):
    threading.Thread(target=forever, daemon=True).start()
time.sleep(0.3)
"""


@pytest.mark.parametrize("work", daily(["fit"], ["predict", "fit"]))
def test_the_interpreter_can_exit_while_daemon_threads_are_in_the_core(work: str) -> None:
    done = subprocess.run([sys.executable, "-c", DAEMON, work], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


# Address space for a few more megabytes is enough for the answer, but for no thread's stack.
NO_THREADS = """
import resource
from pathlib import Path
import numpy as np
from joblib import effective_n_jobs  # imported before there is no memory for it
from hedgerow.forest.build import build_forest, leaf, threshold
from hedgerow.walk import LeafTable, fold

forest = build_forest([threshold(0, 0.5, leaf([1.0]), leaf([2.0]))] * 300, 1)
X = np.random.default_rng(0).random((10_000, 1))
table = LeafTable.of(forest.counts)
expected = np.where(X <= 0.5, 300.0, 600.0)
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (6 << 20), -1))
assert np.array_equal(fold(forest, X, [table], n_jobs=2)[0], expected)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of Linux")
def test_the_calling_thread_works_where_no_other_can_be_started() -> None:
    done = subprocess.run([sys.executable, "-c", NO_THREADS], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


# What a worker throws where memory is short reaches the caller.
NO_MEMORY = """
import resource
from pathlib import Path
import numpy as np
from joblib import effective_n_jobs
from hedgerow.forest.build import build_forest, leaf, threshold
from hedgerow.walk import spread

forest = build_forest([threshold(0, 0.5, leaf([1.0]), leaf([2.0]))] * 300, 1)
X = np.full((100_000, 1), np.nan)
spread(forest, X[:100], n_jobs=2)
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (60 << 20), -1))
try:
    spread(forest, X, n_jobs=2)
except MemoryError:
    print("MemoryError")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of Linux")
@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="its allocator ends the process")
def test_too_little_memory_in_a_worker_is_a_memory_error() -> None:
    done = subprocess.run([sys.executable, "-c", NO_MEMORY], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "MemoryError\n"), done.stderr


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc of Linux")
def test_n_jobs_does_not_start_threads_without_end() -> None:
    forest = build_forest([threshold(0, 0.5, leaf([1.0]), leaf([2.0]))] * 300, 1)
    X = np.random.default_rng(0).random((200_000, 1))
    table, most = LeafTable.of(forest.counts), 0
    with ThreadPoolExecutor(1) as pool:
        before = len(os.listdir("/proc/self/task"))
        folding = pool.submit(fold, forest, X, [table], n_jobs=2**31)
        while not folding.done():
            most = max(most, len(os.listdir("/proc/self/task")) - before)
    assert most <= 1 + 4 * max(os.cpu_count() or 1, 2)
