"""Many ways to answer, judged on the same folds: each forest is grown once a fold and read in all ways."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
from hedgerow.cli.figures import counted
from hedgerow.cli.inputs.roles import Training
from hedgerow.cli.results.scoring import Score, Split, scores_of, splits, summarised

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["Setup", "contest", "print_contest"]

Contest = dict[tuple[str, str], dict[str, Score]]

_ANY_WIDTH = 10_000
_LEAST_NAME = 12
_MORE_IS_BETTER = {"accuracy": True, "log_loss": False, "u65": True, "r2": True, "mae": False}
_TITLES = {
    "accuracy": "accuracy",
    "log_loss": "log-loss",
    "u65": "u65",
    "undecided": "undecided %",
    "r2": "R²",
    "mae": "mean abs. error",
    "inside": "% in 90 % interval",
}


@dataclass(frozen=True)
class Setup:
    """Trees of a forest, least rows of a leaf whose evidence rules combine, and caution."""

    n_trees: int
    leaf: int
    s: float


def contest(training: Training, n_folds: int, setup: Setup, tick: Callable[[], None]) -> Contest:
    """Scores of every way, by its group and name."""
    found: dict[tuple[str, str], list[dict[str, float]]] = {}
    classes = np.unique(training.y)
    for split in splits(training, n_folds):
        ways = _class_ways(split, setup) if training.classification else _number_ways(split, setup)
        for group, name, model in ways:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="the trees have no distribution in common")
                scores = scores_of(model, split, classes)
            if training.classification:  # an answer of one class is a set of one, whose u65 is the accuracy
                scores = {"u65": scores["accuracy"], "undecided": 0.0, **scores}
            found.setdefault((group, name), []).append(scores)
        tick()
    return {way: summarised(scores) for way, scores in found.items()}


def _class_ways(split: Split, setup: Setup) -> Iterator[tuple[str, str, Any]]:
    X, y, weight = split.X, split.y, split.weight
    yield (
        "baselines",
        "most frequent class",
        _Blind(DummyClassifier(strategy="prior").fit(np.zeros((len(y), 1)), y, weight)),
    )
    yield "baselines", "one tree", TreeClassifier().fit(X, y, weight)
    yield "baselines", "one tree, as CART", TreeClassifier.cart().fit(X, y, weight)
    common: dict[str, Any] = {"n_estimators": setup.n_trees, "n_jobs": -1, "random_state": 0}
    yield "baselines", "forest of full trees", ForestClassifier(**common).fit(X, y, weight)
    forest = ForestClassifier(min_samples_leaf=setup.leaf, **common).fit(X, y, weight)
    random_trees = RandomTreesClassifier(min_samples_leaf=setup.leaf, **common).fit(X, y, weight)
    for group, trees in (("forest, by rule", forest), ("random trees, by rule", random_trees)):
        for rule in rules.names():
            yield group, rule, trees.set_params(rule=rule)
    forest.set_params(rule="probability")
    for aggregate in credal.names():
        cautious = CautiousClassifier.from_fitted(forest, s=setup.s, aggregate=aggregate)
        yield f"cautious forest, s = {setup.s:g}", aggregate, cautious


def _number_ways(split: Split, setup: Setup) -> Iterator[tuple[str, str, Any]]:
    X, y, weight = split.X, split.y, split.weight
    yield "baselines", "mean", _Blind(DummyRegressor().fit(np.zeros((len(y), 1)), y, weight))
    yield "trees", "one tree", TreeRegressor().fit(X, y, weight)
    yield (
        "trees",
        f"one tree, leaves of {counted(setup.leaf, 'row')}",
        TreeRegressor(min_samples_leaf=setup.leaf).fit(X, y, weight),
    )
    yield "trees", "forest", ForestRegressor(setup.n_trees, n_jobs=-1, random_state=0).fit(X, y, weight)


class _Blind:
    """A model of scikit-learn's that does not look at its inputs, for inputs that it could not read."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.classes_ = getattr(model, "classes_", None)

    def predict(self, X: Any) -> Any:
        return self._model.predict(np.zeros((len(X), 1)))

    def predict_proba(self, X: Any) -> Any:
        return self._model.predict_proba(np.zeros((len(X), 1)))


def print_contest(found: Contest, n_folds: int, classification: bool) -> None:
    """Print one table; the best of each column, and what is within a standard error of it, has a star.

    Where it would be wider than the screen, standard errors are left out: numbers are never cut.
    """
    from hedgerow.cli.console import out

    table = _table(found, with_errors=True)
    fits = out.measure(table, options=out.options.update(max_width=_ANY_WIDTH)).maximum <= out.width
    out.print()
    out.print(table if fits else _table(found, with_errors=False))
    told = f"{n_folds}-fold cross-validation{', ± standard error' * fits}; *: within one standard error of the best."
    if not fits:
        told += " A wider terminal shows standard errors."
    if classification:
        told += " u65: 1 for the right class, 0.65 for two classes of which one is right."
    out.print()
    out.print(told, style="dim")


def _table(found: Contest, *, with_errors: bool) -> Table:
    from rich.table import Table
    from rich.text import Text

    names = [name for name in _TITLES if any(name in scores for scores in found.values())]
    best = {name: _best(found, name) for name in names if name in _MORE_IS_BETTER}
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))  # all columns fit on a screen of 80
    table.add_column("", overflow="fold", min_width=_LEAST_NAME)
    for name in names:
        table.add_column(_TITLES[name], justify="right", no_wrap=True)
    group = ""
    for (own_group, way), scores in found.items():
        if own_group != group:
            table.add_row(own_group, style="bold")
            group = own_group
        cells = []
        for name in names:
            text = scores[name].text(name).removesuffix(" %") if name in scores else ""
            text = text if with_errors else text.partition(" ±")[0]
            ahead = name in best and name in scores and _is_close(scores[name], best[name], _MORE_IS_BETTER[name])
            cells.append(Text(f"*{text}", style="green") if ahead else Text(text))
        table.add_row(f"  {way}", *cells)
    return table


def _best(found: Contest, name: str) -> Score:
    scores = [one[name] for one in found.values() if name in one and not np.isnan(one[name].mean)]
    nothing = Score(float("nan"), float("nan"))  # R² of folds of one row
    return (max if _MORE_IS_BETTER[name] else min)(scores, key=lambda score: score.mean, default=nothing)


def _is_close(score: Score, best: Score, more: bool) -> bool:
    behind = best.mean - score.mean if more else score.mean - best.mean
    return bool(behind <= best.error or behind == 0)
