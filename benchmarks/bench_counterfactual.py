"""Counterfactuals of 100 trees on 569 x 30: processor time, distance and proven gap; peers beside them if installed.

DiCE (pip install dice-ml) draws rows at random, or breeds them, and CFNOW (pip install cfnow) changes column by column;
both ask the forest as a black box. All distances are measured in the same way, in training ranges. Peers are given the
first rows, and ours the same ones.
"""

import statistics
import time
import warnings
from collections.abc import Callable, Iterator

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

from hedgerow import ForestClassifier

N_ROWS, N_PEER_ROWS = 40, 8
NODES = (1, 100, 500, 2000)
Change = Callable[[int], np.ndarray | None]


def ours(forest: ForestClassifier, X: pd.DataFrame) -> None:
    print(f"{'max_nodes':>10} {'seconds a row':>14} {'distance':>9} {'gap':>6} {'proven':>7} {'columns':>8}")
    for nodes in NODES:
        seconds, found = [], []
        for i in range(N_ROWS):
            start = time.process_time()
            found += forest.counterfactual(X[i : i + 1], max_nodes=nodes)[0]
            seconds.append(time.process_time() - start)
        distance, gap = (statistics.median(getattr(one, name) for one in found) for name in ("distance", "gap"))
        proven = statistics.mean(one.gap == 0 for one in found)
        columns = statistics.median(len(one.changes) for one in found)
        taken = statistics.median(seconds)
        print(f"{nodes:>10} {taken:>14.3f} {distance:>9.3f} {gap:>6.2f} {proven:>7.0%} {columns:>8}", flush=True)


def dice(forest: ForestClassifier, X: pd.DataFrame, y: np.ndarray) -> Iterator[tuple[str, Change]]:
    import dice_ml
    from raiutils.exceptions import UserConfigValidationException

    names = list(X.columns)
    data = dice_ml.Data(dataframe=X.assign(y=y), continuous_features=names, outcome_name="y")
    model = dice_ml.Model(model=forest, backend="sklearn")
    for method in ("random", "genetic"):
        explainer = dice_ml.Dice(data, model, method=method)

        def change(i: int, explainer=explainer) -> np.ndarray | None:
            try:
                made = explainer.generate_counterfactuals(
                    X[i : i + 1], total_CFs=1, desired_class="opposite", verbose=False
                )
            except UserConfigValidationException:  # it found none
                return None
            return made.cf_examples_list[0].final_cfs_df[names].to_numpy(dtype=float)[0]

        yield f"DiCE, {method}", change


def cfnow(forest: ForestClassifier, X: pd.DataFrame, y: np.ndarray) -> Iterator[tuple[str, Change]]:
    from cfnow import find_tabular

    def ask(rows) -> np.ndarray:
        return forest.predict_proba(pd.DataFrame(np.atleast_2d(rows), columns=X.columns))[:, 1]

    for strategy in ("greedy", "random"):

        def change(i: int, strategy: str = strategy) -> np.ndarray | None:
            found = find_tabular(X.iloc[i], ask, cf_strategy=strategy, limit_seconds=20).cfs
            return np.asarray(found[0], dtype=float) if len(found) else None

        yield f"CFNOW, {strategy}", change


def peers(forest: ForestClassifier, X: pd.DataFrame, y: np.ndarray) -> None:
    span = (X.max() - X.min()).to_numpy()
    ranges = {}
    for i in range(N_PEER_ROWS):
        ranges[i] = forest.counterfactual(X[i : i + 1])[0][0].distance
    for peer in (dice, cfnow):
        try:
            for name, change in peer(forest, X, y):
                seconds, theirs = [], {}
                for i in range(N_PEER_ROWS):
                    start = time.process_time()
                    with warnings.catch_warnings(action="ignore"):
                        row = change(i)
                    seconds.append(time.process_time() - start)
                    if row is not None and forest.predict(pd.DataFrame(row[np.newaxis], columns=X.columns))[0] != y[i]:
                        theirs[i] = float((np.abs(row - X.iloc[i].to_numpy()) / span).sum())
                mine = [ranges[i] for i in theirs]
                print(
                    f"{name}: {statistics.median(seconds):.3f} seconds a row, found for {len(theirs)} of {N_PEER_ROWS} "
                    f"rows, median distance {statistics.median([*theirs.values()] or [np.nan]):.3f}, ours for these "
                    f"rows {statistics.median(mine or [np.nan]):.3f}",
                    flush=True,
                )
        except ImportError as error:
            print(f"no {peer.__name__}: {error}")


if __name__ == "__main__":
    X, y = load_breast_cancer(return_X_y=True)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])])
    forest = ForestClassifier(100, random_state=0).fit(frame, y)
    print(f"{forest.forest_}, {N_ROWS} rows")
    ours(forest, frame)
    peers(forest, frame, y)
