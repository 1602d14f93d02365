"""Models as the page walks them: trees, leaf tables of their answers, and how these are finished."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hedgerow._arrays import Floats
from hedgerow.codegen import Step
from hedgerow.codegen.finish import Divide
from hedgerow.conformal import AbsoluteError, Aps, Cqr, CredalBounds, Lac, NormalizedError, Raps
from hedgerow.conformal.calibration import Groups
from hedgerow.conformal.levels import ROUNDING
from hedgerow.credal import Average, Belief, Conjunction, Disjunction, Vote
from hedgerow.estimators import BoundaryClassifier, ConformalClassifier, ConformalRegressor
from hedgerow.estimators.conformal import JACKKNIFE
from hedgerow.estimators.fitting.costs import class_costs
from hedgerow.estimators.verbs.answers import Answers, ClassAnswers, NumberAnswers
from hedgerow.estimators.verbs.rule_answers import RuleAnswers
from hedgerow.estimators.verbs.set_answers import SetAnswers
from hedgerow.estimators.verbs.tree import ClassTree
from hedgerow.forest.forest import Forest
from hedgerow.report.whatif.finish import DivideByLast, WalkStep, finish_of_rule, steps_to_json
from hedgerow.walk import HardWalk, LeafTable, Query
from hedgerow.walk.quantiles import LeafSamples, central_interval

__all__ = ["Walkable", "walkable"]

_COVERAGE = 0.9  # of intervals of models without a coverage of their own
_NO_ENSEMBLES = "compares each row with every training row, which the page does not hold"
_AGGREGATES = (Average, Belief, Conjunction, Disjunction, Vote)


@dataclass(frozen=True)
class Walkable:
    """A model taken apart. `answers` are JSON; each names its table by its position in `tables`."""

    forest: Forest
    tree_weights: Floats | None
    n_trees: int
    """Number that sums are divided by: that of the trees of the whole model, even if `forest` has fewer."""
    query: Query[Any]
    """Query of the main answer, probabilities or numbers, for comparisons."""
    tables: list[LeafTable] = field(default_factory=list)
    answers: dict[str, dict[str, Any]] = field(default_factory=dict)
    samples: LeafSamples | None = None


def walkable(model: Any, n_trees: int | None = None) -> Walkable:
    """Take a fitted model apart; a ValueError that ends a sentence about it where the page can't answer as it does.

    `n_trees` is the number of trees of the whole model where this one has fewer, see :mod:`~.smaller`.
    """
    if isinstance(model, ConformalClassifier):
        return _conformal_classes(model, n_trees)
    if isinstance(model, ConformalRegressor):
        return _conformal_numbers(model, n_trees)
    if isinstance(model, BoundaryClassifier):
        raise ValueError("mixes in the distances of training rows, which the page does not hold")
    if not isinstance(model, Answers):
        raise ValueError("is not a model of trees of this library")
    if not isinstance(model._walk, HardWalk):
        raise ValueError("has every row in several regions at once, by errors that the page does not ask for")
    if isinstance(model, NumberAnswers):
        return _numbers(model, n_trees)
    if isinstance(model, SetAnswers):
        return _sets(model, n_trees)
    return _classes(model, n_trees)


def _classes(model: ClassAnswers, n_trees: int | None) -> Walkable:
    n_trees = n_trees or model.forest_.n_trees
    steps: tuple[WalkStep, ...]
    query = model._query("predict_proba")
    if isinstance(model, RuleAnswers) and query is not None:
        try:
            steps = finish_of_rule(model._rule(), model.class_prior_, n_trees)
        except ValueError:
            query = None
    elif isinstance(model, ClassTree):
        steps = model._sums_and_steps()[1]
    else:
        query = None
    if query is None:
        rule = f" by the rule {model._rule().name!r}" if isinstance(model, RuleAnswers) else ""
        raise ValueError(f"computes its answers{rule} from more than numbers of leaves that add up")
    probabilities = {"table": 0, "steps": steps_to_json(steps)}
    costs = getattr(model, "cost_matrix", None)
    if costs is not None:
        probabilities["costs"] = class_costs(costs, model.classes_).tolist()
    return _walkable(model, n_trees, query, [query.table], {"probabilities": probabilities})


def _sets(model: SetAnswers, n_trees: int | None) -> Walkable:
    aggregate = model._aggregate()
    if type(aggregate) not in _AGGREGATES:
        raise ValueError(f"aggregates the bounds of its trees by {aggregate.name!r}, which the page does not know")
    query, of_sets = model._proba_query(), model._set_query()
    steps = (DivideByLast(1 / model.forest_.n_classes),)
    n_trees = n_trees or model.forest_.n_trees
    answers = {
        "probabilities": {"table": 0, "steps": steps_to_json(steps)},
        "bounds": {"table": 1, "aggregate": aggregate.name, "n_trees": n_trees, "s": model._current_s()},
    }
    return _walkable(model, n_trees, query, [query.table, of_sets.table], answers)


def _numbers(model: NumberAnswers, n_trees: int | None) -> Walkable:
    query, spread = model._query("predict"), model._query("predict_uncertainty", measure="variance")
    assert query is not None, "every regressor has a mean"
    assert spread is not None, "and a variance"
    n_trees = n_trees or model.forest_.n_trees
    steps: tuple[Step, ...] = (Divide(n_trees),)
    answers: dict[str, dict[str, Any]] = {
        "value": {"table": 0, "steps": steps_to_json(steps)},
        "variance": {"table": 1, "n_trees": n_trees},
    }
    samples = getattr(model, "leaf_samples_", None)
    if samples is not None:
        answers["interval"] = {"coverage": _COVERAGE, "quantiles": central_interval(_COVERAGE), "moved": None}
    return _walkable(model, n_trees, query, [query.table, spread.table], answers, samples)


def _walkable(
    model: Answers,
    n_trees: int,
    query: Query[Any],
    tables: list[LeafTable],
    answers: dict[str, dict[str, Any]],
    samples: LeafSamples | None = None,
) -> Walkable:
    return Walkable(model.forest_, query.tree_weights, n_trees, query, tables, answers, samples)


# --- Calibrated sets and intervals ------------------------------------------------------------------------------


def _conformal_classes(model: ConformalClassifier, n_trees: int | None) -> Walkable:
    score = model._check_settings()
    if type(score) not in (Lac, Aps, Raps, CredalBounds):
        raise ValueError(f"has sets by the score {type(score).__name__}, which the page does not know")
    if model.probabilities != "estimator":
        raise ValueError("has Venn–Abers probabilities, which the page does not compute")
    if model._draws_sets(score):
        raise ValueError("draws its sets at random")
    if model.method_ == JACKKNIFE:
        raise ValueError(_NO_ENSEMBLES)
    found = walkable(model.estimator_, n_trees)
    if len(model.classes_) != len(model.estimator_.classes_):
        raise ValueError("has classes that its estimator has not seen")
    limits = model._sorted_scores(score).thresholds(model.coverage)
    limits = limits + ROUNDING * np.abs(np.where(np.isfinite(limits), limits, 0.0))
    found.answers["set"] = {
        "coverage": float(model.coverage),
        "score": type(score).__name__.lower(),
        "penalty": float(getattr(score, "penalty", 0.0)),
        "free": int(getattr(score, "free", 0)),
        "limits": _open(limits),
        "allow_empty": bool(model.allow_empty),
        **_groups(model.calibration_.groups),
    }
    return found


def _conformal_numbers(model: ConformalRegressor, n_trees: int | None) -> Walkable:
    score = model._current_score()
    if model.method_ == JACKKNIFE:
        raise ValueError(_NO_ENSEMBLES)
    found = walkable(model.estimator_, n_trees)
    if type(score) not in (AbsoluteError, NormalizedError, Cqr):
        raise ValueError(f"has intervals by the score {type(score).__name__}, which the page does not know")
    calibration = model.calibration_
    moved = {
        "shifts": _open(calibration.shifts(model.sides, model.coverage)),
        "scale": float(calibration.scale),
        "floor": float(score.floor) if isinstance(score, NormalizedError) else None,
        **_groups(calibration.groups),
    }
    quantiles = model.quantiles_.tolist() if isinstance(score, Cqr) else None
    found.answers["interval"] = {"coverage": float(model.coverage), "quantiles": quantiles, "moved": moved}
    return found if quantiles else _without_samples(found)


def _without_samples(found: Walkable) -> Walkable:
    return Walkable(**{**vars(found), "samples": None})


def _groups(groups: Groups) -> dict[str, Any]:
    """Column of the groups, −1 for none, and its values; rows with another are in the last group."""
    return {"column": max(groups.column, -1), "groups": groups.values.tolist()}


def _open(limits: Floats) -> list[list[float | None]]:
    """Numbers with None for infinity."""
    return [[float(one) if np.isfinite(one) else None for one in row] for row in limits]
