"""Position along the boundary: a coordinate of the row's projection.

The paper's conclusion proposes a second feature, linked to the nearest part of the boundary, for a kernel in two
dimensions. Here it is the coordinate of the projection along the direction in which the projections of the training
rows of the same subset vary most; with two columns and a separator that is the other column.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hedgerow._arrays import Floats, Whole
from hedgerow._rebuild import reduce_to_constructor
from hedgerow._registry import register

__all__ = ["Axes"]


@dataclass(frozen=True, eq=False)
class Axes:
    """Centre and first principal axis of the projections of each group, in units of the scale."""

    centre: Floats
    direction: Floats

    def __post_init__(self) -> None:
        if self.centre.ndim != 2 or self.centre.shape != self.direction.shape:
            raise ValueError("centres and directions of positions differ in shape")
        if not (np.isfinite(self.centre).all() and np.isfinite(self.direction).all()):
            raise ValueError("centres and directions of positions must be finite")

    __reduce__ = reduce_to_constructor

    @classmethod
    def of(cls, points: Floats, weights: Floats, group: Whole, n_groups: int) -> Axes:
        """Compute the axes of each group's points; missing coordinates count as the centre."""
        centre, direction = np.zeros((2, n_groups, points.shape[1]))
        order = np.argsort(group, kind="stable")
        ends = np.cumsum(np.bincount(group, minlength=n_groups))
        for one, rows in enumerate(np.split(order, ends[:-1])):
            if len(rows):
                centre[one], direction[one] = _principal_axis(points[rows], weights[rows])
        return cls(centre, direction)

    def positions(self, points: Floats, group: Whole) -> Floats:
        """Coordinates of points along the axis of their group."""
        centred = np.nan_to_num(points - self.centre[group], nan=0.0)
        return (centred * self.direction[group]).sum(axis=1)


def _principal_axis(points: Floats, weights: Floats) -> tuple[Floats, Floats]:
    known = ~np.isnan(points)
    total = (known * weights[:, np.newaxis]).sum(axis=0)
    centre = (np.where(known, points, 0.0) * weights[:, np.newaxis]).sum(axis=0) / np.where(total > 0, total, 1.0)
    centred = np.where(known, points - centre, 0.0)
    axis = np.linalg.eigh((centred * weights[:, np.newaxis]).T @ centred)[1][:, -1]
    return centre, axis * np.sign(axis[np.argmax(np.abs(axis))])  # an axis has no sign of its own


register(Axes, name="hedgerow.boundary.Axes")
