"""Boundary classifiers: probabilities along columns and over two of them."""
