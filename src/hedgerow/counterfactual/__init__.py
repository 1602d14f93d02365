"""Counterfactuals: the nearest change of a row that gives the wanted answer.

`space` says what may change and what that costs, `values` what a changed number is, `search` finds the nearest row in
the core, and `record` is what a person gets.
"""

from hedgerow.counterfactual.record import Counterfactual
from hedgerow.counterfactual.search import Goal, Limits, nearest_changes
from hedgerow.counterfactual.space import Space

__all__ = ["Counterfactual", "Goal", "Limits", "Space", "nearest_changes"]
