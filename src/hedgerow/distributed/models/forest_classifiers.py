"""Random forests on rows in parts: bins, trees from one-byte codes, and answers out of bag.

Poisson bags are drawn by the number of each row, so that the forest is that of ``fit`` with ``bootstrap="poisson"``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow._arrays import Floats
from hedgerow._core import DrawScheme
from hedgerow.data.table import Table
from hedgerow.distributed.job import Job
from hedgerow.distributed.models.class_weights import weigh_classes
from hedgerow.distributed.tree_growth.bins import find_bins
from hedgerow.distributed.tree_growth.grow_trees import grow_trees
from hedgerow.distributed.tree_growth.out_of_bag import Bags, Overview, look_over, merge_overviews
from hedgerow.distributed.tree_growth.out_of_bag_scores import ClassJudge, out_of_bag_accuracy, tree_accuracies
from hedgerow.distributed.tree_growth.population import Population, number_rows
from hedgerow.distributed.tree_growth.tree_tasks import GrownTree, Plan
from hedgerow.estimators import ForestClassifier
from hedgerow.estimators.fitting.bagging import draw_scheme, mean_where_unknown, n_draws
from hedgerow.estimators.fitting.bags import PoissonBags, fingerprint_text
from hedgerow.estimators.fitting.calibration import CALIBRATION_ROWS, HeldOut, thinning
from hedgerow.estimators.verbs.bagged_classifier import forest_criteria
from hedgerow.estimators.verbs.bagged_trees import BaggedTrees
from hedgerow.forest.forest import Forest
from hedgerow.growth import Growth
from hedgerow.growth.codes import Bins
from hedgerow.growth.poisson import PoissonDraws
from hedgerow.rules import get

__all__ = ["GrownForest", "fit_forest_classifier", "grow_forest", "refuse_metric", "set_poisson"]


@dataclass(frozen=True)
class GrownForest:
    """A forest, and what was found about its rows."""

    forest: Forest
    trees: list[GrownTree]
    population: Population
    bags: Bags
    overview: Overview

    @property
    def drawn(self) -> PoissonBags:
        """Value of `bags_`."""
        draws = self.bags.draws
        return PoissonBags(draws.seed, draws.n_draws, fingerprint_text(self.overview.digest))


def grow_forest(model: BaggedTrees, job: Job, growth: Growth, criteria: tuple[str, ...]) -> GrownForest:
    """Grow the trees of a forest, and look over its rows once more."""
    max_bins = _max_bins(model, job, growth)
    population = number_rows(job)
    draws = PoissonDraws(
        job.seed,
        n_draws(model.bootstrap, model.max_samples, model._scores_out_of_bag(), population.n_rows),
        population.n_rows,
        population.total,
    )
    classes = job.survey.encoding.classes
    n_classes = 0 if classes is None else len(classes)
    plan = Plan(growth, criteria, draws, _bins(job, max_bins), n_classes, population.target_range)
    plan.options(0)  # refuse wrong settings before trees are grown
    trees = grow_trees(job, plan, population, model._n_trees())
    step = thinning(job.survey.n_rows, CALIBRATION_ROWS).step
    stage = "looking over rows"
    overview = job.fold(look_over, population, step, n_classes, merge=merge_overviews, stage=stage)
    bags = Bags(draws, tuple(tree.only for tree in trees))
    return GrownForest(Forest.concatenate([tree.forest for tree in trees]), trees, population, bags, overview)


def set_poisson(model: Any) -> None:
    """Let bags be drawn by rows; refuse growth without bags."""
    if draw_scheme(model.bootstrap) is None:
        raise ValueError(
            "bootstrap=False grows every tree from all rows, which rows in parts are not grown from: use "
            "bootstrap='poisson'"
        )
    if draw_scheme(model.bootstrap) == DrawScheme.multinomial:
        model.bootstrap = "poisson"


def refuse_metric(model: Any) -> None:
    """Refuse a metric of one's own, which is not a sum over rows."""
    if callable(model.oob_score):
        raise ValueError("oob_score as a function needs the answers of all rows at once: use oob_score=True")


def _max_bins(model: BaggedTrees, job: Job, growth: Growth) -> int:
    """Most bins of a column; refuse growth that needs the values themselves."""
    max_bins, schema = model._max_bins(), job.survey.schema
    if not growth.uses_bins(schema.n_categories, max_bins):
        many = [name for name, n in zip(schema.names, schema.n_categories, strict=True) if n > 255]
        reason = f"column {many[0]!r} has over 255 categories" if many else "exact thresholds are asked for"
        raise ValueError(
            f"rows in parts are grown from binned columns, and {reason}: that needs max_bins of 2 .. 255, "
            "missing='random', a criterion other than a gain ratio, and at most 255 categories in a column"
        )
    return int(max_bins)


def _bins(job: Job, max_bins: int) -> Bins:
    """Bins of the columns, from the checkpoint if they are there."""
    kept = job.checkpoint.load("bins")
    if kept is not None:
        return Bins(kept["start"], kept["least"], kept["greatest"], kept["n_categories"])
    bins = find_bins(job, max_bins)
    start, least, greatest = bins.arrays
    arrays: dict[str, Any] = {"start": start, "least": least, "greatest": greatest, "n_categories": bins.n_categories}
    job.checkpoint.save("bins", arrays)
    return bins


def fit_forest_classifier(model: ForestClassifier, job: Job) -> GrownForest:
    """Set what `fit` sets, except the out-of-bag answers of every row; return what they follow from."""
    set_poisson(model)
    refuse_metric(model)
    model._check_rule()
    model._check_tree_weights()
    job = weigh_classes(job, model.class_weight)
    survey = job.survey
    grown = grow_forest(model, job, model._growth_for(survey.classes, survey.schema), forest_criteria())
    overview = grown.overview
    prior = overview.class_weight / overview.class_weight.sum()
    found: dict[str, Any] = {"training_range_": grown.population.ranges, "bags_": grown.drawn}
    forest = grown.forest
    if model._keeps_bags():
        tree_weights: Floats | None = model.tree_weights
        if isinstance(tree_weights, str):
            tree_weights = found["tree_weights_"] = mean_where_unknown(
                tree_accuracies(job, forest, grown.bags, grown.population)
            )
        kept = overview.kept
        out_of_bag = grown.bags.of(forest, kept.X, kept.numbers, kept.weight, model.n_jobs)
        held_out = HeldOut(kept.target, kept.weight, prior, survey.n_rows)
        forest, calibrated = model._calibrate(out_of_bag, held_out, tree_weights)
        found |= calibrated
        if model._scores_out_of_bag():
            rule = found.get("rule_", get(model.rule))
            judge = ClassJudge(rule, prior, tree_weights, survey.classes, model.cost_matrix)
            found["oob_score_"] = out_of_bag_accuracy(job, forest, grown.bags, grown.population, judge)
    table = Table(np.empty((0, survey.schema.n_features)), survey.schema)
    model._set_bagged(table, forest, survey.classes, prior, **found)
    return grown
