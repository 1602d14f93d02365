"""Random forests that calibrate themselves by their out-of-bag rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._criteria import CRITERIA
from hedgerow._params import check_bool, check_choice
from hedgerow.data.table import read_table
from hedgerow.data.targets import read_labels
from hedgerow.estimators.fitting.bagging import (
    OutOfBag,
    oob_scores,
    scaled_tree_weights,
    warn_of_no_answer,
)
from hedgerow.estimators.fitting.calibration import CALIBRATION_ROWS, HeldOut, NodeSizes, complete, thinning
from hedgerow.estimators.fitting.progress import with_callbacks
from hedgerow.estimators.stored import storable
from hedgerow.estimators.verbs.bagged_trees import BaggedTrees
from hedgerow.estimators.verbs.rule_answers import RuleAnswers
from hedgerow.forest.forest import Forest
from hedgerow.forest.importance import impurity_of
from hedgerow.rules import FoldRule, Probability, get

__all__ = ["ForestClassifier"]

Floats = NDArray[np.float64]

_NODE_SIZES = (2, 4, 8, 16)  # for min_samples_split="auto"


@storable
class ForestClassifier(RuleAnswers, BaggedTrees):
    """A random forest whose probabilities are calibrated by its own out-of-bag rows.

    Trees are grown from rows drawn with replacement, with √d columns tried at each split; every second one draws its
    thresholds. Their averaged probabilities are sharpened or flattened, and small nodes made leaves, as the rows out of
    each tree's bag ask for (docs/forests.md has the measurements behind the defaults).

    Parameters
    ----------
    n_estimators : int
        Number of trees.
    criterion, nominal, max_depth, min_samples_leaf, min_weight_fraction_leaf, min_impurity_decrease, max_leaf_nodes, \
categorical_features
        As in :class:`TreeClassifier`, but the criterion is "gini" and nominal columns are split "binary" by default.
        Rows count once, however often they were drawn.
    min_samples_split : int, float or "auto"
        Least rows of a node that is split. "auto" is the one of 2, 4, 8 and 16 draws whose out-of-bag log-loss is least
        (`min_samples_split_`), or 2 where nothing is calibrated.
    splitter : {"best", "random", "mixed"}
        Splits tried of each column: all of them, or one that is drawn, as in extremely randomized trees (Geurts, Ernst
        and Wehenkel, 2006). "mixed" draws in every second tree, which tries twice as many columns: trees that err
        differently make a better forest.
    calibration : "oob", None or "auto"
        "oob": log P(y|x) = log P(y) + t·(log p(y|x) − log P(y)), p the probabilities by `rule` and t chosen by the
        log-loss of out-of-bag rows (`rule_`). None: p as it is. "auto": "oob" where trees are grown from bootstrap
        samples and ``rule="probability"``.
    rule : str or a rule
        Combination of the leaves that a row reaches, one of :func:`hedgerow.rules.names` or a rule of your own;
        "probability" averages class frequencies, "vote" is the majority of the trees, "tempered" accumulates evidence,
        weakened as out-of-bag rows ask for. Can be changed after `fit`; a calibration is that of the rule of `fit`.
    tree_weights : array of shape (n_estimators,), "oob" or None
        Weight of each tree: these numbers, its out-of-bag accuracy, or all the same. Only ratios matter.
    missing : {"random", "fractional", "category", "learned"} or an instance from :mod:`hedgerow.growth`
        As in :class:`TreeClassifier`; by default a row whose value is missing goes down one branch in `fit`, drawn with
        the weights of the branches, and is spread over all of them when predicting.
    max_features : int, float, "sqrt", "log2" or None
        Columns tried at each split.
    max_bins : int or None
        Numeric columns with more distinct values are binned into this many bins of equal weight, so that thresholds
        are exact only up to a bin; None is exact, and slower.
    bootstrap, max_samples, oob_score
        As in scikit-learn: rows are drawn by `sample_weight`, which then does not count again; without bootstrap rows
        count by it. `max_samples` is the number of draws, or a fraction of the number of rows of positive weight, which
        is also the default. `oob_score` may be a callable ``metric(y_true, y_pred)``.
    class_weight : dict, "balanced" or None
        Multiplies `sample_weight`.
    n_jobs : int or None
        Threads, one tree each; identical results for any n_jobs.
    random_state : int, RandomState instance or None
        The same seed gives the same forest, bit for bit.

    Attributes
    ----------
    forest_ : Forest
    classes_, n_classes_, class_prior_, schema_, training_range_, n_features_in_, feature_names_in_, \
feature_importances_
        As in :class:`TreeClassifier`.
    rule_ : :class:`~hedgerow.rules.Calibrated` or :class:`~hedgerow.rules.Evidence`
        The rule with the numbers that out-of-bag rows have chosen; absent where there is nothing to choose.
    min_samples_split_ : int
        Least weight of a node that is split, where it was chosen.
    tree_weights_ : array of shape (n_estimators,)
        Out-of-bag accuracy of each tree, with ``tree_weights="oob"``.
    oob_score_, oob_decision_function_
        Out-of-bag accuracy (or what `oob_score` computes) and probabilities; NaN for rows in the bag of every tree.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = ForestClassifier(oob_score=True, random_state=0).fit(X, y)
    >>> bool(forest.oob_score_ > 0.94)
    True
    """

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
        bootstrap: bool = True,
        max_samples: Any = None,
        oob_score: Any = False,
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
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> ForestClassifier:
        """Grow the trees, and calibrate their answers."""
        self._fit(X, y, sample_weight)
        return self

    def _fit_and_keep_bags(self, X: Any, y: Any, sample_weight: Any = None) -> OutOfBag | None:
        """Fit, and return the training rows out of each tree's bag; None without bootstrap."""
        return self._fit(X, y, sample_weight, keep_bags=check_bool("bootstrap", self.bootstrap))

    def _fit(self, X: Any, y: Any, sample_weight: Any = None, *, keep_bags: bool = False) -> OutOfBag | None:
        self._check_rule()
        table = read_table(X, categorical_features=self.categorical_features, estimator=self)
        labels = read_labels(y, table.values)
        weight = labels.weighted(sample_weight, table.values, self.class_weight)
        training = self._training(table, weight, labels=labels)
        self._check_tree_weights()
        growth = self._growth(self.criterion, splitter=self.splitter)
        if self._chooses_size():
            growth = replace(growth, min_samples_split=_NODE_SIZES[0])
        criteria = tuple(name for name, criterion in CRITERIA.items() if not criterion.c45)
        grown = self._grow(training, growth, criteria, X, y, keep_bags)
        prior = np.bincount(labels.codes, weights=weight, minlength=len(labels.classes)) / weight.sum()
        found: dict[str, Any] = {"classes_": labels.classes, "n_classes_": len(labels.classes), "class_prior_": prior}
        found |= {"training_range_": training.ranges, "_impurity": impurity_of(self.criterion)}
        forest, bags = grown.forest, None
        if keep_bags or self._keeps_bags():
            bags = OutOfBag.of(grown, table.values, weight > 0, self.n_jobs)
            forest, held_out = self._hold_out(bags, labels.codes, labels.classes, weight, prior)
            found |= held_out
        self._forget("rule_", "min_samples_split_", "tree_weights_", "oob_score_", "oob_decision_function_")
        self._set_fitted(table, forest, **found)
        return replace(bags, forest=forest) if keep_bags and bags is not None else None

    def _check_rule(self) -> None:
        """Check the rule, and what out-of-bag rows are asked to choose for it."""
        rule = get(self.rule)
        if self.calibration is not None:
            check_choice("calibration", self.calibration, ("oob", "auto"), "'oob', 'auto' or None")
        if self.calibration == "oob" and rule.needs_fit:
            raise ValueError("rule 'tempered' is calibrated by its temper: set calibration to 'auto' or None")
        for name, asked in (("oob_score", self._scores_out_of_bag()), ("calibration='oob'", self.calibration == "oob")):
            if asked and not isinstance(rule, FoldRule):
                raise ValueError(f"{name} needs a rule that folds, {rule.name} does not: see hedgerow.rules.names()")
        if not check_bool("bootstrap", self.bootstrap):
            needed = [("calibration='oob'", self.calibration == "oob"), ("rule 'tempered'", rule.needs_fit)]
            if asked := [name for name, needs in needed if needs]:
                raise ValueError(f"{asked[0]} needs bootstrap=True: without it every tree has seen every row")

    def _completes_rule(self) -> bool:
        """Whether out-of-bag rows choose numbers of the rule."""
        rule = get(self.rule)
        automatic = self.calibration == "auto" and self.bootstrap and rule == Probability()
        return self.calibration == "oob" or automatic or rule.needs_fit

    def _chooses_size(self) -> bool:
        """Whether nodes are grown as small as they get, for `min_samples_split` to be chosen afterwards."""
        if not isinstance(self.min_samples_split, str):
            return False
        expected = "a whole number of at least 2 rows, a fraction in (0, 1], or 'auto'"
        return bool(check_choice("min_samples_split", self.min_samples_split, ("auto",), expected))

    def _keeps_bags(self) -> bool:
        return self._scores_out_of_bag() or isinstance(self.tree_weights, str) or self._completes_rule()

    def _check_tree_weights(self) -> None:
        """Check what can be checked before the trees are grown."""
        if isinstance(self.tree_weights, str):
            if self.tree_weights != "oob":
                raise ValueError(f"tree_weights is {self.tree_weights!r}, must be 'oob', an array of numbers or None")
            if not check_bool("bootstrap", self.bootstrap):
                raise ValueError("tree_weights='oob' needs bootstrap=True: without it every tree has seen every row")
        elif self.tree_weights is not None:
            scaled_tree_weights(self.tree_weights, self.n_estimators)

    def _hold_out(
        self, bags: OutOfBag, codes: NDArray[np.int32], classes: NDArray[Any], weight: Floats, prior: Floats
    ) -> tuple[Forest, dict[str, Any]]:
        """The forest, small nodes cut as out-of-bag rows ask for, and the attributes that they give."""
        found: dict[str, Any] = {}
        tree_weights = self.tree_weights
        if isinstance(tree_weights, str):
            accuracy = bags.accuracies(codes, weight)
            if np.isnan(accuracy).all():
                raise ValueError("tree_weights='oob': no tree has a row out of its bag; use more rows, or None")
            tree_weights = np.where(np.isnan(accuracy), np.nanmean(accuracy), accuracy)
            found["tree_weights_"] = tree_weights
        rule = get(self.rule)
        if not (self._scores_out_of_bag() or self._completes_rule()) or not isinstance(rule, FoldRule):
            return bags.forest, found
        sizes = _NODE_SIZES if self._completes_rule() and self._chooses_size() else _NODE_SIZES[:1]
        n_rows = len(codes)
        if not self._scores_out_of_bag() and n_rows > CALIBRATION_ROWS:
            kept = thinning(n_rows, CALIBRATION_ROWS)
            bags, codes, weight = bags.of_rows(np.arange(n_rows)[kept]), codes[kept], weight[kept]
        cuts = NodeSizes.of(bags.forest, sizes)
        scaled = None if tree_weights is None else scaled_tree_weights(tree_weights, bags.forest.n_trees)
        folded, n_trees, unseen = bags.folds(cuts.tables(rule, prior), scaled)
        size, best = 0, folded[0]
        if self._completes_rule() and unseen.any():
            held_out = HeldOut(codes[unseen], weight[unseen], prior, n_rows)
            completed = [complete(rule, one, n_trees, held_out, bags.forest.n_trees) for one in folded]
            size = int(np.argmin([one.loss for one in completed]))
            rule, best = completed[size].rule, folded[size]
            found["rule_"] = rule
        elif rule.needs_fit:
            raise ValueError("rule 'tempered': no tree has a row out of its bag; grow more trees, or give a temper")
        if self._chooses_size():
            found["min_samples_split_"] = sizes[size]
        if self._scores_out_of_bag():
            warn_of_no_answer(unseen)
            shares = np.full((len(unseen), len(prior)), np.nan)
            shares[unseen] = rule.finish(best, n_trees, prior)
            found |= oob_scores(self.oob_score, shares, unseen, codes, classes)
        return cuts.cut(sizes[size]), found

    def get_tree_weights(self) -> Floats | None:
        given = self.tree_weights
        if given is None:
            return None
        if isinstance(given, str):
            self._check_tree_weights()
            if "tree_weights_" not in vars(self):
                raise ValueError("tree_weights='oob' was set after fit: fit again, or give an array")
            given = self.tree_weights_
        return scaled_tree_weights(given, self.forest_.n_trees)
