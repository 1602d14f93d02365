"""``hedgerow help``: topics, commands and manual pages."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

pytest.importorskip("click")

from hedgerow.cli import main
from hedgerow.cli.commands.help import TOPICS
from hedgerow.cli.model_table import MODELS
from hedgerow.cli.program import program


def test_topics_and_commands_are_listed_in_lines_that_fit(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help"]) == 0
    shown = capsys.readouterr().out
    assert all(f"\n  {name} " in shown for name in [*TOPICS, *program.commands])
    assert max(map(len, shown.splitlines())) <= 80


def test_every_topic_fits_a_screen(capsys: pytest.CaptureFixture[str]) -> None:
    for topic in TOPICS:
        assert main(["help", topic]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert 4 <= len(lines) <= 30
        assert max(map(len, lines)) <= 80


def test_the_help_of_every_command_fits_80_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for command in program.commands:
        assert main(["help", command]) == 0
        assert max(map(len, capsys.readouterr().out.splitlines())) <= 80, command


def test_the_topic_of_models_and_fit_name_all_of_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "models"]) == 0
    listed = capsys.readouterr().out
    assert main(["help", "fit"]) == 0
    of_fit = " ".join(capsys.readouterr().out.split()).replace("- ", "-")
    assert [name for name in MODELS if name not in listed or name not in of_fit] == []


def test_a_command_has_the_help_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "score"]) == 0
    assert capsys.readouterr().out.startswith("Usage: hedgerow score ")


def test_an_unknown_topic_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "model"]) == 2
    assert "there is no topic 'model'; did you mean 'models'?" in capsys.readouterr().err


def test_manual_pages_are_written_for_every_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "--man", str(tmp_path / "man1")]) == 0
    pages = sorted(page.name for page in (tmp_path / "man1").iterdir())
    assert pages == sorted(["hedgerow.1", *(f"hedgerow-{name}.1" for name in program.commands)])
    text = (tmp_path / "man1" / "hedgerow-fit.1").read_text(encoding="utf-8")
    assert text.startswith(".TH HEDGEROW-FIT 1\n.SH NAME\nhedgerow-fit \\- fit a model")
    if shutil.which("groff"):
        shown = subprocess.run(
            ["groff", "-man", "-Tutf8", tmp_path / "man1" / "hedgerow.1"], capture_output=True, check=True
        )
        assert b"--ordinal" in shown.stdout
        assert shown.stderr == b""
