"""
More rows than one machine holds: Dask
======================================

The same forest, bit for bit, whether its rows are counted by threads of one process or by workers of a Dask cluster,
and however they are cut in parts. Rows are read part by part and never gathered; the picture is a tree of the forest
that both have grown.
"""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from distributed import Client
from hedgerow import ForestClassifier, distributed
from hedgerow.plots import TreeDisplay

folder = Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)
for month in range(4):
    X = rng.normal(size=(2000, 3))
    bought = np.where(X[:, 0] + X[:, 1] ** 2 > 0.5 + rng.normal(0, 0.4, 2000), "bought", "left")
    columns = {"age": X[:, 0], "visits": X[:, 1], "income": X[:, 2], "outcome": bought}
    pq.write_table(pa.table(columns), folder / f"month-{month}.parquet")

rows = distributed.parquet(str(folder / "month-*.parquet"), target="outcome")
forest = ForestClassifier(10, min_samples_leaf=200, random_state=0)
with Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0") as client:
    by_dask = distributed.fit(forest, rows, distributed.Dask(client))
by_threads = distributed.fit(forest, rows, distributed.Local(2))
print(rows)
print("the same thresholds:", np.array_equal(by_dask.forest_.threshold, by_threads.forest_.threshold, equal_nan=True))

# %%
TreeDisplay.from_estimator(by_dask, tree=0)
