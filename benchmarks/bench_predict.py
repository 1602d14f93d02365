"""Predicting 50,000 rows, one thread, processor time: numbers, 10 % missing, and half of the columns nominal.

Both sides fit the same rows. scikit-learn takes nominal columns one-hot (encoding is not timed). intelex and
onnxruntime (on our forest, where it can be exported) run where they are installed. `--busy` repeats all of it while
another process keeps a core busy; `--models folder` keeps what was fitted there for the next run.
"""

import argparse
import multiprocessing
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import joblib
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


def data(kind: str, size: tuple[int, int, int]) -> tuple[Any, Any, np.ndarray]:
    """Rows for us, rows for scikit-learn, and classes."""
    X, y = make_classification(size[0] + N_ROWS, size[1], n_informative=8, flip_y=0.1, random_state=0)
    if kind == "10 % missing":
        X = with_missing(X)
    ours = half_nominal(X) if kind == "half nominal" else X
    return ours, one_hot(ours) if kind == "half nominal" else X, y


def fit(kind: str, size: tuple[int, int, int]) -> dict[str, Any]:
    n_train, _, n_trees = size
    ours, theirs, y = data(kind, size)
    ours, theirs, y = ours[:n_train], theirs[:n_train], y[:n_train]
    models = {
        "scikit-learn": RandomForestClassifier(n_trees, random_state=0, n_jobs=-1).fit(theirs, y),
        "hedgerow": ForestClassifier(n_trees, random_state=0, n_jobs=1).fit(ours, y),
    }
    models["scikit-learn"].n_jobs = 1
    if kind == "10 % missing":
        models['hedgerow, missing="learned"'] = ForestClassifier(
            n_trees, missing="learned", random_state=0, n_jobs=1
        ).fit(ours, y)
    if kind == "numbers" and (intelex := intelex_model(n_trees, theirs, y)) is not None:
        models["scikit-learn-intelex"] = intelex
    return models


def fit_or_load(kind: str, size: tuple[int, int, int], folder: Path | None) -> dict[str, Any]:
    if folder is None:
        return fit(kind, size)
    file = folder / f"{kind}, {size}.joblib"
    if not file.exists():
        joblib.dump(fit(kind, size), file)
    found: dict[str, Any] = joblib.load(file)
    return found


def compare(kind: str, size: tuple[int, int, int], rounds: int, folder: Path | None) -> None:
    models = fit_or_load(kind, size, folder)
    ours, theirs, _ = data(kind, size)
    n_train, n_columns, n_trees = size
    rows, peer_rows = ours[n_train:], np.ascontiguousarray(theirs[n_train:])
    jobs: dict[str, Callable[[], object]] = {}
    for name, model in models.items():
        jobs[name] = partial(model.predict_proba, rows if name.startswith("hedgerow") else peer_rows)
    jobs["scikit-learn, leaves of all trees"] = lambda: models["scikit-learn"].apply(peer_rows)
    jobs["hedgerow, evidence of all trees"] = lambda: models["hedgerow"].leaf_counts(rows)
    if kind == "numbers" and (answer := onnx_answer(models["hedgerow"], peer_rows)) is not None:
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
    parser.add_argument("--models", type=Path)
    options = parser.parse_args()
    neighbour = multiprocessing.get_context("spawn").Process(target=spin, daemon=True)
    if options.busy:
        neighbour.start()
    for forest in options.forests:
        for kind in options.kinds:
            compare(kind, FORESTS[forest], options.rounds, options.models)
    if options.busy:
        neighbour.terminate()
