"""Fitting of bagged classification trees: growth, calibration and out-of-bag scores."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hedgerow._criteria import CRITERIA
from hedgerow._params import check_choice
from hedgerow.data.table import Schema, Table, read_table
from hedgerow.data.targets import read_labels
from hedgerow.estimators.base import copied_here
from hedgerow.estimators.fitting.bagging import (
    OutOfBag,
    draw_scheme,
    mean_where_unknown,
    oob_scores,
    scaled_tree_weights,
    warn_of_no_answer,
)
from hedgerow.estimators.fitting.bags import UnseenRows
from hedgerow.estimators.fitting.calibration import CALIBRATION_ROWS, HeldOut, complete, thinning
from hedgerow.estimators.fitting.costs import cheapest_classes, class_costs, feature_costs
from hedgerow.estimators.fitting.growth_on_gpu import GrownOnGPU, UnseenOnGPU
from hedgerow.estimators.fitting.progress import with_callbacks
from hedgerow.estimators.verbs.bagged_trees import BaggedTrees
from hedgerow.estimators.verbs.rule_answers import RuleAnswers
from hedgerow.forest.forest import Forest
from hedgerow.forest.importance import impurity_of
from hedgerow.growth import Grown, Growth
from hedgerow.rules import FoldRule, Probability, get

__all__ = ["BaggedClassifier", "forest_criteria"]

Floats = NDArray[np.float64]

_NODE_SIZES = (2, 4, 8, 16)  # for min_samples_split="auto"


def forest_criteria() -> tuple[str, ...]:
    """Names of the split criteria that forests take: all but those of C4.5."""
    return tuple(name for name, criterion in CRITERIA.items() if not criterion.c45)


class BaggedClassifier(RuleAnswers, BaggedTrees):
    """Abstract: a calibrated forest; final classes have the parameters of :class:`ForestClassifier`."""

    @with_callbacks  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Grow the trees, and calibrate their answers.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weight of each row: a number of rows, if all are whole numbers, else relative and rescaled to a mean of 1;
            None weighs all alike.

        Returns
        -------
        self
            The fitted forest.

        Raises
        ------
        ValueError
            If a parameter is out of its range, X or y can't be read (the message names the column or row), or weights
            are negative or all 0.
        """
        self._fit(X, y, sample_weight)
        return self

    def _fit_and_keep_bags(self, X: Any, y: Any, sample_weight: Any = None) -> OutOfBag | None:
        """Fit, and return the training rows out of each tree's bag; None without bootstrap."""
        return self._fit(X, y, sample_weight, keep_bags=draw_scheme(self.bootstrap) is not None)

    def _fit(self, X: Any, y: Any, sample_weight: Any = None, *, keep_bags: bool = False) -> OutOfBag | None:
        self._check_rule()
        if self._device is not None:
            X, y, sample_weight = copied_here(X), copied_here(y), copied_here(sample_weight)
        table = read_table(X, categorical_features=self.categorical_features, estimator=self)
        labels = read_labels(y, table.values)
        weight = labels.weighted(sample_weight, table.values, self.class_weight, exact=self._draws_by_hash())
        training = self._training(table, weight, labels=labels)
        self._check_tree_weights()
        growth = self._growth_for(labels.classes, table.schema)
        grown, drawn = self._grow(training, growth, forest_criteria(), X, y, keep_bags)
        prior = np.bincount(labels.codes, weights=weight, minlength=len(labels.classes)) / weight.sum()
        found: dict[str, Any] = {"training_range_": training.ranges}
        if growth.linear_model is not None:
            found["column_deviation_"] = training.deviations
        bags = None
        if keep_bags or self._keeps_bags():
            held = self._bags(grown, table.values, weight > 0, keep_bags)
            forest, held_out = self._hold_out(held, labels.codes, labels.classes, weight, prior)
            found |= held_out
            bags = held if isinstance(held, OutOfBag) else None
        else:
            forest = grown.forest
        if drawn is not None:
            found["bags_"] = drawn
        self._set_bagged(table, forest, labels.classes, prior, **found)
        return replace(bags, forest=forest) if keep_bags and bags is not None else None

    def _bags(
        self, grown: Grown | GrownOnGPU, values: Floats, used: NDArray[np.bool_], keep_bags: bool
    ) -> OutOfBag | UnseenOnGPU:
        """Training rows out of each tree's bag: where the trees are, if all that is asked of them can be told there."""
        if isinstance(grown, GrownOnGPU) and not keep_bags and not self._scores_out_of_bag():
            asks_frequencies = self._completes_rule() and get(self.rule) == Probability() and self.tree_weights is None
            if asks_frequencies and not np.isnan(values[thinning(len(values), CALIBRATION_ROWS)]).any():
                return UnseenOnGPU.of(grown, values, used, self.n_jobs)
        return OutOfBag.of(grown, values, used, self.n_jobs)

    def _growth_for(self, classes: NDArray[Any], schema: Schema) -> Growth:
        """Settings of growth; where the size of nodes is chosen afterwards, of the smallest."""
        growth = self._growth(
            self.criterion,
            class_costs=None if self.cost_matrix is None else class_costs(self.cost_matrix, classes),
            feature_costs=None if self.feature_costs is None else feature_costs(self.feature_costs, schema),
            **self._splitting(),
        )
        return replace(growth, min_samples_split=_NODE_SIZES[0]) if self._chooses_size() else growth

    def _set_bagged(
        self, table: Table, forest: Forest, classes: NDArray[Any], prior: Floats, **attributes: Any
    ) -> None:
        """Set all attributes of a fit."""
        names = {"classes_": classes, "n_classes_": len(classes), "class_prior_": prior}
        self._forget("bags_", "rule_", "min_samples_split_", "tree_weights_", "oob_score_", "oob_decision_function_")
        self._set_fitted(table, forest, **names, _impurity=impurity_of(self.criterion), **attributes)

    def _unseen_rows(self, X: Any, y: Any, sample_weight: Any) -> UnseenRows:
        rows = self._read(X)
        labels = read_labels(y, rows, self.classes_)
        weight = labels.weighted(sample_weight, rows, self.class_weight, exact=self._draws_by_hash())
        training = self._training(Table(np.asfortranarray(rows), self.schema_), weight, labels=labels)
        return self._unseen_of(training, weight > 0, rows, labels.codes)

    def predict(self, X: Any) -> NDArray[Any]:
        """Most probable class of each row; with a `cost_matrix` the one of least expected cost; the first of equals.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels, of the type of `y` in `fit`.
        """
        return super().predict(X)

    def _decide(self, probabilities: Floats) -> NDArray[np.intp]:
        return self._cheapest_or_likeliest(probabilities, self.classes_)

    def _cheapest_or_likeliest(self, probabilities: Floats, classes: NDArray[Any]) -> NDArray[np.intp]:
        if self.cost_matrix is None:
            return super()._decide(probabilities)
        return cheapest_classes(probabilities, self.cost_matrix, classes)

    def _splitting(self) -> dict[str, Any]:
        """Settings of growth that say which splits are tried."""
        raise NotImplementedError

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
        if draw_scheme(self.bootstrap) is None:
            needed = [("calibration='oob'", self.calibration == "oob"), ("rule 'tempered'", rule.needs_fit)]
            if asked := [name for name, needs in needed if needs]:
                raise ValueError(f"{asked[0]} needs bootstrap=True: without it every tree has seen every row")

    def _completes_rule(self) -> bool:
        """Whether out-of-bag rows choose numbers of the rule."""
        rule = get(self.rule)
        automatic = self.calibration == "auto" and self.bootstrap and rule == Probability()
        return self.calibration == "oob" or automatic or rule.needs_fit

    def _keeps_bags(self) -> bool:
        return self._scores_out_of_bag() or isinstance(self.tree_weights, str) or self._completes_rule()

    def _check_tree_weights(self) -> None:
        """Check what can be checked before the trees are grown."""
        if isinstance(self.tree_weights, str):
            if self.tree_weights != "oob":
                raise ValueError(f"tree_weights is {self.tree_weights!r}, must be 'oob', an array of numbers or None")
            if draw_scheme(self.bootstrap) is None:
                raise ValueError("tree_weights='oob' needs bootstrap=True: without it every tree has seen every row")
        elif self.tree_weights is not None:
            scaled_tree_weights(self.tree_weights, self.n_estimators)

    def _hold_out(
        self,
        bags: OutOfBag | UnseenOnGPU,
        codes: NDArray[np.int32],
        classes: NDArray[Any],
        weight: Floats,
        prior: Floats,
    ) -> tuple[Forest, dict[str, Any]]:
        """The forest, small nodes cut as out-of-bag rows ask for, and the attributes that they give."""
        found: dict[str, Any] = {}
        tree_weights = self.tree_weights
        if isinstance(tree_weights, str):
            assert isinstance(bags, OutOfBag)
            tree_weights = found["tree_weights_"] = mean_where_unknown(bags.accuracies(codes, weight))
        n_rows, some, kept = len(codes), bags, slice(None)
        if n_rows > CALIBRATION_ROWS:
            kept = thinning(n_rows, CALIBRATION_ROWS)
            some = bags.of_rows(np.arange(n_rows)[kept])
        forest, calibrated = self._calibrate(some, HeldOut(codes[kept], weight[kept], prior, n_rows), tree_weights)
        found |= calibrated
        rule = found.get("rule_", get(self.rule))
        if self._scores_out_of_bag():
            scaled = None if tree_weights is None else scaled_tree_weights(tree_weights, forest.n_trees)
            assert isinstance(bags, OutOfBag)
            whole = replace(bags, forest=forest)
            (folded,), n_trees, unseen = whole.folds([rule.leaf_table(forest.counts, prior)], scaled)
            warn_of_no_answer(unseen)
            shares = np.full((len(unseen), len(prior)), np.nan)
            shares[unseen] = rule.finish(folded, n_trees, prior)
            decided = np.zeros(len(unseen), dtype=np.intp)
            decided[unseen] = self._cheapest_or_likeliest(shares[unseen], classes)
            found |= oob_scores(self.oob_score, shares, unseen, codes, classes, decided)
        return forest, found

    def _calibrate(
        self, bags: OutOfBag | UnseenOnGPU, held_out: HeldOut, tree_weights: Floats | None
    ) -> tuple[Forest, dict[str, Any]]:
        """The forest, small nodes cut as some out-of-bag rows ask for, and the attributes that they give."""
        rule, prior = get(self.rule), held_out.prior
        if not self._completes_rule() or not isinstance(rule, FoldRule):
            chosen = {"min_samples_split_": _NODE_SIZES[0]} if self._chooses_size() else {}
            assert isinstance(bags, OutOfBag)
            return bags.forest, chosen if self._scores_out_of_bag() else {}
        sizes = _NODE_SIZES if self._chooses_size() else _NODE_SIZES[:1]
        cuts = bags.node_sizes(sizes)
        scaled = None if tree_weights is None else scaled_tree_weights(tree_weights, bags.n_trees)
        folded, n_trees, unseen = bags.size_folds(rule, prior, cuts, scaled)
        size, found = 0, dict[str, Any]()
        if unseen.any():
            rows = replace(held_out, codes=held_out.codes[unseen], weight=held_out.weight[unseen])
            completed = [complete(rule, one, n_trees, rows, bags.n_trees) for one in folded]
            size = int(np.argmin([one.loss for one in completed]))
            found["rule_"] = completed[size].rule
        elif rule.needs_fit:
            raise ValueError("rule 'tempered': no tree has a row out of its bag; grow more trees, or give a temper")
        if self._chooses_size():
            found["min_samples_split_"] = sizes[size]
        return cuts.cut(sizes[size]), found

    def get_tree_weights(self) -> Floats | None:
        """Weight of each tree in the answer, 1 on average, (n_trees,); None: all the same.

        Returns
        -------
        ndarray of shape (n_trees,) or None
            Weights.

        Raises
        ------
        ValueError
            If ``tree_weights="oob"`` was set after `fit`.
        """
        given = self.tree_weights
        if given is None:
            return None
        if isinstance(given, str):
            self._check_tree_weights()
            if "tree_weights_" not in vars(self):
                raise ValueError("tree_weights='oob' was set after fit: fit again, or give an array")
            given = self.tree_weights_
        return scaled_tree_weights(given, self.forest_.n_trees)
