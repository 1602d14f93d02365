"""One tree, bagging and forests: what the lecture says of them (Honavar, Decision Trees and Random Forests, 2022)."""

from __future__ import annotations

import warnings
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold, train_test_split

from hedgerow import ForestClassifier, ForestRegressor, TreeClassifier
from hedgerow.datasets import Dataset
from hedgerow.experiments.findings import Report
from hedgerow.experiments.generated import expression_data, friedman_1, relevant_few
from hedgerow.experiments.reports.lecture import (
    DRAWN_FEATURES,
    ENSEMBLES,
    EXPRESSION,
    N_DRAWN,
    N_TREES,
    PRUNED_TO,
    REDUCED,
    RELEVANT,
    VARIANCE,
    VOTERS,
    lecture_report,
)
from hedgerow.experiments.sources import Source
from hedgerow.experiments.store import Scores
from hedgerow.experiments.study import Results, Study
from hedgerow.inspection import permutation_importance
from hedgerow.pruning import ReducedError

__all__ = ["Lecture"]

Floats = NDArray[np.float64]

_SHIPPED = ("wine", "breast-cancer", "digits")
_MORE = ("heart-cleveland", "sonar", "glass", "vowel", "segment")
_GENERATED = (VARIANCE, RELEVANT, EXPRESSION)
_HEART = "heart-cleveland"
_REPEATS, _QUICK_REPEATS, _FOLDS = 10, 1, 5


class Lecture(Study):
    """Misclassification, variance, pruning and importance of trees and forests."""

    name = "lecture"
    revision = 2  # reduced-error pruning, and importance by permutation
    title = "Decision trees and random forests: a lecture"

    def datasets(self, source: Source, quick: bool) -> list[str]:
        named = (
            _SHIPPED
            if source.folder is None
            else (_HEART, "sonar", "glass", "wine", "breast-cancer", "vowel", "segment")
        )
        found = [one for one in named if source.has(one)]
        return [*(found[:3] if quick else found), *_GENERATED]

    def absent(self, source: Source) -> list[str]:
        return [one for one in _MORE if not source.has(one)]

    def parts(self, dataset: str, quick: bool) -> list[str]:
        return [f"{number:02}" for number in range(1, 1 + (_QUICK_REPEATS if quick else _REPEATS))]

    def run(self, source: Source, dataset: str, part: str) -> Scores:
        seed = zlib.crc32(f"{dataset} {part}".encode())
        if dataset == VARIANCE:
            return _variance(seed)
        if dataset == RELEVANT:
            return _few_relevant(seed)
        if dataset == EXPRESSION:
            return _expression(seed)
        data = source.load(dataset)
        scores = _ensembles(data, seed) | _pruning(data, seed)
        if dataset in (_HEART, "breast-cancer"):
            scores |= _importances(data, seed)
        return scores

    def report(self, results: Results) -> Report:
        return lecture_report(self.title, results)


def _forest(kind: str, n_trees: int, seed: int) -> ForestClassifier:
    """Breiman's forest, or bagging: every column a candidate at every split."""
    features = "sqrt" if kind == "forest" else None
    plain: dict[str, Any] = {"calibration": None, "splitter": "best", "min_samples_split": 2}
    return ForestClassifier(n_trees, max_features=features, **plain, random_state=seed)


def _ensembles(data: Dataset, seed: int) -> dict[tuple[str, str], float]:
    """Misclassification of a tree, bagging and a forest, and of both over the number of trees, in percent."""
    errors: dict[tuple[str, str], list[float]] = {}
    splits = StratifiedKFold(_FOLDS, shuffle=True, random_state=seed).split(np.empty(len(data.y)), data.y)
    for train, test in splits:
        X, y, X_test, y_test = data.X.take(train), data.y[train], data.X.take(test), data.y[test]
        tree = TreeClassifier.cart(random_state=seed).fit(X, y)
        errors.setdefault(("tree", "error"), []).append(100 * (1 - tree.score(X_test, y_test)))
        for kind in ENSEMBLES:
            forest = _forest(kind, N_TREES[-1], seed).fit(X, y)
            shares = forest.leaf_counts(X_test)
            shares /= shares.sum(axis=2, keepdims=True)
            for n_trees in N_TREES:
                answer = forest.classes_[shares[:, :n_trees].mean(axis=1).argmax(axis=1)]
                setting = kind if n_trees == N_TREES[-1] else f"{kind}/{n_trees} trees"
                errors.setdefault((setting, "error"), []).append(100 * float((answer != y_test).mean()))
    return {key: float(np.mean(values)) for key, values in errors.items()}


def _pruning(data: Dataset, seed: int) -> dict[tuple[str, str], float]:
    """Accuracy on training and validation rows of trees of growing size, best split first, and of a pruned tree.

    Reduced-error pruning holds out a third of the training rows, so that the validation rows are new to its tree too.
    """
    train, test = train_test_split(np.arange(len(data.y)), test_size=0.4, random_state=seed, stratify=data.y)
    X, y, X_test, y_test = data.X.take(train), data.y[train], data.X.take(test), data.y[test]
    scores: dict[tuple[str, str], float] = {}
    for n_leaves in PRUNED_TO:
        tree = TreeClassifier.cart(max_leaf_nodes=n_leaves, random_state=seed).fit(X, y)
        scores[f"leaves {n_leaves}", "training"] = 100 * float(tree.score(X, y))
        scores[f"leaves {n_leaves}", "validation"] = 100 * float(tree.score(X_test, y_test))
    pruned = TreeClassifier.cart(pruning=ReducedError(fraction=1 / 3), random_state=seed)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "ReducedError.* leaves no row of class")  # of the rarest classes
        pruned.fit(X, y)
    scores[REDUCED, "training"] = 100 * float(pruned.score(X, y))
    scores[REDUCED, "validation"] = 100 * float(pruned.score(X_test, y_test))
    scores[REDUCED, "leaves"] = float(pruned.forest_.n_leaves)
    return scores


def _importances(data: Dataset, seed: int) -> dict[tuple[str, str], float]:
    """Importance of each column in a forest: decrease in Gini index, and accuracy lost by permutation."""
    forest = _forest("forest", N_TREES[-1], seed).fit(data.X, data.y)
    lost = permutation_importance(forest, data.X, data.y, random_state=seed)
    scores: dict[tuple[str, str], float] = {}
    for number, name in enumerate(data.X.column_names):
        scores[f"importance/{name}", "gini"] = 100 * float(forest.feature_importances_[number])
        scores[f"importance/{name}", "permutation"] = 100 * float(lost.importances_mean[number])
    return scores


def _variance(seed: int) -> Scores:
    """Variance of an average of K trees over training sets, beside ρσ² + (1 − ρ)σ²/K.

    σ² and ρ are estimated from one half of the training sets, the variance of averages from the other.
    """
    rng = np.random.default_rng(seed)
    points = rng.uniform(size=(50, 10))
    drawn = {"forest": 1 / 3, "bagging": None}
    answers = {kind: np.empty((40, len(points), N_DRAWN[-1])) for kind in drawn}  # training set, point, tree
    for number in range(40):
        X, truth = friedman_1(rng, 200)
        y = truth + rng.normal(size=len(truth))
        for kind, max_features in drawn.items():
            plain: dict[str, Any] = {"min_samples_leaf": 1, "random_state": seed + number}
            forest = ForestRegressor(N_DRAWN[-1], max_features=max_features, **plain).fit(X, y)
            answers[kind][number] = forest.forest_.stats[forest.apply(points) + forest.forest_.leaf_start[:-1], 1]
    scores = {}
    for kind, of_kind in answers.items():
        first, second = of_kind[::2], of_kind[1::2]
        total, covariance = _moments(first)
        scores[f"variance/{kind}", "sigma²"] = float(total.mean())
        scores[f"variance/{kind}", "rho"] = float(covariance.mean() / total.mean())
        for k in N_DRAWN:
            scores[f"{kind} of {k}", "measured"] = float(second[:, :, :k].mean(axis=2).var(axis=0, ddof=1).mean())
            scores[f"{kind} of {k}", "formula"] = float((covariance + (total - covariance) / k).mean())
    return scores | _votes(rng)


def _moments(answers: Floats) -> tuple[Floats, Floats]:
    """Variance of a tree at each point over the training sets, and covariance of two trees of one training set."""
    n_trees = answers.shape[2]
    total: Floats = answers.var(axis=0, ddof=1).mean(axis=1)
    of_sum = answers.sum(axis=2).var(axis=0, ddof=1)  # the sum of all variances and covariances
    return total, (of_sum - n_trees * total) / (n_trees * (n_trees - 1))


def _votes(rng: np.random.Generator) -> dict[tuple[str, str], float]:
    """Error of a majority of independent voters that are right with probability .7, beside (1 − p)^K."""
    p, scores = 0.7, {}
    for k in VOTERS:
        n_right = rng.binomial(k, p, size=200_000)
        scores[f"{k} voters", "majority wrong"] = float((2 * n_right < k).mean())
        scores[f"{k} voters", "all wrong"] = (1 - p) ** k
    return scores


def _few_relevant(seed: int) -> Scores:
    """Error of forests over the number of columns drawn for a split: 5 of 100 columns matter."""
    rng = np.random.default_rng(seed)
    X, y = relevant_few(rng, 300)
    X_test, y_test = relevant_few(rng, 2000)
    scores = {}
    for m in DRAWN_FEATURES:
        forest = ForestClassifier(
            calibration=None, splitter="best", min_samples_split=2, max_features=m, random_state=seed
        )
        scores[f"m = {m}", "error"] = 100 * (1 - float(forest.fit(X, y).score(X_test, y_test)))
    return scores


def _expression(seed: int) -> Scores:
    """Error on simulated expression data of 15 classes, with the 500 columns of the largest variance in training."""
    X, y = expression_data(np.random.default_rng(seed))
    train, test = train_test_split(np.arange(len(y)), test_size=0.3, random_state=seed, stratify=y)
    chosen = np.argsort(-X[train].var(axis=0), kind="stable")[:500]
    scores = {}
    for name, columns in (("500 columns", chosen), ("all columns", np.arange(X.shape[1]))):
        for kind in ENSEMBLES:
            if name == "500 columns" or kind == "forest":
                model = _forest(kind, 300, seed).fit(X[train][:, columns], y[train])
                scores[f"{kind}/{name}", "error"] = 100 * (1 - float(model.score(X[test][:, columns], y[test])))
    tree = TreeClassifier.cart(random_state=seed).fit(X[train][:, chosen], y[train])
    scores["tree/500 columns", "error"] = 100 * (1 - float(tree.score(X[test][:, chosen], y[test])))
    most = np.bincount(y[train]).argmax()
    scores["most frequent class", "error"] = 100 * float((y[test] != most).mean())
    return scores
