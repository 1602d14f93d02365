"""Regression forests on rows in parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hedgerow._arrays import Floats
from hedgerow.data.table import Table
from hedgerow.distributed.job import Job
from hedgerow.distributed.models.forest_classifiers import grow_forest, refuse_metric, set_poisson
from hedgerow.distributed.tree_growth.out_of_bag_scores import out_of_bag_r2
from hedgerow.distributed.tree_growth.tree_tasks import GrownTree
from hedgerow.estimators import ForestRegressor
from hedgerow.estimators.fitting.costs import feature_costs
from hedgerow.estimators.fitting.node_sizes import LeafRows, NodeSizes
from hedgerow.walk.quantiles import LeafSamples

__all__ = ["fit_forest_regressor"]

_SMALLEST, _LARGEST = 1e-100, 1e100  # of differences of targets, as in hedgerow.data.targets


def fit_forest_regressor(model: ForestRegressor, job: Job) -> None:
    """Set what `fit` sets, except the out-of-bag predictions of every row."""
    set_poisson(model)
    refuse_metric(model)
    survey = job.survey
    assert survey.target_range is not None
    least, greatest = survey.target_range
    if greatest / 2 - least / 2 > _LARGEST or 0 < greatest - least < _SMALLEST:
        raise ValueError(
            f"column {survey.encoding.target!r} has numbers whose squares a float64 can't hold (from {least:.3g} to "
            f"{greatest:.3g}): divide it by a constant first"
        )
    costs = None if model.feature_costs is None else feature_costs(model.feature_costs, survey.schema)
    grown = grow_forest(model, job, model._growth_with(costs), ("squared_error",))
    found: dict[str, Any] = {"training_range_": grown.population.ranges, "_impurity": "squared_error"}
    found["bags_"] = grown.drawn
    forest, (leaf_rows, values) = grown.forest, leaf_targets(grown.trees)
    if model._chooses_size():
        kept = grown.overview.kept
        out_of_bag = grown.bags.of(forest, kept.X, kept.numbers, kept.weight, model.n_jobs)
        size = found["min_samples_split_"] = model._best_size(out_of_bag, kept.target, kept.weight)
        cuts = NodeSizes.of(forest, [size])
        forest, leaf_rows = cuts.cut(size), cuts.gather(leaf_rows, size)
    found["leaf_samples_"] = LeafSamples.of_ranks(*leaf_rows, values)
    if model._scores_out_of_bag():
        found["oob_score_"] = out_of_bag_r2(job, forest, grown.bags, grown.population)
    table = Table(np.empty((0, survey.schema.n_features)), survey.schema)
    model._forget("min_samples_split_", "oob_score_", "oob_prediction_")
    model._set_fitted(table, forest, **found)


def leaf_targets(trees: Sequence[GrownTree]) -> tuple[LeafRows, Floats]:
    """Training targets of the leaves of all trees, as ranks among distinct values, and these."""
    values = np.unique(np.concatenate([tree.leaf_values for tree in trees]))
    ranks = [np.searchsorted(values, tree.leaf_values).astype(np.int32)[tree.leaf_ranks] for tree in trees]
    before = np.cumsum([0, *(len(tree.leaf_ranks) for tree in trees)])
    starts = [tree.leaf_start[:-1] + first for tree, first in zip(trees, before[:-1], strict=True)]
    weights = np.concatenate([tree.leaf_weights for tree in trees])
    return (np.concatenate([*starts, before[-1:]]), np.concatenate(ranks), weights), values
