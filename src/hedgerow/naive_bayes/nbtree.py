"""Kohavi's NBTree: split a node where naive Bayes in the branches beats naive Bayes in the node.

Kohavi, Scaling up the accuracy of naive-Bayes classifiers: a decision-tree hybrid, 1996.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow._arrays import Floats, Whole
from hedgerow._params import check_number, check_rows
from hedgerow.forest import build
from hedgerow.forest.forest import Forest
from hedgerow.naive_bayes.cross_validation import hits
from hedgerow.naive_bayes.discretisation import best_thresholds
from hedgerow.naive_bayes.groups import Examples, Groups, all_rows, concatenate, divide
from hedgerow.naive_bayes.leaf_models import LeafModels
from hedgerow.naive_bayes.likelihoods import Numeric, numeric

__all__ = ["NaiveBayesGrowth", "candidate_splits"]

_ROUNDING = 1e-9  # rows: splits whose numbers of correct rows differ by less tie


@dataclass(frozen=True, eq=False)
class _Split:
    """A split, and the branch of each row of the node: -1 where its value is missing."""

    feature: int
    threshold: float
    codes: tuple[int, ...]
    """Category of each branch; empty for a threshold."""
    branch: Whole

    @property
    def n_branches(self) -> int:
        return len(self.codes) or 2

    def node(self, children: list[build.Node]) -> build.Node:
        if self.codes:
            return build.multiway(self.feature, dict(zip(self.codes, children, strict=True)))
        return build.threshold(self.feature, self.threshold, *children)


@dataclass(frozen=True)
class NaiveBayesGrowth:
    """Settings of NBTree growth.

    Parameters
    ----------
    numeric : {"entropy", "gaussian"} or an instance, default="entropy"
        Likelihood of numeric columns: intervals, found in every node by entropy and description length, or a normal
        density for each class.
    min_samples_split : int or float, default=30
        Smallest number of rows in a node that is split; a float is a fraction of all rows.
    min_error_reduction : float, default=0.05
        Least share of the node's errors that a split must save.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.naive_bayes import Examples, NaiveBayesGrowth
    >>> values, labels = np.arange(40.0).reshape(-1, 1), np.repeat([0, 1], 20).astype(np.int32)
    >>> rows = Examples.shuffle(values, labels, 2, np.zeros(1, np.int32), seed=0)
    >>> forest, models = NaiveBayesGrowth(min_samples_split=50).grow(rows)
    >>> forest.n_leaves
    1
    """

    numeric: Any = "entropy"
    min_samples_split: Any = 30
    min_error_reduction: Any = 0.05

    def grow(self, examples: Examples) -> tuple[Forest, LeafModels]:
        """Grow the tree and the naive Bayes classifiers of its leaves; raise for an invalid setting.

        Parameters
        ----------
        examples : Examples
            Training rows.

        Returns
        -------
        tuple of Forest and LeafModels
            The tree, and the classifier of each leaf.

        Raises
        ------
        ValueError
            If a setting is out of its range.
        """
        likelihood = numeric(self.numeric)
        least = check_rows("min_samples_split", self.min_samples_split, 2, len(examples.labels))
        reduction = check_number(
            "min_error_reduction", self.min_error_reduction, 0, 1, closed="both", hint=", such as 0.05"
        )
        root = all_rows(examples)
        waiting = deque([(root, float(hits(examples, root, likelihood)[0]))])
        leaves: list[Groups] = []
        splits: list[tuple[_Split, int] | None] = []  # of each node, with its first child
        n_nodes = 1
        while waiting:  # breadth first, the order of leaf numbers
            node, n_right = waiting.popleft()
            weight = float(node.weight.sum())
            split = None
            if weight >= least - _ROUNDING and weight - n_right > _ROUNDING:
                split, branches, right = _best_split(examples, node, likelihood)
            if split is None or right.sum() - n_right < reduction * (weight - n_right) - _ROUNDING:
                splits.append(None)
                leaves.append(node)
                continue
            splits.append((split, n_nodes))
            n_nodes += split.n_branches
            waiting.extend((branches.select(child), float(right[child])) for child in range(split.n_branches))
        together = concatenate(leaves)
        forest = _build(splits, together.class_counts(examples), examples.n_features)
        return forest, LeafModels.of(examples, together, likelihood)


def _build(splits: list[tuple[_Split, int] | None], leaf_counts: Floats, n_features: int) -> Forest:
    counts = iter(leaf_counts[::-1])
    built: dict[int, build.Node] = {}
    for number in reversed(range(len(splits))):  # children come after their parents
        if (found := splits[number]) is None:
            built[number] = build.leaf(next(counts))
        else:
            split, first = found
            built[number] = split.node([built.pop(first + child) for child in range(split.n_branches)])
    return build.build_forest([built[0]], n_features)


def _best_split(examples: Examples, node: Groups, likelihood: Numeric) -> tuple[_Split | None, Groups, Floats]:
    """Return the split with most correct rows, its branches, and the correct rows of each.

    Candidates are one threshold per numeric column, that of least entropy, and a multiway split per nominal column. The
    utility of a split is the mean of its branches' accuracies, weighted by their rows: correct rows over all rows. Ties
    go to the lowest column.
    """
    best: tuple[_Split | None, Groups, Floats] = (None, node, np.zeros(1))
    most = -np.inf
    for split in candidate_splits(examples, node):
        branches = divide(node, split.branch, split.n_branches)
        right = hits(examples, branches, likelihood)
        if right.sum() > most + _ROUNDING:
            best, most = (split, branches, right), float(right.sum())
    return best


def candidate_splits(examples: Examples, node: Groups) -> list[_Split]:
    """Return one split per column that has any."""
    thresholds = best_thresholds(examples, node)
    splits = []
    for feature in range(examples.n_features):
        x = examples.values[node.row, feature]
        known = ~np.isnan(x)
        if not examples.n_categories[feature]:
            threshold = float(thresholds[feature])
            if not np.isnan(threshold):
                branch = np.where(known, (x > threshold).astype(np.int64), -1)
                splits.append(_Split(feature, threshold, (), branch))
            continue
        codes = np.unique(x[known])
        if len(codes) > 1:
            branch = np.where(known, np.searchsorted(codes, x), -1)
            splits.append(_Split(feature, np.nan, tuple(codes.astype(int).tolist()), branch))
    return splits
