"""
The compiled core: free functions over arrays that hedgerow has checked.
"""

from collections.abc import Callable, Sequence
import enum
from typing import Annotated, Any

import numpy
from numpy.typing import NDArray


class Packing:
    """Packed trees of a forest, once walks have made them."""

    def __init__(self) -> None: ...

class ForestArrays:
    """
    Arrays of a forest that the functions of this module take; see hedgerow.forest.
    """

    def __init__(self, *, nodes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)], kind: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, payload: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, missing: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, tree_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], leaf_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], payload_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], payload_codes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], payload_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], payload_means: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_features: int, only_thresholds: bool, packing: Packing) -> None: ...

def node_fault(forest: ForestArrays) -> tuple[int, int, int]:
    """
    The first rule that a node breaks by itself, or -1, and the node; see hedgerow.forest.check.
    """

def link_fault(forest: ForestArrays, largest_child: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[int, int, int]:
    """
    The first rule that is broken between nodes, or -1, where, and what was counted; see hedgerow.forest.check.
    """

def cut(forest: ForestArrays, marked: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], node_values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> dict[str, Any]:
    """Make leaves of the marked nodes; see hedgerow.pruning.cut."""

def collapse(forest: ForestArrays, leaf_counts: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> dict[str, Any] | None:
    """
    Make leaves of nodes that save no training error; see hedgerow.pruning.collapse.
    """

def node_sums(forest: ForestArrays, leaf_values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]:
    """Of each node, the sum of the rows of its leaves."""

def ends_after_cut(parent: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], marked: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]:
    """
    The node that each node's rows end in when the marked nodes become leaves.
    """

def parents(forest: ForestArrays) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]:
    """The parent of each node, -1 for roots."""

def node_depths(parent: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')]:
    """Distance of each node from its root."""

def node_stats(parent: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], stats: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Merge weight, mean and squared deviations of leaves up to the roots, in place.
    """

class TableArrays:
    """Arrays of a leaf table that `fold` takes; see hedgerow.walk.LeafTable."""

    def __init__(self, values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], linked: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], links: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], ops: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], row_of: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None) -> None: ...

def fold(forest: ForestArrays, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], tables: Sequence[TableArrays], out: Sequence[Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')]], first_tree: int, last_tree: int, tree_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, skip: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, n_used: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')] | None, n_threads: int) -> None:
    """
    Fold leaf tables over trees into their outputs; see hedgerow.walk.fold.
    """

def route(forest: ForestArrays, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], heaviest: bool, n_threads: int) -> None:
    """Leaf number of each row in each tree; see hedgerow.walk.route."""

def count_paths(forest: ForestArrays, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> tuple[int, int, int]:
    """
    Walks on packed nodes, walks on the forest's arrays, and splits of the former that keys could not decide.
    """

def pack_trees(forest: ForestArrays, first_tree: int, last_tree: int) -> tuple[Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu')]]:
    """
    Packed nodes (key, column and way to the children), places, slots of nodes, shares of children, slot starts and sources of key columns (feature, reading, codes) of a range of trees, for walks on another device.
    """

def spread(forest: ForestArrays, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], n_threads: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]]:
    """
    Row starts, leaves and weights of all leaves that rows reach; see hedgerow.walk.spread.
    """

def quantiles(forest: ForestArrays, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], ranks: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], shares: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], probabilities: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], skip: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None:
    """Quantiles from the training targets of leaves; see hedgerow.walk."""

def tally(forest: ForestArrays, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], unit: float, n_threads: int) -> None:
    """Add rows to the class counts of leaves; see hedgerow.walk.tally."""

def wall_plan(forest: ForestArrays, parent: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_categories: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int) -> tuple[Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')]]:
    """
    Classes below each node, and whether any value leads to it; see hedgerow.boundary.
    """

def wall_distance(forest: ForestArrays, walls: tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]], n_classes: int, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], leaves: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], scale: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], target: int, distance: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], leaf: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], separator: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], n_leaves: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], n_threads: int) -> None:
    """
    Distances of parts of rows to the leaves of each class; see hedgerow.boundary.
    """

class Kernel(enum.Enum):
    gaussian = 0

    box = 1

    epanechnikov = 2

def kernel_shares(kernel: Kernel, start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], points: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], weights: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], bandwidth: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], at: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], groups: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], left_out: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, tolerance: float, out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], n_threads: int) -> None:
    """
    Share of a class among the training rows around query points; see hedgerow.boundary.
    """

def contribute(forest: ForestArrays, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], background: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')], pairs: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None, None), order='C', device='cpu')] | None, n_threads: int) -> None:
    """
    Shapley values of the columns for a sum of leaf values; see hedgerow.contributions.
    """

def expected_values(forest: ForestArrays, values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]:
    """
    Leaf values by their shares of the training weight, summed over the trees.
    """

class Criterion(enum.Enum):
    gini = 0

    entropy = 1

    gain_ratio = 2

    squared_error = 3

    cost_gini = 4

    misclassification = 5

class Nominal(enum.Enum):
    multiway = 0

    binary = 1

    subset = 2

class Splitter(enum.Enum):
    best = 0

    random = 1

    mixed = 2

class DrawScheme(enum.Enum):
    multinomial = 0

    poisson = 1

class TrainMissing(enum.Enum):
    fractional = 0

    category = 1

    learned = 2

    random = 3

class GrowOptions:
    """Settings of growth; see hedgerow.growth."""

    def __init__(self) -> None: ...

    @property
    def criterion(self) -> Criterion: ...

    @criterion.setter
    def criterion(self, arg: Criterion, /) -> None: ...

    @property
    def nominal(self) -> Nominal: ...

    @nominal.setter
    def nominal(self, arg: Nominal, /) -> None: ...

    @property
    def missing(self) -> TrainMissing: ...

    @missing.setter
    def missing(self, arg: TrainMissing, /) -> None: ...

    @property
    def splitter(self) -> Splitter: ...

    @splitter.setter
    def splitter(self, arg: Splitter, /) -> None: ...

    @property
    def min_fraction(self) -> float: ...

    @min_fraction.setter
    def min_fraction(self, arg: float, /) -> None: ...

    @property
    def max_depth(self) -> int: ...

    @max_depth.setter
    def max_depth(self, arg: int, /) -> None: ...

    @property
    def min_samples_split(self) -> float: ...

    @min_samples_split.setter
    def min_samples_split(self, arg: float, /) -> None: ...

    @property
    def min_samples_leaf(self) -> float: ...

    @min_samples_leaf.setter
    def min_samples_leaf(self, arg: float, /) -> None: ...

    @property
    def min_weight_leaf(self) -> float: ...

    @min_weight_leaf.setter
    def min_weight_leaf(self, arg: float, /) -> None: ...

    @property
    def min_impurity_decrease(self) -> float: ...

    @min_impurity_decrease.setter
    def min_impurity_decrease(self, arg: float, /) -> None: ...

    @property
    def max_leaf_nodes(self) -> int: ...

    @max_leaf_nodes.setter
    def max_leaf_nodes(self, arg: int, /) -> None: ...

    @property
    def max_features(self) -> int: ...

    @max_features.setter
    def max_features(self, arg: int, /) -> None: ...

    @property
    def c45(self) -> bool: ...

    @c45.setter
    def c45(self, arg: bool, /) -> None: ...

    @property
    def collapse(self) -> bool: ...

    @collapse.setter
    def collapse(self, arg: bool, /) -> None: ...

    @property
    def significance(self) -> float: ...

    @significance.setter
    def significance(self, arg: float, /) -> None: ...

    @property
    def class_costs(self) -> list[float]: ...

    @class_costs.setter
    def class_costs(self, arg: Sequence[float], /) -> None: ...

    @property
    def feature_costs(self) -> list[float]: ...

    @feature_costs.setter
    def feature_costs(self, arg: Sequence[float], /) -> None: ...

    @property
    def linear_model(self) -> float | Callable | None: ...

    @linear_model.setter
    def linear_model(self, arg: float | Callable | None, /) -> None: ...

    @property
    def seed(self) -> int: ...

    @seed.setter
    def seed(self, arg: int, /) -> None: ...

    @property
    def max_nodes(self) -> int: ...

    @max_nodes.setter
    def max_nodes(self, arg: int, /) -> None: ...

    @property
    def n_trees(self) -> int: ...

    @n_trees.setter
    def n_trees(self, arg: int, /) -> None: ...

    @property
    def max_bins(self) -> int: ...

    @max_bins.setter
    def max_bins(self, arg: int, /) -> None: ...

    @property
    def n_draws(self) -> int: ...

    @n_draws.setter
    def n_draws(self, arg: int, /) -> None: ...

    @property
    def draw_scheme(self) -> DrawScheme: ...

    @draw_scheme.setter
    def draw_scheme(self, arg: DrawScheme, /) -> None: ...

    def of_tree(self, tree: int) -> GrowOptions: ...

    def round_targets(self, centre: float, range: float, quantum: float) -> None: ...

    @property
    def keep_in_bag(self) -> bool: ...

    @keep_in_bag.setter
    def keep_in_bag(self, arg: bool, /) -> None: ...

    @property
    def keep_leaf_rows(self) -> bool: ...

    @keep_leaf_rows.setter
    def keep_leaf_rows(self, arg: bool, /) -> None: ...

    @property
    def n_threads(self) -> int: ...

    @n_threads.setter
    def n_threads(self, arg: int, /) -> None: ...

def grow(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F', device='cpu', writable=False)], n_categories: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], sample_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, targets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_classes: int, options: GrowOptions, progress: Callable | None) -> dict[str, Any]:
    """Grow trees; see hedgerow.growth.grow_forest."""

def grow_codes(codes: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='F', device='cpu', writable=False)], bins: tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]], n_categories: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], counts: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, targets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_classes: int, numbers: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, options: GrowOptions, key: int, depth: int, tree_weight: float) -> dict[str, Any]:
    """
    Grow one tree from columns of one byte a row, or the part below a node; see hedgerow.growth.codes.
    """

def split_node(draws: Annotated[NDArray[numpy.uint32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], rows: Annotated[NDArray[numpy.uint32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, n_rows: float, bins: tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]], n_categories: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], options: GrowOptions, key: int, depth: int, tree_weight: float) -> dict[str, Any] | None:
    """
    Split of a node from histograms of its rows; see hedgerow.growth.codes.
    """

class RandomGrowOptions:
    """Settings of random growth; see hedgerow.growth."""

    def __init__(self) -> None: ...

    @property
    def min_samples_leaf(self) -> int: ...

    @min_samples_leaf.setter
    def min_samples_leaf(self, arg: int, /) -> None: ...

    @property
    def max_depth(self) -> int: ...

    @max_depth.setter
    def max_depth(self, arg: int, /) -> None: ...

    @property
    def seed(self) -> int: ...

    @seed.setter
    def seed(self, arg: int, /) -> None: ...

    @property
    def n_trees(self) -> int: ...

    @n_trees.setter
    def n_trees(self, arg: int, /) -> None: ...

    @property
    def n_threads(self) -> int: ...

    @n_threads.setter
    def n_threads(self, arg: int, /) -> None: ...

    @property
    def max_nodes(self) -> int: ...

    @max_nodes.setter
    def max_nodes(self, arg: int, /) -> None: ...

def grow_random(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], n_categories: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], sample_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], n_classes: int, options: RandomGrowOptions, progress: Callable | None) -> dict[str, Any]:
    """Grow random decision trees; see hedgerow.growth.grow_random_forest."""

def bin_columns(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F', device='cpu', writable=False)], n_categories: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], sample_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], max_bins: int, n_threads: int) -> dict[str, Any]:
    """Columns of one byte a row and their bins, as `grow` makes them."""

def encode_columns(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu', writable=False)], n_categories: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], bins: tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]], out: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Write the bin of each value to out, (n_columns, n_rows); 255 where it is missing.
    """

def poisson_counts(key: int, first: int, numbers: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, rate: float, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, out: Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Write how often each row is drawn for a tree to out; see hedgerow.growth.poisson.
    """

def row_draws(key: int, numbers: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """Write a draw in [0, 1) of each row at a node to out."""

def only_row(key: int, n_rows: int) -> int:
    """Row of a Poisson bag in which no row was drawn."""

def child_key(key: int, number: int) -> int:
    """Address of a child of a node; tree t is child t of the seed."""

def proximity(queries: tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]], leaves: tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]], n_others: int, n_most: int, same: bool, n_threads: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]]:
    """
    Rows that share leaves with each query; see hedgerow.inspection.proximity.
    """

def permutation_losses(forest: ForestArrays, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], leaf_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, empty: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], truth: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], sample_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], seen: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, unit_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], unit_columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], given_start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], given_columns: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], loss: int, n_repeats: int, seed: int, least_share: float, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], plain: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], permuted: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], n_threads: int) -> None:
    """
    Mean losses of each tree, and with permuted columns; see hedgerow.inspection.permutation_importance.
    """

def draw_bags(sample_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], n_draws: int, scheme: DrawScheme, seed: int, n_trees: int, n_threads: int) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')]:
    """
    Bit masks of the rows in the bag of each tree, as `grow` draws them, flat.
    """

def prune(forest: ForestArrays, leaf_counts: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F', device='cpu', writable=False)], sample_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], confidence: float, z: float, raising: bool, min_fraction: float) -> dict[str, Any] | None:
    """Prune a tree by estimated errors; see hedgerow.pruning.pessimistic."""

def weakest_links(parent: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]]:
    """
    Nodes in the order of cost-complexity pruning, their alphas, and sums over leaves; see hedgerow.pruning.
    """

def losses_as_leaves(forest: ForestArrays, X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], answers: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], truth: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], sample_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], squared: bool) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]:
    """What each node would lose, were it a leaf; see hedgerow.pruning."""

def cheapest_leaves(parent: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], inner: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], as_leaf: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], splits: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], tolerance: float) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')]:
    """
    1 for each inner node that costs no more as a leaf than its split and what is left below it.
    """

def nearest_change(forest: ForestArrays, candidates: tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]], conditions: tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, bool], limits: tuple[int, int, float], accept: Callable[[Sequence[int]], bool]) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], float, float, int]:
    """
    Choices, distance, bound and number of boxes of the nearest accepted row; see hedgerow.counterfactual.
    """

def codes_in_use(codes: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu', writable=False)], n_levels: int) -> Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu')]:
    """Which levels occur; -1 is none."""

def place_codes(codes: Annotated[NDArray, dict(shape=(None,), order='C', device='cpu', writable=False)], table: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Put the entry of a table for each code into out, NaN where the code is -1.
    """

def text_codes(items: list) -> tuple[list, Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]] | None:
    """
    The distinct texts of a list, sorted, and each item's number among them; None if not all are text.
    """

def plain_numbers(text: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], delimiter: str, column_of: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], missing: Sequence[str], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> int:
    """
    Read rows of plain numbers into out, (columns, rows); return their number, or -1 if the text is not plain.
    """

def first_infinity(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> int:
    """Flat position of the first infinite value, or -1."""

def number_rows(rows: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], most: int) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], Annotated[NDArray[numpy.uint32], dict(shape=(None,), order='C', device='cpu')]] | None:
    """
    Distinct rows in the order in which they occur, and the number of each row's; None if there are more than `most`.
    """

def positions_by_hash(X: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='F', device='cpu', writable=False)], n_categories: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], sample_weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], labels: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, targets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_classes: int, seed: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]:
    """Rows in a drawn order; see hedgerow.pruning."""

def normal_cdf(z: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    P(Z <= z) of the standard normal law, into out; see hedgerow.measured.errors.
    """

def coarse_normal_below(centre: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], spread: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], at: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), device='cpu')]) -> None:
    """
    P(U <= at) of a normal law for each row, from a table, into out; see hedgerow.measured.laws.
    """

def squared_lengths(columns: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Sums of weight * (column - start)^2 over each row of columns, into out; see hedgerow.measured.one_tree.threshold_columns.
    """

class SoftGrowOptions:
    """Settings of soft growth; see hedgerow.measured.many_trees."""

    def __init__(self) -> None: ...

    @property
    def n_trees(self) -> int: ...

    @n_trees.setter
    def n_trees(self, arg: int, /) -> None: ...

    @property
    def max_leaf_nodes(self) -> int: ...

    @max_leaf_nodes.setter
    def max_leaf_nodes(self, arg: int, /) -> None: ...

    @property
    def min_weight_leaf(self) -> float: ...

    @min_weight_leaf.setter
    def min_weight_leaf(self, arg: float, /) -> None: ...

    @property
    def max_features(self) -> int: ...

    @max_features.setter
    def max_features(self, arg: int, /) -> None: ...

    @property
    def ridge(self) -> float: ...

    @ridge.setter
    def ridge(self, arg: float, /) -> None: ...

    @property
    def tolerance(self) -> float: ...

    @tolerance.setter
    def tolerance(self, arg: float, /) -> None: ...

    @property
    def n_refits(self) -> int: ...

    @n_refits.setter
    def n_refits(self, arg: int, /) -> None: ...

    @property
    def n_final(self) -> int: ...

    @n_final.setter
    def n_final(self, arg: int, /) -> None: ...

    @property
    def simplex(self) -> bool: ...

    @simplex.setter
    def simplex(self, arg: bool, /) -> None: ...

    @property
    def n_draws(self) -> int: ...

    @n_draws.setter
    def n_draws(self, arg: int, /) -> None: ...

    @property
    def keep_in_bag(self) -> bool: ...

    @keep_in_bag.setter
    def keep_in_bag(self, arg: bool, /) -> None: ...

    @property
    def keep_fitted(self) -> bool: ...

    @keep_fitted.setter
    def keep_fitted(self, arg: bool, /) -> None: ...

    @property
    def seed(self) -> int: ...

    @seed.setter
    def seed(self, arg: int, /) -> None: ...

    @property
    def n_threads(self) -> int: ...

    @n_threads.setter
    def n_threads(self, arg: int, /) -> None: ...

def grow_soft(columns: Sequence[tuple[Annotated[NDArray[numpy.uint16], dict(shape=(None,), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None]], features: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], precision: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], targets: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], options: SoftGrowOptions, progress: Callable | None) -> dict[str, Any]:
    """Grow soft trees from rows in cells; see hedgerow.measured.many_trees."""

def soft_nodes(forest: ForestArrays, start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], thresholds: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], nominal: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]]:
    """Where each node finds its probabilities; see hedgerow.walk.soft."""

def soft_fold(forest: ForestArrays, nodes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], categories: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], below: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], tolerance: float, tables: Sequence[TableArrays], out: Sequence[Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')]], tree_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, skip: Annotated[NDArray[numpy.uint8], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, n_threads: int) -> None:
    """Fold leaf tables over soft walks; see hedgerow.walk.soft."""

def soft_spread(forest: ForestArrays, nodes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], categories: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], below: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], tolerance: float, n_threads: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]]:
    """
    Row starts, leaves and probabilities of soft walks; see hedgerow.walk.soft.
    """

def point_nodes(forest: ForestArrays, nodes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], categories: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], nominal: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu')]]:
    """Nodes as points read them; see hedgerow.walk.points."""

def point_fold(forest: ForestArrays, nodes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], sides: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], start: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], nominal: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)], below: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], strata: Annotated[NDArray[numpy.uint8], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], tables: Sequence[TableArrays], out: Sequence[Annotated[NDArray[numpy.float64], dict(order='C', device='cpu')]], tree_weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, n_threads: int) -> None:
    """
    Means of leaf tables over the points of rows; see hedgerow.walk.points.
    """

def checksum(data: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> int:
    """XXH64 of bytes, with seed 0; see hedgerow.forest.packing."""

def raise_to_power(values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], scale: float, offset: float, exponent: float, factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
    """
    Scale and shift values, raise them to a power and multiply columns; see hedgerow.rules.base.
    """

def random_bits(seed: int, path: Sequence[int], n: int) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')]:
    """The first n 64-bit draws at a node of a tree."""

def random_reals(seed: int, path: Sequence[int], n: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]:
    """The first n reals in [0, 1) at a node of a tree."""

def random_below(seed: int, path: Sequence[int], n: int, bound: int) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu')]:
    """The first n integers in 0 .. bound-1 at a node of a tree."""
