"""From a path of splits to a finished tree: its Forest, its regions, and the numbers that they answer with."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hedgerow.forest.build import Node, build_forest, leaf, one_against_rest, subset, threshold, value
from hedgerow.forest.forest import Forest
from hedgerow.measured.growing import Path
from hedgerow.measured.problem import Problem
from hedgerow.measured.regions import Question
from hedgerow.measured.soft_membership import Regions, region_membership

__all__ = ["classification_forest", "least_squares", "path_regions", "regression_forest"]

Floats = NDArray[np.float64]

_NO_ROW = 1e-6  # rows: less is no evidence of a class
_NEGLIGIBLE = 1e-9  # singular values below this share of the largest tell nothing but rounding


def least_squares(shares: Floats, targets: Floats, weight: Floats) -> Floats:
    """γ = (PᵀWP)⁻¹PᵀWy, (k, n_outputs): equation 6 of Tami et al. (2018), with weights.

    Memberships of a row add up to 1, so that γ is the mean of y and something to add. Where regions can't be told apart
    by the data (or nearly: then γ is a difference of huge numbers), what is added is the shortest of all solutions,
    which is the limit of ridge regression as its penalty goes to 0.
    """
    root = np.sqrt(weight / weight.sum())[:, np.newaxis]
    mean = np.average(targets, axis=0, weights=weight)
    added: Floats = np.linalg.lstsq(root * shares, root * (targets - mean), rcond=_NEGLIGIBLE)[0]
    return mean + added


def path_regions(
    path: Path, n_splits: int, n_features: int, n_categories: NDArray[np.int32]
) -> tuple[list[int], Regions]:
    """Numbers and regions of the leaves after so many splits, in the order in which a Forest has them."""
    numbered = {number: value(number) for number in _leaf_numbers(path, n_splits)}
    forest = _forest(path, n_splits, numbered, n_features, n_categories, regression=True)
    return [int(number) for number in forest.stats[:, 1]], Regions.of_forest(forest, n_categories)


def regression_forest(
    path: Path, n_splits: int, problem: Problem, n_categories: NDArray[np.int32]
) -> tuple[Forest, Floats]:
    """The tree after so many splits, and γ of its leaves.

    A leaf's statistics: how many rows are expected in it, γ, and the squared deviations from γ of all rows, each as far
    as it is in the region.
    """
    n_features = problem.values.shape[1]
    numbers, regions = path_regions(path, n_splits, n_features, n_categories)
    shares = region_membership(regions, problem.laws, problem.values, problem.sigma)
    gamma = least_squares(shares, problem.targets, problem.fit_weight)
    weighted = shares * problem.weight[:, np.newaxis]
    squares = (weighted * (problem.targets - gamma[:, 0]) ** 2).sum(axis=0)
    leaves = {
        number: value(gamma[k, 0], weight=weighted[:, k].sum(), squares=squares[k]) for k, number in enumerate(numbers)
    }
    return _forest(path, n_splits, leaves, n_features, n_categories, regression=True), gamma


def classification_forest(
    path: Path, n_splits: int, problem: Problem, n_categories: NDArray[np.int32]
) -> tuple[Forest, Floats]:
    """The tree after so many splits, and γ of its leaves; a row adds its memberships to the counts of its class."""
    n_features = problem.values.shape[1]
    numbers, regions = path_regions(path, n_splits, n_features, n_categories)
    shares = region_membership(regions, problem.laws, problem.values, problem.sigma)
    gamma = least_squares(shares, problem.targets, problem.fit_weight)
    counts = shares.T @ (problem.weight[:, np.newaxis] * problem.targets)
    counts[counts < _NO_ROW] = 0.0
    leaves = {number: leaf(counts[k]) for k, number in enumerate(numbers)}
    return _forest(path, n_splits, leaves, n_features, n_categories, regression=False), gamma


def _leaf_numbers(path: Path, n_splits: int) -> Sequence[int]:
    inner = set(path.divided[:n_splits])
    return [number for number in range(2 * n_splits + 1) if number not in inner]


def _forest(
    path: Path,
    n_splits: int,
    leaves: dict[int, Node],
    n_features: int,
    n_categories: NDArray[np.int32],
    *,
    regression: bool,
) -> Forest:
    nodes = dict(leaves)
    for i in reversed(range(n_splits)):  # children were made after their parents
        parts = (nodes[2 * i + 1], nodes[2 * i + 2])
        nodes[path.divided[i]] = _node(path.questions[i], n_categories, parts)
    return build_forest([nodes[0]], n_features, regression=regression)


def _node(question: Question, n_categories: NDArray[np.int32], parts: tuple[Node, Node]) -> Node:
    feature = question.feature
    if question.members is None:
        return threshold(feature, question.threshold, *parts)
    members = [int(code) for code in np.flatnonzero(question.members)]
    if len(members) == 1:
        return one_against_rest(feature, members[0], *parts)
    return subset(feature, members, int(n_categories[feature]), *parts)
