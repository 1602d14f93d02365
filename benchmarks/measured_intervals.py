"""Intervals of 90 % on inputs with added error: how often they hold the target, how wide they are, and their loss.

    python benchmarks/measured_intervals.py RESULTS.csv --data FOLDER [--seeds 10] [--rows 1000] [--trees 100]
    python benchmarks/measured_intervals.py RESULTS.csv --show

Data, errors and the file of results as in measured_forests.py. Figures are means over the seeds, coverage in percent
with its standard error; widths and losses in standard deviations of the target. The loss is the mean pinball loss of
both ends, which only the best quantiles make least.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from measured_forests import N_NEW, REAL, SIMULATED, draw

from hedgerow import ConformalRegressor, ForestRegressor, MeasuredBoostingRegressor, MeasuredForestRegressor
from hedgerow.measured import Pinball

LEVELS = np.array([0.05, 0.95])


class Pair:
    """Two boosted models, one for each end."""

    def __init__(self, sigma, seed):
        self.ends = [MeasuredBoostingRegressor(sigma, loss=Pinball(level), random_state=seed) for level in LEVELS]

    def fit(self, X, y):
        self.ends = [end.fit(X, y) for end in self.ends]
        return self

    def predict_interval(self, X):
        return np.stack([end.predict(X) for end in self.ends], axis=1)


def models(sigma, n_trees, seed):
    forest = MeasuredForestRegressor(sigma, n_estimators=n_trees, random_state=seed)
    return {
        "measured forest": forest,
        "conformal around it": ConformalRegressor(forest, conformity_score="cqr"),
        "measured boosting": Pair(sigma, seed),
        "plain forest": ForestRegressor(n_trees, random_state=seed),
    }


def measure(given, names):
    if not given.results.exists():
        given.results.write_text("data,seed,model,coverage,width,loss\n")
    known = {tuple(line.split(",")[:3]) for line in given.results.read_text().splitlines()[1:]}
    train, new = slice(0, given.rows), slice(given.rows, None)
    for seed in range(given.seeds):
        for name in names:
            latent, _, y = draw(name, seed, given.rows + N_NEW, given.data)
            sigma = given.ratio * latent.std(axis=0)
            X = latent + sigma * np.random.default_rng([seed, 1]).normal(size=latent.shape)
            for model_name, model in models(list(sigma), given.trees, seed).items():
                if (name, str(seed), model_name) in known:
                    continue
                ends = model.fit(X[train], y[train]).predict_interval(X[new])
                inside = 100 * np.mean((ends[:, 0] <= y[new]) & (y[new] <= ends[:, 1]))
                off = y[new, np.newaxis] - ends
                loss = np.mean(np.where(off > 0, LEVELS * off, (LEVELS - 1) * off)) / y.std()
                width = np.mean(ends[:, 1] - ends[:, 0]) / y.std()
                with given.results.open("a") as file:
                    file.write(f"{name},{seed},{model_name},{inside:.4f},{width:.6f},{loss:.6f}\n")


def show(results):
    table = pd.read_csv(results)
    order = list(dict.fromkeys(table["model"]))
    print("| data | seeds | " + " | ".join(order) + " |\n|---|---|" + "---|" * len(order))
    for name in dict.fromkeys(table["data"]):
        of_data = table[table["data"] == name]
        whole = of_data.groupby("seed").filter(lambda rows: len(rows) == len(order))
        cells = []
        for model in order:
            rows = whole[whole["model"] == model]
            coverage = f"{rows['coverage'].mean():.1f} ± {rows['coverage'].sem():.1f} %"
            cells.append(f"{coverage}; {rows['width'].mean():.2f}; {rows['loss'].mean():.4f}")
        print(f"| {name} | {whole['seed'].nunique()} | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=Path)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--seeds", type=int, default=10)
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
