"""Kohavi's NBTree: a node is split where naive Bayes in the branches is better than naive Bayes in the node.

Kohavi, Scaling up the accuracy of naive-Bayes classifiers: a decision-tree hybrid, 1996.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._params import check_number, check_rows
from hedgerow.forest import build
from hedgerow.forest.forest import Forest
from hedgerow.naive_bayes.cross_validation import hits
from hedgerow.naive_bayes.discretisation import best_thresholds
from hedgerow.naive_bayes.groups import Examples, Groups, divide, joined, whole
from hedgerow.naive_bayes.leaf_models import LeafModels
from hedgerow.naive_bayes.likelihoods import Numeric, numeric

__all__ = ["NaiveBayesGrowth", "questions_of"]

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

_ROUNDING = 1e-9  # of a row: questions that find as many right classes but for this are equally good


@dataclass(frozen=True, eq=False)
class _Question:
    """A column, and the branch of each row of the node: -1 where its value is missing."""

    feature: int
    threshold: float
    codes: tuple[int, ...]
    """The category of each branch; none in a question about a threshold."""
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
    """When a node is split."""

    numeric: Any = "entropy"
    min_samples_split: Any = 30
    min_error_reduction: Any = 0.05

    def grow(self, examples: Examples) -> tuple[Forest, LeafModels]:
        """The tree, and the naive Bayes classifiers of its leaves; a clear error for a setting that makes no sense."""
        likelihood = numeric(self.numeric)
        least = check_rows("min_samples_split", self.min_samples_split, 2, len(examples.labels))
        reduction = check_number(
            "min_error_reduction", self.min_error_reduction, 0, 1, closed="both", hint=", such as 0.05"
        )
        root = whole(examples)
        waiting = deque([(root, float(hits(examples, root, likelihood)[0]))])
        leaves: list[Groups] = []
        split: list[tuple[_Question, int] | None] = []  # of each node, with the number of its first child
        n_nodes = 1
        while waiting:  # breadth first, as leaves are numbered
            node, n_right = waiting.popleft()
            weight = float(node.weight.sum())
            question = None
            if weight >= least - _ROUNDING and weight - n_right > _ROUNDING:
                question, branches, right = _best_question(examples, node, likelihood)
            if question is None or right.sum() - n_right < reduction * (weight - n_right) - _ROUNDING:
                split.append(None)
                leaves.append(node)
                continue
            split.append((question, n_nodes))
            n_nodes += question.n_branches
            waiting.extend((branches.only(child), float(right[child])) for child in range(question.n_branches))
        together = joined(leaves)
        forest = _built(split, together.class_counts(examples), examples.n_features)
        return forest, LeafModels.of(examples, together, likelihood)


def _built(split: list[tuple[_Question, int] | None], leaf_counts: Floats, n_features: int) -> Forest:
    counts = iter(leaf_counts[::-1])
    built: dict[int, build.Node] = {}
    for number in reversed(range(len(split))):  # children come after their parents
        if (found := split[number]) is None:
            built[number] = build.leaf(next(counts))
        else:
            question, first = found
            built[number] = question.node([built.pop(first + child) for child in range(question.n_branches)])
    return build.build_forest([built[0]], n_features)


def _best_question(examples: Examples, node: Groups, likelihood: Numeric) -> tuple[_Question | None, Groups, Floats]:
    """The question whose branches find most classes, those branches, and what each of them finds.

    One threshold for each numeric column, that of least entropy; a branch for each category that the node holds. The
    utility of a split is the mean of its branches', weighted by their rows: all right rows over all rows. The lowest of
    equal columns.
    """
    best: tuple[_Question | None, Groups, Floats] = (None, node, np.zeros(1))
    most = -np.inf
    for question in questions_of(examples, node):
        branches = divide(node, question.branch, question.n_branches)
        right = hits(examples, branches, likelihood)
        if right.sum() > most + _ROUNDING:
            best, most = (question, branches, right), float(right.sum())
    return best


def questions_of(examples: Examples, node: Groups) -> list[_Question]:
    thresholds = best_thresholds(examples, node)
    questions = []
    for feature in range(examples.n_features):
        x = examples.values[node.row, feature]
        known = ~np.isnan(x)
        if not examples.n_categories[feature]:
            threshold = float(thresholds[feature])
            if not np.isnan(threshold):
                branch = np.where(known, (x > threshold).astype(np.int64), -1)
                questions.append(_Question(feature, threshold, (), branch))
            continue
        codes = np.unique(x[known])
        if len(codes) > 1:
            branch = np.where(known, np.searchsorted(codes, x), -1)
            questions.append(_Question(feature, np.nan, tuple(codes.astype(int).tolist()), branch))
    return questions
