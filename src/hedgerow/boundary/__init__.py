"""The decision boundary of a tree: how far rows are from it, what they would have to cross, what is likely there.

Alvarez, Bernard and Deffuant, Keep the Decision Tree and Estimate the Class Probabilities Using its Decision Boundary
(IJCAI 2007), called "the paper" here. Trees of this package and of scikit-learn, any number of classes, nominal
columns, missing values and oblique questions; :class:`hedgerow.BoundaryClassifier` is the estimator.
"""

from hedgerow.boundary.bandwidths import Absolute, CrossValidated, Relative
from hedgerow.boundary.distance import algebraic_distance, nearest_separator, project
from hedgerow.boundary.scales import MinMax, Standard
from hedgerow.boundary.walls import Separators

__all__ = [
    "Absolute",
    "CrossValidated",
    "MinMax",
    "Relative",
    "Separators",
    "Standard",
    "algebraic_distance",
    "nearest_separator",
    "project",
]
