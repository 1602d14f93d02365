"""Counterfactuals of 100 trees on 569 x 30: processor time, distance and proven gap; DiCE beside them if installed.

DiCE (pip install dice-ml) draws rows at random and keeps those that change the answer; its distances are measured in
the same way, in training ranges. It is given the first rows.
"""

import statistics
import time
import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer

from hedgerow import ForestClassifier

N_ROWS, N_PEER_ROWS = 40, 8
NODES = (1, 100, 500, 2000)


def ours(forest, X) -> None:
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
        print(f"{nodes:>10} {taken:>14.3f} {distance:>9.3f} {gap:>6.2f} {proven:>7.0%} {columns:>8}")


def dice(forest, X, y) -> None:
    try:
        import dice_ml
        import pandas as pd
        from raiutils.exceptions import UserConfigValidationException
    except ImportError as error:
        print(f"no DiCE: {error}")
        return
    names = [f"x{j}" for j in range(X.shape[1])]
    frame = pd.DataFrame(X, columns=names).assign(y=y)
    data = dice_ml.Data(dataframe=frame, continuous_features=names, outcome_name="y")
    fitted = forest.__class__(**forest.get_params()).fit(frame[names], y)
    model = dice_ml.Model(model=fitted, backend="sklearn")
    span = X.max(axis=0) - X.min(axis=0)
    for method in ("random", "genetic"):
        explainer = dice_ml.Dice(data, model, method=method)
        seconds, theirs, mine = [], [], []
        for i in range(N_PEER_ROWS):
            start = time.process_time()
            try:
                with warnings.catch_warnings(action="ignore"):
                    made = explainer.generate_counterfactuals(
                        frame[names][i : i + 1], total_CFs=1, desired_class="opposite", verbose=False
                    )
            except UserConfigValidationException:  # it found none
                continue
            finally:
                seconds.append(time.process_time() - start)
            row = made.cf_examples_list[0].final_cfs_df[names].to_numpy(dtype=float)[0]
            theirs.append(float((np.abs(row - X[i]) / span).sum()))
            mine.append(fitted.counterfactual(frame[names][i : i + 1])[0][0].distance)
        print(
            f"DiCE ({method}): {statistics.median(seconds):.3f} seconds a row, found for {len(theirs)} of "
            f"{N_PEER_ROWS} rows, median distance {statistics.median(theirs or [np.nan]):.3f}, ours for these rows "
            f"{statistics.median(mine or [np.nan]):.3f}"
        )


if __name__ == "__main__":
    X, y = load_breast_cancer(return_X_y=True)
    forest = ForestClassifier(100, random_state=0).fit(X, y)
    print(f"{forest.forest_}, {N_ROWS} rows")
    ours(forest, X)
    dice(forest, X, y)
