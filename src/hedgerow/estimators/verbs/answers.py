"""Verbs of classifiers and regressors, of a single tree or many."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from hedgerow._params import check_bool, is_number
from hedgerow._printable import in_one_line
from hedgerow.codegen.finish import Divide, Step
from hedgerow.contributions import Contributions, contribute
from hedgerow.counterfactual import Goal
from hedgerow.estimators.base import copied_here, is_elsewhere
from hedgerow.estimators.contract import CODES
from hedgerow.estimators.verbs.explained_classes import explain_class_rows
from hedgerow.estimators.verbs.explained_numbers import explain_number_rows
from hedgerow.estimators.verbs.training_cases import TrainingCases, read_training
from hedgerow.estimators.verbs.ways_out import WaysOut
from hedgerow.explain.explanation import LeafProbabilities
from hedgerow.explain.explanations import Explanations
from hedgerow.explain.reasons import SetSizes
from hedgerow.explain.reasons.leaf_certainty import ClassCertainty, LeafCertainty
from hedgerow.explain.reasons.number_spread import NumberSpread, number_spread
from hedgerow.explain.records import ClassExplanation, NumberExplanation
from hedgerow.folds import (
    Additive,
    Conditions,
    EntropyUncertainty,
    Fold,
    Mean,
    PlausibilityUncertainty,
    PosteriorUncertainty,
    Prunings,
    Uncertainty,
    Variance,
    deviations,
    leaf_counts,
    leaf_moments,
    tree_votes,
)
from hedgerow.forest.counts import DistinctCounts
from hedgerow.forest.importance import impurity_importances
from hedgerow.walk import HardWalk, LeafTable, Query

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from hedgerow.estimators.fitting.bagging import OutOfBag

__all__ = ["Answers", "ClassAnswers", "NumberAnswers"]

Floats = NDArray[np.float64]


class Answers(WaysOut):
    """Abstract: what classifiers and regressors share.

    Every answer that is a fold has a query. :meth:`_respond` answers several verbs about the same rows: the trees are
    walked once for all queries.
    """

    @property
    def feature_importances_(self) -> Floats:
        """Share of each feature in the decrease of impurity, mean over the trees; they add up to 1 if any is split."""
        check_is_fitted(self)
        return impurity_importances(self.forest_, self._impurity, self._column_deviation())

    def _column_deviation(self) -> Floats | None:
        """Standard deviation of each column in training, (n_features,); None where no split is oblique."""
        return getattr(self, "column_deviation_", None)

    def contributions(self, X: Any, background: Any = None, *, interactions: bool = False) -> Contributions:
        """Divide the answer for each row among the columns: Shapley values, exact for every row.

        ``base + values.sum(axis=1)`` is the prediction of a regressor, the probabilities of a classifier whose rule
        averages, or the log-odds of one whose rule adds up evidence; `of` names it. A forest that calibrates itself
        has contributions to its mean probabilities before calibration. Rules whose answers are not sums are refused.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.
        background : array-like or frame of shape (n_background, n_features), or None, default=None
            Rows whose values replace those of columns that are not known; answers are means over them. Columns that the
            model does not split on get exactly 0, and correlated columns are told apart; time grows with the number of
            rows (100 are many). None: at splits on such columns a row takes all branches, by their shares of the
            training weight.
        interactions : bool, default=False
            Whether each column's contribution is divided further, into its own part and those that it shares with each
            other column.

        Returns
        -------
        Contributions
            Values of shape (n_samples, n_features), for a classifier (n_samples, n_features, n_classes), and the base.

        Raises
        ------
        ValueError
            If the answers of the model are not sums over leaves, it has oblique splits, or `background` has no rows.

        Examples
        --------
        >>> from hedgerow import TreeRegressor
        >>> tree = TreeRegressor(pruning=None).fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 10, 11])
        >>> found = tree.contributions([[1, 0]])
        >>> found.base, found.values  # 5.5 + 5 - 0.5 = 10
        (5.5, array([[ 5. , -0.5]]))
        """
        rows = self._read_here(X)
        other = None if background is None else self._read_background(background)
        table, additive = self._additive()
        walk = self._walk
        if not isinstance(walk, HardWalk):
            raise ValueError(f"{type(self).__name__} has no contributions: its rows are in all leaves at once")
        return contribute(
            *(walk.forest, rows, table, additive, self.schema_),
            classes=tuple(getattr(self, "classes_", np.empty(0)).tolist()),
            tree_weights=self.get_tree_weights(),
            background=other,
            interactions=check_bool("interactions", interactions),
            n_jobs=self._n_jobs,
        )

    def _read_background(self, background: Any) -> Floats:
        """Convert background rows; errors name them, in one line."""
        try:
            return self._read_here(background)
        except (ValueError, TypeError) as error:
            raise type(error)(f"background: {in_one_line(error)}") from None

    def _additive(self) -> tuple[LeafTable, Additive]:
        """Leaf table of an answer that is a sum over the leaves of a row, and the answer."""
        raise ValueError(f"{type(self).__name__} has no contributions: its answers are not sums of values of leaves")

    def _source(self, verb: str, **arguments: Any) -> str:
        """Verb whose answer this one follows from by :meth:`_derive`; the verb itself where there is none."""
        return verb

    def _derive(self, verb: str, answer: Any) -> Any:
        """Answer of a verb, given that of its source."""
        raise NotImplementedError

    def _query(self, verb: str, **arguments: Any) -> Query[Any] | None:
        """Query that answers a verb; None where the answer is not a fold, or the model has no such verb."""
        raise NotImplementedError

    def _answer(self, verb: str, rows: Floats, reached: csr_array | None, **arguments: Any) -> Any:
        """Answer that is not a fold. `reached` is the spread of the rows where it is known, as in :meth:`_respond`."""
        raise NotImplementedError

    def _respond(
        self, rows: Floats, verbs: Mapping[str, Mapping[str, Any]], reached: csr_array | None = None
    ) -> dict[str, Any]:
        """Answer several verbs about the same rows in one walk, see :mod:`hedgerow.estimators.contract`.

        `reached` is the spread of the rows, (n, n_leaves), where the caller has it; None where it has not.
        """
        sources = {verb: self._source(verb, **arguments) for verb, arguments in verbs.items()}
        needed = {source: verbs[verb] if verb == source else {} for verb, source in sources.items()}
        queries = {
            verb: query for verb, arguments in needed.items() if (query := self._query(verb, **arguments)) is not None
        }
        found = dict(zip(queries, self._ask(rows, *queries.values()), strict=True))
        for verb, arguments in needed.items():
            if verb not in found:
                found[verb] = self._answer(verb, rows, reached, **arguments)
        return {
            verb: found[source] if verb == source else self._derive(verb, found[source])
            for verb, source in sources.items()
        }

    def _respond_out_of_bag(
        self, bags: OutOfBag, verbs: Mapping[str, Mapping[str, Any]]
    ) -> tuple[dict[str, Any], NDArray[np.bool_]]:
        """Answer verbs that are folds about training rows, each by the trees that it is out of the bag of.

        Returns the answers about the rows that have such trees, and which rows these are.
        """
        queries = {verb: self._query(verb, **arguments) for verb, arguments in verbs.items()}
        if no_folds := [verb for verb, query in queries.items() if query is None]:
            raise ValueError(
                f"{no_folds[0]} of this {type(self).__name__} is not a fold, and has no out-of-bag answers"
            )
        asked = [query for query in queries.values() if query is not None]
        folded, n_trees, unseen = bags.folds([query.table for query in asked], self.get_tree_weights())
        found = [query.finish(one, n_trees) for query, one in zip(asked, folded, strict=True)]
        return dict(zip(queries, found, strict=True)), unseen

    def _respond_alone(self, X: Any, verb: str, **arguments: Any) -> Any:
        return self._respond(self._read(X), {verb: arguments})[verb]


class ClassAnswers(ClassifierMixin, Answers):  # type: ignore[misc]
    """Abstract: the verbs of every classifier."""

    def predict(self, X: Any) -> NDArray[Any]:
        """Most probable class of each row; the first of equals.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels, of the type of `y` in `fit`.
        """
        rows = self._read(X)
        return self._label(self._proba(rows))

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class, (n, n_classes)."""
        rows = self._read(X)
        return self._proba(rows)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy of :meth:`predict`; labels and weights may be on a GPU too.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.
        y : array-like of shape (n_samples,)
            True labels or numbers.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weight of each row; None weighs all alike.

        Returns
        -------
        float
            Share of the rows, by weight, whose class is predicted.

        Examples
        --------
        >>> from hedgerow import TreeClassifier
        >>> TreeClassifier().fit([[1], [2], [3]], ["no", "no", "yes"]).score([[1], [9]], ["no", "no"])
        0.5
        """
        if not is_elsewhere(X):
            return float(super().score(X, y, sample_weight))
        from sklearn.metrics import accuracy_score

        found, y, sample_weight = map(copied_here, (self.predict(X), y, sample_weight))
        return float(accuracy_score(y, found, sample_weight=sample_weight))

    def predict_drawn(self, X: Any, rng: Any = None) -> NDArray[Any]:
        """Draw a class for each row with its probabilities: the lecture's probabilistic classification.

        `rng` is a seed or a ``numpy.random.Generator``. Many draws show how the classes of such rows vary; for the best
        single answer use :meth:`predict`.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.
        rng : int, numpy.random.Generator or None, default=None
            Seed of the draw, or a generator; None draws anew in every call.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.

        Examples
        --------
        >>> from hedgerow import TreeClassifier
        >>> tree = TreeClassifier(leaf_probability="frequency").fit([[1]] * 4, ["no", "no", "no", "yes"])
        >>> float((tree.predict_drawn([[1]] * 1000, rng=0) == "yes").mean())  # about a quarter
        0.267
        """
        upto = self.predict_proba(X).cumsum(axis=1)
        drawn = np.random.default_rng(rng).random(len(upto)) * upto[:, -1]
        # The last class takes the rest: a cumulative sum can be rounded to as little as what was drawn.
        return self.classes_[(upto[:, :-1] <= drawn[:, np.newaxis]).sum(axis=1)]

    def predict_uncertainty(self, X: Any, measure: str = "entropy") -> Uncertainty:
        """Total, aleatoric and epistemic uncertainty of each row.

        "entropy": in bits, by the Bayesian average over the prunings of each tree (:mod:`hedgerow.folds.prunings`).
        Aleatoric is the noise in the classes of such rows, epistemic what more training rows would take away, total
        the entropy of the average: more than that of `predict_proba`, since single trees know less than all together.
        Outside the training range the epistemic part grows.

        "leaf_entropy": in bits, of the mean of the trees' leaf probabilities (total), the mean of the trees' own
        entropies (aleatoric), and their difference (epistemic). Leaves of a single class have none, so that for full
        trees all of it is epistemic, whatever the noise; for a single tree all is aleatoric.

        "plausibility": the mean over the trees of the aleatoric and the epistemic uncertainty of the leaf, which counts
        how few samples it has (Busch et al., Combining Predictions under Uncertainty, section 3.1), and their sum.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.
        measure : {"entropy", "leaf_entropy", "plausibility"}, default="entropy"
            What the numbers are; docs/uncertainty.md compares them.

        Returns
        -------
        Uncertainty
            `total`, `aleatoric` and `epistemic`, arrays of shape (n_samples,).

        Raises
        ------
        ValueError
            If `measure` is not one of the three.

        Examples
        --------
        >>> from hedgerow import ForestClassifier
        >>> X, y = [[float(i)] for i in range(40)], [0] * 20 + [1] * 20
        >>> found = ForestClassifier(20, random_state=0).fit(X, y).predict_uncertainty([[5.0], [19.5], [90.0]])
        >>> bool(found.total[1] > found.total[0]), bool(found.epistemic[2] > found.epistemic[0])  # between; far outside
        (True, True)
        """
        return self._respond_alone(X, "predict_uncertainty", measure=measure)

    def leaf_counts(self, X: Any) -> Floats:
        """Evidence: weighted class counts of the leaf that each row reaches in each tree, (n, n_trees, n_classes).

        For a row that reaches several leaves of a tree, the weighted mean of their counts.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_trees, n_classes)
            Counts.

        Examples
        --------
        >>> from hedgerow import TreeClassifier
        >>> TreeClassifier().fit([[1], [2], [3]], ["no", "no", "yes"]).leaf_counts([[1.5]])
        array([[[2., 0.]]])
        """
        rows = self._read(X)
        return self._ask(rows, self._counts_query())[0]

    def explain(
        self, X: Any, *, training: tuple[Any, Any] | None = None, contributions: bool = False
    ) -> Explanations[ClassExplanation]:
        """Explain the prediction for each row: the path down a single tree, or the votes of several, and the doubt.

        ``print(model.explain(X)[0])`` is a text for people; `reasons` of the whole has the shares of the reasons for
        doubt of all rows as arrays (docs/reasons.md). With ``training=(X, y)``, rows that were fitted on, the nearest
        of them with other classes are named. With ``contributions=True`` it is said what each column adds to the
        answer (:meth:`contributions`), which takes 6 to 20 times as long.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.
        training : (X, y) or None, default=None
            Rows of `fit` again: the nearest of them that have another class are named.
        contributions : bool, default=False
            Whether it is said what each column adds to the answer, see :meth:`contributions`.

        Returns
        -------
        Explanations
            A record for each row, like a list; a table in notebooks.

        Raises
        ------
        ValueError
            If `training` are not rows of `fit`, or the model has no contributions.

        Examples
        --------
        >>> from hedgerow import TreeClassifier
        >>> tree = TreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "no", "yes"])
        >>> print(tree.explain([[4]])[0])
        yes, because
          x0 is 4, above 3.5
        Training rows in its leaf: 1 yes.
        Probabilities: yes 0.85, no 0.15.
        Doubt: its leaf has only 1 row.
        """
        rows = self._read_here(X)
        found = explain_class_rows(self, rows, read_training(self, training))
        return found.with_contributions(self.contributions(X)) if check_bool("contributions", contributions) else found

    def _explain_read(
        self, rows: Floats, outer: SetSizes | None = None, training: TrainingCases | None = None
    ) -> Explanations[Any]:
        """Explain converted rows; `outer` are the sets of a model that wraps this one, and say where there is doubt."""
        return explain_class_rows(self, rows, training, outer=outer)

    _set_verbs: tuple[str, ...] = ()
    _leaf_probabilities: LeafProbabilities | None = None
    """Probabilities of rows in the leaves of a single tree with these numbers, where leaves have probabilities."""

    def _decide(self, probabilities: Floats) -> NDArray[np.intp]:
        """Position in `classes_` of the class of each row, given its probabilities."""
        return probabilities.argmax(axis=1)

    def _label(self, probabilities: Any) -> NDArray[Any]:
        """Class of each row, given its probabilities."""
        if (walk := self._device_walk) is None or isinstance(probabilities, np.ndarray):
            return self.classes_[self._decide(probabilities)]
        from hedgerow.gpu.answers import labels_on_device

        labels: NDArray[Any] = labels_on_device(walk, self.classes_, self._decide, probabilities)
        return labels

    def _proba(self, rows: Floats) -> Floats:
        query = self._proba_query()
        return self._answer("predict_proba", rows, None) if query is None else self._ask(rows, query)[0]

    def _source(self, verb: str, **arguments: Any) -> str:
        return "predict_proba" if verb in ("predict", CODES) else verb

    def _derive(self, verb: str, answer: Any) -> Any:
        return self._decide(answer) if verb == CODES else self._label(answer)

    def _query(self, verb: str, **arguments: Any) -> Query[Any] | None:
        match verb:
            case "predict_proba":
                return self._proba_query()
            case "predict_uncertainty":
                return self._uncertainty_query(**arguments)
            case "leaf_counts":
                return self._counts_query()
            case "votes":
                return self._tables.get("votes", lambda: tree_votes(self.forest_))
            case "certainty":
                return self._certainty_query()
        return None

    def _uncertainty_query(self, measure: str = "entropy") -> Query[Uncertainty] | None:
        match measure:
            case "entropy":
                return self._posterior_query()
            case "leaf_entropy":
                return self._leaf_entropy_query()
            case "plausibility":
                fold = PlausibilityUncertainty()
                table = self._tables.get(fold, lambda: fold.table_of(self.forest_.distinct_counts, None))
                return fold.query(table, None, self.get_tree_weights())
        raise ValueError(f"measure is {measure!r}, must be 'entropy', 'leaf_entropy' or 'plausibility'")

    def _proba_query(self) -> Query[Floats] | None:
        """Query for the probabilities; None where they are no fold."""
        raise NotImplementedError

    def _leaf_probability(self) -> Fold[Floats, Floats]:
        """Fold whose table has the probabilities of each leaf, whatever combines them."""
        raise ValueError(f"{type(self).__name__} has no probabilities of leaves: its answers vary within a leaf")

    def _leaf_evidence(self) -> DistinctCounts:
        """Class counts that predictions are computed from."""
        return self.forest_.distinct_counts

    def _goals(self, target: Any) -> list[Goal]:
        labels = self.classes_.tolist()
        if target is not None and target not in labels:
            raise ValueError(f"target is {target!r}, must be one of the classes {', '.join(map(repr, labels[:10]))}")
        if len(labels) < 2:
            raise ValueError(f"there is no other answer: the model knows the class {labels[0]!r} alone")
        wanted = range(len(labels)) if target is None else [labels.index(target)]
        return [self._goal(code) for code in wanted]

    def _goal(self, code: int) -> Goal:
        """Goal to be answered by a class, alone."""
        query, conditions = self._proba_query(), self._conditions(code)
        if query is None or conditions is None:
            raise self._no_counterfactuals()

        def accepts(row: Floats) -> bool:
            return bool(self._decide(self._proba(row[np.newaxis]))[0] == code)

        return Goal(self.classes_.tolist()[code], query.table, conditions, query.tree_weights, accepts)

    def _conditions(self, code: int) -> Conditions | None:
        """Conditions on the folded probabilities for a class to be predicted; None where none are linear."""
        return None

    def _no_counterfactuals(self) -> ValueError:
        return ValueError(f"{type(self).__name__} has no counterfactuals: its answers vary within a leaf")

    def _leaf_entropy_query(self) -> Query[Uncertainty] | None:
        fold = EntropyUncertainty(self._leaf_probability())
        key = (fold, self._settings())
        table = self._tables.get(key, lambda: fold.table_of(self._leaf_evidence(), self.class_prior_))
        return fold.query(table, self.class_prior_, self.get_tree_weights())

    def _posterior_query(self) -> Query[Uncertainty]:
        prunings, prior = self._prunings(), self._evidence_prior()
        key = ("posteriors", prunings, self._settings())

        def compute() -> Query[Uncertainty]:
            posteriors = prunings.posteriors(self.forest_, self._observed_counts(), prior)
            return PosteriorUncertainty(posteriors, prior, self._ranges_of_splits()).query()

        return replace(self._tables.get(key, compute), tree_weights=self.get_tree_weights())

    def _prunings(self) -> Prunings:
        """Prior over the prunings of the trees, and what their counts are worth as evidence."""
        return Prunings()

    def _observed_counts(self) -> Floats:
        """Class counts of the training rows in every leaf, (n_leaves, n_classes)."""
        return self.forest_.counts

    def _evidence_prior(self) -> Floats:
        """Class shares that the counts of leaves go with."""
        return self.class_prior_

    def _certainty_query(self) -> Query[ClassCertainty] | None:
        """Query for what reasons for doubt are computed from; None where that is not a fold."""
        key = ("certainty", self._certainty_settings(), self._settings())
        query = self._tables.get(key, lambda: self._leaf_certainty().query(None))
        return replace(query, tree_weights=self.get_tree_weights())

    def _certainty_settings(self) -> Any:
        """Strategy that the certainty of leaves depends on."""
        return self._leaf_probability()

    def _leaf_certainty(self) -> LeafCertainty:
        """Certainty of each leaf about each class: its probabilities."""
        lower = self._leaf_probability().table_of(self._leaf_evidence(), self.class_prior_)
        return LeafCertainty.of(lower, self.forest_.distinct_counts)

    def _settings(self) -> tuple[Any, ...]:
        """Parameters, in a form that can be compared, that change the evidence of leaves after `fit`."""
        return ()

    def _counts_query(self) -> Query[Floats]:
        return self._tables.get("counts", lambda: leaf_counts(self.forest_))

    def leaf_probabilities(self) -> Floats:
        """Probability of each class in every leaf of the forest, (n_leaves, n_classes).

        Returns
        -------
        ndarray of shape (n_leaves, n_classes)
            Probabilities.

        Examples
        --------
        >>> from hedgerow import TreeClassifier
        >>> tree = TreeClassifier(leaf_probability="laplace").fit([[1], [2], [3]], ["no", "no", "yes"])
        >>> tree.leaf_probabilities().round(2)
        array([[0.75, 0.25],
               [0.33, 0.67]])
        """
        check_is_fitted(self)
        leaves = self._leaf_evidence()
        return leaves.of_each_leaf(np.asarray(self._leaf_probability().table(leaves.counts, self.class_prior_)))


class NumberAnswers(RegressorMixin, Answers):  # type: ignore[misc]
    """Abstract: the verbs of a regressor."""

    def predict(self, X: Any) -> Floats:
        """Mean over the trees of the mean of the leaf that each row reaches.

        For a row that reaches several leaves of a tree, the weighted mean of theirs.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predictions.

        Examples
        --------
        >>> from hedgerow import TreeRegressor
        >>> TreeRegressor(max_leaf_nodes=2).fit([[1], [2], [3], [4]], [10, 10, 20, 60]).predict([[1], [4], [None]])
        array([13.33333333, 60.        , 25.        ])
        """
        rows = self._read(X)
        return self._ask(rows, self._mean_query())[0]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R² of :meth:`predict`, the share of the variance that it explains; targets may be on a GPU too.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.
        y : array-like of shape (n_samples,)
            True labels or numbers.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weight of each row; None weighs all alike.

        Returns
        -------
        float
            R², at most 1; 0 is that of the mean target, and worse predictions are below 0.
        """
        if not is_elsewhere(X):
            return float(super().score(X, y, sample_weight))
        from sklearn.metrics import r2_score

        found, y, sample_weight = map(copied_here, (self.predict(X), y, sample_weight))
        return float(r2_score(y, found, sample_weight=sample_weight))

    def predict_uncertainty(self, X: Any, measure: str = "deviation") -> Uncertainty:
        """Total, aleatoric and epistemic uncertainty of each row.

        "deviation": standard deviations, in the unit of the target: of the targets in the leaves (aleatoric), of the
        trees' means (epistemic), and of both together (total); total² = aleatoric² + epistemic². A single tree has no
        between-tree variance; all uncertainty is aleatoric.

        "variance": their squares, which add up.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.
        measure : {"deviation", "variance"}, default="deviation"
            What the numbers are.

        Returns
        -------
        Uncertainty
            `total`, `aleatoric` and `epistemic`, arrays of shape (n_samples,).

        Raises
        ------
        ValueError
            If `measure` is neither of the two.
        """
        return self._respond_alone(X, "predict_uncertainty", measure=measure)

    def explain(
        self,
        X: Any,
        coverage: float = 0.9,
        *,
        training: tuple[Any, Any] | None = None,
        contributions: bool = False,
    ) -> Explanations[NumberExplanation]:
        """Explain the prediction for each row: the path down a single tree, or the spread of several, and the doubt.

        `coverage` is that of the interval, if the model has one. ``print(model.explain(X)[0])`` is a text for people;
        `reasons` of the whole has the shares of the reasons for doubt as arrays (docs/reasons.md). With
        ``training=(X, y)``, rows that were fitted on, the nearest of them are named. With ``contributions=True`` it is
        said what each column adds to the prediction (:meth:`contributions`).

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.
        coverage : float, default=0.9
            Probability that the interval is to hold the target, for models that have intervals.
        training : (X, y) or None, default=None
            Rows of `fit` again: the nearest of them are named.
        contributions : bool, default=False
            Whether it is said what each column adds to the prediction, see :meth:`contributions`.

        Returns
        -------
        Explanations
            A record for each row, like a list; a table in notebooks.

        Raises
        ------
        ValueError
            If `training` are not rows of `fit`; when a record is made, if `coverage` is not between 0 and 1.
        """
        rows = self._read_here(X)
        found = explain_number_rows(self, rows, coverage, read_training(self, training))
        return found.with_contributions(self.contributions(X)) if check_bool("contributions", contributions) else found

    def _explain_read(
        self, rows: Floats, outer: SetSizes | None = None, training: TrainingCases | None = None
    ) -> Explanations[Any]:
        """Explain converted rows; the doubt about numbers is the same whatever wraps this model."""
        return explain_number_rows(self, rows, 0.9, training)

    def _goals(self, target: Any) -> list[Goal]:
        low, high = target if isinstance(target, tuple | list) and len(target) == 2 else (None, None)
        low, high = -np.inf if low is None else low, np.inf if high is None else high
        if not (is_number(low) and is_number(high) and low <= high) or -low == high == np.inf:
            raise ValueError(
                f"target is {target!r}, must be an interval for the prediction: (low, high), one of them None for none"
            )
        query, n_trees = self._mean_query(), self.forest_.n_trees
        bounded = np.isfinite([low, high])
        conditions = Conditions(
            np.array([[1.0, -1.0]])[:, bounded], np.array([-n_trees * float(low), n_trees * float(high)])[bounded]
        )

        def accepts(row: Floats) -> bool:
            return bool(low <= self._ask(row[np.newaxis], query)[0][0] <= high)

        return [Goal((float(low), float(high)), query.table, conditions, query.tree_weights, accepts)]

    _has_intervals = False

    def _query(self, verb: str, **arguments: Any) -> Query[Any] | None:
        match verb:
            case "predict":
                return self._mean_query()
            case "predict_uncertainty":
                return self._spread_query(**arguments)
            case "leaf_moments":
                return leaf_moments(self.forest_)
        return None

    def _spread_query(self, measure: str = "deviation") -> Query[Uncertainty]:
        fold = Variance()
        query = fold.query(self._tables.get(fold, lambda: fold.leaf_table(self.forest_.stats, None)), None)
        match measure:
            case "deviation":
                return replace(query, finish=lambda folded, n_trees: deviations(fold.finish(folded, n_trees, None)))
            case "variance":
                return query
        raise ValueError(f"measure is {measure!r}, must be 'deviation' or 'variance'")

    def _number_spread_query(self) -> Query[NumberSpread]:
        return self._tables.get("spread", lambda: number_spread(self.forest_.stats))

    def _mean_query(self) -> Query[Floats]:
        return Mean().query(self._mean_table(), None)

    def _mean_table(self) -> LeafTable:
        fold = Mean()
        return self._tables.get(fold, lambda: fold.leaf_table(self.forest_.stats, None))

    def _additive(self) -> tuple[LeafTable, Additive]:
        return self._mean_table(), Mean().additive(self.forest_.n_trees, None)

    def _sums_and_steps(self) -> tuple[Query[Any], tuple[Step, ...]]:
        return self._mean_query(), (Divide(self.forest_.n_trees),)
