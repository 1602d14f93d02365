"""Counterfactuals by alibi, for the forest and rows of bench_counterfactual.py.

alibi needs NumPy 1 and TensorFlow, which do not go with this package. So the forest crosses as arrays:
`python benchmarks/counterfactual_alibi.py write FILE.npz` here, and the same without `write` in an environment where
`pip install "alibi[tensorflow]"` was run.
"""

import os
import statistics
import sys
import time
import warnings

import numpy as np

N_ROWS = 3


def write(path: str) -> None:
    from sklearn.datasets import load_breast_cancer

    from hedgerow import ForestClassifier

    X, y = load_breast_cancer(return_X_y=True)
    model = ForestClassifier(100, random_state=0).fit(X, y)
    forest = model.forest_
    is_leaf = forest.feature < 0
    np.savez(
        path,
        X=X,
        threshold=forest.threshold,
        feature=forest.feature,
        first_child=forest.root + forest.first_child,
        leaf=np.where(is_leaf, np.cumsum(is_leaf) - 1, -1),
        roots=forest.tree_start[:-1],
        values=model._proba_query().table.of_each_leaf,
        answers=model.predict(X[:N_ROWS]),
        ours=[model.counterfactual(X[i : i + 1])[0][0].distance for i in range(N_ROWS)],
    )


def compare(path: str) -> None:
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    warnings.simplefilter("ignore")
    import tensorflow as tf

    tf.compat.v1.disable_eager_execution()
    from alibi.explainers import CounterfactualProto

    known = np.load(path)
    X, low = known["X"], known["X"].min(axis=0)
    span = X.max(axis=0) - low
    rows = (X - low) / span  # in training ranges

    def predict(part) -> np.ndarray:
        """Mean of the leaves' probabilities; the forest's calibration does not change which class has more."""
        values = low + np.asarray(part, dtype=float).reshape(len(part), -1) * span
        node = np.tile(known["roots"], (len(values), 1))
        while (inner := known["feature"][node] >= 0).any():
            tested = np.take_along_axis(values, np.maximum(known["feature"][node], 0), axis=1)
            node = np.where(inner, known["first_child"][node] + (tested > known["threshold"][node]), node)
        return known["values"][known["leaf"][node]].mean(axis=1)

    assert (predict(rows[:N_ROWS]).argmax(axis=1) == known["answers"]).all()
    shape = (1, X.shape[1])
    peer = CounterfactualProto(
        predict, shape=shape, use_kdtree=True, theta=100.0, c_steps=5, feature_range=(np.zeros(shape), np.ones(shape))
    )
    peer.fit(rows, trustscore_kwargs=None)
    seconds, theirs = [], {}
    for i in range(N_ROWS):
        start = time.process_time()
        found = peer.explain(rows[i : i + 1]).cf
        seconds.append(time.process_time() - start)
        if found is not None and predict(found["X"]).argmax() != known["answers"][i]:
            theirs[i] = float(np.abs(found["X"].ravel() - rows[i]).sum())
    mine = [known["ours"][i] for i in theirs]
    print(
        f"alibi: {statistics.median(seconds):.2f} seconds a row, found for {len(theirs)} of {N_ROWS} rows, median "
        f"distance {statistics.median([*theirs.values()] or [np.nan]):.3f}, ours for these rows "
        f"{statistics.median(mine or [np.nan]):.3f}"
    )


if __name__ == "__main__":
    write(sys.argv[2]) if sys.argv[1] == "write" else compare(sys.argv[1])
