"""Random forests that calibrate themselves by their out-of-bag rows."""

from __future__ import annotations

from typing import Any

from hedgerow.estimators.stored import storable
from hedgerow.estimators.verbs.bagged_classifier import BaggedClassifier

__all__ = ["ForestClassifier"]


@storable
class ForestClassifier(BaggedClassifier):
    """A random forest whose probabilities are calibrated by its own out-of-bag rows.

    Trees are grown from rows drawn with replacement, with √d columns tried at each split; every second one draws its
    thresholds. Their averaged probabilities are sharpened or flattened, and small nodes made leaves, as the rows out of
    each tree's bag ask for (docs/forests.md has the measurements behind the defaults).

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    rule : str or a rule, default="probability"
        Combination of the leaves that a row reaches, one of :func:`hedgerow.rules.names` or a rule of your own;
        "probability" averages class frequencies, "vote" is the majority of the trees, "tempered" accumulates evidence,
        weakened as out-of-bag rows ask for. Can be changed after `fit`; a calibration is that of the rule of `fit`.
    calibration : "oob", None or "auto", default="auto"
        "oob": log P(y|x) = log P(y) + t·(log p(y|x) − log P(y)), p the probabilities by `rule` and t chosen by the
        log-loss of out-of-bag rows (`rule_`). None: p as it is. "auto": "oob" where trees are grown from bootstrap
        samples and ``rule="probability"``.
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
    splitter : {"best", "random", "mixed"}, default="mixed"
        Splits tried of each column: all of them, or one that is drawn, as in extremely randomized trees (Geurts, Ernst
        and Wehenkel, 2006). "mixed" draws in every second tree, which tries twice as many columns: trees that err
        differently make a better forest.
    max_features : int, float, "sqrt", "log2" or None, default="sqrt"
        Columns tried at each split, drawn anew at each: their number, their share, √d or log₂ d; None tries all.
    max_bins : int or None, default=255
        Numeric columns with more distinct values are binned into this many bins of equal weight, so that thresholds
        are exact only up to a bin; None is exact, and slower.
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
        Cost of measuring each column: splits are ranked by gain²/cost. Where growth uses costs, thresholds are exact:
        columns are not binned.
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
    bags_ : Bags
        Three numbers from which the bags of the trees are drawn again, for
        :func:`~hedgerow.inspection.permutation_importance`; absent with ``bootstrap=False``.
    tree_weights_ : array of shape (n_estimators,)
        Out-of-bag accuracy of each tree, with ``tree_weights="oob"``.
    oob_score_, oob_decision_function_
        Out-of-bag accuracy (or what `oob_score` computes) and probabilities; NaN for rows in the bag of every tree.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> from hedgerow import ForestClassifier
    >>> forest = ForestClassifier(oob_score=True, random_state=0).fit(X, y)
    >>> bool(forest.oob_score_ > 0.94)
    True
    """

    _grows_on_gpu = True

    def __init__(
        self,
        n_estimators: int = 100,
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
        splitter: str = "mixed",
        max_features: Any = "sqrt",
        max_bins: int | None = 255,
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
        self.splitter = splitter
        self.max_features = max_features
        self.max_bins = max_bins
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
        return {"splitter": self.splitter}
