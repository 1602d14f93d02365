"""Nonconformity scores of numbers: how far a target is outside what was predicted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hedgerow._params import check_number, choose
from hedgerow._registry import register

__all__ = ["AbsoluteError", "Cqr", "NormalizedError", "NumberScore", "number_score"]

Floats = NDArray[np.float64]
Answers = Mapping[str, NDArray[Any]]
"""Answers by verb; of an uncertainty its total."""


class NumberScore(ABC):
    """An interval around each prediction, and the unit in which its ends move until coverage is as promised.

    Examples
    --------
    The classes that come with the library differ in what they ask of the model:

    >>> from hedgerow.conformal import AbsoluteError, Cqr
    >>> AbsoluteError().verbs(0.05, 0.95)
    {'predict': {}}
    >>> Cqr().verbs(0.05, 0.95)
    {'predict_quantiles': {'q': (0.05, 0.95)}}
    """

    is_centred: ClassVar[bool] = True
    """Whether both ends are the same prediction before calibration."""

    @abstractmethod
    def verbs(self, low: float, high: float) -> dict[str, dict[str, Any]]:
        """Verbs that are asked of the model, with their arguments; the ends are to be near these quantiles.

        Parameters
        ----------
        low : float
            Level of the lower end.
        high : float
            Level of the upper end.

        Returns
        -------
        dict of str to dict
            Keyword arguments of each verb, by its name.
        """

    @abstractmethod
    def ends(self, answers: Answers) -> Floats:
        """Ends before calibration, (n, 2).

        Parameters
        ----------
        answers : Answers
            Answers of the model to the verbs, a row for each row.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Lower and upper end of each row.
        """

    def scale(self, answers: Answers) -> float:
        """Number that `unit` needs to know of all answers of a model.

        Parameters
        ----------
        answers : Answers
            Answers of the model to the verbs, a row for each row.

        Returns
        -------
        float
            The number, 1 where `unit` needs none.
        """
        return 1.0

    def unit(self, answers: Answers, scale: float) -> Floats:
        """Positive unit of each row, (n,), in which its ends move.

        Parameters
        ----------
        answers : Answers
            Answers of the model to the verbs, a row for each row.
        scale : float
            What `scale` has found in all answers.

        Returns
        -------
        ndarray of shape (n_samples,)
            Units, above 0.
        """
        return np.ones(len(next(iter(answers.values()))))

    def scores(self, answers: Answers, targets: Floats, unit: Floats) -> Floats:
        """How many units each end must move outwards to reach the target, (n, 2); negative inside.

        Parameters
        ----------
        answers : Answers
            Answers of the model to the verbs, a row for each row.
        targets : array of shape (n_samples,)
            True numbers.
        unit : array of shape (n_samples,)
            Unit of each row, from `unit`.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Scores of the lower and of the upper end.
        """
        ends = self.ends(answers)
        found: Floats = np.stack([ends[:, 0] - targets, targets - ends[:, 1]], axis=1) / unit[:, np.newaxis]
        return found


@partial(register, name="hedgerow.conformal.AbsoluteError")
@dataclass(frozen=True)
class AbsoluteError(NumberScore):
    """|y − ŷ|: intervals of the same width for all rows (Lei et al., 2018, section 2.2).

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hedgerow import ConformalRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> from hedgerow.conformal import AbsoluteError
    >>> model = ConformalRegressor(conformity_score=AbsoluteError()).fit(X[:300], y[:300])
    >>> model.predict_interval(X[300:302]).shape
    (2, 2)
    """

    def verbs(self, low: float, high: float) -> dict[str, dict[str, Any]]:
        return {"predict": {}}

    def ends(self, answers: Answers) -> Floats:
        found: Floats = np.asarray(answers["predict"], dtype=np.float64)
        return np.stack([found, found], axis=1)


@partial(register, name="hedgerow.conformal.NormalizedError")
@dataclass(frozen=True)
class NormalizedError(NumberScore):
    """|y − ŷ|/(u/ū + `floor`): wider where `predict_uncertainty` u is larger, ū its mean over rows.

    Papadopoulos, Gammerman and Vovk, Normalized nonconformity measures for regression conformal prediction, 2008. The
    floor keeps rows whose leaves happen to agree from very narrow intervals, and others from very wide ones. Of models
    of several folds each u is in units of the model's own mean: one that is pruned less is not more sure.

    Parameters
    ----------
    floor : float, default=0.5
        Added to the uncertainty, in units of its mean, so that no interval has no width.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hedgerow import ConformalRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> from hedgerow.conformal import NormalizedError
    >>> model = ConformalRegressor(conformity_score=NormalizedError()).fit(X[:300], y[:300])
    >>> model.predict_interval(X[300:302]).shape
    (2, 2)
    """

    floor: float = 0.5

    def __post_init__(self) -> None:
        check_number("NormalizedError: floor", self.floor)

    def verbs(self, low: float, high: float) -> dict[str, dict[str, Any]]:
        return {"predict": {}, "predict_uncertainty": {}}

    def ends(self, answers: Answers) -> Floats:
        return AbsoluteError().ends(answers)

    def scale(self, answers: Answers) -> float:
        return float(_total(answers).mean())

    def unit(self, answers: Answers, scale: float) -> Floats:
        total = _total(answers)
        return (total / scale if scale > 0 else np.ones(len(total))) + self.floor


@partial(register, name="hedgerow.conformal.Cqr")
@dataclass(frozen=True)
class Cqr(NumberScore):
    """max(q̂_lo − y, y − q̂_hi): the model's own quantiles, moved until coverage is as promised.

    Romano, Patterson and Candès, Conformalized Quantile Regression, 2019, equation 6.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from hedgerow import ConformalRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> from hedgerow.conformal import Cqr
    >>> model = ConformalRegressor(conformity_score=Cqr()).fit(X[:300], y[:300])
    >>> model.predict_interval(X[300:302]).shape
    (2, 2)
    """

    is_centred: ClassVar[bool] = False

    def verbs(self, low: float, high: float) -> dict[str, dict[str, Any]]:
        return {"predict_quantiles": {"q": (low, high)}}

    def ends(self, answers: Answers) -> Floats:
        found: Floats = np.asarray(answers["predict_quantiles"], dtype=np.float64)
        return found


def _total(answers: Answers) -> Floats:
    """Total uncertainty of each row."""
    found: Floats = np.asarray(answers["predict_uncertainty"], dtype=np.float64)
    return found


_ALIASES = {"absolute": AbsoluteError(), "normalized": NormalizedError(), "cqr": Cqr()}


def number_score(score: Any) -> NumberScore:
    """Return the score for an alias, or an instance as it is.

    Parameters
    ----------
    score : str or an instance
        Name of the score, or the score itself.

    Returns
    -------
    NumberScore
        The score.

    Examples
    --------
    >>> from hedgerow.conformal import number_score
    >>> number_score("cqr")
    Cqr()
    """
    found: NumberScore = choose("conformity_score", score, _ALIASES, (NumberScore,))
    return found
