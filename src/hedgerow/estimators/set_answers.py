"""Answers of several classes where the evidence does not single out one."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.counts import as_numbers
from hedgerow.credal import Aggregate, Average, Conjunction, get
from hedgerow.credal.aggregates import Belief, Vote
from hedgerow.credal.leaves import check_s, tree_weights
from hedgerow.estimators.answers import ClassAnswers
from hedgerow.rules import Probability
from hedgerow.rules import Vote as VoteRule
from hedgerow.rules.base import check_prior
from hedgerow.walk import LeafTable

__all__ = ["SetAnswers"]

Floats = NDArray[np.float64]


class SetAnswers(ClassAnswers):
    """Abstract; final classes have the parameters `s`, `weighting`, `aggregate` and `class_prior`.

    They can be changed after `fit` without fitting again.
    """

    def predict_set(self, X: Any) -> NDArray[np.bool_]:
        """The classes that may be the answer, bool (n, n_classes); at least one in each row."""
        aggregate = self._aggregate()
        folded = self._folded(aggregate, X)
        return aggregate.sets(folded, self.forest_.n_trees)

    def predict_bounds(self, X: Any) -> Floats:
        """Lower and upper bound for each class, (n, n_classes, 2): belief and plausibility, or bounds on probabilities.

        Of "belief" and "vote" the weight of the trees that allow a class alone, and of those that allow it at all; of
        the others bounds on the probability of the class.
        """
        aggregate = self._aggregate()
        folded = self._folded(aggregate, X)
        return aggregate.bounds(folded, self.forest_.n_trees)

    def predict_proba(self, X: Any) -> Floats:
        """One probability for each class, (n, n_classes), for those who need one; `predict` is the most probable.

        Of "average" the mean of the leaves' frequencies; of the others the trees' votes, weighted as in
        `predict_set`, tied classes sharing a vote. As s goes to 0 that is what sets of one class say.
        """
        aggregate = self._aggregate()
        rows = self._read(X)
        key = ("votes", aggregate, self._settings())
        table = self._finished.get(key, lambda: self._by_counts(lambda counts: self._votes(aggregate, counts)))
        folded = self._walk.fold(rows, [table], self._tree_weights())[0]
        votes, total = folded[:, :-1], folded[:, -1:]
        return np.where(total > 0, votes / np.where(total > 0, total, 1.0), 1 / self.forest_.n_classes)

    def _votes(self, aggregate: Aggregate, counts: Floats) -> LeafTable:
        """Weight times the vote for each class, and weight; of each leaf, (n_leaves, n_classes + 1)."""
        uniform = np.full(counts.shape[1], 1 / counts.shape[1])
        if isinstance(aggregate, Average):
            return LeafTable.of(np.column_stack([Probability().table(counts, uniform), np.ones(len(counts))]))
        votes = VoteRule().table(counts, uniform)
        weighting = aggregate.weighting if isinstance(aggregate, Belief | Vote) else "uniform"
        weights = tree_weights(counts, self.s, weighting)[:, np.newaxis]
        return LeafTable.of(np.concatenate([weights * votes, weights], axis=1))

    def _folded(self, aggregate: Aggregate, X: Any) -> Floats:
        rows = self._read(X)
        key = ("sets", aggregate, self._settings())
        table = self._finished.get(key, lambda: self._by_counts(lambda counts: aggregate.leaf_table(counts, self.s)))
        folded = self._walk.fold(rows, [table], self._tree_weights())[0]
        if isinstance(aggregate, Conjunction):
            n_apart = int(aggregate.fell_back(folded, self.forest_.n_trees).sum())
            if n_apart:
                warnings.warn(
                    f"the trees have no distribution in common for {n_apart} of {len(rows)} rows, which are answered "
                    "by their average: a larger s, or another aggregate, avoids it",
                    stacklevel=3,
                )
        return folded

    def _aggregate(self) -> Aggregate:
        check_s(self.s)
        return get(self.aggregate, self.weighting)

    def _settings(self) -> tuple[Any, ...]:
        """What tables depend on beside the aggregate, in a form that can be compared."""
        wanted = self._wanted_prior()
        return (float(self.s), None if wanted is None else as_numbers("class_prior", wanted).tobytes())

    def _wanted_prior(self) -> Any:
        """`class_prior`, or that of the estimator if it has one."""
        return getattr(self.estimator_, "class_prior", None) if self.class_prior is None else self.class_prior

    def _check_class_prior(self) -> None:
        self._moved(self.forest_.distinct_counts.counts)

    def _by_counts(self, make: Callable[[Floats], LeafTable]) -> LeafTable:
        return LeafTable.by_counts(self.forest_.distinct_counts, lambda counts: make(self._moved(counts)))

    def _moved(self, counts: Floats) -> Floats:
        """Class counts of leaves, with frequencies moved to `class_prior` and the number of rows kept.

        A class that is r times as frequent in practice as in the training data is r times as frequent in every leaf
        (Bayes' rule, the rows of a class being the same); a leaf does not know more or less for it.
        """
        given = self._wanted_prior()
        if given is None:
            return counts
        wanted = check_prior(given, counts, "class_prior")
        moved = counts * (wanted / np.where(self.class_prior_ > 0, self.class_prior_, 1.0))  # no share, no counts
        total = moved.sum(axis=1, keepdims=True)
        kept: Floats = moved * (counts.sum(axis=1, keepdims=True) / np.where(total > 0, total, 1.0))
        return kept

    def _probabilities(self) -> LeafTable:
        return self._by_counts(lambda counts: Probability().leaf_table(counts, self.class_prior_))
