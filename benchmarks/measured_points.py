"""What points instead of regions cost measured forests in accuracy, on the problems of `measured_forests.py`.

    python benchmarks/measured_points.py --data FOLDER [--seeds 10] [--rows 1000] [--trees 100]

Each forest is grown once and asked with several `n_points`. Figures are the excess of the mean squared error against
the latent truth over that of all regions, in percent, means over the seeds with standard errors; `error` is the mean
squared error of all regions in percent of the variance of the truth.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from measured_forests import N_NEW, REAL, SIMULATED, draw

from hedgerow import MeasuredForestRegressor

POINTS = (1, 2, 4, 8, 16)


def errors(name: str, seed: int, given: argparse.Namespace) -> list[float]:
    """Mean squared errors of one forest: by all regions, and by points."""
    latent, truth, y = draw(name, seed, given.rows + N_NEW, given.data)
    sigma = given.ratio * latent.std(axis=0)
    X = latent + sigma * np.random.default_rng([seed, 1]).normal(size=latent.shape)
    train, new = slice(0, given.rows), slice(given.rows, None)
    forest = MeasuredForestRegressor(list(sigma), n_estimators=given.trees, random_state=seed).fit(X[train], y[train])
    found = []
    for n_points in (None, *POINTS):
        answer: Any = forest.set_params(n_points=n_points).predict(X[new])
        found.append(100 * np.mean((answer - truth[new]) ** 2) / truth.var())
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--ratio", type=float, default=0.45)
    given = parser.parse_args()
    names = [*SIMULATED, "steps", *(REAL if given.data else ())]
    print("| data | error | " + " | ".join(f"{p} points" for p in POINTS) + " |\n|---|---|" + "---|" * len(POINTS))
    for name in names:
        found = np.array([errors(name, seed, given) for seed in range(given.seeds)])
        excess = 100 * (found[:, 1:] / found[:, :1] - 1)
        spread = np.concatenate([found[:, :1], excess], axis=1).std(axis=0, ddof=1) / np.sqrt(given.seeds)
        cells = [f"{found[:, 0].mean():.2f} ± {spread[0]:.2f}"]
        cells += [f"{mean:+.2f} ± {se:.2f}" for mean, se in zip(excess.mean(axis=0), spread[1:], strict=True)]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
