"""Inspection of fitted models: importances of columns, sets by name, similarity of rows."""

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
from hedgerow.inspection.set_table import PredictedSets, predicted_sets

__all__ = [
    "Importances",
    "MinimalDepths",
    "Neighbors",
    "PredictedSets",
    "Prototype",
    "minimal_depth",
    "neighbors",
    "outlier_scores",
    "permutation_importance",
    "predicted_sets",
    "prototypes",
    "proximity",
]
