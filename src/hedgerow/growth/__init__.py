"""Tree growth: settings, missing-value policies, stopping, and the calls into the core."""

from hedgerow.data.training import Training
from hedgerow.growth.core import Grown, grow_forest, grow_random_forest
from hedgerow.growth.linear import LinearModel, RidgeSplit, linear_model
from hedgerow.growth.missing import Category, Fractional, Learned, Random
from hedgerow.growth.options import Growth, RandomGrowth
from hedgerow.growth.stopping import ChiSquare

__all__ = [
    "Category",
    "ChiSquare",
    "Fractional",
    "Grown",
    "Growth",
    "Learned",
    "LinearModel",
    "Random",
    "RandomGrowth",
    "RidgeSplit",
    "Training",
    "grow_forest",
    "grow_random_forest",
    "linear_model",
]
