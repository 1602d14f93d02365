"""Say in one line what this machine lacks to build hedgerow."""

import importlib.util
import shutil
import sys
import sysconfig
from pathlib import Path

compiler = sys.argv[1].split()[0]
version = ".".join(map(str, sys.version_info[:2]))
header = Path(sysconfig.get_paths()["include"], "Python.h")

if sys.version_info < (3, 11):  # noqa: UP036 (runs before anything has checked the version)
    sys.exit(f"hedgerow needs Python 3.11 or newer, this is {version}: try 'make PYTHON=python3.12 ...'")
if not all(map(importlib.util.find_spec, ("venv", "ensurepip"))):
    sys.exit(f"Python {version} has no venv module: install it (Debian: apt-get install python{version}-venv)")
if not header.exists():
    sys.exit(f"{header} is missing: install Python's headers (Debian: apt-get install python{version}-dev)")
if shutil.which(compiler) is None:
    sys.exit(f"no C++ compiler '{compiler}': install one (Debian: apt-get install g++) or set CXX")
