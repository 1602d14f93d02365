"""Mean and variance of regression trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow._arrays import Floats
from hedgerow.folds.additive import Additive
from hedgerow.folds.fold import Fold
from hedgerow.folds.uncertainty import Uncertainty, all_aleatoric

__all__ = ["Mean", "Variance", "deviations"]


@dataclass(frozen=True)
class Mean(Fold[None, Floats]):
    """Mean over the trees of the mean target of the leaf, (n,).

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.folds import Mean
    >>> Mean().of_trees(np.array([[2.0, 10.0, 8.0], [3.0, 16.0, 6.0]]), None)  # weight, mean and squares in two trees
    array(13.)
    """

    def table(self, stats: Floats, context: None) -> Floats:
        """Numbers of each leaf.

        Parameters
        ----------
        stats : array of shape (n_leaves, 3)
            Weight, mean and sum of squared deviations of the leaves.
        context : object
            Not used.

        Returns
        -------
        ndarray of shape (n_leaves, m)
            The quantities.
        """
        return stats[:, 1:2]

    def finish(self, folded: Floats, n_trees: Any, context: None) -> Floats:
        return (folded / n_trees)[:, 0]

    def additive(self, n_trees: int, context: None) -> Additive:
        return Additive.mean("prediction", 1, n_trees, by_class=False)


@dataclass(frozen=True)
class Variance(Fold[None, Uncertainty]):
    """Law of total variance: mean of the leaves' variances (aleatoric), variance of the trees' means (epistemic).

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.folds import Variance
    >>> leaves = np.array([[2.0, 10.0, 8.0], [3.0, 16.0, 6.0]])  # weight, mean and squares in two trees
    >>> fold = Variance()
    >>> found = fold.finish(fold.table(leaves, None).sum(axis=0, keepdims=True), 2, None)
    >>> found.aleatoric, found.epistemic  # (8/2 + 6/3)/2, and the variance of 10 and 16
    (array([3.]), array([9.]))
    """

    def table(self, stats: Floats, context: None) -> Floats:
        """Numbers of each leaf.

        Parameters
        ----------
        stats : array of shape (n_leaves, 3)
            Weight, mean and sum of squared deviations of the leaves.
        context : object
            Not used.

        Returns
        -------
        ndarray of shape (n_leaves, m)
            The quantities.
        """
        weight, mean, squares = stats.T
        variance = squares / np.where(weight > 0, weight, 1.0)  # a leaf without rows has none
        return np.stack([mean, mean**2, variance], axis=1)

    def finish(self, folded: Floats, n_trees: Any, context: None) -> Uncertainty:
        mean, mean_square, variance = (folded / n_trees).T
        between = np.maximum(mean_square - mean**2, 0.0)
        total = variance + between
        if np.ndim(n_trees) == 0 and n_trees == 1:
            return all_aleatoric(total, "variance")
        return Uncertainty(total, variance, between, "variance")


def deviations(variances: Uncertainty) -> Uncertainty:
    """Standard deviations of variances: in the unit of the target, and their squares add up.

    Parameters
    ----------
    variances : Uncertainty
        Variances.

    Returns
    -------
    Uncertainty
        Square roots, with the measure "deviation".

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.folds import Uncertainty, deviations
    >>> variances = Uncertainty(np.array([25.0]), np.array([16.0]), np.array([9.0]), "variance")
    >>> found = deviations(variances)
    >>> found.total, found.aleatoric, found.epistemic
    (array([5.]), array([4.]), array([3.]))
    """
    total, aleatoric, epistemic = map(np.sqrt, (variances.total, variances.aleatoric, variances.epistemic))
    return Uncertainty(total, aleatoric, epistemic, "deviation")
