"""Predictions, and the files they are written to."""
