"""Errors that are correlated between columns: what knowing their covariance gains over knowing their sizes alone.

    python benchmarks/measured_correlated.py [--seeds 3] [--rows 1000]

Forests have 50 trees. `friedman 1` has errors of 0.6 standard deviations in five columns, with a correlation of 0.8
between the first four;
`difference` asks whether the first of three normal columns is above the second, with errors of 0.7 and a correlation
of 0.9 between all. Mean squared errors against the latent truth in percent of its variance, means over the seeds with
standard errors; `below` is by how much of the error the covariance lowers it. Processor time of one fit and of 1,000
predictions.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from sklearn.datasets import make_friedman1

from hedgerow import MeasuredBoostingRegressor, MeasuredForestRegressor, MeasuredTreeRegressor

Floats = Any
N_NEW = 1000
MODELS = {
    "measured tree": MeasuredTreeRegressor(),
    "measured forest": MeasuredForestRegressor(n_estimators=50, random_state=0),
    "measured boosting": MeasuredBoostingRegressor(random_state=0),
}


def draw(name: str, seed: int, n: int) -> tuple[Floats, Floats, Floats]:
    """Latent values, the truth, and the covariance of the errors."""
    if name == "friedman 1":
        latent, truth = make_friedman1(n, n_features=5, noise=0.0, random_state=seed)
        correlation = np.eye(5)
        correlation[:4, :4] += 0.8 * (1 - np.eye(4))
        sigma = 0.6 * latent.std(axis=0)
    else:
        latent = np.random.default_rng(seed).normal(size=(n, 3))
        truth = np.where(latent[:, 0] > latent[:, 1], 3.0, 0.0)
        correlation, sigma = np.full((3, 3), 0.9) + 0.1 * np.eye(3), np.full(3, 0.7)
    return latent, truth, correlation * np.outer(sigma, sigma)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rows", type=int, default=1000)
    given = parser.parse_args()
    print("| data | model | sizes alone | covariance | below | fit, s | predict, s |\n|---|---|---|---|---|---|---|")
    for name in ("friedman 1", "difference"):
        for model_name, model in MODELS.items():
            found = np.array([contest(name, model, seed, given.rows) for seed in range(given.seeds)])
            below = 100 * (1 - found[:, 1, 0] / found[:, 0, 0])
            cells = [mean_text(found[:, i, 0]) for i in (0, 1)] + [f"{mean_text(below, 1)} %"]
            times = found[:, :, 1:].min(axis=0)
            cells += [f"{times[0, k]:.2f}, {times[1, k]:.2f}" for k in (0, 1)]
            print(f"| {name} | {model_name} | " + " | ".join(cells) + " |", flush=True)


def contest(name: str, model: Any, seed: int, n_rows: int) -> list[list[float]]:
    """Error and times with the sizes of the errors, and with their covariance."""
    latent, truth, covariance = draw(name, seed, n_rows + N_NEW)
    rng = np.random.default_rng([seed, 1])
    X = latent + rng.multivariate_normal(np.zeros(len(covariance)), covariance, size=len(latent))
    y = truth + rng.normal(scale=truth.std() / 5, size=len(truth))
    train, new = slice(0, n_rows), slice(n_rows, None)
    results = []
    for sigma in (np.sqrt(np.diag(covariance)).tolist(), covariance):
        start = time.process_time()
        model.set_params(sigma=sigma).fit(X[train], y[train])
        fitted = time.process_time()
        error = 100 * np.mean((model.predict(X[new]) - truth[new]) ** 2) / truth.var()
        results.append([error, fitted - start, time.process_time() - fitted])
    return results


def mean_text(values: Floats, digits: int = 2) -> str:
    """Mean with its standard error."""
    return f"{values.mean():.{digits}f} ± {values.std(ddof=1) / np.sqrt(len(values)):.{digits}f}"


if __name__ == "__main__":
    main()
