"""Nine ways to combine the leaves of random decision trees (Busch et al., Combining Predictions under Uncertainty)."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

from hedgerow import ForestClassifier, RandomTreesClassifier, TreeClassifier, rules
from hedgerow.experiments.findings import Report
from hedgerow.experiments.published import published
from hedgerow.experiments.reports.combining import N_TREES, SINGLE_SPLIT, combining_report
from hedgerow.experiments.reports.combining_scores import LEAF_SIZES
from hedgerow.experiments.sources import Problem, Source
from hedgerow.experiments.store import Scores
from hedgerow.experiments.study import Results, Study
from hedgerow.walk import gather

__all__ = ["Combining"]

Floats = NDArray[np.float64]

_SHIPPED = ("iris", "wine", "breast-cancer", "digits")
_REPEATS = 5
_QUICK_ROWS = 1000
_EVIDENCE = ("evidence-published", "tempered")


class Combining(Study):
    """Five times two halves of 18 datasets; random trees under every rule, beside a tree and a random forest."""

    name = "combining"
    title = "Combining predictions under uncertainty: the case of random decision trees"

    def datasets(self, source: Source, quick: bool) -> list[str]:
        wanted = {row["dataset"]: int(row["n_rows"]) for row in published("combining_table1")}
        wanted["airlines-sample"] = 26969  # the sample, not the full data
        if source.folder is None:
            return list(_SHIPPED)
        found = sorted((one for one in wanted if source.has(one)), key=lambda one: wanted[one])
        return [one for one in found if wanted[one] <= _QUICK_ROWS] if quick else found

    def absent(self, source: Source) -> list[str]:
        return [row["dataset"] for row in published("combining_table1") if not source.has(row["dataset"])]

    def parts(self, dataset: str, quick: bool) -> list[str]:
        halves = [f"{repeat}{half}" for repeat, half in product(range(1, _REPEATS + 1), "ab")]
        return halves[:2] if quick else halves

    def run(self, source: Source, dataset: str, part: str) -> Scores:
        data = source.load(dataset)
        y = Problem(dataset).target(data.y)
        train, test = _half(y, part)
        seed = zlib.crc32(f"{dataset} {part}".encode())
        X_train, X_test, y_train = data.X.take(train), data.X.take(test), y[train]
        scores = _Scores(y[test])
        scores.values["data", "positive share"] = float(y.mean())
        for size in LEAF_SIZES:
            least: dict[str, Any] = {"min_samples_leaf": size, "min_samples_split": 2 * size}
            tree = TreeClassifier.cart(**least, random_state=seed).fit(X_train, y_train)
            scores.add(f"tree/{size}", tree.predict_proba(X_test)[:, 1] - 0.5)
            forest = ForestClassifier(calibration=None, splitter="best", **least, random_state=seed)
            forest.fit(X_train, y_train)
            scores.add(f"forest/{size}", forest.predict_proba(X_test)[:, 1] - 0.5)
            scores.add_rules(forest, X_test, rules.names(), [f"forest {name}/{size}" for name in rules.names()])
            # A missing value is a category of its own, as in the runs of the authors.
            random = RandomTreesClassifier(
                rule="tempered", min_samples_leaf=size, missing="category", random_state=seed
            ).fit(X_train, y_train)
            names = [*rules.names(), *_EVIDENCE]
            tried = [*rules.names(), *_EVIDENCE[:-1], random.rule_]
            for n_trees in N_TREES:
                ending = "" if n_trees == random.n_estimators else f"/{n_trees} trees"
                settings = [f"{name}/{size}{ending}" for name in names]
                scores.add_rules(random, X_test, tried, settings, n_trees)
            if dataset in (*SINGLE_SPLIT, *_SHIPPED) and part == "1a":
                for number, accuracy in enumerate(_accuracy_of_trees(random, X_test, y[test])):
                    scores.values[f"one tree {number}/{size}", "accuracy"] = accuracy
        return scores.values

    def report(self, results: Results) -> Report:
        return combining_report(self.title, results)


class _Scores:
    """AUC and accuracy of signed scores for the same test rows."""

    def __init__(self, y: NDArray[np.intp]) -> None:
        self.values: dict[tuple[str, str], float] = {}
        self._y = y

    def add(self, setting: str, signed: Floats) -> None:
        self.values[setting, "auc"] = float(roc_auc_score(self._y, signed))
        self.values[setting, "accuracy"] = float(((signed > 0) == self._y).mean())

    def add_rules(
        self, model: object, X: object, tried: Sequence[object], settings: Sequence[str], n_trees: int | None = None
    ) -> None:
        for setting, signed in zip(settings, rules.compare(model, X, tried, n_trees=n_trees).T, strict=True):
            self.add(setting, signed)


def _half(y: NDArray[np.intp], part: str) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Training and test rows: "3b" is the second half of the third split in two."""
    halves = StratifiedKFold(2, shuffle=True, random_state=int(part[:-1])).split(np.empty(len(y)), y)
    train, test = list(halves)["ab".index(part[-1])]
    return train, test


def _accuracy_of_trees(model: RandomTreesClassifier, X: object, y: NDArray[np.intp]) -> list[float]:
    """Accuracy of every tree by itself, a tie being the negative class."""
    shares = model.leaf_probabilities()[:, 1:]
    of_trees = gather(model.forest_, model.schema_.read(X, estimator=model), shares)[:, :, 0]
    accuracies: list[float] = ((of_trees > 0.5) == (y == 1)[:, np.newaxis]).mean(axis=0).tolist()
    return accuracies
