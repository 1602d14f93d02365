"""Print what pyproject.toml asks for: to build, to run, and for the extras named on the command line.

Building without isolation needs the build requirements in the environment itself; reading them here keeps
pyproject.toml the only place where a dependency is declared.
"""

import re
import sys
import tomllib
from pathlib import Path

declared = tomllib.loads(Path("pyproject.toml").read_text())
extras = declared["project"]["optional-dependencies"]


def expand(requirement: str) -> list[str]:
    nested = re.fullmatch(r"hedgerow\[(.+)\]", requirement)
    if nested is None:
        return [requirement]
    return [r for name in nested[1].split(",") for inner in extras[name] for r in expand(inner)]


wanted = declared["build-system"]["requires"] + declared["project"]["dependencies"]
for name in sys.argv[1:]:
    wanted += expand(f"hedgerow[{name}]")
print("\n".join(dict.fromkeys(wanted)))
