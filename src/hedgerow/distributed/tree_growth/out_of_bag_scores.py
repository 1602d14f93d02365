"""Scores of rows out of the bags of trees: sums over all rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats
from hedgerow._exact import exact_sum, merge_sums, split_sum
from hedgerow.distributed.engine import add
from hedgerow.distributed.job import Job
from hedgerow.distributed.rows.row_blocks import RowBlock
from hedgerow.distributed.tree_growth.out_of_bag import Bags
from hedgerow.distributed.tree_growth.population import Population
from hedgerow.estimators.fitting.bagging import OutOfBag, scaled_tree_weights
from hedgerow.estimators.fitting.costs import cheapest_classes
from hedgerow.folds import Mean
from hedgerow.forest.forest import Forest
from hedgerow.rules import FoldRule

__all__ = ["ClassJudge", "out_of_bag_accuracy", "out_of_bag_r2", "tree_accuracies"]


@dataclass(frozen=True)
class ClassJudge:
    """How rows out of bag are answered and decided."""

    rule: FoldRule
    prior: Floats
    tree_weights: Floats | None
    classes: NDArray[Any]
    cost_matrix: Any


def tree_accuracies(job: Job, forest: Forest, bags: Bags, population: Population) -> Floats:
    """Out-of-bag accuracy of each tree; NaN for a tree with all rows in its bag."""
    shared = job.share((forest, bags, population))
    found = job.fold(judge_trees, shared, merge=add, stage="judging trees")
    total = found["total"]
    return np.where(total > 0, found["right"] / np.where(total > 0, total, 1.0), np.nan)


def judge_trees(block: RowBlock, shared: tuple[Forest, Bags, Population]) -> dict[str, Floats]:
    """Weight of the rows that are out of each tree's bag, and of those that it is right about."""
    right, total = _out_of_bag(block, *shared).right_and_total(block.target, block.weight)
    return {"right": right, "total": total}


def out_of_bag_accuracy(job: Job, forest: Forest, bags: Bags, population: Population, judge: ClassJudge) -> float:
    """Share of the rows that the trees which have not seen them are right about."""
    shared = job.share((forest, bags, population))
    found = job.fold(count_right, shared, judge, merge=add, stage="scoring out of bag")
    _warn_of_unanswered(found["rows"], found["answered"])
    return float(found["right"] / found["answered"]) if found["answered"] else np.nan


def count_right(block: RowBlock, shared: tuple[Forest, Bags, Population], judge: ClassJudge) -> dict[str, int]:
    """Number of rows of a part, of those that have out-of-bag answers, and of those that these are right about."""
    if not len(block):
        return {"rows": 0, "answered": 0, "right": 0}
    out_of_bag = _out_of_bag(block, *shared)
    forest, rule = out_of_bag.forest, judge.rule
    weights = None if judge.tree_weights is None else scaled_tree_weights(judge.tree_weights, forest.n_trees)
    (folded,), n_trees, unseen = out_of_bag.folds([rule.leaf_table(forest.counts, judge.prior)], weights)
    shares = rule.finish(folded, n_trees, judge.prior)
    if judge.cost_matrix is None:
        decided = shares.argmax(axis=1)
    else:
        decided = cheapest_classes(shares, judge.cost_matrix, judge.classes)
    right = int((decided == block.target[unseen]).sum())
    return {"rows": len(block), "answered": int(unseen.sum()), "right": right}


def out_of_bag_r2(job: Job, forest: Forest, bags: Bags, population: Population) -> float:
    """Coefficient of determination of the means that trees predict for rows which they have not seen.

    Sums are exact and rounded once, so that they do not depend on parts.
    """
    assert population.target_range is not None
    least, greatest = population.target_range
    centre = least / 2 + greatest / 2
    shared = job.share((forest, bags, population))
    found = job.fold(add_squares, shared, centre, merge=_merge_squares, stage="scoring out of bag")
    _warn_of_unanswered(found["rows"], found["answered"])
    if found["answered"] < 2:
        return np.nan
    residuals, deviation, squares = (exact_sum(found[name]) for name in ("residuals", "deviation", "squares"))
    total = squares - deviation**2 / found["answered"]
    if total <= 0:
        return float(residuals == 0)  # as scikit-learn's r2_score
    return 1 - residuals / total


def add_squares(block: RowBlock, shared: tuple[Forest, Bags, Population], centre: float) -> dict[str, Any]:
    """Exact sums over the rows of a part that have out-of-bag predictions."""
    if not len(block):
        return {"rows": 0, "answered": 0, "residuals": {}, "deviation": {}, "squares": {}}
    out_of_bag = _out_of_bag(block, *shared)
    (folded,), n_trees, unseen = out_of_bag.folds([Mean().leaf_table(out_of_bag.forest.stats, None)])
    target = block.target[unseen]
    away = target - centre
    return {
        "rows": len(block),
        "answered": int(unseen.sum()),
        "residuals": split_sum((target - (folded / n_trees)[:, 0]) ** 2),
        "deviation": split_sum(away),
        "squares": split_sum(away**2),
    }


def _merge_squares(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    return {
        name: merge_sums(one[name], other[name]) if isinstance(one[name], dict) else one[name] + other[name]
        for name in one
    }


def _warn_of_unanswered(n_rows: int, answered: int) -> None:
    if lacking := n_rows - answered:
        warnings.warn(
            f"{lacking} of {n_rows} rows are in the bag of every tree and have no out-of-bag prediction: grow more "
            "trees",
            stacklevel=6,
        )


def _out_of_bag(block: RowBlock, forest: Forest, bags: Bags, population: Population) -> OutOfBag:
    return bags.of(forest, block.X, population.numbers(block), block.weight, 1)
