"""Displays in the style of scikit-learn. They need matplotlib: ``pip install 'hedgerow[plot]'``.

A Display holds the numbers of a picture; its `plot` draws them, as often as wanted, on given axes or on new ones.
"""

from hedgerow.plots.class_bounds import ClassBoundsDisplay
from hedgerow.plots.column_profile import ColumnProfileDisplay
from hedgerow.plots.contributions import ContributionsDisplay
from hedgerow.plots.coverage import CoverageDisplay
from hedgerow.plots.error_costs import ErrorCostDisplay
from hedgerow.plots.importance import ImportanceDisplay
from hedgerow.plots.leaf_sizes import LeafSizeDisplay
from hedgerow.plots.partition_map import PartitionDisplay
from hedgerow.plots.probability_surface import ProbabilitySurfaceDisplay
from hedgerow.plots.rejection_curve import RejectionCurveDisplay
from hedgerow.plots.reliability import ReliabilityDisplay
from hedgerow.plots.rule_evolution import RuleEvolutionDisplay
from hedgerow.plots.sample_profile import SampleProfileDisplay
from hedgerow.plots.set_utility import SetUtilityDisplay
from hedgerow.plots.soft_curve import SoftCurveDisplay
from hedgerow.plots.soft_regions import SoftRegionsDisplay
from hedgerow.plots.tree import TreeDisplay

__all__ = [
    "ClassBoundsDisplay",
    "ColumnProfileDisplay",
    "ContributionsDisplay",
    "CoverageDisplay",
    "ErrorCostDisplay",
    "ImportanceDisplay",
    "LeafSizeDisplay",
    "PartitionDisplay",
    "ProbabilitySurfaceDisplay",
    "RejectionCurveDisplay",
    "ReliabilityDisplay",
    "RuleEvolutionDisplay",
    "SampleProfileDisplay",
    "SetUtilityDisplay",
    "SoftCurveDisplay",
    "SoftRegionsDisplay",
    "TreeDisplay",
]
