"""Soft trees, forests and boosting for inputs with errors (Tami et al., Decision Tree for Uncertainty Measures)."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor

from hedgerow import (
    ForestRegressor,
    MeasuredBoostingRegressor,
    MeasuredForestRegressor,
    MeasuredTreeRegressor,
    TreeRegressor,
)
from hedgerow.experiments.findings import Report
from hedgerow.experiments.generated import GENERATED
from hedgerow.experiments.reports.measured import RATIOS, measured_report
from hedgerow.experiments.sources import Source
from hedgerow.experiments.store import Scores
from hedgerow.experiments.study import Results, Study

__all__ = ["Measured"]

Floats = NDArray[np.float64]

_SHIPPED = ("diabetes",)
_REAL = ("diabetes-sklearn", "boston", "wine-quality-red-regression", "kin8nm", "power-plant", "california-housing")
_REPEATS, _QUICK_REPEATS = 10, 2
_ROWS = 1000  # to learn from; as many or more to test

# Models by the names of the tables, made from the standard deviations of the errors and a seed.
_MODELS: dict[str, Callable[[Floats, int], Any]] = {
    "tree": lambda sigma, seed: TreeRegressor(random_state=seed),
    "tree, σ = 0": lambda sigma, seed: MeasuredTreeRegressor(0.0),
    "soft tree": lambda sigma, seed: MeasuredTreeRegressor(sigma),
    "forest": lambda sigma, seed: ForestRegressor(random_state=seed),
    "scikit-learn's forest": lambda sigma, seed: RandomForestRegressor(max_features=1 / 3, random_state=seed),
    "forest, σ = 0": lambda sigma, seed: MeasuredForestRegressor(0.0, random_state=seed),
    "soft forest": lambda sigma, seed: MeasuredForestRegressor(sigma, random_state=seed),
    "scikit-learn's boosting": lambda sigma, seed: HistGradientBoostingRegressor(random_state=seed),
    "boosting, σ = 0": lambda sigma, seed: MeasuredBoostingRegressor(0.0, random_state=seed),
    "soft boosting": lambda sigma, seed: MeasuredBoostingRegressor(sigma, random_state=seed),
}


class Measured(Study):
    """Models on inputs with added errors of known size, tested against the latent truth."""

    name = "measured"
    revision = 2  # boosting, models told that there are no errors, and three sizes of the errors
    title = "Decision trees for inputs measured with error"

    def datasets(self, source: Source, quick: bool) -> list[str]:
        named = _SHIPPED if source.folder is None else _REAL
        return ["friedman-1", "steps"] if quick else [*GENERATED, *(one for one in named if source.has(one))]

    def absent(self, source: Source) -> list[str]:
        return [one for one in _REAL if not source.has(one)]

    def parts(self, dataset: str, quick: bool) -> list[str]:
        return [f"{number:02}" for number in range(1, 1 + (_QUICK_REPEATS if quick else _REPEATS))]

    def run(self, source: Source, dataset: str, part: str) -> Scores:
        seed = zlib.crc32(f"{dataset} {part}".encode())
        rng = np.random.default_rng(seed)
        if dataset in GENERATED:
            latent, truth = GENERATED[dataset](rng, 3 * _ROWS)
            y = truth + rng.normal(scale=0.25 * truth.std(), size=len(truth))
        else:
            data = source.load(dataset)
            latent = np.column_stack([data.X[name].to_numpy().astype(np.float64) for name in data.X.column_names])
            order = rng.permutation(len(latent))[: 3 * _ROWS]
            latent, truth = latent[order], np.asarray(data.y, dtype=np.float64)[order]
            y = truth
        noise = rng.normal(size=latent.shape)
        n = min(_ROWS, len(latent) // 2)
        scores = {}
        for ratio in RATIOS:  # the same errors, larger and larger
            sigma = ratio * latent.std(axis=0)
            X = latent + noise * sigma
            for name, make in _MODELS.items():
                answers = make(sigma, seed % 2**31).fit(X[:n], y[:n]).predict(X[n:])
                scores[f"{name}/{ratio:g}", "error"] = float(np.mean((answers - truth[n:]) ** 2) / truth[n:].var())
        return scores

    def report(self, results: Results) -> Report:
        return measured_report(self.title, results)
