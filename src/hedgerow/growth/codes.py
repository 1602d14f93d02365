"""Growth from columns of one byte a row, with bins that were found elsewhere: on all rows, wherever they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats
from hedgerow._core import GrowOptions, bin_columns, encode_columns, grow_codes
from hedgerow.data.training import Training
from hedgerow.growth.core import Grown, to_grown

__all__ = ["MISSING_CODE", "Bins", "CodedRows", "Codes", "bin_training", "grow_coded_tree"]

Codes = NDArray[np.uint8]

MISSING_CODE = 255


@dataclass(frozen=True)
class Bins:
    """Least and greatest value of every bin; nominal columns have none, their codes are their categories."""

    start: NDArray[np.int64]
    """Column j has the bins start[j] .. start[j + 1]."""
    least: Floats
    greatest: Floats
    n_categories: NDArray[np.int32]

    def __post_init__(self) -> None:
        for array in (self.start, self.least, self.greatest, self.n_categories):
            array.flags.writeable = False

    @classmethod
    def of_columns(cls, bins: list[tuple[Floats, Floats]], n_categories: NDArray[np.int32]) -> Bins:
        """Bins from the least and the greatest values of each column."""
        start = np.cumsum([0, *(len(least) for least, _ in bins)])
        least, greatest = (np.concatenate([pair[i] for pair in bins]) for i in (0, 1))
        return cls(start.astype(np.int64), least, greatest, n_categories)

    @property
    def arrays(self) -> tuple[NDArray[np.int64], Floats, Floats]:
        """Argument of the core."""
        return self.start, self.least, self.greatest

    def encode(self, values: Floats) -> Codes:
        """Bin of each value, (n, n_features), column-major; MISSING_CODE where it is missing."""
        codes = np.empty(values.shape[::-1], np.uint8)
        encode_columns(values, self.n_categories, self.arrays, codes)
        return codes.T


@dataclass(frozen=True)
class CodedRows:
    """Rows to grow a tree from, in the order of their numbers."""

    codes: Codes
    """Column-major."""
    counts: NDArray[np.uint32]
    """How often each row was drawn for the tree."""
    labels: NDArray[np.int32] | None = None
    targets: Floats | None = None
    n_classes: int = 0
    numbers: NDArray[np.int64] | None = None
    """Numbers of the rows among all rows, which their draws depend on; None: these are all."""


def bin_training(training: Training, max_bins: int, n_threads: int = 1) -> tuple[Codes, Bins]:
    """Codes and bins of training rows, as :func:`~hedgerow.growth.grow_forest` makes them."""
    found = bin_columns(training.values, training.n_categories, training.sample_weight, max_bins, n_threads)
    bins = Bins(found["start"], found["least"], found["greatest"], training.n_categories)
    return found["codes"].T, bins


def grow_coded_tree(
    rows: CodedRows,
    bins: Bins,
    options: GrowOptions,
    key: int,
    *,
    depth: int = 0,
    tree_weight: float = -1.0,
) -> Grown:
    """Grow one tree; or the part of it below a node, given its address, its depth and the weight of the whole tree.

    The same bits as :func:`~hedgerow.growth.grow_forest` from the values of the rows. The rows of leaves, if they are
    kept, are positions in `rows`.
    """
    grown: dict[str, Any] = grow_codes(
        rows.codes,
        bins.arrays,
        bins.n_categories,
        rows.counts,
        rows.labels,
        rows.targets,
        rows.n_classes,
        rows.numbers,
        options,
        key,
        depth,
        tree_weight,
    )
    return to_grown(grown, rows.codes.shape[1], rows.n_classes, 1)
