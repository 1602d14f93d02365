"""Rows in parts: recipes for parts, their rows as arrays, and samples of rows by their global numbers."""
