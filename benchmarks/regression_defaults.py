"""What a person gets from a regressor without arguments: candidates for defaults, and peers, on real data.

``HEDGEROW_DATA=folder python benchmarks/regression_defaults.py --peers`` fits every candidate on one half of each
regression dataset (2,500 rows at most) and scores it on the other half, for several splits. "R²" is the mean over the
datasets; "error" the geometric mean of the squared error beside that of the default, so that a dataset with little
noise counts as much as any other; "rank" the mean rank. "pinball" is the mean loss of seven quantiles in standard
deviations of the target, "coverage" and "width" are those of the 90 % interval, and "noise" is the share of the squared
error that `predict_uncertainty` calls aleatoric, "total" what it makes of all of it.
"""

import argparse
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from default_candidates import one_hot_tables, plain_text
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.model_selection import ShuffleSplit
from sklearn.tree import DecisionTreeRegressor

from hedgerow import ForestRegressor, TreeRegressor

MOST_ROWS = 2500
LEVELS = np.array([0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95])
Fitted = Callable[[pd.DataFrame], dict[str, np.ndarray]]
Candidate = Callable[[pd.DataFrame, np.ndarray, int], Fitted | None]


def ours(make: Callable[..., Any], **settings: Any) -> Candidate:
    def fit(X: pd.DataFrame, y: np.ndarray, seed: int) -> Fitted:
        model = make(**settings, random_state=seed).fit(X, y)

        def answer(rows: pd.DataFrame) -> dict[str, np.ndarray]:
            found = {"mean": model.predict(rows)}
            if isinstance(model, ForestRegressor):
                doubt = model.predict_uncertainty(rows, measure="variance")
                found |= {"quantiles": model.predict_quantiles(rows, LEVELS)}
                found |= {"total": doubt.total, "noise": doubt.aleatoric}
            return found

        return answer

    return fit


def one_hot(make: Callable[..., Any]) -> Candidate:
    """A regressor of scikit-learn's on one-hot columns, with medians for missing numbers."""

    def fit(X: pd.DataFrame, y: np.ndarray, seed: int) -> Fitted:
        def answer(rows: pd.DataFrame) -> dict[str, np.ndarray]:
            train, test = one_hot_tables(X, rows)
            return {"mean": make(random_state=seed).fit(train, y).predict(test)}

        return answer

    return fit


def lightgbm_boosting(X: pd.DataFrame, y: np.ndarray, seed: int) -> Fitted | None:
    try:
        import lightgbm
    except ImportError:
        return None

    def answer(rows: pd.DataFrame) -> dict[str, np.ndarray]:
        train, test = plain_text(X), plain_text(rows)
        for name in train.select_dtypes(exclude="number"):
            train[name] = train[name].astype("category")
            test[name] = test[name].astype(train[name].dtype)
        model = lightgbm.LGBMRegressor(random_state=seed, verbose=-1, n_jobs=1).fit(train, y)
        return {"mean": np.asarray(model.predict(test))}

    return answer


BEFORE: dict[str, Any] = {
    "nominal": "multiway",
    "min_samples_split": 2,
    "min_samples_leaf": 5,
    "splitter": "best",
    "max_features": 1 / 3,
}
CANDIDATES: dict[str, Candidate] = {
    "default": ours(ForestRegressor),
    **{f"nodes of {size}": ours(ForestRegressor, min_samples_split=size) for size in (2, 4, 8, 16)},
    **{f"{share:.0%} of the columns": ours(ForestRegressor, max_features=share) for share in (1 / 3, 0.5, 1.0)},
    "best splits": ours(ForestRegressor, splitter="best"),
    "drawn splits": ours(ForestRegressor, splitter="random"),
    "multiway splits": ours(ForestRegressor, nominal="multiway"),
    "exact thresholds": ours(ForestRegressor, max_bins=None),
    "before": ours(ForestRegressor, **BEFORE),
    "one tree": ours(TreeRegressor),
}
PEERS: dict[str, Candidate] = {
    "scikit-learn forest": one_hot(RandomForestRegressor),
    "scikit-learn extra trees": one_hot(ExtraTreesRegressor),
    "scikit-learn boosting": one_hot(HistGradientBoostingRegressor),
    "scikit-learn tree": one_hot(DecisionTreeRegressor),
    "lightgbm": lightgbm_boosting,
}


def splits(
    folder: Path, n_splits: int
) -> Iterator[tuple[str, int, pd.DataFrame, np.ndarray, pd.DataFrame, np.ndarray]]:
    """Name, number of the split, and training and test rows of every regression dataset."""
    manifest = pd.read_csv(folder / "manifest.csv")
    for row in manifest[manifest.task == "regression"].itertuples():
        frame = pd.read_parquet(folder / row.file)
        y = frame.pop("target").to_numpy(float)
        if len(y) > MOST_ROWS:
            drawn = np.random.default_rng(0).choice(len(y), MOST_ROWS, replace=False)
            frame, y = frame.iloc[drawn].reset_index(drop=True), y[drawn]
        halves = ShuffleSplit(n_splits, test_size=0.5, random_state=0)
        for number, (train, test) in enumerate(halves.split(frame)):
            yield row.name, number, frame.iloc[train], y[train], frame.iloc[test], y[test]


def scores(found: dict[str, np.ndarray], y: np.ndarray) -> dict[str, float]:
    squared = float(((found["mean"] - y) ** 2).mean())
    result = {"share": squared / float(y.var())}
    if "quantiles" in found:
        quantiles = found["quantiles"]
        misses = y[:, np.newaxis] - quantiles
        result["pinball"] = float(np.maximum(LEVELS * misses, (LEVELS - 1) * misses).mean() / y.std())
        result["coverage"] = float(((quantiles[:, 0] <= y) & (y <= quantiles[:, -1])).mean())
        result["width"] = float((quantiles[:, -1] - quantiles[:, 0]).mean() / y.std())
        result["noise"] = float(found["noise"].mean()) / squared
        result["total"] = float(found["total"].mean()) / squared
    return result


def summary(rows: pd.DataFrame, order: list[str]) -> pd.DataFrame:
    by_dataset = rows.groupby(["candidate", "dataset"]).mean(numeric_only=True)
    share = by_dataset["share"].unstack("candidate")
    table = pd.DataFrame({"R²": 1 - share.mean()})
    table["error"] = np.exp(np.log(share.div(share["default"], axis=0)).mean())
    table["rank"] = share.rank(axis=1).mean()
    for name in ("pinball", "coverage", "width", "noise", "total", "seconds"):
        table[name] = by_dataset[name].groupby("candidate").mean()
    return table.reindex([name for name in order if name in table.index]).round(4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", action="store_true", help="also the defaults of other libraries")
    parser.add_argument("--splits", type=int, default=3)
    arguments = parser.parse_args()
    folder = os.environ.get("HEDGEROW_DATA")
    if folder is None:
        sys.exit("set HEDGEROW_DATA to a folder with manifest.csv and Parquet files")
    candidates = CANDIDATES | (PEERS if arguments.peers else {})
    rows = []
    for dataset, number, X, y, X_test, y_test in splits(Path(folder), arguments.splits):
        print(f"\r{dataset:<30}", end="", file=sys.stderr, flush=True)
        for name, candidate in candidates.items():
            start = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                fitted = candidate(X, y, number)
                found = None if fitted is None else fitted(X_test)
            if found is not None:
                taken = time.process_time() - start
                rows.append({"dataset": dataset, "candidate": name, "seconds": taken} | scores(found, y_test))
    print(file=sys.stderr)
    print(summary(pd.DataFrame(rows), list(candidates)).to_string())


if __name__ == "__main__":
    main()
