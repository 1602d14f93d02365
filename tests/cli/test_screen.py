"""What the command line shows: names and labels as they are, whatever they hold, on screens of any width."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from hedgerow import CautiousForestClassifier, ForestClassifier, TreeClassifier, save
from hedgerow._printable import printable
from hedgerow.cli import main
from hedgerow.cli.console import out

CLEAR, OVERRIDE = "\x1b[2J", "\u202e"
COLUMN, LABEL, FILE = f"weight [kg]{CLEAR}", f"[/]{OVERRIDE}:smile:", f"[red]{CLEAR}.csv"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with rows whose names and labels would steer a terminal."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(out, "width", 200)
    rows = [[2 * i, ["[bold]a", f"b{CLEAR}"][i % 2], LABEL if i > 15 else "other"] for i in range(30)]
    with open(FILE, "w", newline="") as file:
        csv.writer(file).writerows([[COLUMN, "colour [x]", "y [/]"], *rows])
    return tmp_path


def shown(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> str:
    assert main(list(arguments)) == code
    captured = capsys.readouterr()
    text = captured.out + captured.err
    assert not set(text) & {"\x1b", OVERRIDE, "\r", "\x07"}, text
    return text


def on_a_terminal(stream: str, command: list[str]) -> bytes:
    """What a command writes to standard output or error if that is a terminal."""
    ours, theirs = pytest.importorskip("pty").openpty()
    streams: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: theirs}
    process = subprocess.Popen(command, **streams, env={**os.environ, "TERM": "xterm", "COLUMNS": "80"})
    os.close(theirs)
    seen = b""
    with suppress(OSError):  # the end, on Linux
        while more := os.read(ours, 10_000):
            seen += more
    os.close(ours)
    assert process.wait(timeout=60) == 0
    return seen


# -- hostile names


def test_names_are_shown_as_they_are_by_every_command(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    fitted = shown(capsys, "fit", FILE, "-t", "y [/]", "--folds", "2", "-o", "[m].hedgerow")
    for words in ("weight [kg]\\x1b[2J", "colour [x]", "[bold]a, b\\x1b[2J", "y [/]", "[/]\\u202e:smile:", "[m].hed"):
        assert words in fitted
    tree = shown(capsys, "show", "[m].hedgerow")
    assert "weight [kg]\\x1b[2J <= 31: other" in tree
    assert "of [red]\\x1b[2J.csv" in tree
    assert "weight [kg]\\x1b[2J is 0" in shown(capsys, "explain", "[m].hedgerow", FILE)
    assert "weight [kg]\\x1b[2J" in shown(capsys, "compare", FILE, "-t", "y [/]", "--folds", "2", "--trees", "2")
    assert "Wrote [b]\\x1b[2J.csv: 30 rows" in shown(capsys, "predict", "[m].hedgerow", FILE, "-o", f"[b]{CLEAR}.csv")
    forest = ForestClassifier(3, random_state=0).fit(pa.table({COLUMN: np.arange(9.0)}), [LABEL, "a", "b"] * 3)
    save(forest, "f.hedgerow", notes={"target": LABEL, "data": {"name": f"\n{CLEAR}", "rows": 9}})
    figures = shown(capsys, "show", "f.hedgerow")
    assert "weight [kg]\\x1b[2J" in figures
    assert "grown from 9 rows of \\n\\x1b[2J" in figures


def test_errors_and_warnings_are_escaped_too(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    assert "\\x1b[2J" in shown(capsys, "fit", f"none{CLEAR}.csv", code=1)
    assert "\\u202e" in shown(capsys, "fit", FILE, f"--{OVERRIDE}", code=2)
    debugged = shown(capsys, "fit", f"none{CLEAR}\nhedgerow: all is well.csv", "--debug", code=1)
    assert debugged.startswith("Traceback")
    assert "\nhedgerow: all is well" not in debugged
    save(TreeClassifier().fit(pa.table({"x": [1.0, 2.0]}), [0, 1]), "m.hedgerow")
    Path("t.csv").write_text(f"x,{COLUMN}\n1,2\n")
    assert "does not know 'weight [kg]\\x1b[2J'" in shown(capsys, "predict", "m.hedgerow", "t.csv")


def test_what_is_escaped() -> None:
    for unsafe in ("\x00", "\t", "\n", "\r", "\x1b", "\x7f", "\x9b", "\u2028", "\u202e", "\u2066", "\udc80"):
        assert printable(f"a{unsafe}b") == f"a{unsafe.encode('unicode_escape').decode()}b"
    for safe in ("größer", "日本", "שלום", "C:\\temp", "👩\u200d🚀"):
        assert printable(safe) == safe


def test_answers_on_a_terminal_are_escaped_and_those_in_a_pipe_are_not(
    capfd: pytest.CaptureFixture[str], folder: Path
) -> None:
    save(TreeClassifier(pruning=None).fit(pa.table({"x": [1.0, 2.0]}), ["a", f"b{CLEAR}"]), "m.hedgerow")
    Path("t.csv").write_text("x\n1\n2\n")
    assert main(["predict", "m.hedgerow", "t.csv"]) == 0
    assert f'"b{CLEAR}"' in capfd.readouterr().out
    seen = on_a_terminal("stdout", [sys.executable, "-m", "hedgerow.cli", "predict", "m.hedgerow", "t.csv"])
    assert b"\x1b" not in seen
    assert b'"b\\x1b[2J"' in seen


# -- spreadsheets


def test_safe_csv_marks_text_that_a_spreadsheet_would_run(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    model = CautiousForestClassifier(n_estimators=5, random_state=0)
    save(model.fit(pa.table({"x": [1.0, 2.0] * 9}), ["=1+1", "@b"] * 9), "m.hedgerow")
    cells = ["=cmd()", "+1+1", "-x", "@x", "@\tx", "-5", "+1.5e-3", "-.5", "plain", "", "a=b"]
    with open("t.csv", "w", newline="") as file:
        csv.writer(file).writerows([["x", "=name"], *([i, cell] for i, cell in enumerate(cells))])
    plain = shown(capsys, "predict", "m.hedgerow", "t.csv", "--keep", "=name")
    safe = shown(capsys, "predict", "m.hedgerow", "t.csv", "--keep", "=name", "--safe-csv")
    header, *rows = csv.reader(io.StringIO(safe))
    old_header, *old_rows = csv.reader(io.StringIO(plain))
    assert header == [f"'{name}" if name == "=name" else name for name in old_header]
    assert [row[0] for row in rows] == [f"'{cell}" if i < 5 else cell for i, cell in enumerate(cells)]
    assert {row[1] for row in rows} <= {"'=1+1", "'@b"}
    assert [row[3:] for row in rows] == [row[3:] for row in old_rows]
    assert "--safe-csv is for CSV" in shown(
        capsys, "predict", "m.hedgerow", "t.csv", "--safe-csv", "-o", "a.parquet", code=2
    )


# -- how much is shown, and how wide


@pytest.fixture
def wide(folder: Path) -> str:
    """Rows of 70 columns, of which three need a remark."""
    header = ["name", *(f"x{i}" for i in range(68)), "empty", "y"]
    rows = [
        [
            f"case {chr(97 + r // 26)}{chr(97 + r % 26)}",
            *("" if i == 7 and r % 9 == 0 else (r * i) % 17 for i in range(68)),
            "",
            r % 2,
        ]
        for r in range(60)
    ]
    with open("wide.csv", "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return "wide.csv"


def test_many_columns_are_folded_to_those_with_remarks(capsys: pytest.CaptureFixture[str], wide: str) -> None:
    fit = ("fit", wide, "-t", "y", "--folds", "0")
    words = shown(capsys, *fit)
    assert len(words.splitlines()) < 12
    assert "name              nominal    60 categories in 60 rows: an identifier? Then --ignore it" in words
    assert "x7                numeric    7 missing; from" in words
    assert "empty             ignored    has no values" in words
    assert "67 other columns  numeric    x0, ..., x67" in words
    assert "(--verbose lists all 70 columns)" in words
    every = shown(capsys, *fit, "--verbose")
    assert all(f"\nx{i} " in every for i in range(68))
    assert "--verbose" not in every


@pytest.mark.parametrize("width", [60, 160])
def test_hints_are_wrapped_and_not_cut(
    capsys: pytest.CaptureFixture[str], wide: str, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setattr(out, "width", width)
    words = shown(capsys, "fit", wide, "-t", "y", "--folds", "0")
    assert "…" not in words
    assert all(len(line) <= width for line in words.splitlines() if not line.startswith("note"))
    assert "--ignore it" in " ".join(words.split())
    compared = shown(capsys, "compare", wide, "-t", "y", "--folds", "2", "--trees", "2")
    assert "…" not in compared
    assert all(len(line) <= width for line in compared.splitlines())
    assert ("±" in compared) == (width == 160)
    assert "*" in compared


def test_quiet_leaves_the_answer_and_errors(capsys: pytest.CaptureFixture[str], wide: str) -> None:
    assert shown(capsys, "fit", wide, "-t", "y", "--folds", "2", "--quiet", "-o", "m.hedgerow") == ""
    assert shown(capsys, "predict", "m.hedgerow", wide, "-q", "-o", "a.csv") == ""
    assert shown(capsys, "predict", "m.hedgerow", wide, "-q").startswith("prediction,")
    compared = shown(capsys, "compare", wide, "-t", "y", "--folds", "2", "--trees", "2", "-q")
    assert "taken for" not in compared
    assert "most frequent class" in compared
    assert "no column 'z'" in shown(capsys, "fit", wide, "-t", "z", "-q", code=1)
    assert "taken for" in shown(capsys, "fit", wide, "-t", "y", "--folds", "0")


def test_one_is_singular(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    Path("t.csv").write_text("x,c,y\n1,a,a\n1,a,b\n1,a,\n")
    words = shown(capsys, "fit", "t.csv", "-t", "y", "--folds", "0", "-o", "m.hedgerow")
    assert "1 category: a" in words
    assert "TreeClassifier: 1 leaf, depth 0" in words
    assert "note: 1 row without a value for 'y' was dropped" in words
    Path("one.csv").write_text("x,c\n1,a\n")
    assert "Wrote a.csv: 1 row." in shown(capsys, "predict", "m.hedgerow", "one.csv", "-o", "a.csv")
    assert "has 1 row, --row is 2" in shown(capsys, "explain", "m.hedgerow", "one.csv", "--row", "2", code=1)


def test_rows_are_numbered_from_1(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    Path("t.csv").write_text("x,y\n1,\n2,a\n3,b\n-inf,a\n")
    assert "column 'x' is -inf in row 4" in shown(capsys, "fit", "t.csv", "-t", "y", code=1)
    Path("n.csv").write_text("x,y\n" + "".join(f"{i},{i}.5\n" for i in range(30)) + "1,inf\n")
    assert "column 'y' is inf in row 31" in shown(capsys, "fit", "n.csv", "-t", "y", code=1)
    save(TreeClassifier().fit(pa.table({"x": [1.0, 2.0]}), [0, 1]), "m.hedgerow")
    for command in ("predict", "explain"):
        row = ("--row", "4") if command == "explain" else ()
        assert "column 'x', line 5: '-inf' is not a number" in shown(
            capsys, command, "m.hedgerow", "t.csv", *row, code=1
        )


def test_rows_with_wrong_errors_are_numbered_from_1(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    rows = [f"{i}.5,{0.1 if i != 7 else -1},{i}\n" for i in range(20)]
    Path("bad.csv").write_text("x,x_err,y\n1.5,0.1,\n" + "".join(rows))
    fit = ("fit", "bad.csv", "-t", "y", "-m", "measured", "--measured", "x=x_err", "--folds", "0")
    assert "is -1.0 in row 9, must be a standard deviation" in shown(capsys, *fit, code=1)
    Path("good.csv").write_text("x,x_err,y\n" + "".join(rows).replace("-1", "0.2"))
    shown(capsys, "fit", "good.csv", *fit[2:], "-o", "m.hedgerow")
    assert "is -1.0 in row 9, must be a" in shown(capsys, "predict", "m.hedgerow", "bad.csv", code=1)


@pytest.mark.parametrize("width", ["60", "80"])
def test_summaries_of_commands_are_not_cut(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, width: str
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    assert "..." not in shown(capsys, "--help").partition("Commands:")[2]


def test_predict_shows_progress_on_a_terminal_only(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    save(TreeClassifier().fit(pa.table({"x": [1.0, 2.0]}), [0, 1]), "m.hedgerow")
    Path("t.csv").write_text("x\n1\n2\n")
    predict = ["predict", "m.hedgerow", "t.csv", "-o", "a.csv"]
    assert main(predict) == 0
    assert capsys.readouterr().err == ""
    both = f"import sys; from hedgerow.cli import main; main({predict}); print('*', file=sys.stderr)"
    seen = on_a_terminal("stderr", [sys.executable, "-c", f"{both}; main({[*predict, '--quiet']})"])
    told, quiet = seen.split(b"*")
    assert b"rows" in told
    assert quiet.strip() == b""
