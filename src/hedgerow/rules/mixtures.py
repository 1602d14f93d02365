"""Rules on the scores of all trees at once: median, maximum, generalised mixtures and inverted-Gini weights.

Busch et al., Combining Predictions under Uncertainty, tried them beside its nine (section 3.2; the weights, section
2.2). Each combines the class values of an :class:`~hedgerow.rules.Average`, by default the classes' shares.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from hedgerow._arrays import Floats
from hedgerow._params import check_choice
from hedgerow.rules.averages import AverageRule, Probability, leaf_shares
from hedgerow.rules.base import CountRule, normalised

__all__ = ["InvertedGini", "Maximum", "Median", "Mixture"]


@dataclass(frozen=True)
class _OfScores(CountRule):
    """Abstract: combines the trees' values of each class, (n, n_trees, n_classes)."""

    score: AverageRule = field(default_factory=Probability)

    def __post_init__(self) -> None:
        if not isinstance(self.score, AverageRule):
            raise ValueError(
                f"{self.name}: score is {self.score!r}, must be a rule that averages: Probability(), Plausibility(), "
                "Confidence() or Vote()"
            )

    def combine(self, counts: Floats, prior: Floats) -> Floats:
        values = self.score.table(counts.reshape(-1, counts.shape[-1]), prior)
        combined = self.aggregate(values.reshape(counts.shape))
        # All values are 0 where most trees have 0 for each class, as where three trees vote for three classes.
        return normalised(np.where(combined.any(axis=1, keepdims=True), combined, 1.0))

    @abstractmethod
    def aggregate(self, values: Floats) -> Floats:
        """(n, n_trees, n_classes) to (n, n_classes), not yet normalised; all 0 is total ignorance."""


@dataclass(frozen=True)
class Median(_OfScores):
    """Median over the trees of each class's value, normalised; uniform where all medians are 0.

    Parameters
    ----------
    score : AverageRule
        Rule whose values are combined.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.rules import Median
    >>> Median().proba(np.array([[[3.0, 1.0], [40.0, 60.0]]])).round(2)  # two trees
    array([[0.57, 0.42]])
    """

    def aggregate(self, values: Floats) -> Floats:
        """Value of each class over the trees.

        Parameters
        ----------
        values : array of shape (…, n_trees, n_classes)
            Value of each tree and class.

        Returns
        -------
        ndarray of shape (…, n_classes)
            Values.
        """
        return np.median(values, axis=1)


@dataclass(frozen=True)
class Maximum(_OfScores):
    """Value of the most committed tree: for two classes the score of largest absolute value.

    With more classes the tree whose greatest value is greatest. Equally committed trees are averaged, so that two that
    contradict each other cancel.

    Parameters
    ----------
    score : AverageRule
        Rule whose values are combined.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.rules import Maximum
    >>> Maximum().proba(np.array([[[3.0, 1.0], [40.0, 60.0]]])).round(2)  # two trees
    array([[0.75, 0.25]])
    """

    def aggregate(self, values: Floats) -> Floats:
        """Value of each class over the trees.

        Parameters
        ----------
        values : array of shape (…, n_trees, n_classes)
            Value of each tree and class.

        Returns
        -------
        ndarray of shape (…, n_classes)
            Values.
        """
        commitment = values.max(axis=2)
        most = commitment == commitment.max(axis=1, keepdims=True)
        return (values * most[:, :, np.newaxis]).sum(axis=1) / most.sum(axis=1, keepdims=True)


_CENTRES: dict[str, Callable[[Floats], Floats]] = {
    "average": lambda values: values.mean(axis=1),
    "median": lambda values: np.median(values, axis=1),
    "maximum": lambda values: values.max(axis=1),
}


@dataclass(frozen=True)
class Mixture(_OfScores):
    """Generalised mixture: a mean in which values far from a centre weigh less.

    H(x) = Σ θᵢ·xᵢ with θᵢ = (1 − |xᵢ − c|/Σⱼ|xⱼ − c|)/(K − 1), the mean where all are c; the centre c is the average,
    the median or the maximum of the trees' values of a class (Farias et al., 2016; Costa et al., 2018). Normalised;
    ignorant where all are 0, which only the median can bring about.

    Parameters
    ----------
    score : AverageRule
        Rule whose values are combined.
    centre : Literal[average, median, maximum], default="average"
        Value from which distances are measured: the average, the median, or the most committed tree.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.rules import Mixture
    >>> Mixture().proba(np.array([[[3.0, 1.0], [40.0, 60.0]]])).round(2)  # two trees
    array([[0.57, 0.42]])
    """

    centre: Literal["average", "median", "maximum"] = "average"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("Mixture: centre", self.centre, _CENTRES, "'average', 'median' or 'maximum'")

    @property
    def name(self) -> str:
        return f"mixture-{self.centre}"

    def aggregate(self, values: Floats) -> Floats:
        """Value of each class over the trees.

        Parameters
        ----------
        values : array of shape (…, n_trees, n_classes)
            Value of each tree and class.

        Returns
        -------
        ndarray of shape (…, n_classes)
            Values.
        """
        distance = np.abs(values - _CENTRES[self.centre](values)[:, np.newaxis])
        total = distance.sum(axis=1, keepdims=True)
        n_trees = values.shape[1]
        same = (total == 0) | (n_trees == 1)
        weight = np.where(same, 1 / n_trees, (1 - distance / np.where(same, 1.0, total)) / max(n_trees - 1, 1))
        return (weight * values).sum(axis=1)


@dataclass(frozen=True)
class InvertedGini(CountRule):
    """Mean of the class frequencies, a leaf weighing Σp² = 1 − its Gini impurity (Kulessa and Loza Mencía, 2018).

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.rules import InvertedGini
    >>> InvertedGini().proba(np.array([[[3.0, 1.0], [40.0, 60.0]]])).round(2)  # two trees
    array([[0.59, 0.41]])
    """

    @property
    def name(self) -> str:
        return "inverted-gini"

    def combine(self, counts: Floats, prior: Floats) -> Floats:
        shares = leaf_shares(counts.reshape(-1, counts.shape[-1]), prior, 0.0, "uniform").reshape(counts.shape)
        weight = (shares**2).sum(axis=2, keepdims=True)
        return normalised((weight * shares).sum(axis=1))
