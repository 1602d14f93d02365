"""Predictions of measured forests against a plain forest's: microseconds for each row and tree, and what points cost.

    python benchmarks/measured_walks.py [--trees 100] [--rows 20000] [--new 50000] [--ratio 0.3]

Friedman 1 with an error of `--ratio` standard deviations in ten columns; processor time of one thread, the least of
three runs. `off` is the root mean square of the difference from the answers of `n_points=None` in percent of the
standard deviation of the truth, `error` the mean squared error against the truth in percent of its variance.
"""

import argparse
import time

import numpy as np
from sklearn.datasets import make_friedman1

from hedgerow import ForestRegressor, MeasuredForestRegressor


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--new", type=int, default=50_000)
    parser.add_argument("--ratio", type=float, default=0.3)
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    latent, truth = make_friedman1(given.rows + given.new, noise=0.0, random_state=0)
    sigma = given.ratio * latent.std(axis=0)
    X = latent + sigma * rng.normal(size=latent.shape)
    y = truth + rng.normal(size=len(truth))
    train, new = slice(0, given.rows), slice(given.rows, None)
    plain = ForestRegressor(given.trees, random_state=0).fit(X[train], y[train])
    start = time.process_time()
    soft = MeasuredForestRegressor(list(sigma), n_estimators=given.trees, random_state=0).fit(X[train], y[train])
    print(f"fit: {(time.process_time() - start) / given.trees:.2f} s a tree")
    unit = 1e6 / given.new / given.trees
    base, answers = timed(plain, X[new])
    print(f"plain forest, {plain.forest_.n_leaves / given.trees:.0f} leaves a tree: {unit * base:.3f} µs")
    exact = None
    for n_points in (None, 4, 6, 8, 16):
        taken, answers = timed(soft.set_params(n_points=n_points), X[new])
        exact = answers if exact is None else exact
        off = 100 * np.sqrt(np.mean((answers - exact) ** 2)) / truth.std()
        error = 100 * np.mean((answers - truth[new]) ** 2) / truth.var()
        print(
            f"measured forest, {soft.forest_.n_leaves / given.trees:.0f} leaves, n_points={n_points}: "
            f"{unit * taken:.3f} µs, {taken / base:.1f} times; off {off:.2f}, error {error:.3f}"
        )


def timed(model, X):
    best, answers = np.inf, model.predict(X[:100])
    for _ in range(3):
        start = time.process_time()
        answers = model.predict(X)
        best = min(best, time.process_time() - start)
    return best, answers


if __name__ == "__main__":
    main()
