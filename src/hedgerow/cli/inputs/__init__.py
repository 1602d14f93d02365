"""Rows of a file, and the role of each column."""
