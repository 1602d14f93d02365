"""Estimates of class probabilities from the class counts of a leaf, for `leaf_probability`."""

from hedgerow.folds.leaf_probability import Frequency, Laplace, LeafProbability, MEstimate, Shrinkage

__all__ = ["Frequency", "Laplace", "LeafProbability", "MEstimate", "Shrinkage"]
