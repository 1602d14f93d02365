"""Engines that tasks run on: threads of this process, Dask, Ray and Spark."""

from hedgerow.distributed.engines.local import Local

__all__ = ["Local"]
