"""A model in figures."""

from __future__ import annotations

from typing import Any

__all__ = ["size_of"]


def size_of(model: Any) -> str:
    """How many trees, leaves and questions."""
    forest = model.forest_
    if forest.n_trees == 1:
        return f"{forest.n_leaves} leaves, depth {int(forest.depths[0])}"
    n_leaves = forest.n_leaves / forest.n_trees
    depths = f"depth {forest.depths.min()} to {forest.depths.max()}"
    return f"{forest.n_trees} trees, {n_leaves:.0f} leaves each on average, {depths}"
