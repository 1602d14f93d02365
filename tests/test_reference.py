"""The reference lists every public name."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import hedgerow

REFERENCE = Path(__file__).parents[1] / "docs" / "reference"
# Homes that names had, and the command line, which has a page of its own.
ELSEWHERE = {"adapt", "building", "cli", "estimators", "onnx_export", "probability"}
PACKAGES = ["hedgerow"] + [
    f"hedgerow.{found.name}"
    for found in pkgutil.iter_modules(hedgerow.__path__)
    if not found.name.startswith("_") and found.name not in ELSEWHERE
]


def listed_names() -> set[str]:
    """Full names in the summaries of docs/reference."""
    names = set()
    for page in REFERENCE.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        for module, summary in re.findall(r"\.\. currentmodule:: (\S+)\n(.*?)```", text, re.DOTALL):
            names |= {f"{module}.{name}" for name in re.findall(r"^   (\w+)$", summary, re.MULTILINE)}
    return names


LISTED = listed_names()


def thing(name: str) -> object:
    module, _, own = name.rpartition(".")
    return getattr(importlib.import_module(module), own)


def test_what_the_reference_lists_exists_and_is_public() -> None:
    homes = {name: importlib.import_module(name.rpartition(".")[0]) for name in LISTED}
    assert len(LISTED) > 200
    assert [name for name, home in sorted(homes.items()) if name.rpartition(".")[2] not in home.__all__] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_the_reference_lists_every_public_name(package: str) -> None:
    module = importlib.import_module(package)
    things = {id(thing(name)) for name in LISTED}
    public = [name for name in getattr(module, "__all__", []) if not name.startswith("__")]
    assert [n for n in public if f"{package}.{n}" not in LISTED and id(getattr(module, n)) not in things] == []


def test_the_architecture_page_has_every_room_and_every_estimator() -> None:
    page = (REFERENCE.parent / "architecture.md").read_text(encoding="utf-8")
    picture, table = page.partition("## One picture")[2].split("## ")[:2]
    rooms = [found.name for found in pkgutil.iter_modules(hedgerow.__path__)]
    former = {"adapt", "building", "onnx_export", "probability"}  # homes that names had
    hidden = {"_core"}
    assert [name for name in rooms if name not in former | hidden and not re.search(rf"\b{name}\b", picture)] == []
    core = REFERENCE.parents[1] / "core"
    assert [room.name for room in core.iterdir() if not re.search(rf"\b{room.name}\b", picture)] == []
    estimators = [name for name in hedgerow.__all__ if name.endswith(("Classifier", "Regressor"))]
    assert [name for name in estimators if f"`{name}`" not in table] == []


def test_the_architecture_page_names_files_that_exist() -> None:
    page = (REFERENCE.parent / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:[a-z_]+/)+\w+\.(?:py|hpp|cu))`", page.partition("## What a new thing touches")[2])
    root = REFERENCE.parents[1]
    homes = (root, root / "src" / "hedgerow")
    assert [name for name in named if not any((home / name).exists() for home in homes)] == []
    assert len(named) > 10
