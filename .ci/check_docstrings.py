"""Checks the docstrings of all names of the reference, and of their methods: parameters, returns, raises, examples."""

from __future__ import annotations

import ast
import builtins
import doctest
import enum
import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from numpydoc.docscrape import NumpyDocString, get_doc_object
from numpydoc.validate import validate
from sphinx.pycode import ModuleAnalyzer

# No docstring; parameters that are undocumented, unknown, in another order, without a space before the colon or without
# words; sections in another order; summaries over several lines or without a full stop; no summary.
CHECKS = {"GL07", "GL08", "PR01", "PR02", "PR03", "PR07", "PR10", "SS01", "SS03", "SS04"}

# Names whose examples can't run in the tests, and what they would need there.
NEEDS = {
    "hedgerow.distributed.Dask": "a Dask cluster: tests/distributed starts one",
    "hedgerow.distributed.Ray": "a Ray cluster: tests/distributed starts one",
    "hedgerow.distributed.Spark": "a Spark session: make spark-test",
    "hedgerow.distributed.from_ray": "a Ray cluster: tests/distributed starts one",
    "hedgerow.distributed.from_spark": "a Spark session: make spark-test",
    "hedgerow.exchange.from_lightgbm": "lightgbm: tests/exchange runs where it is installed",
    "hedgerow.exchange.from_xgboost": "xgboost: tests/exchange runs where it is installed",
    "hedgerow.exchange.from_ydf": "ydf: tests/exchange runs where it is installed",
    "hedgerow.gpu.CudaDevice": "a GPU: make gpu-test",
    "hedgerow.gpu.DeviceWalk": "a GPU: make gpu-test",
}

ARRAYS = re.compile(r"\b(?:NDArray|Floats|Bools|Ints|Whole|Codes|Bytes|csr_array)\b")
SIMPLE = (str, int, float, type(None))
INTERNAL = (NotImplementedError, AssertionError)


def names(reference: Path) -> Iterator[tuple[str, Any]]:
    """Yield what the pages of the reference list, by name, and the methods that these classes have from hedgerow."""
    seen = set()
    for page in sorted(reference.glob("*.md")):
        for module, summary in re.findall(
            r"\.\. currentmodule:: (\S+)\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL
        ):
            for name in re.findall(r"^   (\w+)$", summary, re.MULTILINE):
                thing = getattr(importlib.import_module(module), name)
                if not (inspect.isclass(thing) or inspect.isroutine(thing)):
                    continue
                yield f"{module}.{name}", thing
                if inspect.isclass(thing) and not issubclass(thing, enum.Enum):
                    for method, function in own_methods(thing):
                        if function not in seen:
                            seen.add(function)
                            yield f"{module}.{name}.{method}", function


def own_methods(thing: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the public methods that a class has from hedgerow."""
    for method, found in inspect.getmembers_static(thing):
        function = getattr(found, "__func__", found)
        if (
            inspect.isfunction(function)
            and not method.startswith("_")
            and function.__name__ != "<lambda>"
            and function.__module__.startswith("hedgerow")
        ):
            yield method, getattr(thing, method)


def documented_elsewhere(thing: type) -> set[str]:
    """Return fields of a class that are described below themselves, or in a section of attributes."""
    found = set()
    for base in thing.__mro__:
        if base.__module__.startswith("hedgerow"):
            below = ModuleAnalyzer.for_module(base.__module__).find_attr_docs()
            found |= {field for owner, field in below if owner == base.__qualname__}
            found |= {one.name for one in NumpyDocString(inspect.cleandoc(base.__doc__ or ""))["Attributes"]}
    return found


def faults(name: str, thing: Any) -> Iterator[str]:
    """Yield what is wrong with one docstring."""
    doc = NumpyDocString(inspect.getdoc(thing) or "")
    is_class = inspect.isclass(thing)
    if not (is_class and (issubclass(thing, enum.Enum) or getattr(thing, "_is_protocol", False))):
        yield from faults_of_sections(name, thing)
    yield from faults_of_defaults(name, thing, doc)
    if not is_class:
        yield from faults_of_returns(name, thing, doc)
        yield from faults_of_raises(name, thing, doc)
    if is_class or importable(name.rpartition(".")[0]):
        yield from faults_of_examples(name, doc)
    yield from unbound_names(name, doc)


def faults_of_sections(name: str, thing: Any) -> Iterator[str]:
    """Yield what numpydoc finds."""
    is_class = inspect.isclass(thing)
    for code, text in validate(get_doc_object(thing))["errors"]:
        inherited = code == "GL08" and inspect.getdoc(thing)
        if code == "PR01":
            missing = set(re.findall(r"'\*{0,2}(\w+)'", text)) - (documented_elsewhere(thing) if is_class else set())
            if any(not one.startswith("_") for one in missing):
                yield f"{name}: PR01: without words: {', '.join(sorted(missing))}"
        elif code in CHECKS and not inherited:
            yield f"{name}: {code}: {text}"


def faults_of_defaults(name: str, thing: Any, doc: NumpyDocString) -> Iterator[str]:
    """Yield parameters whose words have no default, or another than the signature."""
    if getattr(thing, "_is_protocol", False) or (inspect.isclass(thing) and issubclass(thing, enum.Enum | Exception)):
        return
    described = {entry.name: entry.type for entry in doc["Parameters"]}
    for parameter in inspect.signature(thing).parameters.values():
        default, words = parameter.default, described.get(parameter.name)
        if words is None or not isinstance(default, SIMPLE):
            continue
        found = words.rpartition("default=")[2] if "default=" in words else None
        if found is None or not same_value(found, default):
            yield f"{name}: {parameter.name} is {default!r} by default, and its words are {words!r}"


def same_value(text: str, value: Any) -> bool:
    """Return whether the text of a default, such as 1/3 or "auto", stands for this value."""
    numerator, slash, denominator = text.partition("/")
    try:
        found = int(numerator) / int(denominator) if slash else ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return False
    return bool(found == value)


def faults_of_returns(name: str, function: Callable[..., Any], doc: NumpyDocString) -> Iterator[str]:
    """Yield whether the value that a function returns is described, an array with its shape."""
    function = inspect.unwrap(getattr(function, "__func__", function))
    returned = str(inspect.get_annotations(function).get("return"))
    if returned in ("None", "NoReturn") or not function.__doc__:  # then it is described where it is inherited from
        return
    entries = doc["Returns"] + doc["Yields"]
    if not entries or not all(any(line.strip() for line in entry.desc) for entry in entries):
        yield f"{name}: returns {returned}, which the section Returns must describe"
    elif (
        ARRAYS.search(returned)
        and not returned.startswith("Callable")
        and not any("shape" in " ".join([one.type, *one.desc]) for one in entries)
    ):
        yield f"{name}: returns {returned}: the section Returns must give the shape"


def faults_of_raises(name: str, function: Callable[..., Any], doc: NumpyDocString) -> Iterator[str]:
    """Yield errors that a function raises itself and does not describe."""
    function = inspect.unwrap(getattr(function, "__func__", function))
    described = {entry.type.strip("`: ").rpartition(".")[2] for entry in doc["Raises"]}
    if name.rpartition(".")[2] in ("fit", "partial_fit", "from_fitted") and not described:
        yield f"{name}: the section Raises must say what is refused"
    source = inspect.getsource(function)
    tree = ast.parse(f"if True:\n{source}" if source[0].isspace() else source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name):
            error = function.__globals__.get(node.exc.func.id, getattr(builtins, node.exc.func.id, None))
            if not (inspect.isclass(error) and issubclass(error, Exception)) or issubclass(error, INTERNAL):
                continue
            if not described & {base.__name__ for base in error.__mro__}:
                yield f"{name}: raises {error.__name__}, which the section Raises does not have"


def faults_of_examples(name: str, doc: NumpyDocString) -> Iterator[str]:
    """Yield whether a class or function has an example that runs."""
    found = doctest.DocTestParser().get_examples("\n".join(text_of(doc)))
    runs = [one for one in found if not one.options.get(doctest.SKIP)]
    if not found:
        yield f"{name}: has no example"
    elif not runs and name not in NEEDS:
        yield f"{name}: its example does not run"


def unbound_names(name: str, doc: NumpyDocString) -> Iterator[str]:
    """Yield names that an example uses and does not import: it could not be copied from the page."""
    known = set(dir(builtins))
    for example in doctest.DocTestParser().get_examples("\n".join(text_of(doc))):
        tree = ast.parse(example.source)
        for node in ast.walk(tree):
            if isinstance(node, ast.alias):
                known.add((node.asname or node.name).partition(".")[0])
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                known.add(node.name)
            elif isinstance(node, ast.arg):
                known.add(node.arg)
            elif isinstance(node, ast.ExceptHandler) and node.name:
                known.add(node.name)
            elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
                known.add(node.id)
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        if used - known:
            yield f"{name}: its example does not import {', '.join(sorted(used - known))}"
            known |= used


def text_of(doc: NumpyDocString) -> list[str]:
    """Return the lines of a docstring that may hold examples."""
    return [*doc["Extended Summary"], "", *doc["Notes"], "", *doc["Examples"]]


def importable(module: str) -> bool:
    """Return whether a name is that of a module: what it holds are functions, not methods."""
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True


def verbs_without_example() -> Iterator[str]:
    """Yield methods of estimators that have no example in any class that defines them."""
    hedgerow = importlib.import_module("hedgerow")
    shown: dict[str, bool] = {}
    for name in hedgerow.__all__:
        thing = getattr(hedgerow, name)
        if inspect.isclass(thing) and name.endswith(("Classifier", "Regressor")):
            for method, function in own_methods(thing):
                shown[method] = shown.get(method, False) or ">>>" in (inspect.getdoc(function) or "")
    yield from (f"{verb}: no estimator has an example of this method" for verb, has in shown.items() if not has)


def main() -> int:
    """Print every fault; the exit status says whether there was one."""
    reference = Path(__file__).parents[1] / "docs" / "reference"
    found = [fault for name, thing in names(reference) for fault in faults(name, thing)]
    found += verbs_without_example()
    print("\n".join(found), file=sys.stderr)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
