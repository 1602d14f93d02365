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
    splitter : "ridge", :class:`~hedgerow.growth.RidgeSplit` or a linear classifier of scikit-learn, default="ridge"
        What finds the direction: ridge regression, which is Fisher's linear discriminant with a small penalty, or any
        binary classifier with `coef_`, such as ``LinearSVC()``. It is cloned for every node; if it draws, its
        `random_state` follows from that of the tree.
    criterion : {"gain_ratio", "c45", "entropy", "gini"}, default="gain_ratio"
        Quality of a split. "gain_ratio" divides the gain in bits by the information of the split itself, among
        the splits whose gain is at least the mean; a split without gain is not made. "c45" is that with all of
        C4.5's details: see :meth:`c45`.
    nominal : {"multiway", "binary", "subset"}, default="multiway"
        A branch for every category, one category against the rest, or some against the others.
    missing : {"fractional", "category", "learned", "random"} or an instance from :mod:`hedgerow.growth`, \
default="fractional"
        Rows whose value is missing are spread over the branches; or missing is a value of its own; or they go
        to the side with the larger gain; or each goes down one branch at random. The linear model takes a
        missing value for the mean of its column in the node, and leaves out columns with more than a half of
        them. So does the split, in `fit` and later; but a row without a value of a column that weighs much in
        the sum, or of any, is treated as one without a value of a single column.
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
        Columns tried at each split, one by one and in the linear combination, drawn anew at each: their number, their
        share, √d or log₂ d; None tries all.
    stopping : None, "chi_square" or :class:`~hedgerow.growth.ChiSquare`, default=None
        Split a node only where the classes in its branches differ significantly, at the level 0.05 or that of the
        instance. None: no test.
    collapse : bool, default=False
        Whether subtrees that save no training error are dropped before the tree is pruned, as C4.5 does.
    pruning : {"pessimistic", "reduced_error", "cost_complexity"}, None or an instance from :mod:`hedgerow.pruning`, \
default="pessimistic"
        By errors estimated as in C4.5, or counted on held-out rows; by cost complexity; or not at all. The
        description length has no code for oblique splits.
    cost_matrix : array-like of shape (n_classes, n_classes) or None, default=None
        Cost of predicting class j for class i, true × predicted in the order of `classes_`; 0 on the diagonal.
        `predict` then returns the class of least expected cost, and growth weights "gini" by it, which can change a
        tree only if there are more than two classes. May be changed after `fit`, for `predict`.
    cost_priors : bool, default=False
        Also weight rows in growth by the cost of misclassifying them, so that costs change the tree of two
        classes too. Probabilities are then those of the reweighted classes.
    feature_costs : array-like of shape (n_features,), mapping of names to costs, or None, default=None
        Cost of measuring each column: splits are ranked by gain²/cost; an oblique split costs as much as all of its
        columns.
    leaf_probability : {"shrinkage", "frequency", "laplace"} or an instance from :mod:`hedgerow.probability`, \
default="shrinkage"
        Estimate of class probabilities from the counts of a leaf. By default they are shrunken towards those of
        the nodes above it, by an amount that cross-validation chooses in `fit`
        (:class:`~hedgerow.probability.Shrinkage`); `predict` follows them, and in a small leaf may differ from
        its majority. May be changed after `fit`; an amount that is left to cross-validation is then that of
        `fit`.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class; "balanced" makes classes weigh the same. It multiplies `sample_weight`, and so
        also the counts that :meth:`leaf_counts` returns; class weights that are not whole numbers keep the
        total.
    categorical_features : "from_dtype", indices, mask, names or None, default="from_dtype"
        Which columns are nominal. By default text columns and unordered categories of a frame, and none of an
        array; None: none.
    random_state : int, RandomState instance or None, default=None
        Seed of the columns that `max_features` draws, the branches that ``missing="random"`` draws, and the held-out
        rows of `pruning`, which are the same every time if it is None.

    Attributes
    ----------
    forest_ : Forest
        The tree itself, with nodes of the kind "oblique".
    leaf_probability_ : LeafProbability
        The estimate of class probabilities, with the amount of shrinkage that was chosen.
    classes_ : array of shape (n_classes,)
        Labels, in the order of the columns of `predict_proba`.
    n_classes_ : int
        Number of classes.
    class_prior_ : array of shape (n_classes,)
        Weighted share of each class in the training data.
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
    >>> from hedgerow import ObliqueTreeClassifier
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
    splitter : "ridge", :class:`~hedgerow.growth.RidgeSplit` or a linear regressor of scikit-learn, default="ridge"
        What finds the direction, such as ``Ridge()`` or ``HuberRegressor()``.
    nominal : {"multiway", "binary", "subset"}, default="multiway"
        A branch for every category, one category against the rest, or some against the others.
    missing : {"fractional", "category", "learned", "random"} or an instance from :mod:`hedgerow.growth`, \
default="fractional"
        Rows whose value is missing are spread over the branches; or missing is a value of its own; or they go
        to the side with the larger gain; or each goes down one branch at random. The linear model takes a
        missing value for the mean of its column in the node, and leaves out columns with more than a half of
        them. So does the split, in `fit` and later; but a row without a value of a column that weighs much in
        the sum, or of any, is treated as one without a value of a single column.
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
        Columns tried at each split, one by one and in the linear combination, drawn anew at each: their number, their
        share, √d or log₂ d; None tries all.
    pruning : {"reduced_error", "cost_complexity"}, None or an instance from :mod:`hedgerow.pruning`, \
default="cost_complexity"
        By errors on held-out rows, by cost complexity, or not at all.
    categorical_features : "from_dtype", indices, mask, names or None, default="from_dtype"
        Which columns are nominal. By default text columns and unordered categories of a frame, and none of an
        array; None: none.
    random_state : int, RandomState instance or None, default=None
        Seed of the columns that `max_features` draws, the branches that ``missing="random"`` draws, and the held-out
        rows of `pruning`, which are the same every time if it is None.

    Attributes
    ----------
    forest_ : Forest
        The tree itself, with nodes of the kind "oblique".
    leaf_targets_ : LeafSamples
        Training targets in the leaves, rounded to a hundredth of their range: what pictures of the tree show.
    schema_ : Schema
        Names, kinds and categories of the columns.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of shape (n_features,)
        Names of the columns; absent if X had none.
    feature_importances_ : array of shape (n_features,)
        Share of each column in the decrease of impurity; they add up to 1.

    Examples
    --------
    >>> rows = [[a, b] for a in range(6) for b in range(6)]
    >>> from hedgerow import ObliqueTreeRegressor
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
    n_estimators : int, default=100
        Number of trees.
    splitter : "ridge", :class:`~hedgerow.growth.RidgeSplit` or a linear classifier of scikit-learn, default="ridge"
        Linear model whose direction a split may take. A classifier of scikit-learn holds Python's lock, so that
        trees wait for each other; "ridge" does not.
    rule : str or a rule, default="probability"
        Combination of the leaves that a row reaches, one of :func:`hedgerow.rules.names` or a rule of your own;
        "probability" averages class frequencies, "vote" is the majority of the trees, "tempered" accumulates
        evidence, weakened as out-of-bag rows ask for. Can be changed after `fit`; a calibration is that of the
        rule of `fit`.
    calibration : "oob", None or "auto", default="auto"
        "oob": log P(y|x) = log P(y) + t·(log p(y|x) − log P(y)), p the probabilities by `rule` and t chosen by
        the log-loss of out-of-bag rows (`rule_`). None: p as it is. "auto": "oob" where trees are grown from
        bootstrap samples and ``rule="probability"``.
    tree_weights : array of shape (n_estimators,), "oob" or None, default=None
        Weight of each tree: these numbers, its out-of-bag accuracy, or all the same. Only ratios matter.
    criterion : {"gini", "gain_ratio", "entropy"}, default="gini"
        Quality of a split: the Gini index, gain ratio, or gain in bits. Rows count once, however often they were drawn.
    nominal : {"multiway", "binary", "subset"}, default="binary"
        A branch for every category, one category against the rest, or some against the others.
    missing : {"random", "fractional", "category", "learned"} or an instance from :mod:`hedgerow.growth`, \
default="random"
        By default a row whose value is missing goes down one branch in `fit`, drawn with the weights of the
        branches, and is spread over all of them when predicting; or it is spread in `fit` too, or missing is a
        value of its own, or it goes to the side with the larger gain.
    max_depth : int or None, default=None
        Largest number of splits on a path; None sets no limit.
    min_samples_split : int, float or "auto", default="auto"
        Smallest number of rows in a node that is split. "auto" is the one of 2, 4, 8 and 16 draws whose out-of-bag
        log-loss is least (`min_samples_split_`), or 2 where nothing is calibrated.
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
    max_features : int, float, "sqrt", "log2" or None, default="sqrt"
        Columns drawn at each node, for splits on one of them and for the linear combination: their number, their share,
        √d or log₂ d; None takes all.
    bootstrap : bool or "poisson", default=True
        Whether each tree is grown from rows drawn with replacement. "poisson": every row is drawn for every
        tree on its own, a Poisson number of times, so that :func:`hedgerow.distributed.fit` grows the same
        forest.
    max_samples : int, float or None, default=None
        Number of draws for each tree, or a fraction of the number of rows of positive weight, which is also the
        default. With ``bootstrap="poisson"`` bags have so many draws on average. Rows are drawn by
        `sample_weight`, which then does not count again; without bootstrap rows count by it.
    oob_score : bool or callable, default=False
        Whether `fit` scores the forest on its out-of-bag rows; a callable ``metric(y_true, y_pred)`` computes the
        score.
    cost_matrix : array-like of shape (n_classes, n_classes) or None, default=None
        Cost of predicting class j for class i, true × predicted in the order of `classes_`; 0 on the diagonal.
        `predict` returns the class of least expected cost, out-of-bag scores too, and growth weights "gini" by it. May
        be changed after `fit`, for `predict`.
    feature_costs : array-like of shape (n_features,), mapping of names to costs, or None, default=None
        Cost of measuring each column: splits are ranked by gain²/cost; an oblique split costs as much as all of its
        columns.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class; "balanced" makes classes weigh the same. It multiplies `sample_weight`.
    categorical_features : "from_dtype", indices, mask, names or None, default="from_dtype"
        Which columns are nominal. By default text columns and unordered categories of a frame, and none of an
        array; None: none.
    n_jobs : int or None, default=None
        Number of threads, one tree each; None is 1, -1 all cores; identical results for any number.
    random_state : int, RandomState instance or None, default=None
        Seed of all that is drawn: the same seed gives the same forest, bit for bit.

    Attributes
    ----------
    forest_ : Forest
        The trees.
    classes_ : array of shape (n_classes,)
        Labels, in the order of the columns of `predict_proba`.
    n_classes_ : int
        Number of classes.
    class_prior_ : array of shape (n_classes,)
        Weighted share of each class in the training data.
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
    rule_ : :class:`~hedgerow.rules.Calibrated` or :class:`~hedgerow.rules.Evidence`
        The rule with the numbers that out-of-bag rows have chosen; absent where there is nothing to choose.
    min_samples_split_ : int
        Smallest weight of a node that is split, where it was chosen.
    tree_weights_ : array of shape (n_estimators,)
        Out-of-bag accuracy of each tree, with ``tree_weights="oob"``.
    oob_score_ : float
        Out-of-bag accuracy (of numbers: R²), or what `oob_score` computes.
    oob_decision_function_ : array of shape (n_samples, n_classes)
        Out-of-bag probabilities; NaN for rows in the bag of every tree.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> from hedgerow import ObliqueForestClassifier
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
