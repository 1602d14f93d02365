"""Random forests on two workers: hedgerow, XGBoost and LightGBM on Dask, and Spark's MLlib, on the same rows.

Each is fitted twice, with the rows in 2 and in 7 partitions: time, processor time of all processes, AUC on rows that it
has not seen, and whether both models are the same. Needs xgboost, lightgbm and pyspark (with Java) for those that are
asked for: `compare_forests_on_clusters.py hedgerow xgboost`; all by default.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import json
import re
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from bench_distributed_forests import N_COLUMNS, block, write
from bench_engines import digest, engine_of, processor_time
from sklearn.metrics import roc_auc_score

from hedgerow import ForestClassifier, distributed

N_TREES, DEPTH, N_TESTED = 20, 15, 60_000
PARTITIONS = (2, 7)
COLUMNS = [f"x{j}" for j in range(N_COLUMNS)]
Fitted = tuple[Callable[[Any], Any], str]
"""Probabilities of rows, and a text that says which model it is."""


def fit_hedgerow(engine: Any, path: str, n_parts: int) -> Fitted:
    rows = distributed.parquet(path, target="y", n_parts=n_parts)
    model = distributed.fit(ForestClassifier(N_TREES, max_depth=DEPTH, random_state=0), rows, engine)
    return lambda X: model.predict_proba(X)[:, 1], digest(model)


def dask_rows(path: str, n_parts: int) -> tuple[Any, Any]:
    """Rows in so many partitions."""
    import dask.dataframe as dd

    table = dd.read_parquet(path).repartition(npartitions=n_parts).persist()
    return table[COLUMNS], table["y"]


def fit_xgboost(engine: Any, path: str, n_parts: int) -> Fitted:
    from xgboost.dask import DaskXGBRFClassifier

    model = DaskXGBRFClassifier(n_estimators=N_TREES, max_depth=DEPTH, random_state=0, n_jobs=1)
    model.client = engine.client
    model.fit(*dask_rows(path, n_parts))
    booster = model.get_booster()
    from xgboost import DMatrix

    return lambda X: booster.predict(DMatrix(X.to_pandas())), "".join(booster.get_dump(with_stats=True))


def fit_lightgbm(engine: Any, path: str, n_parts: int) -> Fitted:
    from lightgbm import DaskLGBMClassifier

    model = DaskLGBMClassifier(
        boosting_type="rf",
        n_estimators=N_TREES,
        max_depth=DEPTH,
        num_leaves=1 << DEPTH,
        min_child_samples=2,
        bagging_freq=1,
        bagging_fraction=0.632,
        feature_fraction_bynode=0.22,
        random_state=0,
        deterministic=True,
        verbose=-1,
        client=engine.client,
    )
    model.fit(*dask_rows(path, n_parts))
    local = model.to_local()
    trees = local.booster_.model_to_string().partition("parameters:")[0]
    return lambda X: local.predict_proba(X.to_pandas())[:, 1], re.sub(r"tree_sizes=.*", "", trees)


def fit_mllib(engine: Any, path: str, n_parts: int) -> Fitted:
    from pyspark.ml.classification import RandomForestClassifier
    from pyspark.ml.feature import VectorAssembler
    from pyspark.ml.functions import vector_to_array

    assemble = VectorAssembler(inputCols=COLUMNS, outputCol="features")
    rows = assemble.transform(engine.session.read.parquet(path).repartition(n_parts)).select("features", "y").cache()
    forest = RandomForestClassifier(labelCol="y", numTrees=N_TREES, maxDepth=DEPTH, maxBins=255, seed=0)
    model = forest.fit(rows)

    def answer(X: Any) -> Any:
        asked = model.transform(assemble.transform(engine.session.createDataFrame(X)))
        found = asked.select(vector_to_array("probability")[1].alias("p")).toPandas()
        return found["p"].to_numpy()

    return answer, model.toDebugString.partition("\n")[2]


FITS = {
    "hedgerow": ("dask", fit_hedgerow),
    "hedgerow-spark": ("spark", fit_hedgerow),
    "xgboost": ("dask", fit_xgboost),
    "lightgbm": ("dask", fit_lightgbm),
    "mllib": ("spark", fit_mllib),
}


def measure(name: str, path: str, n_parts: int) -> dict[str, Any]:
    """Fit once in this process, and say what it took."""
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # processes below whose parent ends become children of this one
    engine_name, fit = FITS[name]
    test = block(1 << 20, N_TESTED)
    with engine_of(engine_name, 2) as engine:
        start, begun = time.perf_counter(), processor_time()
        answer, text = fit(engine, path, n_parts)
        taken, cpu = time.perf_counter() - start, processor_time() - begun
        p = np.asarray(answer(test.drop_columns(["y"])))
    auc = roc_auc_score(test["y"].to_numpy(), p)
    return {"wall": taken, "cpu": cpu, "auc": auc, "digest": hashlib.sha256(text.encode()).hexdigest()[:12]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(FITS))
    parser.add_argument("--rows", type=int, default=1 << 18)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        warnings.simplefilter("ignore")
        print(json.dumps(measure(given.names[0], given.one[0], int(given.one[1]))), flush=True)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = write(Path(folder, "rows.parquet"), given.rows)
        print(f"{N_TREES} trees of depth {DEPTH}, {given.rows:,} rows x {N_COLUMNS}, two workers")
        print("forest           partitions   wall s   processor s      AUC   model")
        for name in given.names:
            for n_parts in PARTITIONS:
                command = [sys.executable, __file__, name, "--one", path, str(n_parts)]
                text = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
                found = json.loads(text.splitlines()[-1])
                print(
                    f"{name:<16} {n_parts:10} {found['wall']:8.1f} {found['cpu']:13.1f} {found['auc']:8.4f}   "
                    f"{found['digest']}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
