"""Laws of latent values given those that were measured: priors, one law for each column, boxes of several columns."""

from hedgerow.measured.laws.column_laws import (
    CategoryLaw,
    ColumnLaw,
    ExactLaw,
    FlatLaw,
    HistogramLaw,
    NormalLaw,
    NumberLaw,
)
from hedgerow.measured.laws.priors import FlatPrior, KdePrior, NormalPrior, Prior

__all__ = [
    "CategoryLaw",
    "ColumnLaw",
    "ExactLaw",
    "FlatLaw",
    "FlatPrior",
    "HistogramLaw",
    "KdePrior",
    "NormalLaw",
    "NormalPrior",
    "NumberLaw",
    "Prior",
]
