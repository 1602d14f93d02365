"""Trees for inputs measured with error (Tami et al., Decision tree for uncertainty measures, 2018).

X = U + ε: an observed value is a latent value plus an error of known size. A row is in several regions at once, in each
with the probability that its latent values are, and a tree predicts the mean of the regions' values with these weights.
"""

from hedgerow.measured.errors import (
    ErrorModel,
    ErrorSize,
    Laplace,
    Misclassification,
    Normal,
    Readings,
    RelativeError,
    Student,
    Uniform,
    average_repeats,
    read_limits,
)
from hedgerow.measured.former_modules import keep_former_modules
from hedgerow.measured.laws import FlatPrior, KdePrior, NormalPrior, Prior
from hedgerow.measured.many_trees.losses import Pinball, SquaredError
from hedgerow.measured.regions import Regions, membership
from hedgerow.measured.residuals import IntervalParts
from hedgerow.pruning import CostComplexity

__all__ = [
    "CostComplexity",
    "ErrorModel",
    "ErrorSize",
    "FlatPrior",
    "IntervalParts",
    "KdePrior",
    "Laplace",
    "Misclassification",
    "Normal",
    "NormalPrior",
    "Pinball",
    "Prior",
    "Readings",
    "Regions",
    "RelativeError",
    "SquaredError",
    "Student",
    "Uniform",
    "average_repeats",
    "membership",
    "read_limits",
]

keep_former_modules()
