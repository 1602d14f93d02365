"""Fits of each family of estimators to rows in parts."""
