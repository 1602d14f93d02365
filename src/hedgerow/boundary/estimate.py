"""Probabilities from the distance to the boundary: what `fit` learns from training rows, and what it says of others.

Alvarez, Bernard and Deffuant, Keep the Decision Tree and Estimate the Class Probabilities Using its Decision Boundary
(2007), algorithm 3 and equation 2, with one bandwidth for both densities and the prior of the class inside the subset.
(Step 5 of the algorithm divides by the rows of S where those of S_c are meant; with the prior that cancels.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._rebuild import reduce_to_constructor
from hedgerow._registry import register
from hedgerow.boundary.bandwidths import Bandwidth
from hedgerow.boundary.kernels import KernelSample
from hedgerow.boundary.partitions import groups, n_groups, partition
from hedgerow.boundary.positions import Axes
from hedgerow.boundary.walls import Nearest, Walls
from hedgerow.folds.leaf_probability import Laplace, uniform

__all__ = ["Estimate", "Settings", "features"]

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

_LEAST_SHARE = 1e-300  # a log-likelihood stays finite


def features(given: Any) -> tuple[str, ...]:
    """What the kernel is put on, or a clear error."""
    names = tuple(given) if isinstance(given, list | tuple) else ()
    if names not in (("distance",), ("distance", "position")):
        raise ValueError(f"features is {given!r}, must be ('distance',) or ('distance', 'position')")
    return names


@dataclass(frozen=True)
class Settings:
    """How probabilities are estimated, checked."""

    partition: str
    bandwidth: Bandwidth
    kernel: str
    features: tuple[str, ...]
    tolerance: float
    n_jobs: int | None


@dataclass(frozen=True, eq=False)
class Estimate:
    """What was learned from training rows: a sample for kernels and, if positions are used, axes along the boundary.

    It answers by the partition and the features that it was made with.
    """

    partition: str
    sample: KernelSample
    axes: Axes | None

    def __post_init__(self) -> None:
        """What a file says of them may be anything."""
        partition(self.partition)
        if (self.axes is None) != (self.n_dims == 1):
            raise ValueError("a kernel sample has no axes for its positions, or has them without positions")
        if self.axes is not None and len(self.axes.centre) != len(self.sample.sizes):
            raise ValueError("a kernel sample has other groups than its axes")

    __reduce__ = reduce_to_constructor

    @classmethod
    def of(
        cls, walls: Walls, X: Floats, labels: NDArray[np.int32], weight: Floats, scale: Floats, settings: Settings
    ) -> Estimate:
        """Learn from training rows whose labels are positions of classes; all weights are positive."""
        nearest = walls.measure(X, scale, n_jobs=settings.n_jobs)
        parts = nearest.parts
        amount, label = weight[parts.rows] * parts.weights, labels[parts.rows]
        per_class = 1 + n_groups(settings.partition, walls)
        # A row is in the whole of each class and, unless that is all, in a subset.
        part, of_class = np.nonzero(np.isfinite(nearest.distance))
        subset = groups(settings.partition, walls, nearest)[part, of_class]
        in_subset = np.flatnonzero(subset >= 0)
        in_group = np.concatenate([(of_class + 1) * per_class - 1, (of_class * per_class + subset)[in_subset]])
        part, of_class = (np.concatenate([one, one[in_subset]]) for one in (part, of_class))
        inside = label[part] == of_class
        weights = amount[part, np.newaxis] * np.stack([inside, ~inside], axis=1)
        points = nearest.distance[part, of_class][:, np.newaxis]
        axes = None
        n_total = walls.n_classes * per_class
        if "position" in settings.features:
            places = _projections(walls, X, nearest, scale)[part, of_class]
            axes = Axes.of(places, amount[part], in_group, n_total)
            points = np.column_stack([points, axes.positions(places, in_group)])
        sample = KernelSample.of(in_group, n_total, points, weights)
        return cls(settings.partition, _with_bandwidths(sample, per_class, settings), axes)

    @property
    def n_dims(self) -> int:
        return int(self.sample.points.shape[1])

    def bandwidths(self, n_classes: int) -> Floats:
        """That of the distance, for each class."""
        widths: Floats = self.sample.bandwidth.reshape(n_classes, -1, self.n_dims)[:, -1, 0]
        return widths

    def probabilities(self, walls: Walls, X: Floats, nearest: Nearest, scale: Floats, settings: Settings) -> Floats:
        """Probability of each class for each row, (n, n_classes), whose distances are `nearest`.

        Shares of several classes are divided by their sum. The leaf's Laplace frequency stands in for a class whose
        area can't be reached, or left; probabilities of a row in several leaves are mixed by its weights there.
        """
        n_classes = walls.n_classes
        laplace = Laplace()(walls.forest.answer_counts(), uniform(n_classes))[nearest.parts.leaves]
        shares = laplace.copy()
        per_class = len(self.sample.sizes) // n_classes
        own = groups(self.partition, walls, nearest)
        # Two classes have the same boundary: what one has not, the other has.
        asked = [1] if n_classes == 2 else range(n_classes)
        places = _projections(walls, X, nearest, scale) if self.axes is not None else None
        for c in asked:
            reached = np.flatnonzero(np.isfinite(nearest.distance[:, c]))
            group = c * per_class + np.where(own[reached, c] >= 0, own[reached, c], per_class - 1)
            group[self.sample.sizes[group] == 0] = (c + 1) * per_class - 1
            known = self.sample.sizes[group] > 0
            reached, group = reached[known], group[known]
            points = nearest.distance[reached, c][:, np.newaxis]
            if self.axes is not None and places is not None:
                points = np.column_stack([points, self.axes.positions(places[reached, c], group)])
            found = self.sample.shares(settings.kernel, group, points, settings.tolerance, settings.n_jobs)
            shares[reached, c] = found
            if n_classes == 2:
                shares[reached, 0] = 1 - found
        total = shares.sum(axis=1, keepdims=True)
        return nearest.parts.mix(np.where(total > 0, shares / np.where(total > 0, total, 1.0), laplace))


def _projections(walls: Walls, X: Floats, nearest: Nearest, scale: Floats) -> Floats:
    """Where parts arrive for each class, in units of the scale; nominal columns have no place along a boundary."""
    points = np.stack([walls.points(X, nearest, c) for c in range(walls.n_classes)], axis=1) / scale
    points[..., walls.n_categories > 0] = 0.0
    return points


def _with_bandwidths(sample: KernelSample, per_class: int, settings: Settings) -> KernelSample:
    """The sample with the bandwidth of each of its groups.

    The range of the distance is that over all training rows, for every subset; that of the position is the subset's.
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
    ranges[ranges <= 0] = 1.0  # all in one place: any bandwidth says the same
    widths = np.ones_like(ranges)
    for c in range(len(ranges)):
        widths[c] = settings.bandwidth(ranges[c], _likelihood(sample, c, per_class, settings))
    return _replaced(sample, np.maximum(widths.reshape(sample.bandwidth.shape), np.finfo(float).tiny))


def _replaced(sample: KernelSample, bandwidth: Floats) -> KernelSample:
    return KernelSample(sample.start, sample.points, sample.weights, np.ascontiguousarray(bandwidth))


def _likelihood(sample: KernelSample, c: int, per_class: int, settings: Settings) -> Any:
    """The log-likelihood of the training labels for the bandwidths of a class's groups, each row without itself."""
    # In a partition each row is asked about in its subset; of the whole, in the whole.
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
        tried = _replaced(sample, bandwidth)
        share = tried.shares(settings.kernel, group, sample.points[rows], settings.tolerance, settings.n_jobs, rows)
        likely = np.where(inside, share, 1 - share)
        told = ~np.isnan(likely)  # a row that is alone in its subset says nothing
        return float(amount[told] @ np.log(np.maximum(likely[told], _LEAST_SHARE)))

    return score


register(Estimate, name="hedgerow.boundary.Estimate")
