"""Rules of belief-function theory: Dempster's rule and the cautious rule.

Busch et al., Combining Predictions under Uncertainty, section 4. A leaf has the mass s⊕ on {⊕}, s⊖ on {⊖} and the rest
on both; one of s⊕ and s⊖ is 0. So Dempster's unnormalised rule multiplies 1 − s⊖ over the leaves to A and 1 − s⊕ to B,
and the masses are m(⊕) = A(1−B), m(⊖) = B(1−A), m(both) = AB, m(∅) = (1−A)(1−B). The cautious rule (Denœux, 2006),
which does not count dependent evidence twice, takes the least instead of the product.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_expit

from hedgerow._arrays import Floats
from hedgerow._params import check_choice
from hedgerow.folds.conditions import Conditions, leads
from hedgerow.folds.plausibility import plausibility_degrees, rest
from hedgerow.forest.counts import as_numbers
from hedgerow.rules.base import FoldRule, check_prior, softmax
from hedgerow.walk import Link, Op

__all__ = ["Cautious", "Dempster", "Masses", "combine_masses"]

LEAST_DOUBT = 1e-5
"""No leaf puts more than 1 − 10⁻⁵ of its mass on one class (the paper's least value, section 4)."""


@dataclass(frozen=True)
class Masses:
    """Belief masses of the subsets of {⊕, ⊖}; they add up to 1. Mass on the empty set is conflict.

    Parameters
    ----------
    empty : array
        Mass of the empty set: conflict.
    positive : array
        Mass of the positive class.
    negative : array
        Mass of the negative class.
    both : array
        Mass of both: ignorance.

    Examples
    --------
    >>> from hedgerow.rules import combine_masses
    >>> masses = combine_masses([0.5, 0.0], [0.0, 0.5])  # one source for each class
    >>> float(masses.empty), float(masses.both)
    (0.25, 0.25)
    """

    empty: Floats
    positive: Floats
    negative: Floats
    both: Floats


def combine_masses(
    s_positive: ArrayLike, s_negative: ArrayLike, how: Literal["dempster", "cautious"] = "dempster"
) -> Masses:
    """Combine sources, (…, n_sources), that put mass s⊕ on {⊕}, s⊖ on {⊖} and the rest on both.

    Parameters
    ----------
    s_positive : array-like of shape (…, n_sources)
        Mass of each source on {⊕}.
    s_negative : array-like of shape (…, n_sources)
        Mass of each source on {⊖}.
    how : {"dempster", "cautious"}, default="dempster"
        Dempster's unnormalised rule, for independent sources; or the cautious rule, by which sources of the same
        opinion count once.

    Returns
    -------
    Masses
        Four arrays of shape (…).

    Raises
    ------
    ValueError
        If a source prefers both classes, masses are not between 0 and 1, or there is no source.

    Examples
    --------
    >>> from hedgerow.rules import combine_masses
    >>> masses = combine_masses([0.4, 0.4, 0.0], [0.0, 0.0, 0.4])
    >>> [round(float(m), 3) for m in (masses.empty, masses.positive, masses.negative, masses.both)]
    [0.256, 0.384, 0.144, 0.216]
    """
    combinations = {"dempster": np.multiply, "cautious": np.minimum}
    reduce = combinations[check_choice("how", how, combinations, "'dempster' or 'cautious'")]
    positive, negative = np.broadcast_arrays(_support("s_positive", s_positive), _support("s_negative", s_negative))
    if ((positive > 0) & (negative > 0)).any():
        raise ValueError("a source has both s_positive and s_negative above 0: it can prefer one class only")
    if not positive.ndim or not positive.shape[-1]:
        raise ValueError(f"s_positive has shape {positive.shape}, must have at least one source")
    a, b = reduce.reduce(1 - negative, axis=-1), reduce.reduce(1 - positive, axis=-1)
    return Masses(empty=(1 - a) * (1 - b), positive=a * (1 - b), negative=b * (1 - a), both=a * b)


def _support(name: str, given: ArrayLike) -> Floats:
    support = np.asarray(given, dtype=np.float64)
    bad = ~((support >= 0) & (support <= 1))
    if bad.any():
        raise ValueError(f"{name} has {support[bad][0]}, must be masses in [0, 1]")
    return support


@dataclass(frozen=True)
class _BeliefRule(FoldRule):
    """Abstract: masses, scores and probabilities of both rules.

    A binary combination for each class k on {k, not k}; the table has 1 − s(not k) and 1 − s(k) for each (for two
    classes once). Everything stays a logarithm: the pignistic probability, which divides the mass of both evenly, has

        log-odds  a − b + log(1 − B/2) − log(1 − A/2),  a = log A, b = log B,

    whether or not A and B underflow.
    """

    prior: Any = None

    def __post_init__(self) -> None:
        if self.prior is None or (isinstance(self.prior, str) and self.prior == "training"):
            return
        if isinstance(self.prior, str):
            raise ValueError(f"{self.name}: prior is {self.prior!r}, must be None, 'training' or probabilities")
        own = as_numbers(f"{self.name}: prior", self.prior)
        checked = check_prior(own, np.zeros((1, own.size)))
        object.__setattr__(self, "prior", tuple(checked.tolist()))  # so that two rules can be compared

    def table(self, counts: Floats, prior: Floats) -> Floats:
        others = rest(counts)
        columns = []
        for k in _combined_classes(counts.shape[1]):
            degrees = plausibility_degrees(counts[:, k], others[:, k])
            columns += [1 - degrees.s_negative, 1 - degrees.s_positive]
        return np.maximum(np.stack(columns, axis=1), LEAST_DOUBT)

    def finish(self, folded: Floats, n_trees: Any, prior: Floats) -> Floats:
        return softmax(log_expit(self._log_odds(folded, prior)))

    def score(self, folded: Floats, n_trees: Any, prior: Floats) -> Floats:
        """m(⊕) − m(⊖) = A − B; multiclass: of each class against the rest.

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
        a, b = self._with_prior(folded, prior)
        difference: Floats = np.exp(a) - np.exp(b)
        return difference[:, 0] if len(prior) == 2 else difference

    def margin(self, folded: Floats, n_trees: Any, prior: Floats) -> Floats:
        """Binary: BetP⁺ − BetP⁻; multiclass: probabilities.

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
            Margins.
        """
        if len(prior) != 2:
            return self.finish(folded, n_trees, prior)
        return np.tanh(self._log_odds(folded, prior)[:, 1] / 2)

    def _log_odds(self, folded: Floats, prior: Floats) -> Floats:
        """Log-odds of the pignistic probability of each class, (n, n_classes)."""
        a, b = self._with_prior(folded, prior)
        # In this order the sign changes, and no digit, when the classes are swapped.
        log_odds: Floats = (a - b) + (np.log1p(-np.exp(b) / 2) - np.log1p(-np.exp(a) / 2))
        return np.concatenate([-log_odds, log_odds], axis=1) if len(prior) == 2 else log_odds

    def _with_prior(self, folded: Floats, prior: Floats) -> tuple[Floats, Floats]:
        """a and b, (n, 1) for two classes, else (n, n_classes), with one more mass from the prior if it is wanted.

        Of all masses whose pignistic probability is the prior p the least committed one puts |2p − 1| on the likelier
        class and the rest on both (Dubois, Prade and Smets, 2008).
        """
        a, b = folded[:, 0::2], folded[:, 1::2]
        if self.prior is None:
            return a, b
        own = prior if self.prior == "training" else check_prior(self.prior, np.zeros((1, len(prior))))
        lean = (own - rest(own[np.newaxis])[0])[_combined_classes(len(prior))]  # 2p − 1
        combine = np.add if self.fold[1] == "sum" else np.minimum
        return (
            combine(a, np.log(np.maximum(1 + np.minimum(lean, 0), LEAST_DOUBT))),
            combine(b, np.log(np.maximum(1 - np.maximum(lean, 0), LEAST_DOUBT))),
        )


def _combined_classes(n_classes: int) -> list[int]:
    """Two classes need one combination, of the positive against the negative one."""
    return [1] if n_classes == 2 else list(range(n_classes))


@dataclass(frozen=True)
class Dempster(_BeliefRule):
    """Dempster's unnormalised rule on the leaves' masses; score m(⊕) − m(⊖) (section 4).

    Probabilities are pignistic. The leaves count as independent. ``prior="training"`` combines one more mass, from the
    classes' shares in the training data, and an array one from those probabilities: the paper's future work
    (section 6).

    Parameters
    ----------
    prior : array of shape (n_classes,) or None, default=None
        Probability of each class without a look at the columns; None: all alike.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.rules import Dempster
    >>> Dempster().proba(np.array([[[3.0, 1.0], [40.0, 60.0]]])).round(2)  # two trees
    array([[0.61, 0.39]])
    """

    fold: ClassVar[tuple[Link, Op]] = ("log", "sum")

    def conditions(self, code: int, n_classes: int, n_trees: int, prior: Floats) -> Conditions | None:
        """Of two classes the likelier has the larger of A and B, see :meth:`_log_odds`.

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
        if n_classes != 2:
            return None
        a, b = self._with_prior(np.zeros((1, 2)), prior)
        return leads(np.eye(2)[:, ::-1], np.array([b[0, 0], a[0, 0]]), code)


@dataclass(frozen=True)
class Cautious(_BeliefRule):
    """The cautious rule on the leaves' masses; score m(⊕) − m(⊖) (section 4).

    Several leaves for the same class count as the strongest of them. `prior` is as for :class:`Dempster`. (Not to be
    confused with cautious forests, which predict sets of classes.)

    Parameters
    ----------
    prior : array of shape (n_classes,) or None, default=None
        Probability of each class without a look at the columns; None: all alike.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.rules import Cautious
    >>> Cautious().proba(np.array([[[3.0, 1.0], [40.0, 60.0]]])).round(2)  # two trees
    array([[0.61, 0.39]])
    """

    fold: ClassVar[tuple[Link, Op]] = ("log", "min")
