"""The commands on the pages about the command line do what these show."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

from hedgerow.cli import main

pytest.importorskip("click")

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.S | re.M)


@pytest.mark.parametrize("page", ["command_line", "ten_minutes_command_line"])
def test_every_command_of_the_page_shows_what_it_says(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    blocks = BLOCK.findall((DOCS / f"{page}.md").read_text(encoding="utf-8"))
    assert len(blocks) >= 4
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    for block in blocks:
        for command in re.split(r"^\$ ", block, flags=re.M)[1:]:
            line, _, expected = command.partition("\n")
            assert line.startswith("hedgerow ")
            main(shlex.split(line)[1:])
            captured = capsys.readouterr()
            found = captured.out + captured.err
            assert doctest.OutputChecker().check_output(expected, found, flags), f"{line}\n{found}"
