"""`ForestClassifier().fit` on a GPU beside all cores of the machine, with the forest compared bit for bit.

Everything that `fit` does is timed: reading X, bins, growth, calibration, copies. "new" is the first fit of a size in a
process that has fitted a small forest before, so that kernels are compiled and memory is not yet there; "again" is the
least time of the following rounds, in which both take turns.
"""

import argparse
import os
import platform
import time
from typing import Any

import numpy as np
from sklearn.datasets import make_classification
from timing import best_of

from hedgerow import ForestClassifier

ARRAYS = ("threshold", "feature", "first_child", "weight", "kind", "tree_start", "leaf_start", "leaf_counts")


def problem(n_rows: int, kind: str) -> tuple[np.ndarray, np.ndarray]:
    n_classes = 7 if kind == "7 classes" else 2
    X, y = make_classification(n_rows, 20, n_informative=8, n_classes=n_classes, random_state=0)
    if kind == "10 % missing":
        X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    return X, y


def seconds(model: Any, X: np.ndarray, y: np.ndarray) -> float:
    start = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - start


def compare(n_rows: int, kind: str, rounds: int, parameters: dict[str, Any]) -> None:
    X, y = problem(n_rows, kind)
    cpu = ForestClassifier(random_state=0, n_jobs=-1, **parameters)
    gpu = ForestClassifier(random_state=0, n_jobs=-1, **parameters).to("cuda")
    new = {"cpu": seconds(cpu, X, y), "gpu": seconds(gpu, X, y)}
    again = best_of({"cpu": lambda: cpu.fit(X, y), "gpu": lambda: gpu.fit(X, y)}, rounds)
    same = all(getattr(cpu.forest_, name).tobytes() == getattr(gpu.forest_, name).tobytes() for name in ARRAYS)
    same &= getattr(cpu, "rule_", None) == getattr(gpu, "rule_", None)
    of_times = [
        f"{1e3 * time['cpu']:7.0f} | {1e3 * time['gpu']:6.0f} | {time['cpu'] / time['gpu']:5.1f}"
        for time in (new, again)
    ]
    bits = "same bits" if same else "OTHER BITS"
    print(f"| {n_rows:,} × 20 {kind} | {cpu.forest_.n_nodes:,} | {' | '.join(of_times)} | {bits} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[20_000, 200_000, 1_000_000])
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    import cupy

    name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    print(f"{name}, CuPy {cupy.__version__}; {os.cpu_count()} cores, Python {platform.python_version()}")
    small = problem(2000, "")
    for parameters in ({}, {"oob_score": True, "n_estimators": 50}):
        ForestClassifier(random_state=0, **parameters).to("cuda").fit(*small)
    print("| rows | nodes | new: CPU ms | GPU ms | × | again: CPU ms | GPU ms | × | |")
    print("|---|---|---|---|---|---|---|---|---|")
    for n_rows in arguments.rows:
        compare(n_rows, "", arguments.rounds, {})
    for kind in ("7 classes", "10 % missing"):
        compare(200_000, kind, 2, {})
    for splitter in ("best", "random"):
        compare(200_000, f'splitter="{splitter}"', 2, {"splitter": splitter})


if __name__ == "__main__":
    main()
