"""Growing trees: what makes a split good, when to stop, and what happens to missing values."""

from hedgerow.data.training import Training
from hedgerow.growth.growth import (
    Category,
    ChiSquare,
    Fractional,
    Grown,
    Growth,
    Learned,
    Random,
    RandomGrowth,
    grow_forest,
    grow_random_forest,
)

__all__ = [
    "Category",
    "ChiSquare",
    "Fractional",
    "Grown",
    "Growth",
    "Learned",
    "Random",
    "RandomGrowth",
    "Training",
    "grow_forest",
    "grow_random_forest",
]
