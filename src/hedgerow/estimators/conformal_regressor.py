"""Intervals that hold the target as often as promised."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from hedgerow._params import check_choice
from hedgerow.conformal.calibration import NumberCalibration, check_enough
from hedgerow.conformal.explanation import ConformalNumberExplanation
from hedgerow.conformal.jackknife import interval_ends
from hedgerow.conformal.number_scores import AbsoluteError, NormalizedError, NumberScore, number_score
from hedgerow.data.sparse import densify
from hedgerow.data.table import Schema
from hedgerow.data.targets import read_targets, read_weights
from hedgerow.estimators.conformal import JACKKNIFE, Conformal, HeldOut, TreesOf, Verbs, as_arrays, model_and_why
from hedgerow.estimators.contract import offers, respond
from hedgerow.estimators.forest_regressor import ForestRegressor
from hedgerow.estimators.stored import storable
from hedgerow.estimators.verbs.answers import NumberAnswers
from hedgerow.estimators.verbs.training_cases import read_training
from hedgerow.estimators.wrapped import numeric_schema
from hedgerow.exchange import from_sklearn
from hedgerow.explain.explanations import Explanations
from hedgerow.explain.reasons import REASONS, Reasons
from hedgerow.explain.records import NumberExplanation
from hedgerow.walk import TableCache

__all__ = ["ConformalRegressor"]

Floats = NDArray[np.float64]

_FORMER_DEFAULTS = [NormalizedError(0.1)]  # what a name may stand for in older files
_SIDES = ("both", "each", "lower", "upper")
_UNIT = "unit"
Promise = tuple[str, float]  # sides, and the coverage of the interval
_FindEnds = Callable[[Sequence[Promise]], list[Floats]]
_OWN = frozenset({"predict_interval", "predict_quantiles"})


class _ForeignForest(NumberAnswers):
    """Regression forest of scikit-learn: the mean of its trees."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.n_jobs = getattr(model, "n_jobs", None)
        self.forest_ = from_sklearn(model)
        self.schema_ = numeric_schema(model)
        self._set_names(self.schema_)
        self._impurity = "squared_error"
        self._tables = TableCache()


def _has_quantiles(self: ConformalRegressor) -> bool:
    """Condition of `predict_quantiles`, for `available_if`."""
    fitted = vars(self).get("calibration_")
    score = self._score(self._template()) if fitted is None else fitted.score
    if not score.is_centred:
        raise AttributeError(
            "predict_quantiles needs a score around one prediction, such as 'normalized', and conformity_score is "
            f"{self.conformity_score!r}: set another one and fit again"
        )
    return True


@storable
class ConformalRegressor(RegressorMixin, Conformal):  # type: ignore[misc]
    """Intervals that hold the target with a probability of your choice.

    How far the targets of calibration rows are from predictions by trees or models that have not seen them says how far
    the ends of an interval must be from a prediction: a forest's rows out of each tree's bag, so that no row is given
    away and nothing is fitted twice. docs/coverage.md says what is a theorem, and what was measured.

    Parameters
    ----------
    estimator : regressor or None, default=None
        Any regressor. It is cloned and fitted, unless it is ``sklearn.frozen.FrozenEstimator(fitted)``, which is used
        as it is, and `fit` is given rows that it has not seen. None is ``ForestRegressor(random_state=0)``.
    coverage : float, default=0.9
        Probability that an interval is to hold the target. Can be changed after `fit`.
    conformity_score : {"auto", "absolute", "normalized", "cqr"} or an instance from :mod:`hedgerow.conformal`, \
default="auto"
        How far a target is from what was predicted: |y − ŷ|; the same in units of `predict_uncertainty`, so that
        intervals are wider where the model is less sure; or how far it is outside the interval between two of
        `predict_quantiles` (conformalized quantile regression), which are those of the coverage of `fit`. "auto" is
        "normalized" for an estimator with `predict_uncertainty`, else "absolute".
    method : {"auto", "oob", "jackknife+", "cv", "split"}, default="auto"
        Where answers come from that have not seen a row: "oob", the trees that it is out of the bag of;
        "jackknife+", the same, and a new row is compared with each calibration row by just these trees (not for
        "cqr"); "cv", `cv` models fitted to the other folds; "split", one of `cv` folds that the estimator is
        not fitted to, or all rows for a frozen estimator. "auto" is the first of these that the estimator
        allows; a frozen one is split.
    sides : {"both", "each", "lower", "upper"}, default="both"
        "both": both ends move equally far. "each": each end has half of what is not covered, for skewed errors.
        "lower" and "upper": a bound below or above, the other end is infinite. Can be changed after `fit`.
    groups : name or position of a column, or None, default=None
        Coverage is promised for each value of the column, and not only on average over them. Rows with another value,
        or none, are treated as one of all calibration rows.
    cv : int or a splitter of scikit-learn, default=5
        Number of folds, or what makes them, for "cv"; for "split", which holds one of them out.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator.
    method_ : str
        The method that "auto" stands for.
    calibration_ : NumberCalibration
        Scores and weights of the calibration rows.
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
    those in the bag of every tree.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> from hedgerow import ConformalRegressor
    >>> model = ConformalRegressor(coverage=0.8).fit(X[::2], y[::2])
    >>> lower, upper = model.predict_interval(X[1::2]).T
    >>> bool(0.72 < ((lower <= y[1::2]) & (y[1::2] <= upper)).mean() < 0.88)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        coverage: float = 0.9,
        conformity_score: Any = "auto",
        method: str = "auto",
        *,
        sides: str = "both",
        groups: Any = None,
        cv: Any = 5,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.coverage = coverage
        self.conformity_score = conformity_score
        self.method = method
        self.sides = sides
        self.groups = groups
        self.cv = cv
        self.random_state = random_state

    @classmethod
    def from_fitted(cls, model: Any, X: Any, y: Any, sample_weight: Any = None, **settings: Any) -> ConformalRegressor:
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
        """
        fitted = model.estimator if isinstance(model, FrozenEstimator) else model
        return cls(FrozenEstimator(fitted), **settings).fit(X, y, sample_weight)

    # -- fitting

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> ConformalRegressor:
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
        template = self._template()
        _check_estimator(template)
        coverage, score = self._coverage(None), self._score(template)
        X = densify(X)
        targets = read_targets(y, X)
        weight = read_weights(sample_weight, targets)
        verbs: Verbs = score.verbs(*self._ends(coverage))
        _check_verbs(template, verbs, score)
        if self._resolve_method(template) == JACKKNIFE and "predict_quantiles" in verbs:
            raise ValueError(
                f"method={JACKKNIFE!r} asks the trees without each calibration row about each new row, and can't for "
                f"conformity_score {type(score).__name__}, which reads quantiles: set conformity_score='normalized' "
                "or method='oob'"
            )
        params = self._params_of_fit(template, None if sample_weight is None else weight, fit_params)

        def ask(model: Any, X: Any) -> dict[str, NDArray[Any]]:
            answers = as_arrays(respond(model, X, verbs))
            return answers | {_UNIT: score.unit(answers, score.scale(answers))}

        held_out = self._hold_out(X, targets, None, params, verbs, ask)
        rows = np.flatnonzero(held_out.used & (weight > 0))
        found = self._found(X, held_out, rows)
        calibration = self._calibrate(X, rows, targets, weight, held_out, score, found["schema_"])
        self._check_rows(calibration, coverage)
        self._set_found(found | {"calibration_": calibration, "quantiles_": np.array(self._ends(coverage))})
        return self

    def _score(self, model: Any) -> NumberScore:
        if not isinstance(self.conformity_score, str) or self.conformity_score != "auto":
            return number_score(self.conformity_score)
        inside = model.estimator if isinstance(model, FrozenEstimator) else model
        return NormalizedError() if offers(inside, "predict_uncertainty") else AbsoluteError()

    def _ends(self, coverage: float) -> tuple[float, float]:
        """Probabilities of the quantiles that the ends are near."""
        sides = check_choice("sides", self.sides, _SIDES)
        if sides in ("lower", "upper"):
            return 1 - coverage, coverage
        return (1 - coverage) / 2, (1 + coverage) / 2

    def _default(self) -> ForestRegressor:
        return ForestRegressor(random_state=0)

    def _trees_of(self, model: Any) -> TreesOf:
        found: TreesOf = model if offers(model, "_respond_out_of_bag") else _ForeignForest(model)
        return found

    def _calibrate(
        self,
        X: Any,
        rows: NDArray[np.intp],
        targets: Floats,
        weight: Floats,
        held_out: HeldOut,
        score: NumberScore,
        schema: Schema,
    ) -> NumberCalibration:
        counted = weight[held_out.used] > 0
        answers = {verb: values[counted] for verb, values in held_out.answers.items()}
        if held_out.method == "cv":  # units are those of the models of the folds
            scale = score.scale(as_arrays(respond(held_out.model, X, score.verbs(*self._ends(self._coverage(None))))))
        else:
            scale = score.scale(answers) if len(rows) else 1.0
            answers[_UNIT] = score.unit(answers, scale)
        values = np.zeros((len(rows), 0)) if self.groups is None else schema.read(X)[rows]
        groups = self._read_groups(schema, values, classes=False)
        scores = score.scores(answers, targets[rows], answers[_UNIT])
        return NumberCalibration(scores, weight[rows], groups, groups.of_rows(values), score, scale)

    def _check_rows(self, calibration: NumberCalibration, coverage: float) -> None:
        """Refuse a coverage that needs more calibration rows than there are."""
        share = (1 + coverage) / 2 if self.sides == "each" else coverage
        check_enough(coverage, calibration.rows_by_group(), calibration.groups.names, "interval", share=share)

    # -- answering

    def predict(self, X: Any) -> Floats:
        """Prediction of the estimator.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predictions.
        """
        found: Floats = self._respond_alone(X, "predict")
        return found

    def predict_interval(self, X: Any, coverage: float | None = None) -> Floats:
        """Lower and upper end, (n, 2), of an interval that holds the target with probability `coverage`.

        `coverage` is the parameter, unless given. One-sided intervals have an infinite end.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Rows, with the columns of `fit`.
        coverage : float or None, default=None
            Probability that is promised; None: the parameter `coverage`.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Lower and upper end; infinite where a side is open.

        Raises
        ------
        ValueError
            If `coverage` is not between 0 and 1.
        """
        found: Floats = self._respond_alone(X, "predict_interval", coverage=coverage)
        return found

    @available_if(_has_quantiles)  # type: ignore[untyped-decorator]
    def predict_quantiles(self, X: Any, q: ArrayLike = (0.05, 0.5, 0.95)) -> Floats:
        """Quantiles of the target, (n, len(q)): the target is below the one of q with a probability of about q.

        Prediction plus quantile of the calibration rows' errors: a split conformal predictive system (Vovk, Petej,
        Nouretdinov, Manokhin and Gammerman, Computationally efficient versions of conformal predictive distributions,
        2020), with the larger of two neighbouring errors above the median and the smaller below. Not with "cqr".
        """
        found: Floats = self._respond_alone(X, "predict_quantiles", q=q)
        return found

    def explain(
        self, X: Any, coverage: float | None = None, *, training: tuple[Any, Any] | None = None
    ) -> Explanations[ConformalNumberExplanation]:
        """Explain each row: as the estimator does, and the interval with the calibration rows behind it.

        ``print(model.explain(X)[0])`` is a text for people; `reasons` of the whole has the shares of the reasons for
        doubt of all rows (docs/reasons.md), which are those of the estimator.

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
        found = self._respond(rows, {"predict": {}, "predict_interval": {"coverage": wanted}})
        answers, intervals = found["predict"], found["predict_interval"]
        trees = self._trees_to_explain()
        if trees is None:
            inner: Sequence[Any] = [None] * len(rows)
            names = tuple(one.name for one in REASONS)
            reasons = Reasons.unknown(names, np.full(len(rows), np.nan), "variance")
        else:
            cases = read_training(trees, training)
            inner = explained = trees._explain_read(self._rows_of_trees(rows, trees), training=cases)
            reasons = explained.reasons
        calibration: NumberCalibration = self.calibration_
        group = calibration.groups.of_rows(self._values(rows))
        n_rows, total = calibration.rows_by_group(), float(calibration.weight.sum())

        def record(i: int) -> ConformalNumberExplanation:
            return ConformalNumberExplanation(
                answer=float(answers[i]),
                coverage=wanted,
                interval=(float(intervals[i, 0]), float(intervals[i, 1])),
                n_rows=float(n_rows[group[i]]) if group[i] >= 0 else total,
                group=calibration.groups.names[group[i]] if group[i] >= 0 else None,
                **model_and_why(_without_interval(inner[i])),
            )

        return Explanations(lambda first, last: [record(i) for i in range(first, last)], reasons, answers)

    def _trees_to_explain(self) -> Any:
        """Model whose trees explain the answers: the wrapped one, or that of a foreign forest; None without trees."""
        if offers(self.estimator_, "_explain_read"):
            return self.estimator_

        def wrap() -> _ForeignForest | None:
            try:
                return _ForeignForest(self.estimator_)
            except (TypeError, ValueError):  # no trees, or such as can't be read
                return None

        return self._tables.get("trees to explain", wrap)

    def _respond(self, rows: Any, verbs: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        own = {verb: arguments for verb, arguments in verbs.items() if verb in _OWN}
        inner: dict[str, Any] = {verb: arguments for verb, arguments in verbs.items() if verb not in own}
        score = self._current_score()
        needed = score.verbs(*self.quantiles_.tolist()) if own and self.method_ != JACKKNIFE else {}
        apart = {verb for verb in needed if verb in inner and dict(inner[verb]) != needed[verb]}
        answers = self._ask(rows, needed | inner)
        basis = as_arrays({**answers, **self._ask(rows, {verb: needed[verb] for verb in apart})} if apart else answers)
        return {
            verb: self._answer(verb, rows, basis, score, **verbs[verb]) if verb in own else answers[verb]
            for verb in verbs
        }

    def _current_score(self) -> NumberScore:
        """Score that calibration rows were scored by; an error if another one was set after `fit`."""
        calibration: NumberCalibration = self.calibration_
        score = calibration.score
        named = [self._score(self.estimator_)]
        if isinstance(self.conformity_score, str) and type(score) is type(named[0]):
            named += _FORMER_DEFAULTS
        if score not in named:
            raise ValueError(f"conformity_score={self.conformity_score!r} was set after fit: fit again")
        return score

    def _answer(self, verb: str, rows: Any, answers: Mapping[str, Any], score: NumberScore, **arguments: Any) -> Any:
        group = self.calibration_.groups.of_rows(self._values(rows))

        def find_ends(promises: Sequence[Promise]) -> list[Floats]:
            if self.method_ == JACKKNIFE:
                return self._ends_by_ensembles(rows, score, group, promises)
            return self._ends_by_all_trees(answers, score, group, promises)

        return (self._quantiles if verb == "predict_quantiles" else self._intervals)(find_ends, **arguments)

    def _ends_by_all_trees(
        self, answers: Mapping[str, Any], score: NumberScore, group: NDArray[np.int32], promises: Sequence[Promise]
    ) -> list[Floats]:
        calibration: NumberCalibration = self.calibration_
        ends, unit = score.ends(answers), score.unit(answers, calibration.scale)[:, np.newaxis]
        shifts = [
            self._tables.get(("shifts", *promise), partial(calibration.shifts, *promise))[group] for promise in promises
        ]
        return [ends + shift * unit * (-1.0, 1.0) for shift in shifts]

    def _ends_by_ensembles(
        self, rows: Any, score: NumberScore, group: NDArray[np.int32], promises: Sequence[Promise]
    ) -> list[Floats]:
        """Ends, each calibration row being compared with what its own ensemble says."""
        calibration: NumberCalibration = self.calibration_
        found = [np.empty((len(rows), 2)) for _ in promises]
        for some, answers in self._ask_ensembles(rows, score.verbs(*self.quantiles_.tolist())):
            shape = (-1, len(calibration.weight))
            ends, unit = score.ends(answers).reshape(*shape, 2), score.unit(answers, calibration.scale).reshape(shape)
            for one, promise in zip(found, promises, strict=True):
                one[some] = interval_ends(calibration, ends, unit, group[some], *promise)
        return found

    def _intervals(self, find_ends: _FindEnds, coverage: Any = None) -> Floats:
        wanted = self._coverage(coverage)
        sides = check_choice("sides", self.sides, _SIDES)
        self._check_rows(self.calibration_, wanted)
        (found,) = find_ends([(sides, wanted)])
        crossed = found[:, 0] > found[:, 1]  # quantiles that were moved inwards
        found[crossed] = found[crossed].mean(axis=1, keepdims=True)
        return found

    def _quantiles(self, find_ends: _FindEnds, q: ArrayLike = (0.05, 0.5, 0.95)) -> Floats:
        calibration: NumberCalibration = self.calibration_
        probabilities = np.atleast_1d(np.asarray(q, dtype=np.float64))
        if probabilities.ndim != 1 or not ((probabilities > 0) & (probabilities < 1)).all():
            raise ValueError(f"q is {q!r}, must be one or several numbers in (0, 1)")
        promises = [("upper", one) if one >= 0.5 else ("lower", 1 - one) for one in probabilities.tolist()]
        for _, share in promises:
            check_enough(share, calibration.rows_by_group(), calibration.groups.names, "interval")
        found = find_ends(promises)
        return np.stack(
            [ends[:, int(side == "upper")] for ends, (side, _) in zip(found, promises, strict=True)], axis=1
        )

    def _check_fitted(self) -> None:
        super()._check_fitted()
        if not isinstance(self.calibration_, NumberCalibration):
            raise ValueError("calibration_ is something else")
        self._check_groups(self.calibration_.groups)
        quantiles = self.quantiles_
        if not isinstance(quantiles, np.ndarray) or quantiles.shape != (2,) or not (abs(quantiles - 0.5) < 0.5).all():
            raise ValueError("quantiles_ are not two probabilities")
        check_choice("sides", self.sides, _SIDES)
        self._score(self.estimator_)

    @property
    def leaf_samples_(self) -> Any:
        """Training targets in the leaves of the wrapped forest."""
        return self._of_estimator("leaf_samples_")


def _without_interval(model: Any) -> Any:
    """Explanation without the estimator's own interval, which would stand beside the calibrated one."""
    return replace(model, interval=None, coverage=None) if isinstance(model, NumberExplanation) else model


def _check_estimator(template: Any) -> None:
    inside = template.estimator if isinstance(template, FrozenEstimator) else template
    tagged = callable(getattr(inside, "__sklearn_tags__", None))
    if isinstance(inside, type) or not tagged or not is_regressor(inside):
        raise TypeError(f"estimator is {inside!r}, must be a regressor")
    if isinstance(template, FrozenEstimator):
        try:
            check_is_fitted(inside)
        except NotFittedError:
            raise NotFittedError(f"the frozen estimator {inside!r} is not fitted: call its fit first") from None


def _check_verbs(template: Any, verbs: Verbs, score: NumberScore) -> None:
    inside = template.estimator if isinstance(template, FrozenEstimator) else template
    for verb in verbs:
        if not offers(inside, verb):
            raise ValueError(
                f"conformity_score {type(score).__name__} needs a regressor with {verb}, which {type(inside).__name__} "
                "does not have: set conformity_score='absolute'"
            )
