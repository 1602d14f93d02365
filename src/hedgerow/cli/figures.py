"""Figures in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["counted", "dropped", "listed", "size_of"]


def counted(n: int, noun: str, plural: str | None = None) -> str:
    """Number and noun.

    >>> counted(1, "row"), counted(2, "row"), counted(0, "leaf", "leaves")
    ('1 row', '2 rows', '0 leaves')
    """
    return f"{n} {noun}" if n == 1 else f"{n} {plural or f'{noun}s'}"


def listed(texts: Sequence[str], at_most: int) -> str:
    """The first texts, and the number of the others.

    >>> listed(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    shown = ", ".join(texts[:at_most])
    return f"{shown} and {len(texts) - at_most} more" if len(texts) > at_most else shown


def dropped(n: int, target: str) -> str:
    """Number of rows that have no target.

    >>> dropped(11, "out")
    "11 rows without a value for 'out' were dropped"
    """
    return f"{counted(n, 'row')} without a value for {target!r} {'was' if n == 1 else 'were'} dropped"


def size_of(model: Any) -> str:
    """Numbers of trees and leaves, and depths."""
    forest = model.forest_
    if forest.n_trees == 1:
        return f"{counted(forest.n_leaves, 'leaf', 'leaves')}, depth {int(forest.depths[0])}"
    n_leaves = counted(round(forest.n_leaves / forest.n_trees), "leaf", "leaves")
    depths = f"depth {forest.depths.min()} to {forest.depths.max()}"
    return f"{forest.n_trees} trees, {n_leaves} each on average, {depths}"
