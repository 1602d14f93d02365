"""Fitting and predicting past one machine's memory: on threads, Dask, Ray or Spark, with the same bits."""

from hedgerow.distributed.engine import Engine, Part, add
from hedgerow.distributed.engines import Dask, Local, Ray, Spark
from hedgerow.distributed.engines.held_rows import from_dask, from_ray, from_spark
from hedgerow.distributed.evaluate import evaluate
from hedgerow.distributed.fit import fit
from hedgerow.distributed.predict import predict
from hedgerow.distributed.rows.parted_rows import PartedRows, parquet

__all__ = [
    "Dask",
    "Engine",
    "Local",
    "Part",
    "PartedRows",
    "Ray",
    "Spark",
    "add",
    "evaluate",
    "fit",
    "from_dask",
    "from_ray",
    "from_spark",
    "parquet",
    "predict",
]
