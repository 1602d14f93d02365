"""``hedgerow fit --engine``: Parquet files that are read in parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from distributed_problems import table_of, write
from hedgerow import MeasuredTreeClassifier, RandomTreesClassifier, distributed, load
from hedgerow.cli import main


def fit(folder: Path, *arguments: Any) -> int:
    write(table_of("nominal").slice(0, 700), folder / "a.parquet")
    write(table_of("nominal").slice(700), folder / "b.parquet")
    data = map(str, (folder / "a.parquet", folder / "b.parquet"))
    return main(["fit", *data, "-t", "outcome", "--engine", "local", *map(str, arguments)])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--model", "random-trees"), RandomTreesClassifier(random_state=0)),
        (("--model", "measured", "--measured", "x0=0.3"), MeasuredTreeClassifier({"x0": 0.3})),
    ],
)
def test_files_in_parts_give_the_model_of_python(
    options: tuple[str, ...], expected: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fit(tmp_path, *options, "-o", tmp_path / "model.hedgerow") == 0
    assert "1,400 rows in 2 parts: 5 columns, target 'outcome'" in capsys.readouterr().out
    rows = distributed.parquet(tmp_path / "?.parquet", target="outcome")
    X = table_of("nominal", seed=1).select(rows.inputs)
    answers = distributed.fit(expected, rows).predict_proba(X)
    assert load(tmp_path / "model.hedgerow").predict_proba(X).tolist() == answers.tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--model", "measured", "--measured", "y0=0.3"), "--measured names 'y0', which is not a column"),
        (("--model", "measured-forest", "--measured", "x0=0.3"), "MeasuredForestClassifier draws bags of rows and"),
        (("--model", "forest", "--coverage", "0.9"), "--engine has no --coverage: leave it out"),
    ],
)
def test_what_parts_cannot_give_is_named(
    options: tuple[str, ...], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fit(tmp_path, *options) != 0
    assert message in capsys.readouterr().err
