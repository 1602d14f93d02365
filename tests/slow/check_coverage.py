"""Coverage on exchangeable data of a known law: what is promised, for every method, within three standard errors.

Each run draws rows, fits, and counts how many of 2,000 new rows are covered; the standard error of the mean coverage is
that of the runs. A lower bound of the coverage is a theorem for "split"; for the others the check is that the mean is
within 1.5 points of the promise: calibration rows are answered by about 37 % of the trees, which makes it a little too
high.
"""

import sys

import numpy as np

from hedgerow import ConformalClassifier, ConformalRegressor, ForestClassifier, ForestRegressor, RandomTreesClassifier

RUNS, OLD, NEW = 40, 300, 2000
SLACK = 0.015


def classes(rng, n):
    X = rng.normal(size=(n, 3))
    odds = np.exp(np.stack([X[:, 0], X[:, 1], X[:, 0] * X[:, 1]], axis=1))
    upto = (odds / odds.sum(axis=1, keepdims=True)).cumsum(axis=1)
    return X, (rng.random((n, 1)) > upto[:, :2]).sum(axis=1)


def numbers(rng, n):
    X = rng.normal(size=(n, 3))
    return X, X[:, 0] + (0.2 + X[:, 1] ** 2) * rng.standard_exponential(n)


def covered(model, X, y):
    if isinstance(model, ConformalClassifier):
        return model.predict_set(X)[np.arange(len(y)), y].mean()
    lower, upper = model.predict_interval(X).T
    return ((lower <= y) & (y <= upper)).mean()


def main():
    forest, regressor, trees = ForestClassifier(100), ForestRegressor(100), RandomTreesClassifier(100)
    one_class = {"allow_empty": True, "random_state": 0}
    cases = [
        *((classes, ConformalClassifier(forest, 0.8, method=name, **one_class)) for name in ("oob", "cv", "split")),
        (classes, ConformalClassifier(trees, 0.8, **one_class)),
        (classes, ConformalClassifier(forest, 0.8, groups="class", **one_class)),
        (classes, ConformalClassifier(forest, 0.8, "aps", randomized=True, **one_class)),
        *((numbers, ConformalRegressor(regressor, 0.8, name)) for name in ("absolute", "normalized", "cqr")),
        *((numbers, ConformalRegressor(regressor, 0.8, sides=name)) for name in ("each", "lower", "upper")),
        *((numbers, ConformalRegressor(regressor, 0.8, "absolute", name)) for name in ("cv", "split")),
    ]
    failed = False
    for draw, model in cases:
        found = []
        for run in range(RUNS):
            rng = np.random.default_rng(run)
            model.estimator.random_state = run
            model.random_state = run
            found.append(covered(model.fit(*draw(rng, OLD)), *draw(rng, NEW)))
        mean, error = np.mean(found), np.std(found, ddof=1) / np.sqrt(RUNS)
        wrong = bool(abs(mean - model.coverage) > 3 * error + (0 if model.method == "split" else SLACK))
        failed |= wrong
        print(
            f"{'WRONG ' if wrong else ''}{mean:.4f} ± {error:.4f} of {model.coverage}: {' '.join(repr(model).split())}"
        )
    sys.exit(int(failed))


if __name__ == "__main__":
    main()
