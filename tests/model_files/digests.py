"""Digests of grown forests and of answers, for comparing them bit for bit with those of earlier versions.

    python tests/model_files/digests.py

writes ``kept_digests.json``. Run it when something is kept for the first time; a digest that changes is a change of
bits, and says so in CHANGELOG.md.

Kept is what takes only the operations that IEEE 754 defines (+ − × ÷ √ and comparisons), with the same bits everywhere:
Gini, squared errors, random splits, counts and leaves. Logarithms, exponentials and error functions differ between
C libraries in their last bits, and products of BLAS in the order of their sums: entropy, evidence, Dempster's
rule, kernels and laws of errors are held by oracles, and by the answers beside each model file, up to rounding.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow import (
    CautiousForestClassifier,
    Forest,
    ForestClassifier,
    ForestRegressor,
    RandomTreesClassifier,
    TreeClassifier,
    TreeRegressor,
    load,
)
from hedgerow.growth import Fractional
from hedgerow.pruning import CostComplexity, ReducedError

FOLDER = Path(__file__).parent
KEPT = FOLDER / "kept_digests.json"

GINI: dict[str, Any] = {"criterion": "gini", "pruning": None, "categorical_features": [3], "random_state": 0}
NUMBERS: dict[str, Any] = {"pruning": None, "categorical_features": [3], "random_state": 0}
# No setting is left to its default, which later versions may choose otherwise.
DRAWN: dict[str, Any] = {"n_estimators": 3, "categorical_features": [3], "random_state": 0}
FOREST: dict[str, Any] = {
    **DRAWN,
    "criterion": "gini",
    "nominal": "binary",
    "missing": "random",
    "max_features": "sqrt",
    "max_bins": 255,
    "min_samples_split": 2,
    "min_samples_leaf": 1,
    "splitter": "best",
    "bootstrap": True,
}
MEANS: dict[str, Any] = {
    **DRAWN,
    "nominal": "multiway",
    "missing": "random",
    "max_features": 1 / 3,
    "max_bins": 255,
    "min_samples_split": 2,
    "min_samples_leaf": 5,
    "splitter": "best",
    "bootstrap": True,
}

CLASSIFIERS: dict[str, Any] = {
    **{f"tree {nominal}": TreeClassifier(**GINI, nominal=nominal) for nominal in ("multiway", "binary", "subset")},
    **{
        f"tree, missing {missing}": TreeClassifier(**GINI, missing=missing)
        for missing in ("category", "learned", "random")
    },
    "tree, missing fractions": TreeClassifier(**GINI, missing=Fractional(min_fraction=0.1)),
    "tree of 6 leaves": TreeClassifier(**GINI, max_leaf_nodes=6),
    "tree, drawn columns": TreeClassifier(**GINI, max_features=2, min_samples_leaf=3),
    "tree, feature costs": TreeClassifier(**GINI, feature_costs=[1.0, 3.0, 0.5, 2.0]),
    "tree, class weights": TreeClassifier(**GINI, class_weight={0: 3.0}),
    "tree, reduced error": TreeClassifier(**{**GINI, "pruning": ReducedError(0.3)}),
    "tree, cost complexity": TreeClassifier(**{**GINI, "pruning": CostComplexity(0.01)}),
    "forest": ForestClassifier(**FOREST),
    "forest, exact": ForestClassifier(**{**FOREST, "max_bins": None}),
    "forest, few bins": ForestClassifier(**{**FOREST, "max_bins": 7}),
    "forest, drawn splits": ForestClassifier(**{**FOREST, "splitter": "random"}),
    "forest, poisson": ForestClassifier(**{**FOREST, "bootstrap": "poisson", "max_samples": 0.5}),
    "forest, no bootstrap": ForestClassifier(**{**FOREST, "bootstrap": False, "nominal": "subset"}),
    "forest, fractions": ForestClassifier(**{**FOREST, "missing": "fractional"}),
    "forest of 5 leaves": ForestClassifier(**FOREST, max_leaf_nodes=5),
    "random trees": RandomTreesClassifier(**DRAWN, rule="vote", min_samples_leaf=1, missing="fractional"),
    "random trees, small leaves": RandomTreesClassifier(
        **DRAWN, rule="laplace", min_samples_leaf=2, missing="fractional", max_depth=6
    ),
    "cautious forest": CautiousForestClassifier(**FOREST, s=1, weighting="samples", aggregate="average"),
}
REGRESSORS: dict[str, Any] = {
    **{f"numbers {nominal}": TreeRegressor(**NUMBERS, nominal=nominal) for nominal in ("multiway", "binary")},
    **{
        f"numbers, missing {missing}": TreeRegressor(**NUMBERS, missing=missing)
        for missing in ("category", "learned", "random")
    },
    "numbers, 6 leaves": TreeRegressor(**NUMBERS, max_leaf_nodes=6),
    "numbers, cost complexity": TreeRegressor(**{**NUMBERS, "pruning": CostComplexity(0.5)}),
    "numbers, reduced error": TreeRegressor(**{**NUMBERS, "pruning": ReducedError(0.3)}),
    "forest of numbers": ForestRegressor(**MEANS),
    "forest of numbers, exact": ForestRegressor(**{**MEANS, "max_bins": None, "bootstrap": "poisson"}),
    "forest of numbers, drawn splits": ForestRegressor(**{**MEANS, "splitter": "random", "bootstrap": False}),
}
VERBS = ("predict", "predict_proba", "predict_set", "predict_bounds", "predict_interval", "predict_quantiles", "apply")
TREES = "tree_classifier tree_classifier_dates tree_classifier_objects tree_regressor oblique_tree_regressor"
FORESTS = "forest_classifier forest_regressor oblique_forest rule_classifier cautious cautious_forest"
PLAIN = (*TREES.split(), *FORESTS.split(), "conformal_classifier", "conformal_regressor", "conformal_jackknife")


def rows(n: int = 120) -> np.ndarray:
    """Three columns of numbers with ties and one of categories, some values missing; no random stream of a library."""
    i = np.arange(n)
    X = np.stack([i * 37 % 101 / 8, i * i * 3 % 61 / 4, i * 53 % 17 / 2, i * 11 % 5], axis=1).astype(np.float64)
    X[i % 9 == 4, 1] = np.nan
    X[i % 13 == 6, 3] = np.nan
    return X


def targets(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Three classes and a number, with disturbances."""
    i = np.arange(len(X))
    number = np.nan_to_num(X[:, 0] + 2 * (np.nan_to_num(X[:, 3]) == 2) - X[:, 2] / 4, nan=3.0) + i * 29 % 7 / 4
    return np.digitize(number, [4.0, 9.0]), number


def digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:20]


def exact(values: Any) -> Any:
    """Numbers with all their bits as text, whatever the byte order and the bits of NaN; labels as text."""
    values = np.asarray(values)
    numbers = values.dtype.kind in "fiub"
    return [list(values.shape), [float(x).hex() if numbers else str(x) for x in values.ravel()]]


def forest_digest(forest: Forest) -> str:
    arrays = {one.name: getattr(forest, one.name) for one in fields(forest) if one.init}
    return digest({name: None if values is None else exact(values) for name, values in arrays.items()})


def grown() -> Iterator[tuple[str, Forest]]:
    """The forest of every kept configuration."""
    X = rows()
    classes, number = targets(X)
    for name, model in CLASSIFIERS.items():
        yield name, model.fit(X, classes).forest_
    more = CLASSIFIERS["random trees"].partial_fit(X[::2], classes[::2])
    yield "random trees, more rows", more.forest_
    weighted = ForestClassifier(**FOREST).fit(X, classes, sample_weight=np.arange(len(X)) % 4)
    yield "forest, sample weights", weighted.forest_
    for name, model in REGRESSORS.items():
        yield name, model.fit(X, number).forest_


def answered(name: str, X: np.ndarray) -> Iterator[tuple[str, str]]:
    """Digests of what the model of a kept file answers, for every verb that it has."""
    model = load(FOLDER / f"v1_{name}.hedgerow")
    for verb in VERBS:
        if hasattr(model, verb):
            yield f"{name}.{verb}", digest(exact(getattr(model, verb)(X)))


def main() -> None:
    X = rows()[:, [0, 1, 3]]
    kept = {
        "forests": {name: forest_digest(forest) for name, forest in grown()},
        "answers": dict(pair for name in PLAIN for pair in answered(name, X)),
    }
    KEPT.write_text(json.dumps(kept, indent=0) + "\n")
    print(f"{KEPT.name}: {len(kept['forests'])} forests, {len(kept['answers'])} answers")


if __name__ == "__main__":
    main()
