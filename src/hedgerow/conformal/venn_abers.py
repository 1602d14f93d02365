"""Venn–Abers prediction: calibrated bounds on the probability of a class, from held-out scores.

Vovk and Petej, Venn-Abers Predictors, 2014; computed as in Vovk, Petej and Fedorova, Large-scale Probabilistic
Predictors with and without Guarantees of Validity, 2015, algorithms 1 and 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["VennAbers", "merge"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class VennAbers:
    """Isotonic regressions of an event on a score, with the new row counted as a non-event and as an event.

    >>> import numpy as np
    >>> from hedgerow.conformal import VennAbers
    >>> found = VennAbers.of(np.array([0.1, 0.4, 0.6, 0.9]), np.array([0.0, 0.0, 1.0, 1.0]), np.ones(4))
    >>> found.bounds(np.array([0.05, 0.5, 0.95])).round(3)
    array([[0.   , 0.333],
           [0.   , 1.   ],
           [0.667, 1.   ]])
    """

    scores: Floats
    """Distinct scores, ascending."""
    as_event: Floats
    """Isotonic regression at each score, with a row of this score added as an event (p₁)."""
    as_other: Floats
    """Fit with the row added as a non-event (p₀)."""

    @classmethod
    def of(cls, scores: Floats, event: Floats, weight: Floats) -> VennAbers:
        """Calibrate by rows with their scores, 1 or 0 for event or not, and weights.

        Parameters
        ----------
        scores : array of shape (n_samples,)
            Score of each row; larger is more probable.
        event : array of shape (n_samples,)
            1 where the event has happened, else 0.
        weight : array of shape (n_samples,)
            Weight of each row.

        Returns
        -------
        VennAbers
            The two regressions, for :meth:`bounds`.
        """
        distinct, which = np.unique(scores, return_inverse=True)
        n_rows = np.bincount(which, weight, len(distinct)).astype(np.float64)
        n_events = np.bincount(which, weight * event, len(distinct)).astype(np.float64)
        as_event = _with_event_added(n_rows, n_events)
        as_other = 1.0 - _with_event_added(n_rows[::-1], (n_rows - n_events)[::-1])[::-1]
        return cls(distinct, as_event, as_other)

    def bounds(self, scores: Floats) -> Floats:
        """Lower and upper bound p₀ and p₁ on the probability of the event, (n, 2).

        A new row between two scores joins the next one above as an event, and the next below as a non-event; beyond
        the last it stands alone.

        Parameters
        ----------
        scores : array of shape (n_samples,)
            Score of each row; larger is more probable.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            p₀ and p₁ of each row, p₀ ≤ p₁.
        """
        above = np.append(self.as_event, 1.0)[np.searchsorted(self.scores, scores, side="left")]
        below = np.append(0.0, self.as_other)[np.searchsorted(self.scores, scores, side="right")]
        return np.stack([below, above], axis=1)


def merge(bounds: Floats) -> Floats:
    """Probability p₁/(1 − p₀ + p₁) that minimises the largest regret in log-loss, (…), from bounds (…, 2).

    Vovk, Petej and Fedorova, 2015, equation 10.
    """
    lower, upper = bounds[..., 0], bounds[..., 1]
    merged: Floats = upper / (1.0 - lower + upper)
    return merged


def _with_event_added(n_rows: Floats, n_events: Floats) -> Floats:
    """Isotonic regression at each of the scores, ascending, with one event added there.

    An added event has the largest value there is, so it is pooled with what follows only: its value is the least mean
    of the rows from it on, event included, but not less than the regression of what is before. The latter adds blocks
    that begin before it: the mean over blocks a ≤ j is the slope of the greatest convex minorant that ends in the
    point (W_{j−1} − 1, S_{j−1} − 1), so a stack of corners, from right to left, gives each in amortised constant time.
    """
    x = np.concatenate([[0.0], np.cumsum(n_rows)]).tolist()
    y = np.concatenate([[0.0], np.cumsum(n_events)]).tolist()
    k = len(n_rows)
    # Corners of the greatest convex minorant of all points with the event first: from the right end to the left.
    corners = [(-1.0, -1.0), (x[0], y[0])]
    for at in range(1, k + 1):
        point = (x[at], y[at])
        while len(corners) > 1 and _not_convex(corners[-2], corners[-1], point):
            corners.pop()
        corners.append(point)
    corners.reverse()
    found = np.empty(k)
    for at in range(1, k + 1):
        (x0, y0), (x1, y1) = corners[-1], corners[-2]
        found[at - 1] = (y1 - y0) / (x1 - x0)
        # The points before move: those of rows up to `at` now come before the event.
        moved = (x[at] - 1.0, y[at] - 1.0)
        if (moved[1] - y0) * (x1 - x0) >= (y1 - y0) * (moved[0] - x0):
            continue
        corners.pop()
        while len(corners) > 1 and _not_convex(moved, corners[-1], corners[-2]):
            corners.pop()
        corners.append(moved)
    return np.minimum(found, 1.0)


def _not_convex(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    """Whether the corner b is on or above the line from a to c."""
    return (b[0] - a[0]) * (c[1] - b[1]) <= (c[0] - b[0]) * (b[1] - a[1])
