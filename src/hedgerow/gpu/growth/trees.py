"""Trees that were grown on a device, level after level, and the forests that are made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats
from hedgerow._lazy import lazy
from hedgerow.forest.forest import Forest
from hedgerow.gpu.growth.launch import Kernels
from hedgerow.gpu.numpy_language import on_host

__all__ = ["GrownTrees"]


@dataclass(frozen=True, eq=False)
class GrownTrees:
    """Trees on a device. Nodes stand level after level, in a level tree after tree; siblings are neighbours."""

    launch: Kernels
    draws: Any
    """How often each row was drawn, (n_trees, n_rows)."""
    n_features: int
    feature: Any
    """-1 in a leaf."""
    threshold: Any
    kind: Any
    tree: Any
    counts: Any
    """Class counts, (n_nodes, n_classes)."""
    first_child: Any
    """Position of the first child; -1 in a leaf."""

    @property
    def n_trees(self) -> int:
        return len(self.draws)

    @lazy
    def weight(self) -> Any:
        """Weight of each node."""
        return self.counts.sum(axis=1).astype(np.float64)

    def in_bag(self) -> NDArray[np.uint8]:
        """Bit mask of the rows in the bag of each tree, (n_trees, ceil(n_rows / 8))."""
        xp = self.launch.device.xp
        with self.launch.device.current():
            masks = [on_host(xp.packbits(drawn > 0, bitorder="little")) for drawn in self.draws]
        return np.stack(masks)

    def unseen_frequencies(
        self, X: Floats, numbers: NDArray[np.int64], sizes: NDArray[np.float64]
    ) -> tuple[Floats, Floats]:
        """Sums of class frequencies over the trees that have not seen a row, were all nodes lighter than a size leaves.

        (n_sizes, n, n_classes), and the number of these trees, (n,). `sizes` ascend; `numbers` are those of the rows
        among the training rows.
        """
        xp = self.launch.device.xp
        n_classes = self.counts.shape[1]
        with self.launch.device.current():
            folded, n_unseen = xp.zeros((len(sizes), len(X), n_classes)), xp.empty(len(X))
            self.launch(
                "fold_unseen",
                len(X),
                X=xp.asarray(np.ascontiguousarray(X)),
                row_numbers=xp.asarray(numbers.astype(np.int64)),
                n_walked=len(X),
                feature=self.feature,
                threshold=self.threshold,
                kind=self.kind,
                counts=self.counts,
                first_child=self.first_child,
                node_weight=self.weight,
                sizes=xp.asarray(np.ascontiguousarray(sizes[::-1], dtype=np.float64)),
                n_sizes=len(sizes),
                folded=folded,
                n_unseen=n_unseen,
                draws=self.draws,
            )
            return on_host(folded)[::-1], on_host(n_unseen)

    def forest(self, size: float = 0.0) -> Forest:
        """The trees in the memory of the host; nodes lighter than a size are leaves."""
        xp, n_trees = self.launch.device.xp, self.n_trees
        with self.launch.device.current():
            splits = self.feature >= 0
            inner = splits & (self.weight >= size - 1e-9)
            below = xp.repeat(inner[splits], 2)  # all nodes but the roots are children, in the order of their parents
            kept = xp.flatnonzero(xp.concatenate([xp.ones(n_trees, dtype=bool), below]))
            kept = kept[xp.argsort(self.tree[kept], kind="stable")]
            tree, leaf = self.tree[kept], ~inner[kept]
            tree_start = _starts(xp, xp.bincount(tree, minlength=n_trees))
            leaf_start = _starts(xp, xp.bincount(tree[leaf], minlength=n_trees))
            place = xp.empty(len(self.feature), dtype=np.int64)
            place[kept] = xp.arange(len(kept))
            number = xp.cumsum(leaf) - 1 - leaf_start[tree]
            nodes = xp.empty((len(kept), 4), dtype=np.int32)  # a float64 and two int32
            threshold = xp.where(leaf, np.nan, self.threshold[kept])
            nodes[:, :2] = threshold.view(np.int32).reshape(-1, 2)
            nodes[:, 2] = xp.where(leaf, -1, self.feature[kept])
            nodes[:, 3] = xp.where(leaf, number, place[self.first_child[kept]] - tree_start[tree])
            arrays = {
                "nodes": nodes,
                "kind": xp.where(leaf, 0, self.kind[kept]).astype(np.uint8),
                "weight": self.weight[kept],
                "tree_start": tree_start,
                "leaf_start": leaf_start,
                "leaf_counts": self.counts[kept[leaf]].astype(np.float64),
            }
            here = {name: on_host(array) for name, array in arrays.items()}
        return Forest.trusted(
            n_features=self.n_features,
            **here | {"nodes": here["nodes"].view(np.uint8)},
            payload_start=np.zeros(1, np.int64),
            payload_codes=np.empty(0, np.int32),
            payload_weights=np.empty(0),
        )


def _starts(xp: Any, sizes: Any) -> Any:
    starts = xp.zeros(len(sizes) + 1, dtype=np.int64)
    starts[1:] = xp.cumsum(sizes)
    return starts
