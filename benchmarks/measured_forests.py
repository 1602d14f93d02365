"""Forests on inputs with added error of known size: mean squared error against the latent truth.

    python benchmarks/measured_forests.py --data FOLDER [--seeds 30] [--rows 1000] [--trees 100]

FOLDER has kin8nm.parquet, california-housing.parquet and power-plant.parquet; without it only simulated data are used.
Every column gets a normal error of `--ratio` of its standard deviation, in training and new rows; all models see the
same rows. Figures are mean squared errors in percent of the variance of the truth, means over the seeds with standard
errors; `wins` are the seeds where the measured forest is better. "replicated" is the rival that imputes: each training
row five times, with values drawn from N(m + λ(x − m), λσ²), and answers averaged over five such draws of a new row.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import make_friedman1, make_friedman2, make_friedman3
from sklearn.ensemble import RandomForestRegressor

from hedgerow import ForestRegressor, MeasuredForestRegressor, MeasuredTreeRegressor

Floats = Any
N_NEW, N_DRAWS = 1000, 5
REAL = ("kin8nm", "california-housing", "power-plant")
SIMULATED = {"friedman 1": make_friedman1, "friedman 2": make_friedman2, "friedman 3": make_friedman3}


def steps(n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Eight steps of random heights in the first of three columns."""
    latent = rng.uniform(size=(n, 3))
    return latent, rng.normal(size=8)[np.minimum((latent[:, 0] * 8).astype(int), 7)]


def draw(name: str, seed: int, n: int, folder: Path | None) -> tuple[Floats, Floats, Floats]:
    """Latent values, the truth, and y with noise where the data are simulated."""
    rng = np.random.default_rng(seed)
    if name in SIMULATED:
        latent, truth = SIMULATED[name](n, noise=0.0, random_state=seed)
    elif name == "steps":
        latent, truth = steps(n, rng)
    else:
        assert folder is not None
        frame = pd.read_parquet(folder / f"{name}.parquet").sample(n, random_state=seed)
        values = frame.to_numpy(dtype=np.float64)
        return values[:, :-1], values[:, -1], values[:, -1]
    return latent, truth, truth + rng.normal(scale=truth.std() / 5, size=n)


class Replicated:
    """A plain forest of rows drawn from the law of the latent values."""

    def __init__(self, sigma: Floats, n_trees: int, seed: int) -> None:
        self.sigma, self.seed = sigma, seed
        self.forest = ForestRegressor(n_trees, random_state=seed, n_jobs=2)

    def _draws(self, X: Floats, seed: int) -> Floats:
        share = self.variance / (self.variance + self.sigma**2)
        centre = self.mean + share * (X - self.mean)
        noise = np.random.default_rng(seed).normal(size=(N_DRAWS, *X.shape))
        return (centre + np.sqrt(share) * self.sigma * noise).reshape(-1, X.shape[1])

    def fit(self, X: Floats, y: Floats) -> Replicated:
        self.mean = X.mean(axis=0)
        self.variance = np.maximum(X.var(axis=0) - self.sigma**2, 1e-12)
        self.forest.fit(self._draws(X, self.seed), np.tile(y, N_DRAWS))
        return self

    def predict(self, X: Floats) -> Floats:
        return self.forest.predict(self._draws(X, self.seed + 1)).reshape(N_DRAWS, -1).mean(axis=0)


def models(sigma: Floats, n_trees: int, seed: int) -> dict[str, Any]:
    """Models by name."""
    return {
        "measured forest": MeasuredForestRegressor(list(sigma), n_estimators=n_trees, random_state=seed, n_jobs=2),
        "plain forest": ForestRegressor(n_trees, random_state=seed, n_jobs=2),
        "measured tree": MeasuredTreeRegressor(list(sigma)),
        "scikit-learn": RandomForestRegressor(n_trees, max_features=1 / 3, random_state=seed, n_jobs=2),
        "replicated": Replicated(sigma, n_trees, seed),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--ratio", type=float, default=0.45)
    given = parser.parse_args()
    names = [*SIMULATED, "steps", *(REAL if given.data else ())]
    print("| data | " + " | ".join(models(np.ones(1), 1, 0)) + " | below the best rival by | wins |")
    for name in names:
        errors: dict[str, list[float]] = {}
        for seed in range(given.seeds):
            latent, truth, y = draw(name, seed, given.rows + N_NEW, given.data)
            sigma = given.ratio * latent.std(axis=0)
            X = latent + sigma * np.random.default_rng([seed, 1]).normal(size=latent.shape)
            train, new = slice(0, given.rows), slice(given.rows, None)
            for model_name, model in models(sigma, given.trees, seed).items():
                answer = model.fit(X[train], y[train]).predict(X[new])
                error = 100 * np.mean((answer - truth[new]) ** 2) / truth.var()
                errors.setdefault(model_name, []).append(float(error))
        table = np.array(list(errors.values()))
        spread = table.std(axis=1, ddof=1) / np.sqrt(given.seeds) if given.seeds > 1 else 0 * table[:, 0]
        rival = 1 + int(table[1:].mean(axis=1).argmin())
        gain = 100 * (1 - table[0] / table[rival])
        cells = [f"{m:.2f} ± {s:.2f}" for m, s in zip(table.mean(axis=1), spread, strict=True)]
        deviation = gain.std(ddof=1) / np.sqrt(given.seeds) if given.seeds > 1 else 0.0
        last = f"{gain.mean():.1f} ± {deviation:.1f} % | {(gain > 0).sum()} of {given.seeds}"
        print(f"| {name} | " + " | ".join(cells) + f" | {last} |", flush=True)


if __name__ == "__main__":
    main()
