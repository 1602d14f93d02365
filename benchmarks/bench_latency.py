"""Latency of a few rows through Python, against scikit-learn: 100 full trees of 20,000 × 20, one thread.

Every call gets another row. Frames are sliced beforehand, so that only the model's time counts. Columns are all float,
float and integer, or eight of twenty nominal: categories, or text. scikit-learn takes numeric columns only.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from timing import best_of, median_latency, print_ratios

from hedgerow import ForestClassifier

N_TRAIN, N_ROWS, N_FEATURES, N_NOMINAL, N_TREES = 20_000, 1_000, 20, 8, 100
CALLS = {"scikit-learn": 30, "hedgerow": 300}


def fitted(X: object, y: np.ndarray) -> ForestClassifier:
    return ForestClassifier(N_TREES, n_jobs=1, random_state=0).fit(X, y)


def frames(X: np.ndarray) -> dict[str, pd.DataFrame]:
    """The same numbers as frames of several kinds."""
    floats = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    nominal = floats.columns[:N_NOMINAL]
    letters = {name: (floats[name].clip(-4, 3.9) + 4).astype(int).map(lambda i: "abcdefgh"[i]) for name in nominal}
    return {
        "floats": floats,
        "floats and integers": floats.assign(**{name: (floats[name] * 100).astype(int) for name in nominal}),
        "categories": floats.assign(**letters).astype(dict.fromkeys(nominal, "category")),
        "text": floats.assign(**letters),
    }


def of_each_row(model: object, X: object) -> Callable[[int], object]:
    rows = [X.iloc[i : i + 1] if isinstance(X, pd.DataFrame) else X[i : i + 1] for i in range(N_ROWS)]
    return lambda i: model.predict_proba(rows[i])


def one_row(X: np.ndarray, y: np.ndarray) -> None:
    peer = RandomForestClassifier(N_TREES, n_jobs=1, random_state=0).fit(X[:N_TRAIN], y[:N_TRAIN])
    jobs = {"scikit-learn": of_each_row(peer, X[N_TRAIN:])}
    jobs["hedgerow"] = of_each_row(fitted(X[:N_TRAIN], y[:N_TRAIN]), X[N_TRAIN:])
    print_ratios("one row, an array, median", median_latency(jobs, CALLS, 5), "scikit-learn")
    try:
        import polars as pl
    except ImportError:
        pl = None
    for kind, frame in frames(X).items():
        train, rows = frame[:N_TRAIN], frame[N_TRAIN:]
        jobs = {}
        if kind.startswith("floats"):
            jobs["scikit-learn"] = of_each_row(peer.fit(train, y[:N_TRAIN]), rows)
        model = fitted(train, y[:N_TRAIN])
        jobs["hedgerow, pandas"] = of_each_row(model, rows)
        if pl is not None:
            jobs["hedgerow, polars"] = of_each_row(model, pl.from_pandas(rows))
        calls = {name: CALLS[name.split(",")[0]] for name in jobs}
        print_ratios(f"one row, a frame of {kind}, median", median_latency(jobs, calls, 5), "hedgerow, pandas")


def few_rows(X: np.ndarray, y: np.ndarray) -> None:
    peer = RandomForestClassifier(N_TREES, n_jobs=1, random_state=0).fit(X[:N_TRAIN], y[:N_TRAIN])
    ours = fitted(X[:N_TRAIN], y[:N_TRAIN])
    for n in (10, 100, 1000):
        rows = X[N_TRAIN : N_TRAIN + n]
        jobs = {"scikit-learn": lambda rows=rows: peer.predict_proba(rows)}
        jobs["hedgerow"] = lambda rows=rows: ours.predict_proba(rows)
        print_ratios(f"{n} rows, an array", best_of(jobs, 30), "scikit-learn")


if __name__ == "__main__":
    X, y = make_classification(N_TRAIN + N_ROWS, N_FEATURES, n_informative=8, flip_y=0.1, random_state=0)
    one_row(X, y)
    few_rows(X, y)
