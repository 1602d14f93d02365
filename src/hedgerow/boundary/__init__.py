"""The decision boundary of a tree: distances, separators and probabilities.

Alvarez, Bernard and Deffuant, Keep the Decision Tree and Estimate the Class Probabilities Using its Decision Boundary
(IJCAI 2007), called "the paper" here. Trees of this package and of scikit-learn, any number of classes, nominal
columns, missing values and oblique splits; :class:`hedgerow.BoundaryClassifier` is the estimator.
"""

from hedgerow.boundary.bandwidths import Absolute, CrossValidated, HeldOut, Relative
from hedgerow.boundary.decision_boundary import Separators
from hedgerow.boundary.distance import algebraic_distance, nearest_separator, project
from hedgerow.boundary.scales import MinMax, Standard

__all__ = [
    "Absolute",
    "CrossValidated",
    "HeldOut",
    "MinMax",
    "Relative",
    "Separators",
    "Standard",
    "algebraic_distance",
    "nearest_separator",
    "project",
]
