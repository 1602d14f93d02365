"""Random decision trees against scikit-learn's extremely randomised trees with one feature tried.

One process, the same data, as many threads, interleaved, best of several. Theirs stop where a node is pure and look
at the labels of every node; ours never look at labels and grow on to single rows. What the system takes to hand out as
much memory as our forest has is printed beside: on a busy machine that is a large part. Run the large size with --all
(about ten minutes).
"""

import argparse
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import ExtraTreesClassifier
from timing import best_of, print_ratios

from hedgerow import RandomTreesClassifier

N_TREES = 100
SIZES = {"569 x 30": (569, 30, 20), "20k x 20": (20_000, 20, 10)}  # rows, columns, rounds
LARGE = {"200k x 50": (200_000, 50, 6)}


def data(n_rows: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(n_rows, n_features, n_informative=8, flip_y=0.1, random_state=0)
    return X.astype(np.float32).astype(float), y


def fit_ours(X: np.ndarray, y: np.ndarray, n_jobs: int) -> RandomTreesClassifier:
    return RandomTreesClassifier(N_TREES, n_jobs=n_jobs, random_state=0).fit(X, y)


def fit_theirs(X: np.ndarray, y: np.ndarray, n_jobs: int) -> ExtraTreesClassifier:
    return ExtraTreesClassifier(N_TREES, max_features=1, n_jobs=n_jobs, random_state=0).fit(X, y)


def compare(sizes: dict[str, tuple[int, int, int]], n_jobs: int, clock: Callable[[], float]) -> None:
    for title, (n_rows, n_features, rounds) in sizes.items():
        X, y = data(n_rows, n_features)
        jobs = {"scikit-learn": partial(fit_theirs, X, y, n_jobs), "hedgerow": partial(fit_ours, X, y, n_jobs)}
        print_ratios(f"fit {title}, {N_TREES} trees, n_jobs={n_jobs}", best_of(jobs, rounds, clock), "scikit-learn")
        states = [tree.tree_.__getstate__() for tree in fit_theirs(X, y, n_jobs).estimators_]
        theirs = sum(state["nodes"].nbytes + state["values"].nbytes for state in states)
        ours = fit_ours(X, y, n_jobs).forest_.nbytes
        print(f"  bytes of the forest: scikit-learn {theirs:,}, hedgerow {ours:,}: {theirs / ours:.2f} x")
        touched = best_of({"touch": partial(np.ones, ours // 8)}, rounds, clock)["touch"]
        print(f"  to write as many bytes to new memory once: {touched * 1e3:.1f} ms")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="the large size too")
    parser.add_argument("--jobs", type=int, default=1, help="threads of both sides")
    parser.add_argument("--cpu", action="store_true", help="processor time instead of the clock, on a busy machine")
    arguments = parser.parse_args()
    clock = time.process_time if arguments.cpu else time.perf_counter
    compare(SIZES | (LARGE if arguments.all else {}), arguments.jobs, clock)
