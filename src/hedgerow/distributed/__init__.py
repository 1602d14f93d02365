"""Fitting and predicting past one machine's memory: on threads, Dask, Ray or Spark, with the same bits."""

from hedgerow.distributed.engine import Engine, Part, add
from hedgerow.distributed.engines import Local
from hedgerow.distributed.fit import fit
from hedgerow.distributed.parted_rows import PartedRows, parquet

__all__ = ["Engine", "Local", "Part", "PartedRows", "add", "fit", "parquet"]
