"""How many examples tests look at: the daily run at few of them, ``make test-all`` at many."""

import os

__all__ = ["examples"]


def examples(few: int, many: int) -> int:
    """Number of examples for this run."""
    return many if os.environ.get("HEDGEROW_THOROUGH") else few
