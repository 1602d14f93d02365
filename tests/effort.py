"""How much tests look at: the daily run at little, ``make test-all`` at much."""

import os
from collections.abc import Collection, Iterable
from typing import Any, TypeVar

import pytest

__all__ = ["daily", "daily_pairs", "examples"]

Amount = TypeVar("Amount")


def examples(few: Amount, many: Amount) -> Amount:
    """What this run takes of an amount: examples, rows, or numbers of parts."""
    return many if os.environ.get("HEDGEROW_THOROUGH") else few


def daily(few: Collection[Any], every: Iterable[Any]) -> list[Any]:
    """Parameters of a test, of which all but a few are left to ``make test-all``."""
    return [value if value in few else pytest.param(value, marks=pytest.mark.thorough) for value in every]


def daily_pairs(first: Iterable[Any], second: Iterable[Any]) -> list[Any]:
    """Every pair as parameters of a test; as many as show every value are daily, the rest for ``make test-all``."""
    rows, columns = list(first), list(second)
    most = max(len(rows), len(columns))
    always = {(n % len(rows), n % len(columns)) for n in range(most)}
    return [
        pytest.param(row, column, marks=[] if (i, j) in always else pytest.mark.thorough)
        for i, row in enumerate(rows)
        for j, column in enumerate(columns)
    ]
