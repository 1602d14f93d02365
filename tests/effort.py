"""How much tests look at: the daily run at little, ``make test-all`` at much."""

import os
from collections.abc import Collection, Iterable
from typing import Any, TypeVar

import pytest

__all__ = ["daily", "examples"]

Amount = TypeVar("Amount")


def examples(few: Amount, many: Amount) -> Amount:
    """What this run takes of an amount: examples, rows, or numbers of parts."""
    return many if os.environ.get("HEDGEROW_THOROUGH") else few


def daily(few: Collection[Any], every: Iterable[Any]) -> list[Any]:
    """Parameters of a test, of which all but a few are left to ``make test-all``."""
    return [value if value in few else pytest.param(value, marks=pytest.mark.thorough) for value in every]
