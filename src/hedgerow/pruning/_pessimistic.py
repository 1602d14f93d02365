"""C4.5's pruning by pessimistic error estimates, without a hold-out."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

from numpy.typing import ArrayLike

from hedgerow._core import prune
from hedgerow._params import check_bool, check_number
from hedgerow.data.training import Training
from hedgerow.forest.forest import Forest
from hedgerow.growth import Fractional
from hedgerow.pruning.strategy import Grower, need_classes, need_one_tree
from hedgerow.pruning.subtrees import remade
from hedgerow.pruning.training_rows import to_training

__all__ = ["Pessimistic", "pessimistic"]


@dataclass(frozen=True)
class Pessimistic:
    """Replace a subtree by a leaf, or by its largest branch, if the estimated errors do not increase (C4.5).

    The errors of a leaf with N rows, e of them wrong, are estimated by the upper limit of a confidence interval at
    `confidence` (Quinlan, C4.5, 1993, chapter 4): U(N, e) = N·r with f = (e + ½)/N, z = Φ⁻¹(1 − confidence)
    and r = (f + z²/2N + z·√(f/N − f²/N + z²/4N²))/(1 + z²/N); N·(1 − confidence^(1/N)) where e = 0, and interpolated
    up to e = 1. Bottom-up, a node becomes a leaf if U ≤ the sum over its leaves + 0.1; with `raising` (subtree
    raising), its largest branch replaces it if the estimated errors of that branch on all of the node's rows are at
    most those of the node's leaves + 0.1. All as in Weka's J48. A smaller `confidence` usually prunes more.

    Weights count as numbers of rows. Estimators first rescale weights that are not whole numbers to a mean of 1.

    Parameters
    ----------
    confidence : float, default=0.25
        Confidence level of the estimated errors, between 0 and 0.5; a smaller one usually prunes more.
    raising : bool, default=True
        Whether a subtree may be replaced by its largest branch.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from hedgerow import TreeClassifier
    >>> from hedgerow.pruning import Pessimistic
    >>> TreeClassifier(pruning=Pessimistic(), random_state=0).fit(X, y).get_n_leaves()
    7
    """

    confidence: float = 0.25
    raising: bool = True

    def __post_init__(self) -> None:
        check_number("Pessimistic: confidence", self.confidence, 0, 0.5, closed="right", hint=", such as 0.25")
        check_bool("Pessimistic: raising", self.raising)

    def __call__(self, training: Training, grower: Grower, seed: int) -> Forest:
        need_classes(self, training)
        return self.prune(grower(training), training, grower)

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
        """
        return _prune(forest, rows, self, grower.min_fraction)


def pessimistic(
    forest: Forest,
    X: ArrayLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    confidence: float = 0.25,
    raising: bool = True,
    min_fraction: float = Fractional.min_fraction,
) -> Forest:
    """Prune a tree as C4.5 does, by the rows that it was grown from; see :class:`Pessimistic`.

    `y` holds class numbers. A row with a missing value is split over all branches, in proportion to the rows with a
    value; a fraction below `min_fraction` of a row follows the heaviest branch.

    Parameters
    ----------
    forest : Forest
        The trees.
    X : array-like of shape (n_samples, n_features)
        Rows as the tree reads them: numbers and codes.
    y : array-like of shape (n_samples,)
        Position of the class of each row.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weight of each row; None weighs all alike. Rows of weight 0 are left out.
    confidence : float, default=0.25
        Confidence of the estimated errors, from 0 to 0.5: the smaller, the more is pruned.
    raising : bool, default=True
        Whether a subtree may be replaced by its largest branch.
    min_fraction : float, default=0.015625
        A smaller fraction of a row is not split further: it follows the heaviest branch.

    Returns
    -------
    Forest
        The pruned tree.

    Raises
    ------
    ValueError
        If rows do not fit the tree, or a number is out of its range.

    Examples
    --------
    >>> from hedgerow import TreeClassifier
    >>> from hedgerow.pruning import pessimistic
    >>> X, y = [[float(i)] for i in range(20)], [0] * 9 + [1, 0] + [1] * 9
    >>> forest = TreeClassifier.cart().fit(X, y).forest_
    >>> forest.n_leaves, pessimistic(forest, X, y).n_leaves
    (4, 2)
    """
    rows = to_training(forest, X, y, sample_weight)
    return _prune(forest, rows, Pessimistic(confidence, raising), min_fraction)


def _prune(forest: Forest, rows: Training, strategy: Pessimistic, min_fraction: float) -> Forest:
    need_one_tree(forest)
    labels = need_classes(strategy, rows)
    pruned = prune(
        forest.core_with_weight,
        forest.counts,
        rows.values,
        rows.sample_weight,
        labels,
        float(strategy.confidence),
        NormalDist().inv_cdf(1 - strategy.confidence),
        bool(strategy.raising),
        float(min_fraction),
    )
    return forest if pruned is None else remade(forest, pruned)
