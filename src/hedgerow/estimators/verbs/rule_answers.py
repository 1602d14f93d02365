"""Verbs of many trees combined by a rule that can be changed at any time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.codegen import Step, steps_of_rule
from hedgerow.estimators.verbs.answers import ClassAnswers
from hedgerow.folds import Additive, Conditions, Fold
from hedgerow.rules import FoldRule, Probability, Rule, get
from hedgerow.rules.base import half_signed
from hedgerow.rules.registry import as_fitted
from hedgerow.walk import LeafTable, Query

__all__ = ["RuleAnswers"]

Floats = NDArray[np.float64]

_CHUNK_BYTES = 1 << 26  # of the leaves' counts, for a rule that needs those of all trees at once


class RuleAnswers(ClassAnswers):
    """Abstract; final classes have the parameter `rule`. It can be changed after `fit` without fitting again."""

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class, (n, n_classes), as `rule` combines the leaves that a row reaches.

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

    def decision_function(self, X: Any) -> Floats:
        """Score that orders rows as `predict_proba` does.

        Binary: (n,), above 0 for the second class: the rule's score, for evidence the log-odds, for dempster and
        cautious the difference of the two (pignistic) probabilities. Multiclass: (n, n_classes).

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Scores.

        Examples
        --------
        >>> from hedgerow import RandomTreesClassifier
        >>> X, y = [[float(i)] for i in range(40)], [0] * 20 + [1] * 20
        >>> model = RandomTreesClassifier(20, random_state=0).fit(X, y)
        >>> model.decision_function([[5.0], [35.0]]) > 0  # log-odds of class 1
        array([False,  True])
        """
        rows = self._read(X)
        rule = self._rule()
        if not isinstance(rule, FoldRule):
            return half_signed(self._combine_counts(rule, rows))
        prior = self.class_prior_
        query = Query(
            self._rule_query(rule).table,
            lambda folded, n_trees: rule.margin(folded, n_trees, prior),
            tree_weights=self.get_tree_weights(),
        )
        return self._ask(rows, query)[0]

    def _proba_query(self) -> Query[Floats] | None:
        rule = self._rule()
        if not isinstance(rule, FoldRule):
            return None
        query, weights = self._rule_query(rule), self.get_tree_weights()
        return query if weights is None else replace(query, tree_weights=weights)

    def _sums_and_steps(self) -> tuple[Query[Any], tuple[Step, ...]]:
        rule = self._rule()
        steps = steps_of_rule(rule, self.class_prior_)  # refuses rules without a query
        query = self._proba_query()
        assert query is not None
        return query, steps

    def _answer(self, verb: str, rows: Floats, reached: Any, **arguments: Any) -> Any:
        if verb == "predict_proba":
            return self._combine_counts(self._rule(), rows)
        return super()._answer(verb, rows, reached, **arguments)

    def _conditions(self, code: int) -> Conditions | None:
        rule, forest = self._rule(), self.forest_
        if not isinstance(rule, FoldRule):
            return None
        return rule.conditions(code, forest.n_classes, forest.n_trees, self.class_prior_)

    def _no_counterfactuals(self) -> ValueError:
        return ValueError(
            f"rule {self._rule().name!r} of {self.forest_.n_classes} classes has no counterfactuals: choose one that "
            "adds up over the trees, such as 'probability' or 'evidence'"
        )

    def _rule(self) -> Rule:
        """The current rule, with the numbers that `fit` chose for it by held-out rows."""
        return as_fitted(self.rule, vars(self).get("rule_"))

    def _rule_query(self, rule: FoldRule) -> Query[Floats]:
        """Query for the probabilities, without tree weights."""

        def compute() -> Query[Floats]:
            prior, n_classes = self.class_prior_, self.forest_.n_classes
            finish = rule.bind(prior)
            return Query(
                rule.table_of(self.forest_.distinct_counts, prior),
                lambda folded, n_trees: _checked(finish(folded, n_trees), (len(folded), n_classes), rule),
            )

        return self._tables.get(rule, compute)

    def _additive(self) -> tuple[LeafTable, Additive]:
        rule = self._rule()
        if not isinstance(rule, FoldRule):
            raise ValueError(f"rule {rule.name} has no answer that adds up over its trees: choose rule='probability'")
        return self._rule_query(rule).table, rule.additive(self.forest_.n_trees, self.class_prior_)

    def _combine_counts(self, rule: Rule, rows: Floats) -> Floats:
        """Probabilities by a rule without a fold, from the counts of some rows at a time."""
        if self.get_tree_weights() is not None:
            raise ValueError(f"rule {rule.name} can't weigh trees: set tree_weights=None, or choose a rule that folds")
        forest = self.forest_
        n_at_once = max(1, _CHUNK_BYTES // (8 * forest.n_trees * forest.n_classes))
        probabilities = np.empty((len(rows), forest.n_classes))
        query = self._counts_query()
        for first in range(0, len(rows), n_at_once):
            counts = self._ask(rows[first : first + n_at_once], query)[0]
            probabilities[first : first + n_at_once] = rule.proba(counts, self.class_prior_)
        return probabilities

    def _leaf_probability(self) -> Fold[Floats, Floats]:
        rule = get(self.rule)
        return rule if isinstance(rule, Probability) else Probability()


def _checked(probabilities: Floats, shape: tuple[int, int], rule: Rule) -> Floats:
    """Check the shape of what a user-defined rule returned."""
    if probabilities.shape != shape:
        raise ValueError(
            f"rule {rule.name}: finish returned shape {probabilities.shape}, must be {shape}: "
            "a probability for each row and class"
        )
    return probabilities
