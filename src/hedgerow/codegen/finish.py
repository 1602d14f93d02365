"""Steps from sums over leaves and trees to answers, such as any language can take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.rules import Pool, Rule
from hedgerow.rules.averages import AverageRule
from hedgerow.rules.calibrated import Calibrated

__all__ = [
    *("Divide", "Multiply", "Normalise", "Power", "Scale", "Step"),
    *("calibration_steps", "steps_of_rule", "summation_order"),
]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Divide:
    """Divide each number by the same one."""

    by: float


@dataclass(frozen=True)
class Normalise:
    """Divide each number by the sum of all; where that is 0 by nothing, and each becomes `if_zero`."""

    if_zero: float | None = None


@dataclass(frozen=True)
class Scale:
    """factor · x + offset."""

    factor: float
    offset: float


@dataclass(frozen=True)
class Power:
    """x to the power of `exponent`."""

    exponent: float


@dataclass(frozen=True)
class Multiply:
    """Multiply each number by its own factor."""

    factors: tuple[float, ...]


Step = Divide | Normalise | Scale | Power | Multiply


def steps_of_rule(rule: Rule, prior: Floats) -> tuple[Step, ...]:
    """Steps of a combination rule's `finish`; a ValueError for rules that do more than add and divide.

    Parameters
    ----------
    rule : Rule
        The rule.
    prior : array of shape (n_classes,) or None
        Share of each class; None is uniform.

    Returns
    -------
    tuple of Step
        Steps, in order.

    Raises
    ------
    ValueError
        If code can't be written for the rule.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.codegen import steps_of_rule
    >>> from hedgerow.rules import Pool
    >>> steps_of_rule(Pool(), np.array([0.5, 0.5]))
    (Normalise(if_zero=0.5),)
    """
    if isinstance(rule, Calibrated):
        return (*steps_of_rule(rule.rule, prior), *calibration_steps(rule, prior))
    if isinstance(rule, AverageRule) and type(rule).finish is AverageRule.finish:
        return (Normalise(if_zero=0.5),)
    if type(rule) is Pool:
        return (Normalise(if_zero=1 / len(prior)),)
    raise ValueError(
        f"rule is {rule.name!r}, and code is written for rules that add up numbers of leaves: call "
        "model.set_params(rule='probability') first, or another of plausibility, confidence, vote and pool"
    )


def calibration_steps(rule: Calibrated, prior: Floats) -> tuple[Step, ...]:
    """Steps from a rule's own probabilities to the calibrated ones."""
    scale = Scale(1.0 - len(prior) * rule.floor, rule.floor)
    factors = Multiply(tuple(rule.frequencies(prior).tolist()))
    return (scale, Power(rule.sharpness), factors, Normalise())


def summation_order(n: int) -> Any:
    """Order in which NumPy adds n numbers, as nested lists: [[0, 1], 2] is (x0 + x1) + x2.

    Up to 7 one after the other; up to 128 in eight sums that are then added in pairs, and the remainder one after the
    other; of more the two halves (pairwise summation, Higham, Accuracy and stability of numerical algorithms, 4.1).
    """
    return _order(list(range(n)))


def _order(numbers: list[Any]) -> Any:
    n = len(numbers)
    if n < 8:
        return _chain(numbers)
    if n <= 128:
        whole = n - n % 8
        lanes = [_chain(numbers[lane:whole:8]) for lane in range(8)]
        pairs = [[lanes[i], lanes[i + 1]] for i in range(0, 8, 2)]
        return _chain([[[pairs[0], pairs[1]], [pairs[2], pairs[3]]], *numbers[whole:]])
    half = n // 2 - n // 2 % 8
    return [_order(numbers[:half]), _order(numbers[half:])]


def _chain(numbers: list[Any]) -> Any:
    total = numbers[0]
    for number in numbers[1:]:
        total = [total, number]
    return total
