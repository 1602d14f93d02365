"""Predictions and scores, and the files they are written to."""
