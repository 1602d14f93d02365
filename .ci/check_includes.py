"""Checks the layers of the core: a folder of core/ includes only itself and the folders below it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

# From the bottom up; the folders of one layer do not include each other.
LAYERS = [
    *(["base"], ["data"], ["forest"], ["walk"]),
    ["grow", "prune", "boundary", "proximity", "contributions", "importance", "counterfactual"],
    *(["measured"], ["bindings"]),
]
# The growers of core/grow/ share its files, not each other's. Its entry (grow.hpp, grow.cpp) chooses between them.
GROWERS = ["exact", "binned", "random"]
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def fault(source: Path, included: str, core: Path) -> str | None:
    """What is wrong with one include, or None."""
    if not (core / included).is_file():
        return "no such file under core/: write includes from there"
    layer_of = {folder: number for number, layer in enumerate(LAYERS) for folder in layer}
    here, there = source.relative_to(core).parts, Path(included).parts
    if here[0] not in layer_of or there[0] not in layer_of:
        return "a folder without a layer"
    if here[0] != there[0]:
        return None if layer_of[there[0]] < layer_of[here[0]] else f"{here[0]}/ is not above {there[0]}/"
    if here[0] == "grow" and there[1] in GROWERS and here[1] != there[1] and here[1] != "grow.cpp":
        return f"{'/'.join(here[:2])} does not use grow/{there[1]}/"
    return None


def main(core: Path) -> int:
    """Print every fault; the exit status says whether there was one."""
    found = 0
    for source in sorted([*core.rglob("*.hpp"), *core.rglob("*.cpp")]):
        for included in INCLUDE.findall(source.read_text(encoding="utf-8")):
            if problem := fault(source, included, core):
                print(f'{source}: #include "{included}": {problem}', file=sys.stderr)
                found += 1
    return found > 0


if __name__ == "__main__":
    sys.exit(main(Path(__file__).resolve().parents[1] / "core"))
