"""Model files against joblib's dump and load of scikit-learn's forests, fitted to the same data; time and bytes."""

import os
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path

import joblib
import numpy as np
from bench_forest import data, noisy
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from timing import best_of, print_ratios

from hedgerow import ForestClassifier, ForestRegressor, load, save

N_TREES = 100
ROUNDS = 15
PEER = "scikit-learn, joblib"
OURS = "hedgerow"


def compare(title: str, peer: object, ours: object, folder: Path) -> None:
    theirs, mine, pickled = (str(folder / name) for name in ("peer.joblib", "model.hedgerow", "hedgerow.joblib"))
    saves: dict[str, Callable[[], object]] = {
        PEER: lambda: joblib.dump(peer, theirs),
        OURS: lambda: save(ours, mine),
        "hedgerow, joblib": lambda: joblib.dump(ours, pickled),
    }
    print_ratios(f"save {title}", best_of(saves, ROUNDS), PEER)
    loads: dict[str, Callable[[], object]] = {
        PEER: lambda: joblib.load(theirs),
        OURS: lambda: load(mine),
        "hedgerow, mmap=True": lambda: load(mine, mmap=True),
        "hedgerow, mmap=True, verify=False": lambda: load(mine, mmap=True, verify=False),
        "hedgerow, joblib": lambda: joblib.load(pickled),
    }
    print_ratios(f"load {title}", best_of(loads, ROUNDS), PEER)
    sizes = [os.path.getsize(path) for path in (theirs, mine)]
    print(f"\nbytes of {title}: {PEER} {sizes[0]:,}, hedgerow {sizes[1]:,}: {sizes[0] / sizes[1]:.2f} x")


def pickles(ours: object) -> None:
    """What a pickle of ours costs beside a copy of its bytes."""
    block = pickle.dumps(ours, protocol=5)
    jobs = {
        "copy of the bytes": lambda: np.frombuffer(block, dtype=np.uint8).copy(),
        "pickle.dumps": lambda: pickle.dumps(ours, protocol=5),
        "pickle.loads": lambda: pickle.loads(block),
    }
    print_ratios("pickle of the classifier", best_of(jobs, ROUNDS), "copy of the bytes")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        X, y = data(20_000, 20)
        classifier = ForestClassifier(N_TREES, random_state=0).fit(X, y)
        peer = RandomForestClassifier(N_TREES, random_state=0).fit(X, y)
        compare("20k x 20, 100 trees", peer, classifier, Path(name))
        pickles(classifier)
        X, y = noisy(20_000, seed=0)
        settings = {"max_features": 1 / 3, "min_samples_leaf": 5, "random_state": 0}
        peer = RandomForestRegressor(N_TREES, **settings).fit(X, y)
        regressor = ForestRegressor(N_TREES, splitter="best", min_samples_split=2, **settings).fit(X, y)
        compare("20k x 20, regression, ours with the targets of leaves", peer, regressor, Path(name))
