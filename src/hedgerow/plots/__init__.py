"""Displays in the style of scikit-learn. They need matplotlib: ``pip install 'hedgerow[plot]'``.

A Display holds the numbers of a picture; its `plot` draws them, as often as wanted, on given axes or on new ones.
"""

from hedgerow.plots.boundary.column_profile import ColumnProfileDisplay
from hedgerow.plots.boundary.partition_map import PartitionDisplay
from hedgerow.plots.boundary.probability_surface import ProbabilitySurfaceDisplay
from hedgerow.plots.boundary.sample_profile import SampleProfileDisplay
from hedgerow.plots.contributions import ContributionsDisplay
from hedgerow.plots.importance import ImportanceDisplay
from hedgerow.plots.measured.error_costs import ErrorCostDisplay
from hedgerow.plots.measured.soft_curve import SoftCurveDisplay
from hedgerow.plots.measured.soft_regions import SoftRegionsDisplay
from hedgerow.plots.reliability import ReliabilityDisplay
from hedgerow.plots.rules.leaf_sizes import LeafSizeDisplay
from hedgerow.plots.rules.rule_evolution import RuleEvolutionDisplay
from hedgerow.plots.sets.class_bounds import ClassBoundsDisplay
from hedgerow.plots.sets.coverage import CoverageDisplay
from hedgerow.plots.sets.rejection_curve import RejectionCurveDisplay
from hedgerow.plots.sets.set_utility import SetUtilityDisplay
from hedgerow.plots.tree_diagram import TreeDisplay

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
