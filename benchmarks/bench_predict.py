"""Predicting 50,000 rows, one thread, processor time: numbers, 10 % missing, and half of the columns nominal.

Both sides fit the same rows. scikit-learn takes nominal columns one-hot (encoding is not timed). intelex and
onnxruntime (on our forest, where it can be exported) run where they are installed. `--busy` repeats all of it while
another process keeps a core busy.
"""

import argparse
import multiprocessing
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.preprocessing import OneHotEncoder
from timing import best_of, print_ratios

from hedgerow import ForestClassifier
from hedgerow.exchange.onnx import to_onnx

N_ROWS = 50_000
FORESTS = {"20k x 20, 100 trees": (20_000, 20, 100), "100k x 15, 50 trees": (100_000, 15, 50)}
FORESTS["200k x 50, 20 trees"] = (200_000, 50, 20)


def with_missing(X: np.ndarray) -> np.ndarray:
    X = X.copy()
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    return X


def half_nominal(X: np.ndarray) -> pd.DataFrame:
    """Every second column cut into eight categories of equal frequency, in random order."""
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    for i in range(0, X.shape[1], 2):
        codes = np.searchsorted(np.quantile(X[:, i], np.linspace(0, 1, 9)[1:-1]), X[:, i])
        frame[f"x{i}"] = pd.Categorical.from_codes(
            np.random.default_rng(i).permutation(8)[codes], [f"c{k}" for k in range(8)]
        )
    return frame


def one_hot(frame: pd.DataFrame) -> np.ndarray:
    nominal = frame.select_dtypes("category")
    encoded = OneHotEncoder(sparse_output=False, dtype=np.float32).fit_transform(nominal)
    return np.hstack([encoded, frame.drop(columns=nominal.columns).to_numpy(np.float32)])


def onnx_answer(model: Any, rows: np.ndarray) -> Callable[[], object] | None:
    try:
        import onnxruntime as ort

        options = ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        session = ort.InferenceSession(
            to_onnx(model, missing="nan").SerializeToString(), options, ["CPUExecutionProvider"]
        )
    except Exception as reason:  # not installed, or the model cannot be exported: a benchmark goes on without it
        print(f"  without onnxruntime: {type(reason).__name__}: {str(reason).splitlines()[0][:100]}")
        return None
    name = session.get_inputs()[0].name
    given = rows.astype(np.float32 if "float" in session.get_inputs()[0].type else np.float64)
    return lambda: session.run(None, {name: given})


def intelex_model(n_trees: int, X: np.ndarray, y: np.ndarray) -> Any:
    try:
        from sklearnex.ensemble import RandomForestClassifier as Intelex
    except ImportError:
        print("  without scikit-learn-intelex")
        return None
    return Intelex(n_trees, random_state=0, n_jobs=1).fit(X, y)


def compare(kind: str, size: tuple[int, int, int], rounds: int) -> None:
    n_train, n_columns, n_trees = size
    X, y = make_classification(n_train + N_ROWS, n_columns, n_informative=8, flip_y=0.1, random_state=0)
    ours: Any = X
    theirs = X
    if kind == "10 % missing":
        ours = theirs = with_missing(X)
    elif kind == "half nominal":
        ours = half_nominal(X)
        theirs = one_hot(ours)
    peer = RandomForestClassifier(n_trees, random_state=0, n_jobs=-1).fit(theirs[:n_train], y[:n_train])
    peer.n_jobs = 1
    model = ForestClassifier(n_trees, random_state=0, n_jobs=1).fit(ours[:n_train], y[:n_train])
    rows, peer_rows = ours[n_train:], np.ascontiguousarray(theirs[n_train:])
    jobs: dict[str, Callable[[], object]] = {
        "scikit-learn": lambda: peer.predict_proba(peer_rows),
        "hedgerow": lambda: model.predict_proba(rows),
        "scikit-learn, leaves of all trees": lambda: peer.apply(peer_rows),
        "hedgerow, evidence of all trees": lambda: model.leaf_counts(rows),
    }
    if kind == "10 % missing":
        one_way = ForestClassifier(n_trees, missing="learned", random_state=0, n_jobs=1).fit(
            ours[:n_train], y[:n_train]
        )
        jobs['hedgerow, missing="learned"'] = lambda: one_way.predict_proba(rows)
    if kind == "numbers":
        intelex = intelex_model(n_trees, theirs[:n_train], y[:n_train])
        if intelex is not None:
            jobs["scikit-learn-intelex"] = lambda: intelex.predict_proba(peer_rows)
        if (answer := onnx_answer(model, peer_rows)) is not None:
            jobs["onnxruntime, our forest"] = answer
    print_ratios(
        f"{kind}, {n_train} x {n_columns}, {n_trees} trees", best_of(jobs, rounds, time.process_time), "scikit-learn"
    )


def spin() -> None:
    while True:
        pass


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--forests", nargs="*", default=list(FORESTS), choices=list(FORESTS))
    parser.add_argument("--kinds", nargs="*", default=["numbers", "10 % missing", "half nominal"])
    parser.add_argument("--busy", action="store_true")
    options = parser.parse_args()
    neighbour = multiprocessing.get_context("spawn").Process(target=spin, daemon=True)
    if options.busy:
        neighbour.start()
    for forest in options.forests:
        for kind in options.kinds:
            compare(kind, FORESTS[forest], options.rounds)
    if options.busy:
        neighbour.terminate()
