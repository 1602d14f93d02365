"""Held-out answers about calibration rows, and the thresholds that follow from them for a coverage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._params import is_number, is_whole
from hedgerow._printable import printable
from hedgerow._registry import register
from hedgerow.conformal.class_scores import ClassScore
from hedgerow.conformal.levels import ROUNDING, SortedScores, needed_rows
from hedgerow.conformal.number_scores import NumberScore

__all__ = ["NO_GROUPS", "ClassCalibration", "ClassThresholds", "Groups", "NumberCalibration", "check_enough"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]


@partial(register, name="hedgerow.conformal.Groups")
@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of rows that are calibrated apart (Mondrian: Vovk, Gammerman and Shafer, 2005, section 4.5)."""

    column: int
    """Position of the column whose values are the groups; −1: the classes are, −2: there are none."""
    values: Floats
    """Values of the column, ascending; empty for classes."""
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        if not is_whole(self.column) or self.column < -2:
            raise ValueError("groups have no column")
        if self.values.ndim != 1 or len(self.values) != len(self.names) or (len(self.values) > 0) != (self.column >= 0):
            raise ValueError("groups have no value and name each")

    @property
    def by_class(self) -> bool:
        return self.column == -1

    def of_rows(self, rows: Floats) -> Codes:
        """Number of the group of each row; −1 for a value that no calibration row has, and for a missing one."""
        if self.column < 0:
            return np.full(len(rows), -1, dtype=np.int32)
        column = rows[:, self.column]
        at = np.minimum(np.searchsorted(self.values, column), len(self.values) - 1)
        return np.where(self.values[at] == column, at, -1).astype(np.int32)


NO_GROUPS = Groups(-2, np.zeros(0), ())


class _Thresholds:
    """Sorted scores of all calibration rows, and of each group."""

    def __init__(self, scores: Floats, weight: Floats, group: Codes, n_groups: int) -> None:
        self.overall = SortedScores(scores, weight)
        self.of_group = [SortedScores(scores[group == g], weight[group == g]) for g in range(n_groups)]

    def thresholds(self, coverage: float) -> Floats:
        """Threshold of each group, and of rows in none, (n_groups + 1,)."""
        return np.array([one.threshold(coverage) for one in (*self.of_group, self.overall)])


@partial(register, name="hedgerow.conformal.ClassCalibration")
@dataclass(frozen=True, eq=False)
class ClassCalibration:
    """Calibration rows of a classifier: what it says about them without having seen them, and their classes."""

    proba: Floats
    """Held-out probabilities, (n, n_classes)."""
    bounds: Floats
    """Held-out bounds, (n, n_classes, 2); empty where no score needs them."""
    codes: Codes
    weight: Floats
    groups: Groups
    group: Codes
    """Number of the group of each row."""
    draws: Floats
    """Draw of each row, (n,), for randomized sets; empty where there are none."""

    def __post_init__(self) -> None:
        n_rows = len(self.codes)
        if self.proba.ndim != 2 or len(self.proba) != n_rows or self.proba.dtype != np.float64:
            raise ValueError("calibration has no probabilities for each row")
        if self.bounds.size and self.bounds.shape != (*self.proba.shape, 2):
            raise ValueError("calibration has no bounds for each row and class")
        if n_rows and not 0 <= self.codes.min() <= self.codes.max() < self.proba.shape[1]:
            raise ValueError("calibration has a class that does not exist")
        if not np.isfinite(self.proba).all() or not (np.isfinite(self.weight) & (self.weight > 0)).all():
            raise ValueError("calibration has probabilities or weights that are not finite")
        _check_rows(n_rows, self.weight, self.groups, self.group)
        if self.draws.size and self.draws.shape != (n_rows,):
            raise ValueError("calibration has no draw for each row")

    def answers(self, score: ClassScore) -> Floats:
        """Held-out answers that a score reads; an error where they were not kept."""
        if score.verb == "predict_proba":
            return self.proba
        if not self.bounds.size:
            name = type(score).__name__
            raise ValueError(f"conformity_score {name} reads {score.verb}, which fit has not kept: fit again")
        return self.bounds

    def scores_of_truth(self, score: ClassScore, draws: Floats | None) -> Floats:
        """Score of the true class of each row, (n,)."""
        found = score.scores(self.answers(score), draws)
        return found[np.arange(len(self.codes)), self.codes]

    def sorted_scores(self, score: ClassScore, draws: Floats | None) -> ClassThresholds:
        """Sorted scores of the true classes, by class or group."""
        n_classes = self.proba.shape[1]
        by_class = self.groups.by_class
        group, n_groups = (self.codes, n_classes) if by_class else (self.group, len(self.groups.values))
        scores = _Thresholds(self.scores_of_truth(score, draws), self.weight, group, n_groups)
        return ClassThresholds(scores, by_class, n_classes)

    def rows_by_group(self) -> Floats:
        """Weight of the calibration rows of each class, group, or altogether where there are no groups."""
        if self.groups.by_class:
            return np.bincount(self.codes, self.weight, self.proba.shape[1]).astype(np.float64)
        return _rows_by_group(self.weight, self.groups, self.group)


@dataclass(frozen=True, eq=False)
class ClassThresholds:
    """Sorted calibration scores; which classes they accept at a coverage."""

    scores: _Thresholds
    by_class: bool
    n_classes: int

    def thresholds(self, coverage: float) -> Floats:
        """Threshold of each group (the last: of rows in none) and class, (n_groups + 1, n_classes)."""
        found = self.scores.thresholds(coverage)
        if self.by_class:
            return found[np.newaxis, :-1]
        return np.repeat(found[:, np.newaxis], self.n_classes, axis=1)

    def levels(self, scores: Floats, group: Codes, draws: Floats | None) -> Floats:
        """Coverage above which each class is in the set, (n, n_classes)."""
        found = np.empty_like(scores)
        for rows, code, one in self._parts(group):
            own = scores[rows, code]
            found[rows, code] = one.levels(own) if draws is None else one.smoothed_levels(own, draws[rows])
        return found

    def randomized_sets(self, scores: Floats, group: Codes, draws: Floats, coverage: float) -> NDArray[np.bool_]:
        """Whether each class has a level below `coverage`, (n, n_classes), ties broken by the draws."""
        found = np.empty(scores.shape, dtype=bool)
        for rows, code, one in self._parts(group):
            found[rows, code] = one.accepts(scores[rows, code], draws[rows], coverage)
        return found

    def _parts(self, group: Codes) -> Iterator[tuple[Any, int, SortedScores]]:
        """Rows and classes, and the calibration scores that they are compared with."""
        of_group = self.scores.of_group
        if self.by_class:
            yield from ((slice(None), code, one) for code, one in enumerate(of_group))
            return
        for number, one in enumerate((*of_group, self.scores.overall)):
            rows = group == (number if number < len(of_group) else -1) if of_group else slice(None)
            yield from ((rows, code, one) for code in range(self.n_classes))


@partial(register, name="hedgerow.conformal.NumberCalibration")
@dataclass(frozen=True, eq=False)
class NumberCalibration:
    """Calibration rows of a regressor: how far each target is below and above what was predicted without it."""

    scores: Floats
    """Scores of the lower and the upper end, (n, 2): how far outside the interval must move to reach the target."""
    weight: Floats
    groups: Groups
    group: Codes
    score: NumberScore
    """Score that they were computed by."""
    scale: float
    """Figure of all answers of the model that the score's unit is computed with."""

    def __post_init__(self) -> None:
        if self.scores.ndim != 2 or self.scores.shape[1] != 2 or not np.isfinite(self.scores).all():
            raise ValueError("calibration has no scores for each row")
        if not (np.isfinite(self.weight) & (self.weight > 0)).all():
            raise ValueError("calibration has weights that are not finite")
        if not isinstance(self.score, NumberScore) or not is_number(self.scale) or not 0 <= self.scale < np.inf:
            raise ValueError("calibration has no score, or no scale of it")
        _check_rows(len(self.scores), self.weight, self.groups, self.group)

    def shifts(self, sides: str, coverage: float) -> Floats:
        """How far the ends move out, (n_groups + 1, 2): infinite where a side is open."""
        n_groups = len(self.groups.values)

        def of(scores: Floats, share: float) -> Floats:
            return _Thresholds(scores, self.weight, self.group, n_groups).thresholds(share)

        open_end = np.full(n_groups + 1, np.inf)
        match sides:
            case "both":
                both = of(self.scores.max(axis=1), coverage)
                return np.stack([both, both], axis=1)
            case "each":
                share = (1 + coverage) / 2
                return np.stack([of(self.scores[:, 0], share), of(self.scores[:, 1], share)], axis=1)
            case "lower":
                return np.stack([of(self.scores[:, 0], coverage), open_end], axis=1)
        return np.stack([open_end, of(self.scores[:, 1], coverage)], axis=1)

    def rows_by_group(self) -> Floats:
        """Weight of the calibration rows of each group, or altogether where there are no groups."""
        return _rows_by_group(self.weight, self.groups, self.group)


def check_enough(coverage: float, n_rows: Floats, names: Sequence[Any], kind: str, *, share: float = 0.0) -> None:
    """Refuse a coverage that needs more calibration rows than there are, in all or in one of the groups.

    `kind` is what groups are, "class" or "group"; empty for intervals. `share` replaces the coverage where each end of
    an interval has a share of its own.
    """
    needed = needed_rows(share or coverage)
    short = np.flatnonzero(n_rows < needed * (1 - ROUNDING))
    if not len(short):
        return
    worst = int(short[np.argmin(n_rows[short])])
    subject = "intervals" if kind == "interval" else "sets of classes"
    need = f"{subject} with coverage={coverage:g} need at least {needed} calibration samples"
    if not len(names):
        found = "is 1 sample" if n_rows[worst] == 1 else f"are {n_rows[worst]:g} samples"
        raise ValueError(f"{need}, and there {found}: set a lower coverage, or give more rows")
    group = f"class {names[worst]!r}" if kind == "class" else f"group {printable(names[worst])}"
    others = f" ({len(short)} of {len(n_rows)} have too few)" if len(short) > 1 else ""
    raise ValueError(
        f"{need} in every {group.split()[0]}, and {group} has {n_rows[worst]:g}{others}: set a lower coverage, "
        "groups=None, or give more rows"
    )


def _rows_by_group(weight: Floats, groups: Groups, group: Codes) -> Floats:
    if not len(groups.values):
        return np.array([weight.sum()])
    used = group >= 0
    return np.bincount(group[used], weight[used], len(groups.values)).astype(np.float64)


def _check_rows(n_rows: int, weight: Floats, groups: Groups, group: Codes) -> None:
    if weight.shape != (n_rows,) or group.shape != (n_rows,):
        raise ValueError("calibration has no weight and group for each row")
    if n_rows and not -1 <= group.min() <= group.max() < max(len(groups.values), 1):
        raise ValueError("calibration has a group that does not exist")
