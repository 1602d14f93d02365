"""How good a model is: metrics, cross-validation, the baseline beside them, and what to do about a poor score."""
