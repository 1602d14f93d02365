"""Distances, projections and separators of a fitted tree, without an estimator around it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from hedgerow._params import is_whole
from hedgerow.boundary.scales import check_scale
from hedgerow.boundary.walls import Separators, Walls
from hedgerow.exchange import from_sklearn
from hedgerow.forest.forest import Forest

__all__ = ["algebraic_distance", "nearest_separator", "project", "walls_of"]

Floats = NDArray[np.float64]

_ACCEPTED = "a fitted TreeClassifier, one of scikit-learn's decision trees or extra trees, or a Forest of one tree"


def algebraic_distance(
    tree: Any, X: Any, target: int, *, scale: ArrayLike | None = None, n_jobs: int | None = None
) -> Floats:
    """How far each row is from the area in which a tree answers with a class, (n,); negative inside of it.

    Alvarez, Bernard and Deffuant, Keep the Decision Tree and Estimate the Class Probabilities Using its Decision
    Boundary (2007), definitions 1 and 2 and algorithms 1 and 2, exactly, for any number of classes.

    Parameters
    ----------
    tree : classifier or Forest
        A fitted TreeClassifier, one of scikit-learn's trees, or a :class:`~hedgerow.Forest` of one tree. Its leaves
        have the class of most of their counts, the first of equals.
    X : table
        As the tree takes it; for a Forest, float64.
    target : int
        The class's position in `classes_`.
    scale : array-like of shape (n_features,) or None
        What one step is in each column: distances are Euclidean in x/scale. A change of category is as long as
        1/scale. None is 1 everywhere.
    n_jobs : int or None
        Threads; the same bits for any number.

    Returns
    -------
    distance : ndarray of shape (n,)
        +∞ for a class that labels no leaf, -∞ for one that labels all. For a row with missing values that is in several
        leaves, the weighted mean over those from which there is a way.

    Examples
    --------
    >>> from hedgerow.forest.build import build_forest, leaf, threshold
    >>> above = threshold(1, 0.0, leaf([3, 0]), leaf([0, 5]))
    >>> tree = build_forest([threshold(0, 2.0, leaf([9, 1]), above)], n_features=2)
    >>> algebraic_distance(tree, [[1.0, 1.0], [5.0, 4.0], [5.0, -2.0]], target=1)
    array([ 1., -3.,  2.])
    """
    walls, rows = walls_of(tree), read_rows(tree, X)
    return walls.measure(rows, _scale(scale, walls), _class(target, walls), n_jobs).of_rows()[:, 0]


def nearest_separator(
    tree: Any, X: Any, *, target: int | None = None, scale: ArrayLike | None = None, n_jobs: int | None = None
) -> Separators:
    """What each row would have to cross to get another answer: a column and a threshold.

    Of the questions that move a row on its way to the nearest leaf of another class, the one with the largest |x_u −
    b|/scale_u (section 5.1 of the paper: the separator with the largest margin), of equals the one about the first
    column. With `target` the way is that into, or out of, this class's area.

    Returns
    -------
    feature : int ndarray of shape (n,)
        -1 where there is nothing to cross; -2 for an oblique question.
    threshold : float ndarray of shape (n,)
        NaN for a change of category.

    Other parameters are those of :func:`algebraic_distance`. A row in several leaves is looked at from its heaviest.

    >>> from hedgerow.forest.build import build_forest, leaf, threshold
    >>> above = threshold(1, 0.0, leaf([3, 0]), leaf([0, 5]))
    >>> tree = build_forest([threshold(0, 2.0, leaf([9, 1]), above)], n_features=2)
    >>> nearest_separator(tree, [[1.0, 1.0], [5.0, 2.0]])
    Separators(feature=array([0, 1], dtype=int32), threshold=array([2., 0.]))
    """
    walls, rows = walls_of(tree), read_rows(tree, X)
    wanted = None if target is None else _class(target, walls)
    nearest = walls.measure(rows, _scale(scale, walls), wanted, n_jobs)
    return walls.crossed(nearest, None if target is None else 0)


def project(tree: Any, X: Any, target: int, *, scale: ArrayLike | None = None, n_jobs: int | None = None) -> Floats:
    """Where each row arrives on the shortest way into, or out of, the area of a class, (n, n_features).

    The point lies on the boundary: a number that had to move stands at the threshold. A category that had to change is
    the first (by its code) that leads there. Rows that have nowhere to go, and missing values, stay as they are.
    Parameters are those of :func:`algebraic_distance`.

    >>> from hedgerow.forest.build import build_forest, leaf, threshold
    >>> above = threshold(1, 0.0, leaf([3, 0]), leaf([0, 5]))
    >>> tree = build_forest([threshold(0, 2.0, leaf([9, 1]), above)], n_features=2)
    >>> project(tree, [[1.0, -1.0]], target=1)
    array([[2., 0.]])
    """
    walls, rows = walls_of(tree), read_rows(tree, X)
    nearest = walls.measure(rows, _scale(scale, walls), _class(target, walls), n_jobs)
    points: Floats = walls.points(rows, nearest, 0)[nearest.parts.heaviest]
    return points


def walls_of(tree: Any, labels: NDArray[np.int32] | None = None) -> Walls:
    """The walls of a tree of this package or of scikit-learn, or a clear error."""
    if isinstance(tree, Forest):
        return Walls.of(tree, labels=labels)
    forest = getattr(tree, "forest_", None)
    if isinstance(forest, Forest):
        return Walls.of(forest, labels=labels, n_categories=tree.schema_.n_categories)
    if not hasattr(tree, "tree_"):
        raise TypeError(f"tree is {tree!r}, must be {_ACCEPTED}")
    # scikit-learn rounds rows to float32: rows go by the thresholds that amount to the same, distances by those it
    # shows.
    return Walls.of(from_sklearn(tree), shape=from_sklearn(tree, widen=False), labels=labels)


def read_rows(tree: Any, X: Any) -> Floats:
    if hasattr(tree, "schema_"):
        rows: Floats = tree.schema_.read(X, estimator=tree)
        return rows
    return np.ascontiguousarray(check_array(X, dtype=np.float64, ensure_all_finite="allow-nan", input_name="X"))


def _class(target: Any, walls: Walls) -> int:
    if not is_whole(target) or not 0 <= int(target) < walls.n_classes:
        raise ValueError(
            f"target is {target!r}, must be the position of a class in classes_, 0 .. {walls.n_classes - 1}"
        )
    return int(target)


def _scale(scale: ArrayLike | None, walls: Walls) -> Floats:
    n_features = walls.forest.n_features
    return np.ones(n_features) if scale is None else check_scale("scale", scale, n_features)
