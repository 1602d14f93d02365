"""The commands on the page about the command line do what it shows."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

from hedgerow.cli import main

pytest.importorskip("click")

PAGE = Path(__file__).parents[2] / "docs" / "command_line.md"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.S | re.M)


def test_every_command_of_the_page_shows_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    blocks = BLOCK.findall(PAGE.read_text())
    assert len(blocks) >= 5
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    for block in blocks:
        line, _, expected = block.partition("\n")
        assert line.startswith("$ hedgerow ")
        main(shlex.split(line)[2:])
        captured = capsys.readouterr()
        found = captured.out + captured.err
        assert doctest.OutputChecker().check_output(expected, found, flags), f"{line}\n{found}"
