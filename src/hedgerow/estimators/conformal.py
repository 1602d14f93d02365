"""Base of conformal estimators: held-out answers by one of four methods, and answers of the wrapped estimator."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from hedgerow._params import check_choice, is_whole
from hedgerow.conformal.calibration import NO_GROUPS, Groups
from hedgerow.conformal.ensembles import Ensembles
from hedgerow.conformal.levels import check_coverage
from hedgerow.data.columns import Kind
from hedgerow.data.sparse import densify
from hedgerow.data.table import Schema, read_table
from hedgerow.estimators.base import is_elsewhere
from hedgerow.estimators.contract import Responder, offers, respond, respond_to_rows
from hedgerow.estimators.fitting.bagging import OutOfBag, draw_scheme
from hedgerow.estimators.fitting.hold_out_folds import answer_by_folds, hold_out_folds
from hedgerow.estimators.random_trees import RandomTreesClassifier
from hedgerow.estimators.seeding import seed_of
from hedgerow.estimators.wrapped import fit_and_keep_bags
from hedgerow.estimators.wrapper import Wrapper
from hedgerow.forest.names import number_text
from hedgerow.walk import Query, TableCache, Walk

__all__ = ["JACKKNIFE", "Ask", "Conformal", "ForeignRows", "HeldOut", "TreesOf", "Verbs", "as_arrays", "model_and_why"]

Floats = NDArray[np.float64]
Verbs = Mapping[str, Mapping[str, Any]]
Ask = Callable[[Any, Any], dict[str, NDArray[Any]]]

JACKKNIFE = "jackknife+"
_METHODS = ("auto", "oob", JACKKNIFE, "loo", "cv", "split")


@dataclass(frozen=True)
class ForeignRows:
    """Rows of a model of another library: as it takes them, and converted for groups and draws."""

    X: Any
    values: Floats

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True)
class HeldOut:
    """A fitted model, and answers about calibration rows by trees or models that have not seen them."""

    model: Any
    method: str
    answers: dict[str, NDArray[Any]]
    used: NDArray[np.bool_]
    """Which rows they are about."""
    bags: OutOfBag | None = None
    """Bags of the trees, of a forest."""


class TreesOf(Protocol):
    """A forest whose answers are folds over some of its trees."""

    @property
    def _walk(self) -> Walk:
        """Engine that takes rows down the trees."""

    def _query(self, verb: str, **arguments: Any) -> Query[Any] | None:
        """Query that answers a verb; None where the answer is not a fold."""

    def _respond_out_of_bag(self, bags: OutOfBag, verbs: Verbs) -> tuple[dict[str, Any], NDArray[np.bool_]]:
        """Answers about the rows out of the bag of some tree, and which these are."""

    def get_tree_weights(self) -> Floats | None:
        """Weight of each tree."""


def _wrapped_has(verb: str) -> Any:
    """Condition that the wrapped estimator has a verb, for `available_if`."""

    def has(self: Conformal) -> bool:
        fitted = vars(self).get("estimator_")
        inside = self._template() if fitted is None else fitted
        return offers(inside.estimator if isinstance(inside, FrozenEstimator) else inside, verb)

    return has


class Conformal(Wrapper, BaseEstimator):  # type: ignore[misc]
    """Abstract; final classes have the parameters `coverage`, `method`, `groups`, `cv` and `random_state`."""

    _made_again: ClassVar[frozenset[str]] = frozenset({"_tables"})

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inside = get_tags(self._template()).input_tags
        tags.input_tags.allow_nan = inside.allow_nan
        tags.input_tags.sparse = True
        return tags

    # -- fitting

    def _hold_out(
        self, X: Any, y: NDArray[Any], strata: Any, params: dict[str, Any], verbs: Verbs, ask: Ask
    ) -> HeldOut:
        """Fit the estimator, unless it is frozen, and answer verbs about rows that trees or models have not seen.

        `ask` gives the answers of a fitted model as arrays.
        """
        template = self._template()
        method = self._resolve_method(template)
        if method == "split" and isinstance(template, FrozenEstimator):
            model = template.estimator
            return HeldOut(model, method, ask(model, X), np.ones(len(y), dtype=bool))
        if method in ("oob", JACKKNIFE):
            model = clone(template)
            bags = self._usable(fit_and_keep_bags(model, X, y, params), len(y))
            trees = self._trees_of(model)
            answers, used = trees._respond_out_of_bag(bags, verbs)
            return HeldOut(model, method, as_arrays(answers), used, bags)
        if method == "loo":
            return self._leave_one_out(clone(template), X, y, params)

        def fit(X: Any, y: NDArray[Any], params: dict[str, Any]) -> Any:
            return clone(template).fit(X, y, **params)

        seed = seed_of(self.random_state)
        if method == "cv":
            folds = hold_out_folds(self.cv, X, y, strata, seed)
            answers, used = answer_by_folds(folds, X, y, params, fit, ask)
            return HeldOut(fit(X, y, params), method, answers, used)
        folds = hold_out_folds(self.cv, X, y, None, seed)  # without strata: held-out rows are a random sample
        fitted: list[Any] = []

        def fit_once(X: Any, y: NDArray[Any], params: dict[str, Any]) -> Any:
            fitted.append(fit(X, y, params))
            return fitted[0]

        first = iter([next(folds)])
        answers, used = answer_by_folds(first, X, y, params, fit_once, ask)
        return HeldOut(fitted[0], method, answers, used)

    def _params_of_fit(self, template: Any, weight: Floats | None, fit_params: dict[str, Any]) -> dict[str, Any]:
        """Parameters for the estimator's `fit`; none for a frozen one, whose weights are those of calibration rows."""
        if isinstance(template, FrozenEstimator) and not fit_params:
            return {}
        return self._params_of_estimator(template, weight, fit_params)

    def _resolve_method(self, template: Any) -> str:
        """Name of the method, "auto" resolved; an error where the estimator can't have its answers."""
        method = check_choice("method", self.method, _METHODS)
        name = type(template).__name__
        if isinstance(template, FrozenEstimator):
            if method not in ("auto", "split"):
                raise ValueError(
                    f"method={method!r} fits the estimator, and this one is frozen: set method='split', and fit with "
                    "rows that the frozen estimator was not fitted on"
                )
            return "split"
        if method == "auto":
            return "loo" if isinstance(template, RandomTreesClassifier) else "oob" if _bootstraps(template) else "cv"
        if method == "loo" and not isinstance(template, RandomTreesClassifier):
            raise ValueError(f"method='loo' needs a RandomTreesClassifier, and this is a {name}: set method='auto'")
        if method in ("oob", JACKKNIFE) and _bootstraps(template) is False:
            raise ValueError(
                f"method={method!r} needs a forest with bootstrap=True, and this {name} grows every tree from all "
                "rows: set bootstrap=True, or method='cv'"
            )
        return method

    def _usable(self, bags: OutOfBag | None, n_rows: int) -> OutOfBag:
        if bags is None:
            name = type(self._template()).__name__
            raise ValueError(
                f"method={self.method!r} needs a forest of bootstrap samples, which {name} is not: set method='cv'"
            )
        if bags.seen_by_all:
            raise ValueError(
                f"every row is in the bag of every tree (n_samples={n_rows}): use more rows or trees, or method='cv'"
            )
        return bags

    @abstractmethod
    def _trees_of(self, model: Any) -> TreesOf:
        """Fitted forest, of this or another library, as trees that can be asked apart."""

    def _leave_one_out(self, model: Any, X: Any, y: NDArray[Any], params: dict[str, Any]) -> HeldOut:
        """Leave-one-out probabilities of random trees."""
        asked = model.loo_score
        model.set_params(loo_score=True).fit(X, y, **params)
        answers = {"predict_proba": model.loo_decision_function_}
        if not asked:
            model.set_params(loo_score=False)
            model._forget("loo_score_", "loo_decision_function_")
        return HeldOut(model, "loo", answers, np.ones(len(y), dtype=bool))

    def _found(self, X: Any, held_out: HeldOut, calibration_rows: NDArray[np.intp]) -> dict[str, Any]:
        """Attributes that follow from the wrapped model, and from which rows calibrate it."""
        model = held_out.model
        schema = getattr(model, "schema_", None)
        if not isinstance(schema, Schema):
            schema = read_table(X, estimator=self).schema
        found = {"estimator_": model, "method_": held_out.method, "schema_": schema, "_tables": TableCache()}
        if held_out.method == JACKKNIFE:
            assert held_out.bags is not None
            found["ensembles_"] = Ensembles.of(held_out.bags.seen, calibration_rows, held_out.bags.forest.n_trees)
        return found

    def _read_groups(self, schema: Schema, rows: Floats, *, classes: bool) -> Groups:
        """Groups that `groups` asks for, as calibration rows have them."""
        given = self.groups
        if given is None:
            return NO_GROUPS
        if classes and isinstance(given, str) and given == "class":
            return Groups(-1, np.zeros(0), ())
        column = self._group_column(given, schema, classes)
        values = rows[:, column]
        known = np.unique(values[~np.isnan(values)])
        if not len(known):
            raise ValueError(f"groups is {given!r}, a column without values in the calibration rows")
        about = schema.columns[column]
        coded = about.kind != Kind.NUMERIC
        texts = [str(about.categories[int(value)]) if coded else number_text(value) for value in known.tolist()]
        return Groups(column, known, tuple(f"{about.name} = {text}" for text in texts))

    @staticmethod
    def _group_column(given: Any, schema: Schema, classes: bool) -> int:
        if is_whole(given) and 0 <= int(given) < schema.n_features:
            return int(given)
        if isinstance(given, str) and given in schema.names:
            return schema.names.index(given)
        words = "'class', " if classes else ""
        names = ", ".join(map(repr, schema.names[:10]))
        raise ValueError(f"groups is {given!r}, must be None, {words}or a column, by name or position: {names}")

    def _set_found(self, found: dict[str, Any]) -> None:
        """Set all attributes at once, after everything that can fail."""
        schema = found["schema_"]
        self.n_features_in_ = schema.n_features
        for name in ("feature_names_in_", "seed_", "ensembles_"):
            self.__dict__.pop(name, None)
        if schema.named:
            self.feature_names_in_ = np.array(schema.names, dtype=object)
        for name, value in found.items():
            setattr(self, name, value)

    # -- answering

    def to(self, device: str) -> Self:
        """Copy whose wrapped model walks on another device, as its own `to` says.

        Sets and intervals are computed on the CPU from the model's answers, and are NumPy arrays for rows of a GPU too.

        Parameters
        ----------
        device : str
            "cuda", "cuda:1" or "cpu".

        Returns
        -------
        estimator of the same class
            The copy.

        Raises
        ------
        ValueError
            If the wrapped model is not hedgerow's, or can't be moved.
        """
        check_is_fitted(self)
        if not offers(self.estimator_, "to"):
            own, inside = type(self).__name__, type(self.estimator_).__name__
            raise ValueError(f"{own} can't be moved to {device}: its estimator {inside} is not hedgerow's")
        moved = copy(self)
        moved.estimator_ = self.estimator_.to(device)
        moved._tables = TableCache()
        return moved

    def _read(self, X: Any) -> Any:
        check_is_fitted(self)
        if is_elsewhere(X) and isinstance(self.estimator_, Responder):
            return self.estimator_._read(X)
        X = densify(X)
        rows: Floats = self.schema_.read(X, estimator=self)
        if not isinstance(self.estimator_, Responder):
            return ForeignRows(X, rows)
        if np.isnan(rows).any():  # some models refuse them
            self.estimator_._read(X)
        return rows

    def _ask(self, rows: Any, verbs: Verbs) -> dict[str, Any]:
        """Answers of the wrapped model, in one walk."""
        if isinstance(rows, ForeignRows):
            return respond(self.estimator_, rows.X, verbs)
        answers = respond_to_rows(self.estimator_, rows, verbs)
        if isinstance(rows, np.ndarray):
            return answers
        from hedgerow.gpu.numpy_language import on_host

        return {verb: on_host(answer) for verb, answer in answers.items()}

    def _ask_ensembles(self, rows: Any, verbs: Verbs) -> Iterator[tuple[slice, dict[str, NDArray[Any]]]]:
        """Answers by the ensemble of each of n calibration rows about k new rows at a time, (k · n, …) by verb."""
        trees = self._tables.get("trees", lambda: self._trees_of(self.estimator_))
        asked = {verb: trees._query(verb, **arguments) for verb, arguments in verbs.items()}
        queries = {verb: query for verb, query in asked.items() if query is not None}  # `fit` has refused others
        ensembles: Ensembles = self.ensembles_
        for some, answers in ensembles.answer(trees._walk, self._values(rows), queries, trees.get_tree_weights()):
            yield some, as_arrays(answers)

    @staticmethod
    def _values(rows: Any) -> Floats:
        """Rows as numbers, on the host."""
        if isinstance(rows, np.ndarray):
            return rows
        values: Floats = rows.values if isinstance(rows, ForeignRows) else rows.get()
        return values

    def _rows_of_trees(self, rows: Any, trees: Any) -> Floats:
        """Rows as the model whose trees explain the answers takes them, on the host."""
        found: Floats = trees._read(rows.X) if isinstance(rows, ForeignRows) else self._values(rows)
        return found

    @abstractmethod
    def _respond(self, rows: Any, verbs: Verbs) -> dict[str, Any]:
        """Answer several verbs about the same rows in one walk, see :mod:`hedgerow.estimators.contract`."""

    def _respond_alone(self, X: Any, verb: str, **arguments: Any) -> Any:
        return self._respond(self._read(X), {verb: arguments})[verb]

    def _coverage(self, given: Any) -> float:
        """Coverage of a call: its own, or the parameter."""
        return check_coverage(self.coverage if given is None else given)

    @available_if(_wrapped_has("predict_uncertainty"))  # type: ignore[untyped-decorator]
    def predict_uncertainty(self, X: Any, **arguments: Any) -> Any:
        """Uncertainty of each row, as the wrapped estimator measures it; `measure` chooses how."""
        return self._respond_alone(X, "predict_uncertainty", **arguments)

    @available_if(_wrapped_has("leaf_counts"))  # type: ignore[untyped-decorator]
    def leaf_counts(self, X: Any) -> Floats:
        """Class counts of the leaves that each row reaches, as the wrapped estimator has them."""
        found: Floats = self._respond_alone(X, "leaf_counts")
        return found

    @available_if(_wrapped_has("contributions"))  # type: ignore[untyped-decorator]
    def contributions(self, X: Any, background: Any = None, *, interactions: bool = False) -> Any:
        """Contributions of the columns to the answer of the wrapped estimator, see its `contributions`."""
        check_is_fitted(self)
        return self.estimator_.contributions(X, background, interactions=interactions)

    @available_if(_wrapped_has("apply"))  # type: ignore[untyped-decorator]
    def apply(self, X: Any) -> NDArray[Any]:
        """Leaf that each row reaches in each tree, as the wrapped estimator numbers them."""
        check_is_fitted(self)
        found: NDArray[Any] = self.estimator_.apply(X)
        return found

    @property
    def forest_(self) -> Any:
        """Trees of the wrapped estimator."""
        return self._of_estimator("forest_")

    @property
    def class_prior_(self) -> Floats:
        """Class prior of the wrapped estimator."""
        found: Floats = self._of_estimator("class_prior_")
        return found

    @property
    def feature_importances_(self) -> Floats:
        """Feature importances of the wrapped estimator."""
        found: Floats = self._of_estimator("feature_importances_")
        return found

    def _of_estimator(self, name: str) -> Any:
        if "estimator_" not in vars(self):
            raise AttributeError(f"this {type(self).__name__} is not fitted, and has no {name}")
        return getattr(self.estimator_, name)

    # -- files

    def _check_groups(self, groups: Groups) -> None:
        if groups.column >= self.n_features_in_:
            raise ValueError("calibration_ has groups of a column that does not exist")

    def _check_fitted(self) -> None:
        if not isinstance(self.schema_, Schema) or self.n_features_in_ != self.schema_.n_features:
            raise ValueError("schema_ is something else, or has another number of columns")
        inside = getattr(self.estimator_, "schema_", None)
        if isinstance(inside, Schema) and inside.names != self.schema_.names:
            raise ValueError("its columns are not those of its estimator")
        check_coverage(self.coverage)
        ensembles = vars(self).get("ensembles_")
        if (self.method_ == JACKKNIFE) != isinstance(ensembles, Ensembles):
            raise ValueError("ensembles_ is missing, or there without its method")
        if ensembles is not None and ensembles.n_trees != self._trees_of(self.estimator_)._walk.forest.n_trees:
            raise ValueError("ensembles_ are those of another forest")

    def _restored(self) -> None:
        self._check_fitted()
        self._tables = TableCache()

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Check a pickled model as :func:`hedgerow.load` checks a file."""
        super().__setstate__(state)
        if "estimator_" in vars(self):
            self._check_fitted()


def as_arrays(answers: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Answers as arrays: of an uncertainty its total."""
    return {verb: np.asarray(getattr(answer, "total", answer)) for verb, answer in answers.items()}


def model_and_why(model: Any) -> dict[str, Any]:
    """Explanation by the wrapped model and the reasons for doubt in it, as fields of a conformal explanation."""
    return {"model": None} if model is None else {"model": replace(model, why=()), "why": model.why}


def _bootstraps(template: Any) -> bool | None:
    """Whether an estimator is a forest of bootstrap samples whose bags can be read; None if it is no such forest."""
    if offers(template, "_fit_and_keep_bags"):
        if "bootstrap" in template.get_params(deep=False):
            return draw_scheme(template.bootstrap) is not None
        inside = template._template()
        return None if isinstance(inside, FrozenEstimator) else _bootstraps(inside)
    from sklearn.ensemble import (
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
    )

    theirs = ExtraTreesClassifier | ExtraTreesRegressor | RandomForestClassifier | RandomForestRegressor
    return bool(template.bootstrap) if isinstance(template, theirs) else None
