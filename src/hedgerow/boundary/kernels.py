"""Kernel samples, and the share of a class among the training rows near a point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow._arrays import Floats, Whole
from hedgerow._core import Kernel, kernel_shares
from hedgerow._params import check_choice, check_number
from hedgerow._rebuild import reduce_to_constructor
from hedgerow._registry import register
from hedgerow.walk import n_threads

__all__ = ["KernelSample", "check_tolerance", "kernel"]

_KERNELS = {"gaussian": Kernel.gaussian, "box": Kernel.box, "epanechnikov": Kernel.epanechnikov}


def kernel(given: Any) -> str:
    """Check the parameter `kernel`."""
    return check_choice("kernel", given, _KERNELS)


def check_tolerance(given: Any) -> float:
    return check_number("tolerance", given, 0, 0.1, closed="left", hint=": the relative error of kernel sums")


@dataclass(frozen=True, eq=False)
class KernelSample:
    """Training rows in groups: for each class its subsets and, last, all rows.

    Group i has the rows start[i] .. start[i + 1], sorted by distance. `points` has the distance and, if it is used, the
    position of each row; `weights` its weight as a row of the class, and as a row of another class.
    """

    start: Whole
    points: Floats
    weights: Floats
    bandwidth: Floats

    def __post_init__(self) -> None:
        """Check values that may come from a file."""
        n, n_dims = self.points.shape
        start = self.start
        fits = (
            start.dtype == np.int64
            and all(array.dtype == np.float64 for array in (self.points, self.weights, self.bandwidth))
            and n_dims in (1, 2)
            and self.weights.shape == (n, 2)
            and self.bandwidth.shape == (len(start) - 1, n_dims)
            and start[0] == 0
            and start[-1] == n
            and bool((start[1:] >= start[:-1]).all())
        )
        if not fits:
            raise ValueError("a kernel sample has parts that do not fit each other")
        falls = np.diff(self.points[:, 0]) < 0
        falls[start[1:-1][(start[1:-1] > 0) & (start[1:-1] < n)] - 1] = False
        finite = (
            np.isfinite(self.points).all() and np.isfinite(self.weights).all() and np.isfinite(self.bandwidth).all()
        )
        if not finite or (self.weights < 0).any() or (self.bandwidth <= 0).any() or falls.any():
            raise ValueError("a kernel sample has numbers that make no sense")

    __reduce__ = reduce_to_constructor

    @classmethod
    def of(cls, group: Whole, n_groups: int, points: Floats, weights: Floats) -> KernelSample:
        """Sort rows by group and distance; all bandwidths are 1."""
        order = np.lexsort((points[:, 0], group))
        start = np.concatenate([[0], np.cumsum(np.bincount(group, minlength=n_groups))]).astype(np.int64)
        bandwidth = np.ones((n_groups, points.shape[1]))
        return cls(start, points[order], weights[order], bandwidth)

    @property
    def sizes(self) -> Whole:
        return np.diff(self.start)

    def shares(
        self,
        name: str,
        group: Whole,
        points: Floats,
        tolerance: float,
        n_jobs: int | None,
        left_out: Whole | None = None,
    ) -> Floats:
        """Σ K w over the rows of the class / Σ K w over all rows of the group (equation 2 of the paper), (n,).

        Far from all rows it is the limit, the share among the nearest rows. NaN for an empty group.
        """
        out = np.empty(len(group))
        kernel_shares(
            _KERNELS[name],
            self.start,
            self.points,
            self.weights,
            self.bandwidth,
            np.ascontiguousarray(points),
            group,
            left_out,
            tolerance,
            out,
            n_threads(n_jobs),
        )
        return out


register(KernelSample, name="hedgerow.boundary.KernelSample")
