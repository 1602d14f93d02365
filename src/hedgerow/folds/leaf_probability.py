"""Class probabilities of a leaf, from its class counts and those of the nodes above it."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hedgerow._arrays import Floats
from hedgerow._params import check_number, check_whole, choose, is_number
from hedgerow._registry import register
from hedgerow.folds.additive import Additive
from hedgerow.folds.conditions import Conditions, leads
from hedgerow.folds.fold import Fold
from hedgerow.forest.forest import Forest

__all__ = [
    *("Frequency", "Laplace", "LeafProbability", "MEstimate", "Shrinkage"),
    *("corrected_shares", "leaf_probability", "uniform"),
]

_HAIR = 1e-3  # how far a majority is brought ahead, as a part of its lead in the leaf


def corrected_shares(counts: Floats, centre: Floats, amount: float) -> Floats:
    """(w_y + amount·c_y)/(n + amount), class frequencies shrunk toward `centre`, which an empty leaf gets."""
    total = counts.sum(axis=1, keepdims=True) + amount
    return np.where(total > 0, (counts + amount * centre) / np.where(total > 0, total, 1.0), centre)


def uniform(n_classes: int) -> Floats:
    """Uniform distribution over the classes."""
    return np.full(n_classes, 1 / n_classes)


class LeafProbability(Fold[Floats, Floats]):
    """Abstract: estimates the probabilities of a leaf, (n_leaves, n_classes); a forest's are their mean over trees.

    Examples
    --------
    With one more row in the leaf, of the class that is rarest there:

    >>> import numpy as np
    >>> from hedgerow.probability import LeafProbability
    >>> class Cautious(LeafProbability):
    ...     def table(self, counts, prior):
    ...         moved = counts + (counts == counts.min(axis=1, keepdims=True))
    ...         return moved / moved.sum(axis=1, keepdims=True)
    >>> Cautious().table(np.array([[3.0, 0.0], [7.0, 2.0]]), np.array([0.5, 0.5]))
    array([[0.75, 0.25],
           [0.7 , 0.3 ]])

    Trees take it as a parameter:

    >>> from hedgerow import TreeClassifier
    >>> tree = TreeClassifier.cart(leaf_probability=Cautious()).fit([[1], [2], [3], [4]], ["a", "a", "a", "b"])
    >>> tree.predict_proba([[1]])
    array([[0.75, 0.25]])
    """

    @abstractmethod
    def table(self, counts: Floats, prior: Floats) -> Floats:
        """Probabilities from class counts, (n_leaves, n_classes), and the classes' prior.

        Parameters
        ----------
        counts : array of shape (n_leaves, n_classes)
            Class counts of the leaves.
        prior : array of shape (n_classes,)
            Probability of each class without a look at the columns.

        Returns
        -------
        ndarray of shape (n_leaves, n_classes)
            Probabilities.
        """

    def evidence(self, forest: Forest) -> Floats:
        """Counts that `table` gets for the leaves of a tree, (n_leaves, n_classes).

        Parameters
        ----------
        forest : Forest
            The trees.

        Returns
        -------
        ndarray of shape (n_leaves, n_classes)
            Counts.
        """
        return forest.answer_counts()

    def finish(self, folded: Floats, n_trees: Any, prior: Floats) -> Floats:
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
        ndarray of shape (n_samples, n_classes)
            Probabilities.
        """
        return folded / n_trees

    def conditions(self, code: int, n_classes: int, n_trees: int, prior: Floats) -> Conditions:
        """Linear conditions under which a class is answered.

        Parameters
        ----------
        code : int
            Position of the class.
        n_classes : int
            Number of classes.
        n_trees : int or array
            Number of trees that were folded.
        prior : array of shape (n_classes,)
            Probability of each class without a look at the columns.

        Returns
        -------
        Conditions
            One for each other class.
        """
        return leads(np.eye(n_classes), np.zeros(n_classes), code)

    def additive(self, n_trees: int, prior: Floats) -> Additive:
        """The answer as a sum over the trees.

        Parameters
        ----------
        n_trees : int or array
            Number of trees that were folded.
        prior : array of shape (n_classes,)
            Probability of each class without a look at the columns.

        Returns
        -------
        Additive
            Mean over the trees of the leaves' probabilities.
        """
        return Additive.mean("probability", len(prior), n_trees, by_class=True)

    def __call__(self, counts: Floats, prior: Floats) -> Floats:
        return self.table(counts, prior)


@dataclass(frozen=True)
class Frequency(LeafProbability):
    """k/n, the share of each class in the leaf; the prior where a leaf is empty.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.probability import Frequency
    >>> Frequency().table(np.array([[3.0, 1.0]]), np.array([0.5, 0.5]))
    array([[0.75, 0.25]])
    """

    def table(self, counts: Floats, prior: Floats) -> Floats:
        return corrected_shares(counts, prior, 0.0)


@dataclass(frozen=True)
class Laplace(LeafProbability):
    """(k + 1)/(n + C) with C classes: certainty grows with the size of the leaf.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.probability import Laplace
    >>> Laplace().table(np.array([[3.0, 0.0]]), np.array([0.5, 0.5]))
    array([[0.8, 0.2]])
    """

    def table(self, counts: Floats, prior: Floats) -> Floats:
        n_classes = counts.shape[1]
        return corrected_shares(counts, uniform(n_classes), n_classes)


@dataclass(frozen=True)
class MEstimate(LeafProbability):
    """(k + m·p)/(n + m) with p the share of the class in the training data (Cestnik, 1990).

    Parameters
    ----------
    m : float, default=2.0
        Rows that the prior is worth.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.probability import MEstimate
    >>> MEstimate(m=2).table(np.array([[3.0, 0.0]]), np.array([0.9, 0.1])).round(2)
    array([[0.96, 0.04]])
    """

    m: float = 2.0

    def __post_init__(self) -> None:
        check_number("MEstimate: m", self.m)

    def table(self, counts: Floats, prior: Floats) -> Floats:
        return corrected_shares(counts, prior, self.m)


@dataclass(frozen=True)
class Shrinkage(LeafProbability):
    """Class frequencies of the leaf and of all nodes above it, mixed: fewer rows, more of what is above.

    Hierarchical shrinkage (Agarwal, Tan, Ronen, Singh and Yu, Hierarchical Shrinkage: improving the accuracy and
    interpretability of tree-based methods, 2022, equation 1): the frequencies of the root, and for each node on the
    path its frequencies less those of its parent, divided by 1 + amount/(rows in the parent).

    Unlike theirs it changes how sure a leaf is, never its class: where another class than the leaf's majority would
    be the most probable, the leaf's own frequencies are mixed in until its majority is, by a hair. Of several classes
    with equal counts, the nodes above decide.

    Parameters
    ----------
    amount : float or "cv", default="cv"
        λ of the paper, in rows: a step below a node of `amount` rows counts half. "cv" chooses among `AMOUNTS` the one
        with the least log-loss in `folds`-fold cross-validation, in `fit`: each fold grows a tree, and prunes it, from
        the other folds.
    folds : int, default=3
        Number of folds for "cv".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from hedgerow import TreeClassifier
    >>> from hedgerow.probability import Shrinkage
    >>> TreeClassifier(leaf_probability=Shrinkage(20)).fit(X, y).predict_proba(X[:1]).round(2)
    array([[0.92, 0.04, 0.04]])
    """

    amount: Any = "cv"
    folds: int = 3

    AMOUNTS: ClassVar[tuple[float, ...]] = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0)

    def __post_init__(self) -> None:
        if not self.is_open and not (is_number(self.amount) and 0 < float(self.amount) < np.inf):
            raise ValueError(f"Shrinkage: amount is {self.amount!r}, must be 'cv' or a positive number of rows")
        check_whole("Shrinkage: folds", self.folds, 2)

    @property
    def is_open(self) -> bool:
        """Whether the amount is still to be chosen."""
        return isinstance(self.amount, str) and self.amount == "cv"

    def evidence(self, forest: Forest) -> Floats:
        """Rows of each leaf, in the shares that shrinkage gives them; in an empty leaf they add up to 1.

        Parameters
        ----------
        forest : Forest
            The trees.

        Returns
        -------
        ndarray of shape (n_leaves, n_classes)
            Counts.
        """
        weight = forest.counts.sum(axis=1, keepdims=True)
        return np.where(weight > 0, weight, 1.0) * shrunken_shares(forest, float(self.amount))

    def table(self, counts: Floats, prior: Floats) -> Floats:
        return corrected_shares(counts, prior, 0.0)


def shrunken_shares(forest: Forest, amount: float) -> Floats:
    """Hierarchically shrunken class frequencies of the leaves, (n_leaves, n_classes); see :class:`Shrinkage`.

    They are a mixture of the frequencies on the path, since rows get fewer on the way down. A node without rows has the
    estimate of its parent.
    """
    counts, parent = forest.node_counts(), forest.parent
    rows = counts.sum(axis=1, keepdims=True)
    found = counts / np.where(rows > 0, rows, 1.0)
    steps = np.zeros_like(found)
    below = np.flatnonzero((parent >= 0) & (rows[:, 0] > 0))
    above = parent[below]
    steps[below] = (found[below] - found[above]) * (rows[above] / (rows[above] + amount))
    depth = forest.node_depths()
    order = np.argsort(depth, kind="stable")
    for level in np.split(order, np.cumsum(np.bincount(depth))[:-1])[1:]:
        found[level] = found[parent[level]] + steps[level]
    # Rounding may leave a share of a class that is hardly there just below 0.
    shrunken = np.maximum(found[forest.leaf_nodes], 0.0)
    return _keep_majority(shrunken, Frequency()(forest.answer_counts(), uniform(forest.n_classes)))


def _keep_majority(shares: Floats, frequencies: Floats) -> Floats:
    """Mix in as much of the frequencies as it takes for their largest to have the largest share.

    With c the majority and j another class, the mixture (1 − t)·share + t·frequency has them equal at
    t = d/(d + g), where d = share(j) − share(c) and g = frequency(c) − frequency(j).
    """
    leading = frequencies == frequencies.max(axis=1, keepdims=True)
    majority = np.where(leading, shares, -1.0).argmax(axis=1)[:, np.newaxis]
    d = np.where(leading, 0.0, shares - np.take_along_axis(shares, majority, axis=1))
    g = np.take_along_axis(frequencies, majority, axis=1) - frequencies
    behind = d > 0
    t = np.where(behind, (d + _HAIR * g) / np.where(behind, d + g, 1.0), 0.0).max(axis=1, keepdims=True)
    return (1 - t) * shares + t * frequencies


for _strategy in (Frequency, Laplace, MEstimate, Shrinkage):
    register(_strategy, name=f"hedgerow.probability.{_strategy.__name__}")
_ALIASES: dict[str, LeafProbability] = {"shrinkage": Shrinkage(), "frequency": Frequency(), "laplace": Laplace()}


def leaf_probability(given: Any) -> LeafProbability:
    """Return the strategy for `leaf_probability`: an alias or an instance.

    Parameters
    ----------
    given : str or an instance
        An alias, or a strategy.

    Returns
    -------
    LeafProbability
        The estimate.

    Raises
    ------
    ValueError
        If no estimate has this name.

    Examples
    --------
    >>> from hedgerow.folds import leaf_probability
    >>> leaf_probability("laplace")
    Laplace()
    """
    kinds = (Frequency, Laplace, MEstimate, Shrinkage, LeafProbability)
    return choose("leaf_probability", given, _ALIASES, kinds)
