"""Distance to the decision boundary of a tree."""

from hedgerow.boundary.distance import algebraic_distance, nearest_separator, project
from hedgerow.boundary.scales import MinMax, Standard
from hedgerow.boundary.walls import Separators, Walls

__all__ = ["MinMax", "Separators", "Standard", "Walls", "algebraic_distance", "nearest_separator", "project"]
