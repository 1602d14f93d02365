"""Kernel estimates of class probabilities from the distance to the boundary.

Alvarez, Bernard and Deffuant, Keep the Decision Tree and Estimate the Class Probabilities Using its Decision Boundary
(2007), algorithm 3 and equation 2, with one bandwidth for both densities and the prior of the class inside the subset.
(Step 5 of the algorithm divides by the rows of S where those of S_c are meant; with the prior that cancels.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats
from hedgerow._params import check_number
from hedgerow._rebuild import reduce_to_constructor
from hedgerow._registry import register
from hedgerow.boundary.bandwidths import Bandwidth
from hedgerow.boundary.decision_boundary import DecisionBoundary, Nearest
from hedgerow.boundary.kernels import KernelSample
from hedgerow.boundary.partitions import groups, n_groups, partition
from hedgerow.boundary.positions import Axes
from hedgerow.folds.leaf_probability import Laplace, uniform

__all__ = ["Estimate", "Settings", "features"]

_LEAST_SHARE = 1e-300  # keeps the log-likelihood finite


def features(given: Any) -> tuple[str, ...]:
    """Check the parameter `features`: the dimensions of the kernel."""
    names = tuple(given) if isinstance(given, list | tuple) else ()
    if names not in (("distance",), ("distance", "position")):
        raise ValueError(f"features is {given!r}, must be ('distance',) or ('distance', 'position')")
    return names


@dataclass(frozen=True)
class Settings:
    """Checked settings of the estimate."""

    partition: str
    bandwidth: Bandwidth
    kernel: str
    features: tuple[str, ...]
    tolerance: float
    n_jobs: int | None


@dataclass(frozen=True, eq=False)
class Estimate:
    """A fitted estimate: the kernel sample and, if positions are used, the axes along the boundary.

    The partition and the features are those of fitting. `weight` is that of the estimate in the answer; the rest is the
    tree's own.
    """

    partition: str
    sample: KernelSample
    axes: Axes | None
    weight: float = 1.0  # files of older versions have none: the paper's estimate alone

    def __post_init__(self) -> None:
        """Check values that may come from a file."""
        partition(self.partition)
        check_number("boundary_weight", self.weight, 0, 1, closed="both")
        if (self.axes is None) != (self.n_dims == 1):
            raise ValueError("a kernel sample has no axes for its positions, or has them without positions")
        if self.axes is not None and len(self.axes.centre) != len(self.sample.sizes):
            raise ValueError("a kernel sample has other groups than its axes")

    __reduce__ = reduce_to_constructor

    @classmethod
    def of(
        cls,
        boundary: DecisionBoundary,
        X: Floats,
        labels: NDArray[np.int32],
        weight: Floats,
        scale: Floats,
        settings: Settings,
    ) -> Estimate:
        """Fit to training rows; labels are positions in `classes_`, and all weights are positive."""
        nearest = boundary.measure(X, scale, n_jobs=settings.n_jobs)
        fractions = nearest.fractions
        amount, label = weight[fractions.rows] * fractions.weights, labels[fractions.rows]
        per_class = 1 + n_groups(settings.partition, boundary)
        # Every fraction is in the group of all rows of each class and, with a partition, in a subset.
        at, of_class = np.nonzero(np.isfinite(nearest.distance))
        subset = groups(settings.partition, boundary, nearest)[at, of_class]
        in_subset = np.flatnonzero(subset >= 0)
        in_group = np.concatenate([(of_class + 1) * per_class - 1, (of_class * per_class + subset)[in_subset]])
        at, of_class = (np.concatenate([one, one[in_subset]]) for one in (at, of_class))
        inside = label[at] == of_class
        weights = amount[at, np.newaxis] * np.stack([inside, ~inside], axis=1)
        points = nearest.distance[at, of_class][:, np.newaxis]
        axes = None
        n_total = boundary.n_classes * per_class
        if "position" in settings.features:
            projected = _projections(boundary, X, nearest, scale)[at, of_class]
            axes = Axes.of(projected, amount[at], in_group, n_total)
            points = np.column_stack([points, axes.positions(projected, in_group)])
        sample = KernelSample.of(in_group, n_total, points, weights)
        return cls(settings.partition, _with_bandwidths(sample, per_class, settings), axes)

    def with_bandwidths(self, factor: float, weight: float) -> Estimate:
        """Return the estimate with its bandwidths times a factor, and another weight in the answer."""
        return replace(self, sample=_replace_bandwidth(self.sample, self.sample.bandwidth * factor), weight=weight)

    @property
    def n_dims(self) -> int:
        return int(self.sample.points.shape[1])

    def bandwidths(self, n_classes: int) -> Floats:
        """Bandwidth of the distance, for each class."""
        return self.sample.bandwidth.reshape(n_classes, -1, self.n_dims)[:, -1, 0]

    def probabilities(
        self, boundary: DecisionBoundary, X: Floats, nearest: Nearest, scale: Floats, settings: Settings
    ) -> Floats:
        """Class probabilities of rows with the distances `nearest`, (n, n_classes).

        Estimates of several classes are normalised to sum to 1. The leaf's Laplace frequency replaces the estimate of a
        class whose region can't be reached, or left; probabilities of a row in several leaves are mixed by its weights.
        """
        n_classes = boundary.n_classes
        laplace = Laplace()(boundary.forest.answer_counts(), uniform(n_classes))[nearest.fractions.leaves]
        shares = laplace.copy()
        per_class = len(self.sample.sizes) // n_classes
        own = groups(self.partition, boundary, nearest)
        # Two classes share one boundary: one estimate is the complement of the other.
        estimated = [1] if n_classes == 2 else range(n_classes)
        projected = _projections(boundary, X, nearest, scale) if self.axes is not None else None
        for c in estimated:
            reached = np.flatnonzero(np.isfinite(nearest.distance[:, c]))
            group = c * per_class + np.where(own[reached, c] >= 0, own[reached, c], per_class - 1)
            group[self.sample.sizes[group] == 0] = (c + 1) * per_class - 1
            known = self.sample.sizes[group] > 0
            reached, group = reached[known], group[known]
            points = nearest.distance[reached, c][:, np.newaxis]
            if self.axes is not None and projected is not None:
                points = np.column_stack([points, self.axes.positions(projected[reached, c], group)])
            found = self.sample.shares(settings.kernel, group, points, settings.tolerance, settings.n_jobs)
            shares[reached, c] = found
            if n_classes == 2:
                shares[reached, 0] = 1 - found
        total = shares.sum(axis=1, keepdims=True)
        return nearest.fractions.mix(np.where(total > 0, shares / np.where(total > 0, total, 1.0), laplace))


def _projections(boundary: DecisionBoundary, X: Floats, nearest: Nearest, scale: Floats) -> Floats:
    """Projections for each class in units of the scale; 0 in nominal columns, which have no position."""
    points = np.stack([boundary.points(X, nearest, c) for c in range(boundary.n_classes)], axis=1) / scale
    points[..., boundary.n_categories > 0] = 0.0
    return points


def _with_bandwidths(sample: KernelSample, per_class: int, settings: Settings) -> KernelSample:
    """Return the sample with the bandwidth of each group.

    The range of the distance is taken over all training rows, that of the position over the subset.
    """
    ranges = np.ones_like(sample.bandwidth)
    used = np.flatnonzero(sample.sizes)
    for dim in range(ranges.shape[1]):
        values = sample.points[:, dim]
        if len(used):
            first = sample.start[used]
            ranges[used, dim] = np.maximum.reduceat(values, first) - np.minimum.reduceat(values, first)
    ranges = ranges.reshape(-1, per_class, ranges.shape[1])
    ranges[:, :, 0] = ranges[:, -1:, 0]
    ranges[ranges <= 0] = 1.0  # all points are equal: the bandwidth has no effect
    widths = np.ones_like(ranges)
    for c in range(len(ranges)):
        widths[c] = settings.bandwidth(ranges[c], _likelihood(sample, c, per_class, settings))
    return _replace_bandwidth(sample, np.maximum(widths.reshape(sample.bandwidth.shape), np.finfo(float).tiny))


def _replace_bandwidth(sample: KernelSample, bandwidth: Floats) -> KernelSample:
    return KernelSample(sample.start, sample.points, sample.weights, np.ascontiguousarray(bandwidth))


def _likelihood(sample: KernelSample, c: int, per_class: int, settings: Settings) -> Any:
    """Leave-one-out log-likelihood of the training labels, as a function of the bandwidths of a class's groups."""
    # With a partition each row is scored in its subset, otherwise in the group of all rows.
    first = c * per_class
    of_class = slice(first, first + per_class - (per_class > 1))
    begin, end = sample.start[of_class.start], sample.start[of_class.stop]
    rows = np.arange(begin, end, dtype=np.int64)
    group = np.repeat(np.arange(of_class.start, of_class.stop), sample.sizes[of_class]).astype(np.int64)
    inside = sample.weights[rows, 0] > 0
    amount = sample.weights[rows].sum(axis=1)

    def score(widths: Floats) -> float:
        bandwidth = sample.bandwidth.copy()
        bandwidth[first : first + per_class] = widths
        tried = _replace_bandwidth(sample, bandwidth)
        share = tried.shares(settings.kernel, group, sample.points[rows], settings.tolerance, settings.n_jobs, rows)
        likely = np.where(inside, share, 1 - share)
        known = ~np.isnan(likely)  # NaN for a row that is alone in its subset
        return float(amount[known] @ np.log(np.maximum(likely[known], _LEAST_SHARE)))

    return score


register(Estimate, name="hedgerow.boundary.Estimate")
