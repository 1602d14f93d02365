"""What a fitted model made of its columns, and of its rows: importances, and which rows it takes for alike."""

from hedgerow.inspection.importances import Importances
from hedgerow.inspection.minimal_depth import MinimalDepths, minimal_depth
from hedgerow.inspection.permutation import permutation_importance
from hedgerow.inspection.proximity import (
    Neighbors,
    Prototype,
    neighbors,
    outlier_scores,
    prototypes,
    proximity,
)

__all__ = [
    "Importances",
    "MinimalDepths",
    "Neighbors",
    "Prototype",
    "minimal_depth",
    "neighbors",
    "outlier_scores",
    "permutation_importance",
    "prototypes",
    "proximity",
]
