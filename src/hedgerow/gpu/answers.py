"""Answers about rows of a device, finished there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.forest.forest import Forest
from hedgerow.gpu.engine import DeviceWalk
from hedgerow.gpu.numpy_language import NumpyLanguage, unwrap
from hedgerow.walk import Query, ask

__all__ = ["ask_on_device", "labels_on_device"]


@dataclass(frozen=True)
class _FluentWalk:
    """Walk whose rows and folds speak NumPy."""

    walk: DeviceWalk

    @property
    def forest(self) -> Forest:
        return self.walk.forest

    def wrap(self, values: Any) -> NumpyLanguage:
        return NumpyLanguage(values, self.walk.device.xp, self.walk.device.special)

    def route(self, rows: Any) -> Any:
        return self.walk.route(rows.values)

    def spread(self, rows: Any) -> Any:
        return self.walk.spread(rows.values)

    def fold(self, rows: Any, tables: Any, tree_weights: Any = None, *, per_tree: Any = None) -> list[Any]:
        return [self.wrap(folded) for folded in self.walk.fold(rows.values, tables, tree_weights, per_tree=per_tree)]


def ask_on_device(walk: DeviceWalk, rows: Any, queries: Sequence[Query[Any]]) -> list[Any]:
    """Answer every query about rows of the device; the answers stay there.

    Parameters
    ----------
    walk : DeviceWalk
        The engine.
    rows : array of the device
        Rows, converted.
    queries : sequence of Query
        The queries.
    """
    fluent = _FluentWalk(walk)
    rows_here: Any = fluent.wrap(rows)
    return [unwrap(answer) for answer in ask(fluent, rows_here, queries)]


def labels_on_device(walk: DeviceWalk, classes: NDArray[Any], decide: Callable[[Any], Any], probabilities: Any) -> Any:
    """Labels of rows by their probabilities; labels that are not numbers are arrays of the host.

    Parameters
    ----------
    walk : DeviceWalk
        The engine.
    classes : array of shape (n_classes,)
        The labels.
    decide : callable
        Positions of the labels, given probabilities.
    probabilities : array of the device
        Of each class, (n, n_classes).
    """
    codes = unwrap(decide(_FluentWalk(walk).wrap(probabilities)))
    if classes.dtype.kind in "biuf":
        return walk.device.xp.asarray(classes)[codes]
    host: NDArray[np.intp] = codes.get() if hasattr(codes, "get") else np.asarray(codes)
    return classes[host]
