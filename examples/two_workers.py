"""Fit, score and predict rows in Parquet files on a Dask cluster of two workers: python two_workers.py [FOLDER]

Needs Dask: pip install 'hedgerow[dask]'. The files and the answers are written to the folder.
"""

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from dask.distributed import Client, LocalCluster

from hedgerow import ForestClassifier, distributed


def write_month(path, seed, n_rows=20_000):
    """Orders of one month, with some missing values."""
    rng = np.random.default_rng(seed)
    price, discount, visits = rng.gamma(2, 30, n_rows), rng.random(n_rows) / 2, rng.poisson(4, n_rows)
    country = np.array(["DE", "FR", "PL"])[rng.integers(0, 3, n_rows)]
    score = visits / 4 + 3 * discount - price / 80 + (country == "PL") + rng.standard_normal(n_rows)
    columns = {"discount": discount, "visits": visits, "country": country, "bought": np.where(score > 1, "yes", "no")}
    table = pa.table({"price": pa.array(price, mask=rng.random(n_rows) < 0.05), **columns})
    pq.write_table(table, path, row_group_size=5_000)


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for month in range(1, 7):
        write_month(folder / f"orders-{month:02}.parquet", seed=month)
    rows = distributed.parquet([folder / f"orders-{month:02}.parquet" for month in range(1, 6)], target="bought")
    new_rows = distributed.parquet(folder / "orders-06.parquet", target="bought")
    print(rows)

    model = ForestClassifier(40, max_samples=1 << 14, oob_score=True, random_state=0)
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        engine = distributed.Dask(client)
        fitted = distributed.fit(model, rows, engine)
        scores = distributed.evaluate(fitted, new_rows, engine, metrics=["accuracy", "auc", "confusion"])
        answers = folder / "answers.parquet"
        distributed.predict(fitted, new_rows, engine, to=answers, method="predict_proba", keep=["price"])

    print(f"{fitted.forest_.n_leaves:,} leaves, out-of-bag accuracy {fitted.oob_score_:.3f}")
    print(f"sixth month: accuracy {scores['accuracy']:.3f}, AUC {scores['auc']:.4f} ± {scores['auc_error']:.0e}")
    print(scores["confusion"])
    print(f"{answers}: {pq.read_table(answers).slice(0, 1).to_pylist()[0]} and so on")

    here = distributed.fit(model, rows)  # threads of this process
    assert np.array_equal(here.forest_.threshold, fitted.forest_.threshold, equal_nan=True)
    assert np.array_equal(here.forest_.counts, fitted.forest_.counts)
    print("the same forest as in one process, bit for bit")


if __name__ == "__main__":  # the workers import this file
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("orders"))
