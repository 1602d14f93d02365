"""Trees of several forests as the arrays of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow.forest.kinds import NO_PAYLOAD

if TYPE_CHECKING:
    from hedgerow.forest.forest import Forest

__all__ = ["concatenated_arrays"]

_MAX_PAYLOADS = np.iinfo(np.int32).max


def concatenated_arrays(forests: Sequence[Forest]) -> dict[str, Any]:
    """Arguments of ``Forest.trusted`` for the trees of `forests`, in order; raises ValueError if they do not match."""
    _check_alike(forests)
    parts = [forest.parts() for forest in forests]

    def joined(name: str) -> NDArray[Any]:
        return np.concatenate([part[name] for part in parts])

    def unless_left_out(name: str) -> NDArray[Any] | None:
        left_out = all(part[name] is None for part in parts)
        return None if left_out else np.concatenate([getattr(forest, name) for forest in forests])

    leaf_values = "leaf_stats" if forests[0].leaf_counts is None else "leaf_counts"
    return {
        "n_features": forests[0].n_features,
        "nodes": joined("nodes"),
        "kind": joined("kind"),
        "weight": unless_left_out("weight"),
        "payload": _payloads(forests),
        "missing": unless_left_out("missing"),
        "tree_start": _offsets([forest.tree_start for forest in forests]),
        "leaf_start": _offsets([forest.leaf_start for forest in forests]),
        "payload_start": _offsets([forest.payload_start for forest in forests]),
        "payload_codes": joined("payload_codes"),
        "payload_weights": _payload_weights(forests),
        "payload_means": _payload_means(forests),
        leaf_values: np.concatenate([getattr(forest, leaf_values) for forest in forests]),
    }


def _check_alike(forests: Sequence[Forest]) -> None:
    if not forests:
        raise ValueError("forests is empty: pass at least one Forest")
    first, *others = (_describe(forest) for forest in forests)
    for number, found in enumerate(others, 1):
        if found != first:
            raise ValueError(
                f"forests[0] has {first} and forests[{number}] has {found}: only forests with the same features and "
                "classes can be concatenated"
            )


def _describe(forest: Forest) -> str:
    target = "means (regression)" if forest.leaf_counts is None else f"{forest.n_classes} classes"
    return f"{forest.n_features} features, {target}"


def _offsets(starts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Offsets of all parts behind each other, from the offsets of each."""
    sizes = np.concatenate([np.diff(start) for start in starts])
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _payloads(forests: Sequence[Forest]) -> NDArray[np.int32] | None:
    n_before = np.cumsum([0, *(len(forest.payload_start) - 1 for forest in forests)])
    if n_before[-1] == 0:
        return None
    if n_before[-1] > _MAX_PAYLOADS:
        raise ValueError(f"forests have {n_before[-1]} ragged splits, a Forest has at most {_MAX_PAYLOADS}")
    moved = [
        np.where(forest.payload == NO_PAYLOAD, NO_PAYLOAD, forest.payload + n)
        for forest, n in zip(forests, n_before, strict=False)
    ]
    return np.concatenate(moved).astype(np.int32)


def _payload_weights(forests: Sequence[Forest]) -> NDArray[np.float64]:
    """NaN for the entries of forests without oblique splits, unless none has any."""
    if not any(len(forest.payload_weights) for forest in forests):
        return np.zeros(0)
    return _joined([forest.payload_weights if len(forest.payload_weights) else None for forest in forests], forests)


def _payload_means(forests: Sequence[Forest]) -> NDArray[np.float64] | None:
    """NaN for the entries of forests that have none; None where no forest has any."""
    means = [forest.payload_means for forest in forests]
    return None if all(one is None for one in means) else _joined(means, forests)


def _joined(parts: Sequence[NDArray[np.float64] | None], forests: Sequence[Forest]) -> NDArray[np.float64]:
    return np.concatenate(
        [
            np.full(len(forest.payload_codes), np.nan) if part is None else part
            for part, forest in zip(parts, forests, strict=True)
        ]
    )
