"""Explanations of answers to measured rows: the regions that a row may be in, and what the errors hide."""

from hedgerow.measured.explain.hidden_by_errors import SumExplanation
from hedgerow.measured.explain.possible_regions import PossibleRegion, RegionExplanation

__all__ = ["PossibleRegion", "RegionExplanation", "SumExplanation"]
