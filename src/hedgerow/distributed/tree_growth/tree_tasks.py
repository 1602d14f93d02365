"""Tasks that grow one tree of a forest, wherever its rows are: from the rows of its bag, or from all rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats, Whole
from hedgerow._core import DrawScheme, GrowOptions
from hedgerow.distributed.rows.row_blocks import RowBlock
from hedgerow.distributed.tree_growth.population import Population
from hedgerow.forest.forest import Forest
from hedgerow.growth import Growth
from hedgerow.growth.codes import Bins, CodedRows, Codes, grow_coded_tree
from hedgerow.growth.poisson import PoissonDraws, round_targets, tree_key

__all__ = [
    *("AllRows", "Bag", "BagPiece", "GrownTree", "Plan", "bytes_of_row", "draw_bags", "encode_rows", "grow_bag"),
    *("grow_from_all", "piece_of"),
]

_OF_PIECE = 12  # bytes of a row beside its codes: number, count and target
_OF_DRAWN_ROW = 32  # bytes that the core takes for it


@dataclass(frozen=True)
class Plan:
    """Inputs of the growth of every tree, beside the rows."""

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


def bytes_of_row(plan: Plan) -> int:
    """Memory for a row of a bag in a task: in its piece, in their concatenation, and in the core."""
    return 2 * (plan.n_features + _OF_PIECE) + _OF_DRAWN_ROW


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
        pieces.append(piece_of(rows, codes, counts, np.flatnonzero(counts), tree, plan))
    return pieces


def piece_of(rows: RowBlock, codes: Codes, counts: NDArray[np.uint32], taken: Whole, tree: int, plan: Plan) -> BagPiece:
    """Some of the rows that were drawn; of a block in which none was, the row that is the bag if no other is."""
    only = plan.draws.only_row(tree) - rows.first
    if not counts.any() and 0 <= only < len(counts):
        taken = np.array([only])
    short = counts[taken]
    if short.max(initial=0) < 256:
        short = short.astype(np.uint8)
    return BagPiece(rows.first, taken.astype(np.uint32), short, codes.take(taken, axis=1), rows.target[taken])


@dataclass(frozen=True)
class Bag:
    """Pieces of a tree's bag, or of a node's rows, in the order of the rows."""

    tree: int
    pieces: Sequence[BagPiece]
    key: int
    """Address of the node."""
    depth: int = 0
    tree_weight: float = -1.0
    """Draws of the whole tree; negative: these are all."""


def grow_bag(bag: Bag, plan: Plan) -> GrownTree:
    """Grow a tree, or the part below a node."""
    codes = np.ascontiguousarray(np.concatenate([piece.codes for piece in bag.pieces], axis=1)).T
    counts = np.concatenate([piece.counts.astype(np.uint32) for piece in bag.pieces])
    truth = np.concatenate([piece.truth for piece in bag.pieces])
    numbers = np.concatenate([piece.first + piece.offsets.astype(np.int64) for piece in bag.pieces])
    only = not counts.any()
    if only:
        counts[numbers == plan.draws.only_row(bag.tree)] = 1
    return _grow(bag, _coded(codes, counts, truth, numbers, plan), plan, only)


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
    bag = Bag(tree, (), tree_key(plan.draws.seed, tree))
    return _grow(bag, _coded(rows.codes.T, counts, rows.truth, None, plan), plan, only)


def _coded(
    codes: Codes, counts: NDArray[np.uint32], truth: NDArray[Any], numbers: NDArray[np.int64] | None, plan: Plan
) -> CodedRows:
    if plan.n_classes:
        return CodedRows(codes, counts, labels=truth, n_classes=plan.n_classes, numbers=numbers)
    return CodedRows(codes, counts, targets=truth, numbers=numbers)


def _grow(bag: Bag, rows: CodedRows, plan: Plan, only: bool) -> GrownTree:
    options = plan.options(bag.tree)
    grown = grow_coded_tree(rows, plan.bins, options, bag.key, depth=bag.depth, tree_weight=bag.tree_weight)
    targets = np.empty(0) if rows.targets is None else rows.targets[grown.leaf_rows] + 0.0  # -0.0 is 0.0
    values, ranks = np.unique(targets, return_inverse=True)
    return GrownTree(grown.forest, only, grown.leaf_rows_start, ranks.astype(np.int32), grown.leaf_row_weights, values)
