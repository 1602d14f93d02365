"""Answers on a GPU about four million rows: every rule, sets, bounds and uncertainty, with the CPU's bits checked.

The forest is 100 full trees of 20,000 x 20. Rates are millions of rows a second, least time of several rounds, rows and
answers on the device, beside averaging; then the same from and to the memory of the host, beside all cores of the
machine. `--rows` for fewer rows.
"""

import argparse
import os
import platform
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.datasets import make_classification

from hedgerow import (
    CautiousForestClassifier,
    ForestClassifier,
    ForestRegressor,
    RandomTreesClassifier,
    RuleClassifier,
    rules,
)
from hedgerow.gpu import CudaDevice, DeviceWalk, open_device
from hedgerow.walk import LeafTable, fold

N_TRAIN, N_COLUMNS, N_TREES = 20_000, 20, 100
N_CHECKED = 20_000
N_DISTINCT = 200_000
PLAIN: dict[str, Any] = {"calibration": None, "min_samples_split": 2, "splitter": "best"}
SEEDED: dict[str, Any] = {"random_state": 0, "n_jobs": -1}


def problem(kind: str, n_rows: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Training rows with labels, and rows to answer: a few hundred thousand distinct ones over and over."""
    X, y = make_classification(
        N_TRAIN + N_DISTINCT,
        N_COLUMNS,
        n_informative=9,
        n_redundant=1,
        n_clusters_per_class=4,
        flip_y=0.06,
        class_sep=0.8,
        random_state=41,
    )
    if kind == "10 % missing":
        X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    if kind == "half nominal":
        for j in range(0, N_COLUMNS, 2):
            codes = np.searchsorted(np.quantile(X[:, j], np.linspace(0, 1, 9)[1:-1]), X[:, j])
            X[:, j] = np.random.default_rng(j).permutation(8)[codes]
    rows = np.resize(X[N_TRAIN:], (n_rows, N_COLUMNS))
    return X[:N_TRAIN], y[:N_TRAIN], rows


def least_seconds(job: Callable[[], object], rounds: int) -> float:
    """Least seconds of a job, until the device has finished all of it; the first run is not timed."""
    import cupy

    best = float("inf")
    for number in range(rounds + 1):
        cupy.cuda.Device().synchronize()
        start = time.perf_counter()
        job()
        cupy.cuda.Device().synchronize()
        if number:
            best = min(best, time.perf_counter() - start)
    return best


def parts(answer: Any) -> list[np.ndarray]:
    """Arrays of an answer, on the host."""
    arrays = [answer.total, answer.aleatoric, answer.epistemic] if hasattr(answer, "total") else [answer]
    return [array.get() if hasattr(array, "get") else np.asarray(array) for array in arrays]


def difference(found: Any, expected: Any) -> str:
    """ "same bits", or the largest difference."""
    pairs = list(zip(parts(found), parts(expected), strict=True))
    if all(one.tobytes() == other.tobytes() for one, other in pairs):
        return "same bits"
    return f"differ by {max(float(np.nanmax(np.abs(one - other))) for one, other in pairs):.1e}"


def verbs(model: Any) -> Iterator[tuple[str, str, Any]]:
    """What is asked of which model: a name, a verb, and the model."""
    for name in ("probability", *(rule for rule in rules.names() if rule != "probability")):
        yield f"rule {name}", "predict_proba", RuleClassifier.from_fitted(model, rule=name)
    yield "predict_uncertainty", "predict_uncertainty", model


def print_rates(title: str, jobs: list[tuple[str, str, Any]], X: np.ndarray, rounds: int, average: float) -> float:
    """Print rows a second of each verb on the device; returns that of the first one."""
    import cupy

    device_rows = cupy.asarray(X)
    first = 0.0
    print(f"\n{title}: {len(X):,} rows on the device")
    for name, verb, model in jobs:
        moved = model.to("cuda")
        ask = getattr(moved, verb)
        same = difference(ask(device_rows[:N_CHECKED]), getattr(model, verb)(X[:N_CHECKED]))
        rate = len(X) / least_seconds(lambda ask=ask: ask(device_rows), rounds) / 1e6
        first = first or rate
        print(f"  {name:<34} {rate:8.1f} M rows/s {rate / (average or first):6.2f}   {same}", flush=True)
    return first


def print_folds(model: Any, X: np.ndarray, device: CudaDevice, rounds: int) -> None:
    """Print rows a second of the walk alone: averages of the classes' shares in leaves."""
    import cupy

    forest = model.forest_
    table = LeafTable.by_counts(forest.distinct_counts, lambda c: LeafTable.of(c / c.sum(axis=1, keepdims=True)))
    device_rows = cupy.asarray(X)
    walk = DeviceWalk(forest, device)
    (expected,) = fold(forest, X[:N_CHECKED], [table], n_jobs=-1)
    (found,) = walk.fold(device_rows[:N_CHECKED], [table])
    rate = len(X) / least_seconds(lambda: walk.fold(device_rows, [table]), rounds) / 1e6
    print(f"  {'the fold alone':<34} {rate:8.1f} M rows/s          {difference(found, expected)}", flush=True)


def print_copied(jobs: list[tuple[str, str, Any]], X: np.ndarray, rounds: int) -> None:
    """Print rows a second with rows and answers in the memory of the host, beside all cores."""
    print(f"\nrows and answers in the memory of the host, {len(X):,} rows; the CPU with {os.cpu_count()} cores")
    for name, verb, model in jobs:
        on_device, on_cpu = getattr(model.to("cuda"), verb), getattr(model, verb)
        gpu = len(X) / least_seconds(lambda ask=on_device: ask(X), rounds) / 1e6
        few = X[: len(X) // 8]
        cpu = len(few) / least_seconds(lambda ask=on_cpu, few=few: ask(few), 2) / 1e6
        print(f"  {name:<34} {gpu:8.1f} M rows/s, CPU {cpu:6.2f}: {gpu / cpu:6.1f} x", flush=True)


def main(n_rows: int, rounds: int) -> None:
    import cupy

    device = open_device()
    name = cupy.cuda.runtime.getDeviceProperties(device.number)["name"].decode()
    print(f"{name}, CuPy {cupy.__version__}, {os.cpu_count()} cores ({platform.machine()})")
    averaged = 0.0
    for kind in ("numbers", "10 % missing", "half nominal"):
        X, y, rows = problem(kind, n_rows)
        nominal = list(range(0, N_COLUMNS, 2)) if kind == "half nominal" else None
        start = time.perf_counter()
        forest = ForestClassifier(N_TREES, categorical_features=nominal, **PLAIN, **SEEDED).fit(X, y)
        print(f"\n# {kind}: {forest.forest_.n_nodes:,} nodes, fitted in {time.perf_counter() - start:.2f} s")
        asked = list(verbs(forest))
        if kind == "numbers":
            cautious = CautiousForestClassifier(N_TREES, s=1.0, **SEEDED).fit(X, y)
            asked += [
                (f"cautious forest, {verb}", verb, cautious)
                for verb in ("predict_proba", "predict_set", "predict_bounds")
            ]
            random = RandomTreesClassifier(50, **SEEDED).fit(X, y)
            asked += [("50 random trees, default rule", "predict_proba", random)]
            asked += [("ForestClassifier()", "predict_proba", ForestClassifier(**SEEDED).fit(X, y))]
            target = X[:, 0] + X[:, 1] * X[:, 2]
            asked += [("ForestRegressor()", "predict", ForestRegressor(**SEEDED).fit(X, target))]
            averaged = print_rates("answers", asked, rows, rounds, 0.0)
            print_folds(forest, rows, device, rounds)
            print_copied([asked[0], ("predict_set", "predict_set", cautious)], rows, rounds)
        else:
            few = rows[: len(rows) // 4]
            print_rates("answers", [asked[0], asked[-1]], few, rounds, averaged)
            print_folds(forest, few, device, rounds)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    main(options.rows, options.rounds)
