"""Walks of 12,000 rows down ten trees of 20,000 × 20, to be counted by callgrind: numbers, 10 % missing, half nominal.

    valgrind --tool=callgrind --dump-after='hedgerow::walk::fold(*' python benchmarks/walk_instructions.py
    callgrind_annotate --inclusive=yes callgrind.out.PID.1    # .2, .3; of the thread that walks

Instructions of the walks over 120,000 are those a row and tree, packing included.
"""

from bench_predict import half_nominal, with_missing
from sklearn.datasets import make_classification

from hedgerow import ForestClassifier
from hedgerow.walk import LeafTable, fold

N_TRAIN, N_ROWS, N_TREES = 20_000, 12_000, 10

if __name__ == "__main__":
    X, y = make_classification(N_TRAIN + N_ROWS, 20, n_informative=8, flip_y=0.1, random_state=0)
    for rows in (X, with_missing(X), half_nominal(X)):
        model = ForestClassifier(N_TREES, calibration=None, random_state=0, n_jobs=1).fit(rows[:N_TRAIN], y[:N_TRAIN])
        counts = model.forest_.leaf_counts
        table = LeafTable.of(counts / counts.sum(axis=1, keepdims=True))
        fold(model.forest_, model._read(rows[N_TRAIN:]), [table])
