"""Trees for inputs that were measured with error (Tami et al., Decision tree for uncertainty measures, 2018).

X = U + ε: what was observed is a latent value and an error of known size. A row is then in several regions at once, in
each with the probability that its latent values are, and a tree answers with the regions' values in that proportion.
"""

from hedgerow.measured.errors import ErrorModel, Laplace, Normal, Student, Uniform
from hedgerow.measured.priors import FlatPrior, KdePrior, NormalPrior, Prior
from hedgerow.measured.pruning import CostComplexity
from hedgerow.measured.soft_membership import Regions, membership

__all__ = [
    "CostComplexity",
    "ErrorModel",
    "FlatPrior",
    "KdePrior",
    "Laplace",
    "Normal",
    "NormalPrior",
    "Prior",
    "Regions",
    "Student",
    "Uniform",
    "membership",
]
