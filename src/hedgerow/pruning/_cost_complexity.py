"""Minimal cost-complexity pruning (Breiman, Friedman, Olshen and Stone, 1984, chapter 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats
from hedgerow._core import weakest_links
from hedgerow._params import check_number, check_whole, is_number
from hedgerow.data.training import Training
from hedgerow.forest.forest import Forest
from hedgerow.forest.importance import Impurity, weighted_impurity
from hedgerow.pruning.hold_out_loss import hold_out_losses
from hedgerow.pruning.strategy import Grower, need_one_tree
from hedgerow.pruning.subtrees import cut
from hedgerow.pruning.training_rows import hash_positions, select_rows

__all__ = ["CostComplexity", "Links", "cost_complexity", "links_of"]


@dataclass(frozen=True)
class CostComplexity:
    """Choose the smallest subtree that minimises R + alpha·(number of leaves), R being the impurity of its leaves.

    R and `alpha` are scikit-learn's (`ccp_alpha`): the mean over the rows of the criterion's impurity, or of the
    squared error. "cv" chooses alpha by cross-validation with `folds` folds (section 3.4.2): among the geometric means
    of successive alphas at which the tree changes, the one with the least error on the left-out folds, the largest of
    ties. With `standard_errors` = 1, the largest alpha whose error is within one standard error of the least.

    Folds are stratified and keep equal rows together, so that a row of weight 2 and two equal rows give the same tree.

    Trees for measured inputs keep a prefix of their splits instead (:mod:`hedgerow.measured`): R is then the residual
    sum of squares per unit of weight.

    Parameters
    ----------
    alpha : float or "cv", default="cv"
        Price of a leaf, in impurity per row; "cv" chooses it by cross-validation.
    folds : int, default=5
        Number of folds of the cross-validation.
    standard_errors : float, default=0.0
        Take the largest alpha whose error is within this many standard errors of the least.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from hedgerow import TreeClassifier
    >>> from hedgerow.pruning import CostComplexity
    >>> TreeClassifier(pruning=CostComplexity(), random_state=0).fit(X, y).get_n_leaves()
    4
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
        return links.pruned(self._choose_alpha(candidates, training, grower, seed))

    def prune(self, forest: Forest, rows: Training, grower: Grower) -> Forest:
        """Return the pruned tree.

        Parameters
        ----------
        forest : Forest
            The tree to prune, grown from all rows.
        rows : Training
            Training rows.
        grower : Grower
            Grows the tree again from some of the rows.

        Returns
        -------
        Forest
            The pruned tree.

        Raises
        ------
        ValueError
            If alpha is not a number.
        """
        if self.alpha == "cv":
            raise ValueError(
                f"{self!r} grows trees to choose alpha, which a tree that is fitted can't: set it as pruning= before "
                "fit, or give alpha as a number"
            )
        return links_of(forest, grower.impurity).pruned(self.alpha)

    def _choose_alpha(self, candidates: Floats, training: Training, grower: Grower, seed: int) -> float:
        """Return the candidate with the least cross-validated error."""
        fold = (hash_positions(training, seed) * self.folds).astype(np.int64)
        sums, weight = np.zeros((len(candidates), 2)), 0.0
        for number in range(self.folds):
            inside = fold == number
            if inside.any() and not inside.all():
                rows = select_rows(training, inside)
                links = links_of(grower(select_rows(training, ~inside)), grower.impurity, rows)
                sums += links.losses_at(candidates)
                weight += float(rows.sample_weight.sum())
        if weight == 0:  # all rows are in one fold
            return float(candidates[0])
        mean = sums[:, 0] / weight
        least = int(np.argmin(mean))
        variance = max(sums[least, 1] / weight - mean[least] ** 2, 0.0)
        allowed = mean[least] * (1 + 1e-9) + float(self.standard_errors) * np.sqrt(variance / weight)
        return float(candidates[np.flatnonzero(mean <= allowed)[-1]])


def cost_complexity(forest: Forest, alpha: float, impurity: Impurity) -> Forest:
    """Return the smallest subtree that minimises impurity + alpha·(number of leaves); see :class:`CostComplexity`.

    Parameters
    ----------
    forest : Forest
        The trees.
    alpha : float
        Cost of a leaf.
    impurity : str
        Impurity by which subtrees are compared.

    Returns
    -------
    Forest
        The pruned tree.

    Raises
    ------
    ValueError
        If alpha is negative, or there are several trees.

    Examples
    --------
    >>> from hedgerow import TreeClassifier
    >>> from hedgerow.pruning import cost_complexity
    >>> X, y = [[float(i)] for i in range(20)], [0] * 9 + [1, 0] + [1] * 9
    >>> forest = TreeClassifier.cart().fit(X, y).forest_
    >>> [cost_complexity(forest, alpha, "gini").n_leaves for alpha in (0.0, 0.1, 0.5)]
    [4, 2, 1]
    """
    return links_of(forest, impurity).pruned(CostComplexity(alpha).alpha)


@dataclass(frozen=True)
class Links:
    """The nested sequence of pruned trees: weakest links, cut one after the other.

    Parameters
    ----------
    forest : Forest
        The tree to prune, grown from all rows.

    Examples
    --------
    >>> from hedgerow import TreeClassifier
    >>> from hedgerow.pruning import links_of
    >>> X, y = [[float(i)] for i in range(20)], [0] * 9 + [1, 0] + [1] * 9
    >>> links = links_of(TreeClassifier.cart().fit(X, y).forest_, "gini")
    >>> links.alphas.round(2)
    array([0.05, 0.41])
    >>> links.pruned(0.1).n_leaves
    2
    """

    forest: Forest
    nodes: NDArray[np.int64]
    """Nodes that become leaves, in order."""
    alphas: Floats
    """Least alpha at which each does, non-decreasing."""
    impurities: Floats
    """R of the full tree and after each step, (steps + 1,)."""
    losses: Floats
    """Hold-out loss of these trees, and the sum of squared losses, (steps + 1, 2)."""

    def pruned(self, alpha: float) -> Forest:
        """Return the pruned tree for an alpha.

        Parameters
        ----------
        alpha : float
            Cost of a leaf.

        Returns
        -------
        Forest
            The tree.
        """
        return cut(self.forest, self.nodes[: self._n_steps(np.array([alpha]))[0]])

    def between(self) -> Floats:
        """Geometric means of successive alphas at which the tree changes, infinity last: one per tree.

        Returns
        -------
        ndarray of shape (n_trees,)
            The means.
        """
        changes = np.unique(np.concatenate([[0.0], self.alphas]))
        distinct = changes[np.concatenate([[True], np.diff(changes) > self._rounding])]
        return np.concatenate([np.sqrt(distinct[1:] * distinct[:-1]), [np.inf]])

    def losses_at(self, alphas: Floats) -> Floats:
        """Hold-out losses of the tree for each alpha.

        Parameters
        ----------
        alphas : array
            Cost of a leaf at which each is cut.

        Returns
        -------
        ndarray of shape (n_alphas, 2)
            Sum of the losses, and of their squares.
        """
        return self.losses[self._n_steps(alphas)]

    def _n_steps(self, alphas: Floats) -> NDArray[np.int64]:
        return np.searchsorted(self.alphas, alphas + self._rounding, side="right")

    @property
    def _rounding(self) -> float:
        """Steps that cost less are free."""
        return 1e-12 * float(self.impurities.max())


def links_of(forest: Forest, impurity: Impurity, rows: Training | None = None) -> Links:
    """Compute the pruning sequence of a tree, and its losses on hold-out `rows`.

    Parameters
    ----------
    forest : Forest
        The trees.
    impurity : str
        Impurity by which subtrees are compared.
    rows : Training or None, default=None
        Hold-out rows.

    Returns
    -------
    Links
        The sequence.

    Raises
    ------
    ValueError
        If there are several trees.

    Examples
    --------
    >>> from hedgerow.forest import build_forest, leaf, threshold
    >>> from hedgerow.pruning import links_of
    >>> forest = build_forest([threshold(0, 2.0, leaf([4, 0]), leaf([0, 4]))], n_features=1)
    >>> links_of(forest, "gini").impurities  # of the tree, and of its root alone
    array([0. , 0.5])
    """
    need_one_tree(forest)
    total = weighted_impurity(forest, impurity)
    risk = total / forest.weight[0] if forest.weight[0] > 0 else total
    losses = np.zeros((forest.n_nodes, 2)) if rows is None else hold_out_losses(forest, rows)
    nodes, alphas, sums = weakest_links(forest.parent, np.column_stack([risk, losses]))
    sums = sums.reshape(-1, 3)
    return Links(forest, nodes, np.maximum.accumulate(np.maximum(alphas, 0.0)), sums[:, 0], sums[:, 1:])
