"""The answers of many trees, combined by a rule that can be changed at any time."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.estimators.answers import ClassAnswers
from hedgerow.rules import FoldRule, Probability, Rule, get
from hedgerow.rules.base import half_signed
from hedgerow.walk import LeafTable

__all__ = ["RuleAnswers"]

Floats = NDArray[np.float64]

_CHUNK_BYTES = 1 << 26  # of the leaves' counts, for a rule that needs those of all trees at once


class RuleAnswers(ClassAnswers):
    """Abstract; final classes have the parameter `rule`. It can be changed after `fit` without fitting again."""

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class, (n, n_classes), as `rule` combines the leaves that a row reaches."""
        rows = self._read(X)
        rule = get(self.rule)
        if isinstance(rule, FoldRule):
            return self._checked(rule.finish(*self._folded(rule, rows)), len(rows), rule)
        return self._counted(rule, rows)

    def decision_function(self, X: Any) -> Floats:
        """A score that orders rows as `predict_proba` does.

        Of two classes (n,), above 0 for the second: the rule's score, for evidence the log-odds, for dempster and
        cautious the difference of the two (pignistic) probabilities. Of more classes (n, n_classes).
        """
        rows = self._read(X)
        rule = get(self.rule)
        if isinstance(rule, FoldRule):
            return rule.margin(*self._folded(rule, rows))
        return half_signed(self._counted(rule, rows))

    def _tree_weights(self) -> Floats | None:
        """How much each tree counts, 1 on average; None: all the same."""
        return None

    def _folded(self, rule: FoldRule, rows: Floats) -> tuple[Floats, int, Floats]:
        """What `finish` wants."""
        table = self._rule_table(rule)
        folded = self._walk.fold(rows, [table], self._tree_weights())[0]
        return folded, self.forest_.n_trees, self.class_prior_

    def _rule_table(self, rule: FoldRule) -> LeafTable:
        return self._finished.get(rule, lambda: self._table_of(rule))

    def _table_of(self, rule: FoldRule) -> LeafTable:
        return LeafTable.by_counts(self.forest_.distinct_counts, partial(rule.leaf_table, prior=self.class_prior_))

    def _counted(self, rule: Rule, rows: Floats) -> Floats:
        """By a rule without a fold: the counts of some rows at a time."""
        if self._tree_weights() is not None:
            raise ValueError(f"rule {rule.name} can't weigh trees: set tree_weights=None, or choose a rule that folds")
        forest = self.forest_
        n_at_once = max(1, _CHUNK_BYTES // (8 * forest.n_trees * forest.n_classes))
        probabilities = np.empty((len(rows), forest.n_classes))
        table = LeafTable.by_counts(forest.distinct_counts)
        for first in range(0, len(rows), n_at_once):
            counts = self._walk.gather(rows[first : first + n_at_once], table)
            probabilities[first : first + n_at_once] = rule.proba(counts, self.class_prior_)
        return probabilities

    def _checked(self, probabilities: Floats, n_rows: int, rule: Rule) -> Floats:
        """A rule may be the user's own."""
        if probabilities.shape != (n_rows, self.forest_.n_classes):
            raise ValueError(
                f"rule {rule.name}: finish returned shape {probabilities.shape}, must be "
                f"{(n_rows, self.forest_.n_classes)}: a probability for each row and class"
            )
        return probabilities

    def _probabilities(self) -> LeafTable:
        """Of the leaves themselves, whatever rule combines them."""
        rule = get(self.rule)
        if isinstance(rule, Probability):
            return self._rule_table(rule)
        return self._table_of(Probability())
