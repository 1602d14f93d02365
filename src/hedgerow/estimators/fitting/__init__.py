"""Helpers of `fit` beside growth: bags and held-out rows, costs, progress."""
