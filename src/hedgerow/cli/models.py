"""The models that ``hedgerow fit --model`` knows: one entry each."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import hedgerow
from hedgerow.cli.errors import CommandError, UsageError, nearest

__all__ = ["MODELS", "Model", "make_model", "model_names", "parse_settings"]


@dataclass(frozen=True)
class Model:
    """A model by its name on the command line: which public names of hedgerow make it, and with what."""

    what: str
    classifier: str | None
    regressor: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    def factory(self, classification: bool) -> str | None:
        return self.classifier if classification else self.regressor

    @property
    def exists(self) -> bool:
        """Whether this version of hedgerow has it."""
        return any(name is not None and _public(name) is not None for name in (self.classifier, self.regressor))


_SEED = {"random_state": 0}

MODELS: dict[str, Model] = {
    "tree": Model("one readable tree", "TreeClassifier", "TreeRegressor"),
    "forest": Model("a random forest", "ForestClassifier", "ForestRegressor", _SEED),
    "random-trees": Model("random decision trees, combined as evidence", "RandomTreesClassifier", None, _SEED),
    # The default of the class, belief, decides nearly every row as long as s is small.
    "cautious": Model(
        "a forest that answers with sets of classes",
        "CautiousForestClassifier",
        None,
        {"aggregate": "average", **_SEED},
    ),
}


def model_names() -> list[str]:
    """The models that this version has."""
    return [name for name, model in MODELS.items() if model.exists]


def make_model(name: str, classification: bool, settings: Mapping[str, Any], n_jobs: int | None = -1) -> Any:
    """An unfitted model with its settings, or an error that says what there is."""
    if name not in MODELS or not MODELS[name].exists:
        raise UsageError(f"--model is {name!r}, this version has {', '.join(model_names())}")
    entry = MODELS[name]
    public = entry.factory(classification)
    task = "classes" if classification else "numbers"
    if public is None:
        able = [other for other in model_names() if MODELS[other].factory(classification)]
        raise CommandError(f"model {name} does not predict {task}; {', '.join(able)} do")
    model = _public(public)()
    known = model.get_params()
    for parameter in settings:
        if parameter not in known:
            raise UsageError(
                f"--set names {parameter!r}, which {public} does not have; {nearest(parameter, known, 30)}"
            )
    threads = {"n_jobs": n_jobs} if "n_jobs" in known else {}
    return model.set_params(**{**threads, **entry.settings, **settings})


def _public(name: str) -> Any:
    """A public name such as TreeClassifier or TreeClassifier.cart; None if there is no such."""
    found: Any = hedgerow
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def parse_settings(given: Sequence[str]) -> dict[str, Any]:
    """``--set max_depth=3 --set rule=vote``: values are Python's, and else text."""
    settings = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals or not name.strip():
            raise UsageError(f"--set is {one!r}, must be name=value, such as max_depth=3")
        settings[name.strip()] = _value(value.strip())
    return settings


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
