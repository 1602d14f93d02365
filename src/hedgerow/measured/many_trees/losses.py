"""Losses of boosting: where it starts, what each stage fits by least squares, and how a region steps.

A stage sees the quadratic function that touches the loss at the answers so far: each row asks for a step, and how much
it counts is the curvature there (Friedman, Greedy function approximation: a gradient boosting machine, 2001; Friedman,
Hastie and Tibshirani, Additive logistic regression, 2000). Where a loss has no curvature, the gradient finds the
regions, and each takes the step that suits its rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_softmax, softmax

from hedgerow._params import check_number, choose
from hedgerow._registry import register

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["LogLoss", "Loss", "NumberLoss", "Pinball", "SquaredError", "number_loss"]

Floats = NDArray[np.float64]

_LEAST_CURVATURE = 0.01  # of p(1 − p): a row that is wrongly sure asks for a step of at most 100
_ROUNDING = 1e-9


class Loss(ABC):
    """Abstract: targets and answers are (n, n_outputs)."""

    @abstractmethod
    def start(self, targets: Floats, weight: Floats) -> Floats:
        """Best constant answer, (n_outputs,)."""

    @abstractmethod
    def quadratic(self, targets: Floats, answers: Floats) -> tuple[Floats, Floats]:
        """Step that each row asks for, (n, n_outputs), and the weight of its squared distance from it, (n,)."""

    @abstractmethod
    def of_rows(self, targets: Floats, answers: Floats) -> Floats:
        """Loss of each row, (n,)."""

    def steps(self, shares: csr_array, residuals: Floats, weight: Floats, solved: Floats) -> Floats:
        """Step of each region, (k, n_outputs).

        `shares` are the rows' memberships, (n, k), `residuals` what their answers lack, (n, n_outputs), and `solved`
        the steps of least squares on :meth:`quadratic`.

        Parameters
        ----------
        shares : sparse array of shape (n, k)
            Membership of each row in each region.
        residuals : array of shape (n, n_outputs)
            What is left of the targets.
        weight : array of shape (n,)
            Weight of each row.
        solved : array of shape (k, n_outputs)
            Step of least squares of each region.

        Returns
        -------
        ndarray of shape (k, n_outputs)
            Steps.
        """
        return solved

    def mean(self, targets: Floats, answers: Floats, weight: Floats) -> float:
        """Weighted mean loss.

        Parameters
        ----------
        targets : array of shape (n,)
            True answers.
        answers : array of shape (n, n_outputs)
            Answers before the step.
        weight : array of shape (n,)
            Weight of each row.

        Returns
        -------
        float
            The mean.
        """
        return float(np.average(self.of_rows(targets, answers), weights=weight))


class NumberLoss(Loss):
    """Abstract: a loss of numbers."""


@dataclass(frozen=True)
class SquaredError(NumberLoss):
    """(y − f)²: the answer is a mean.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.measured import SquaredError
    >>> SquaredError().start(np.array([[1.0], [2.0], [6.0]]), np.ones(3))
    array([3.])
    """

    def start(self, targets: Floats, weight: Floats) -> Floats:
        """The best constant answer.

        Parameters
        ----------
        targets : array of shape (n,)
            True answers.
        weight : array of shape (n,)
            Weight of each row.

        Returns
        -------
        ndarray of shape (n_outputs,)
            The constant.
        """
        return np.average(targets, axis=0, weights=weight)

    def quadratic(self, targets: Floats, answers: Floats) -> tuple[Floats, Floats]:
        """Gradient and curvature of the loss at each answer.

        Parameters
        ----------
        targets : array of shape (n,)
            True answers.
        answers : array of shape (n, n_outputs)
            Answers before the step.

        Returns
        -------
        tuple of two ndarrays
            Step that each row asks for, of shape (n, n_outputs), and its weight, of shape (n,).
        """
        return targets - answers, np.ones(len(targets))

    def of_rows(self, targets: Floats, answers: Floats) -> Floats:
        """Loss of each row.

        Parameters
        ----------
        targets : array of shape (n,)
            True answers.
        answers : array of shape (n, n_outputs)
            Answers before the step.

        Returns
        -------
        ndarray of shape (n,)
            Losses.
        """
        losses: Floats = ((targets - answers) ** 2)[:, 0]
        return losses


@dataclass(frozen=True)
class Pinball(NumberLoss):
    """level·(y − f) where y is above f, (1 − level)·(f − y) below: the answer is the quantile of this level.

    At level ½ it is half the absolute error, and the answer a median.

    Parameters
    ----------
    level : float, default=0.5
        Level of the quantile, between 0 and 1.

    Examples
    --------
    >>> from hedgerow import MeasuredBoostingRegressor
    >>> from hedgerow.measured import Pinball
    >>> model = MeasuredBoostingRegressor(0.1, loss=Pinball(0.9), n_estimators=5)
    >>> model.fit([[1.0], [2.0], [3.0], [4.0]] * 20, list(range(80))).predict([[2.5]]).shape
    (1,)
    """

    level: float = 0.5

    def __post_init__(self) -> None:
        check_number("Pinball: level", self.level, 0, 1, hint=", for example 0.9")

    def start(self, targets: Floats, weight: Floats) -> Floats:
        """The best constant answer.

        Parameters
        ----------
        targets : array of shape (n,)
            True answers.
        weight : array of shape (n,)
            Weight of each row.

        Returns
        -------
        ndarray of shape (n_outputs,)
            The constant.
        """
        return np.array([weighted_quantile(targets[:, 0], weight, self.level)])

    def quadratic(self, targets: Floats, answers: Floats) -> tuple[Floats, Floats]:
        """Gradient and curvature of the loss at each answer.

        Parameters
        ----------
        targets : array of shape (n,)
            True answers.
        answers : array of shape (n, n_outputs)
            Answers before the step.

        Returns
        -------
        tuple of two ndarrays
            Step that each row asks for, of shape (n, n_outputs), and its weight, of shape (n,).
        """
        return np.where(targets > answers, self.level, self.level - 1.0), np.ones(len(targets))

    def of_rows(self, targets: Floats, answers: Floats) -> Floats:
        """Loss of each row.

        Parameters
        ----------
        targets : array of shape (n,)
            True answers.
        answers : array of shape (n, n_outputs)
            Answers before the step.

        Returns
        -------
        ndarray of shape (n,)
            Losses.
        """
        off = (targets - answers)[:, 0]
        return np.where(off > 0, self.level * off, (self.level - 1.0) * off)

    def steps(self, shares: csr_array, residuals: Floats, weight: Floats, solved: Floats) -> Floats:
        """Quantile of the residuals in each region, weighted by membership.

        Parameters
        ----------
        shares : sparse array of shape (n, k)
            Membership of each row in each region.
        residuals : array of shape (n, n_outputs)
            What is left of the targets.
        weight : array of shape (n,)
            Weight of each row.
        solved : array of shape (k, n_outputs)
            Step of least squares of each region.

        Returns
        -------
        ndarray of shape (k, n_outputs)
            Steps.
        """
        columns = shares.tocsc()
        found = np.zeros_like(solved)
        for region, (first, last) in enumerate(zip(columns.indptr[:-1], columns.indptr[1:], strict=True)):
            rows = columns.indices[first:last]
            if len(rows):
                inside = columns.data[first:last] * weight[rows]
                found[region, 0] = weighted_quantile(residuals[rows, 0], inside, self.level)
        return found


@dataclass(frozen=True)
class LogLoss(Loss):
    """−log P(class), with indicators of the classes as targets; of two classes those of the second alone.

    Answers are logits. Steps are Newton's for two classes; for more the curvature is 2·max p(1 − p), which bounds the
    eigenvalues of the Hessian matrix diag(p) − ppᵀ (Gershgorin: the absolute values in row k add up to 2·p_k(1 − p_k)),
    so that one tree steps all of them. It is scaled to 1 where p = ½.
    """

    n_classes: int

    def targets(self, codes: NDArray[np.int32]) -> Floats:
        """Targets of rows of these classes."""
        indicators = np.eye(self.n_classes)[codes]
        return indicators[:, 1:] if self.n_classes == 2 else indicators

    def probabilities(self, answers: Floats) -> Floats:
        """Class probabilities, (n, n_classes)."""
        if self.n_classes == 2:
            second = expit(answers[:, 0])
            return np.stack([1.0 - second, second], axis=1)
        shares: Floats = softmax(answers, axis=1)
        return shares

    def start(self, targets: Floats, weight: Floats) -> Floats:
        shares = np.clip(np.average(targets, axis=0, weights=weight), 1e-12, 1.0)
        if self.n_classes == 2:
            shares = np.minimum(shares, 1 - 1e-12)
            return np.log(shares) - np.log1p(-shares)
        logs = np.log(shares)
        centred: Floats = logs - logs.mean()
        return centred

    def quadratic(self, targets: Floats, answers: Floats) -> tuple[Floats, Floats]:
        shares = expit(answers) if self.n_classes == 2 else softmax(answers, axis=1)
        curvature = np.maximum((shares * (1.0 - shares)).max(axis=1), _LEAST_CURVATURE)
        bound = curvature if self.n_classes == 2 else 2 * curvature
        return (targets - shares) / bound[:, np.newaxis], 4 * curvature

    def of_rows(self, targets: Floats, answers: Floats) -> Floats:
        if self.n_classes == 2:
            losses: Floats = np.logaddexp(0.0, np.where(targets > 0, -answers, answers))[:, 0]
            return losses
        logs: Floats = -(targets * log_softmax(answers, axis=1)).sum(axis=1)
        return logs


_ALIASES: dict[str, NumberLoss] = {"squared_error": SquaredError(), "absolute_error": Pinball(0.5)}
for _loss in (SquaredError, Pinball):
    register(_loss, name=f"hedgerow.measured.{_loss.__name__}")


def number_loss(given: Any) -> NumberLoss:
    """Loss for an alias or an instance."""
    chosen: NumberLoss = choose("loss", given, _ALIASES, (NumberLoss,), ", for example measured.Pinball(0.9)")
    return chosen


def weighted_quantile(values: Floats, weight: Floats, level: float) -> float:
    """Smallest value that at least `level` of the weight is at or below."""
    order = np.argsort(values, kind="stable")
    reached = weight[order].cumsum()
    at = np.searchsorted(reached, level * reached[-1] * (1.0 - _ROUNDING))
    return float(values[order[min(int(at), len(values) - 1)]])
