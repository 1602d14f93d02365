"""What trees and forests answer with, whether they are one or many."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from hedgerow.estimators.base import TreeBased
from hedgerow.estimators.uncertainty import Uncertainty, entropy_uncertainty, plausibility_uncertainty
from hedgerow.explanation import ClassExplanation, NumberExplanation, explain_classes, explain_numbers
from hedgerow.inspection import impurity_importances
from hedgerow.walk import LeafTable

__all__ = ["ClassAnswers", "NumberAnswers"]

Floats = NDArray[np.float64]


class _Answers(TreeBased):
    @property
    def feature_importances_(self) -> Floats:
        """The share of each column in the decrease of impurity, mean over the trees; adds up to 1 if any is split."""
        check_is_fitted(self)
        return impurity_importances(self.forest_, self._impurity)


class ClassAnswers(ClassifierMixin, _Answers):  # type: ignore[misc]
    """Abstract: the answers of a classifier that every one of them gives."""

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row; the first of equals."""
        probabilities = self.predict_proba(X)
        labels: NDArray[Any] = self.classes_[probabilities.argmax(axis=1)]
        return labels

    def predict_drawn(self, X: Any, rng: Any = None) -> NDArray[Any]:
        """A class for each row, drawn with its probabilities: the lecture's probabilistic classification.

        `rng` is a seed or a ``numpy.random.Generator``. Many draws show how the classes of such rows vary; for the best
        single answer use :meth:`predict`.
        """
        upto = self.predict_proba(X).cumsum(axis=1)
        drawn = np.random.default_rng(rng).random(len(upto)) * upto[:, -1]
        # The last class takes the rest: its sum may be as small as what was drawn, where it is rounded to nothing.
        labels: NDArray[Any] = self.classes_[(upto[:, :-1] <= drawn[:, np.newaxis]).sum(axis=1)]
        return labels

    def predict_uncertainty(self, X: Any, measure: str = "entropy") -> Uncertainty:
        """How unsure the trees are, and of what kind.

        "entropy": in bits, of the mean of the trees' probabilities (total), mean of the trees' own (aleatoric), and
        their difference (epistemic). One tree has nobody to disagree with: all of it is aleatoric.

        "plausibility": the mean over the trees of the aleatoric and the epistemic uncertainty of the leaf, which counts
        how few samples it has (Busch et al., Combining Predictions under Uncertainty, section 3.1), and their sum.
        """
        rows = self._read(X)
        if measure == "entropy":
            return entropy_uncertainty(self._walk, rows, self._probabilities())
        if measure == "plausibility":
            return plausibility_uncertainty(self._walk, rows)
        raise ValueError(f"measure is {measure!r}, must be 'entropy' or 'plausibility'")

    def leaf_counts(self, X: Any) -> Floats:
        """The evidence: weighted class counts of the leaf that each row reaches in each tree, (n, n_trees, n_classes).

        For a row that reaches several leaves of a tree, the weighted mean of their counts.
        """
        rows = self._read(X)
        return self._walk.gather(rows, LeafTable.by_counts(self.forest_.distinct_counts))

    def explain(self, X: Any) -> list[ClassExplanation]:
        """Why each row is answered as it is: its way down a single tree, or the vote of several, and the doubt in it.

        ``print(model.explain(X)[0])`` is a text for people.
        """
        rows = self._read(X)
        with_sets = hasattr(self, "predict_set")
        return explain_classes(
            *(self.forest_, self.schema_, rows),
            classes=self.classes_,
            answers=self.predict(X),
            probabilities=self.predict_proba(X),
            bounds=self.predict_bounds(X) if with_sets else None,
            sets=self.predict_set(X) if with_sets else None,
        )


class NumberAnswers(RegressorMixin, _Answers):  # type: ignore[misc]
    """Abstract: the answers of a regressor."""

    def predict(self, X: Any) -> Floats:
        """The mean over the trees of the mean of the leaf that each row reaches.

        For a row that reaches several leaves of a tree, the weighted mean of theirs.
        """
        rows = self._read(X)
        table = self._finished.get("mean", lambda: LeafTable.of(self.forest_.stats[:, 1:2]))
        return self._walk.fold(rows, [table])[0][:, 0] / self.forest_.n_trees

    def explain(self, X: Any, coverage: float = 0.9) -> list[NumberExplanation]:
        """Why each row is answered as it is: its way down a single tree, or what several say, and the doubt in it.

        `coverage` is that of the interval, if the model has one. ``print(model.explain(X)[0])`` is a text for people.
        """
        rows = self._read(X)
        intervals = self.predict_interval(X, coverage) if hasattr(self, "predict_interval") else None
        return explain_numbers(
            *(self.forest_, self.schema_, rows), answers=self.predict(X), intervals=intervals, coverage=coverage
        )
