"""Random trees on rows in parts: a sample gives the structure, sums give the counts.

Splits are drawn without looking at labels, so that a sample of rows is enough for them (Fan et al., 2003); the counts
of all rows are sums over parts, and everything that is derived from them is exact.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats
from hedgerow._exact import UNIT, round_shares
from hedgerow.data.table import Table
from hedgerow.data.training import Training
from hedgerow.distributed.engine import add
from hedgerow.distributed.job import Job
from hedgerow.distributed.rows.row_blocks import RowBlock
from hedgerow.distributed.rows.samples import LeastHashes, SomeRows, merge_rows, sample_rows, thin_rows
from hedgerow.estimators import RandomTreesClassifier
from hedgerow.estimators.fitting.calibration import CALIBRATION_ROWS, thinning
from hedgerow.estimators.fitting.leave_one_out import LeaveOneOut
from hedgerow.estimators.fitting.node_sizes import NodeSizes
from hedgerow.estimators.random_trees import LEAF_SIZES
from hedgerow.forest.forest import Forest
from hedgerow.growth import grow_random_forest
from hedgerow.rules import FoldRule
from hedgerow.walk import tally

__all__ = ["fit_random_trees"]


def fit_random_trees(model: RandomTreesClassifier, job: Job) -> None:
    """Set what `fit` sets, except the leave-one-out answers of every row."""
    model._check_rule()
    survey = job.survey
    sample = _structure_rows(job)
    forest = _grow(model, sample, job)
    if survey.n_used > len(sample):
        if model._chooses_size():  # the least size: nodes below it are leaves in any case
            forest = NodeSizes.of(forest, []).cut(2 * LEAF_SIZES[0])
        forest, class_counts = _count(forest, job)
    else:
        class_counts = np.bincount(sample.target, sample.weight, len(survey.classes)).astype(np.float64)
    found: dict[str, Any] = model._class_figures(class_counts)
    if model._leaves_out():
        prior = found["class_prior_"]
        if model._completes():
            forest, held_out = model._leave_one_out(_thinned(forest, model, job), prior, survey.n_rows)
            found |= held_out
        if model.loo_score:
            found["loo_score_"] = _loo_score(forest, model._loo_rule(found.get("rule_")), prior, job)
    table = Table(sample.X, survey.schema)
    unit, ranges = survey.encoding.unit, survey.ranges
    model._set_counted(table, forest, survey.classes, weight_unit_=unit, training_range_=ranges, **found)


def _structure_rows(job: Job) -> SomeRows:
    """Rows that the trees are grown from."""
    most, seed = job.structure_rows, job.seed
    merge = LeastHashes(most, seed)
    found: SomeRows = job.fold(sample_rows, most, seed, merge=merge, stage="choosing rows for the structure")
    return found.sorted()


def _grow(model: RandomTreesClassifier, sample: SomeRows, job: Job) -> Forest:
    survey, progress = job.survey, job.progress
    n_categories, n_classes = survey.schema.n_categories, len(survey.classes)
    training = Training(sample.X, n_categories, sample.weight, sample.target, None, n_classes)

    def report(n_trees: int) -> None:
        if progress is not None:
            progress("growing trees", n_trees, model.n_estimators)

    def grow(training: Training, options: Any) -> Any:
        return grow_random_forest(training, options, report)

    return model._grow(training, job.seed, grow)


def _count(forest: Forest, job: Job) -> tuple[Forest, Floats]:
    """The forest with the counts of all rows, and the weight of each class."""
    short = job.survey.total <= np.iinfo(np.uint32).max
    counted = job.fold(count_rows, job.share(forest), short, stage="counting rows in leaves")
    return forest.with_counts(counted["leaves"].astype(np.float64)), counted["classes"]


def count_rows(block: RowBlock, forest: Forest, short: bool) -> dict[str, NDArray[Any]]:
    """Counts that the rows of a part add to the leaves, and weight of each class.

    `short`: no sum of weights is beyond 32 bits, so that whole counts may travel in half the bytes.
    """
    used = block.weight > 0
    X, codes, weight = block.X, block.target, block.weight
    if not used.all():
        X, codes, weight = np.ascontiguousarray(X[used]), codes[used], weight[used]
    counts = tally(forest, X, codes, weight, unit=UNIT, n_jobs=1)
    classes = np.bincount(codes, weights=weight, minlength=forest.n_classes)
    return {"leaves": _shortened(counts) if short else counts, "classes": classes}


def _shortened(counts: Floats) -> NDArray[Any]:
    """Whole numbers of 32 bits, if they are whole."""
    whole = counts.astype(np.uint32)
    return whole if (whole == counts).all() else counts


def _thinned(forest: Forest, model: RandomTreesClassifier, job: Job) -> LeaveOneOut:
    """Every k-th of all rows, to choose the temper and the size of the leaves by."""
    step = thinning(job.survey.n_rows, CALIBRATION_ROWS).step
    found: SomeRows = job.fold(thin_rows, step, merge=merge_rows, stage="choosing rows to leave out")
    rows = found.sorted()
    return LeaveOneOut(forest, np.ascontiguousarray(rows.X), rows.target, rows.weight, model.n_jobs)


def _loo_score(forest: Forest, rule: FoldRule, prior: Floats, job: Job) -> float:
    """Leave-one-out accuracy: a sum over all rows."""
    shared = job.share((forest, rule, prior))
    found = job.fold(score_left_out, shared, merge=add, stage="leaving rows out")
    if (lone := float(found["lone"] / found["reached"])) > 0.5:
        warnings.warn(
            f"{lone:.0%} of the leaves that rows reach hold nothing but the row: leave-one-out has nothing left "
            "to predict it from: set min_samples_leaf to 2 or more, or 'auto'",
            stacklevel=4,
        )
    return float(found["right"] / found["weight"])


def score_left_out(block: RowBlock, shared: tuple[Forest, FoldRule, Floats]) -> dict[str, NDArray[Any]]:
    """Weight of the rows of a part that are right when they are left out."""
    forest, rule, prior = shared
    if not len(block):
        return {name: np.zeros(()) for name in ("right", "weight", "lone", "reached")}
    rows = LeaveOneOut(forest, block.X, block.target, block.weight, 1)
    (folded,) = rows.folds(rule, prior, NodeSizes.of(forest, [0]))
    right = rule.finish(folded, forest.n_trees, prior).argmax(axis=1) == block.target
    reached = float((block.weight > 0).sum() * forest.n_trees)
    return {
        "right": round_shares(block.weight * right).sum(),
        "weight": block.weight.sum(),
        "lone": np.rint(rows.share_of_lone_leaves() * reached),
        "reached": np.asarray(reached),
    }
