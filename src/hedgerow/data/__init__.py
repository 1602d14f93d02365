"""Frames and arrays as one float64 matrix with a schema; labels, targets and weights; rows for growth."""

from hedgerow.data.columns import Column, Kind
from hedgerow.data.table import Schema, Table, read_table
from hedgerow.data.training import Training

__all__ = ["Column", "Kind", "Schema", "Table", "Training", "read_table"]
