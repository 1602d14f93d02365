"""A small cluster of each engine, which all tests of a worker process share."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from distributed_problems import with_spark
from hedgerow.distributed import Dask, Ray, Spark

TESTS = str(Path(__file__).parents[2])  # where workers find the parts and tasks of tests

ENGINES = {
    "dask": (),
    "ray": (pytest.mark.thorough,),  # a day's run has the rows that Ray holds, in test_held_rows.py
    "spark": (with_spark,),
    "connect": (with_spark,),
}


# The tests of an engine run in one process, so that they share its cluster.
@pytest.fixture(params=[pytest.param(name, marks=[pytest.mark.xdist_group(name), *m]) for name, m in ENGINES.items()])
def engine(request: pytest.FixtureRequest) -> Any:
    return request.getfixturevalue(f"{request.param}_engine")


@pytest.fixture(scope="session")
def dask_engine() -> Iterator[Dask]:
    distributed = pytest.importorskip("distributed", reason="tests of Dask need 'hedgerow[dask]'")
    import dask

    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "10 minutes"}),  # restarts on a busy machine
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=0, silence_logs=logging.CRITICAL
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield Dask(client)


@pytest.fixture(scope="session")
def ray_engine() -> Iterator[Ray]:
    with pytest.MonkeyPatch.context() as patch:
        ray = pytest.importorskip("ray", reason="tests of Ray need 'hedgerow[ray]'")
        patch.setenv("RAY_AUTH_MODE", "disabled")  # else it writes a token into the home folder
        patch.setenv("RAY_worker_niceness", "0")  # 15 would starve the workers beside other tests
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        paths = os.pathsep.join(filter(None, [TESTS, os.environ.get("PYTHONPATH")]))
        for attempt in range(5):
            try:
                ray.init(
                    num_cpus=2,
                    object_store_memory=200_000_000,
                    include_dashboard=False,
                    log_to_driver=False,
                    logging_level=logging.ERROR,
                    runtime_env={"env_vars": {"PYTHONPATH": paths}},
                )
                break
            except Exception:  # it waits for 30 s, which a busy machine may need more of
                ray.shutdown()
                if attempt == 4:
                    raise
        yield Ray()
        ray.shutdown()


@pytest.fixture(scope="session")
def spark_engine() -> Iterator[Spark]:
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch:
        session = _spark(patch, SparkSession.builder.master("local[2,4]"))
        session.sparkContext.setLogLevel("OFF")
        yield Spark(session)
        session.stop()


@pytest.fixture(scope="session")
def connect_engine() -> Iterator[Spark]:
    from pyspark.sql import SparkSession

    with pytest.MonkeyPatch.context() as patch:
        session = _spark(patch, SparkSession.builder.remote("local[2,4]"))
        yield Spark(session)
        session.stop()


def _spark(patch: pytest.MonkeyPatch, builder: Any) -> Any:
    """A session of two tasks at a time, which are tried four times."""
    patch.setenv("PYSPARK_PYTHON", sys.executable)
    patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [TESTS, os.environ.get("PYTHONPATH")])))
    patch.setenv("PYSPARK_SUBMIT_ARGS", "--driver-memory 1g pyspark-shell")
    options = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, value in options.items():
            builder = builder.config(name, value)
        return builder.getOrCreate()
