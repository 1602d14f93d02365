"""Estimators that answer from the trees of another: these are fitted, and wrapped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from hedgerow._arrays import Whole
from hedgerow.data.targets import Labels
from hedgerow.distributed.job import Job
from hedgerow.distributed.models.forest_classifiers import GrownForest, set_poisson
from hedgerow.distributed.rows.row_blocks import RowBlock
from hedgerow.distributed.tree_growth.out_of_bag import KeptRows
from hedgerow.distributed.tree_growth.population import Population
from hedgerow.estimators import CautiousClassifier, CautiousForestClassifier, RuleClassifier
from hedgerow.estimators.fitting.caution import MOST_ROWS
from hedgerow.estimators.rule_classifier import check_rule
from hedgerow.estimators.wrapped import FittedEstimator, WrappedForest

__all__ = ["FitTrees", "fit_cautious", "fit_rule", "trees_of"]

FitTrees: TypeAlias = Callable[[Any, Job], GrownForest | None]
"""Fits an estimator made of trees; returns the forest that it was grown as, if its bags are known."""


def trees_of(model: Any) -> Any:
    """Unfitted estimator whose trees a model answers from: itself, unless it wraps one."""
    if not isinstance(model, WrappedForest):
        return model
    template = model._template()
    if isinstance(template, FrozenEstimator):
        raise ValueError(
            f"the estimator of this {type(model).__name__} is frozen, so that there is nothing to fit: use "
            f"{type(model).__name__}.from_fitted(estimator)"
        )
    return clone(template)


def fit_rule(model: RuleClassifier, job: Job, fit_trees: FitTrees) -> None:
    """Fit the trees, and combine them by a rule."""
    trees = trees_of(model)
    check_rule(model.rule)
    fit_trees(trees, job)
    model._take(trees)


def fit_cautious(model: CautiousClassifier | CautiousForestClassifier, job: Job, fit_trees: FitTrees) -> None:
    """Fit the trees, and choose what out-of-bag rows are to choose by some of them."""
    if isinstance(model, CautiousForestClassifier):
        set_poisson(model)
        if model._scores_out_of_bag():
            raise ValueError(
                "oob_score of a CautiousForestClassifier needs the answers of all rows at once: set it to False, and "
                "score held-out rows"
            )
    model._check_settings()
    trees = trees_of(model)
    grown = fit_trees(trees, job)
    model._set_answers(trees, None, _fitted(trees, grown if model._asked_out_of_bag() else None, job))


def _fitted(trees: Any, grown: GrownForest | None, job: Job) -> FittedEstimator:
    """The trees, and rows out of their bags, if they have any."""
    if grown is None:
        return FittedEstimator(trees, None, Labels(job.survey.classes, np.empty(0, np.int32)), np.empty(0))
    population = grown.population
    stage = "choosing rows out of bag"
    rows: KeptRows = job.fold(choose_evenly, population, MOST_ROWS, merge=_concatenated, stage=stage)
    bags = grown.bags.of(trees.forest_, rows.X, rows.numbers, rows.weight, trees.n_jobs)
    return FittedEstimator(trees, None, Labels(job.survey.classes, rows.target), rows.weight, bags)


def choose_evenly(block: RowBlock, population: Population, most: int) -> KeptRows:
    """Rows of positive weight of a part, evenly spaced among all if these are more than `most`."""
    rows = population.used(block)
    at = _evenly(population.n_rows, most, rows.first, len(rows)) - rows.first
    numbers = rows.first + at
    return KeptRows(numbers, numbers, rows.X[at], rows.target[at], rows.weight[at])


def _evenly(n_rows: int, most: int, first: int, n_here: int) -> Whole:
    """Numbers of the chosen rows among `n_here` from `first` on."""
    chosen = np.arange(n_rows) if n_rows <= most else np.arange(most) * n_rows // most
    return chosen[np.searchsorted(chosen, first) : np.searchsorted(chosen, first + n_here)]


def _concatenated(one: KeptRows, other: KeptRows) -> KeptRows:
    return KeptRows.concatenate([one, other])
