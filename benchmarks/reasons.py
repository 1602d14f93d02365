"""Reasons for doubt on ten datasets: whether each undecided row has one, and whether what is said to decide it does.

Usage: python benchmarks/reasons.py FOLDER [DATASET ...]; the folder holds the datasets as Parquet files.

Cautious forests are fitted to half of the rows; a tenth of the values of the others is taken away. Then every remedy is
tried: a forest with as many times the counts in its leaves, rows with each value that a missing column may have, and
changed rows. Last come the times for 1,000 rows.
"""

import sys
import time
import warnings
from copy import copy
from dataclasses import replace

import numpy as np
import pyarrow as pa

from hedgerow import (
    CautiousClassifier,
    CautiousForestClassifier,
    ConformalClassifier,
    ForestClassifier,
    RandomTreesClassifier,
)
from hedgerow.datasets import load

NAMES = (
    *("heart-statlog", "breast-cancer", "glass", "vehicle-statlog", "sonar"),
    *("diabetes", "heart-cleveland", "autos", "wine-quality-red", "tic-tac-toe"),
)
N_TREES, S, GAPS = 50, 1.0, 0.1
N_CHANGED, MAX_NODES = 5, 200  # undecided rows of each dataset whose counterfactuals are looked for
FACTORS = range(2, 11)
N_TIMED, ROUNDS = 1000, 5


def with_floats(table: pa.Table) -> pa.Table:
    """Whole numbers as floats, so that a value between two of them can be set."""
    types = [pa.float64() if pa.types.is_integer(field.type) else field.type for field in table.schema]
    return table.cast(pa.schema(list(zip(table.column_names, types, strict=True))))


def with_gaps(table: pa.Table, rng: np.random.Generator) -> pa.Table:
    columns = [
        pa.array(column.to_pylist(), type=column.type, mask=rng.random(len(column)) < GAPS) for column in table.columns
    ]
    return pa.table(dict(zip(table.column_names, columns, strict=True)))


def with_counts(model, factor: int):
    """The same model with `factor` times as many training rows of each class in every leaf."""
    more, inside = copy(model), copy(model.estimator_)
    inside.forest_ = replace(inside.forest_, leaf_counts=inside.forest_.counts * factor)
    more.estimator_, more.forest_ = inside, inside.forest_
    inside._tables, more._tables = type(inside._tables)(), type(more._tables)()
    return more


def with_value(table: pa.Table, name: str, value) -> pa.Table:
    at = table.column_names.index(name)
    return table.set_column(at, name, pa.array([value], type=table.schema.field(name).type))


def check(name: str, folder: str) -> dict[str, int]:
    data = load(name, data=folder)
    X = with_floats(data.X)
    rng = np.random.default_rng(0)
    order = rng.permutation(len(data.y))
    half = len(order) // 2
    y = np.asarray(data.y)
    model = CautiousForestClassifier(N_TREES, s=S, random_state=0).fit(X.take(order[:half]), y[order[:half]])
    rows = with_gaps(X.take(order[half:]), rng)
    sets = model.predict_set(rows)
    undecided = np.flatnonzero(sets.sum(axis=1) > 1)
    found = model.explain(rows)
    told = dict.fromkeys(("rows", "undecided", "named", "few", "few right", "missing", "missing right"), 0)
    told |= {"rows": len(sets), "undecided": len(undecided), "changes": 0, "changes right": 0}
    larger = {factor: with_counts(model, factor).predict_set(rows).sum(axis=1) == 1 for factor in FACTORS}
    for i in undecided.tolist():
        one = found[i]
        told["named"] += one.reason is not None and abs(sum(one.reasons.values()) - 1) < 1e-9
        for why in one.why:
            if why.name == "few cases":
                told["few"] += 1
                least = next((factor for factor in FACTORS if larger[factor][i]), None)
                told["few right"] += why.facts["factor"] == least
            if why.name == "missing input":
                for column in why.facts["columns"]:
                    for value in column["values"]:
                        known = with_value(rows.slice(i, 1), column["column"], value["example"])
                        (answer,) = model.predict_set(known)
                        told["missing"] += 1
                        told["missing right"] += tuple(model.classes_[answer]) == tuple(value["answer"])
    names = rows.column_names
    with warnings.catch_warnings(action="ignore"):  # a search that was stopped before it found a row
        for i in undecided[:N_CHANGED].tolist():
            for change in model.counterfactual(rows.slice(i, 1), max_nodes=MAX_NODES)[0]:
                changed = rows.slice(i, 1)
                for column, value in zip(names, change.row, strict=True):
                    missing = value is None or value != value
                    changed = with_value(changed, column, None if missing else value)
                (answer,) = model.predict_set(changed)
                told["changes"] += 1
                told["changes right"] += tuple(model.classes_[answer]) == (change.target,)
    return told


def times(folder: str) -> None:
    data = load("wine-quality-red", data=folder)
    X, y = with_floats(data.X), np.asarray(data.y)
    whole = X.slice(0, N_TIMED)
    parts = {"as they are": whole, "a tenth missing": with_gaps(whole, np.random.default_rng(0))}
    models = {
        "CautiousForestClassifier": CautiousForestClassifier(100, s=S, random_state=0, n_jobs=1),
        "its belief functions": CautiousForestClassifier(100, s=S, aggregate="belief", random_state=0, n_jobs=1),
        "random trees": CautiousClassifier(RandomTreesClassifier(100, random_state=0, n_jobs=1), s=S),
        "ConformalClassifier": ConformalClassifier(ForestClassifier(100, random_state=0, n_jobs=1)),
    }
    for name, model in models.items():
        model.fit(X, y)
        for label, rows in parts.items():
            seconds = {"predict_set": [], "reasons": []}
            for _ in range(ROUNDS):
                for what, seen in seconds.items():
                    start = time.process_time()
                    _ = model.predict_set(rows) if what == "predict_set" else model.explain(rows).reasons.main
                    seen.append(time.process_time() - start)
            least = {what: min(seen) for what, seen in seconds.items()}
            print(
                f"{name}, {N_TIMED} rows {label}: predict_set {least['predict_set'] * 1e3:.1f} ms, reasons "
                f"{least['reasons'] * 1e3:.1f} ms, {least['reasons'] / least['predict_set']:.2f} times",
                flush=True,
            )


def main(folder: str, *names: str) -> None:
    print("dataset            rows  undecided  named  more counts  values  changes")
    for name in names or NAMES:
        told = check(name, folder)
        print(
            f"{name:<16} {told['rows']:>6} {told['undecided']:>10} {told['named']:>6} "
            f"{told['few right']:>6}/{told['few']:<5} {told['missing right']}/{told['missing']} "
            f"{told['changes right']}/{told['changes']}",
            flush=True,
        )
    if not names:
        times(folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
