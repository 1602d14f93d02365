from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import hedgerow
from hedgerow import _core

EXTRAS = ("matplotlib", "pandas", "polars", "pyarrow", "click", "rich", "onnx")
MODULES = [module.name for module in pkgutil.walk_packages(hedgerow.__path__, "hedgerow.")]
FUNCTIONS = {name: thing for name, thing in vars(_core).items() if callable(thing) and not inspect.isclass(thing)}


def modules_after(statement: str) -> set[str]:
    """Top-level names of all modules that a fresh interpreter holds after a statement."""
    code = f"import json, sys; {statement}; print(json.dumps([name for name, m in sys.modules.items() if m]))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stderr == ""
    return {name.partition(".")[0] for name in json.loads(run.stdout)}


def test_importing_hedgerow_imports_nothing_of_the_extras() -> None:
    # scikit-learn imports pandas, and pandas pyarrow, where they are installed: that is not ours to change.
    # So does its module of callbacks, in the releases that have it, with rich.
    callbacks = "importlib.util.find_spec('sklearn.callback') and __import__('sklearn.callback')"
    dependencies = modules_after(f"import importlib.util, joblib, narwhals, numpy, scipy, sklearn; {callbacks}")
    loaded = modules_after("import hedgerow; hedgerow.TreeClassifier") - dependencies
    assert "hedgerow" in loaded
    assert loaded.isdisjoint(EXTRAS)


def test_submodules_are_reachable_and_import_matplotlib_only_to_draw() -> None:
    names = ["plots", "rules", "metrics"]
    assert "matplotlib" not in modules_after(f"import hedgerow; [getattr(hedgerow, name).__all__ for name in {names}]")


def test_hedgerow_can_be_imported_where_no_extra_is_installed() -> None:
    everything = "import hedgerow; [getattr(hedgerow, name) for name in hedgerow.__all__]"
    loaded = modules_after(f"sys.modules.update(dict.fromkeys({EXTRAS})); {everything}")
    assert "hedgerow" in loaded
    assert loaded.isdisjoint(EXTRAS)


def test_scikit_learn_is_imported_with_the_first_name_that_needs_it() -> None:
    loaded = modules_after("import hedgerow; hedgerow.__version__")
    assert loaded.isdisjoint({"numpy", "sklearn", "pandas"})
    code = "import sys; from hedgerow.storage import load; print(type(load(sys.argv[1])).__name__)"
    file = Path(__file__).parent / "model_files" / "v1_cautious.hedgerow"
    run = subprocess.run([sys.executable, "-c", code, file], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "CautiousClassifier"
    with pytest.raises(AttributeError, match="module 'hedgerow' has no attribute 'TreeClassifer'"):
        hedgerow.TreeClassifer  # noqa: B018
    assert "TreeClassifier" in dir(hedgerow)


def test_every_public_submodule_is_an_attribute() -> None:
    internal = {"cli"}
    found = {module.name for module in pkgutil.iter_modules(hedgerow.__path__) if not module.name.startswith("_")}
    assert found - internal == {name for name in found if name in hedgerow._SUBMODULES}
    assert found >= hedgerow._SUBMODULES
    for name in found - internal:
        assert hedgerow.__getattr__(name) is importlib.import_module(f"hedgerow.{name}")
        assert name in dir(hedgerow)


def test_the_command_says_what_it_lacks() -> None:
    code = "import sys; sys.modules['click'] = None; from hedgerow.cli import main; sys.exit(main(['--help']))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert run.stderr == "hedgerow: the command line needs click: pip install 'hedgerow[cli]'\n"


def test_the_version_is_that_of_the_installed_package() -> None:
    assert hedgerow.__version__ == version("hedgerow")


def test_every_public_name_is_there() -> None:
    assert hedgerow.__all__ == sorted(hedgerow.__all__)
    assert all(hasattr(hedgerow, name) for name in hedgerow.__all__)


def test_the_package_has_the_modules_of_its_floor_plan() -> None:
    assert {"hedgerow._core", "hedgerow.forest", "hedgerow.walk", "hedgerow.data.table"} <= set(MODULES)


def test_every_module_can_be_imported_and_says_what_it_is() -> None:
    for name in MODULES:
        module = importlib.import_module(name)
        assert module.__doc__, name
        assert [public for public in getattr(module, "__all__", ()) if not hasattr(module, public)] == [], name


def test_the_core_exports_the_walks() -> None:
    assert {"fold", "route", "spread", "random_bits", "node_depths"} <= set(FUNCTIONS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_of_the_core_says_what_it_does(name: str) -> None:
    # nanobind writes the signature itself: words of ours come after an empty line.
    signature, _, words = (FUNCTIONS[name].__doc__ or "").partition("\n\n")
    assert signature.startswith(f"{name}(")
    assert len(words.split()) >= 4
