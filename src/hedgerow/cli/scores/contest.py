"""Many models evaluated on the same folds: each forest is grown once a fold and combined by every rule."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

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
from hedgerow.scoring.evaluation import Evaluation, Marks, combine, mark
from hedgerow.scoring.folds import Split, splits, try_out
from hedgerow.scoring.predictions import ClassPredictions, Predictions, with_single_classes

__all__ = ["Contest", "Setup", "contest"]

Contest = dict[tuple[str, str], Evaluation]


@dataclass(frozen=True)
class Setup:
    """Trees of a forest, least rows of a leaf whose evidence rules combine, and caution."""

    n_trees: int
    leaf: int
    s: float


def contest(training: Training, n_folds: int, setup: Setup, tick: Callable[[], None]) -> Contest:
    """Evaluate every model, by its group and name; the first one is the guess that the others are compared with."""
    baseline = ("baselines", "most frequent class" if training.classification else "mean")
    marks: dict[tuple[str, str], list[Marks]] = {baseline: []}
    for split in splits(training, n_folds):
        contenders = _classifiers(split, setup) if training.classification else _regressors(split, setup)
        for i, (group, name, model) in enumerate(contenders):
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="the trees have no distribution in common")
                trial = try_out(model, split)
            trial = replace(trial, model=_with_sets(trial.model), guess=_with_sets(trial.guess))
            marks.setdefault((group, name), []).append(mark(trial))
            if i == 0:
                marks[baseline].append(mark(replace(trial, model=trial.guess)))
        tick()
    return {contender: combine(found) for contender, found in marks.items()}


def _with_sets(predictions: Predictions) -> Predictions:
    """A label is a set of one class, whose u65 is the accuracy."""
    if isinstance(predictions, ClassPredictions) and predictions.sets is None:
        return with_single_classes(predictions)
    return predictions


def _classifiers(split: Split, setup: Setup) -> Iterator[tuple[str, str, Any]]:
    X, y, weight = split.X, split.y, split.weight
    yield "baselines", "one tree", TreeClassifier().fit(X, y, weight)
    yield "baselines", "one tree, as CART", TreeClassifier.cart().fit(X, y, weight)
    common: dict[str, Any] = {"n_estimators": setup.n_trees, "n_jobs": -1, "random_state": 0}
    yield "baselines", "forest", ForestClassifier(**common).fit(X, y, weight)
    yield "baselines", "random trees", RandomTreesClassifier(**common).fit(X, y, weight)
    forest = ForestClassifier(min_samples_leaf=setup.leaf, calibration=None, **common).fit(X, y, weight)
    random_trees = RandomTreesClassifier(rule="pool", min_samples_leaf=setup.leaf, **common).fit(X, y, weight)
    for group, trees in (("forest, by rule", forest), ("random trees, by rule", random_trees)):
        for rule in rules.names():
            yield group, rule, trees.set_params(rule=rule)
    forest.set_params(rule="probability")
    for aggregate in credal.names():
        cautious = CautiousClassifier.from_fitted(forest, s=setup.s, aggregate=aggregate)
        yield f"cautious forest, s = {setup.s:g}", aggregate, cautious


def _regressors(split: Split, setup: Setup) -> Iterator[tuple[str, str, Any]]:
    X, y, weight = split.X, split.y, split.weight
    yield "trees", "one tree", TreeRegressor().fit(X, y, weight)
    yield (
        "trees",
        f"one tree, leaves of {counted(setup.leaf, 'row')}",
        TreeRegressor(min_samples_leaf=setup.leaf).fit(X, y, weight),
    )
    yield "trees", "forest", ForestRegressor(setup.n_trees, n_jobs=-1, random_state=0).fit(X, y, weight)
