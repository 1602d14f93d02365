"""What commands write, and what they refuse to write over."""

from __future__ import annotations

import csv
import gzip
import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hedgerow import TreeClassifier, save
from hedgerow.cli import main
from hedgerow.cli.errors import CommandError
from hedgerow.cli.fitted import open_model

pytest.importorskip("click")
pytest.importorskip("rich")

ROWS = "x,colour,y\n" + "".join(f"{i},{'red' if i % 3 else 'blue'},{'yes' if i > 9 else 'no'}\n" for i in range(20))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with rows and a model, in which commands run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HEDGEROW_CACHE", str(tmp_path / "cache"))
    Path("a.csv").write_text(ROWS)
    table = pa.table({"x": [1.0, 2.0, 15.0], "colour": ["red", "blue", "red"]})
    save(TreeClassifier(pruning=None).fit(table, ["no", "no", "yes"]), "m.hedgerow")
    os.symlink("a.csv", "symbolic.csv")
    os.link("a.csv", "hard.csv")
    os.symlink("m.hedgerow", "m.csv")
    return tmp_path


def failed(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 1) -> str:
    assert main(list(arguments)) == code
    captured = capsys.readouterr()
    assert captured.err.startswith("hedgerow: ")
    assert captured.err.count("\n") == 1, captured.err
    assert captured.out == ""
    return captured.err


# -- an output that is an input


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "a.csv", "-t", "y", "-o", "a.csv"],
        ["fit", "a.csv", "-t", "y", "-o", "a"],
        ["fit", "a", "-t", "y", "-o", "./a"],
        ["fit", "own", "--data", "data", "-o", "data/parquet"],
        ["predict", "m.hedgerow", "a.csv", "-o", "a.csv"],
        ["predict", "m.hedgerow", "a.csv", "-o", "symbolic.csv"],
        ["predict", "m.hedgerow", "a.csv", "-o", "hard.csv"],
        ["predict", "m.hedgerow", "symbolic.csv", "-o", "a.csv"],
        ["predict", "m.hedgerow", "a.csv", "-o", "m.csv"],
        ["predict", "m.csv", "a.csv", "-o", "m.csv"],
        ["predict", "m.hedgerow", "own", "--data", "data", "-o", "data/own.parquet"],
        ["predict", "m.hedgerow", "fetched", "-o", "cache/fetched.parquet"],
    ],
    ids=" ".join,
)
def test_an_input_is_not_written_over(capsys: pytest.CaptureFixture[str], folder: Path, arguments: list[str]) -> None:
    os.link("a.csv", "a")
    for place in ("data/own.parquet", "cache/fetched.parquet"):
        Path(place).parent.mkdir()
        pq.write_table(pa.table({"x": [1.0, 2.0], "y": ["no", "yes"]}), place)
    os.link("data/own.parquet", "data/parquet")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert "is an input of this command" in failed(capsys, *arguments)
    assert before == {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("data", "redirected", "extra"), [("a.csv", "stdout", ()), ("-", "stdin", ("-o", "a.csv"))])
def test_a_redirected_stream_is_an_input_too(folder: Path, data: str, redirected: str, extra: tuple[str, ...]) -> None:
    command = [sys.executable, "-m", "hedgerow.cli", "predict", "m.hedgerow", data, *extra]
    with open("a.csv", "a" if redirected == "stdout" else "r") as file:
        streams: dict[str, Any] = {redirected: file}
        done = subprocess.run(command, **streams, stderr=subprocess.PIPE, text=True, check=False, timeout=120)
    assert done.returncode == 1
    assert "is an input of this command" in done.stderr
    assert Path("a.csv").read_text() == ROWS


def test_another_file_may_be_written_over(folder: Path) -> None:
    Path("b.csv").write_text(ROWS)
    assert main(["predict", "m.hedgerow", "a.csv", "-o", "b.csv"]) == 0
    assert Path("b.csv").read_text().startswith("prediction,")
    assert main(["fit", "a.csv", "-t", "y", "--folds", "0", "-o", "m.hedgerow"]) == 0


def test_a_model_replaced_while_it_is_read_is_not_mixed_with_the_new_one(folder: Path) -> None:
    loaded = open_model("m.hedgerow")
    save(TreeClassifier().fit(pa.table({"z": [1.0, 2.0]}), ["a", "b"]), "m.hedgerow")
    with pytest.raises(CommandError, match="was replaced while it was read"):
        _ = loaded.model


# -- formats


def test_gzip_by_name_and_the_same_bytes_each_time(folder: Path) -> None:
    for name in ("a.out.csv", "b.csv.gz", "c.CSV.GZ", "d.tsv.gz"):
        assert main(["predict", "m.hedgerow", "a.csv", "-o", name]) == 0
    plain = Path("a.out.csv").read_bytes()
    assert gzip.decompress(Path("b.csv.gz").read_bytes()) == plain
    assert Path("b.csv.gz").read_bytes() == Path("c.CSV.GZ").read_bytes()
    assert Path("b.csv.gz").read_bytes()[4:8] == bytes(4)  # no time in the header
    tabbed = csv.reader(io.StringIO(gzip.decompress(Path("d.tsv.gz").read_bytes()).decode()), delimiter="\t")
    assert list(tabbed) == list(csv.reader(io.StringIO(plain.decode())))


@pytest.mark.parametrize("name", ["a.xlsx", "a.json", "a.gz", "a.parquet.gz", "a.csv.zip", "answers.v2"])
def test_an_unknown_suffix_is_refused_with_those_that_are_known(
    capsys: pytest.CaptureFixture[str], folder: Path, name: str
) -> None:
    words = failed(capsys, "predict", "m.hedgerow", "a.csv", "-o", name, code=2)
    assert ".csv, .txt, .tsv, .tab, .parquet, .pq, .csv.gz, .tsv.gz" in words
    assert not Path(name).exists()


@pytest.mark.parametrize("name", ["model.csv", "model.hedgerow.gz", "model.pkl", "model.xlsx", "model.onnx"])
def test_a_model_is_not_written_under_the_name_of_another_format(
    capsys: pytest.CaptureFixture[str], folder: Path, name: str
) -> None:
    assert "name it 'model.hedgerow'" in failed(capsys, "fit", "a.csv", "-t", "y", "-o", name, code=2)
    assert not Path(name).exists()
