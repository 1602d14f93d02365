"""Accuracy against the cost of measurements: nothing is known of a patient at first, then one column after the other.

Usage: python benchmarks/bench_next_question.py FOLDER [DATASET ...]; the folder holds heart-statlog.parquet and
diabetes.parquet. Costs are those of single tests in Canadian dollars, from the fee schedule of Ontario (Turney,
Cost-sensitive classification, Journal of Artificial Intelligence Research 2, 1995, appendix A).

The order of the columns is that of `next_question`, row by row; one order for all rows, by what `next_question` says
when nothing is known; the cheapest first; or drawn for each row.
"""

import sys

import numpy as np
from sklearn.model_selection import StratifiedShuffleSplit

from hedgerow import ForestClassifier
from hedgerow.datasets import load

COSTS = {
    # age, sex, chest pain, pressure, cholesterol, sugar, ecg, rate, angina, oldpeak, slope, vessels, thal
    "heart-statlog": (1, 1, 1, 1, 7.27, 5.20, 15.50, 102.90, 87.30, 87.30, 87.30, 100.90, 102.90),
    # pregnancies, glucose, pressure, skin, insulin, mass, pedigree, age
    "diabetes": (1, 17.61, 1, 1, 22.78, 1, 1, 1),
}
N_SPLITS, N_ROWS, N_TREES = 6, 30, 50
PARTS = (0.0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)  # of the cost of all columns
LEAST = 1e-6  # probability


def ask_each_row(model, known, costs):
    column = model.next_question(known[np.newaxis], feature_costs=costs)[0].column
    return None if column is None else model.schema_.names.index(column)


def follow(order):
    return lambda model, known, costs: next((column for column in order if np.isnan(known[column])), None)


def told(model, row, code, choose, costs) -> list[tuple[float, float, float]]:
    """Cost so far, whether the answer is right, and bits lost, after each measurement."""
    known, spent, found = np.full(len(row), np.nan), 0.0, []
    while True:
        shares = model.predict_proba(known[np.newaxis])[0]
        found.append((spent, float(shares.argmax() == code), float(-np.log2(max(shares[code], LEAST)))))
        column = choose(model, known, costs)
        if column is None:
            return found
        known[column] = row[column]
        spent += costs[column]


def curves(X, y, costs) -> dict[str, np.ndarray]:
    """Accuracy and bits lost by way, (splits, parts of the cost, 2)."""
    rng = np.random.default_rng(0)
    found: dict[str, list] = {}
    splits = StratifiedShuffleSplit(N_SPLITS, test_size=N_ROWS, random_state=0)
    for seed, (train, test) in enumerate(splits.split(X, y)):
        model = ForestClassifier(N_TREES, random_state=seed).fit(X[train], y[train])
        first = model.next_question(np.full((1, X.shape[1]), np.nan), feature_costs=costs)[0].ranked
        ranked = [model.schema_.names.index(one.column) for one in first]
        ways = {
            "next_question": lambda i: ask_each_row,
            "one order for all rows": lambda i, ranked=ranked: follow([*ranked, *range(X.shape[1])]),
            "cheapest first": lambda i: follow(np.argsort(costs, kind="stable").tolist()),
            "at random": lambda i: follow(rng.permutation(X.shape[1]).tolist()),
        }
        for name, way in ways.items():
            rows = []
            for i in test:
                path = told(model, X[i], y[i], way(i), costs)
                rows.append([[one for one in path if one[0] <= part * costs.sum() + 1e-9][-1][1:] for part in PARTS])
            found.setdefault(name, []).append(np.mean(rows, axis=0))
    return {name: np.array(of_splits) for name, of_splits in found.items()}


def main(folder: str, *names: str) -> None:
    for name in names or COSTS:
        data, costs = load(name, data=folder), np.array(COSTS[name])
        X = np.column_stack([np.asarray(data.X[column], dtype=float) for column in data.X.column_names])
        y = np.unique(np.asarray(data.y), return_inverse=True)[1]
        print(f"{name}: all columns cost {costs.sum():.2f}; {N_SPLITS} splits, {N_ROWS} rows each")
        print(f"{'part of the cost':>22}: " + "  ".join(f"{part:>11.1%}" for part in PARTS))
        for way, of_splits in curves(X, y, costs).items():
            mean, error = of_splits.mean(axis=0), of_splits.std(axis=0, ddof=1) / N_SPLITS**0.5
            for k, what in enumerate(("accuracy", "bits lost")):
                cells = [f"{a:.3f}±{b:.3f}" for a, b in zip(mean[:, k], error[:, k], strict=True)]
                print(f"{way if k == 0 else what:>22}: {'  '.join(cells)}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
