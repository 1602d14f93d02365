"""Accuracy against the cost of measurements: nothing is known of a patient at first, then one column after the other.

Usage: python benchmarks/bench_next_question.py FOLDER, which holds heart-statlog.parquet. The costs are an example: 1
for what is asked or felt, 5 for blood and an electrocardiogram, 20 for an exercise test, 50 for fluoroscopy, 100 for
thallium.
"""

import sys

import numpy as np
from sklearn.model_selection import StratifiedKFold

from hedgerow import ForestClassifier
from hedgerow.datasets import load

N_ROWS = 6  # of each fold
BUDGETS = (0, 5, 10, 20, 40, 80, 160, 320)
# age, sex, chest pain, pressure; cholesterol, sugar, ecg; rate, angina, peak, slope; vessels; thal
COSTS = np.array([1, 1, 1, 1, 5, 5, 5, 20, 20, 20, 20, 50, 100], dtype=float)


def spent_and_right(model, row, label, choose) -> list[tuple[float, bool]]:
    """Cost so far, and whether the answer is right, after each measurement."""
    known, spent = np.full((1, len(row)), np.nan), 0.0
    path = [(0.0, bool(model.predict(known)[0] == label))]
    for _ in range(len(row)):
        column = choose(model, known)
        if column is None:
            break
        known[0, column] = row[column]
        spent += COSTS[column]
        path.append((spent, bool(model.predict(known)[0] == label)))
    return path


def main(folder: str) -> None:
    data = load("heart-statlog", data=folder)
    X = np.column_stack([np.asarray(data.X[name], dtype=float) for name in data.X.column_names])
    y = np.asarray(data.y)
    rng = np.random.default_rng(0)

    def asked(model, known):
        column = model.next_question(known, feature_costs=COSTS)[0].column
        return None if column is None else model.schema_.names.index(column)

    def at_random(model, known):
        return rng.choice(np.flatnonzero(np.isnan(known[0]))) if np.isnan(known).any() else None

    paths = {"next_question": [], "at random": []}
    full = []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        model = ForestClassifier(30, random_state=0).fit(X[train], y[train])
        full.append(model.score(X[test], y[test]))
        for i in test[:N_ROWS]:
            for name, choose in {"next_question": asked, "at random": at_random}.items():
                paths[name].append(spent_and_right(model, X[i], y[i], choose))
    print(f"all columns, cost {COSTS.sum():.0f}: accuracy {np.mean(full):.3f} on all rows")
    for name, found in paths.items():
        reached = [[[right for cost, right in path if cost <= budget][-1] for path in found] for budget in BUDGETS]
        curve = [f"{budget}: {np.mean(right):.3f}" for budget, right in zip(BUDGETS, reached, strict=True)]
        print(f"{name:>14}: {'  '.join(curve)} ({len(found)} rows)")


if __name__ == "__main__":
    main(sys.argv[1])
