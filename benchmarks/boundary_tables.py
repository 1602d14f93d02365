"""Boundary estimates against Laplace's correction, beside Tables 1 to 3 of Alvarez, Bernard and Deffuant (2007).

``HEDGEROW_DATA=folder python benchmarks/boundary_tables.py [n_splits]``: C4.5 trees, pruned and not, on 100 stratified
splits 2/3 to 1/3 of each of the paper's datasets; the positive class is the rarest, the first of equals, against all
others. Differences times 100, with standard errors.
"""

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedShuffleSplit

from hedgerow import BoundaryClassifier, TreeClassifier

COLUMNS = ("AUC, global", "AUC, to unpruned", "MSE, global 5 %", "AUC, local 5 %", "MSE, local 5 %")
# File; then the paper's mean and ± of each of COLUMNS ("both normal" and "normal vs unpruned" of Table 1, "GD vs.
# Laplace" of Table 2, "both normal" and MSE of Table 3, which leaves segment out).
NAN = float("nan")
PAPER = {
    "bupa": ("bupa", (0.39, 0.84), (0.03, 0.81), (-7.29, 0.59), (-2.87, 0.82), (-1.80, 0.88)),
    "glass": ("glass", (-0.0, 0.7), (-1.25, 0.67), (0.79, 3.56), (-1.26, 0.93), (0.38, 0.4)),
    "iono.": ("ionosphere", (-2.2, 0.53), (-2.56, 0.55), (1.88, 0.27), (-1.74, 0.71), (-0.42, 0.43)),
    "iris": ("iris", (3.85, 0.46), (3.90, 0.48), (-1.54, 0.37), (4.31, 0.52), (-4.09, 0.45)),
    "thyroid": ("new-thyroid", (2.98, 0.75), (2.48, 0.75), (1.49, 0.71), (1.60, 0.78), (0.45, 0.59)),
    "pendig.": ("pendigits", (0.40, 0.04), (0.28, 0.03), (-0.08, 0.01), (-1.65, 1.09), (-0.10, 0.01)),
    "pima": ("diabetes", (0.31, 0.41), (0.41, 0.44), (-5.04, 0.30), (-3.00, 0.64), (-2.76, 0.51)),
    "sat": ("satimage", (0.89, 0.08), (0.28, 0.06), (-0.07, 0.03), (-0.73, 0.74), (-0.13, 0.03)),
    "segment.": ("segment", (5.35, 0.86), (5.34, 0.89), (0.68, 0.39), (NAN, NAN), (NAN, NAN)),
    "sonar": ("sonar", (2.07, 0.78), (1.88, 0.80), (-3.29, 0.51), (1.06, 0.79), (-2.30, 0.60)),
    "vehicle": ("vehicle-statlog", (0.65, 0.20), (0.08, 0.20), (1.99, 0.50), (-6.04, 1.52), (2.02, 0.45)),
    "vowel": ("vowel", (3.09, 0.30), (2.79, 0.28), (-0.12, 0.12), (0.94, 0.91), (0.00, 0.15)),
    "wdbc": ("breast-cancer", (2.24, 0.23), (2.17, 0.23), (-2.63, 0.22), (1.56, 0.29), (-2.15, 0.28)),
    "wine": ("wine", (3.31, 0.36), (2.97, 0.34), (-1.72, 0.31), (2.97, 0.47), (-1.63, 0.45)),
}


def read(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    frame = pd.read_parquet(folder / f"{name}.parquet")
    target = frame.pop("target").astype(str)
    rarest = target.value_counts().sort_index().idxmin()
    return frame.to_numpy(dtype=float), (target == rarest).to_numpy()


def differences(X: np.ndarray, y: np.ndarray, train: np.ndarray, test: np.ndarray) -> list[float]:
    """Of one split, in the order of COLUMNS."""
    tree = TreeClassifier.c45(leaf_probability="laplace").fit(X[train], y[train])
    unpruned = TreeClassifier.c45(leaf_probability="laplace", pruning=None, collapse=False).fit(X[train], y[train])

    def boundary(**settings: object) -> np.ndarray:
        model = BoundaryClassifier.from_fitted(tree, X[train], y[train], boundary_weight=1, **settings)
        return model.predict_proba(X[test])[:, 1]

    def auc(p: np.ndarray) -> float:
        return 100 * roc_auc_score(y[test], p)

    def mse(p: np.ndarray) -> float:  # summed over both classes, as in the paper
        return 200 * np.mean((p - y[test]) ** 2)

    laplace, full = (one.predict_proba(X[test])[:, 1] for one in (tree, unpruned))
    smooth, narrow, local = (
        boundary(bandwidth=0.1),
        boundary(bandwidth=0.05),
        boundary(bandwidth=0.05, partition="separator"),
    )
    return [
        *(auc(smooth) - auc(laplace), auc(smooth) - auc(full), mse(narrow) - mse(laplace)),
        *(auc(local) - auc(laplace), mse(local) - mse(laplace)),
    ]


def main(n_splits: int = 100) -> None:
    folder = os.environ.get("HEDGEROW_DATA")
    if folder is None:
        sys.exit(
            "set HEDGEROW_DATA to a folder that has " + ", ".join(f"{files[0]}.parquet" for files in PAPER.values())
        )
    print(f"{n_splits} splits; each ours ± standard error, (the paper's ±)")
    print(f"{'':<9}" + "   ".join(f"{column:^30}" for column in COLUMNS))
    agree = clear = 0
    for name, (file, *paper) in PAPER.items():
        X, y = read(Path(folder), file)
        splits = StratifiedShuffleSplit(n_splits, test_size=1 / 3, random_state=0).split(X, y)
        found = np.array([differences(X, y, train, test) for train, test in splits])
        mean, error = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(n_splits)
        cells = (
            f"{m:+6.2f} ± {e:4.2f} ({p:+6.2f} ± {s:4.2f})" for m, e, (p, s) in zip(mean, error, paper, strict=True)
        )
        print(f"{name:<9}" + "   ".join(f"{cell:<30}" for cell in cells), flush=True)
        if abs(paper[0][0]) > paper[0][1]:
            clear += 1
            agree += np.sign(mean[0]) == np.sign(paper[0][0])
    print(f"sign of the first column as in the paper on {agree} of the {clear} datasets whose difference exceeds its ±")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:2]))
