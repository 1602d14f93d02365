"""Reduced-error pruning: keep a subtree only if it reduces the hold-out error."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hedgerow._arrays import Floats
from hedgerow._core import cheapest_leaves
from hedgerow._params import check_choice, check_number
from hedgerow.data.training import Training
from hedgerow.forest.forest import Forest
from hedgerow.forest.kinds import NodeKind
from hedgerow.pruning.hold_out_loss import hold_out_losses
from hedgerow.pruning.strategy import Grower
from hedgerow.pruning.subtrees import cut
from hedgerow.pruning.training_rows import hash_positions, select_rows, to_training

__all__ = ["ReducedError", "reduced_error"]


@dataclass(frozen=True)
class ReducedError:
    """Turn a node into a leaf if the hold-out error does not increase (Quinlan, 1987); ties prune.

    A `fraction` of the rows of each class is held out, equal rows together, and the tree is grown from the others.
    "bottom-up" decides every node once, after the nodes below it. "greedy" repeatedly cuts the node that improves the
    hold-out accuracy most (Honavar, Decision Trees and Forests, the slide on reduced-error pruning). Regression trees
    are pruned by squared error.

    Parameters
    ----------
    fraction : float, default=1/3
        Share of the rows of each class that is held out, between 0 and 1.
    order : {"bottom-up", "greedy"}, default="bottom-up"
        Decide every node once, after the nodes below it; or repeatedly cut the node that improves the hold-out accuracy
        most.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from hedgerow import TreeClassifier
    >>> from hedgerow.pruning import ReducedError
    >>> TreeClassifier(pruning=ReducedError(), random_state=0).fit(X, y).get_n_leaves()
    3
    """

    fraction: float = 1 / 3
    order: str = "bottom-up"

    def __post_init__(self) -> None:
        check_number("ReducedError: fraction", self.fraction, 0, 1, hint=", such as 1/3")
        check_choice("ReducedError: order", self.order, _ORDERS)

    def __call__(self, training: Training, grower: Grower, seed: int) -> Forest:
        held_out = hash_positions(training, seed) < self.fraction
        _warn_about_absent_classes(training, held_out, self, grower)
        if held_out.all():
            return grower(training)
        # Held-out rows stay, with weight 0: C4.5 takes thresholds from the values of all rows.
        grown_from = replace(training, sample_weight=np.where(held_out, 0.0, training.sample_weight))
        return self.prune(grower(grown_from), select_rows(training, held_out), grower)

    def prune(self, forest: Forest, rows: Training, grower: Grower | None = None) -> Forest:
        """Return the pruned tree.

        Parameters
        ----------
        forest : Forest
            The tree to prune, grown from all rows.
        rows : Training
            Training rows.
        grower : Grower, default=None
            Grows the tree again from some of the rows.

        Returns
        -------
        Forest
            The pruned tree.
        """
        losses = np.ascontiguousarray(hold_out_losses(forest, rows)[:, 0])
        # Fractions of a row add up to 1 only up to rounding.
        tolerance = 1e-9 * float(losses[forest.tree_start[:-1]].sum())
        return cut(forest, _ORDERS[self.order](forest, losses, tolerance))


def reduced_error(
    forest: Forest, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, *, order: str = "bottom-up"
) -> Forest:
    """Remove the subtrees that do not reduce the error on these hold-out rows.

    `y` holds class numbers, or targets of regression. Rows with missing values are spread over the leaves with weights;
    a node without training rows predicts as its parent. See :class:`ReducedError` for `order`.

    Parameters
    ----------
    forest : Forest
        The trees.
    X : array-like of shape (n_samples, n_features)
        Rows as the tree reads them: numbers and codes.
    y : array-like of shape (n_samples,)
        Position of the class of each row; of a regression tree its target.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Weight of each row; None weighs all alike. Rows of weight 0 are left out.
    order : {"bottom-up", "greedy"}, default="bottom-up"
        Decide every node once, after the nodes below it; or repeatedly cut the node that improves the hold-out accuracy
        most.

    Returns
    -------
    Forest
        The pruned tree.

    Raises
    ------
    ValueError
        If rows do not fit the tree, or `order` is not known.

    Examples
    --------
    >>> from hedgerow import TreeClassifier
    >>> from hedgerow.pruning import reduced_error
    >>> X, y = [[float(i)] for i in range(20)], [0] * 9 + [1, 0] + [1] * 9
    >>> forest = TreeClassifier.cart().fit(X, y).forest_
    >>> reduced_error(forest, [[3.0], [9.0], [10.0], [15.0]], [0, 0, 1, 1]).n_leaves
    2
    """
    return ReducedError(order=order).prune(forest, to_training(forest, X, y, sample_weight))


def _bottom_up(forest: Forest, losses: Floats, tolerance: float) -> NDArray[np.bool_]:
    inner = (forest.kind != NodeKind.LEAF).astype(np.uint8)
    return cheapest_leaves(forest.parent, inner, losses, np.zeros(forest.n_nodes), tolerance) == 1


def _greedy(forest: Forest, losses: Floats, tolerance: float) -> NDArray[np.bool_]:
    """Ties cut the first node: the one nearest to the root."""
    below = np.where(forest.kind == NodeKind.LEAF, losses, 0.0)
    for node in range(forest.n_nodes - 1, 0, -1):
        if forest.parent[node] >= 0:
            below[forest.parent[node]] += below[node]
    gain = np.where(forest.kind == NodeKind.LEAF, -np.inf, below - losses)
    cuts = np.zeros(forest.n_nodes, dtype=bool)
    while True:
        # Gains that differ by rounding alone tie.
        node = int(np.argmax(gain >= gain.max() - tolerance))
        if not gain[node] >= -tolerance:
            return cuts
        cuts[node] = True
        gain[_subtree(forest, node)] = -np.inf
        up = int(forest.parent[node])
        saved = below[node] - losses[node]
        while up >= 0:
            below[up] -= saved
            gain[up] -= saved
            up = int(forest.parent[up])


def _subtree(forest: Forest, node: int) -> list[int]:
    nodes = [node]
    for one in nodes:
        first = int(forest.root[one] + forest.first_child[one])
        nodes.extend(range(first, first + int(forest.n_children[one])))
    return nodes


_ORDERS = {"bottom-up": _bottom_up, "greedy": _greedy}


def _warn_about_absent_classes(
    training: Training, held_out: NDArray[np.bool_], strategy: ReducedError, grower: Grower
) -> None:
    if training.labels is None:
        return
    names = np.arange(training.n_classes) if grower.class_names is None else grower.class_names
    n_rows = np.bincount(training.labels, minlength=training.n_classes)
    n_held_out = np.bincount(training.labels[held_out], minlength=training.n_classes)
    for part, n in (("held-out rows", n_held_out), ("rows to grow from", n_rows - n_held_out)):
        absent = (n == 0) & (n_rows > 0)
        if absent.any():
            warnings.warn(
                f"{strategy!r} leaves no row of class {', '.join(repr(name) for name in names[absent].tolist())} among "
                f"the {part}: give more rows, another fraction, or prune in another way",
                UserWarning,
                stacklevel=5,  # whoever called fit
            )
