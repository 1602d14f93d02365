"""Cost-complexity pruning: every leaf must pay for itself (Breiman, Friedman, Olshen, Stone, 1984, chapter 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._core import weakest_links
from hedgerow._params import check_number, check_whole, is_number
from hedgerow.data.training import Training
from hedgerow.forest.forest import Forest
from hedgerow.forest.importance import Impurity, weighted_impurity
from hedgerow.pruning.cutting import cut
from hedgerow.pruning.grower import Grower, need_one_tree, some_rows
from hedgerow.pruning.hold_out_loss import losses_as_leaves
from hedgerow.pruning.hold_out_split import places_in_line

__all__ = ["CostComplexity", "Links", "cost_complexity", "links_of"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class CostComplexity:
    """The smallest tree that minimises R + alpha·(number of leaves), R being the impurity of its leaves.

    R and `alpha` are scikit-learn's (`ccp_alpha`): the mean over the rows of the criterion's impurity, or of the
    squared error. "cv": alpha is chosen by cross-validation in `folds` parts (section 3.4.2): of the geometric means
    of neighbouring alphas at which the tree changes, the one whose trees, grown without each part and pruned, err
    least on it; of equals the largest. With `standard_errors` = 1, the largest alpha whose error is within one
    standard error of the least.

    Equal rows are in one part, and the classes have the same share in all, so that weights and repeated rows give the
    same tree.

    Trees for measured inputs keep a prefix of their splits instead (:mod:`hedgerow.measured`): R is then the residual
    sum of squares per unit of weight.
    """

    alpha: Any = "cv"
    folds: int = 5
    standard_errors: float = 0.0

    def __post_init__(self) -> None:
        by_cv = isinstance(self.alpha, str) and self.alpha == "cv"
        if not by_cv and not (is_number(self.alpha) and 0 <= float(self.alpha) < np.inf):
            raise ValueError(f"CostComplexity: alpha is {self.alpha!r}, must be 'cv' or a number of at least 0")
        check_whole("CostComplexity: folds", self.folds, 2)
        check_number("CostComplexity: standard_errors", self.standard_errors, closed="left", hint=", such as 1")

    def __call__(self, training: Training, grower: Grower, seed: int) -> Forest:
        forest = grower(training)
        links = links_of(forest, grower.impurity)
        if self.alpha != "cv":
            return links.pruned(self.alpha)
        candidates = links.between()
        if len(candidates) < 2:
            return forest
        return links.pruned(self._chosen(candidates, training, grower, seed))

    def prune(self, forest: Forest, rows: Training, grower: Grower) -> Forest:
        if self.alpha == "cv":
            raise ValueError(
                f"{self!r} grows trees to choose alpha, which a tree that is fitted can't: set it as pruning= before "
                "fit, or give alpha as a number"
            )
        return links_of(forest, grower.impurity).pruned(self.alpha)

    def _chosen(self, candidates: Floats, training: Training, grower: Grower, seed: int) -> float:
        """The candidate whose trees err least on the parts that they were grown without."""
        fold = (places_in_line(training, seed) * self.folds).astype(np.int64)
        sums, weight = np.zeros((len(candidates), 2)), 0.0
        for number in range(self.folds):
            inside = fold == number
            if inside.any() and not inside.all():
                rows = some_rows(training, inside)
                links = links_of(grower(some_rows(training, ~inside)), grower.impurity, rows)
                sums += links.losses_at(candidates)
                weight += float(rows.sample_weight.sum())
        if weight == 0:  # all rows are in one part: nothing to compare
            return float(candidates[0])
        mean = sums[:, 0] / weight
        least = int(np.argmin(mean))
        variance = max(sums[least, 1] / weight - mean[least] ** 2, 0.0)
        allowed = mean[least] * (1 + 1e-9) + float(self.standard_errors) * np.sqrt(variance / weight)
        return float(candidates[np.flatnonzero(mean <= allowed)[-1]])


def cost_complexity(forest: Forest, alpha: float, impurity: Impurity) -> Forest:
    """The smallest subtree that minimises impurity + alpha·(number of leaves); see :class:`CostComplexity`."""
    return links_of(forest, impurity).pruned(CostComplexity(alpha).alpha)


@dataclass(frozen=True)
class Links:
    """The ever smaller trees that a tree is pruned to, one node at a time."""

    forest: Forest
    nodes: NDArray[np.int64]
    """The nodes that became leaves, in order."""
    alphas: Floats
    """The least alpha at which each did: they never fall."""
    impurities: Floats
    """R of the tree itself and after each step, (steps + 1,)."""
    losses: Floats
    """What the tree and its successors lose on other rows, and the sum of squared losses, (steps + 1, 2)."""

    def pruned(self, alpha: float) -> Forest:
        """The tree for an alpha."""
        return cut(self.forest, self.nodes[: self._n_steps(np.array([alpha]))[0]])

    def between(self) -> Floats:
        """Geometric means of neighbouring alphas at which the tree changes, infinity last: one for each tree."""
        changes = np.unique(np.concatenate([[0.0], self.alphas]))
        distinct = changes[np.concatenate([[True], np.diff(changes) > self._rounding])]
        return np.concatenate([np.sqrt(distinct[1:] * distinct[:-1]), [np.inf]])

    def losses_at(self, alphas: Floats) -> Floats:
        """The losses of the tree for each alpha."""
        return self.losses[self._n_steps(alphas)]

    def _n_steps(self, alphas: Floats) -> NDArray[np.int64]:
        return np.searchsorted(self.alphas, alphas + self._rounding, side="right")

    @property
    def _rounding(self) -> float:
        """A step that costs less costs nothing."""
        return 1e-12 * float(self.impurities.max())


def links_of(forest: Forest, impurity: Impurity, rows: Training | None = None) -> Links:
    """The sequence of a tree, and what it loses on other `rows`."""
    need_one_tree(forest)
    total = weighted_impurity(forest, impurity)
    risk = total / forest.weight[0] if forest.weight[0] > 0 else total
    losses = np.zeros((forest.n_nodes, 2)) if rows is None else losses_as_leaves(forest, rows)
    nodes, alphas, sums = weakest_links(forest.parent, np.column_stack([risk, losses]))
    sums = sums.reshape(-1, 3)
    return Links(forest, nodes, np.maximum.accumulate(np.maximum(alphas, 0.0)), sums[:, 0], sums[:, 1:])
