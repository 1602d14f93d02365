"""Probabilities from the distance to a tree's decision boundary (Alvarez, Bernard and Deffuant, 2007)."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedShuffleSplit

from hedgerow import BoundaryClassifier, NaiveBayesTreeClassifier, TreeClassifier
from hedgerow.experiments.boundary_report import KINDS, TAUS, boundary_report
from hedgerow.experiments.published import published
from hedgerow.experiments.report import Report
from hedgerow.experiments.sources import Problem, Source
from hedgerow.experiments.store import Scores
from hedgerow.experiments.study import Results, Study
from hedgerow.pruning import ReducedError

__all__ = ["Boundary"]

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]

_SHIPPED = ("iris", "wine", "breast-cancer")
_SAMPLES, _QUICK_SAMPLES, _QUICK_ROWS = 100, 5, 1000
# The paper makes two classes of several and does not say which is the positive one: the class for which the first
# column of Table 1 comes closest to the printed figure, in a trial with 16 samples (4 of the large datasets).
_POSITIVE = {
    "glass": "1",
    "iris": "versicolor",
    "new-thyroid": "3",
    "pendigits": "2",
    "satimage": "red soil",
    "segment": "foliage",
    "vehicle-statlog": "bus",
    "vowel": "had",
    "wine": "class_1",
}


class Boundary(Study):
    """100 stratified samples of each dataset: boundary estimates against Laplace's correction and NBTree."""

    name = "boundary"
    title = "Class probabilities from the distance to the decision boundary"

    def datasets(self, source: Source, quick: bool) -> list[str]:
        if source.folder is None:
            return list(_SHIPPED)
        small_first = [
            "iris",
            "wine",
            "sonar",
            "glass",
            "new-thyroid",
            "bupa",
            "ionosphere",
            "breast-cancer",
            "diabetes",
        ]
        small_first += ["vehicle-statlog", "vowel", "segment", "satimage", "pendigits"]
        found = [one for one in small_first if source.has(one)]
        return found[:6] if quick else found

    def absent(self, source: Source) -> list[str]:
        return [row["dataset"] for row in published("boundary_table1") if not source.has(row["dataset"])]

    def parts(self, dataset: str, quick: bool) -> list[str]:
        return [f"{number:03}" for number in range(1, 1 + (_QUICK_SAMPLES if quick else _SAMPLES))]

    def run(self, source: Source, dataset: str, part: str) -> Scores:
        data = source.load(dataset)
        positive = _POSITIVE.get(dataset)
        y = Problem(dataset, (positive,) if positive else ()).target(data.y)
        X = np.column_stack([data.X[name].to_numpy().astype(np.float64) for name in data.X.column_names])
        seed = zlib.crc32(f"{dataset} {part}".encode())
        scores: dict[tuple[str, str], float] = {}
        for kind in KINDS:
            rows = np.arange(len(y)) if kind == "disjoint" else _bootstrap(y, seed)
            split = StratifiedShuffleSplit(1, test_size=1 / 3, random_state=seed).split(X[rows], y[rows])
            train, test = next(split)
            for setting, p in _estimates(X[rows[train]], y[rows[train]], X[rows[test]], seed).items():
                for measure, value in _measures(y[rows[test]], p).items():
                    scores[f"{kind}/{setting}", measure] = value
        return scores

    def report(self, results: Results) -> Report:
        named = {one: positive for one, positive in _POSITIVE.items() if one in results.datasets}
        return boundary_report(self.title, results, named)


def _bootstrap(y: Labels, seed: int) -> NDArray[np.intp]:
    """Rows drawn with replacement within each class, so that its share is kept."""
    rng = np.random.default_rng(seed)
    drawn = [rng.choice(np.flatnonzero(y == k), size=int((y == k).sum())) for k in (0, 1)]
    return np.concatenate(drawn)


def _estimates(X: Floats, y: Labels, X_test: Floats, seed: int) -> dict[str, Floats]:
    """Probability of the positive class for each test row, by each method."""
    trees = {
        "normal": TreeClassifier.c45(leaf_probability="laplace"),
        # As J48 does with its option for it: one of three parts is held out, and nothing is collapsed before.
        "reduced": TreeClassifier.c45(
            leaf_probability="laplace", pruning=ReducedError(fraction=1 / 3), collapse=False, random_state=seed
        ),
        "unpruned": TreeClassifier.c45(leaf_probability="laplace", pruning=None, collapse=False),
    }
    fitted = {name: tree.fit(X, y) for name, tree in trees.items()}
    found = {f"laplace {name}": tree.predict_proba(X_test)[:, 1] for name, tree in fitted.items()}
    found["nbtree"] = NaiveBayesTreeClassifier(random_state=seed).fit(X, y).predict_proba(X_test)[:, 1]

    def boundary(tree: TreeClassifier, tau: float, **settings: Any) -> Floats:
        model = BoundaryClassifier.from_fitted(tree, X, y, boundary_weight=1, bandwidth=tau, **settings)
        shares: Floats = model.predict_proba(X_test)[:, 1]
        return shares

    for tau in TAUS:
        found[f"global normal {tau:g}"] = boundary(fitted["normal"], tau)
    found["global reduced 0.1"] = boundary(fitted["reduced"], 0.1)
    found["global normal minmax 0.1"] = boundary(fitted["normal"], 0.1, metric="minmax")
    found["local normal 0.05"] = boundary(fitted["normal"], 0.05, partition="separator")
    return found


def _measures(y: Labels, p: Floats) -> dict[str, float]:
    """AUC and squared error, and log-loss where it is finite: its mean, and the share of rows where it is not."""
    of_own = np.where(y == 1, p, 1 - p)
    finite = of_own > 0
    return {
        "auc": 100 * float(roc_auc_score(y, p)),
        "mse": 200 * float(np.mean((p - y) ** 2)),  # summed over both classes, as in the paper
        "log-loss": float(-np.log(of_own[finite]).mean()) if finite.any() else float("inf"),
        "infinite": 100 * float(1 - finite.mean()),
    }
