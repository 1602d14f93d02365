"""Forests on frames with categories and missing values: time, accuracy, AUC and log-loss on a held-out half.

``HEDGEROW_DATA=folder python benchmarks/bench_nominal.py [dataset ...]``: 100 trees, one thread, processor time.
hedgerow, by default and with the full trees that the peers grow, ydf and lightgbm (where they are installed) fit the
frame as it is; scikit-learn fits its one-hot form with missing numbers replaced by the median, made beforehand and not
timed. ``--splits`` compares the kinds of nominal splits instead, and the exact grower, over repeated halves.
"""

import argparse
import os
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score

from hedgerow import ForestClassifier

N_TREES = 100
ROUNDS = 3
PLAIN = {"splitter": "best", "min_samples_split": 2, "calibration": None}  # full trees, as the peers grow them
SPLITS = {
    "multiway, exact": {"nominal": "multiway", "max_bins": None, **PLAIN},
    "multiway": {"nominal": "multiway", **PLAIN},
    "binary": {"nominal": "binary", **PLAIN},
    "subset": {"nominal": "subset", **PLAIN},
}

Fit = Callable[[pd.DataFrame, np.ndarray], object]
Proba = Callable[[object, pd.DataFrame], np.ndarray]


@dataclass(frozen=True)
class Peer:
    fit: Fit
    proba: Proba
    prepare: Callable[[pd.DataFrame], pd.DataFrame] = lambda X: X


def read(name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """A data set: its frame, and its classes as numbers."""
    frame = pd.read_parquet(Path(os.environ["HEDGEROW_DATA"], f"{name}.parquet"))
    return frame.drop(columns="target"), pd.factorize(frame["target"], sort=True)[0]


def halves(n_rows: int, repeats: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    for seed in range(repeats):
        order = np.random.default_rng(seed).permutation(n_rows)
        yield order[: n_rows // 2], order[n_rows // 2 :]


def one_hot(X: pd.DataFrame) -> pd.DataFrame:
    numbers = X.select_dtypes("number")
    labels = X.drop(columns=numbers.columns)
    filled = numbers.fillna(numbers.median())
    return pd.concat([filled, pd.get_dummies(labels.astype(object), dummy_na=True)], axis=1).astype(np.float32)


def scores(y: np.ndarray, proba: np.ndarray) -> tuple[float, float, float]:
    """Accuracy, AUC (one against the rest for more than two classes) and log-loss."""
    classes = range(proba.shape[1])
    clipped = np.clip(proba, 1e-6, None)
    loss = log_loss(y, clipped / clipped.sum(axis=1, keepdims=True), labels=list(classes))
    if proba.shape[1] == 2:
        area = roc_auc_score(y, proba[:, 1])
    else:
        found = [roc_auc_score(y == k, proba[:, k]) for k in classes if 0 < (y == k).sum() < len(y)]
        area = float(np.mean(found))
    return accuracy_score(y, proba.argmax(axis=1)), area, loss


def hedgerow(**settings: object) -> Peer:
    return Peer(
        lambda X, y: ForestClassifier(N_TREES, n_jobs=1, random_state=0, **settings).fit(X, y),
        lambda model, X: model.predict_proba(X),
    )


def peers(n_features: int) -> dict[str, Peer]:
    found = {
        "hedgerow": hedgerow(),
        **{f"hedgerow, plain, {kind}": hedgerow(**SPLITS[kind]) for kind in ("multiway", "binary", "subset")},
        "scikit-learn, one-hot": Peer(
            lambda X, y: RandomForestClassifier(N_TREES, n_jobs=1, random_state=0).fit(X, y),
            lambda model, X: model.predict_proba(X),
            one_hot,
        ),
    }
    try:
        import ydf

        def fit_ydf(X: pd.DataFrame, y: np.ndarray) -> object:
            learner = ydf.RandomForestLearner(
                label="target", num_trees=N_TREES, num_threads=1, max_depth=-1, min_examples=1, random_seed=1,
                compute_oob_performances=False, winner_take_all=False,
            )  # fmt: skip
            return learner.train(X.assign(target=y), verbose=0)

        def ydf_proba(model: object, X: pd.DataFrame) -> np.ndarray:
            proba = model.predict(X)
            return np.stack([1 - proba, proba], axis=1) if proba.ndim == 1 else proba

        found["ydf"] = Peer(fit_ydf, ydf_proba, lambda X: X.astype(dict.fromkeys(X.select_dtypes("category"), object)))
    except ImportError:
        pass
    try:
        import lightgbm

        def fit_lightgbm(X: pd.DataFrame, y: np.ndarray) -> object:
            settings = {"boosting_type": "rf", "subsample": 0.632, "subsample_freq": 1, "min_child_samples": 1}
            fraction = {"feature_fraction_bynode": n_features**-0.5, "num_leaves": 4096, "verbose": -1}
            model = lightgbm.LGBMClassifier(n_estimators=N_TREES, n_jobs=1, random_state=0, **settings, **fraction)
            return model.fit(X, y)

        found["lightgbm, forest mode"] = Peer(fit_lightgbm, lambda model, X: model.predict_proba(X))
    except ImportError:
        pass
    return found


def against_peers(name: str) -> None:
    X, y = read(name)
    train, test = next(halves(len(X), 1))
    print(f"\n{name}: fit of {len(train)} rows, ratio to hedgerow, and predict_proba of the other {len(test)}")
    contestants = peers(X.shape[1])
    tables = {peer: one.prepare(X) for peer, one in contestants.items()}
    best = {peer: [np.inf, np.inf] for peer in contestants}
    answers: dict[str, np.ndarray] = {}
    for _ in range(ROUNDS):
        for peer, one in contestants.items():
            begin = time.process_time()
            model = one.fit(tables[peer].iloc[train], y[train])
            middle = time.process_time()
            answers[peer] = one.proba(model, tables[peer].iloc[test])
            taken = (middle - begin, time.process_time() - middle)
            best[peer] = [min(pair) for pair in zip(best[peer], taken, strict=True)]
    for peer, (fit, predict) in best.items():
        accuracy, area, loss = scores(y[test], answers[peer])
        times = f"{fit:8.2f} s {fit / best['hedgerow'][0]:6.2f} x  {predict:6.2f} s"
        print(f"  {peer:<28} {times}   accuracy {accuracy:.4f}  AUC {area:.4f}  log-loss {loss:.4f}")


def by_kind_of_split(name: str, repeats: int) -> None:
    X, y = read(name)
    found: dict[str, list[tuple[float, ...]]] = {kind: [] for kind in SPLITS}
    for train, test in halves(len(X), repeats):
        for kind, settings in SPLITS.items():
            one = hedgerow(**settings)
            begin = time.process_time()
            model = one.fit(X.iloc[train], y[train])
            taken = time.process_time() - begin
            proba = np.zeros((len(test), y.max() + 1))
            proba[:, model.classes_] = one.proba(model, X.iloc[test])
            found[kind].append((taken, *scores(y[test], proba)))
    for kind, rows in found.items():
        taken, accuracy, area, loss = np.mean(rows, axis=0)
        print(f"{name:<16} {kind:<16} {taken:7.3f} s  {accuracy:.4f}  {area:.4f}  {loss:.4f}", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="*", default=["adult"])
    parser.add_argument("--splits", action="store_true", help="compare kinds of nominal splits")
    parser.add_argument("--repeats", type=int, default=10, help="halves of a comparison of splits")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", category=UserWarning)
    for dataset in arguments.datasets if "HEDGEROW_DATA" in os.environ else ():
        if arguments.splits:
            by_kind_of_split(dataset, arguments.repeats)
        else:
            against_peers(dataset)
    if "HEDGEROW_DATA" not in os.environ:
        print("left out: set HEDGEROW_DATA to a folder with adult.parquet")
