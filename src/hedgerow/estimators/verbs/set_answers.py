"""Set-valued predictions and bounds."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._params import check_choice
from hedgerow.counterfactual import Goal
from hedgerow.credal import Aggregate, Average, Conjunction, get
from hedgerow.credal.aggregates import Belief, Vote
from hedgerow.credal.leaves import WEIGHTINGS, bounds_of, check_s, tree_weights
from hedgerow.credal.utility import REWARDS
from hedgerow.estimators.verbs.answers import ClassAnswers
from hedgerow.explain.reasons.leaf_certainty import LeafCertainty
from hedgerow.folds import Additive, Fold
from hedgerow.forest.counts import DistinctCounts, as_numbers
from hedgerow.rules import Probability
from hedgerow.rules import Vote as VoteRule
from hedgerow.rules.base import check_prior
from hedgerow.walk import LeafTable, Query

__all__ = ["AUTO", "LEARNED", "SetAnswers"]

Floats = NDArray[np.float64]

AUTO = "auto"
"""Value of `s`: chosen by out-of-bag rows where there are any."""
LEARNED = "learned"
"""Value of `weighting`: weights of trees that out-of-bag rows ask for."""
_Finish = Callable[[Floats, int], Any]


class SetAnswers(ClassAnswers):
    """Abstract; final classes have the parameters `s`, `weighting`, `aggregate` and `class_prior`.

    They can be changed after `fit` without fitting again.
    """

    def predict_set(self, X: Any) -> NDArray[np.bool_]:
        """Classes that may be the answer, bool (n, n_classes); at least one in each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.

        Returns
        -------
        bool ndarray of shape (n_samples, n_classes)
            Whether each class is in the set.

        Examples
        --------
        >>> from hedgerow import CautiousForestClassifier
        >>> X, y = [[float(i)] for i in range(40)], ["low"] * 20 + ["high"] * 20
        >>> forest = CautiousForestClassifier(20, s=1, random_state=0).fit(X, y)
        >>> forest.predict_set([[5.0], [19.5]])  # high, low
        array([[False,  True],
               [ True,  True]])
        """
        rows = self._read(X)
        return self._ask(rows, self._set_query())[0]

    def predict_bounds(self, X: Any) -> Floats:
        """Lower and upper bound for each class, (n, n_classes, 2): belief and plausibility, or bounds on probabilities.

        For "belief" and "vote" the weight of the trees that allow a class alone, and of those that allow it at all; for
        the others bounds on the probability of the class.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes, 2)
            Lower and upper bounds, from 0 to 1.

        Examples
        --------
        >>> from hedgerow import CautiousForestClassifier
        >>> X, y = [[float(i)] for i in range(40)], ["low"] * 20 + ["high"] * 20
        >>> forest = CautiousForestClassifier(20, s=1, random_state=0).fit(X, y)
        >>> lower, upper = forest.predict_bounds([[19.5]])[0].T  # high, low
        >>> bool(lower[0] < 0.5 < upper[0])
        True
        """
        rows = self._read(X)
        return self._ask(rows, self._bounds_query())[0]

    def predict_proba(self, X: Any) -> Floats:
        """Point estimate of the probability of each class, (n, n_classes); `predict` is the most probable.

        For "average" the mean of the leaves' frequencies; for the others the trees' votes, weighted as in
        `predict_set`, tied classes sharing a vote, which sets of one class agree with as s goes to 0.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, in the order of `classes_`.
        """
        return super().predict_proba(X)

    _set_verbs = ("predict_set", "predict_bounds")

    def _query(self, verb: str, **arguments: Any) -> Query[Any] | None:
        match verb:
            case "predict_set":
                return self._set_query()
            case "predict_bounds":
                return self._bounds_query()
        return super()._query(verb, **arguments)

    def _set_query(self) -> Query[NDArray[np.bool_]]:
        aggregate = self._aggregate()
        finish = self._warning_of_conflicts(aggregate, aggregate.sets)
        return Query(self._set_table(aggregate), finish, tree_weights=self.get_tree_weights())

    def _set_query_of_more(self, factor: int) -> Query[NDArray[np.bool_]]:
        """Query for the sets if all counts were `factor` times as large: bounds and weights are those of s/factor."""
        aggregate = self._aggregate()
        table = aggregate.table_of(self._leaf_evidence(), self._current_s() / factor)
        return Query(table, aggregate.sets, tree_weights=self.get_tree_weights())

    def _certainty_settings(self) -> Any:
        return self._aggregate()

    def _leaf_certainty(self) -> LeafCertainty:
        """Certainty of each leaf about each class: its lower probability, whatever aggregates the trees."""
        evidence, s = self._leaf_evidence(), self._current_s()
        lower = LeafTable.by_counts(evidence, lambda counts: LeafTable.of(bounds_of(counts, s)[0]))
        aggregate = self._aggregate()
        belief = Belief(aggregate.weighting) if isinstance(aggregate, Belief | Vote) else Belief()
        n_classes = self.forest_.n_classes

        def votes(counts: Floats) -> LeafTable:
            table = belief.table(counts, s)
            return LeafTable.of(np.concatenate([table[:, :n_classes], table[:, -1:]], axis=1))

        return LeafCertainty.of(lower, evidence, LeafTable.by_counts(evidence, votes))

    def _bounds_query(self) -> Query[Floats]:
        aggregate = self._aggregate()
        finish = self._warning_of_conflicts(aggregate, aggregate.bounds)
        return Query(self._set_table(aggregate), finish, tree_weights=self.get_tree_weights())

    def _goal(self, code: int) -> Goal:
        aggregate, query = self._aggregate(), self._set_query()
        conditions = aggregate.conditions(code, self.forest_.n_classes, self.forest_.n_trees, self._current_s())
        if conditions is None:
            raise ValueError(
                f"aggregate {aggregate.name!r} has no counterfactuals: choose 'average', 'belief' or 'vote', which add "
                "up over the trees"
            )

        def accepts(row: Floats) -> bool:
            allowed = self._ask(row[np.newaxis], query)[0][0]
            return bool(allowed[code] and allowed.sum() == 1)

        return Goal(self.classes_.tolist()[code], query.table, conditions, query.tree_weights, accepts)

    def _set_table(self, aggregate: Aggregate) -> LeafTable:
        key = ("sets", aggregate, self._settings())
        return self._tables.get(key, lambda: aggregate.table_of(self._leaf_evidence(), self._current_s()))

    @staticmethod
    def _warning_of_conflicts(aggregate: Aggregate, finish: _Finish) -> _Finish:
        """Finish that warns of rows whose trees have no distribution in common."""
        if not isinstance(aggregate, Conjunction):
            return finish

        def with_warning(folded: Floats, n_trees: int) -> Any:
            n_apart = int(aggregate.fell_back(folded, n_trees).sum())
            if n_apart:
                warnings.warn(
                    f"the trees have no distribution in common for {n_apart} of {len(folded)} rows, which are answered "
                    "by their average: a larger s, or another aggregate, avoids it",
                    stacklevel=5,
                )
            return finish(folded, n_trees)

        return with_warning

    def _proba_query(self) -> Query[Floats]:
        aggregate = self._aggregate()
        key = ("votes", aggregate, self._settings())
        table = self._tables.get(
            key, lambda: LeafTable.by_counts(self._leaf_evidence(), lambda counts: self._votes(aggregate, counts))
        )
        n_classes = self.forest_.n_classes

        def finish(folded: Floats, n_trees: int) -> Floats:
            votes, total = folded[:, :-1], folded[:, -1:]
            return np.where(total > 0, votes / np.where(total > 0, total, 1.0), 1 / n_classes)

        return Query(table, finish, tree_weights=self.get_tree_weights())

    def _additive(self) -> tuple[LeafTable, Additive]:
        aggregate = self._aggregate()
        if not isinstance(aggregate, Average):
            raise ValueError(
                f"aggregate {self.aggregate!r} divides votes by their weight, so that they do not add up over its "
                "trees: set aggregate='average' for contributions"
            )
        table = self._proba_query().table  # the last column counts the trees
        additive = Additive.mean("probability", self.forest_.n_classes, self.forest_.n_trees, by_class=True)
        return table, replace(additive, scale=np.vstack([additive.scale, np.zeros(self.forest_.n_classes)]))

    def _votes(self, aggregate: Aggregate, counts: Floats) -> LeafTable:
        """Weight times the vote for each class, and weight; of each leaf, (n_leaves, n_classes + 1)."""
        uniform = np.full(counts.shape[1], 1 / counts.shape[1])
        if isinstance(aggregate, Average):
            return LeafTable.of(np.column_stack([Probability().table(counts, uniform), np.ones(len(counts))]))
        votes = VoteRule().table(counts, uniform)
        weighting = aggregate.weighting if isinstance(aggregate, Belief | Vote) else "uniform"
        weights = tree_weights(counts, self._current_s(), weighting)[:, np.newaxis]
        return LeafTable.of(np.concatenate([weights * votes, weights], axis=1))

    def _aggregate(self) -> Aggregate:
        return get(self.aggregate, "uniform" if self._learns_weights() else self.weighting)

    def _learns_weights(self) -> bool:
        """Whether trees have weights learned by `fit` instead of those of their leaves."""
        check_choice("weighting", self.weighting, (*WEIGHTINGS, LEARNED))
        return bool(self.weighting == LEARNED)

    def _utility(self) -> str | None:
        """Name of the utility that s is chosen by; None if s is a number. "auto" is "u65" where it can be."""
        if not isinstance(self.s, str):
            check_s(self.s)
            return None
        if self.s not in (*REWARDS, AUTO):
            raise ValueError(f"s is {self.s!r}, must be a positive number, such as 1, or one of 'auto', 'u65', 'u80'")
        return "u65" if self.s == AUTO else self.s

    def _current_s(self) -> float:
        """The number s: the parameter, or what `fit` has chosen for it."""
        utility = self._utility()
        if utility is None:
            return check_s(self.s)
        fitted = vars(self)
        if "s_" not in fitted or fitted.get("s_utility_", utility) != utility:
            raise ValueError(f"s={self.s!r} was set after fit: fit again, or set s to a number")
        if not _same(fitted.get("s_aggregate_"), self._aggregate()):
            raise ValueError(
                f"s={self.s!r} was chosen in fit for another aggregate or weighting: fit again, or set s to a number"
            )
        return check_s(self.s_)

    def _settings(self) -> tuple[Any, ...]:
        """Parameters that tables depend on beside the aggregate, in a form that can be compared."""
        wanted = self._wanted_prior()
        return (self._current_s(), None if wanted is None else as_numbers("class_prior", wanted).tobytes())

    def _wanted_prior(self) -> Any:
        """`class_prior`, or that of the estimator if it has one."""
        return getattr(self.estimator_, "class_prior", None) if self.class_prior is None else self.class_prior

    def _check_class_prior(self) -> None:
        self._moved(self.forest_.distinct_counts.counts)

    def _moved(self, counts: Floats) -> Floats:
        """Class counts of leaves with frequencies shifted to `class_prior`, keeping the number of rows.

        A class that is r times as frequent in practice as in the training data is r times as frequent in every leaf
        (Bayes' rule, the distribution within a class being the same); the amount of evidence does not change.
        """
        given = self._wanted_prior()
        if given is None:
            return counts
        wanted = check_prior(given, counts, "class_prior")
        moved = counts * (wanted / np.where(self.class_prior_ > 0, self.class_prior_, 1.0))  # no share, no counts
        total = moved.sum(axis=1, keepdims=True)
        return moved * (counts.sum(axis=1, keepdims=True) / np.where(total > 0, total, 1.0))

    def _leaf_probability(self) -> Fold[Floats, Floats]:
        return Probability()

    def _leaf_evidence(self) -> DistinctCounts:
        leaves = self.forest_.distinct_counts
        return DistinctCounts(self._moved(leaves.counts), leaves.row_of)

    def _observed_counts(self) -> Floats:
        leaves = self._leaf_evidence()
        return leaves.of_each_leaf(leaves.counts)

    def _evidence_prior(self) -> Floats:
        wanted = self._wanted_prior()
        return super()._evidence_prior() if wanted is None else check_prior(wanted, self.forest_.counts, "class_prior")


def _same(chosen_for: Aggregate | None, aggregate: Aggregate) -> bool:
    """Whether this is the aggregate that s was chosen for, if it was chosen for any."""
    return chosen_for is None or (type(chosen_for) is type(aggregate) and vars(chosen_for) == vars(aggregate))
