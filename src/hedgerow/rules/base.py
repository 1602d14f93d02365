"""Combination rules: probabilities and a score from the class counts of the leaves that a row reaches.

Counts have shape (…, n_trees, n_classes); of two classes the second is the positive one. A :class:`FoldRule` is a leaf
table, a fold and a finish, and so costs one walk whatever its formula; a :class:`CountRule` needs the counts of all
trees at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hedgerow._arrays import Floats
from hedgerow._core import raise_to_power as core_raise_to_power
from hedgerow.folds.fold import Fold
from hedgerow.forest.counts import as_numbers, check_counts

__all__ = ["CountRule", "FoldRule", "Rule", "check_prior", "half_signed", "normalised", "raise_to_power", "softmax"]


class Rule(ABC):
    """Combines the class counts of the leaves that a row reaches in several trees.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.rules import get
    >>> counts = np.array([[[3.0, 1.0], [40.0, 60.0]]])  # one row in two trees
    >>> get("vote").decision(counts), get("pool").decision(counts).round(2)
    (array([0.]), array([0.09]))
    """

    @property
    def name(self) -> str:
        """Name for messages and plots."""
        return type(self).__name__.lower()

    @property
    def needs_fit(self) -> bool:
        """Whether numbers are missing that only held-out rows can choose."""
        return False

    @abstractmethod
    def proba(self, counts: ArrayLike, prior: ArrayLike | None = None) -> Floats:
        """Class probabilities, (…, n_classes). `prior` is uniform unless given.

        Parameters
        ----------
        counts : array-like of shape (…, n_trees, n_classes)
            Class counts of the leaf that a row reaches in each tree; class 1 is the positive one.
        prior : array-like of shape (n_classes,) or None, default=None
            Share of each class in the population; None is uniform.

        Returns
        -------
        ndarray of shape (…, n_classes)
            Probabilities.

        Raises
        ------
        ValueError
            If counts are negative or not finite, or the prior has another number of classes.
        """

    @abstractmethod
    def decision(self, counts: ArrayLike, prior: ArrayLike | None = None) -> Floats:
        """Binary: signed score, (…,), above 0 for the second class; multiclass: a score per class, (…, n_classes).

        Parameters
        ----------
        counts : array-like of shape (…, n_trees, n_classes)
            Class counts of the leaf that a row reaches in each tree; class 1 is the positive one.
        prior : array-like of shape (n_classes,) or None, default=None
            Share of each class in the population; None is uniform.

        Returns
        -------
        ndarray of shape (…,) or (…, n_classes)
            Scores.

        Raises
        ------
        ValueError
            If counts are negative or not finite, or the prior has another number of classes.
        """


class FoldRule(Fold[Floats, Floats], Rule):
    """A leaf table, a fold and a finish; the context is the prior.

    Subclass it for a rule of your own:

    >>> import numpy as np
    >>> from hedgerow.rules import FoldRule
    >>> class ProductOfExperts(FoldRule):
    ...     fold = ("log", "sum")
    ...
    ...     def table(self, counts, prior):
    ...         return (counts + 1.0) / (counts + 1.0).sum(axis=1, keepdims=True)
    ...
    ...     def finish(self, folded, n_trees, prior):
    ...         product = np.exp(folded - folded.max(axis=1, keepdims=True))
    ...         return product / product.sum(axis=1, keepdims=True)
    >>> ProductOfExperts().proba([[[3, 0], [1, 1]]]).round(2)
    array([[0.8, 0.2]])
    """

    @abstractmethod
    def table(self, counts: Floats, prior: Floats) -> Floats:
        """Linear quantities of each leaf, (n_leaves, m), from its class counts (n_leaves, n_classes).

        A leaf without counts is total ignorance.

        Parameters
        ----------
        counts : array of shape (n_leaves, n_classes)
            Class counts of the leaves.
        prior : array of shape (n_classes,) or None
            Probability of each class without a look at the columns; None: all alike.

        Returns
        -------
        ndarray of shape (n_leaves, m)
            The quantities.
        """

    @abstractmethod
    def finish(self, folded: Floats, n_trees: Any, prior: Floats) -> Floats:
        """Probabilities (n, n_classes) from the folded table, (n, m).

        Parameters
        ----------
        folded : array of shape (n_samples, m)
            The table folded over the trees.
        n_trees : int or array
            Number of trees that were folded.
        prior : array of shape (n_classes,) or None
            Probability of each class without a look at the columns; None: all alike.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities.
        """

    @property
    def before_fit(self) -> Rule:
        """Rule that `fit` completed to this one by held-out rows; itself where there is nothing to complete."""
        return self

    def score(self, folded: Floats, n_trees: Any, prior: Floats) -> Floats:
        """Binary: signed score, (n,); multiclass: a score per class, (n, n_classes). As documented for each rule.

        Parameters
        ----------
        folded : array of shape (n_samples, m)
            The table, folded over the trees.
        n_trees : int or array of shape (n_samples,)
            Number of trees, or their total weight, in the fold.
        prior : array-like of shape (n_classes,) or None
            Share of each class in the population; None is uniform.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Scores.
        """
        return signed(self.finish(folded, n_trees, prior))

    def margin(self, folded: Floats, n_trees: Any, prior: Floats) -> Floats:
        """Value of `decision_function`: the score, or another with the order of the probabilities.

        Parameters
        ----------
        folded : array of shape (n_samples, m)
            The table, folded over the trees.
        n_trees : int or array of shape (n_samples,)
            Number of trees, or their total weight, in the fold.
        prior : array-like of shape (n_classes,) or None
            Share of each class in the population; None is uniform.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Margins.
        """
        return self.score(folded, n_trees, prior)

    def proba(self, counts: ArrayLike, prior: ArrayLike | None = None) -> Floats:
        return self._of_trees(counts, prior, self.finish)

    def decision(self, counts: ArrayLike, prior: ArrayLike | None = None) -> Floats:
        return self._of_trees(counts, prior, self.score)

    def _of_trees(self, counts: ArrayLike, prior: ArrayLike | None, finish: Any) -> Floats:
        leaves = check_counts(counts, of_trees=True)
        return self.of_trees(leaves, check_prior(prior, leaves), finish)

    @property
    def _title(self) -> str:
        return f"rule {self.name}"


class CountRule(Rule):
    """Rule that needs the counts of all trees at once: not a fold, so it needs memory for the counts.

    Examples
    --------
    The answer of the tree with most rows in the leaf:

    >>> import numpy as np
    >>> from hedgerow.rules import CountRule
    >>> class LargestLeaf(CountRule):
    ...     name = "largest leaf"
    ...
    ...     def combine(self, counts, prior):
    ...         largest = counts.sum(axis=2).argmax(axis=1)
    ...         chosen = counts[np.arange(len(counts)), largest]
    ...         return chosen / chosen.sum(axis=1, keepdims=True)
    >>> LargestLeaf().proba(np.array([[[3.0, 1.0], [40.0, 60.0]]]))
    array([[0.4, 0.6]])
    """

    @abstractmethod
    def combine(self, counts: Floats, prior: Floats) -> Floats:
        """Probabilities (n, n_classes) from counts (n, n_trees, n_classes).

        Parameters
        ----------
        counts : array-like of shape (…, n_trees, n_classes)
            Class counts of the leaf that a row reaches in each tree; class 1 is the positive one.
        prior : array-like of shape (n_classes,) or None
            Share of each class in the population; None is uniform.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities.
        """

    def proba(self, counts: ArrayLike, prior: ArrayLike | None = None) -> Floats:
        leaves = check_counts(counts, of_trees=True)
        answer = self.combine(leaves.reshape(-1, *leaves.shape[-2:]), check_prior(prior, leaves))
        return answer.reshape((*leaves.shape[:-2], leaves.shape[-1]))

    def decision(self, counts: ArrayLike, prior: ArrayLike | None = None) -> Floats:
        """Binary: P(positive) − ½; multiclass: probabilities.

        Parameters
        ----------
        counts : array of shape (…, n_trees, n_classes)
            Class counts of the leaf that a row reaches in each tree.
        prior : array of shape (n_classes,) or None, default=None
            Probability of each class without a look at the columns; None: all alike.

        Returns
        -------
        ndarray of shape (…,) or (…, n_classes)
            Scores.
        """
        probabilities = self.proba(counts, prior)
        return half_signed(probabilities)


def signed(probabilities: Floats) -> Floats:
    """Binary: p⁺ − p⁻; else the probabilities."""
    if probabilities.shape[-1] != 2:
        return probabilities
    return probabilities[..., 1] - probabilities[..., 0]


def half_signed(probabilities: Floats) -> Floats:
    """Binary: p⁺ − ½, antisymmetric to the last digit; else the probabilities."""
    return signed(probabilities) / 2 if probabilities.shape[-1] == 2 else probabilities


def normalised(values: Floats) -> Floats:
    """Scale rows to a sum of 1."""
    # The ufunc itself: the method of the array takes twice as long for one row.
    return values / np.add.reduce(values, axis=-1, keepdims=True)


def raise_to_power(values: Floats, scale: float, offset: float, exponent: float, factors: Floats) -> Floats:
    """(scale · values + offset)^exponent · factors, with the bits of the C library on every machine.

    `values` are (n, m), `factors` (m,). One call of the core: four ufuncs would take half as long as the walk of a row.
    """
    if not isinstance(values, np.ndarray):  # an array of a GPU
        return (values * scale + offset) ** exponent * factors
    given = values if values.flags.c_contiguous else np.ascontiguousarray(values)
    raised = np.empty(values.shape)
    core_raise_to_power(given, scale, offset, exponent, factors, raised)
    return raised


def softmax(logs: Floats) -> Floats:
    """Softmax of each row. (SciPy's takes longer than a walk of one row.)"""
    return normalised(np.exp(logs - logs.max(axis=-1, keepdims=True)))


def check_prior(prior: ArrayLike | None, counts: Floats, name: str = "prior") -> Floats:
    """Check prior class probabilities, uniform unless given; errors call them `name`.

    `counts` are those of leaves, (…, n_classes): a class with counts can't have a prior of 0.
    """
    n_classes = counts.shape[-1]
    if prior is None:
        return np.full(n_classes, 1 / n_classes)
    found = as_numbers(name, prior)
    if found.shape != (n_classes,):
        raise ValueError(f"{name} has shape {found.shape}, must have a probability for each of {n_classes} classes")
    total = sum(found.tolist())  # NumPy's sum would warn of infinities before we can refuse them
    if not (np.isfinite(found) & (found >= 0)).all() or abs(total - 1) > 1e-9:
        raise ValueError(f"{name} is {found.tolist()}, must be probabilities that add up to 1 (here {total})")
    seen = counts.reshape(-1, n_classes).any(axis=0)
    if (seen & (found == 0)).any():
        number = int(np.argmax(seen & (found == 0)))
        raise ValueError(f"{name} is 0 for class {number}, which has counts: give it a positive probability")
    return found
