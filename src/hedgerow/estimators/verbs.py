"""Verbs that trees and forests share, whether they are one or many."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from hedgerow.estimators.base import TreeBased
from hedgerow.explain.explanation import (
    ClassExplanation,
    LeafProbabilities,
    NumberExplanation,
    explain_classes,
    explain_numbers,
)
from hedgerow.folds import (
    EntropyUncertainty,
    Fold,
    Mean,
    PlausibilityUncertainty,
    Uncertainty,
    Variance,
    leaf_counts,
    leaf_moments,
    tree_votes,
)
from hedgerow.forest.counts import DistinctCounts
from hedgerow.forest.importance import impurity_importances
from hedgerow.walk import Query

__all__ = ["ClassAnswers", "NumberAnswers"]

Floats = NDArray[np.float64]


class _Answers(TreeBased):
    """Abstract: what classifiers and regressors share.

    Every answer that is a fold has a query. :meth:`_respond` answers several verbs about the same rows: X is converted
    once, and the trees are walked once.
    """

    @property
    def feature_importances_(self) -> Floats:
        """Share of each feature in the decrease of impurity, mean over the trees; they add up to 1 if any is split."""
        check_is_fitted(self)
        return impurity_importances(self.forest_, self._impurity)

    def _query(self, verb: str) -> Query[Any] | None:
        """Query that answers a verb; None where the answer is no fold, or the model has no such verb."""
        raise NotImplementedError

    def _answer(self, verb: str, rows: Floats) -> Any:
        """Answer that is no fold."""
        raise NotImplementedError

    def _respond(self, rows: Floats, verbs: Iterable[str]) -> dict[str, Any]:
        """Answers to several verbs about the same rows, in one walk."""
        asked = tuple(dict.fromkeys(verbs))
        queries = {verb: query for verb in asked if (query := self._query(verb)) is not None}
        found = dict(zip(queries, self._ask(rows, *queries.values()), strict=True))
        return {verb: found[verb] if verb in found else self._answer(verb, rows) for verb in asked}


class ClassAnswers(ClassifierMixin, _Answers):  # type: ignore[misc]
    """Abstract: the verbs of every classifier."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Most probable class of each row; the first of equals."""
        rows = self._read(X)
        return self._decide(self._proba(rows))

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class, (n, n_classes)."""
        rows = self._read(X)
        return self._proba(rows)

    def predict_drawn(self, X: Any, rng: Any = None) -> NDArray[Any]:
        """Draw a class for each row with its probabilities: the lecture's probabilistic classification.

        `rng` is a seed or a ``numpy.random.Generator``. Many draws show how the classes of such rows vary; for the best
        single answer use :meth:`predict`.
        """
        upto = self.predict_proba(X).cumsum(axis=1)
        drawn = np.random.default_rng(rng).random(len(upto)) * upto[:, -1]
        # The last class takes the rest: its sum may be as small as what was drawn, where it is rounded to nothing.
        labels: NDArray[Any] = self.classes_[(upto[:, :-1] <= drawn[:, np.newaxis]).sum(axis=1)]
        return labels

    def predict_uncertainty(self, X: Any, measure: str = "entropy") -> Uncertainty:
        """Total, aleatoric and epistemic uncertainty of each row.

        "entropy": in bits, of the mean of the trees' probabilities (total), the mean of the trees' own entropies
        (aleatoric), and their difference (epistemic). A single tree has no between-tree variance; all uncertainty is
        aleatoric.

        "plausibility": the mean over the trees of the aleatoric and the epistemic uncertainty of the leaf, which counts
        how few samples it has (Busch et al., Combining Predictions under Uncertainty, section 3.1), and their sum.
        """
        if measure == "entropy":
            rows = self._read(X)
            uncertainty: Uncertainty = self._respond(rows, ["predict_uncertainty"])["predict_uncertainty"]
            return uncertainty
        if measure == "plausibility":
            rows = self._read(X)
            fold = PlausibilityUncertainty()
            table = self._tables.get(fold, lambda: fold.table_of(self.forest_.distinct_counts, None))
            found: Uncertainty = self._ask(rows, fold.query(table, None))[0]
            return found
        raise ValueError(f"measure is {measure!r}, must be 'entropy' or 'plausibility'")

    def leaf_counts(self, X: Any) -> Floats:
        """Evidence: weighted class counts of the leaf that each row reaches in each tree, (n, n_trees, n_classes).

        For a row that reaches several leaves of a tree, the weighted mean of their counts.
        """
        rows = self._read(X)
        counts: Floats = self._ask(rows, self._counts_query())[0]
        return counts

    def explain(self, X: Any) -> list[ClassExplanation]:
        """Explain the answer to each row: the path down a single tree, or the vote of several, and the doubt in it.

        ``print(model.explain(X)[0])`` is a text for people.
        """
        rows = self._read(X)
        verbs = ["predict_proba", "leaf_counts", "votes", *self._set_verbs]
        found = self._respond(rows, verbs)
        return explain_classes(
            *(self._walk, self.schema_, rows),
            classes=self.classes_,
            answers=self._decide(found["predict_proba"]),
            probabilities=found["predict_proba"],
            counts=found["leaf_counts"],
            votes=found["votes"],
            leaf_probabilities=self._leaf_probabilities,
            bounds=found.get("predict_bounds"),
            sets=found.get("predict_set"),
        )

    _set_verbs: tuple[str, ...] = ()
    _leaf_probabilities: LeafProbabilities | None = None
    """Probabilities of rows in the leaves of a single tree with these numbers, where leaves have probabilities."""

    def _decide(self, probabilities: Floats) -> NDArray[Any]:
        """Label of each row, given its probabilities."""
        labels: NDArray[Any] = self.classes_[probabilities.argmax(axis=1)]
        return labels

    def _proba(self, rows: Floats) -> Floats:
        query = self._proba_query()
        found: Floats = self._answer("predict_proba", rows) if query is None else self._ask(rows, query)[0]
        return found

    def _query(self, verb: str) -> Query[Any] | None:
        match verb:
            case "predict_proba":
                return self._proba_query()
            case "predict_uncertainty":
                return self._entropy_query()
            case "leaf_counts":
                return self._counts_query()
            case "votes":
                return self._tables.get("votes", lambda: tree_votes(self.forest_))
        return None

    def _proba_query(self) -> Query[Floats] | None:
        """Query for the probabilities; None where they are no fold."""
        raise NotImplementedError

    def _leaf_probability(self) -> Fold[Floats, Floats]:
        """Fold whose table has the probabilities of each leaf, whatever combines them."""
        raise ValueError(f"{type(self).__name__} has no probabilities of leaves: its answers vary within a leaf")

    def _leaf_evidence(self) -> DistinctCounts:
        """Class counts that leaves answer by."""
        found: DistinctCounts = self.forest_.distinct_counts
        return found

    def _entropy_query(self) -> Query[Uncertainty] | None:
        fold = EntropyUncertainty(self._leaf_probability())
        key = (fold, self._settings())
        table = self._tables.get(key, lambda: fold.table_of(self._leaf_evidence(), self.class_prior_))
        return fold.query(table, self.class_prior_)

    def _settings(self) -> tuple[Any, ...]:
        """Parameters, in a form that can be compared, that change the evidence of leaves after `fit`."""
        return ()

    def _counts_query(self) -> Query[Floats]:
        return self._tables.get("counts", lambda: leaf_counts(self.forest_))

    def leaf_probabilities(self) -> Floats:
        """Probability of each class in every leaf of the forest, (n_leaves, n_classes)."""
        check_is_fitted(self)
        leaves = self._leaf_evidence()
        return leaves.of_each_leaf(np.asarray(self._leaf_probability().table(leaves.counts, self.class_prior_)))


class NumberAnswers(RegressorMixin, _Answers):  # type: ignore[misc]
    """Abstract: the verbs of a regressor."""

    def predict(self, X: Any) -> Floats:
        """Mean over the trees of the mean of the leaf that each row reaches.

        For a row that reaches several leaves of a tree, the weighted mean of theirs.
        """
        rows = self._read(X)
        found: Floats = self._ask(rows, self._mean_query())[0]
        return found

    def predict_uncertainty(self, X: Any) -> Uncertainty:
        """Variances: mean of the leaves' (aleatoric), of the trees' means (epistemic), and their sum (total).

        A single tree has no between-tree variance; all uncertainty is aleatoric.
        """
        rows = self._read(X)
        found: Uncertainty = self._respond(rows, ["predict_uncertainty"])["predict_uncertainty"]
        return found

    def explain(self, X: Any, coverage: float = 0.9) -> list[NumberExplanation]:
        """Explain the answer to each row: the path down a single tree, or what several say, and the doubt in it.

        `coverage` is that of the interval, if the model has one. ``print(model.explain(X)[0])`` is a text for people.
        """
        rows = self._read(X)
        answers, reached = self._ask(rows, self._mean_query(), leaf_moments(self.forest_))
        return explain_numbers(
            *(self._walk, self.schema_, rows),
            answers=answers,
            reached=reached,
            intervals=self._intervals(rows, coverage),
            coverage=coverage,
        )

    def _intervals(self, rows: Floats, coverage: float) -> Floats | None:
        """Intervals of the rows, (n, 2); None where the model has none."""
        return None

    def _query(self, verb: str) -> Query[Any] | None:
        match verb:
            case "predict":
                return self._mean_query()
            case "predict_uncertainty":
                fold = Variance()
                table = self._tables.get(fold, lambda: fold.leaf_table(self.forest_.stats, None))
                return fold.query(table, None)
        return None

    def _mean_query(self) -> Query[Floats]:
        fold = Mean()
        return fold.query(self._tables.get(fold, lambda: fold.leaf_table(self.forest_.stats, None)), None)
