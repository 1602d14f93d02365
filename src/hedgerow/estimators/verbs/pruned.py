"""Growing, collapsing and pruning of a single tree, in `fit` or afterwards."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from hedgerow._core import GrowOptions
from hedgerow._params import check_bool
from hedgerow.data.targets import read_labels, read_targets, read_weights
from hedgerow.data.training import Training
from hedgerow.estimators.base import TreeBased
from hedgerow.estimators.fitting.costs import class_costs, prior_weights
from hedgerow.forest.forest import Forest
from hedgerow.forest.importance import Impurity
from hedgerow.growth import Fractional, grow_forest
from hedgerow.pruning import Grower, links_of, pruning_named
from hedgerow.walk import TableCache

__all__ = ["PrunedTree"]


class PrunedTree(TreeBased):
    """Abstract: a tree with the parameter `pruning` and, for classification, `collapse`."""

    def _grow_and_prune(
        self,
        training: Training,
        options: Callable[[Training], GrowOptions],
        impurity: Impurity,
        class_names: NDArray[Any] | None = None,
    ) -> Forest:
        """Grow and prune a tree; `options` are those of growth from the given rows, all or a part."""
        strategy, collapses = pruning_named(self.pruning), self._collapses()
        whole = options(training)

        def grow(rows: Training) -> Forest:
            chosen = whole if rows is training else options(rows)
            chosen.collapse = collapses
            return grow_forest(rows, chosen).forest

        if strategy is None:
            return grow(training)
        grower = Grower(grow, impurity, whole.min_fraction, class_names)
        return strategy(training, grower, self._hold_out_seed(whole.seed))

    def _hold_out_seed(self, seed: int) -> int:
        """Seed of held-out rows; without a random state 0, so that a default tree is deterministic."""
        return 0 if self.random_state is None else seed

    def _collapses(self) -> bool:
        return check_bool("collapse", getattr(self, "collapse", False))

    def pruned(self, X: Any, y: Any, sample_weight: Any = None, *, pruning: Any = "reduced_error") -> Self:
        """Return a pruned copy of this fitted tree, pruned by these rows.

        For "reduced_error" they are a validation set, not the rows of `fit`; for "pessimistic" and
        "description_length" those of `fit`. "cost_complexity" needs its alpha as a number.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows by which subtrees are judged.
        y : array-like of shape (n_samples,)
            Labels or numbers, one for each row.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weight of each row; None weighs all alike.
        pruning : str or an instance from :mod:`hedgerow.pruning`, default="reduced_error"
            How subtrees are judged.

        Returns
        -------
        TreeClassifier or TreeRegressor
            The copy; this tree is not changed.

        Raises
        ------
        ValueError
            If `pruning` is None, needs to grow trees, or the rows do not fit the tree.

        Examples
        --------
        >>> from hedgerow import TreeClassifier
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> tree = TreeClassifier.cart().fit(X[::2], y[::2])
        >>> tree.get_n_leaves(), tree.pruned(X[1::2], y[1::2]).get_n_leaves()
        (6, 4)
        """
        check_is_fitted(self)
        strategy = pruning_named(pruning)
        if strategy is None:
            raise ValueError("pruning is None, must be a pruning method, such as 'reduced_error'")
        rows = self._read(X)
        labels = read_labels(y, rows, self.classes_) if is_classifier(self) else None
        targets = None if labels else read_targets(y, rows)
        class_weight = getattr(self, "class_weight", None)
        weight = labels.weighted(sample_weight, rows, class_weight) if labels else read_weights(sample_weight, rows)
        if labels and self.cost_priors:
            weight = prior_weights(class_costs(self.cost_matrix, labels.classes), labels.codes, weight, labels.classes)
        used = weight > 0
        training = Training(
            np.asfortranarray(rows[used]),
            self.schema_.n_categories,
            weight[used],
            labels.codes[used] if labels else None,
            targets[used] if targets is not None else None,
            len(labels.classes) if labels else 0,
        )
        missing = self.missing if isinstance(self.missing, Fractional) else Fractional()
        grower = Grower(_grown_already, self._impurity, missing.min_fraction)
        twin = copy.copy(self)
        twin.forest_ = strategy.prune(self.forest_, training, grower)
        twin._tables = TableCache()
        twin.__dict__.pop("leaf_targets_", None)  # those of other leaves
        return twin

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> Bunch:
        """Return the alphas at which the tree for these rows loses nodes, and its impurities, as in scikit-learn.

        `ccp_alphas` and `impurities` begin with 0 and the impurity of the tree before it is pruned.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Labels or numbers, one for each row.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weight of each row; None weighs all alike.

        Returns
        -------
        sklearn.utils.Bunch
            `ccp_alphas` and `impurities`, arrays of shape (n_steps,), the alphas ascending.

        Examples
        --------
        >>> from hedgerow import TreeClassifier
        >>> from sklearn.datasets import load_iris
        >>> path = TreeClassifier.cart().cost_complexity_pruning_path(*load_iris(return_X_y=True))
        >>> path.ccp_alphas[-2:].round(2)  # the last cuts leave a tree of two leaves, and the root
        array([0.26, 0.33])
        """
        tree = clone(self).set_params(pruning=None).fit(X, y, sample_weight)
        links = links_of(tree.forest_, tree._impurity)
        return Bunch(ccp_alphas=np.concatenate([[0.0], links.alphas]), impurities=links.impurities)


def _grown_already(training: Training) -> Forest:
    raise ValueError("a tree that is fitted can't grow others")
