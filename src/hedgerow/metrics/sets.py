"""Metrics of set-valued predictions."""

from __future__ import annotations

import warnings
from typing import Any

from numpy.typing import ArrayLike
from sklearn.exceptions import UndefinedMetricWarning

from hedgerow.credal.utility import REWARDS, set_utilities
from hedgerow.metrics.arguments import least_of_groups, mean, read_memberships, read_sizes

__all__ = [
    *("determinacy", "mean_set_size", "set_accuracy", "set_coverage", "single_accuracy", "size_stratified_coverage"),
    *("u65_score", "u80_score"),
]

U65, U80 = REWARDS["u65"], REWARDS["u80"]


def u65_score(
    y_true: ArrayLike, sets: ArrayLike, *, classes: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """Mean of 1.6/m − 0.6/m² over sets of m classes that contain the true class; other sets count 0.

    From 0 to 1, higher is better. A correct single class scores 1; a correct set of two scores 0.65, more than the 0.5
    of a guess between them, which rewards caution (Zaffalon, Corani and Mauá, 2012). If all sets have one class, it is
    the accuracy.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, or targets.
    sets : bool array-like of shape (n_samples, n_classes)
        Set of each row, from `predict_set`.
    classes : array-like of shape (n_classes,)
        Labels in the order of the columns, `classes_` of the model.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weight of each row; None weighs all alike.

    Returns
    -------
    float
        The mean.

    Raises
    ------
    ValueError
        If sets are not bool of shape (n_samples, n_classes), one is empty, or a label is not in `classes`.

    Examples
    --------
    >>> sets = [[True, False], [True, True], [True, False]]
    >>> from hedgerow.metrics import u65_score
    >>> round(u65_score([0, 1, 1], sets, classes=[0, 1]), 2)  # right, undecided, wrong
    0.55
    """
    return _utility(y_true, sets, classes, sample_weight, U65)


def u80_score(
    y_true: ArrayLike, sets: ArrayLike, *, classes: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """Mean of 2.2/m − 1.2/m² over sets of m classes that contain the true class; other sets count 0.

    From 0 to 1, higher is better. Like :func:`u65_score` with more reward for caution: a correct set of two scores 0.8.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, or targets.
    sets : bool array-like of shape (n_samples, n_classes)
        Set of each row, from `predict_set`.
    classes : array-like of shape (n_classes,)
        Labels in the order of the columns, `classes_` of the model.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weight of each row; None weighs all alike.

    Returns
    -------
    float
        The mean.

    Raises
    ------
    ValueError
        If sets are not bool of shape (n_samples, n_classes), one is empty, or a label is not in `classes`.

    Examples
    --------
    >>> sets = [[True, False], [True, True], [True, False]]
    >>> from hedgerow.metrics import u80_score
    >>> round(u80_score([0, 1, 1], sets, classes=[0, 1]), 2)  # right, undecided, wrong
    0.6
    """
    return _utility(y_true, sets, classes, sample_weight, U80)


def _utility(y_true: Any, sets: Any, classes: Any, sample_weight: Any, reward: float) -> float:
    correct, members, weights = read_memberships(y_true, sets, classes, sample_weight)
    return mean(set_utilities(correct, members.sum(axis=1), reward), weights)


def set_accuracy(
    y_true: ArrayLike, sets: ArrayLike, *, classes: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """Share of sets that contain the true class. From 0 to 1, higher is better; sets of all classes score 1.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, or targets.
    sets : bool array-like of shape (n_samples, n_classes)
        Set of each row, from `predict_set`.
    classes : array-like of shape (n_classes,)
        Labels in the order of the columns, `classes_` of the model.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weight of each row; None weighs all alike.

    Returns
    -------
    float
        The mean.

    Raises
    ------
    ValueError
        If sets are not bool of shape (n_samples, n_classes), one is empty, or a label is not in `classes`.

    Examples
    --------
    >>> sets = [[True, False], [True, True], [True, False]]
    >>> from hedgerow.metrics import set_accuracy
    >>> round(set_accuracy([0, 1, 1], sets, classes=[0, 1]), 2)
    0.67
    """
    correct, _, weights = read_memberships(y_true, sets, classes, sample_weight)
    return mean(correct, weights)


def set_coverage(
    y_true: ArrayLike, sets: ArrayLike, *, classes: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """Share of sets that hold the true class; unlike :func:`set_accuracy` sets may be empty, and then miss it.

    It should be near the coverage that sets were made for.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, or targets.
    sets : bool array-like of shape (n_samples, n_classes)
        Set of each row, from `predict_set`.
    classes : array-like of shape (n_classes,)
        Labels in the order of the columns, `classes_` of the model.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weight of each row; None weighs all alike.

    Returns
    -------
    float
        The share, from 0 to 1.

    Raises
    ------
    ValueError
        If sets are not bool of shape (n_samples, n_classes), or a label is not in `classes`.

    Examples
    --------
    >>> from hedgerow.metrics import set_coverage
    >>> set_coverage(["no", "yes"], [[True, False], [False, False]], classes=["no", "yes"])
    0.5
    """
    correct, _, weights = read_memberships(y_true, sets, classes, sample_weight, may_be_empty=True)
    return mean(correct, weights)


def size_stratified_coverage(
    y_true: ArrayLike, sets: ArrayLike, *, classes: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """Least coverage among sets of the same size, empty ones left out.

    Sets may hold the true class often enough on average, and too rarely where they are small (Angelopoulos, Bates,
    Malik and Jordan, 2021, section 4.4).

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, or targets.
    sets : bool array-like of shape (n_samples, n_classes)
        Set of each row, from `predict_set`.
    classes : array-like of shape (n_classes,)
        Labels in the order of the columns, `classes_` of the model.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weight of each row; None weighs all alike.

    Returns
    -------
    float
        The least share, from 0 to 1.

    Raises
    ------
    ValueError
        If sets are not bool of shape (n_samples, n_classes), or a label is not in `classes`.

    Examples
    --------
    >>> from hedgerow.metrics import set_coverage, size_stratified_coverage
    >>> truth, sets = ["no", "yes", "yes", "no"], [[True, False], [True, False], [True, True], [True, True]]
    >>> set_coverage(truth, sets, classes=["no", "yes"])
    0.75
    >>> size_stratified_coverage(truth, sets, classes=["no", "yes"])  # of the two sets of one class
    0.5
    """
    correct, members, weights = read_memberships(y_true, sets, classes, sample_weight, may_be_empty=True)
    size = members.sum(axis=1)
    if not weights[size > 0].any():
        return 0.0
    return least_of_groups(correct[size > 0], weights[size > 0], size[size > 0])


def single_accuracy(
    y_true: ArrayLike, sets: ArrayLike, *, classes: ArrayLike, sample_weight: ArrayLike | None = None
) -> float:
    """Accuracy on the rows whose set has one class. From 0 to 1, higher is better.

    NaN, with scikit-learn's ``UndefinedMetricWarning``, if there is no such row.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels, or targets.
    sets : bool array-like of shape (n_samples, n_classes)
        Set of each row, from `predict_set`.
    classes : array-like of shape (n_classes,)
        Labels in the order of the columns, `classes_` of the model.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weight of each row; None weighs all alike.

    Returns
    -------
    float
        The accuracy, or NaN.

    Raises
    ------
    ValueError
        If sets are not bool of shape (n_samples, n_classes), one is empty, or a label is not in `classes`.

    Examples
    --------
    >>> sets = [[True, False], [True, True], [True, False]]
    >>> from hedgerow.metrics import single_accuracy
    >>> single_accuracy([0, 1, 1], sets, classes=[0, 1])
    0.5
    """
    correct, members, weights = read_memberships(y_true, sets, classes, sample_weight)
    single = members.sum(axis=1) == 1
    if not weights[single].any():
        warnings.warn("single_accuracy is not defined: no set has a single class", UndefinedMetricWarning, stacklevel=2)
        return float("nan")
    return mean(correct[single], weights[single])


def determinacy(
    y_true: ArrayLike | None,
    sets: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Share of sets with one class, from 0 to 1; higher is more informative, whether correct or not.

    `y_true` and `classes` are checked but not used; both may be None.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or None
        True labels; they are not looked at.
    sets : bool array-like of shape (n_samples, n_classes)
        Set of each row, from `predict_set`.
    classes : array-like of shape (n_classes,), default=None
        Labels in the order of the columns, `classes_` of the model.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weight of each row; None weighs all alike.

    Returns
    -------
    float
        The share or mean.

    Raises
    ------
    ValueError
        If sets are not bool of shape (n_samples, n_classes), or one is empty.

    Examples
    --------
    >>> sets = [[True, False], [True, True], [True, False]]
    >>> from hedgerow.metrics import determinacy
    >>> round(determinacy([0, 1, 1], sets), 2)
    0.67
    """
    found, weights = read_sizes(y_true, sets, classes, sample_weight)
    return mean(found.sum(axis=1) == 1, weights)


def mean_set_size(
    y_true: ArrayLike | None,
    sets: ArrayLike,
    *,
    classes: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Mean number of classes in a set, from 1 to n_classes; lower is more informative, whether correct or not.

    `y_true` and `classes` are checked but not used; both may be None.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or None
        True labels; they are not looked at.
    sets : bool array-like of shape (n_samples, n_classes)
        Set of each row, from `predict_set`.
    classes : array-like of shape (n_classes,), default=None
        Labels in the order of the columns, `classes_` of the model.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weight of each row; None weighs all alike.

    Returns
    -------
    float
        The share or mean.

    Raises
    ------
    ValueError
        If sets are not bool of shape (n_samples, n_classes), or one is empty.

    Examples
    --------
    >>> from hedgerow.metrics import mean_set_size
    >>> mean_set_size(None, [[True, False], [True, True]])
    1.5
    """
    found, weights = read_sizes(y_true, sets, classes, sample_weight)
    return mean(found.sum(axis=1), weights)
