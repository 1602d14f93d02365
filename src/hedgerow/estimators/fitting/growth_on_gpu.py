"""Growth of a forest on a GPU, and its calibration by out-of-bag rows there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats
from hedgerow._core import DrawScheme, GrowOptions
from hedgerow._lazy import lazy
from hedgerow.data.training import Training
from hedgerow.forest.forest import Forest
from hedgerow.growth import Growth, Random
from hedgerow.growth.codes import bin_training
from hedgerow.growth.missing import missing_values
from hedgerow.rules import FoldRule

if TYPE_CHECKING:
    from hedgerow.gpu import CudaDevice
    from hedgerow.gpu.growth import GrownTrees

__all__ = ["GrownOnGPU", "SizesOnGPU", "UnseenOnGPU", "check_grows_on_gpu", "grow_on_gpu"]


def check_grows_on_gpu(growth: Growth, options: GrowOptions, training: Training) -> None:
    """Refuse by name what is not grown on a GPU with the bits of the CPU."""
    nominal = bool((training.n_categories > 0).any())
    fewer_rows = "sample_weight and class_weight with bootstrap=False"
    refused = {
        f"criterion={growth.criterion!r}": growth.criterion != "gini",
        "cost_matrix": growth.class_costs is not None,
        "feature_costs": growth.feature_costs is not None,
        "max_leaf_nodes": growth.max_leaf_nodes is not None,
        "linear_model": growth.linear_model is not None,
        f"missing={growth.missing!r}": not isinstance(missing_values(growth.missing), Random),
        f"nominal={growth.nominal!r}": nominal and growth.nominal != "binary",
        "bootstrap='poisson'": options.draw_scheme == DrawScheme.poisson,
        fewer_rows: options.n_draws == 0 and bool((training.sample_weight != 1).any()),
        "max_bins=None, or a column of more than 255 categories,": options.max_bins == 0,
    }
    for what, is_asked in refused.items():
        if is_asked:
            raise ValueError(
                f"{what} is not grown on a GPU: fit on the CPU, model.to('cpu').fit(X, y), and move it then"
            )


def grow_on_gpu(
    device: CudaDevice, training: Training, options: GrowOptions, progress: Callable[[int], object] | None = None
) -> GrownOnGPU:
    """Grow the trees that :func:`~hedgerow.growth.grow_forest` grows."""
    from hedgerow.gpu.growth import CodedTraining, grow_trees

    assert training.labels is not None
    codes, bins = bin_training(training, options.max_bins, options.n_threads)
    coded = CodedTraining(
        codes.T,
        training.labels,
        training.n_classes,
        training.sample_weight,
        bins.start,
        bins.least,
        bins.greatest,
        bins.n_categories,
    )
    return GrownOnGPU(grow_trees(device, coded, options, progress))


@dataclass(frozen=True, eq=False)
class GrownOnGPU:
    """As :class:`~hedgerow.growth.Grown`; what is asked for is copied from the device."""

    trees: GrownTrees

    @lazy
    def forest(self) -> Forest:
        return self.trees.forest()

    @lazy
    def in_bag(self) -> NDArray[np.uint8]:
        return self.trees.in_bag()


@dataclass(frozen=True)
class UnseenOnGPU:
    """Training rows, and the trees that they are in the bag of, on the device; as `OutOfBag`."""

    grown: GrownOnGPU
    values: Floats
    numbers: NDArray[np.int64]
    """Of the rows, among those that bags were drawn from; -1 for a row of weight 0."""
    n_jobs: int | None

    @classmethod
    def of(cls, grown: GrownOnGPU, values: Floats, used: NDArray[np.bool_], n_jobs: int | None) -> UnseenOnGPU:
        """Bags of grown trees; `used` are the rows of `values` that they were drawn from."""
        return cls(grown, values, np.where(used, np.cumsum(used) - 1, -1), n_jobs)

    @property
    def n_trees(self) -> int:
        return self.grown.trees.n_trees

    def of_rows(self, positions: NDArray[np.intp]) -> UnseenOnGPU:
        """Bags of these rows only."""
        return replace(self, values=self.values[positions], numbers=self.numbers[positions])

    def node_sizes(self, sizes: Sequence[int]) -> SizesOnGPU:
        """The trees with nodes below each size as leaves."""
        return SizesOnGPU(self.grown.trees, sizes)

    def size_folds(
        self, rule: FoldRule, prior: Floats, cuts: Any, tree_weights: Floats | None
    ) -> tuple[list[Floats], Floats, NDArray[np.bool_]]:
        """Fold the class frequencies of the trees with nodes of each size, as `OutOfBag.size_folds`."""
        folded, n_unseen = self.grown.trees.unseen_frequencies(
            self.values, self.numbers, np.asarray(cuts.sizes, np.float64)
        )
        unseen = n_unseen > 0
        return [one[unseen] for one in folded], n_unseen[unseen, np.newaxis], unseen


@dataclass(frozen=True)
class SizesOnGPU:
    """As :class:`NodeSizes`, of trees on the device."""

    trees: GrownTrees
    sizes: Sequence[int]

    def cut(self, size: int) -> Forest:
        """The forest with leaves instead of nodes below this size."""
        return self.trees.forest(float(size))
