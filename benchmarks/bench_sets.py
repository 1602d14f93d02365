"""Sets of cautious forests against the probabilities of the same forest: 50,000 rows, 100 trees, one thread."""

import warnings

from sklearn.datasets import make_classification
from timing import best_of, print_ratios

from hedgerow import CautiousClassifier, ForestClassifier, credal

N_TRAIN, N_ROWS, N_TREES, ROUNDS = 20_000, 50_000, 100, 7


def compare(n_classes: int) -> None:
    X, y = make_classification(N_TRAIN + N_ROWS, 20, n_informative=8, n_classes=n_classes, flip_y=0.1, random_state=0)
    forest = ForestClassifier(N_TREES, random_state=0).fit(X[:N_TRAIN], y[:N_TRAIN])
    rows = X[N_TRAIN:]
    jobs = {"predict_proba of the forest": lambda: forest.predict_proba(rows)}
    for name in credal.names():
        model = CautiousClassifier.from_fitted(forest, aggregate=name)
        jobs[f"predict_set, {name}"] = lambda model=model: model.predict_set(rows)
    with warnings.catch_warnings(action="ignore"):  # of trees without a common distribution, under "conjunction"
        best_of(jobs, 1)  # makes the tables
        seconds = best_of(jobs, ROUNDS)
    print_ratios(f"{n_classes} classes, {N_ROWS} rows", seconds, "predict_proba of the forest")


if __name__ == "__main__":
    for n_classes in (2, 5):
        compare(n_classes)
