"""Trees and forests whose splits are made by linear models."""

from __future__ import annotations

from typing import Any

from hedgerow.estimators.stored import storable
from hedgerow.estimators.verbs.bagged_classifier import BaggedClassifier
from hedgerow.estimators.verbs.tree import ClassTree, NumberTree
from hedgerow.growth import LinearModel, linear_model

__all__ = ["ObliqueForestClassifier", "ObliqueTreeClassifier", "ObliqueTreeRegressor"]


@storable
class ObliqueTreeClassifier(ClassTree):
    """A decision tree that may split on a linear combination of numeric columns, where that is better than on one.

    In every node a linear classifier is fitted to the numeric columns, standardised there; the rows are split along its
    direction, at the best threshold. More than two classes are grouped into two: by two-means of the class means, and
    the most frequent one against the rest. The split that `criterion` prefers is made: one of these, or the best on a
    single column, which nominal columns always have. It is read as ``petal_width + 0.53·petal_length <= 4.2``, in the
    unit of the column with weight 1, which counts most.

    Parameters
    ----------
    splitter : "ridge", :class:`~hedgerow.growth.RidgeSplit` or a linear classifier of scikit-learn
        What finds the direction: ridge regression, which is Fisher's linear discriminant with a small penalty, or any
        binary classifier with `coef_`, such as ``LinearSVC()``. It is cloned for every node; if it draws, its
        `random_state` follows from that of the tree.
    criterion, nominal, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, \
min_impurity_decrease, max_leaf_nodes, stopping, collapse, cost_matrix, cost_priors, leaf_probability, class_weight, \
categorical_features, random_state
        As in :class:`TreeClassifier`.
    missing : {"fractional", "category", "learned", "random"} or an instance from :mod:`hedgerow.growth`
        As in :class:`TreeClassifier`. The linear model takes a missing value for the mean of its column in the node,
        and leaves out columns with more than a half of them. So does the split, in `fit` and later; but a row without
        a value of a column that weighs much in the sum, or of any, is treated as one without a value of a single
        column.
    max_features : int, float, "sqrt", "log2" or None
        Columns tried at each split, one by one and in the linear combination.
    pruning : {"pessimistic", "reduced_error", "cost_complexity"}, None or an instance from :mod:`hedgerow.pruning`
        As in :class:`TreeClassifier`; the description length has no code for oblique splits.
    feature_costs : (n_features,) or mapping of names to costs, optional
        As in :class:`TreeClassifier`; an oblique split costs as much as all of its columns.

    Attributes
    ----------
    forest_ : Forest
        The tree itself, with nodes of the kind "oblique".
    leaf_probability_, classes_, n_classes_, class_prior_, schema_, training_range_, n_features_in_, \
feature_names_in_, feature_importances_
        As in :class:`TreeClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris(as_frame=True)
    >>> tree = ObliqueTreeClassifier(max_depth=2).fit(iris.data, iris.target_names[iris.target])
    >>> print(tree.to_text())
    petal length (cm) <= 2.45: setosa (setosa 50)
    petal length (cm) > 2.45
    |   -0.1387·sepal length (cm) - 0.385·sepal width (cm) + 0.4418·petal length (cm) + petal width (cm)
        <= 1.90187: versicolor (versicolor 49, virginica 1)
    |   -0.1387·sepal length (cm) - 0.385·sepal width (cm) + 0.4418·petal length (cm) + petal width (cm)
        > 1.90187: virginica (versicolor 1, virginica 49)
    """

    def __init__(
        self,
        splitter: Any = "ridge",
        *,
        criterion: str = "gain_ratio",
        nominal: str = "multiway",
        missing: Any = "fractional",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        max_leaf_nodes: int | None = None,
        max_features: Any = None,
        stopping: Any = None,
        collapse: bool = False,
        pruning: Any = "pessimistic",
        cost_matrix: Any = None,
        cost_priors: bool = False,
        feature_costs: Any = None,
        leaf_probability: Any = "shrinkage",
        class_weight: Any = None,
        categorical_features: Any = "from_dtype",
        random_state: Any = None,
    ) -> None:
        self.splitter = splitter
        self.criterion = criterion
        self.nominal = nominal
        self.missing = missing
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.max_leaf_nodes = max_leaf_nodes
        self.max_features = max_features
        self.stopping = stopping
        self.collapse = collapse
        self.pruning = pruning
        self.cost_matrix = cost_matrix
        self.cost_priors = cost_priors
        self.feature_costs = feature_costs
        self.leaf_probability = leaf_probability
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.random_state = random_state

    def _linear_model(self) -> LinearModel:
        return linear_model(self.splitter, of_classes=True)


@storable
class ObliqueTreeRegressor(NumberTree):
    """A regression tree that may split on a linear combination of numeric columns, where that is better than on one.

    In every node a linear regressor is fitted to the numeric columns, and the rows are split where its prediction
    passes the threshold that lowers the variance most; or on a single column, if that lowers it more.

    Parameters
    ----------
    splitter : "ridge", :class:`~hedgerow.growth.RidgeSplit` or a linear regressor of scikit-learn
        What finds the direction, such as ``Ridge()`` or ``HuberRegressor()``.
    missing, max_features
        As in :class:`ObliqueTreeClassifier`.
    nominal, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, min_impurity_decrease, \
max_leaf_nodes, pruning, categorical_features, random_state
        As in :class:`TreeRegressor`.

    Attributes
    ----------
    forest_, leaf_targets_, schema_, n_features_in_, feature_names_in_, feature_importances_
        As in :class:`TreeRegressor`.

    Examples
    --------
    >>> rows = [[a, b] for a in range(6) for b in range(6)]
    >>> tree = ObliqueTreeRegressor(max_leaf_nodes=2).fit(rows, [10.0 * (a + b > 5) for a, b in rows])
    >>> print(tree.to_text())
    x0 + x1 <= 5.5: 0 ± 0 (n = 21)
    x0 + x1 > 5.5: 10 ± 0 (n = 15)
    """

    def __init__(
        self,
        splitter: Any = "ridge",
        *,
        nominal: str = "multiway",
        missing: Any = "fractional",
        max_depth: int | None = None,
        min_samples_split: float = 2,
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        max_leaf_nodes: int | None = None,
        max_features: Any = None,
        pruning: Any = "cost_complexity",
        categorical_features: Any = "from_dtype",
        random_state: Any = None,
    ) -> None:
        self.splitter = splitter
        self.nominal = nominal
        self.missing = missing
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.max_leaf_nodes = max_leaf_nodes
        self.max_features = max_features
        self.pruning = pruning
        self.categorical_features = categorical_features
        self.random_state = random_state

    def _linear_model(self) -> LinearModel:
        return linear_model(self.splitter, of_classes=False)


@storable
class ObliqueForestClassifier(BaggedClassifier):
    """A calibrated random forest of oblique trees.

    At every node of every tree √d columns are drawn; the linear model has those of them that are numeric, and its
    direction competes with each of the columns. Rows are drawn, probabilities calibrated and small nodes made leaves as
    in :class:`ForestClassifier`, but thresholds are exact: columns are not binned.

    Parameters
    ----------
    n_estimators : int
        Number of trees.
    splitter : "ridge", :class:`~hedgerow.growth.RidgeSplit` or a linear classifier of scikit-learn
        As in :class:`ObliqueTreeClassifier`. A classifier of scikit-learn holds Python's lock, so that trees wait for
        each other; "ridge" does not.
    max_features : int, float, "sqrt", "log2" or None
        Columns drawn at each node.
    rule, calibration, tree_weights, criterion, nominal, missing, max_depth, min_samples_split, min_samples_leaf, \
min_weight_fraction_leaf, min_impurity_decrease, max_leaf_nodes, bootstrap, max_samples, oob_score, cost_matrix, \
feature_costs, class_weight, categorical_features, n_jobs, random_state
        As in :class:`ForestClassifier`.

    Attributes
    ----------
    forest_, classes_, n_classes_, class_prior_, schema_, training_range_, n_features_in_, feature_names_in_, \
feature_importances_, rule_, min_samples_split_, tree_weights_, oob_score_, oob_decision_function_
        As in :class:`ForestClassifier`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = ObliqueForestClassifier(oob_score=True, random_state=0).fit(X, y)
    >>> bool(forest.oob_score_ > 0.95)
    True
    """

    def __init__(
        self,
        n_estimators: int = 100,
        splitter: Any = "ridge",
        *,
        rule: Any = "probability",
        calibration: Any = "auto",
        tree_weights: Any = None,
        criterion: str = "gini",
        nominal: str = "binary",
        missing: Any = "random",
        max_depth: int | None = None,
        min_samples_split: Any = "auto",
        min_samples_leaf: float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        max_leaf_nodes: int | None = None,
        max_features: Any = "sqrt",
        bootstrap: bool | str = True,
        max_samples: Any = None,
        oob_score: Any = False,
        cost_matrix: Any = None,
        feature_costs: Any = None,
        class_weight: Any = None,
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.splitter = splitter
        self.rule = rule
        self.calibration = calibration
        self.tree_weights = tree_weights
        self.criterion = criterion
        self.nominal = nominal
        self.missing = missing
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.max_leaf_nodes = max_leaf_nodes
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.oob_score = oob_score
        self.cost_matrix = cost_matrix
        self.feature_costs = feature_costs
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _splitting(self) -> dict[str, Any]:
        return {"linear_model": linear_model(self.splitter, of_classes=True)}
