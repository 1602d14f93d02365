"""Forests and boosting of soft trees: growth from rows in cells, and walks down all trees."""

from hedgerow.measured.many_trees.measured_walk import ManySoftTrees, MeasuredWalk

__all__ = ["ManySoftTrees", "MeasuredWalk"]
