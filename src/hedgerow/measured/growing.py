"""The growth of a tree of soft regions: which region is divided next, and how.

Splitting region k adds one column c to the span of the memberships, and so lowers the residual sum of squares of the
least-squares fit (Tami et al., 2018, equations 6 and 7) by (c·r)²/(‖c‖² − ‖Qᵀc‖²), with r the residuals and Q an
orthonormal basis of the columns before. Once a direction q has joined the basis, every candidate is brought up to date
by its product with q alone: c·r falls by (q·r)(c·q), and the denominator by (c·q)².
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hedgerow.measured.candidates import Candidates, RegionScores, Split
from hedgerow.measured.fitting import Fit
from hedgerow.measured.problem import Problem
from hedgerow.measured.regions import GrowingRegion, Question
from hedgerow.measured.settings import GrowthSettings

__all__ = ["GrowthSettings", "Path", "grow_path"]

Bools = NDArray[np.bool_]

_NO_GAIN = 1e-12  # of the squares that there were at the start
_TIED = 1e-10  # a nominal column must gain more than that, relatively, to be asked before a numeric one


@dataclass(frozen=True)
class Path:
    """The splits in the order in which they were made: any number of the first ones is a tree.

    Split i asks `questions[i]` of region `divided[i]`, which makes regions 2i + 1 and 2i + 2; region 0 is everywhere.
    `risks[i]` is the residual sum of squares of i splits, per unit of weight.
    """

    divided: list[int]
    questions: list[Question]
    risks: list[float]


def grow_path(problem: Problem, settings: GrowthSettings) -> Path:
    """Split after split, until nothing is gained or no region may be divided."""
    growth = _Growth(problem, settings)
    return growth.depth_first() if settings.max_leaf_nodes is None else growth.best_first(settings.max_leaf_nodes)


class _Growth:
    def __init__(self, problem: Problem, settings: GrowthSettings) -> None:
        self._risk = settings.risk
        self._fit = Fit(problem)
        self._candidates = Candidates(problem, settings, self._fit)
        self._least_gain = _NO_GAIN * self._fit.risk
        self._regions = {0: GrowingRegion.everywhere(len(problem.weight))}
        self._path = Path([], [], [self._fit.risk])

    def best_first(self, max_leaf_nodes: int) -> Path:
        """The region whose best split gains most is divided next."""
        scores = self._candidates.of_regions(self._regions)
        while True:
            found = {number: best for number in scores if (best := self._best(scores[number])) is not None}
            if not found:
                return self._path
            number = max(found, key=lambda one: found[one][0])  # the first of equals
            split = self._divide(number, scores[number], *found[number][1:])
            if split is None:
                scores[number][found[number][1]].forget()
                continue
            if len(self._regions) == max_leaf_nodes:  # what they would gain is not asked any more
                return self._path
            del scores[number]
            scores |= (
                self._candidates.of_parts(split, self._regions, scores)
                if self._risk == "global"
                else self._candidates.of_regions(split.parts)
            )

    def depth_first(self) -> Path:
        """Every region as soon as it is reached, the lower part first."""
        waiting = [0]
        while waiting:
            number = waiting.pop()
            scores = self._candidates.of_regions({number: self._regions[number]})[number]
            while (best := self._best(scores)) is not None:
                split = self._divide(number, scores, *best[1:])
                if split is not None:
                    waiting += reversed(split.parts)
                    break
                scores[best[1]].forget()
        return self._path

    def _best(self, scores: RegionScores) -> tuple[float, int, int | Bools] | None:
        """Gain, whose it is, and which: the first of equals, numeric columns before nominal ones."""
        chosen: tuple[float, int, int | Bools] | None = None
        for feature, of_column in scores.items():
            found = of_column.best()
            if (
                found is not None
                and found[0] > self._least_gain
                and (chosen is None or found[0] > chosen[0] * (1 + _TIED))
            ):
                chosen = (found[0], feature, found[1])
        return chosen

    def _divide(self, number: int, scores: RegionScores, key: int, which: int | Bools) -> Split | None:
        """None if the part that is made is in the span."""
        region = self._regions[number]
        question, parts = self._candidates.divided(region, key, which)
        added = self._fit.add(parts[0])
        if added is None:
            return None
        self._path.divided.append(number)
        self._path.questions.append(question)
        self._path.risks.append(self._fit.risk)
        first = 2 * len(self._path.questions) - 1
        numbered = {first: parts[0], first + 1: parts[1]}
        del self._regions[number]
        self._regions |= numbered
        return Split(region, scores, question, numbered, *added)
