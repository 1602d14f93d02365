"""How folded leaf tables become answers, as steps that ``walker.js`` takes too.

Code in other languages is written from the same steps (:mod:`hedgerow.codegen.finish`); those here need what its
languages lack, a fold of logarithms or of several tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from hedgerow._arrays import Floats
from hedgerow.codegen.finish import Multiply, Step, calibration_steps, steps_of_rule
from hedgerow.rules import Calibrated, Cautious, Dempster, Evidence, Rule

__all__ = ["Add", "DivideByLast", "Pignistic", "Softmax", "WalkStep", "finish_of_rule", "steps_to_json"]


@dataclass(frozen=True)
class Add:
    """Add to each number its own term; None is −∞."""

    terms: tuple[float | None, ...]


@dataclass(frozen=True)
class Softmax:
    """exp(x), divided by their sum."""


@dataclass(frozen=True)
class Pignistic:
    """Probabilities from logarithms a, b of each combination (:mod:`hedgerow.rules.belief`), a of the first, then b, …

    Log-odds a − b + log(1 − eᵇ/2) − log(1 − eᵃ/2), of the second of two classes or of each against the rest; then
    the softmax of their log-sigmoids.
    """

    operation: str
    """How the prior's a and b join the others: "sum" or "min"."""
    prior: tuple[tuple[float, float], ...] | None
    """a and b of the prior for each combination; None: there is none."""


@dataclass(frozen=True)
class DivideByLast:
    """Divide each number by the last, which is dropped; where that is 0, each becomes `if_zero`."""

    if_zero: float


WalkStep = Step | Add | Softmax | Pignistic | DivideByLast


def finish_of_rule(rule: Rule, prior: Floats, n_trees: int) -> tuple[WalkStep, ...]:
    """Steps of a rule's `finish`; a ValueError for rules whose finish is something else."""
    if isinstance(rule, Calibrated):
        return (*finish_of_rule(rule.rule, prior, n_trees), *calibration_steps(rule, prior))
    if isinstance(rule, Evidence):
        return _evidence(rule, prior, n_trees)
    if isinstance(rule, Dempster | Cautious):
        return (Pignistic(rule.fold[1], _prior_masses(rule, prior)),)
    return steps_of_rule(rule, prior)


def _evidence(rule: Evidence, prior: Floats, n_trees: int) -> tuple[WalkStep, ...]:
    """:meth:`Evidence.finish`, whose log posterior is temper · folded + constant."""
    constant = rule._log_posterior(np.zeros((1, len(prior))), n_trees, prior)[0]  # refuses a temper that is not chosen
    terms = tuple(float(term) if np.isfinite(term) else None for term in constant)
    return (Multiply((rule.temper or 1.0,) * len(prior)), Add(terms), Softmax())


def _prior_masses(rule: Dempster | Cautious, prior: Floats) -> tuple[tuple[float, float], ...] | None:
    if rule.prior is None:
        return None
    width = 2 if len(prior) == 2 else 2 * len(prior)
    neutral = 0.0  # of a sum, and of a minimum of logarithms, none of which is above 0
    a, b = rule._with_prior(np.full((1, width), neutral), prior)
    return tuple(zip(a[0].tolist(), b[0].tolist(), strict=True))


def steps_to_json(steps: Sequence[WalkStep]) -> list[dict[str, Any]]:
    """Steps by the name of their class in lower case."""
    return [{"do": type(step).__name__.lower(), **asdict(step)} for step in steps]
