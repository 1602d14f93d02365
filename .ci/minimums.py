"""Pin every requirement on standard input to its declared minimum: ``numpy>=2.0`` becomes ``numpy==2.0``.

Shows whether the minimums in pyproject.toml are true: ``make test-minimums`` runs the suite with all of them.
"""

import re
import sys

pins: dict[str, str] = {}
for requirement in sys.stdin.read().split("\n"):
    if not requirement.strip():
        continue
    found = re.match(r"([\w.-]+)\s*>=\s*([\w.]+)", requirement)
    if found is None:
        sys.exit(f"'{requirement}' has no minimum: write 'name>=version' in pyproject.toml")
    name, minimum = found.groups()
    if pins.setdefault(name, minimum) != minimum:
        sys.exit(f"'{name}' has two minimums, {pins[name]} and {minimum}: make them equal in pyproject.toml")
print("\n".join(f"{name}=={minimum}" for name, minimum in pins.items()))
