"""Rules that average a score of each leaf over the trees: probability, laplace, plausibility, confidence, vote.

Busch et al., Combining Predictions under Uncertainty, section 3; w⁺ and w⁻ are the counts of a leaf and n their sum.
With more than two classes plausibility and confidence score each class against the rest, and are normalised.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.special import betaln

from hedgerow._arrays import Floats
from hedgerow._params import check_choice, check_number
from hedgerow.folds.additive import Additive
from hedgerow.folds.conditions import Conditions, leads
from hedgerow.folds.leaf_probability import corrected_shares, uniform
from hedgerow.folds.plausibility import against_rest, distinct_pairs, plausibility_degrees
from hedgerow.rules.base import FoldRule, half_signed, normalised

__all__ = ["AverageRule", "Confidence", "Plausibility", "Probability", "Toward", "Vote", "leaf_shares"]

Toward = Literal["uniform", "prior"]


class AverageRule(FoldRule):
    """Abstract: mean over the trees of a value in [0, 1] for each class; h_avg of section 3.2.

    Examples
    --------
    The mean over the trees of the square of the share, made to add up:

    >>> import numpy as np
    >>> from hedgerow.rules import Average
    >>> class Squares(Average):
    ...     name = "squares"
    ...
    ...     def table(self, counts, prior):
    ...         return (counts / counts.sum(axis=1, keepdims=True)) ** 2
    >>> Squares().proba(np.array([[[3.0, 1.0], [40.0, 60.0]]])).round(2)
    array([[0.63, 0.37]])
    """

    @abstractmethod
    def table(self, counts: Floats, prior: Floats) -> Floats:
        """Value of each class in each leaf, (n_leaves, n_classes).

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

    sums_to_one: ClassVar[bool] = True
    """Whether the values of a leaf add up to 1 also for more than two classes, so that `finish` is a mean."""

    def finish(self, folded: Floats, n_trees: Any, prior: Floats) -> Floats:
        return normalised(folded)

    def conditions(self, code: int, n_classes: int, n_trees: int, prior: Floats) -> Conditions:
        """Linear conditions under which a class is answered.

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
        return leads(np.eye(n_classes), np.zeros(n_classes), code)

    def additive(self, n_trees: int, prior: Floats) -> Additive:
        """The answer as a sum over the trees.

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

        Raises
        ------
        ValueError
            If the answers of the rule do not add up.
        """
        if len(prior) > 2 and not self.sums_to_one:
            raise ValueError(
                f"{self._title} divides the answers of three or more classes by their sum, so that they do not add up "
                "over its trees: choose rule='probability'"
            )
        return Additive.mean("probability", len(prior), n_trees, by_class=True)


def leaf_shares(counts: Floats, prior: Floats, correction: float, toward: Toward) -> Floats:
    """(w_y + a·C·c_y)/(n + a·C) for C classes; c is uniform or the prior, and the value of an empty leaf."""
    n_classes = counts.shape[1]
    return corrected_shares(counts, prior if toward == "prior" else uniform(n_classes), correction * n_classes)


def check_correction(rule: str, correction: Any, toward: Any, *, positive: bool) -> None:
    """Refuse a correction that is negative, or 0 where it must be `positive`, and an unknown `toward`."""
    check_number(f"{rule}: correction", correction, closed="neither" if positive else "left")
    check_choice(f"{rule}: toward", toward, ("uniform", "prior"), "'uniform' or 'prior'")


@dataclass(frozen=True)
class Probability(AverageRule):
    """Mean of the class frequencies in the leaves; score p_prob(w) = w⁺/n − ½ (section 3.1).

    ``correction=1`` is the rule *laplace*, p_lap(w) = (w⁺ + 1)/(n + 2) − ½. ``toward="prior"`` corrects toward the
    class frequencies of the training data instead (an m-estimate with m = correction · n_classes).

    Parameters
    ----------
    correction : float, default=0.0
        Rows that are added to each leaf; 0 is the plain frequency.
    toward : Toward, default="uniform"
        How they are divided: "uniform", or as the "prior" of the classes.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.rules import Probability
    >>> Probability().proba(np.array([[[3.0, 1.0], [40.0, 60.0]]])).round(2)  # two trees
    array([[0.57, 0.42]])
    """

    correction: float = 0.0
    toward: Toward = "uniform"

    def __post_init__(self) -> None:
        check_correction("Probability", self.correction, self.toward, positive=False)

    @property
    def name(self) -> str:
        return "laplace" if self == Probability(correction=1.0) else "probability"

    def table(self, counts: Floats, prior: Floats) -> Floats:
        return leaf_shares(counts, prior, self.correction, self.toward)

    def score(self, folded: Floats, n_trees: Any, prior: Floats) -> Floats:
        return half_signed(self.finish(folded, n_trees, prior))


@dataclass(frozen=True)
class Plausibility(AverageRule):
    """Mean of p_pls(w) = s⊕(w) − s⊖(w), the difference in plausibility of the classes (section 3.1).

    A probability is (1 + score)/2. See :func:`hedgerow.rules.plausibility_degrees`.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.rules import Plausibility
    >>> Plausibility().proba(np.array([[[3.0, 1.0], [40.0, 60.0]]])).round(2)  # two trees
    array([[0.55, 0.45]])
    """

    sums_to_one: ClassVar[bool] = False

    def table(self, counts: Floats, prior: Floats) -> Floats:
        return (1.0 + against_rest(counts, _preference)) / 2


def _preference(own: Floats, others: Floats) -> Floats:
    degrees = plausibility_degrees(own, others)
    return degrees.s_positive - degrees.s_negative


@dataclass(frozen=True)
class Confidence(AverageRule):
    """Mean of p_cb(w) = (1 − c(w))·(w⁺/n − ½) (section 3.1); a probability is score + ½.

    c(w) is the height of the beta-binomial distribution with n trials, α = w⁺ + 1 and β = w⁻ + 1 in the middle over
    that at its mode, w⁺. The middle is the mean of the heights at n/2 ± δ, δ half the distance from n to the nearest
    even number: the two middle ones where n is odd, and continuous for fractional counts.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.rules import Confidence
    >>> Confidence().proba(np.array([[[3.0, 1.0], [40.0, 60.0]]])).round(2)  # two trees
    array([[0.5, 0.5]])
    """

    sums_to_one: ClassVar[bool] = False

    def table(self, counts: Floats, prior: Floats) -> Floats:
        return 0.5 + against_rest(counts, _confident_share)

    def score(self, folded: Floats, n_trees: Any, prior: Floats) -> Floats:
        return half_signed(self.finish(folded, n_trees, prior))


def _confident_share(own: Floats, others: Floats) -> Floats:
    total = own + others
    share = np.where(total > 0, (own - others) / np.where(total > 0, 2 * total, 1.0), 0.0)
    *pairs, inverse = distinct_pairs(own, others)
    return (1.0 - _middle_height(*pairs)[inverse]) * share


def _middle_height(own: Floats, others: Floats) -> Floats:
    """c(w)."""
    n = own + others
    off_centre = np.abs(n - 2 * np.round(n / 2)) / 2
    lead = (own - others) / 2
    heights = [_height(own, others, side * off_centre - lead) for side in (-1, 1)]
    return (heights[0] + heights[1]) / 2


def _height(own: Floats, others: Floats, t: Floats) -> Floats:
    """The beta-binomial's height at own + t over that at own, 1 at most. No bit changes with (others, own, −t)."""
    k, rest = own + t, others - t
    at_k: Floats = betaln(k + own + 1, rest + others + 1) - betaln(k + 1, rest + 1)
    at_own: Floats = betaln(2 * own + 1, 2 * others + 1) - betaln(own + 1, others + 1)
    log_height = at_k - at_own
    # Both are as large as the counts, but their difference is small: for many samples use Stirling's series, in which
    # the large terms cancel before rounding. Its first omitted term is below 1e-14.
    many = np.minimum(own, others) > 50
    w, v, step = own[many], others[many], t[many]
    log_height[many] = (_rise(2 * w, step) - _rise(w, step)) + (_rise(2 * v, -step) - _rise(v, -step))
    return np.exp(np.minimum(log_height, 0.0))


def _rise(z: Floats, t: Floats) -> Floats:
    """log Γ(z + t + 1) − log Γ(z + 1) − t·log z + t for large z."""

    def tail(x: Floats) -> Floats:
        square = (1 / x) ** 2
        return (1 - square * (1 / 30 - square / 105)) / (12 * x)

    return (z + t + 0.5) * np.log1p(t / z) + (tail(z + t) - tail(z))


@dataclass(frozen=True)
class Vote(AverageRule):
    """Share of trees whose leaf has a majority of a class: +1, −1, or 0 for a tie (h_vote, section 3.2).

    Tied classes share the vote. A probability of two classes is (1 + score)/2.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.rules import Vote
    >>> Vote().proba(np.array([[[3.0, 1.0], [40.0, 60.0]]])).round(2)  # two trees
    array([[0.5, 0.5]])
    """

    def table(self, counts: Floats, prior: Floats) -> Floats:
        return normalised((counts == counts.max(axis=1, keepdims=True)).astype(np.float64))
