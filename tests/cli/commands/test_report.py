"""``hedgerow report``: its files, its figures, and one clear line for every input that can't be."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from hedgerow import ForestClassifier, TreeRegressor, save
from hedgerow.cli import main

pytest.importorskip("click")
pytest.importorskip("jinja2")

QUICK = ["--folds", "2", "--quiet"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    n = 60
    table = pd.DataFrame(
        {
            "size": random.normal(size=n),
            "colour": random.choice(["red", "blue"], n),
            "clinic": random.choice(["A", "B"], n),
        }
    )
    table["outcome"] = np.where(table["size"] + random.normal(size=n) > 0, "ill", "well")
    table.to_csv("rows.csv", index=False)
    return tmp_path


def data_of(page: str) -> Any:
    start = page.index(">", page.index('id="report-data"')) + 1
    return json.loads(page[start : page.index("</script>", start)])


def test_a_page_and_its_figures_are_of_the_same_rows(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "rows.csv", "--target", "outcome", "--by", "clinic", "--json", "-o", "a.html", *QUICK]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures == data_of(Path("a.html").read_text())["figures"]
    assert figures["n_rows"] == 60
    assert figures["data"] == "rows.csv"
    assert figures["groups"][0]["column"] == "clinic"
    assert {one["name"] for one in figures["models"]} == {"readable tree", "forest", "random trees", "cautious forest"}


def test_rows_are_named_by_their_place_in_the_file(folder: Path) -> None:
    table = pd.read_csv("rows.csv")
    table.loc[:9, "outcome"] = None
    table.to_csv("rows.csv", index=False)
    assert main(["report", "rows.csv", "--target", "outcome", "-o", "a.html", *QUICK]) == 0
    data = data_of(Path("a.html").read_text())
    labels = {int(item["label"].removeprefix("row ")) for item in data["rows"]["items"]}
    assert labels <= set(range(11, 61))
    sizes = dict(zip(range(1, 61), table["size"], strict=True))
    for item in data["rows"]["items"]:
        assert item["values"][0] == sizes[int(item["label"].removeprefix("row "))]


def test_measured_trees_and_forests_with_the_errors_of_inputs(folder: Path) -> None:
    pd.read_csv("rows.csv").drop(columns=["colour", "clinic"]).assign(other=1.5).to_csv("rows.csv", index=False)
    with_errors = ["--measured", "size=0.3"]
    assert main(["report", "rows.csv", "--target", "outcome", "-o", "a.html", *with_errors, *QUICK]) == 0
    figures = data_of(Path("a.html").read_text())["figures"]
    assert {"boundary", "measured tree", "measured forest"} <= {one["name"] for one in figures["models"]}
    assert figures["failed"] == []


def test_a_saved_model_on_rows_and_numbers(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = pd.read_csv("rows.csv")
    save(ForestClassifier(5, random_state=0).fit(table.drop(columns="outcome"), table["outcome"]), "m.hedgerow")
    assert main(["report", "m.hedgerow", "rows.csv", "--target", "outcome", "-o", "m.html", "-q"]) == 0
    assert data_of(Path("m.html").read_text())["figures"]["evaluated"] == "given rows"
    save(TreeRegressor().fit(table[["size"]], table["size"] * 2), "n.hedgerow")
    assert main(["report", "n.hedgerow", "rows.csv", "--target", "size", "-o", "n.html", "-q"]) == 0
    assert data_of(Path("n.html").read_text())["figures"]["task"] == "regression"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rows.csv", "--target", "outcom"], "did you mean 'outcome'"),
        (["rows.csv", "--target", "outcome", "--by", "clinik"], "did you mean 'clinic'"),
        (["one.csv", "--target", "outcome"], "has one class, 'well', in every row"),
        (["empty.csv", "--target", "outcome"], "empty"),
        (["wide.csv", "--target", "outcome"], "wide.csv"),
        (["absent.csv", "--target", "outcome"], "absent.csv"),
        (["rows.csv", "--target", "outcome", "-o", "nowhere/a.html"], "there is no folder"),
        (["rows.csv", "--target", "outcome", "-o", "a.pdf"], "name it 'a.html'"),
        (["rows.html", "--target", "outcome", "-o", "rows.html"], "choose another file"),
        (["rows.csv", "--target", "outcome", "--folds", "0"], "--folds is 0"),
        (["rows.csv", "--target", "outcome", "--measured", "siz=0.3"], "'siz'"),
        (["a", "b", "c"], "not 3 names"),
        (["m.hedgerow"], "hedgerow show m.hedgerow --html"),
        (
            ["m.hedgerow", "rows.csv", "--target", "outcome", "--measured", "size=1"],
            "--measured is for models that are",
        ),
    ],
)
def test_wrong_inputs_end_in_one_line_and_leave_what_is_there(
    folder: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    table = pd.read_csv("rows.csv")
    table.assign(outcome="well").to_csv("one.csv", index=False)
    table.to_csv("rows.html", index=False)
    Path("empty.csv").write_text("")
    Path("wide.csv").write_text("size,outcome\n1,well\n2,ill,3\n")
    Path("report.html").write_text("old")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert main(["report", *arguments]) != 0
    said = capsys.readouterr().err.strip()
    assert message in said
    assert said.startswith("hedgerow: ")
    assert "\n" not in said
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_can_not_be_written_to(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder.chmod(0o500)
    try:
        assert main(["report", "rows.csv", "--target", "outcome", "-o", "a.html"]) != 0
        assert "can't be written to" in capsys.readouterr().err
    finally:
        folder.chmod(0o700)
