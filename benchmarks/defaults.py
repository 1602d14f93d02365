"""What a person gets without arguments: every estimator's candidates for its defaults, and its peers, on real data.

``HEDGEROW_DATA=folder python benchmarks/defaults.py forests --peers`` fits each candidate of a family on one half of
every dataset and scores it on the other half, for several stratified splits. The folder has ``manifest.csv`` and
Parquet files whose last column is ``target``. ``--missing`` adds the datasets with missing values; ``--out`` keeps one
line for each dataset, split and candidate. Families and candidates stand in `default_candidates.py`.
"""

import argparse
import os
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from default_candidates import FAMILIES, PEERS, Candidate
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedShuffleSplit

from hedgerow.metrics import expected_calibration_error

MOST_ROWS, MOST_COLUMNS, MOST_CLASSES = 4000, 300, 12
LEAST_PROBABILITY = 1e-6  # of the true class in log-loss: one certain error costs 13.8


@dataclass(frozen=True)
class Split:
    """One half to fit on and one to score on; `codes` are the classes of the second."""

    dataset: str
    number: int
    X: pd.DataFrame
    y: np.ndarray
    X_test: pd.DataFrame
    codes: np.ndarray
    prior: np.ndarray


def splits(folder: Path, n_splits: int, *, missing: bool, only: list[str] | None) -> Iterator[Split]:
    manifest = pd.read_csv(folder / "manifest.csv")
    for row in manifest[manifest.task == "classification"].itertuples():
        if only and row.name not in only:
            continue
        frame = pd.read_parquet(folder / row.file)
        y = frame.pop("target").astype(str).to_numpy()
        if (
            frame.shape[1] > MOST_COLUMNS
            or len(np.unique(y)) > MOST_CLASSES
            or (frame.isna().any().any() and not missing)
        ):
            continue
        if len(y) > MOST_ROWS:
            drawn = np.random.default_rng(0).choice(len(y), MOST_ROWS, replace=False)
            frame, y = frame.iloc[drawn], y[drawn]
        classes, counts = np.unique(y, return_counts=True)
        kept = np.isin(y, classes[counts >= 4])  # two in each half
        frame, y = frame[kept].reset_index(drop=True), y[kept]
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            continue
        halves = StratifiedShuffleSplit(n_splits, test_size=0.5, random_state=0)
        for number, (train, test) in enumerate(halves.split(frame, y)):
            prior = np.bincount(codes[train], minlength=len(classes)) / len(train)
            yield Split(row.name, number, frame.iloc[train], y[train], frame.iloc[test], codes[test], prior)


def scores(probabilities: np.ndarray, split: Split) -> dict[str, float]:
    codes, n = split.codes, len(split.codes)
    probabilities = probabilities / probabilities.sum(axis=1, keepdims=True)
    right = probabilities.argmax(axis=1) == codes
    of_truth = np.clip(probabilities[np.arange(n), codes], LEAST_PROBABILITY, 1)
    one_hot = np.eye(probabilities.shape[1])[codes]
    binary = probabilities.shape[1] == 2
    return {
        "accuracy": float(right.mean()),
        "auc": float(
            roc_auc_score(codes, probabilities[:, 1])
            if binary
            else roc_auc_score(codes, probabilities, multi_class="ovr")
        ),
        "log-loss": float(-np.log(of_truth).mean()),
        "brier": float(((probabilities - one_hot) ** 2).sum(axis=1).mean()),
        "calibration": expected_calibration_error(codes, probabilities, classes=range(probabilities.shape[1])),
        "over prior": float(-np.log(of_truth).mean() + np.log(split.prior[codes]).mean()),
    }


def run(candidates: dict[str, Candidate], folder: Path, arguments: argparse.Namespace) -> pd.DataFrame:
    rows = []
    for split in splits(folder, arguments.splits, missing=arguments.missing, only=arguments.only):
        for name, candidate in candidates.items():
            start = time.process_time()
            answer = candidate(split.X, split.y, split.X_test, split.number)
            taken = time.process_time() - start
            if answer is not None:
                rows.append(
                    {"dataset": split.dataset, "split": split.number, "candidate": name} | scores(answer, split)
                )
                rows[-1]["seconds"] = taken
        print(f"\r{split.dataset:<30}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return pd.DataFrame(rows)


def summary(found: pd.DataFrame, order: list[str]) -> pd.DataFrame:
    """Means over datasets; "worst" is the largest excess of log-loss over that of the class frequencies."""
    by_dataset = found.groupby(["candidate", "dataset"]).mean(numeric_only=True)
    table = by_dataset.groupby("candidate")[["accuracy", "auc", "log-loss", "brier", "calibration", "seconds"]].mean()
    table["worst"] = by_dataset["over prior"].groupby("candidate").max()
    table["datasets"] = by_dataset.groupby("candidate").size()
    return table.reindex([name for name in order if name in table.index]).round(4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("family", choices=sorted(FAMILIES))
    parser.add_argument("--peers", action="store_true", help="also the defaults of other libraries")
    parser.add_argument("--missing", action="store_true", help="also datasets with missing values")
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--only", nargs="*", help="names of datasets")
    parser.add_argument("--candidates", nargs="*", help="names of candidates")
    parser.add_argument("--out", type=Path, help="CSV file of all scores")
    arguments = parser.parse_args()
    folder = os.environ.get("HEDGEROW_DATA")
    if folder is None:
        sys.exit("set HEDGEROW_DATA to a folder with manifest.csv and Parquet files")
    candidates = FAMILIES[arguments.family] | (PEERS if arguments.peers else {})
    if arguments.candidates:
        candidates = {name: candidates[name] for name in arguments.candidates}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = run(candidates, Path(folder), arguments)
    if arguments.out:
        found.to_csv(arguments.out, index=False)
    print(summary(found, list(candidates)).to_string())


if __name__ == "__main__":
    main()
