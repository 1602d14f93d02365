"""Nonconformity scores of classes: how strange each class would be as the answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hedgerow._params import check_number, check_whole, choose
from hedgerow._registry import register

__all__ = ["Aps", "ClassScore", "CredalBounds", "Lac", "Raps", "class_score"]

Floats = NDArray[np.float64]


class ClassScore(ABC):
    """Strangeness of each class, from what a model says about a row. Subclass it for a score of your own.

    Examples
    --------
    A score of the square of the class's own probability:

    >>> import numpy as np
    >>> from hedgerow.conformal import ClassScore
    >>> class Squared(ClassScore):
    ...     verb = "predict_proba"
    ...
    ...     def scores(self, answers, draws=None):
    ...         return 1.0 - answers**2
    >>> Squared().scores(np.array([[0.5, 0.5], [0.9, 0.1]])).round(2)
    array([[0.75, 0.75],
           [0.19, 0.99]])
    """

    verb: ClassVar[str] = "predict_proba"
    """Verb whose answers the score is computed from: "predict_proba" or "predict_bounds"."""
    is_randomized: ClassVar[bool] = False
    """Whether sets are randomized unless the estimator says otherwise: without, many scores are tied."""

    @abstractmethod
    def scores(self, answers: Floats, draws: Floats | None = None) -> Floats:
        """Score of each class, (n, n_classes), the larger the stranger, from the answers of `verb`.

        `draws`, (n,), are uniform in (0, 1) where randomized sets are asked for.

        Parameters
        ----------
        answers : array
            Answers of the model to the verbs, a row for each row.
        draws : array of shape (n_samples,) or None, default=None
            Random number of each row that breaks ties; None breaks none.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Scores.
        """


@partial(register, name="hedgerow.conformal.Lac")
@dataclass(frozen=True)
class Lac(ClassScore):
    """1 − p(y|x): the smallest sets on average (Sadinle, Lei and Wasserman, Least Ambiguous Set-Valued Classifiers
    with Bounded Error Levels, 2019).

    >>> import numpy as np
    >>> from hedgerow.conformal import Lac
    >>> Lac().scores(np.array([[0.75, 0.25]]))
    array([[0.25, 0.75]])
    """

    def scores(self, answers: Floats, draws: Floats | None = None) -> Floats:
        return 1.0 - answers


@partial(register, name="hedgerow.conformal.Aps")
@dataclass(frozen=True)
class Aps(ClassScore):
    """Sum of the probabilities of all classes that are at least as probable, itself included.

    Larger sets where a row is harder, so that coverage varies less over easy and hard rows (Romano, Sesia and Candès,
    Classification with Valid and Adaptive Coverage, 2020, equations 5 to 7, with u = 0 where sets are not randomized:
    then the least probable class of every row has the score 1, and coverage is too high).

    >>> import numpy as np
    >>> from hedgerow.conformal import Aps
    >>> Aps().scores(np.array([[0.5, 0.125, 0.375]]))
    array([[0.5  , 1.   , 0.875]])
    """

    is_randomized: ClassVar[bool] = True

    def scores(self, answers: Floats, draws: Floats | None = None) -> Floats:
        upto, own, _ = _ranked(answers)
        return upto if draws is None else upto - draws[:, np.newaxis] * own


@partial(register, name="hedgerow.conformal.Raps")
@dataclass(frozen=True)
class Raps(ClassScore):
    """APS, and `penalty` for every class beyond the first `free` ones: no long tails of improbable classes.

    Angelopoulos, Bates, Malik and Jordan, Uncertainty Sets for Image Classifiers using Conformal Prediction, 2021,
    equation 4, with λ = `penalty` and k_reg = `free`.

    Parameters
    ----------
    penalty : float, default=0.1
        Penalty on each class beyond the first `free` ones.
    free : int, default=1
        Number of classes without a penalty.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from hedgerow import ConformalClassifier
    >>> from hedgerow.conformal import Raps
    >>> model = ConformalClassifier(conformity_score=Raps(), random_state=0).fit(X, y)
    >>> model.predict_set(X[:1])
    array([[ True, False, False]])
    """

    is_randomized: ClassVar[bool] = True

    penalty: float = 0.1
    free: int = 1

    def __post_init__(self) -> None:
        check_number("Raps: penalty", self.penalty, closed="left")
        check_whole("Raps: free", self.free, 0)

    def scores(self, answers: Floats, draws: Floats | None = None) -> Floats:
        upto, own, rank = _ranked(answers)
        sums = upto if draws is None else upto - draws[:, np.newaxis] * own
        return sums + self.penalty * np.maximum(rank - self.free, 0)


@partial(register, name="hedgerow.conformal.CredalBounds")
@dataclass(frozen=True)
class CredalBounds(ClassScore):
    """How far another class dominates: the largest lower bound of the others less the class's own upper bound.

    At a threshold of 0 the set is that of interval dominance; calibration moves it to where coverage is as promised, so
    that caution and coverage are one answer. Needs a model whose `predict_bounds` are bounds on each class.

    >>> import numpy as np
    >>> from hedgerow.conformal import CredalBounds
    >>> CredalBounds().scores(np.array([[[0.5, 0.75], [0.25, 0.375]]]))
    array([[-0.5  ,  0.125]])
    """

    verb: ClassVar[str] = "predict_bounds"

    def scores(self, answers: Floats, draws: Floats | None = None) -> Floats:
        lower, upper = answers[..., 0], answers[..., 1]
        if lower.shape[1] == 1:
            return -upper
        at = np.arange(len(lower)), lower.argmax(axis=1)
        largest = lower[at]
        others = lower.copy()
        others[at] = -np.inf
        best_other = np.repeat(largest[:, np.newaxis], lower.shape[1], axis=1)
        best_other[at] = others.max(axis=1)
        found: Floats = best_other - upper
        return found


def _ranked(probabilities: Floats) -> tuple[Floats, Floats, NDArray[np.intp]]:
    """Of each class: the sum over classes at least as probable, the part of equally probable ones, and their number.

    Equally probable classes are one, so that the order of the classes has no influence.
    """
    n_classes = probabilities.shape[1]
    order = np.argsort(-probabilities, axis=1, kind="stable")
    ranked = np.take_along_axis(probabilities, order, axis=1)
    upto = np.cumsum(ranked, axis=1)
    rank = np.broadcast_to(np.arange(1, n_classes + 1), upto.shape).copy()
    own = ranked.copy()
    for at in range(n_classes - 2, -1, -1):  # of ties the last has them all
        tied = ranked[:, at] == ranked[:, at + 1]
        upto[tied, at], rank[tied, at] = upto[tied, at + 1], rank[tied, at + 1]
    for at in range(1, n_classes):
        tied = ranked[:, at] == ranked[:, at - 1]
        own[tied, at] += own[tied, at - 1]
    for at in range(n_classes - 2, -1, -1):
        tied = ranked[:, at] == ranked[:, at + 1]
        own[tied, at] = own[tied, at + 1]
    found = np.empty_like(upto), np.empty_like(own), np.empty_like(rank)
    for out, sorted_values in zip(found, (upto, own, rank), strict=True):
        np.put_along_axis(out, order, sorted_values, axis=1)
    return found


_ALIASES = {"lac": Lac(), "aps": Aps(), "raps": Raps(), "bounds": CredalBounds()}


def class_score(score: Any) -> ClassScore:
    """Return the score for an alias, or an instance as it is.

    Parameters
    ----------
    score : str or an instance
        Name of the score, or the score itself.

    Returns
    -------
    ClassScore
        The score.

    Examples
    --------
    >>> from hedgerow.conformal import class_score
    >>> class_score("raps")
    Raps(penalty=0.1, free=1)
    """
    found: ClassScore = choose("conformity_score", score, _ALIASES, (ClassScore,))
    return found
