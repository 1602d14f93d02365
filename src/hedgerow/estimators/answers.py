"""What trees and forests answer with: the same for one tree as for many."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from hedgerow.estimators.base import TreeBased
from hedgerow.estimators.outputs import Uncertainty, entropy_bits, entropy_uncertainty
from hedgerow.inspection import impurity_importances
from hedgerow.probability import leaf_probability
from hedgerow.walk import LeafTable, fold, gather

__all__ = ["ClassAnswers", "NumberAnswers"]

Floats = NDArray[np.float64]


class _Answers(TreeBased):
    @property
    def _n_jobs(self) -> int | None:
        """A single tree has no such parameter."""
        return getattr(self, "n_jobs", None)

    @property
    def feature_importances_(self) -> Floats:
        """The share of each column in the decrease of impurity, mean over the trees; adds up to 1 if any is split."""
        check_is_fitted(self)
        return impurity_importances(self.forest_, self._impurity)


class ClassAnswers(ClassifierMixin, _Answers):  # type: ignore[misc]
    """Abstract: the answers of a classifier."""

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class, (n, n_classes): the mean over the trees.

        For a row that reaches several leaves of a tree, the weighted mean of their probabilities.
        """
        rows = self._read(X)
        total = fold(self.forest_, rows, [self._probabilities()], n_jobs=self._n_jobs)[0]
        total /= self.forest_.n_trees
        return total

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row; the first of equals."""
        probabilities = self.predict_proba(X)
        labels: NDArray[Any] = self.classes_[probabilities.argmax(axis=1)]
        return labels

    def predict_uncertainty(self, X: Any) -> Uncertainty:
        """Entropies in bits: of the mean (total), mean of the trees' (aleatoric), and their difference (epistemic).

        One tree has nobody to disagree with: all of it is aleatoric.
        """
        rows = self._read(X)
        table = self._probabilities()
        entropy = LeafTable.of(entropy_bits(table.values)[:, np.newaxis])
        shares, bits = fold(self.forest_, rows, [table, entropy], n_jobs=self._n_jobs)
        # In a row that reaches several leaves of a tree, the tree's answer is their mixture, which has its own entropy.
        spread = np.isnan(rows).any(axis=1)
        if spread.any():
            answers = gather(self.forest_, rows[spread], table.values, n_jobs=self._n_jobs)
            bits[spread, 0] = entropy_bits(answers).sum(axis=1)
        n_trees = self.forest_.n_trees
        return entropy_uncertainty(shares / n_trees, bits[:, 0] / n_trees)

    def leaf_counts(self, X: Any) -> Floats:
        """The evidence: weighted class counts of the leaf that each row reaches in each tree, (n, n_trees, n_classes).

        For a row that reaches several leaves of a tree, the weighted mean of their counts.
        """
        rows = self._read(X)
        return gather(self.forest_, rows, self.forest_.counts, n_jobs=self._n_jobs)

    def _probabilities(self) -> LeafTable:
        estimate = leaf_probability(self.leaf_probability)
        return self._finished.get(estimate, lambda: LeafTable.of(estimate(self.forest_.counts, self.class_prior_)))


class NumberAnswers(RegressorMixin, _Answers):  # type: ignore[misc]
    """Abstract: the answers of a regressor."""

    def predict(self, X: Any) -> Floats:
        """The mean over the trees of the mean of the leaf that each row reaches.

        For a row that reaches several leaves of a tree, the weighted mean of theirs.
        """
        rows = self._read(X)
        table = self._finished.get("mean", lambda: LeafTable.of(self.forest_.stats[:, 1:2]))
        return fold(self.forest_, rows, [table], n_jobs=self._n_jobs)[0][:, 0] / self.forest_.n_trees
