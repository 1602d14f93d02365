"""The gallery: every Display appears, and every example asks something and draws."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hedgerow import plots

GALLERY = Path(__file__).parents[2] / "examples" / "gallery"
EXAMPLES = {
    path.relative_to(GALLERY).as_posix(): path.read_text(encoding="utf-8") for path in GALLERY.rglob("plot_*.py")
}


def test_every_display_appears() -> None:
    assert [name for name in plots.__all__ if not any(f"{name}." in text for text in EXAMPLES.values())] == []


def test_there_are_enough_examples_and_every_part_has_a_title() -> None:
    assert len(EXAMPLES) >= 24
    for part in {path.split("/")[0] for path in EXAMPLES}:
        title, line, *_ = (GALLERY / part / "README.rst").read_text(encoding="utf-8").splitlines()
        assert len(line) >= len(title) > 10


@pytest.mark.parametrize("path", sorted(EXAMPLES))
def test_an_example_has_a_title_a_text_and_a_picture(path: str) -> None:
    text = EXAMPLES[path]
    assert re.match(r'"""\n[^\n]{10,70}\n=+\n\n[^\n]{40,}', text)
    assert "Display" in text or "plt." in text
