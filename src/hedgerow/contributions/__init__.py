"""Contributions of columns to the answer for a row: Shapley values of forests, exact, in the core."""

from hedgerow.contributions.by_row import Contributions, RowContributions
from hedgerow.contributions.shapley import contribute

__all__ = ["Contributions", "RowContributions", "contribute"]
