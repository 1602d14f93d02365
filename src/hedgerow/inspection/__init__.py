"""What a fitted model made of its rows: which of them it takes for alike."""

from hedgerow.inspection.proximity import (
    Neighbors,
    Prototype,
    neighbors,
    outlier_scores,
    prototypes,
    proximity,
)

__all__ = ["Neighbors", "Prototype", "neighbors", "outlier_scores", "prototypes", "proximity"]
