"""Tasks that grow one tree of a forest, wherever its rows are: from the rows of its bag, or from all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats
from hedgerow._core import DrawScheme, GrowOptions
from hedgerow.distributed.blocks import RowBlock
from hedgerow.distributed.population import Population
from hedgerow.forest.forest import Forest
from hedgerow.growth import Growth
from hedgerow.growth.codes import Bins, CodedRows, Codes, grow_coded_tree
from hedgerow.growth.poisson import PoissonDraws, round_targets, tree_key

__all__ = ["AllRows", "BagPiece", "GrownTree", "Plan", "draw_bags", "encode_rows", "grow_from_all", "grow_from_bag"]


@dataclass(frozen=True)
class Plan:
    """What the growth of every tree follows from, beside the rows."""

    growth: Growth
    criteria: tuple[str, ...]
    draws: PoissonDraws
    bins: Bins
    n_classes: int
    """0 for regression."""
    target_range: tuple[float, float] | None

    @property
    def n_features(self) -> int:
        return len(self.bins.n_categories)

    def options(self, tree: int) -> GrowOptions:
        """Options of the core for one tree."""
        draws = self.draws
        options = self.growth.options_of_size(draws.n_rows, draws.total, self.n_features, self.criteria, draws.seed)
        options.n_draws, options.draw_scheme = draws.n_draws, DrawScheme.poisson
        if self.target_range is not None:
            round_targets(options, *self.target_range)
            options.keep_leaf_rows = True
        of_tree: GrowOptions = options.of_tree(tree)
        return of_tree


_KEPT = ("only", "leaf_start", "leaf_ranks", "leaf_weights", "leaf_values")


@dataclass(frozen=True)
class GrownTree:
    """A tree, and the training targets of its leaves in regression, as ranks among its distinct ones."""

    forest: Forest
    only: bool
    """Whether no row was drawn, so that one is the whole bag."""
    leaf_start: NDArray[np.int64]
    leaf_ranks: NDArray[np.int32]
    leaf_weights: Floats
    leaf_values: Floats

    @property
    def arrays(self) -> dict[str, NDArray[Any]]:
        """Arrays by name, for a file."""
        parts = {
            f"forest_{name}": np.asarray(part)
            for name, part in self.forest.parts().items()
            if part is not None and name != "distinct_counts"
        }
        kept = {name: np.asarray(getattr(self, name)) for name in _KEPT}
        return parts | kept

    @classmethod
    def of_arrays(cls, arrays: dict[str, NDArray[Any]]) -> GrownTree:
        """Tree of arrays from a file."""
        given = dict(arrays)
        only, *kept = (given.pop(name) for name in _KEPT)
        n_features = int(given.pop("forest_n_features"))
        parts: dict[str, Any] = {name.removeprefix("forest_"): array for name, array in given.items()}
        forest = Forest.trusted(n_features=n_features, **parts)
        forest.check()
        return cls(forest, bool(only), *kept)


# -- the rows of a bag, shipped


@dataclass(frozen=True)
class BagPiece:
    """Rows of a part that are in the bag of a tree, or that would be if no other were."""

    first: int
    offsets: NDArray[np.uint32]
    """Numbers of the rows, from `first`."""
    counts: NDArray[Any]
    """How often each was drawn."""
    codes: Codes
    """A column in each row of this array: (n_features, n)."""
    truth: NDArray[Any]

    @property
    def nbytes(self) -> int:
        return self.offsets.nbytes + self.counts.nbytes + self.codes.nbytes + self.truth.nbytes


def draw_bags(block: RowBlock, population: Population, plan: Plan, trees: Sequence[int]) -> list[BagPiece]:
    """Rows of a part in the bag of each of some trees."""
    rows = population.used(block)
    codes = plan.bins.encode(rows.X).T
    pieces = []
    for tree in trees:
        counts = plan.draws.counts(tree, rows.first, len(rows), rows.weight)
        drawn = np.flatnonzero(counts)
        only = plan.draws.only_row(tree) - rows.first
        if not len(drawn) and 0 <= only < len(counts):
            drawn = np.array([only])
        short = counts[drawn]
        if short.max(initial=0) < 256:
            short = short.astype(np.uint8)
        pieces.append(
            BagPiece(rows.first, drawn.astype(np.uint32), short, codes.take(drawn, axis=1), rows.target[drawn])
        )
    return pieces


def grow_from_bag(bag: tuple[int, Sequence[BagPiece]], plan: Plan) -> GrownTree:
    """Grow a tree from the pieces of its bag, which are in the order of their rows."""
    tree, pieces = bag
    codes = np.ascontiguousarray(np.concatenate([piece.codes for piece in pieces], axis=1)).T
    counts = np.concatenate([piece.counts.astype(np.uint32) for piece in pieces])
    truth = np.concatenate([piece.truth for piece in pieces])
    numbers = np.concatenate([piece.first + piece.offsets.astype(np.int64) for piece in pieces])
    only = not counts.any()
    if only:
        counts[numbers == plan.draws.only_row(tree)] = 1
    return _grow(tree, _coded(codes, counts, truth, numbers, plan), plan, only)


# -- all rows, on every worker


@dataclass(frozen=True)
class AllRows:
    """Codes, targets and weights of rows; weights are None where all are 1."""

    codes: Codes
    """A column in each row of this array: (n_features, n)."""
    truth: NDArray[Any]
    weight: Floats | None


def encode_rows(block: RowBlock, population: Population, plan: Plan) -> AllRows:
    """All rows of a part as codes."""
    rows = population.used(block)
    weight = None if population.starts is None else rows.weight
    return AllRows(plan.bins.encode(rows.X).T, rows.target, weight)


def grow_from_all(tree: int, rows: AllRows, plan: Plan) -> GrownTree:
    """Draw the bag of a tree and grow it."""
    counts = plan.draws.counts(tree, 0, len(rows.truth), rows.weight)
    only = not counts.any()
    if only:
        counts[plan.draws.only_row(tree)] = 1
    return _grow(tree, _coded(rows.codes.T, counts, rows.truth, None, plan), plan, only)


def _coded(
    codes: Codes, counts: NDArray[np.uint32], truth: NDArray[Any], numbers: NDArray[np.int64] | None, plan: Plan
) -> CodedRows:
    if plan.n_classes:
        return CodedRows(codes, counts, labels=truth, n_classes=plan.n_classes, numbers=numbers)
    return CodedRows(codes, counts, targets=truth, numbers=numbers)


def _grow(tree: int, rows: CodedRows, plan: Plan, only: bool) -> GrownTree:
    grown = grow_coded_tree(rows, plan.bins, plan.options(tree), tree_key(plan.draws.seed, tree))
    targets = np.empty(0) if rows.targets is None else rows.targets[grown.leaf_rows] + 0.0  # -0.0 is 0.0
    values, ranks = np.unique(targets, return_inverse=True)
    return GrownTree(grown.forest, only, grown.leaf_rows_start, ranks.astype(np.int32), grown.leaf_row_weights, values)
