"""``hedgerow show -o``: trees in files."""

from __future__ import annotations

from pathlib import Path

import pytest
from sklearn.datasets import load_iris

from hedgerow import ForestClassifier, TreeClassifier, save
from hedgerow.cli import main

pytest.importorskip("click")
pytest.importorskip("rich")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    X, y = load_iris(return_X_y=True, as_frame=True)
    save(TreeClassifier().fit(X, y), "tree.hedgerow")
    save(ForestClassifier(3, random_state=0).fit(X, y), "forest.hedgerow")
    return tmp_path


@pytest.mark.parametrize(
    ("suffix", "first"),
    [("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF"), ("html", b"<!doctype html>")],
)
def test_pictures_in_files(folder: Path, suffix: str, first: bytes) -> None:
    assert main(["show", "tree.hedgerow", "-o", f"tree.{suffix}"]) == 0
    assert Path(f"tree.{suffix}").read_bytes().startswith(first)


def test_a_tree_of_a_forest_to_a_depth(folder: Path) -> None:
    for depth in ("1", "2"):
        assert main(["show", "forest.hedgerow", "--tree", "2", "--depth", depth, "-o", f"{depth}.svg"]) == 0
    assert len(Path("1.svg").read_text()) < len(Path("2.svg").read_text())


@pytest.mark.parametrize(
    ("output", "message"),
    [("tree.jpg", "name a file .svg, .png, .pdf"), ("nowhere/tree.svg", "there is no folder")],
)
def test_an_output_that_can_not_be_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str], output: str, message: str
) -> None:
    assert main(["show", "tree.hedgerow", "-o", output]) in (1, 2)
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("format_name", "suffix", "expected"),
    [
        ("text", "txt", "petal width (cm) <= 1.75"),
        ("rules", None, "confidence 1, lift 3"),
        ("dot", "dot", "digraph tree {"),
        ("sql", "sql", 'CASE\n  WHEN "petal length (cm)" <= 2.45e0 THEN 0'),
        ("python", "py", "def predict_proba(row):"),
        ("c", "c", "int tree_predict(const double *row)"),
        ("svg", "svg", "</svg>"),
    ],
)
def test_text_rules_and_code(
    folder: Path, capsys: pytest.CaptureFixture[str], format_name: str, suffix: str | None, expected: str
) -> None:
    assert main(["show", "tree.hedgerow", "--format", format_name]) == 0
    shown = capsys.readouterr().out
    assert expected in shown
    assert shown.endswith("\n")
    if suffix is not None:
        assert main(["show", "tree.hedgerow", "-o", f"model.{suffix}"]) == 0
        assert Path(f"model.{suffix}").read_text() == shown


def test_sql_of_another_database(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "tree.hedgerow", "--format", "sql", "--dialect", "sqlite"]) == 0
    assert "`petal length (cm)` <= (CAST(" in capsys.readouterr().out


def test_a_page_of_a_model(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "forest.hedgerow", "--html"]) == 0
    assert capsys.readouterr().out.startswith("<!doctype html>")
    for wrong, message in ((["--format", "svg"], "give one"), (["--tree", "1"], "leave out --tree and --depth")):
        assert main(["show", "forest.hedgerow", "--html", *wrong]) == 2
        assert message in capsys.readouterr().err
