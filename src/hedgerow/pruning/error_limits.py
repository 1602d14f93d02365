"""C4.5's pruning: without rows to spare, by what a leaf must be expected to err in the worst case."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

from numpy.typing import ArrayLike

from hedgerow._core import prune
from hedgerow._params import check_bool, check_number
from hedgerow.data.training import Training
from hedgerow.forest.forest import Forest
from hedgerow.growth.growth import Fractional
from hedgerow.pruning.cutting import remade
from hedgerow.pruning.grower import Grower, need_classes, need_one_tree, rows_for

__all__ = ["Pessimistic", "pessimistic"]


@dataclass(frozen=True)
class Pessimistic:
    """A subtree is replaced by a leaf, or by its largest branch, if that is not expected to err more (C4.5).

    The errors of a leaf with N rows, e of them wrong, are estimated by the upper limit of a confidence interval at
    `confidence` (Quinlan, C4.5, 1993, chapter 4): U(N, e) = N·r with f = (e + ½)/N, z = Φ⁻¹(1 − confidence)
    and r = (f + z²/2N + z·√(f/N − f²/N + z²/4N²))/(1 + z²/N); N·(1 − confidence^(1/N)) where e = 0, and interpolated
    up to e = 1. From the bottom up, a node becomes a leaf if U ≤ the sum over its leaves + 0.1; with `raising`, its
    largest branch takes its place if the branch, given all of the node's rows, is expected to err no more than the
    node's leaves + 0.1. Everything as in Weka's J48. As a rule, a smaller `confidence` prunes more.

    Weights count as numbers of rows. Estimators rescale weights that are not whole numbers to a mean of 1 first.
    """

    confidence: float = 0.25
    raising: bool = True

    def __post_init__(self) -> None:
        check_number("Pessimistic: confidence", self.confidence, 0, 0.5, closed="right", hint=", such as 0.25")
        check_bool("Pessimistic: raising", self.raising)

    def __call__(self, training: Training, grower: Grower, seed: int) -> Forest:
        need_classes(self, training)
        return self.prune(grower(training), training, grower)

    def prune(self, forest: Forest, rows: Training, grower: Grower) -> Forest:
        return _pruned(forest, rows, self, grower.min_fraction)


def pessimistic(
    forest: Forest,
    X: ArrayLike,
    y: ArrayLike,
    sample_weight: ArrayLike | None = None,
    *,
    confidence: float = 0.25,
    raising: bool = True,
    min_fraction: float = Fractional.min_fraction,
) -> Forest:
    """The tree, grown from these rows, pruned as C4.5 does; see :class:`Pessimistic`.

    `y` holds class numbers. A row without an answer to a question goes down all branches, in proportion to the rows
    that have one; a part below `min_fraction` of a row follows the heaviest.
    """
    return _pruned(forest, rows_for(forest, X, y, sample_weight), Pessimistic(confidence, raising), min_fraction)


def _pruned(forest: Forest, rows: Training, how: Pessimistic, min_fraction: float) -> Forest:
    need_one_tree(forest)
    labels = need_classes(how, rows)
    pruned = prune(
        forest.core_with_weight,
        forest.counts,
        rows.values,
        rows.sample_weight,
        labels,
        float(how.confidence),
        NormalDist().inv_cdf(1 - how.confidence),
        bool(how.raising),
        float(min_fraction),
    )
    return forest if pruned is None else remade(forest, pruned)
