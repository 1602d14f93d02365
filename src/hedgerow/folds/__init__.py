"""Answers that are one leaf table, one fold over trees and one finish.

The combination rules (:mod:`hedgerow.rules`) and the credal aggregates (:mod:`hedgerow.credal`) are folds too.
"""

from hedgerow.folds.additive import Additive
from hedgerow.folds.conditions import Conditions, leads
from hedgerow.folds.evidence import leaf_counts, leaf_moments, tree_votes
from hedgerow.folds.fold import Fold
from hedgerow.folds.leaf_probability import (
    Frequency,
    Laplace,
    LeafProbability,
    MEstimate,
    Shrinkage,
    leaf_probability,
)
from hedgerow.folds.moments import Mean, Variance, deviations
from hedgerow.folds.plausibility import PlausibilityUncertainty
from hedgerow.folds.prunings import Prunings
from hedgerow.folds.uncertainty import EntropyUncertainty, PosteriorUncertainty, Uncertainty, entropy_bits

__all__ = [
    "Additive",
    "Conditions",
    "EntropyUncertainty",
    "Fold",
    "Frequency",
    "Laplace",
    "LeafProbability",
    "MEstimate",
    "Mean",
    "PlausibilityUncertainty",
    "PosteriorUncertainty",
    "Prunings",
    "Shrinkage",
    "Uncertainty",
    "Variance",
    "deviations",
    "entropy_bits",
    "leads",
    "leaf_counts",
    "leaf_moments",
    "leaf_probability",
    "tree_votes",
]
