"""Engines that tasks run on: threads of this process, Dask, Ray and Spark. Each imports its library when it is made."""

from hedgerow.distributed.engines.dask import Dask
from hedgerow.distributed.engines.local import Local
from hedgerow.distributed.engines.ray import Ray
from hedgerow.distributed.engines.spark import Spark

__all__ = ["Dask", "Local", "Ray", "Spark"]
