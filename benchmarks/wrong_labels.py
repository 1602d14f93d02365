"""Finding wrong labels by outlier scores: 5 % of the labels are changed, and the rows of a forest are scored.

Usage: python benchmarks/wrong_labels.py FOLDER, which holds the datasets as Parquet files.
"""

import sys

import numpy as np
from sklearn.metrics import roc_auc_score

from hedgerow import ForestClassifier
from hedgerow.datasets import load
from hedgerow.inspection import outlier_scores

NAMES = ("breast-cancer", "wine", "heart-statlog", "sonar", "ionosphere")
SHARE, SEEDS, N_TREES = 0.05, 4, 100
MOST = 1e9  # stands for a row that is infinitely far


def main(folder: str) -> None:
    for name in NAMES:
        data = load(name, data=folder)
        X, truth = data.X, np.asarray(data.y)
        classes = np.unique(truth)
        areas = {"all": [], "oob": []}
        for seed in range(SEEDS):
            rng = np.random.default_rng(seed)
            wrong = rng.random(len(truth)) < SHARE
            y = truth.copy()
            for i in np.flatnonzero(wrong):
                y[i] = rng.choice(classes[classes != truth[i]])
            forest = ForestClassifier(N_TREES, random_state=seed).fit(X, y)
            for rows, found in areas.items():
                found.append(roc_auc_score(wrong, np.minimum(outlier_scores(forest, X, y, rows=rows), MOST)))
        said = [f"{rows} {np.mean(area):.3f} ± {np.std(area, ddof=1) / SEEDS**0.5:.3f}" for rows, area in areas.items()]
        print(f"{name:>14}: {', '.join(said)}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
