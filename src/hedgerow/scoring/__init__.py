"""Scores of predictions beside those of guessing: metrics, cross-validation, standard errors, coverage."""
