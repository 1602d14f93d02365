"""One readable tree: CART, ID3 or C4.5 by its parameters."""

from __future__ import annotations

from typing import Any

from hedgerow.estimators.stored import storable
from hedgerow.estimators.verbs.tree import ClassTree, NumberTree
from hedgerow.growth import Fractional

__all__ = ["TreeClassifier", "TreeRegressor"]


@storable
class TreeClassifier(ClassTree):
    """A decision tree for nominal, ordinal, numeric and missing values and any number of classes.

    By default it splits as C4.5 does: by gain ratio, with a branch for every category, and with rows spread over the
    branches where a value is missing; and prunes as C4.5 does. :meth:`cart` is a tree like scikit-learn's.

    Parameters
    ----------
    criterion : {"gain_ratio", "c45", "entropy", "gini"}, default="gain_ratio"
        Quality of a split. "gain_ratio" divides the gain in bits by the information of the split itself, among the
        splits whose gain is at least the mean; a split without gain is not made. "c45" is that with all of C4.5's
        details: see :meth:`c45`.
    nominal : {"multiway", "binary", "subset"}, default="multiway"
        A branch for every category, one category against the rest, or some against the others.
    missing : {"fractional", "category", "learned", "random"} or an instance from :mod:`hedgerow.growth`, \
default="fractional"
        Rows whose value is missing are spread over the branches; or missing is a value of its own; or they go to the
        side with the larger gain; or each goes down one branch at random.
    max_depth : int or None, default=None
        Largest number of splits on a path; None sets no limit.
    min_samples_split : int or float, default=2
        Smallest number of rows in a node that is split; a float is a fraction of all rows. Rows count, not weights; a
        fraction of a row counts as that fraction.
    min_samples_leaf : int or float, default=1
        Smallest number of rows in a leaf; a float is a fraction of all rows. A split is valid if at least two of its
        branches have that many: the branch of a rare category may have fewer.
    min_weight_fraction_leaf : float, default=0.0
        Smallest share of the total weight in a leaf.
    min_impurity_decrease : float, default=0.0
        A node is split only if that lowers the impurity, weighted by the node's share of the rows, by at least
        this.
    max_leaf_nodes : int or None, default=None
        Largest number of leaves, grown best first; None sets no limit.
    max_features : int, float, "sqrt", "log2" or None, default=None
        Columns tried at each split, drawn anew at each: their number, their share, √d or log₂ d; None tries
        all.
    stopping : None, "chi_square" or :class:`~hedgerow.growth.ChiSquare`, default=None
        Split a node only where the classes in its branches differ significantly, at the level 0.05 or that of the
        instance. None: no test.
    collapse : bool, default=False
        Whether subtrees that save no training error are dropped before the tree is pruned, as in C4.5.
    pruning : {"pessimistic", "reduced_error", "cost_complexity", "description_length"}, None \
or an instance from :mod:`hedgerow.pruning`, default="pessimistic"
        By errors estimated as in C4.5, or counted on held-out rows; by cost complexity; by the description length of
        the tree and its errors; or not at all.
    cost_matrix : array-like of shape (n_classes, n_classes) or None, default=None
        Cost of predicting class j for class i, true × predicted in the order of `classes_`; 0 on the diagonal.
        `predict` then returns the class of least expected cost, and growth weights "gini" by it, which can change a
        tree only if there are more than two classes. May be changed after `fit`, for `predict`.
    cost_priors : bool, default=False
        Also weight rows in growth by the cost of misclassifying them, so that costs change the tree of two classes
        too. Probabilities are then those of the reweighted classes.
    feature_costs : array-like of shape (n_features,), mapping of names to costs, or None, default=None
        Cost of measuring each column: splits are ranked by gain²/cost. :meth:`cost_of` says what the answer for a row
        costs.
    leaf_probability : {"shrinkage", "frequency", "laplace"} or an instance from :mod:`hedgerow.probability`, \
default="shrinkage"
        Estimate of class probabilities from the counts of a leaf. By default they are shrunken towards those of the
        nodes above it, by an amount that cross-validation chooses in `fit` (:class:`~hedgerow.probability.Shrinkage`);
        `predict` follows them, and in a small leaf may differ from its majority. May be changed after `fit`; an amount
        that is left to cross-validation is then that of `fit`.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class; "balanced" makes classes weigh the same. It multiplies `sample_weight`, and so
        also the counts that :meth:`leaf_counts` returns; class weights that are not whole numbers keep the
        total.
    categorical_features : "from_dtype", indices, mask, names or None, default="from_dtype"
        Which columns are nominal. By default text columns and unordered categories of a frame, and none of an array;
        None: none.
    random_state : int, RandomState instance or None, default=None
        Seed of the columns that `max_features` draws, the branches that ``missing="random"`` draws, and the held-out
        rows of `pruning`, which are the same every time if it is None.

    Attributes
    ----------
    forest_ : Forest
        The tree itself.
    leaf_probability_ : LeafProbability
        The estimate of class probabilities, with the amount of shrinkage that was chosen.
    classes_, n_classes_, class_prior_ : labels, their number, and their weighted share of the training data.
    schema_ : Schema
        Names, kinds and categories of the columns.
    training_range_ : array of shape (n_features, 2)
        Smallest and largest training value of each numeric column; NaN for nominal ones. Uncertainty grows outside.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of shape (n_features,)
        Names of the columns; absent if X had none.
    feature_importances_ : array of shape (n_features,)
        Share of each column in the decrease of impurity; they add up to 1.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> iris = load_iris(as_frame=True)
    >>> from hedgerow import TreeClassifier
    >>> tree = TreeClassifier(max_depth=2).fit(iris.data, iris.target_names[iris.target])
    >>> print(tree.to_text())
    petal length (cm) <= 2.45: setosa (setosa 50)
    petal length (cm) > 2.45
    |   petal width (cm) <= 1.75: versicolor (versicolor 49, virginica 5)
    |   petal width (cm) > 1.75: virginica (versicolor 1, virginica 45)
    """

    def __init__(
        self,
        criterion: str = "gain_ratio",
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

    @classmethod
    def cart(cls, **changes: Any) -> TreeClassifier:
        """A tree like scikit-learn's: Gini index, binary splits, grown until the leaves are pure, not pruned.

        Probabilities are the class frequencies of the leaf.

        Parameters
        ----------
        **changes
            Parameters that are to differ, by name.

        Returns
        -------
        TreeClassifier
            Not fitted.

        Examples
        --------
        >>> from hedgerow import TreeClassifier
        >>> from sklearn.datasets import load_iris
        >>> TreeClassifier.cart(max_leaf_nodes=4).fit(*load_iris(return_X_y=True)).get_n_leaves()
        4
        """
        settings = {
            "criterion": "gini",
            "nominal": "binary",
            "missing": "learned",
            "pruning": None,
            "leaf_probability": "frequency",
        }
        return cls(**{**settings, **changes})

    @classmethod
    def c45(cls, **changes: Any) -> TreeClassifier:
        """Quinlan's C4.5 (release 8), as Weka's J48 has it.

        Two branches must hold at least 2 rows. A threshold needs at least min(25, max(2, 0.1·N/classes)) rows on each
        side, is a value of the training data, and its gain is reduced by log2(number of candidates)/N. Questions
        compete if they gain at least the mean of all, less 0.001 bits; columns with 0.3·N or more categories do not
        count in that mean unless there are no others. Every category has a branch: one without rows answers as its
        parent. Rows with missing values are spread without limit. Subtrees that save no training error are dropped,
        and the tree is pruned (:class:`~hedgerow.pruning.Pessimistic`). Probabilities are the class frequencies of the
        leaf.

        Parameters
        ----------
        **changes
            Parameters that are to differ, by name.

        Returns
        -------
        TreeClassifier
            Not fitted.

        Examples
        --------
        >>> from hedgerow import TreeClassifier
        >>> TreeClassifier.c45(max_depth=3).min_samples_leaf
        2
        """
        settings = {
            "criterion": "c45",
            "min_samples_leaf": 2,
            "missing": Fractional(min_fraction=0.0),
            "collapse": True,
            "leaf_probability": "frequency",
        }
        return cls(**{**settings, **changes})


@storable
class TreeRegressor(NumberTree):
    """A regression tree (least squares) for nominal, ordinal, numeric and missing values.

    Parameters
    ----------
    nominal : {"multiway", "binary", "subset"}, default="multiway"
        Splits of nominal columns: a branch for every category, one category against the rest, or some against
        the others.
    missing : {"fractional", "category", "learned", "random"} or an instance from :mod:`hedgerow.growth`, \
default="fractional"
        Rows whose value is missing are spread over the branches; or missing is a value of its own; or they go
        to the side with the larger gain; or each goes down one branch at random.
    max_depth : int or None, default=None
        Largest number of splits on a path; None sets no limit.
    min_samples_split : int or float, default=2
        Smallest number of rows in a node that is split; a float is a fraction of all rows. Rows count, not weights; a
        fraction of a row counts as that fraction.
    min_samples_leaf : int or float, default=1
        Smallest number of rows in a leaf; a float is a fraction of all rows. A split is valid if at least two of its
        branches have that many: the branch of a rare category may have fewer.
    min_weight_fraction_leaf : float, default=0.0
        Smallest share of the total weight in a leaf.
    min_impurity_decrease : float, default=0.0
        A node is split only if that lowers the impurity, weighted by the node's share of the rows, by at least
        this.
    max_leaf_nodes : int or None, default=None
        Largest number of leaves, grown best first; None sets no limit.
    max_features : int, float, "sqrt", "log2" or None, default=None
        Columns tried at each split, drawn anew at each: their number, their share, √d or log₂ d; None tries
        all.
    pruning : {"cost_complexity", "reduced_error"}, None or an instance from :mod:`hedgerow.pruning`, \
default="cost_complexity"
        By cost complexity, with alpha chosen by cross-validation; by the squared error on held-out rows; or not at
        all.
    categorical_features : "from_dtype", indices, mask, names or None, default="from_dtype"
        Which columns are nominal. By default text columns and unordered categories of a frame, and none of an
        array; None: none.
    random_state : int, RandomState instance or None, default=None
        Seed of the columns that `max_features` draws, the branches that ``missing="random"`` draws, and the held-out
        rows of `pruning`, which are the same every time if it is None.

    Attributes
    ----------
    forest_ : Forest
        The tree itself.
    leaf_targets_ : LeafSamples
        Training targets in the leaves, rounded to a hundredth of their range: what pictures of the tree show.
    schema_ : Schema
        Names, kinds and categories of the columns.
    training_range_ : array of shape (n_features, 2)
        Smallest and largest training value of each numeric column; NaN for nominal ones. Uncertainty grows outside.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of shape (n_features,)
        Names of the columns; absent if X had none.
    feature_importances_ : array of shape (n_features,)
        Share of each column in the decrease of impurity; they add up to 1.

    Examples
    --------
    >>> from hedgerow import TreeRegressor
    >>> tree = TreeRegressor(max_leaf_nodes=3).fit([[1], [2], [3], [4]], [10, 10, 20, 50])
    >>> print(tree.to_text())
    x0 <= 3.5
    |   x0 <= 2.5: 10 ± 0 (n = 2)
    |   x0 > 2.5: 20 ± 0 (n = 1)
    x0 > 3.5: 50 ± 0 (n = 1)
    """

    def __init__(
        self,
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
