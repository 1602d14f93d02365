"""Many ways to answer, judged on the same folds: each forest is grown once a fold and read in all ways."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor

from hedgerow import (
    CautiousClassifier,
    ForestClassifier,
    ForestRegressor,
    RandomTreesClassifier,
    TreeClassifier,
    TreeRegressor,
    credal,
    rules,
)
from hedgerow.cli.roles import Training
from hedgerow.cli.scoring import Score, Split, scores_of, splits, summarised

__all__ = ["contest", "print_contest"]

Contest = dict[tuple[str, str], dict[str, Score]]

_MORE_IS_BETTER = {"accuracy": True, "log_loss": False, "u65": True, "r2": True, "mae": False}
_TITLES = {
    "accuracy": "accuracy",
    "log_loss": "log-loss",
    "u65": "u65",
    "undecided": "undecided",
    "r2": "R²",
    "mae": "mean abs. error",
    "inside": "in 90 % interval",
}


def contest(training: Training, n_folds: int, n_trees: int, s: float, tick: Callable[[], None]) -> Contest:
    """Scores of every way, by its group and name."""
    found: dict[tuple[str, str], list[dict[str, float]]] = {}
    classes = np.unique(training.y)
    for split in splits(training.X, training.y, training.classification, n_folds):
        ways = _class_ways(split, n_trees, s) if training.classification else _number_ways(split, n_trees)
        for group, name, model in ways:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="the trees have no distribution in common")
                found.setdefault((group, name), []).append(scores_of(model, split, classes))
        tick()
    return {way: summarised(scores) for way, scores in found.items()}


def _class_ways(split: Split, n_trees: int, s: float) -> Iterator[tuple[str, str, Any]]:
    X, y = split.X, split.y
    yield "baselines", "most frequent class", _Blind(DummyClassifier(strategy="prior").fit(np.zeros((len(y), 1)), y))
    yield "baselines", "one tree", TreeClassifier().fit(X, y)
    yield "baselines", "one tree, as CART", TreeClassifier.cart().fit(X, y)
    forest = ForestClassifier(n_trees, n_jobs=-1, random_state=0).fit(X, y)
    random_trees = RandomTreesClassifier(n_trees, n_jobs=-1, random_state=0).fit(X, y)
    for group, trees in (("forest, by rule", forest), ("random trees, by rule", random_trees)):
        for rule in rules.names():
            yield group, rule, trees.set_params(rule=rule)
    forest.set_params(rule="probability")
    for aggregate in credal.names():
        yield f"cautious forest, s = {s:g}", aggregate, CautiousClassifier.from_fitted(forest, s=s, aggregate=aggregate)


def _number_ways(split: Split, n_trees: int) -> Iterator[tuple[str, str, Any]]:
    X, y = split.X, split.y
    yield "baselines", "mean", _Blind(DummyRegressor().fit(np.zeros((len(y), 1)), y))
    yield "trees", "one tree", TreeRegressor().fit(X, y)
    yield "trees", "one tree, leaves of 5 rows", TreeRegressor(min_samples_leaf=5).fit(X, y)
    yield "trees", "forest", ForestRegressor(n_trees, n_jobs=-1, random_state=0).fit(X, y)


class _Blind:
    """A model of scikit-learn's that does not look at its inputs, for inputs that it could not read."""

    def __init__(self, model: Any) -> None:
        self._model = model
        if hasattr(model, "classes_"):
            self.classes_ = model.classes_

    def predict(self, X: Any) -> Any:
        return self._model.predict(np.zeros((len(X), 1)))

    def predict_proba(self, X: Any) -> Any:
        return self._model.predict_proba(np.zeros((len(X), 1)))


def print_contest(found: Contest, n_folds: int) -> None:
    """One table; the best of each column, and what is within a standard error of it, stands out."""
    from rich.table import Table

    from hedgerow.cli.console import out

    names = [name for name in _TITLES if any(name in scores for scores in found.values())]
    best = {name: _best(found, name) for name in names if name in _MORE_IS_BETTER}
    table = Table(box=None, pad_edge=False)
    table.add_column("")
    for name in names:
        table.add_column(_TITLES[name], justify="right", no_wrap=True)
    group = ""
    for (own_group, way), scores in found.items():
        if own_group != group:
            table.add_row(own_group, style="bold")
            group = own_group
        cells = []
        for name in names:
            text = scores[name].text(name) if name in scores else ""
            ahead = name in best and name in scores and _is_close(scores[name], best[name], _MORE_IS_BETTER[name])
            cells.append(f"[green]{text}[/green]" if ahead else text)
        table.add_row(f"  {way}", *cells)
    out.print()
    out.print(table)
    out.print(
        f"\n{n_folds}-fold cross-validation, ± standard error; green: within one of the best. u65 pays 0.65 for two "
        "classes of which one is right.",
        style="dim",
    )


def _best(found: Contest, name: str) -> Score:
    scores = [one[name] for one in found.values() if name in one and not np.isnan(one[name].mean)]
    return (max if _MORE_IS_BETTER[name] else min)(scores, key=lambda score: score.mean)


def _is_close(score: Score, best: Score, more: bool) -> bool:
    behind = best.mean - score.mean if more else score.mean - best.mean
    return bool(behind <= best.error or behind == 0)
