"""Forests and boosting on inputs with added error of known size: mean squared error against the latent truth.

    python benchmarks/measured_forests.py RESULTS.csv --data FOLDER [--seeds 30] [--rows 1000] [--trees 100]
    python benchmarks/measured_forests.py RESULTS.csv --show

FOLDER has kin8nm.parquet, california-housing.parquet and power-plant.parquet; without it only simulated data are used.
Every column gets a normal error of `--ratio` of its standard deviation, in training and new rows; all models see the
same rows. Each figure is added to RESULTS.csv as soon as it is known, and figures that are there are not computed
again; `--show` prints the tables of the file. Figures are mean squared errors in percent of the variance of the truth,
means over the seeds with standard errors; `wins` are the seeds where the measured model is better.

Rivals that know the errors: "imputed" is a plain forest of each training row five times, with values drawn from
N(m + λ(x − m), λσ²), whose answers are averaged over five such draws of a new row. "extrapolated" adds more errors to
the training rows, with variances of 0, ½, 1 and 3/2 times those they have, and continues the answers of the four plain
forests to −1 by a parabola (simulation and extrapolation: Cook and Stefanski, 1994).
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import make_friedman1, make_friedman2, make_friedman3
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor

from hedgerow import ForestRegressor, MeasuredBoostingRegressor, MeasuredForestRegressor, MeasuredTreeRegressor

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


class Imputed:
    """A plain forest of rows drawn from the law of the latent values."""

    def __init__(self, sigma: Floats, n_trees: int, seed: int) -> None:
        self.sigma, self.seed = sigma, seed
        self.forest = ForestRegressor(n_trees, random_state=seed)

    def _draws(self, X: Floats, seed: int) -> Floats:
        share = self.variance / (self.variance + self.sigma**2)
        centre = self.mean + share * (X - self.mean)
        noise = np.random.default_rng(seed).normal(size=(N_DRAWS, *X.shape))
        return (centre + np.sqrt(share) * self.sigma * noise).reshape(-1, X.shape[1])

    def fit(self, X: Floats, y: Floats) -> Imputed:
        self.mean = X.mean(axis=0)
        self.variance = np.maximum(X.var(axis=0) - self.sigma**2, 1e-12)
        self.forest.fit(self._draws(X, self.seed), np.tile(y, N_DRAWS))
        return self

    def predict(self, X: Floats) -> Floats:
        return self.forest.predict(self._draws(X, self.seed + 1)).reshape(N_DRAWS, -1).mean(axis=0)


class Extrapolated:
    """Plain forests of rows with more and more errors, continued to none."""

    more = np.array([0.0, 0.5, 1.0, 1.5])

    def __init__(self, sigma: Floats, n_trees: int, seed: int) -> None:
        self.sigma, self.seed = sigma, seed
        self.forests = [ForestRegressor(n_trees, random_state=seed + i) for i in range(len(self.more))]

    def fit(self, X: Floats, y: Floats) -> Extrapolated:
        noise = self.sigma * np.random.default_rng([self.seed, 2]).normal(size=X.shape)
        for more, forest in zip(self.more, self.forests, strict=True):
            forest.fit(X + np.sqrt(more) * noise, y)
        return self

    def predict(self, X: Floats) -> Floats:
        answers = np.array([forest.predict(X) for forest in self.forests])
        return np.array([1.0, -1.0, 1.0]) @ np.polynomial.polynomial.polyfit(self.more, answers, 2)


def models(sigma: Floats, n_trees: int, seed: int) -> dict[str, Any]:
    """Models by name."""
    return {
        "measured forest": MeasuredForestRegressor(list(sigma), n_estimators=n_trees, random_state=seed),
        "plain forest": ForestRegressor(n_trees, random_state=seed),
        "measured tree": MeasuredTreeRegressor(list(sigma)),
        "scikit-learn": RandomForestRegressor(n_trees, max_features=1 / 3, random_state=seed),
        "imputed": Imputed(sigma, n_trees, seed),
        "extrapolated": Extrapolated(sigma, n_trees, seed),
        "measured boosting": MeasuredBoostingRegressor(list(sigma), random_state=seed),
        "HistGradientBoosting": HistGradientBoostingRegressor(random_state=seed),
    }


CONTESTS = (
    ("measured forest", ("plain forest", "measured tree", "scikit-learn", "imputed", "extrapolated")),
    ("measured boosting", ("HistGradientBoosting",)),
)


def measure(given: argparse.Namespace, names: list[str]) -> None:
    """Add what the file lacks, one seed after the other."""
    header = "data,seed,model,error\n"
    if not given.results.exists():
        given.results.write_text(header)
    known = {tuple(line.split(",")[:3]) for line in given.results.read_text().splitlines()[1:]}
    for seed in range(given.seeds):
        for name in names:
            latent, truth, y = draw(name, seed, given.rows + N_NEW, given.data)
            sigma = given.ratio * latent.std(axis=0)
            X = latent + sigma * np.random.default_rng([seed, 1]).normal(size=latent.shape)
            train, new = slice(0, given.rows), slice(given.rows, None)
            for model_name, model in models(sigma, given.trees, seed).items():
                if (name, str(seed), model_name) in known:
                    continue
                answer = model.fit(X[train], y[train]).predict(X[new])
                error = 100 * np.mean((answer - truth[new]) ** 2) / truth.var()
                with given.results.open("a") as file:
                    file.write(f"{name},{seed},{model_name},{error:.6f}\n")


def show(results: Path) -> None:
    """Tables of the seeds for which all models have figures."""
    table = pd.read_csv(results).pivot(index=["data", "seed"], columns="model", values="error").dropna()
    for ours, rivals in CONTESTS:
        print("| data | seeds | " + " | ".join((ours, *rivals)) + " | below the best rival by | wins |")
        print("|---|---|" + "---|" * (len(rivals) + 3))
        for name in [*SIMULATED, "steps", *REAL]:
            if name not in table.index:
                continue
            errors = table.loc[name, [ours, *rivals]]
            cells = [f"{errors[one].mean():.2f} ± {errors[one].sem():.2f}" for one in errors]
            best = errors[list(rivals)].mean().idxmin()
            gain = 100 * (1 - errors[ours] / errors[best])
            last = f"{gain.mean():.1f} ± {gain.sem():.1f} % | {(gain > 0).sum()} of {len(gain)}"
            print(f"| {name} | {len(errors)} | " + " | ".join(cells) + f" | {last} |")
        print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--seeds", type=int, default=30)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--ratio", type=float, default=0.45)
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    if not given.show:
        measure(given, [*SIMULATED, "steps", *(REAL if given.data else ())])
    show(given.results)


if __name__ == "__main__":
    main()
