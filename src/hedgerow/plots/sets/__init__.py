"""Set-valued predictions: bounds, coverage, utility and rejection."""
