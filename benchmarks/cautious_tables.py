"""u65 of cautious forests against Tables 1 to 3 of Zhang, Quost and Masson, Cautious Random Forests (2021).

``HEDGEROW_DATA=folder python benchmarks/cautious_tables.py``: 100 full trees, 10-fold cross-validation, ten repeats,
on those of the paper's datasets that are known beyond doubt.
"""

import os
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import RepeatedStratifiedKFold

from hedgerow import CautiousForestClassifier, credal
from hedgerow.metrics import u65_score

VARIANTS = ("mass1", "mass2", "mass3", "baseline")
READINGS = {"equation 5, lower >= 1/2": False, "conclusion, lower > 1/2": True}  # of a tree that is sure
S = (1, 3, 5)
# Percent, in the order of VARIANTS, for each s.
PAPER = {
    "diabetes": ((77.37, 76.71, 77.30, 78.11), (78.33, 77.32, 78.19, 78.22), (77.82, 77.62, 78.59, 76.86)),
    "biodeg": ((87.26, 85.49, 87.11, 87.67), (87.99, 85.69, 87.64, 87.80), (87.58, 85.83, 87.73, 86.91)),
    "breast-cancer": ((96.19, 95.15, 96.07, 96.14), (96.15, 95.10, 96.03, 95.96), (95.78, 95.08, 95.81, 95.58)),
    "wine-quality-red": ((82.42, 79.46, 82.34, 82.74), (81.86, 79.06, 82.07, 81.45), (80.57, 79.71, 81.53, 79.62)),
    "spambase": ((95.36, 94.33, 95.22, 95.50), (95.27, 94.32, 95.14, 95.26), (94.92, 94.32, 95.04, 94.81)),
}


def read(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    frame = pd.read_parquet(folder / f"{name}.parquet")
    target = frame.pop("target")
    y = target.astype(int) >= 6 if name == "wine-quality-red" else target == sorted(target.unique())[1]
    return frame.to_numpy(dtype=float), y.to_numpy()


def aggregates(strict: bool) -> list[credal.Aggregate]:
    """In the order of VARIANTS."""
    return [*(credal.Belief(name, strict) for name in ("uniform", "samples", "epistemic")), credal.Average()]


def mean_u65(X: np.ndarray, y: np.ndarray, n_repeats: int) -> np.ndarray:
    """Percent, (len(READINGS), len(S), len(VARIANTS))."""
    folds = RepeatedStratifiedKFold(n_splits=10, n_repeats=n_repeats, random_state=0)
    total = np.zeros((len(READINGS), len(S), len(VARIANTS)))
    for number, (train, test) in enumerate(folds.split(X, y)):
        model = CautiousForestClassifier(s=1, splitter="best", random_state=number).fit(X[train], y[train])
        for reading, strict in enumerate(READINGS.values()):
            for (i, s), (j, aggregate) in product(enumerate(S), enumerate(aggregates(strict))):
                sets = model.set_params(s=s, aggregate=aggregate).predict_set(X[test])
                total[reading, i, j] += u65_score(y[test], sets, classes=model.classes_)
    return 100 * total / (10 * n_repeats)


def main() -> None:
    folder = os.environ.get("HEDGEROW_DATA")
    if folder is None:
        sys.exit("set HEDGEROW_DATA to a folder that has " + ", ".join(f"{name}.parquet" for name in PAPER))
    ours = {name: mean_u65(*read(Path(folder), name), n_repeats=10) for name in PAPER}
    for number, reading in enumerate(READINGS):
        print(f"\n{reading}: {', '.join(VARIANTS)}, each ours, the paper's, the difference")
        for name, paper in PAPER.items():
            print_rows(name, ours[name][number], paper)
        print_rows(
            "mean", np.mean([ours[name][number] for name in PAPER], axis=0), np.mean(list(PAPER.values()), axis=0)
        )


def print_rows(name: str, ours: np.ndarray, paper: np.ndarray | tuple[tuple[float, ...], ...]) -> None:
    for s, mine, theirs in zip(S, ours, paper, strict=True):
        cells = (f"{a:6.2f} {b:6.2f} {a - b:+5.2f}" for a, b in zip(mine, theirs, strict=True))
        print(f"{name:<18} s = {s}   " + "   ".join(cells))


if __name__ == "__main__":
    main()
