"""Rules that accumulate the evidence of leaves instead of their scores: pool and evidence.

Busch et al., Combining Predictions under Uncertainty, section 4.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.special import logsumexp

from hedgerow._arrays import Floats
from hedgerow._params import check_choice, check_number
from hedgerow.folds.additive import Additive
from hedgerow.folds.conditions import Conditions, leads
from hedgerow.folds.plausibility import plausibility_degrees, rest
from hedgerow.rules.averages import Toward, check_correction, leaf_shares
from hedgerow.rules.base import FoldRule, half_signed, softmax
from hedgerow.walk import Link, Op

__all__ = ["Evidence", "Pool"]

_NEVER = -1e300  # log posterior of a class without a prior


@dataclass(frozen=True)
class Pool(FoldRule):
    """Share of each class in all leaves pooled: g_pool = Σw⁺/Σn − ½ (section 4).

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.rules import Pool
    >>> Pool().proba(np.array([[[3.0, 1.0], [40.0, 60.0]]])).round(2)  # two trees
    array([[0.41, 0.59]])
    """

    def table(self, counts: Floats, prior: Floats) -> Floats:
        return counts

    def finish(self, folded: Floats, n_trees: Any, prior: Floats) -> Floats:
        total = folded.sum(axis=1, keepdims=True)
        return np.where(total > 0, folded / np.where(total > 0, total, 1.0), 1 / len(prior))

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

    def score(self, folded: Floats, n_trees: Any, prior: Floats) -> Floats:
        return half_signed(self.finish(folded, n_trees, prior))


@dataclass(frozen=True)
class Evidence(FoldRule):
    """Evidence accumulation: P(y | all leaves) ∝ P(y)·Π (P(y|w)/P(y))^β, the leaves taken for independent if β = 1.

    Each leaf's P(y|w) = (w_y + a)/(n + a·C), a the `correction` and C the number of classes (section 4). The score of
    two classes is the logarithm of the posterior odds, which has the sign of the paper's difference of products and
    does not overflow.

    Parameters
    ----------
    correction : float, default=0.1
        Rows of each class that are added to each leaf, above 0; the paper has 0.1.
    toward : {"uniform", "prior"}, default="uniform"
        "uniform" is the paper's. "prior" shrinks to the prior instead: no jump to a leaf without counts, and no false
        certainty for rows with missing values, which reach the mean of many leaves.
    reliability : {None, "epistemic"}, default=None
        "epistemic" multiplies each leaf's log P(y|w)/P(y) by 1 − u_e(w), so that small leaves, which the paper finds
        to weigh most, count for less (its future work, section 6). With more than two classes u_e is that of y
        against the rest.
    temper : float in (0, 1], or None, default=1.0
        β, what a tree is worth as a witness. 1 is the paper's: the trees are independent. They are not, having grown
        from the same rows, and their product is far too sure of itself. None is the rule "tempered" before `fit` has
        chosen β, see :func:`~hedgerow.estimators.fitting.calibration.complete`.
    prior_term : {"log", "plain"}, default="log"
        "log" is the paper's formula, (K − 1)·log P(y) subtracted for K trees. "plain" subtracts (K − 1)·P(y), as the
        code does that its authors published.

    Notes
    -----
    A leaf without counts does not change the posterior.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.rules import Evidence
    >>> Evidence().proba(np.array([[[3.0, 1.0], [40.0, 60.0]]])).round(2)  # two trees
    array([[0.65, 0.35]])
    """

    fold: ClassVar[tuple[Link, Op]] = ("log", "sum")
    correction: float = 0.1
    toward: Toward = "uniform"
    reliability: Literal["epistemic"] | None = None
    temper: float | None = 1.0
    prior_term: Literal["log", "plain"] = "log"

    def __post_init__(self) -> None:
        check_correction("Evidence", self.correction, self.toward, positive=True)
        if self.reliability is not None:
            check_choice("Evidence: reliability", self.reliability, ("epistemic",), "None or 'epistemic'")
        if self.temper is not None:
            check_number("Evidence: temper", self.temper, 0, 1, closed="right", hint=", or None, to be chosen by fit")
        check_choice("Evidence: prior_term", self.prior_term, ("log", "plain"), "'log' or 'plain'")
        if self.prior_term == "plain" and self.temper != 1:
            raise ValueError(f"Evidence: temper is {self.temper!r}, must be 1 with prior_term='plain'")

    @property
    def name(self) -> str:
        if self.prior_term == "plain":
            return "evidence-published"
        return "evidence" if self.temper == 1 else "tempered"

    @property
    def needs_fit(self) -> bool:
        return self.temper is None

    @property
    def before_fit(self) -> Evidence:
        return replace(self, temper=None)

    def table(self, counts: Floats, prior: Floats) -> Floats:
        possible = np.where(prior > 0, prior, 1.0)  # a class without prior and counts: anything, finish leaves it out
        shares = leaf_shares(counts, possible, self.correction, self.toward)
        empty = ~counts.any(axis=1)
        shares[empty] = possible
        shares = np.maximum(shares, np.finfo(np.float64).tiny)  # 0 where a tiny prior meets huge counts
        if self.reliability is None:
            return shares
        doubt = plausibility_degrees(counts, rest(counts)).epistemic
        return possible**doubt * shares ** (1.0 - doubt)

    def finish(self, folded: Floats, n_trees: Any, prior: Floats) -> Floats:
        return softmax(self._log_posterior(folded, n_trees, prior))

    def score(self, folded: Floats, n_trees: Any, prior: Floats) -> Floats:
        """Binary: posterior log-odds; multiclass: log posterior of each class.

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
        logs = self._log_posterior(folded, n_trees, prior)
        if len(prior) != 2:
            return logs - logsumexp(logs, axis=1, keepdims=True)
        return logs[:, 1] - logs[:, 0]

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
        constant = self._log_posterior(np.zeros((1, n_classes)), n_trees, prior)[0]
        slope = 1.0 if self.temper is None else self.temper
        return leads(slope * np.eye(n_classes), np.where(prior > 0, constant, _NEVER), code)

    def additive(self, n_trees: int, prior: Floats) -> Additive:
        """Log-odds of the second of two classes; of more, log-probabilities less their mean over the classes.

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
            If a class has prior 0.
        """
        if not (prior > 0).all():
            raise ValueError(f"{self._title}: class {int(np.argmin(prior))} has prior 0, and log-odds need all above 0")
        n_classes = len(prior)
        centre = np.eye(n_classes) - 1 / n_classes if n_classes != 2 else np.array([[-1.0], [1.0]])
        at_zero = self._log_posterior(np.zeros((1, n_classes)), n_trees, prior)
        slope = 1.0 if self.temper is None else self.temper  # _log_posterior has refused None
        of = "log-odds" if n_classes == 2 else "centred log-probability"
        return Additive(of, slope * centre, (at_zero @ centre)[0], by_class=n_classes != 2)

    def _log_posterior(self, folded: Floats, n_trees: Any, prior: Floats) -> Floats:
        """log P(y) + β·Σ (log P(y|w) − log P(y)), not normalised; "plain": Σ log P(y|w) − (K − 1)·P(y)."""
        if self.temper is None:
            raise ValueError(
                "rule 'tempered' has no temper yet: RandomTreesClassifier and ForestClassifier choose it in fit by "
                "held-out rows; fit with this rule, or set one, such as Evidence(toward='prior', temper=0.1)"
            )
        if self.prior_term == "plain":
            logs = folded + (1.0 - n_trees) * prior
        else:
            log_prior = np.log(np.where(prior > 0, prior, 1.0))
            logs = self.temper * folded + (1.0 - self.temper * n_trees) * log_prior
        return np.where(prior > 0, logs, -np.inf)
