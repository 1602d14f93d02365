"""Rows made up where there are none: values between the thresholds of forests, and their categories."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hedgerow._arrays import Floats
from hedgerow.data.table import Schema
from hedgerow.forest.forest import Forest
from hedgerow.forest.kinds import NodeKind

__all__ = ["made_up_rows"]

_N_ROWS = 500
_MARGIN = 0.1  # of the range of the thresholds, beyond the outermost
_SEED = 0


def made_up_rows(forests: Sequence[Forest], schema: Schema) -> Floats:
    """Rows whose values fall between all thresholds alike; a column that no threshold is about has none."""
    random = np.random.default_rng(_SEED)
    rows = np.full((_N_ROWS, schema.n_features), np.nan)
    for j, column in enumerate(schema.columns):
        if column.categories:
            rows[:, j] = random.integers(0, len(column.categories), _N_ROWS)
            continue
        levels = _levels(np.concatenate([_thresholds(forest, j) for forest in forests]))
        if len(levels):
            rows[:, j] = random.choice(levels, _N_ROWS)
            rows[:2, j] = levels[0], levels[-1]
    return rows


def _thresholds(forest: Forest, feature: int) -> Floats:
    found = forest.threshold[(forest.kind == NodeKind.THRESHOLD) & (forest.feature == feature)]
    return found[np.isfinite(found)]


def _levels(thresholds: Floats) -> Floats:
    """A value below, one between each pair of neighbors, and one above."""
    cuts = np.unique(thresholds)
    if not len(cuts):
        return cuts
    margin = (
        max(_MARGIN * float(cuts[-1] - cuts[0]), _MARGIN * float(np.abs(cuts).max()) if len(cuts) == 1 else 0.0) or 1.0
    )
    return np.concatenate([[cuts[0] - margin], (cuts[1:] + cuts[:-1]) / 2, [cuts[-1] + margin]])
