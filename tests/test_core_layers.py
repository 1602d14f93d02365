"""The check of the core's layers that `make lint` runs."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[1] / ".ci" / "check_includes.py"


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    if not SCRIPT.exists():
        pytest.skip("a source distribution has no .ci folder")
    return runpy.run_path(str(SCRIPT))


def write(core: Path, name: str, *includes: str) -> None:
    (core / name).parent.mkdir(parents=True, exist_ok=True)
    (core / name).write_text("".join(f'#include "{include}"\n' for include in includes))


@pytest.mark.parametrize(
    ("source", "included"),
    [
        ("base/a.hpp", "data/b.hpp"),
        ("walk/a.cpp", "grow/b.hpp"),
        ("prune/a.cpp", "grow/b.hpp"),
        ("grow/a.hpp", "bindings/b.hpp"),
        ("grow/exact/a.hpp", "grow/binned/b.hpp"),
        ("grow/a.hpp", "grow/binned/b.hpp"),
        ("elsewhere/a.hpp", "base/b.hpp"),
        ("walk/a.cpp", "missing.hpp"),
    ],
)
def test_an_include_from_a_higher_layer_is_a_fault(
    script: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str], source: str, included: str
) -> None:
    write(tmp_path, source, included)
    if "/" in included:
        write(tmp_path, included)
    assert script["main"](tmp_path) == 1
    assert f'#include "{included}"' in capsys.readouterr().err


def test_includes_of_lower_layers_are_fine(script: dict[str, Any], tmp_path: Path) -> None:
    write(tmp_path, "base/a.hpp")
    write(tmp_path, "grow/b.hpp", "base/a.hpp")
    write(tmp_path, "grow/exact/c.hpp", "grow/b.hpp", "base/a.hpp")
    write(tmp_path, "grow/grow.cpp", "grow/exact/c.hpp")
    write(tmp_path, "bindings/d.cpp", "grow/exact/c.hpp")
    assert script["main"](tmp_path) == 0


def test_the_core_keeps_its_layers(script: dict[str, Any]) -> None:
    assert script["main"](SCRIPT.parents[1] / "core") == 0
