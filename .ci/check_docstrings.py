"""Checks the docstrings of all names of the reference, and of their methods, by numpydoc's validation."""

from __future__ import annotations

import enum
import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import Validator, validate
from sphinx.pycode import ModuleAnalyzer

# No docstring; parameters that are undocumented, unknown, in another order, or without a space before the colon;
# sections in another order; summaries over several lines or without a full stop; no summary.
CHECKS = {"GL07", "GL08", "PR01", "PR02", "PR03", "PR10", "SS01", "SS03", "SS04"}


def names(reference: Path) -> Iterator[str]:
    """Yield the names that the pages of the reference list, and the methods that these classes have from hedgerow."""
    seen = set()
    for page in sorted(reference.glob("*.md")):
        for module, summary in re.findall(
            r"\.\. currentmodule:: (\S+)\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL
        ):
            for name in re.findall(r"^   (\w+)$", summary, re.MULTILINE):
                thing = getattr(importlib.import_module(module), name)
                if not (inspect.isclass(thing) or inspect.isroutine(thing)):
                    continue
                yield f"{module}.{name}"
                if inspect.isclass(thing) and not issubclass(thing, enum.Enum):
                    for method, found in inspect.getmembers_static(thing):
                        function = getattr(found, "__func__", found)
                        if (
                            inspect.isfunction(function)
                            and not method.startswith("_")
                            and function.__name__ != "<lambda>"
                            and function.__module__.startswith("hedgerow")
                            and function not in seen
                        ):
                            seen.add(function)
                            yield f"{module}.{name}.{method}"


def documented_elsewhere(thing: type) -> set[str]:
    """Return fields of a class that are described below themselves, or in a section of attributes."""
    found = set()
    for base in thing.__mro__:
        if base.__module__.startswith("hedgerow"):
            below = ModuleAnalyzer.for_module(base.__module__).find_attr_docs()
            found |= {field for owner, field in below if owner == base.__qualname__}
            found |= {one.name for one in NumpyDocString(inspect.cleandoc(base.__doc__ or ""))["Attributes"]}
    return found


def faults(name: str) -> Iterator[str]:
    """Yield what numpydoc finds in one docstring."""
    thing = Validator._load_obj(name)
    is_class = inspect.isclass(thing)
    if is_class and (issubclass(thing, enum.Enum) or getattr(thing, "_is_protocol", False)):
        return
    for code, text in validate(name)["errors"]:
        inherited = code == "GL08" and inspect.getdoc(thing)
        if code == "PR01":
            missing = set(re.findall(r"'\*{0,2}(\w+)'", text)) - (documented_elsewhere(thing) if is_class else set())
            if any(not one.startswith("_") for one in missing):
                yield f"{name}: PR01: without words: {', '.join(sorted(missing))}"
        elif code in CHECKS and not inherited:
            yield f"{name}: {code}: {text}"


def main() -> int:
    """Print every fault; the exit status says whether there was one."""
    found = [fault for name in names(Path(__file__).parents[1] / "docs" / "reference") for fault in faults(name)]
    print("\n".join(found), file=sys.stderr)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
