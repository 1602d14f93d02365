"""Forest proximity: rows that share leaves, and what follows from it.

Two rows are as close as the share of trees in which they reach the same leaf (Breiman, Manual on setting up, using, and
understanding random forests v3.1, 2002). A row that reaches several leaves of a tree, because a value is missing or has
an error, counts with its weight in each: the proximity is the mean over the trees of Σ over leaves of the product of
both weights, which is the chance that both reach the same leaf if each draws its branches by their shares.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from hedgerow._core import proximity as core_proximity
from hedgerow._params import check_choice, check_whole
from hedgerow.data.targets import read_labels
from hedgerow.estimators.contract import reached_leaves, unseen_rows
from hedgerow.walk import n_threads

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from hedgerow.estimators.base import TreeBased

__all__ = ["Neighbors", "Prototype", "neighbors", "outlier_scores", "prototypes", "proximity"]

Floats = NDArray[np.float64]

_NOBODY = -1
_ROWS_AT_ONCE = 1024  # of the shares of common trees


class Neighbors(NamedTuple):
    """Rows that share most leaves with each row; the closest first, of equals the first.

    Examples
    --------
    >>> from hedgerow import TreeClassifier
    >>> from hedgerow.inspection import neighbors
    >>> X = [[1.0], [2.0], [8.0]]
    >>> found = neighbors(TreeClassifier.cart().fit(X, [0, 0, 1]), X, [[1.5]], n_neighbors=3)
    >>> found.indices, found.proximities  # the third row shares no leaf
    (array([[ 0,  1, -1]]), array([[1., 1., 0.]]))
    """

    indices: NDArray[np.int64]
    """Their positions, (n, n_neighbors); -1 where fewer rows share a leaf."""
    proximities: Floats
    """Their proximities, (n, n_neighbors)."""


class Prototype(NamedTuple):
    """A row that stands for others of its class.

    Parameters
    ----------
    label
        Class of the row.

    Examples
    --------
    >>> from hedgerow import TreeClassifier
    >>> from hedgerow.inspection import prototypes
    >>> X, y = [[1.0], [2.0], [8.0], [9.0]], ["low", "low", "high", "high"]
    >>> prototypes(TreeClassifier.cart().fit(X, y), X, y, n_neighbors=2)[1]
    Prototype(label='low', row=0, covered=(0, 1))
    """

    label: Any
    row: int
    """Its position among the rows."""
    covered: tuple[int, ...]
    """Positions of the rows of its class among its nearest, itself included, that no earlier prototype stands for."""


def proximity(model: TreeBased, X: Any, Y: Any = None, *, n_neighbors: int | None = None) -> csr_array:
    """Share of trees in which a row of X and one of Y reach the same leaf, sparse (n, m); Y=None is X.

    Trees count by their weights, where they have some. With `n_neighbors` only the largest entries of each row are
    kept: a full matrix has up to n·m of them.

    Parameters
    ----------
    model : fitted estimator
        A tree or a forest of this package.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows.
    Y : array-like or data frame of shape (n_samples, n_features), or None, default=None
        The other rows; None is X.
    n_neighbors : int or None, default=None
        Number of neighbors of each row; None keeps all.

    Returns
    -------
    csr_array of shape (n_samples, n_samples of Y)
        Shares, from 0 to 1; pairs without a common leaf are not stored.

    Raises
    ------
    ValueError
        If `n_neighbors` is not a positive whole number, or columns are not those of `fit`.

    Examples
    --------
    >>> from hedgerow import TreeClassifier
    >>> tree = TreeClassifier.cart().fit([[1.0], [2.0], [3.0]], [0, 0, 1])
    >>> from hedgerow.inspection import proximity
    >>> proximity(tree, [[1.0], [2.0], [9.0]]).toarray()
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """
    reached = reached_leaves(model, X)
    others = reached if Y is None else reached_leaves(model, Y)
    found = _proximity(model, reached, others, n_neighbors)
    found.sort_indices()
    return found


def neighbors(model: TreeBased, X_train: Any, X: Any = None, *, n_neighbors: int = 5) -> Neighbors:
    """Rows of X_train that share most leaves with each row of X: cases that the model takes for alike.

    Without X, the neighbors of each training row among the others.

    Parameters
    ----------
    model : fitted estimator
        A tree or a forest of this package.
    X_train : array-like or data frame of shape (n_samples, n_features)
        Rows to find neighbors among, as a rule those of `fit`.
    X : array-like or data frame of shape (n_samples, n_features), or None, default=None
        Rows whose neighbors are wanted; None: `X_train`, each without itself.
    n_neighbors : int, default=5
        Number of neighbors of each row.

    Returns
    -------
    Neighbors
        Positions in `X_train` and proximities, each of shape (n_samples, n_neighbors).

    Raises
    ------
    ValueError
        If `n_neighbors` is not a positive whole number, or columns are not those of `fit`.

    Examples
    --------
    >>> from hedgerow import ForestClassifier
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = ForestClassifier(20, random_state=0).fit(X[1:], y[1:])
    >>> from hedgerow.inspection import neighbors
    >>> y[1:][neighbors(forest, X[1:], X[:1]).indices]
    array([[0, 0, 0, 0, 0]])
    """
    wanted = check_whole("n_neighbors", n_neighbors, 1)
    train = reached_leaves(model, X_train)
    queries = train if X is None else reached_leaves(model, X)
    near = _proximity(model, queries, train, wanted, leave_out_self=X is None)
    indices = np.full((near.shape[0], wanted), _NOBODY, dtype=np.int64)
    shares = np.zeros(indices.shape)
    there = np.arange(wanted) < np.diff(near.indptr)[:, np.newaxis]
    indices[there], shares[there] = near.indices, near.data
    return Neighbors(indices, shares)


def outlier_scores(model: TreeBased, X: Any, y: Any = None, *, rows: str = "all", sample_weight: Any = None) -> Floats:
    """How far each row is from the others of its class, (n,): above about 10, look at it (Breiman, 2002, p. 7).

    The raw score of row i is n/Σ_j proximity(i, j)² over the other rows j of its class; less the median of its class,
    divided by the median of the absolute deviations from it. Where that is 0 (at least half of the rows are alike)
    rows above the median are infinitely far. y=None takes all rows for one class.

    Parameters
    ----------
    model : fitted estimator
        A tree or a forest of this package.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,) or None, default=None
        Class of each row; None takes all rows for one class.
    rows : {"all", "oob"}, default="all"
        "all": any rows, whose proximity counts all trees. "oob": the rows of `fit` with their y, in its order; the
        proximity of two rows is the share of the trees that both are out of the bag of in which they share a leaf, so
        that no tree has split a row off because it has seen its label. Of a regressor all rows are one class.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weights that `fit` was given, above 0, for ``rows="oob"``.

    Returns
    -------
    ndarray of shape (n_samples,)
        Scores.

    Raises
    ------
    ValueError
        With ``rows="oob"``, if `y` is missing, the rows are not those of `fit`, or weights are 0.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from hedgerow import ForestClassifier
    >>> forest = ForestClassifier(min_samples_leaf=5, random_state=0).fit(X, y)
    >>> from hedgerow.inspection import outlier_scores
    >>> int(outlier_scores(forest, X, y).argmax())
    106
    """
    if check_choice("rows", rows, ("all", "oob")) == "oob":
        reached, codes, unseen = _out_of_bag(model, X, y, sample_weight)
    else:
        reached, unseen = reached_leaves(model, X), None
        codes = np.zeros(reached.shape[0], dtype=np.int32) if y is None else read_labels(y, X).codes
    of_tree = _shares_of_trees(model)
    scores = np.empty(len(codes))
    for code in range(codes.max(initial=0) + 1):
        members = np.flatnonzero(codes == code)
        near = _proximity(model, reached[members], reached[members], None, leave_out_self=True)
        if unseen is not None:
            near = _among_common_trees(near, unseen[members], of_tree)
        squares = np.asarray(near.multiply(near).sum(axis=1)).ravel()
        # A row that shares no leaf with its class is as far as one that shares a single leaf with a single row.
        raw = len(codes) / np.maximum(squares, float(model.forest_.n_trees) ** -2)
        scores[members] = _robust_scores(raw)
    return scores


def _out_of_bag(
    model: TreeBased, X: Any, y: Any, sample_weight: Any
) -> tuple[csr_array, NDArray[np.int32], NDArray[np.bool_] | None]:
    """Leaves of the trees that each training row is out of the bag of, classes, and these trees, (n, n_trees)."""
    if y is None:
        raise ValueError("y is None, and rows='oob' needs the y of fit, which tells the rows out of each tree's bag")
    asked = unseen_rows(model, X, y, sample_weight)
    codes = asked.truth.astype(np.int32) if is_classifier(model) else np.zeros(len(asked.truth), dtype=np.int32)
    n_rows = reached_leaves(model, X).shape[0]
    if len(asked.values) != n_rows:
        raise ValueError(
            f"sample_weight is 0 for {n_rows - len(asked.values)} rows, which have no bags: leave them out of X and y"
        )
    reached: csr_array = model._walk.spread(asked.values)
    if asked.seen is None:  # random trees do not look at labels
        return reached, codes, None
    unseen = ~np.unpackbits(asked.seen, axis=1, count=n_rows, bitorder="little").astype(bool).T
    tree_of_leaf = np.repeat(np.arange(model.forest_.n_trees), np.diff(model.forest_.leaf_start))
    row = np.repeat(np.arange(n_rows), np.diff(reached.indptr))
    kept = reached.copy()
    kept.data *= unseen[row, tree_of_leaf[reached.indices]]
    kept.eliminate_zeros()
    return kept, codes, unseen


def _among_common_trees(near: csr_array, unseen: NDArray[np.bool_], of_tree: Floats) -> csr_array:
    """Divide shares of all trees by the share of those that both rows are out of the bag of."""
    weighted, others = unseen * of_tree, unseen.astype(np.float64)
    found = near.copy()
    for first in range(0, len(unseen), _ROWS_AT_ONCE):
        last = min(first + _ROWS_AT_ONCE, len(unseen))
        common = weighted[first:last] @ others.T
        part = slice(found.indptr[first], found.indptr[last])
        row = np.repeat(np.arange(last - first), np.diff(found.indptr[first : last + 1]))
        found.data[part] = np.minimum(found.data[part] / common[row, found.indices[part]], 1.0)
    return found


def prototypes(model: TreeBased, X: Any, y: Any, *, n_prototypes: int = 1, n_neighbors: int = 10) -> list[Prototype]:
    """Rows that stand for their class, `n_prototypes` for each (Breiman, 2002, p. 8); fewer where none is left.

    The first is the row with most rows of its class among its `n_neighbors` nearest; the next the one with most that no
    earlier one stands for. Breiman then takes medians of these neighbors; here the row itself is returned, a case that
    there was.

    Parameters
    ----------
    model : fitted estimator
        A tree or a forest of this package.
    X : array-like or data frame of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Class labels, or targets, of the rows.
    n_prototypes : int, default=1
        Number of rows for each class.
    n_neighbors : int, default=10
        Number of neighbors of each row.

    Returns
    -------
    list of Prototype
        Class by class.

    Raises
    ------
    ValueError
        If a number is not a positive whole number, or columns are not those of `fit`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from hedgerow import ForestClassifier
    >>> forest = ForestClassifier(random_state=0).fit(X, y)
    >>> from hedgerow.inspection import prototypes
    >>> [int(one.label) for one in prototypes(forest, X, y, n_neighbors=30)]
    [0, 1, 2]
    """
    n_each = check_whole("n_prototypes", n_prototypes, 1)
    labels = read_labels(y, X)
    near = neighbors(model, X, n_neighbors=n_neighbors)
    found = []
    for code, label in enumerate(labels.classes.tolist()):
        of_class = labels.codes == code
        own = (near.indices >= 0) & of_class[near.indices]
        open_rows = of_class.copy()
        for _ in range(n_each):
            gains = np.where(open_rows, 1 + (own & open_rows[near.indices]).sum(axis=1), 0)
            best = int(np.argmax(gains))
            if not gains[best]:
                break
            theirs = near.indices[best][own[best] & open_rows[near.indices[best]]]
            covered = (best, *theirs.tolist())
            found.append(Prototype(label, best, covered))
            open_rows[list(covered)] = False
    return found


def _proximity(
    model: TreeBased, reached: csr_array, others: csr_array, n_most: int | None, *, leave_out_self: bool = False
) -> csr_array:
    """Proximities; entries of a row by falling proximity where `n_most` is given."""
    from scipy.sparse import csr_array

    of_leaf = np.repeat(_shares_of_trees(model), np.diff(model.forest_.leaf_start))
    by_leaf = others.T.tocsr()
    start, indices, shares = core_proximity(
        (reached.indptr.astype(np.int64), reached.indices.astype(np.int64), reached.data * of_leaf[reached.indices]),
        (by_leaf.indptr.astype(np.int64), by_leaf.indices.astype(np.int64), by_leaf.data),
        others.shape[0],
        0 if n_most is None else check_whole("n_neighbors", n_most, 1),
        leave_out_self,
        n_threads(getattr(model, "n_jobs", None)),
    )
    return csr_array((np.minimum(shares, 1.0), indices, start), shape=(reached.shape[0], others.shape[0]))


def _shares_of_trees(model: TreeBased) -> Floats:
    """Weight of each tree as a share of all."""
    of_tree = model.get_tree_weights()
    weights = np.ones(model.forest_.n_trees) if of_tree is None else of_tree
    shares: Floats = weights / weights.sum()
    return shares


def _robust_scores(raw: Floats) -> Floats:
    median = np.median(raw)
    deviation = np.median(np.abs(raw - median))
    above = np.where(raw > median, np.inf, 0.0)
    scores: Floats = (raw - median) / deviation if deviation > 0 else above
    return scores
