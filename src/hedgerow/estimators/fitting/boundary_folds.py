"""Boundary estimates of trees that have not seen some of the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats
from hedgerow.boundary.bandwidths import HeldOut, Relative
from hedgerow.boundary.decision_boundary import DecisionBoundary
from hedgerow.boundary.estimate import Estimate, Settings
from hedgerow.boundary.mixture import WEIGHTS, HeldOutAnswers, choose_mixture
from hedgerow.boundary.scales import Metric
from hedgerow.data.table import Schema
from hedgerow.data.training import Training
from hedgerow.estimators.fitting.held_out import held_out_weights, select

__all__ = ["Grow", "TrainingRows", "TreeAndBoundary", "choose_by_held_out_rows"]


@dataclass(frozen=True)
class TrainingRows:
    """Rows of positive weight: as they were given, their labels, and their weights."""

    X: Any
    labels: NDArray[Any]
    weight: Floats

    def part(self, weight: Floats) -> TrainingRows:
        """Return those that keep a positive weight."""
        used = weight > 0
        if used.all():
            return TrainingRows(self.X, self.labels, weight)
        return TrainingRows(select(self.X, used), self.labels[used], weight[used])


@dataclass(frozen=True)
class TreeAndBoundary:
    """A fitted tree, and what distances to its boundary are measured with."""

    model: Any
    classes: NDArray[Any]
    schema: Schema
    boundary: DecisionBoundary

    def estimate(self, training: TrainingRows, metric: Metric, settings: Settings) -> tuple[Floats, Estimate]:
        """Scales of the columns, and the estimate from these rows."""
        rows = self.schema.read(training.X)
        labels = np.searchsorted(self.classes, training.labels).astype(np.int32)
        scale = metric.scale(rows, training.weight, self.schema)
        return scale, Estimate.of(self.boundary, rows, labels, training.weight, scale, settings)


Grow: TypeAlias = Callable[[TrainingRows], TreeAndBoundary]


def choose_by_held_out_rows(
    training: TrainingRows,
    whole: TreeAndBoundary,
    grow: Grow,
    metric: Metric,
    settings: Settings,
    weight: float | None,
) -> tuple[Settings, float]:
    """Return settings with a bandwidth, and a weight, of least log-loss for rows that trees have not seen.

    The bandwidth is chosen if it is a :class:`~hedgerow.boundary.HeldOut`, the weight if it is None.
    """
    weights, given = WEIGHTS if weight is None else (weight,), settings.bandwidth
    if not isinstance(given, HeldOut):
        found = _held_out_answers(training, whole, grow, metric, settings, factors=(1.0,), folds=HeldOut().folds)
        return settings, choose_mixture(found, 1, weights)[1]
    of_range = replace(settings, bandwidth=Relative(1.0))
    found = _held_out_answers(training, whole, grow, metric, of_range, factors=given.fractions, folds=given.folds)
    best, chosen = choose_mixture(found, len(given.fractions), weights)
    return replace(settings, bandwidth=Relative(given.fractions[best])), chosen


def _held_out_answers(
    training: TrainingRows,
    whole: TreeAndBoundary,
    grow: Grow,
    metric: Metric,
    settings: Settings,
    *,
    factors: tuple[float, ...],
    folds: int,
) -> Iterator[HeldOutAnswers]:
    """Answers about the rows of each fold, of a tree that `grow` fits to the others.

    The bandwidths are those of `settings`, times each of the `factors`. Folds and classes are those of `whole`, the
    tree of all rows.
    """
    codes = np.searchsorted(whole.classes, training.labels).astype(np.int32)
    values = np.asfortranarray(whole.schema.read(training.X))
    table = Training(values, whole.schema.n_categories, training.weight, codes, None, len(whole.classes))
    for held_out in held_out_weights(table, folds, seed=0):
        rest = training.weight - held_out
        if not held_out.any() or not rest.any():
            continue
        seen, unseen = training.part(rest), training.part(held_out)
        tree = grow(seen)
        scale, estimate = tree.estimate(seen, metric, settings)
        rows = tree.schema.read(unseen.X)
        nearest = tree.boundary.measure(rows, scale, n_jobs=settings.n_jobs)
        column = np.searchsorted(whole.classes, tree.classes)

        def of_all_classes(found: Floats, column: NDArray[np.intp] = column) -> Floats:
            """Probabilities with a column for classes that the tree has not seen either."""
            probabilities = np.zeros((len(found), len(whole.classes)))
            probabilities[:, column] = found
            return probabilities

        smooth = tuple(
            of_all_classes(
                estimate.with_bandwidths(factor, 1.0).probabilities(tree.boundary, rows, nearest, scale, settings)
            )
            for factor in factors
        )
        labels = np.searchsorted(whole.classes, unseen.labels).astype(np.int32)
        yield HeldOutAnswers(of_all_classes(tree.model.predict_proba(unseen.X)), smooth, labels, unseen.weight)
