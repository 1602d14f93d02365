"""Total, aleatoric and epistemic uncertainty, by entropy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hedgerow._arrays import Floats
from hedgerow.folds.fold import Fold
from hedgerow.folds.prunings import LeafPosteriors, dirichlet_entropy_bits
from hedgerow.walk import LeafTable, Link, Query

__all__ = ["EntropyUncertainty", "PosteriorUncertainty", "Uncertainty", "all_aleatoric", "entropy_bits"]


@dataclass(frozen=True)
class Uncertainty:
    """Uncertainty of predictions, one number per row: total = aleatoric + epistemic.

    Standard deviations are the exception: of these the squares add up.

    Parameters
    ----------
    total : array
        All of it, (n_samples,).
    aleatoric : array
        Noise: what more rows would not take away, (n_samples,).
    epistemic : array
        Ignorance: what more rows would take away, (n_samples,).

    Examples
    --------
    >>> from hedgerow import ForestClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> found = ForestClassifier(20, random_state=0).fit(X, y).predict_uncertainty(X)
    >>> bool(abs(found.total - found.aleatoric - found.epistemic).max() < 1e-12), found.measure
    (True, 'entropy')
    """

    total: Floats
    aleatoric: Floats
    epistemic: Floats
    measure: str
    """Name of the measure: "entropy" or "leaf_entropy" (bits), "plausibility", "deviation" or "variance"."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of each of the three arrays."""
        return self.total.shape

    def reshape(self, shape: tuple[int, ...]) -> Uncertainty:
        """Same numbers in another shape.

        Parameters
        ----------
        shape : tuple of int
            Shape of the three arrays.

        Returns
        -------
        Uncertainty
            The record with arrays of that shape.
        """
        total, aleatoric, epistemic = (one.reshape(shape) for one in (self.total, self.aleatoric, self.epistemic))
        return Uncertainty(total, aleatoric, epistemic, self.measure)


@dataclass(frozen=True, eq=False)
class PosteriorUncertainty:
    """Entropy in bits of the mean class probabilities (total), and their mean entropy (aleatoric).

    Means over the trees, the prunings of each tree and the class probabilities of each node of a pruning; the
    difference is the mutual information of class and probabilities (epistemic). A row that reaches several leaves of a
    tree has their mixture: that a value is missing is epistemic.

    A row outside the training range is answered as if its leaves were about it with probability 2^(−u) only, u being
    how far it is outside in the column where it is furthest, in widths of the range; else nothing is known about its
    class probabilities but their prior, Dirichlet(m·p).

    Parameters
    ----------
    posteriors : LeafPosteriors
        Mean class probabilities and entropies of the leaves' prunings.
    prior : array of shape (n_classes,)
        Probability of each class without a look at the columns.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.folds import PosteriorUncertainty, Prunings
    >>> from hedgerow.forest import build_forest, leaf, threshold
    >>> from hedgerow.walk import ForestWalk, ask
    >>> forest = build_forest([threshold(0, 2.0, leaf([30, 10]), leaf([0, 40]))], n_features=1)
    >>> prior = np.array([0.375, 0.625])
    >>> fold = PosteriorUncertainty(Prunings().posteriors(forest, forest.counts, prior), prior, None)
    >>> found = ask(ForestWalk(forest, None), np.array([[1.0], [9.0]]), [fold.query()])[0]
    >>> bool(found.total[0] > found.total[1])
    True
    """

    posteriors: LeafPosteriors
    prior: Floats
    ranges: Floats | None
    """Least and largest training value of each column, (n_features, 2); NaN for a column that does not count. None:
    unknown."""

    def query(self, tree_weights: Floats | None = None) -> Query[Uncertainty]:
        """Bind the posteriors to a forest, for :func:`hedgerow.walk.ask`.

        Parameters
        ----------
        tree_weights : array of shape (n_trees,) or None, default=None
            Weight of each tree; None weighs all alike.

        Returns
        -------
        Query
            Table and finish.
        """
        table = LeafTable.of(np.column_stack([self.posteriors.shares, self.posteriors.bits]))
        return Query(table, self.finish, tree_weights=tree_weights, with_rows=True)

    def finish(self, folded: Floats, n_trees: int, rows: Floats) -> Uncertainty:
        """Uncertainty from the folded shares and bits, (n, n_classes + 1).

        Parameters
        ----------
        folded : array of shape (n_samples, m)
            The table, folded over the trees.
        n_trees : int or array of shape (n_samples,)
            Number of trees, or their total weight, in the fold.
        rows : array of shape (n_samples, n_features)
            Rows, converted.

        Returns
        -------
        Uncertainty
            Total, aleatoric and epistemic uncertainty of each row.
        """
        shares, aleatoric = np.hsplit(folded / n_trees, [-1])
        aleatoric = aleatoric[:, 0]
        if self.ranges is not None:
            about = np.exp2(-widths_outside(rows, self.ranges))
            unknown = dirichlet_entropy_bits(self.posteriors.m * self.prior)
            aleatoric = about * aleatoric + (1.0 - about) * unknown
            shares = about[:, np.newaxis] * shares + (1.0 - about)[:, np.newaxis] * self.prior
        epistemic = np.maximum(entropy_bits(shares) - aleatoric, 0.0)
        return Uncertainty(aleatoric + epistemic, aleatoric, epistemic, "entropy")


def widths_outside(rows: Floats, ranges: Floats) -> Floats:
    """Largest distance of each row from the range of a column, in widths of that range, (n,); 0 inside.

    Missing values, and columns without a range or with a single value, do not count.
    """
    low, high = ranges.T
    counted = np.flatnonzero(high > low)
    if not counted.size:
        return np.zeros(len(rows))
    low, high, values = low[counted], high[counted], rows[:, counted]
    with np.errstate(over="ignore", invalid="ignore"):
        outside = np.maximum(low - values, values - high) / (high - low)
    return np.fmax(np.fmax.reduce(outside, axis=1), 0.0)


@dataclass(frozen=True)
class EntropyUncertainty(Fold[Floats, Uncertainty]):
    """Entropy in bits of the trees' mean probabilities (total) and the mean of their own entropies (aleatoric).

    The link −p·log2 p is applied to the probabilities of a tree for a row, so that a row that reaches several leaves of
    a tree gets the entropy of their mixture. Pure leaves have no entropy: of full trees all of it is epistemic,
    whatever the noise; :class:`PosteriorUncertainty` is free of that.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.folds import EntropyUncertainty
    >>> from hedgerow.forest import build_forest, leaf
    >>> from hedgerow.probability import Frequency
    >>> from hedgerow.walk import ForestWalk, ask
    >>> forest = build_forest([leaf([4, 0]), leaf([0, 4])], n_features=1)  # two trees, sure of different classes
    >>> fold, prior = EntropyUncertainty(Frequency()), np.array([0.5, 0.5])
    >>> query = fold.query(fold.leaf_table(forest.counts, prior), prior)
    >>> found = ask(ForestWalk(forest, None), np.array([[1.0]]), [query])
    >>> found[0].total, found[0].epistemic
    (array([1.]), array([1.]))
    """

    probability: Fold[Floats, Floats]
    """Fold whose table has the probabilities of each leaf."""

    def table(self, counts: Floats, prior: Floats) -> LeafTable:
        """Numbers of each leaf.

        Parameters
        ----------
        counts : array of shape (n_leaves, n_classes)
            Class counts of the leaves.
        prior : array of shape (n_classes,)
            Probability of each class without a look at the columns.

        Returns
        -------
        LeafTable
            Probabilities of each leaf, and their entropy as a linked column.
        """
        shares = np.asarray(self.probability.table(counts, prior))
        links: tuple[Link, ...] = ("identity",) * shares.shape[1] + ("entropy",) * shares.shape[1]
        return LeafTable.of(np.concatenate([shares, shares], axis=1), link=links)

    def finish(self, folded: Floats, n_trees: int, prior: Floats) -> Uncertainty:
        """Turn the folded table into the answer.

        Parameters
        ----------
        folded : array of shape (n_samples, m)
            The table folded over the trees.
        n_trees : int or array
            Number of trees that were folded.
        prior : array of shape (n_classes,)
            Probability of each class without a look at the columns.

        Returns
        -------
        Uncertainty
            Total, aleatoric and epistemic uncertainty of each row.
        """
        shares, bits = np.hsplit(folded / n_trees, 2)
        total = entropy_bits(shares)
        if n_trees == 1:
            return all_aleatoric(total, "leaf_entropy")
        aleatoric = bits.sum(axis=1)
        return Uncertainty(total, aleatoric, np.maximum(total - aleatoric, 0.0), "leaf_entropy")


def all_aleatoric(total: Floats, measure: str) -> Uncertainty:
    """Uncertainty of a single tree: no between-tree variance, so all of it is aleatoric."""
    return Uncertainty(total, total, np.zeros_like(total), measure)


def entropy_bits(probabilities: Floats) -> Floats:
    """−Σ p·log2 p over the last axis.

    Parameters
    ----------
    probabilities : array of shape (…, n_classes)
        Probabilities.

    Returns
    -------
    ndarray of shape (…)
        Entropies.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.folds import entropy_bits
    >>> entropy_bits(np.array([[0.5, 0.5], [1.0, 0.0]]))
    array([1., 0.])
    """
    positive = np.where(probabilities > 0, probabilities, 1.0)
    bits: Floats = -(positive * np.log2(positive)).sum(axis=-1)
    return bits + 0.0  # not -0.0
