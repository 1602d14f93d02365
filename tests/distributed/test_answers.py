"""Predictions and scores of rows in parts are those of one process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import balanced_accuracy_score, confusion_matrix, log_loss, r2_score, roc_auc_score

from distributed_problems import KINDS, PARTS, table_of, write
from hedgerow import CautiousForestClassifier, ForestRegressor, RandomTreesClassifier, distributed
from hedgerow.metrics import u65_score

INPUTS = ["x0", "x1", "x2", "x3"]


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return table_of("weights")


@pytest.fixture(scope="module")
def path(table: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> str:
    return write(table, tmp_path_factory.mktemp("rows") / "rows.parquet")


@pytest.fixture(scope="module")
def model(table: pa.Table) -> RandomTreesClassifier:
    return RandomTreesClassifier(6, random_state=0).fit(table.select(INPUTS), table["outcome"].to_numpy())


def test_scores_are_those_of_scikit_learn(model: Any, table: pa.Table, path: str) -> None:
    rows = distributed.parquet(path, target="outcome", ignore=["weight"], n_parts=4)
    y, X = table["outcome"].to_numpy(), table.select(INPUTS)
    p = model.predict_proba(X)
    scores = distributed.evaluate(model, rows)
    assert scores["n_rows"] == len(y)
    assert np.array_equal(scores["confusion"], confusion_matrix(y, model.predict(X)))
    assert scores["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(y, model.predict(X)))
    assert scores["log_loss"] == pytest.approx(log_loss(y, p))
    assert scores["brier"] == pytest.approx(np.mean((p[:, 1] - (y == "well")) ** 2))
    assert abs(scores["auc"] - roc_auc_score(y == "well", p[:, 1])) <= scores["auc_error"] + 1e-12


def test_weights_count_and_rows_without_weight_do_not(model: Any, table: pa.Table, path: str) -> None:
    rows = distributed.parquet(path, target="outcome", weight="weight")
    y, X, weight = table["outcome"].to_numpy(), table.select(INPUTS), table["weight"].to_numpy()
    scores = distributed.evaluate(model, rows)
    assert scores["n_rows"] == np.count_nonzero(weight)
    # Weights are rounded to 2**-20 of a power of two that is at most the largest.
    assert scores["accuracy"] == pytest.approx(np.average(model.predict(X) == y, weights=weight), abs=1e-6)
    assert scores["confusion"].sum() == pytest.approx(weight.sum(), rel=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_scores_and_answers_do_not_depend_on_the_parts(kind: str, tmp_path: Path) -> None:
    whole = table_of(kind)
    path = write(whole, tmp_path / "rows.parquet")
    inputs = [name for name in whole.column_names if name not in ("outcome", "weight")]
    model = RandomTreesClassifier(4, random_state=0).fit(whole.select(inputs), whole["outcome"].to_numpy())
    found = set()
    for n_parts in PARTS:
        weight = "weight" if kind == "weights" else None
        rows = distributed.parquet(path, target="outcome", weight=weight, n_parts=n_parts)
        scores = distributed.evaluate(model, rows, distributed.Local(1 + n_parts % 2))
        found.add(repr({name: np.asarray(value).tolist() for name, value in scores.items()}))
        answers = distributed.predict(
            model, rows, to=tmp_path / f"parts-{n_parts}", method="predict_proba", keep=["x0"]
        )
        assert len(answers.parts) == n_parts
        read = pq.read_table(tmp_path / f"parts-{n_parts}")
        assert read["x0"].equals(whole["x0"])
        assert np.array_equal(read["p(well)"].to_numpy(), model.predict_proba(whole.select(inputs))[:, 1])
    assert len(found) == 1


def test_sets_bounds_and_uncertainty_are_columns_of_one_file(table: pa.Table, path: str, tmp_path: Path) -> None:
    X, y = table.select(INPUTS), table["outcome"].to_numpy()
    model = CautiousForestClassifier(n_estimators=4, random_state=0).fit(X, y)
    rows = distributed.parquet(path, target="outcome", ignore=["weight"], n_parts=3)
    to = tmp_path / "answers.parquet"
    to.write_bytes(b"is replaced")
    distributed.predict(model, rows, to=to, method=["predict_set", "predict_bounds", "predict_uncertainty"])
    read = pq.read_table(to)
    sets = np.stack([read[f"set({name})"].to_numpy() for name in ("sick", "well")], axis=1)
    assert np.array_equal(sets, model.predict_set(X))
    assert np.array_equal(read["upper(well)"].to_numpy(), model.predict_bounds(X)[:, 1, 1])
    assert np.array_equal(read["predict_uncertainty.total"].to_numpy(), model.predict_uncertainty(X).total)
    assert [file.name for file in tmp_path.iterdir()] == ["answers.parquet"]
    score = distributed.evaluate(model, rows, metrics=["u65", "set_accuracy"])
    assert score["u65"] == pytest.approx(u65_score(y, sets, classes=model.classes_))


def test_scores_of_numbers_are_those_of_scikit_learn(table: pa.Table, tmp_path: Path) -> None:
    shifted = table.set_column(0, "x0", [table["x0"].to_numpy() + 1e6])  # squares alone would lose 6 digits more
    path = write(shifted, tmp_path / "rows.parquet")
    X, y = shifted.select(["x1", "x2"]), shifted["x0"].to_numpy()
    model = ForestRegressor(5, random_state=0).fit(X, y)
    rows = distributed.parquet(path, target="x0", ignore=["x3", "outcome", "weight"], n_parts=7)
    scores = distributed.evaluate(model, rows)
    assert scores["r2"] == pytest.approx(r2_score(y, model.predict(X)))
    assert scores["rmse"] == pytest.approx(np.sqrt(np.mean((y - model.predict(X)) ** 2)))
    assert scores["mae"] == pytest.approx(np.mean(np.abs(y - model.predict(X))))


def test_an_answer_that_fails_leaves_the_old_file(model: Any, table: pa.Table, tmp_path: Path) -> None:
    wrong = table.set_column(1, "x1", [np.where(np.arange(len(table)) == 1300, np.inf, table["x1"].to_numpy())])
    rows = distributed.parquet(write(wrong, tmp_path / "rows.parquet"), target="outcome", n_parts=4)
    to = tmp_path / "answers.parquet"
    to.write_bytes(b"old")
    with pytest.raises(ValueError, match=r"rows.parquet: row 1301 and following: .*'x1'"):
        distributed.predict(model, rows, to=to)
    assert to.read_bytes() == b"old"
    assert sorted(file.name for file in tmp_path.iterdir()) == ["answers.parquet", "rows.parquet"]


def test_what_makes_no_sense_is_refused_by_name(model: Any, path: str, tmp_path: Path) -> None:
    rows = distributed.parquet(path, target="outcome")
    folder = tmp_path / "answers"
    for text, call in {
        "to is .* which rows are read from": lambda: distributed.predict(model, rows, to=path),
        "which holds rows.parquet: give a new folder": lambda: distributed.predict(model, rows, to=Path(path).parent),
        "method is 'guess', which RandomTreesClassifier": lambda: distributed.predict(
            model, rows, to=folder, method="guess"
        ),
        "keep has 'id', which is not a column": lambda: distributed.predict(model, rows, to=folder, keep=["id"]),
        "no column 'x3', which the model was fitted on": lambda: distributed.predict(
            model, distributed.parquet(path, ignore=["x3"]), to=folder
        ),
        "metrics has 'u65', which RandomTrees": lambda: distributed.evaluate(model, rows, metrics=["u65"]),
        "the rows have no target": lambda: distributed.evaluate(model, distributed.parquet(path)),
        "has the class '(sick|well)', which fit has not seen": lambda: distributed.evaluate(
            RandomTreesClassifier(2).fit(np.zeros((4, 5)), ["a", "b", "a", "b"]), rows
        ),
    }.items():
        with pytest.raises(ValueError, match=text):
            call()
    assert not folder.exists()
