"""Smaller forests for the page: fewer trees, or trees whose small nodes are leaves, and how well they agree."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hedgerow._arrays import Floats
from hedgerow.forest.forest import Forest
from hedgerow.pruning.subtrees import cut, leaves_after_cut
from hedgerow.report.whatif.walkable import Walkable, walkable
from hedgerow.walk import TableCache, fold
from hedgerow.walk.quantiles import LeafSamples

__all__ = ["Agreement", "measure_agreement", "shrunken"]


@dataclass(frozen=True)
class Agreement:
    """How a smaller forest answers about rows, compared with the whole one."""

    n_rows: int
    same_label: float | None
    """Share of rows with the same most probable class; None of numbers."""
    mean_difference: float
    """Mean absolute difference of the probabilities, or of the predictions."""
    spread: float | None
    """Standard deviation of the predictions of the whole model, to compare with; None of classes."""


def shrunken(model: Any, whole: Walkable, n_trees: int, least_rows: float) -> Walkable:
    """The first trees of a model, in which nodes of fewer than `least_rows` rows are leaves.

    Each tree counts for as many as it stands for, so that sums over trees are as large as those of the whole forest.
    """
    forest = first_trees(whole.forest, n_trees)
    samples = None if whole.samples is None else _samples_of(whole.samples, np.arange(forest.n_leaves))
    if least_rows > 0:
        small = (forest.weight < least_rows) & (forest.parent >= 0)
        if samples is not None:
            _, joined = np.unique(leaves_after_cut(forest, small), return_inverse=True)
            samples = _joined(samples, forest, joined)
        forest = cut(forest, small)
    weights = np.ones(n_trees) if whole.tree_weights is None else whole.tree_weights[:n_trees]
    weights = weights * (whole.n_trees / weights.sum()) if weights.any() else np.full(n_trees, 1.0)
    found = walkable(_with_forest(model, forest, samples), whole.n_trees)
    return replace(found, tree_weights=weights, query=replace(found.query, tree_weights=weights))


def first_trees(forest: Forest, n_trees: int) -> Forest:
    """Forest of the first trees."""
    if n_trees == forest.n_trees:
        return forest
    n_nodes, n_leaves = int(forest.tree_start[n_trees]), int(forest.leaf_start[n_trees])
    parts = forest.parts()
    kept = {name: None if parts[name] is None else parts[name][:n_nodes] for name in ("weight", "payload", "missing")}
    of_leaves = {
        name: None if getattr(forest, name) is None else getattr(forest, name)[:n_leaves].copy()
        for name in ("leaf_counts", "leaf_stats")
    }
    return Forest.trusted(
        **parts
        | kept
        | of_leaves
        | {
            "distinct_counts": None,
            "nodes": parts["nodes"][:n_nodes].copy(),
            "kind": forest.kind[:n_nodes].copy(),
            "tree_start": forest.tree_start[: n_trees + 1].copy(),
            "leaf_start": forest.leaf_start[: n_trees + 1].copy(),
        }
    )


def _samples_of(samples: LeafSamples, leaves: Any) -> LeafSamples:
    end = int(samples.start[len(leaves)])
    shares = samples.shares[:end] if samples.shares.size else samples.shares
    return LeafSamples(samples.start[: len(leaves) + 1].copy(), samples.ranks[:end].copy(), shares, samples.values)


def _joined(samples: LeafSamples, forest: Forest, joined: Any) -> LeafSamples:
    """Samples of leaves that became one: each counts as much as its leaf did."""
    sizes = np.diff(samples.start)
    leaf = np.repeat(np.arange(len(sizes)), sizes)
    order = np.argsort(joined[leaf], kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(joined[leaf]))]).astype(np.int64)
    if not samples.shares.size:
        return LeafSamples(start, samples.ranks[order], samples.shares, samples.values)
    weight = forest.weight[forest.leaf_nodes]
    total = np.bincount(joined, weights=weight)
    shares = samples.shares * (weight / np.where(total > 0, total, 1.0)[joined])[leaf]
    return LeafSamples(start, samples.ranks[order], shares[order], samples.values)


def _with_forest(model: Any, forest: Forest, samples: LeafSamples | None) -> Any:
    """Copy of a model, and of the estimator that it wraps, with another forest and all trees alike."""
    changed = copy(model)
    has = vars(model)
    if "estimator_" in has:
        changed.estimator_ = _with_forest(model.estimator_, forest, samples)
    if "forest_" in has:
        changed.forest_ = forest
        changed._tables = TableCache()
    if "tree_weights" in has:
        changed.tree_weights = None
    if "tree_weights_" in has:
        changed.tree_weights_ = np.full(forest.n_trees, 1 / forest.n_trees)
    if "leaf_samples_" in has:
        changed.leaf_samples_ = samples
    return changed


# --- Agreement --------------------------------------------------------------------------------------------------


def measure_agreement(whole: Floats, part: Floats) -> Agreement:
    """Compare answers about the same rows: probabilities, (n, n_classes), or numbers, (n,)."""
    difference = float(np.abs(whole - part).mean())
    if whole.ndim == 1:
        return Agreement(len(whole), None, difference, float(whole.std()))
    return Agreement(len(whole), float((whole.argmax(axis=1) == part.argmax(axis=1)).mean()), difference, None)


def main_answers(found: Walkable, rows: Floats) -> Floats:
    """Probabilities, or numbers, that a page answers with about rows."""
    folded = fold(found.forest, rows, [found.query.table], tree_weights=found.query.tree_weights)[0]
    answers: Floats = found.query.finish(folded, found.n_trees)
    return answers
