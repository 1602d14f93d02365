"""Distances, projections and separators of a fitted tree, as functions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from hedgerow._arrays import Floats
from hedgerow._params import is_whole
from hedgerow.boundary.decision_boundary import DecisionBoundary, Separators
from hedgerow.boundary.scales import check_scale
from hedgerow.exchange import from_sklearn
from hedgerow.forest.forest import Forest

__all__ = ["algebraic_distance", "boundary_of", "nearest_separator", "project"]

_ACCEPTED = "a fitted TreeClassifier, one of scikit-learn's decision trees or extra trees, or a Forest of one tree"


def algebraic_distance(
    tree: Any, X: Any, target: int, *, scale: ArrayLike | None = None, n_jobs: int | None = None
) -> Floats:
    """Distance of each row from the region where a tree predicts a class, (n,); negative inside the region.

    Alvarez, Bernard and Deffuant, Keep the Decision Tree and Estimate the Class Probabilities Using its Decision
    Boundary (2007), definitions 1 and 2 and algorithms 1 and 2, exactly, for any number of classes.

    Parameters
    ----------
    tree : classifier or Forest
        A fitted TreeClassifier, one of scikit-learn's trees, or a :class:`~hedgerow.Forest` of one tree, whose leaves
        have their majority class, the first of ties.
    X : array-like or frame of shape (n_samples, n_features)
        Rows, as the tree takes them; for a Forest a float64 array of numbers and codes.
    target : int
        The class's position in `classes_`.
    scale : array-like of shape (n_features,) or None, default=None
        Unit of each column: distances are Euclidean in x/scale. A change of category has length 1/scale. None is 1
        everywhere.
    n_jobs : int or None, default=None
        Number of threads; None is 1, -1 all cores. Results do not depend on it.

    Returns
    -------
    distance : ndarray of shape (n,)
        +∞ for a class that labels no leaf, -∞ for one that labels all. For a row with missing values that is in several
        leaves, the weighted mean of the finite distances.

    Examples
    --------
    >>> from hedgerow.forest import build_forest, leaf, threshold
    >>> above = threshold(1, 0.0, leaf([3, 0]), leaf([0, 5]))
    >>> tree = build_forest([threshold(0, 2.0, leaf([9, 1]), above)], n_features=2)
    >>> from hedgerow.boundary import algebraic_distance
    >>> algebraic_distance(tree, [[1.0, 1.0], [5.0, 4.0], [5.0, -2.0]], target=1)
    array([ 1., -3.,  2.])
    """
    boundary, rows = boundary_of(tree), read_rows(tree, X)
    return boundary.measure(rows, _scale(scale, boundary), _class(target, boundary), n_jobs).of_rows()[:, 0]


def nearest_separator(
    tree: Any, X: Any, *, target: int | None = None, scale: ArrayLike | None = None, n_jobs: int | None = None
) -> Separators:
    """Separator between each row and the nearest leaf of another class: a column and a threshold.

    Of the splits that a row has to cross on the way there, the one with the largest |x_u − b|/scale_u (section 5.1 of
    the paper: the separator with the largest margin); ties go to the first column. With `target`, the path into, or out
    of, the region of this class.

    Parameters
    ----------
    tree : fitted tree
        A tree of this package, or a supported one of another library.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows.
    target : int or None, default=None
        Position of a class in `classes_`.
    scale : array-like of shape (n_features,) or None, default=None
        Unit of each column; None is 1 for all.
    n_jobs : int or None, default=None
        Number of threads; None is 1, -1 all cores. Results do not depend on it.

    Returns
    -------
    feature : int ndarray of shape (n_samples,)
        Column of the separator; -1 where there is nothing to cross; -2 for an oblique split.
    threshold : float ndarray of shape (n_samples,)
        Its threshold; NaN for a change of category.

    Notes
    -----
    A row in several leaves counts by its largest fraction.

    Examples
    --------
    >>> from hedgerow.boundary import nearest_separator
    >>> from hedgerow.forest import build_forest, leaf, threshold
    >>> above = threshold(1, 0.0, leaf([3, 0]), leaf([0, 5]))
    >>> tree = build_forest([threshold(0, 2.0, leaf([9, 1]), above)], n_features=2)
    >>> nearest_separator(tree, [[1.0, 1.0], [5.0, 2.0]])
    Separators(feature=array([0, 1], dtype=int32), threshold=array([2., 0.]))
    """
    boundary, rows = boundary_of(tree), read_rows(tree, X)
    wanted = None if target is None else _class(target, boundary)
    nearest = boundary.measure(rows, _scale(scale, boundary), wanted, n_jobs)
    return boundary.crossed(nearest, None if target is None else 0)


def project(tree: Any, X: Any, target: int, *, scale: ArrayLike | None = None, n_jobs: int | None = None) -> Floats:
    """Project each row onto the boundary of the region of a class, from outside or inside, (n, n_features).

    Numbers that have to change end at their threshold. A category that has to change becomes the first (by its code)
    that leads there. Rows without a nearest leaf, and missing values, stay as they are. Parameters are those of
    :func:`algebraic_distance`.

    Parameters
    ----------
    tree : fitted tree
        A tree of this package, or a supported one of another library.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows.
    target : int
        Position of a class in `classes_`.
    scale : array-like of shape (n_features,) or None, default=None
        Unit of each column; None is 1 for all.
    n_jobs : int or None, default=None
        Number of threads; None is 1, -1 all cores. Results do not depend on it.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        A copy of the rows, each moved to the nearest point of the boundary.

    Examples
    --------
    >>> from hedgerow.forest import build_forest, leaf, threshold
    >>> above = threshold(1, 0.0, leaf([3, 0]), leaf([0, 5]))
    >>> tree = build_forest([threshold(0, 2.0, leaf([9, 1]), above)], n_features=2)
    >>> from hedgerow.boundary import project
    >>> project(tree, [[1.0, -1.0]], target=1)
    array([[2., 0.]])
    """
    boundary, rows = boundary_of(tree), read_rows(tree, X)
    nearest = boundary.measure(rows, _scale(scale, boundary), _class(target, boundary), n_jobs)
    return boundary.points(rows, nearest, 0)[nearest.fractions.heaviest]


def boundary_of(tree: Any, labels: NDArray[np.int32] | None = None) -> DecisionBoundary:
    """Read the decision boundary of a tree of this package or of scikit-learn."""
    if isinstance(tree, Forest):
        return DecisionBoundary.of(tree, labels=labels)
    forest = getattr(tree, "forest_", None)
    if isinstance(forest, Forest):
        return DecisionBoundary.of(forest, labels=labels, n_categories=tree.schema_.n_categories)
    if not hasattr(tree, "tree_"):
        raise TypeError(f"tree is {tree!r}, must be {_ACCEPTED}")
    # scikit-learn rounds rows to float32: routing uses the equivalent float64 thresholds, distances those it displays.
    return DecisionBoundary.of(from_sklearn(tree), shape=from_sklearn(tree, widen=False), labels=labels)


def read_rows(tree: Any, X: Any) -> Floats:
    """Convert X as the tree's estimator does; for a Forest or scikit-learn's trees, to float64."""
    if hasattr(tree, "schema_"):
        return tree.schema_.read(X, estimator=tree)
    return np.ascontiguousarray(check_array(X, dtype=np.float64, ensure_all_finite="allow-nan", input_name="X"))


def _class(target: Any, boundary: DecisionBoundary) -> int:
    if not is_whole(target) or not 0 <= int(target) < boundary.n_classes:
        raise ValueError(
            f"target is {target!r}, must be the position of a class in classes_, 0 .. {boundary.n_classes - 1}"
        )
    return int(target)


def _scale(scale: ArrayLike | None, boundary: DecisionBoundary) -> Floats:
    n_features = boundary.forest.n_features
    return np.ones(n_features) if scale is None else check_scale("scale", scale, n_features)
