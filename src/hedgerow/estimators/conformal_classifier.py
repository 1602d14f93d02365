"""Sets of classes that hold the true one as often as promised, and Venn–Abers probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator

from hedgerow._params import check_bool, check_choice
from hedgerow.conformal.calibration import ClassCalibration, ClassThresholds, check_enough
from hedgerow.conformal.class_scores import ClassScore, class_score
from hedgerow.conformal.draws import draw_for_rows
from hedgerow.conformal.explanation import ConformalClassExplanation
from hedgerow.conformal.jackknife import class_levels
from hedgerow.conformal.levels import ROUNDING
from hedgerow.conformal.venn_abers import VennAbers, merge
from hedgerow.data.sparse import densify
from hedgerow.data.table import Schema
from hedgerow.data.targets import Labels, read_labels, read_weights
from hedgerow.estimators.cautious import CautiousForestClassifier
from hedgerow.estimators.conformal import JACKKNIFE, Conformal, TreesOf, Verbs, model_and_why
from hedgerow.estimators.contract import CODES, offers, respond
from hedgerow.estimators.forest_classifier import ForestClassifier
from hedgerow.estimators.rule_classifier import RuleClassifier
from hedgerow.estimators.seeding import seed_of
from hedgerow.estimators.stored import storable
from hedgerow.estimators.verbs.training_cases import read_training
from hedgerow.explain.explanations import Explanations
from hedgerow.explain.reasons import REASONS, Reasons, SetSizes

__all__ = ["ConformalClassifier"]

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

_PROBABILITIES = ("estimator", "venn_abers")
_LEVELS = "predict_levels"  # no method: from which coverage on each class is in the set
_SETS = frozenset({"predict_set", "predict_bounds", _LEVELS})


@storable
class ConformalClassifier(ClassifierMixin, Conformal):  # type: ignore[misc]
    """Sets of classes that hold the true one with a probability of your choice, and bounds on probabilities.

    Each class of a new row is compared with the true classes of calibration rows, about which the model has been asked
    without having seen them: a forest of bootstrap samples by the trees that a row is out of the bag of, so that no row
    is given away and nothing is fitted twice. If rows are exchangeable, a set holds the true class with a probability
    of about `coverage`; docs/coverage.md says for which method that is a theorem, and what was measured.

    Parameters
    ----------
    estimator : classifier or None, default=None
        Any classifier with `predict_proba`. It is cloned and fitted, unless it is
        ``sklearn.frozen.FrozenEstimator(fitted)``, which is used as it is, and `fit` is given rows that it has not
        seen. None is ``ForestClassifier(random_state=0)``; with ``conformity_score="bounds"``, which needs credal
        `predict_bounds`, ``CautiousForestClassifier(random_state=0)``.
    coverage : float, default=0.9
        Probability that a set is to hold the true class. Can be changed after `fit`.
    conformity_score : {"lac", "aps", "raps", "bounds"} or an instance from :mod:`hedgerow.conformal`, default="lac"
        How strange a class is: 1 − p(y|x), which gives the smallest sets; the sum of the probabilities of all classes
        at least as probable (APS), whose sets are larger where rows are harder; the same with a penalty on large sets;
        how far another class's lower bound is above its upper bound. All but the last can be changed after `fit`.
    method : {"auto", "oob", "jackknife+", "loo", "cv", "split"}, default="auto"
        Where answers come from that have not seen a row: "oob", the trees that it is out of the bag of; "jackknife+",
        the same, and a new row is compared with each calibration row by just these trees, which costs a comparison for
        every pair of rows, and has a theorem: at least 1 − 2·(1 − coverage); "loo", random
        trees without its counts; "cv", `cv` models fitted to the other folds; "split", one of `cv` folds that the
        estimator is not fitted to, or all rows for a frozen estimator. "auto" is the first of these that the estimator
        allows; a frozen one is split.
    groups : "class", name or position of a column, or None, default=None
        Coverage is promised for each class, or for each value of a column, and not only on average over them. Rows with
        another value in the column, or none, are treated as one of all calibration rows.
    probabilities : {"estimator", "venn_abers"}, default="estimator"
        What `predict_proba` returns: the estimator's, or those of Venn–Abers prediction, merged from `predict_bounds`.
        Can be changed after `fit`.
    randomized : {"auto"} or bool, default="auto"
        Break ties between scores by a number drawn for each row from its values and the seed, so that coverage is not
        above `coverage`; "aps" and "raps" then include the last class at random. "auto": for "aps" and "raps", which
        cover several points too much without. "auto" and True can be changed to False after `fit`.
    allow_empty : bool, default=False
        Whether a set may be empty, which means that the row is unlike all calibration rows. By default it has the least
        strange class at least. Can be changed after `fit`.
    cv : int or a splitter of scikit-learn, default=5
        Number of folds, or what makes them, for "cv"; for "split", which holds one of them out.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds, and of the numbers that break ties.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator.
    method_ : str
        The method that "auto" stands for.
    calibration_ : ClassCalibration
        Held-out answers, classes and weights of the calibration rows.
    classes_ : array of shape (n_classes,)
        Labels, in the order of the columns of `predict_proba`.
    n_classes_ : int
        Number of classes.
    schema_ : Schema
        Names, kinds and categories of the columns.
    forest_ : Forest
        The trees.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of shape (n_features,)
        Names of the columns; absent if X had none.
    feature_importances_ : array of shape (n_features,)
        Share of each column in the decrease of impurity; they add up to 1.

    Notes
    -----
    `sample_weight` counts rows: one of weight 2 is two calibration rows. Rows of weight 0 are left out, and so are
    those in the bag of every tree. (`score` is scikit-learn's method, hence the name `conformity_score`.)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> from hedgerow import ConformalClassifier
    >>> model = ConformalClassifier(coverage=0.95).fit(X[::2], y[::2])
    >>> sets = model.predict_set(X[1::2])
    >>> bool(sets[range(75), y[1::2]].mean() >= 0.9), round(float(sets.sum(axis=1).mean()), 1)
    (True, 1.0)
    """

    def __init__(
        self,
        estimator: Any = None,
        coverage: float = 0.9,
        conformity_score: Any = "lac",
        method: str = "auto",
        *,
        groups: Any = None,
        probabilities: str = "estimator",
        randomized: Any = "auto",
        allow_empty: bool = False,
        cv: Any = 5,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.coverage = coverage
        self.conformity_score = conformity_score
        self.method = method
        self.groups = groups
        self.probabilities = probabilities
        self.randomized = randomized
        self.allow_empty = allow_empty
        self.cv = cv
        self.random_state = random_state

    @classmethod
    def from_fitted(cls, model: Any, X: Any, y: Any, sample_weight: Any = None, **settings: Any) -> ConformalClassifier:
        """Calibrate a fitted model by rows that it was not fitted on.

        Parameters
        ----------
        model : fitted estimator
            The model to wrap; it is not fitted again.
        X : array-like or frame of shape (n_samples, n_features)
            Rows that the model was not fitted on: they calibrate it.
        y : array-like of shape (n_samples,)
            Labels or numbers, one for each row.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weight of each row; None weighs all alike.
        **settings
            Parameters of this class by name.

        Returns
        -------
        estimator of this class
            Calibrated, ready to predict.

        Raises
        ------
        ValueError
            If a setting is out of its range, or X or y can't be read.
        NotFittedError
            If the model is not fitted.

        Examples
        --------
        >>> from hedgerow import ConformalClassifier
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.linear_model import LogisticRegression
        >>> X, y = load_iris(return_X_y=True)
        >>> theirs = LogisticRegression(max_iter=1000).fit(X[::2], y[::2])
        >>> model = ConformalClassifier.from_fitted(theirs, X[1::2], y[1::2], coverage=0.95)
        >>> model.predict_set(X[:1])
        array([[ True, False, False]])
        """
        fitted = model.estimator if isinstance(model, FrozenEstimator) else model
        return cls(FrozenEstimator(fitted), **settings).fit(X, y, sample_weight)

    # -- fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> ConformalClassifier:
        """Fit the estimator, unless it is frozen, and ask it about rows that it has not seen.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,)
            Labels or numbers, one for each row.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Weight of each row: a number of rows, if all are whole numbers, else relative and rescaled to a mean of 1;
            None weighs all alike.
        **fit_params
            Passed to `fit` of the estimator; with metadata routing as it was requested.

        Returns
        -------
        self
            The fitted model.

        Raises
        ------
        ValueError
            If a parameter is out of its range or does not go with the estimator, there are too few rows, or X or y
            can't be read.
        TypeError
            If `estimator` is not a classifier, or regressor, that can be asked for what the score needs.
        """
        score = self._check_settings()
        coverage = self._coverage(None)
        X = densify(X)
        labels = read_labels(y, X)
        weight = read_weights(sample_weight, labels.codes)
        template = self._template()
        verbs: Verbs = {verb: {} for verb in dict.fromkeys(["predict_proba", score.verb])}
        _check_estimator(template, verbs, score)
        params = self._params_of_fit(template, None if sample_weight is None else weight, fit_params)
        if isinstance(template, FrozenEstimator):
            labels = _labels_of_model(labels, template.estimator)

        def ask(model: Any, X: Any) -> dict[str, NDArray[Any]]:
            return _of_all_classes(respond(model, X, verbs), model.classes_, labels.classes)

        held_out = self._hold_out(X, labels.classes[labels.codes], labels.codes, params, verbs, ask)
        counted = weight[held_out.used] > 0
        rows = np.flatnonzero(held_out.used)[counted]
        found = self._found(X, held_out, rows)
        found |= {"classes_": labels.classes, "n_classes_": len(labels.classes)}
        answers = {verb: values[counted] for verb, values in held_out.answers.items()}
        calibration, seeds = self._calibrate(X, rows, labels, weight, answers, found["schema_"])
        self._check_rows(calibration, coverage, labels.classes)
        self._set_found(found | {"calibration_": calibration} | seeds)
        return self

    def _check_settings(self) -> ClassScore:
        check_choice("probabilities", self.probabilities, _PROBABILITIES)
        if not (isinstance(self.randomized, str) and self.randomized == "auto"):
            check_bool("randomized", self.randomized, hint=", or 'auto'")
        check_bool("allow_empty", self.allow_empty)
        return class_score(self.conformity_score)

    def _default(self) -> Any:
        needs_bounds = class_score(self.conformity_score).verb == "predict_bounds"
        return CautiousForestClassifier(random_state=0) if needs_bounds else ForestClassifier(random_state=0)

    def _trees_of(self, model: Any) -> TreesOf:
        found: TreesOf = model if offers(model, "_respond_out_of_bag") else RuleClassifier.from_fitted(model)
        return found

    def _calibrate(
        self,
        X: Any,
        rows: NDArray[np.intp],
        labels: Labels,
        weight: Floats,
        answers: Mapping[str, NDArray[Any]],
        schema: Schema,
    ) -> tuple[ClassCalibration, dict[str, Any]]:
        """Calibration rows, and the seed of draws if there are any."""
        by_column = not (self.groups is None or (isinstance(self.groups, str) and self.groups == "class"))
        may_draw = bool(self.randomized)  # "auto" too: the score can be changed
        needs_rows = may_draw or by_column
        values = schema.read(X)[rows] if needs_rows else np.zeros((len(rows), 0))
        groups = self._read_groups(schema, values, classes=True)
        seeds = {"seed_": seed_of(self.random_state)} if may_draw else {}
        calibration = ClassCalibration(
            proba=np.ascontiguousarray(answers["predict_proba"], dtype=np.float64),
            bounds=answers.get("predict_bounds", np.zeros(0)),
            codes=labels.codes[rows],
            weight=weight[rows],
            groups=groups,
            group=groups.of_rows(values),
            draws=draw_for_rows(values, seeds["seed_"]) if seeds else np.zeros(0),
        )
        return calibration, seeds

    def _check_rows(self, calibration: ClassCalibration, coverage: float, classes: NDArray[Any]) -> None:
        """Refuse a coverage that needs more calibration rows than there are."""
        groups = calibration.groups
        names = classes.tolist() if groups.by_class else groups.names
        check_enough(coverage, calibration.rows_by_group(), names, "class" if groups.by_class else "set")

    # -- answering

    def predict(self, X: Any) -> NDArray[Any]:
        """Class of each row: the estimator's, or the most probable by Venn–Abers prediction.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels, of the type of `y` in `fit`.
        """
        found: NDArray[Any] = self._respond_alone(X, "predict")
        return found

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class, (n, n_classes), as `probabilities` says.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, in the order of `classes_`.
        """
        found: Floats = self._respond_alone(X, "predict_proba")
        return found

    def predict_set(self, X: Any, coverage: float | None = None) -> Bools:
        """Classes of each row, bool (n, n_classes), among which the true one is with probability `coverage`.

        `coverage` is the parameter, unless given. No row is empty, unless `allow_empty` is set.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.
        coverage : float or None, default=None
            Probability that is promised; None: the parameter `coverage`.

        Returns
        -------
        bool ndarray of shape (n_samples, n_classes)
            Whether each class is in the set.

        Raises
        ------
        ValueError
            If `coverage` is not between 0 and 1, or more than so many calibration rows can promise.
        """
        found: Bools = self._respond_alone(X, "predict_set", coverage=coverage)
        return found

    def predict_bounds(self, X: Any) -> Floats:
        """Lower and upper bound on the probability of each class, (n, n_classes, 2), by Venn–Abers prediction.

        One of the two is calibrated, whatever the estimator: among rows with such bounds the class is as frequent as
        they say (Vovk and Petej, 2014). Of more than two classes each is calibrated against the rest.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes, 2)
            Lower and upper bounds, from 0 to 1.

        Raises
        ------
        ValueError
            If there are no calibration rows.
        """
        found: Floats = self._respond_alone(X, "predict_bounds")
        return found

    def explain(
        self, X: Any, coverage: float | None = None, *, training: tuple[Any, Any] | None = None
    ) -> Explanations[ConformalClassExplanation]:
        """Explain each row: as the estimator does, which classes are kept at which coverage, and by how many rows.

        ``print(model.explain(X)[0])`` is a text for people; `reasons` of the whole has the shares of the reasons for
        doubt of all rows (docs/reasons.md): where the set is not a single class.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.
        coverage : float or None, default=None
            Probability that is promised; None: the parameter `coverage`.
        training : (X, y) or None, default=None
            Rows of `fit` again: the nearest of them with other answers are named.

        Returns
        -------
        Explanations
            A record for each row, like a list; a table in notebooks.

        Raises
        ------
        ValueError
            If `coverage` is not between 0 and 1, or `training` are not rows of `fit`.
        """
        rows = self._read(X)
        wanted = self._coverage(coverage)
        verbs: Verbs = {"predict": {}, "predict_proba": {}, "predict_set": {"coverage": wanted}, _LEVELS: {}}
        found = self._respond(rows, verbs)
        sizes = SetSizes(found["predict_set"].sum(axis=1), 1.0 - wanted)
        trees = self._trees_to_explain()
        if trees is None:
            doubt = np.where(sizes.sizes == 1, 0.0, 1.0 - found["predict_proba"].max(axis=1))
            inner: Sequence[Any] = [None] * len(rows)
            reasons = Reasons.unknown(tuple(one.name for one in REASONS), doubt, "probability")
        else:
            inner = explained = trees._explain_read(
                self._rows_of_trees(rows, trees), sizes, read_training(trees, training)
            )
            reasons = explained.reasons
        calibration: ClassCalibration = self.calibration_
        group = calibration.groups.of_rows(self._values(rows))
        n_rows = calibration.rows_by_group()
        total = float(calibration.weight.sum())
        classes = tuple(self.classes_.tolist())

        def record(i: int) -> ConformalClassExplanation:
            in_group = calibration.groups.column >= 0 and group[i] >= 0
            return ConformalClassExplanation(
                answer=found["predict"][i],
                classes=classes,
                probabilities=tuple(found["predict_proba"][i].tolist()),
                coverage=wanted,
                set=tuple(name for name, kept in zip(classes, found["predict_set"][i], strict=True) if kept),
                levels=tuple(found[_LEVELS][i].tolist()),
                n_rows=tuple(n_rows.tolist())
                if calibration.groups.by_class
                else (float(n_rows[group[i]]) if in_group else total,),
                group=calibration.groups.names[group[i]] if in_group else None,
                **model_and_why(inner[i]),
            )

        return Explanations(
            lambda first, last: [record(i) for i in range(first, last)],
            *(reasons, found["predict"], found["predict_set"], self.classes_),
        )

    def _trees_to_explain(self) -> Any:
        """Model whose trees explain the answers: the wrapped one, or that of a foreign forest; None without trees."""
        if offers(self.estimator_, "_explain_read"):
            return self.estimator_

        def wrap() -> RuleClassifier | None:
            try:
                return RuleClassifier.from_fitted(self.estimator_)
            except (TypeError, ValueError):  # no trees, or such as can't be read
                return None

        return self._tables.get("trees to explain", wrap)

    def _respond(self, rows: Any, verbs: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        own = {verb: arguments for verb, arguments in verbs.items() if verb in self._own_verbs()}
        inner: dict[str, Any] = {verb: dict(arguments) for verb, arguments in verbs.items() if verb not in own}
        score = self._check_settings()
        if {"predict_set", _LEVELS} & own.keys():
            self.calibration_.answers(score)  # an error if there are none
            if self.method_ != JACKKNIFE:
                inner |= {score.verb: {}}
        if own.keys() - {"predict_set", _LEVELS}:
            inner |= {"predict_proba": {}}
        asked = {verb: arguments for verb, arguments in inner.items() if verb != CODES}
        if CODES in inner:
            asked["predict"] = {}
        answers = _of_all_classes(self._ask(rows, asked), self.estimator_.classes_, self.classes_)
        if CODES in inner:
            answers[CODES] = np.searchsorted(self.classes_, answers["predict"])
        if self.method_ == JACKKNIFE and {"predict_set", _LEVELS} & own.keys():
            answers[_LEVELS] = self._levels_by_ensembles(rows, score)
        return {
            verb: self._answer(verb, rows, answers, score, **verbs[verb]) if verb in own else answers[verb]
            for verb in verbs
        }

    def _own_verbs(self) -> frozenset[str]:
        """Verbs that the estimator does not answer itself."""
        return _SETS if self.probabilities == "estimator" else _SETS | {"predict", "predict_proba", CODES}

    def _answer(self, verb: str, rows: Any, answers: Mapping[str, Any], score: ClassScore, **arguments: Any) -> Any:
        match verb:
            case "predict_set":
                if self.method_ == JACKKNIFE:
                    return self._sets_of_levels(answers[_LEVELS], **arguments)
                return self._sets(rows, answers[score.verb], score, **arguments)
            case verb if verb == _LEVELS:
                if self.method_ == JACKKNIFE:
                    return answers[_LEVELS]
                return self._levels(rows, score.scores(answers[score.verb], self._draws(rows, score)), score)
        bounds = self._bounds(answers["predict_proba"])
        if verb == "predict_bounds":
            return bounds
        merged = merge(bounds)
        merged = merged / np.cumsum(merged, axis=1)[:, -1:]
        if verb == "predict_proba":
            return merged
        codes = merged.argmax(axis=1)
        return codes if verb == CODES else self.classes_[codes]

    def _sets(self, rows: Any, answers: Floats, score: ClassScore, coverage: float | None = None) -> Bools:
        wanted = self._coverage(coverage)
        calibration: ClassCalibration = self.calibration_
        self._check_rows(calibration, wanted, self.classes_)
        scores = score.scores(answers, self._draws(rows, score))
        group = calibration.groups.of_rows(self._values(rows))
        if (ties := self._ties(rows, score)) is not None:
            sets: Bools = self._sorted_scores(score).randomized_sets(scores, group, ties, wanted)
        else:
            thresholds = self._tables.get(
                ("thresholds", score, wanted), lambda: self._sorted_scores(score).thresholds(wanted)
            )
            limits = thresholds if len(thresholds) == 1 else thresholds[group]
            sets = scores <= limits + ROUNDING * np.abs(np.where(np.isfinite(limits), limits, 0.0))
        if not self.allow_empty:
            empty = ~sets.any(axis=1)
            sets[empty] = scores[empty] == scores[empty].min(axis=1, keepdims=True)
        return sets

    def _levels(self, rows: Any, scores: Floats, score: ClassScore) -> Floats:
        group = self.calibration_.groups.of_rows(self._values(rows))
        return self._sorted_scores(score).levels(scores, group, self._ties(rows, score))

    def _sets_of_levels(self, levels: Floats, coverage: float | None = None) -> Bools:
        wanted = self._coverage(coverage)
        self._check_rows(self.calibration_, wanted, self.classes_)
        sets: Bools = levels < wanted * (1 - ROUNDING)
        if not self.allow_empty:
            empty = ~sets.any(axis=1)
            sets[empty] = levels[empty] == levels[empty].min(axis=1, keepdims=True)
        return sets

    def _levels_by_ensembles(self, rows: Any, score: ClassScore) -> Floats:
        """Levels of each class, each calibration row being compared with what its own ensemble says."""
        calibration: ClassCalibration = self.calibration_
        draws, n_rows = self._draws(rows, score), len(calibration.codes)
        own = calibration.scores_of_truth(score, calibration.draws if self._draws_sets(score) else None)
        ties = self._ties(rows, score)
        group = calibration.groups.of_rows(self._values(rows))
        found = np.empty((len(rows), self.n_classes_))
        for some, answers in self._ask_ensembles(rows, {score.verb: {}}):
            each = score.scores(answers[score.verb], None if draws is None else np.repeat(draws[some], n_rows))
            scores = each.reshape(-1, n_rows, self.n_classes_)
            found[some] = class_levels(calibration, own, scores, group[some], None if ties is None else ties[some])
        return found

    def _sorted_scores(self, score: ClassScore) -> ClassThresholds:
        calibration: ClassCalibration = self.calibration_
        draws = calibration.draws if self._draws_sets(score) else None
        key = ("scores", score, draws is None)
        return self._tables.get(key, lambda: calibration.sorted_scores(score, draws))

    def _draws_sets(self, score: ClassScore) -> bool:
        """Whether sets are randomized."""
        drawn: bool = score.is_randomized if self.randomized == "auto" else bool(self.randomized)
        if drawn and "seed_" not in vars(self):
            raise ValueError(f"randomized={self.randomized!r} was set after fit: fit again")
        return drawn

    def _draws(self, rows: Any, score: ClassScore) -> Floats | None:
        if not self._draws_sets(score):
            return None
        return draw_for_rows(self._values(rows), self.seed_)

    def _ties(self, rows: Any, score: ClassScore) -> Floats | None:
        """Draws that break ties; None where sets are not randomized."""
        return draw_for_rows(self._values(rows), self.seed_ + 1) if self._draws_sets(score) else None

    def _bounds(self, probabilities: Floats) -> Floats:
        fitted = self._tables.get("venn_abers", self._fit_venn_abers)
        n_classes = probabilities.shape[1]
        if n_classes != 2:
            return np.stack([one.bounds(probabilities[:, k]) for k, one in enumerate(fitted)], axis=1)
        of_second = fitted[0].bounds(probabilities[:, 1])
        return np.stack([1.0 - of_second[:, ::-1], of_second], axis=1)

    def _fit_venn_abers(self) -> list[VennAbers]:
        """Predictors of the second of two classes, or of each class against the rest."""
        calibration: ClassCalibration = self.calibration_
        codes = [1] if self.n_classes_ == 2 else range(self.n_classes_)
        return [
            VennAbers.of(calibration.proba[:, code], (calibration.codes == code).astype(np.float64), calibration.weight)
            for code in codes
        ]

    def _check_fitted(self) -> None:
        super()._check_fitted()
        if not isinstance(self.calibration_, ClassCalibration):
            raise ValueError("calibration_ is something else")
        self._check_groups(self.calibration_.groups)
        n_classes = len(self.classes_)
        if self.n_classes_ != n_classes or self.calibration_.proba.shape[1] != n_classes:
            raise ValueError(f"calibration_ has no probabilities of {n_classes} classes")
        if not set(self.estimator_.classes_.tolist()) <= set(self.classes_.tolist()):
            raise ValueError("classes_ are not those of its estimator")
        self._check_settings()


def _of_all_classes(answers: Mapping[str, Any], known: NDArray[Any], classes: NDArray[Any]) -> dict[str, Any]:
    """Answers with a column for every class; classes that a model has not seen have probability and bounds 0."""
    found = dict(answers)
    if len(known) == len(classes):
        return found
    column = np.searchsorted(classes, known)
    for verb in ("predict_proba", "predict_bounds"):
        if verb in found:
            values = found[verb]
            found[verb] = np.zeros((len(values), len(classes), *values.shape[2:]))
            found[verb][:, column] = values
    return found


def _check_estimator(template: Any, verbs: Verbs, score: ClassScore) -> None:
    inside = template.estimator if isinstance(template, FrozenEstimator) else template
    if isinstance(inside, type) or not callable(getattr(inside, "__sklearn_tags__", None)) or not is_classifier(inside):
        raise TypeError(f"estimator is {inside!r}, must be a classifier with predict_proba")
    for verb in verbs:
        if not offers(inside, verb):
            needs = f"conformity_score {type(score).__name__} needs" if verb == score.verb else "predict_bounds needs"
            raise ValueError(f"{needs} a classifier with {verb}, which {type(inside).__name__} does not have")


def _labels_of_model(labels: Labels, model: Any) -> Labels:
    """Labels as positions in the classes of a fitted model."""
    classes = getattr(model, "classes_", None)
    if classes is None:
        raise NotFittedError(f"the frozen estimator {model!r} is not fitted: call its fit first")
    if (unknown := np.setdiff1d(labels.classes, classes)).size:
        raise ValueError(f"y has classes {unknown.tolist()}, the frozen estimator has {classes.tolist()}")
    return Labels(classes, np.searchsorted(classes, labels.classes)[labels.codes].astype(np.int32))
