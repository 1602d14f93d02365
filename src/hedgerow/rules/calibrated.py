"""A rule whose probabilities are calibrated by held-out rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow._arrays import Floats
from hedgerow._params import check_number
from hedgerow.folds.additive import Additive
from hedgerow.folds.conditions import Conditions, leads
from hedgerow.rules.base import FoldRule, half_signed, normalised, raise_to_power
from hedgerow.walk import LeafTable

__all__ = ["Calibrated"]


@dataclass(frozen=True)
class Calibrated(FoldRule):
    """Another rule's probabilities, sharpened or flattened: log P(y|x) = log P(y) + t·(log p(y|x) − log P(y)).

    p are the rule's probabilities, kept off 0: (1 − C·floor)·p + floor for C classes. Forests choose t (`sharpness`) by
    the log-loss of their out-of-bag rows. Averaged trees are too timid where leaves are pure and classes overlap
    little (t > 1), and too bold where leaves are pure by chance (t < 1); t near 0 answers the class frequencies.

    Parameters
    ----------
    rule : FoldRule
        The rule that is calibrated.
    sharpness : float
        The exponent t; above 1 sharpens.
    floor : float
        Least probability before the power is taken.

    Examples
    --------
    >>> from hedgerow.rules import Probability, Calibrated
    >>> Calibrated(Probability(), sharpness=2.0, floor=0.01).proba([[[3, 1], [1, 1], [4, 0]]]).round(3)
    array([[0.895, 0.105]])
    """

    rule: FoldRule
    sharpness: float
    floor: float

    def __post_init__(self) -> None:
        if not isinstance(self.rule, FoldRule) or isinstance(self.rule, Calibrated):
            raise ValueError(f"Calibrated: rule is {self.rule!r}, must be a rule that folds, such as Probability()")
        check_number("Calibrated: sharpness", self.sharpness)
        check_number("Calibrated: floor", self.floor, 0, 0.5)

    @property
    def name(self) -> str:
        return self.rule.name

    @property
    def before_fit(self) -> FoldRule:
        return self.rule

    def table(self, counts: Floats, prior: Floats) -> LeafTable:  # type: ignore[override]
        return self.rule.leaf_table(counts, prior)

    def finish(self, folded: Floats, n_trees: Any, prior: Floats) -> Floats:
        return self.bind(prior)(folded, n_trees)

    def bind(self, prior: Floats) -> Callable[[Floats, Any], Floats]:
        """Use these class probabilities where none are given.

        Parameters
        ----------
        prior : array of shape (n_classes,) or None
            Probability of each class without a look at the columns; None: all alike.

        Returns
        -------
        callable
            ``finish(folded, n_trees)`` for these class probabilities.
        """
        frequencies = self.frequencies(prior)
        finish, scale = self.rule.bind(prior), 1.0 - len(prior) * self.floor

        def calibrate(folded: Floats, n_trees: Any) -> Floats:
            shares = finish(folded, n_trees)
            return normalised(raise_to_power(shares, scale, self.floor, self.sharpness, frequencies))

        return calibrate

    def additive(self, n_trees: int, prior: Floats) -> Additive:
        """Sum of the rule itself: calibrated probabilities are not sums, but of two classes a rising function of one.

        Parameters
        ----------
        n_trees : int or array
            Number of trees that were folded.
        prior : array of shape (n_classes,) or None
            Probability of each class without a look at the columns; None: all alike.

        Returns
        -------
        Additive
            The answer as a linear function of the folded table.
        """
        return self.rule.additive(n_trees, prior).named("uncalibrated probability")

    def frequencies(self, prior: Floats) -> Floats:
        """P(y)^(1 − t), by which p^t is multiplied; 0 for a class without a prior, which is never the answer.

        Parameters
        ----------
        prior : array-like of shape (n_classes,) or None
            Share of each class in the population; None is uniform.

        Returns
        -------
        ndarray of shape (n_classes,)
            Factors.
        """
        return np.where(prior > 0, np.where(prior > 0, prior, 1.0) ** (1.0 - self.sharpness), 0.0)

    def conditions(self, code: int, n_classes: int, n_trees: int, prior: Floats) -> Conditions | None:
        """Conditions where p are shares of the folded table: p^t·P(y)^(1−t) is largest where p·P(y)^(1/t − 1) is.

        Parameters
        ----------
        code : int
            Position of the class.
        n_classes : int
            Number of classes.
        n_trees : int or array
            Number of trees that were folded.
        prior : array of shape (n_classes,) or None
            Probability of each class without a look at the columns; None: all alike.

        Returns
        -------
        Conditions or None
            The conditions; None where none are linear.
        """
        from hedgerow.rules.accumulation import Pool
        from hedgerow.rules.averages import AverageRule

        if not isinstance(self.rule, AverageRule | Pool):
            return None
        factors = (prior / prior.max()) ** (1.0 / self.sharpness - 1.0) * (prior > 0)
        shares = (1.0 - n_classes * self.floor) * np.eye(n_classes) + self.floor  # times the sum of the folded table
        return leads(shares * factors, np.zeros(n_classes), code)

    def score(self, folded: Floats, n_trees: Any, prior: Floats) -> Floats:
        """Binary: P(positive) − ½; multiclass: probabilities.

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
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Scores.
        """
        return half_signed(self.finish(folded, n_trees, prior))
