"""How far a tree of soft regions grows."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["GrowthSettings"]


@dataclass(frozen=True)
class GrowthSettings:
    """Checked."""

    max_leaf_nodes: int | None
    """Best first up to so many; None: depth first, as far as `min_weight_leaf` allows."""
    min_weight_leaf: float
    max_candidates: int | None
    risk: str
    """"global" or "node"."""
    one_against_rest: bool
