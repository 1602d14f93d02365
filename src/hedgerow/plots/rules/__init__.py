"""Combination rules while leaves fill and grow."""
