"""Growing one tree against scikit-learn: the same data, one thread, grown until the leaves are pure.

HEDGEROW_DATA names a folder with adult.parquet (48,842 × 14, nominal and missing columns; the last is `target`);
without it that part is left out.
"""

import os
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification
from sklearn.impute import SimpleImputer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from timing import best_of, print_ratios

from hedgerow import TreeClassifier, TreeRegressor


def data(n_rows: int, n_features: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, y = make_classification(n_rows, n_features, n_informative=8, flip_y=0.1, random_state=0)
    noise = np.random.default_rng(0).normal(size=n_rows)
    return X.astype(np.float32).astype(float), y, X[:, 0] * 2 + np.sin(3 * X[:, 1]) + noise


def sizes() -> None:
    for n_rows, n_features, rounds in ((20_000, 20, 7), (200_000, 50, 2)):
        X, y, number = data(n_rows, n_features)
        for criterion in ("gini", "entropy"):
            jobs = {
                "scikit-learn": partial(DecisionTreeClassifier(criterion=criterion, random_state=0).fit, X, y),
                "hedgerow": partial(TreeClassifier.cart(criterion=criterion).fit, X, y),
            }
            print_ratios(f"{n_rows} x {n_features}, {criterion}", best_of(jobs, rounds), "scikit-learn")
        jobs = {
            "scikit-learn": partial(DecisionTreeRegressor(random_state=0).fit, X, number),
            "hedgerow": partial(TreeRegressor(pruning=None).fit, X, number),
        }
        print_ratios(f"{n_rows} x {n_features}, squared error", best_of(jobs, rounds), "scikit-learn")


def growth_of_cost() -> None:
    """Seconds over n·log2(n): a constant, if cost grows as n log n."""
    print("\ngrowth with the number of rows (20 columns, gini): nanoseconds a row, column and doubling")
    X, y, _ = data(320_000, 20)
    for n in (10_000, 20_000, 40_000, 80_000, 160_000, 320_000):
        seconds = best_of({"hedgerow": partial(TreeClassifier.cart().fit, X[:n], y[:n])}, 3)["hedgerow"]
        print(f"  {n:>7} rows  {seconds * 1e3:9.1f} ms   {seconds * 1e9 / (n * 20 * np.log2(n)):6.2f}")


def adult(path: Path) -> None:
    import pandas as pd

    frame = pd.read_parquet(path)
    X, y = frame.drop(columns="target"), frame["target"].to_numpy()
    nominal = [name for name in X if not pd.api.types.is_numeric_dtype(X[name])]
    encode = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")), nominal),
        remainder=SimpleImputer(),
        sparse_threshold=0,
    )
    encoded = encode.fit_transform(X.astype(dict.fromkeys(nominal, object)))
    jobs = {
        "scikit-learn, one-hot and imputed": lambda: DecisionTreeClassifier(random_state=0).fit(encoded, y),
        "hedgerow, frame as it is": lambda: TreeClassifier(pruning=None).fit(X, y),
        "hedgerow, frame as it is, gini": lambda: TreeClassifier("gini", pruning=None).fit(X, y),
        "hedgerow, one-hot and imputed, cart": lambda: TreeClassifier.cart().fit(encoded, y),
    }
    print_ratios(f"adult, {X.shape[0]} x {X.shape[1]}, fit", best_of(jobs, 3), next(iter(jobs)))
    print("  accuracy, 5-fold:")
    for name, model, table in (
        ("scikit-learn", DecisionTreeClassifier(random_state=0), encoded),
        ("hedgerow", TreeClassifier(pruning=None), X),
        ("hedgerow, gini", TreeClassifier("gini", pruning=None), X),
    ):
        scores = cross_val_score(model, table, y, cv=5)
        print(f"    {name:<20} {scores.mean():.4f} +- {scores.std() / np.sqrt(len(scores)):.4f}")


if __name__ == "__main__":
    sizes()
    growth_of_cost()
    adult_path = Path(os.environ.get("HEDGEROW_DATA", ""), "adult.parquet")
    if adult_path.exists():
        adult(adult_path)
    else:
        print("\nadult: left out (set HEDGEROW_DATA to a folder with adult.parquet)")
