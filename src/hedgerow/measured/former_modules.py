"""Former homes of classes, so that pickles of earlier versions find them."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

__all__ = ["FormerModule", "keep_former_modules"]

_PACKAGE = "hedgerow.measured"
_HOMES = {
    "error_sizes": "errors.error_sizes",
    "latent": "many_trees.latent",
    "losses": "many_trees.losses",
    "misclassification": "errors.misclassification",
    "priors": "laws.priors",
    "readings": "errors.readings",
}


class FormerModule(ModuleType):
    """A module that has moved: it imports its new home when it is first asked for a name."""

    def __init__(self, name: str, home: str) -> None:
        super().__init__(name, f"Former home of {home}.")
        self._home = home

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked by whoever lists modules
            raise AttributeError(name)
        return getattr(import_module(self._home), name)


def keep_former_modules() -> None:
    """Let ``import hedgerow.measured.priors`` and the like work still."""
    for former, home in _HOMES.items():
        name = f"{_PACKAGE}.{former}"
        sys.modules.setdefault(name, FormerModule(name, f"{_PACKAGE}.{home}"))
