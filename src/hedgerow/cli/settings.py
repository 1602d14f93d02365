"""Settings of a model, as ``--set name=value``: Python literals, strategies with literal arguments, or text."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from hedgerow.cli.errors import UsageError, nearest

__all__ = ["literal_or_text", "parse_settings"]

# Where the strategies of a parameter are, for names that two packages have, such as Laplace.
_PACKAGES = {
    "aggregate": "credal",
    "error_model": "measured",
    "leaf_probability": "probability",
    "loss": "measured",
    "pruning": "pruning",
    "rule": "rules",
}


def parse_settings(given: Sequence[str], model: str) -> dict[str, Any]:
    """Parse ``--set max_depth=3 --set rule=vote --set 'pruning=Pessimistic(confidence=0.1)'``.

    Nothing is evaluated: a call must name a class of hedgerow that model files may hold, with literal arguments. Where
    several packages have a class of that name, one called like the `model` comes first, then that of the parameter.

    >>> parse_settings(["max_depth=3", "rule=vote", "pruning=Pessimistic(confidence=0.1)"], "tree")
    {'max_depth': 3, 'rule': 'vote', 'pruning': Pessimistic(confidence=0.1, raising=True)}
    """
    settings = {}
    for one in given:
        name, equals, value = (part.strip() for part in one.partition("="))
        if not equals or not name:
            raise UsageError(f"--set is {one!r}, must be name=value, such as max_depth=3")
        call = _call(value)
        settings[name] = literal_or_text(value) if call is None else _Strategies(name, model).make(call)
    return settings


def literal_or_text(text: str) -> Any:
    """Read a Python literal, such as 3, None or [1, 2]; anything else is text."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _call(text: str) -> ast.Call | None:
    try:
        node = ast.parse(text, mode="eval").body
    except (ValueError, SyntaxError):
        return None
    return node if isinstance(node, ast.Call) else None


class _Strategies:
    """Makes strategies for one setting, and says which setting is wrong."""

    def __init__(self, setting: str, model: str) -> None:
        self._setting = setting
        self._preferred = (model, _PACKAGES.get(setting.rpartition("__")[2], ""))
        self._known = _registered()

    def make(self, call: ast.Call) -> Any:
        written = ast.unparse(call.func)
        cls = self._class(written)
        if any(isinstance(argument, ast.Starred) for argument in call.args):
            raise self._error(f"{written} takes no *arguments here")
        values = [self._argument(argument) for argument in call.args]
        named = {}
        for keyword in call.keywords:
            if keyword.arg is None:
                raise self._error(f"{written} takes no **arguments here")
            named[keyword.arg] = self._argument(keyword.value)
        try:
            return cls(*values, **named)
        except (TypeError, ValueError) as error:
            raise self._error(f"{ast.unparse(call)} is refused: {error}") from None

    def _argument(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Call):
            return self.make(node)
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError):
            raise self._error(
                f"{ast.unparse(node)!r} is not a literal: arguments are numbers, quoted text, True, False, None, or "
                "lists of them"
            ) from None

    def _class(self, written: str) -> type:
        package, _, name = written.removeprefix("hedgerow.").rpartition(".")
        found = {home: cls for (home, known), cls in self._known.items() if known == name and package in ("", home)}
        if not found:
            names = sorted({known for _, known in self._known})
            raise self._error(f"there is no {written!r}; {nearest(name, names, len(names))}")
        for home in self._preferred:
            if home in found:
                return found[home]
        if len(set(found.values())) > 1:
            choices = " or ".join(f"{home}.{name}" for home in sorted(found))
            raise self._error(f"{written!r} may be {choices}: write one of these")
        return next(iter(found.values()))

    def _error(self, message: str) -> UsageError:
        return UsageError(f"--set {self._setting}: {message}")


def _registered() -> dict[tuple[str, str], type]:
    """Public classes that model files may hold, by package (empty for estimators) and name."""
    import hedgerow.estimators  # noqa: F401 - registers every strategy
    from hedgerow._registry import registrations

    found = {}
    for registered, registration in registrations().items():
        home, _, name = registered.rpartition(".")
        package = home.removeprefix("hedgerow.") if home.startswith("hedgerow.") else None
        if registration.is_model and home == "hedgerow":
            package = ""
        if package is not None and name in import_module(home).__all__:
            found[package, name] = registration.cls
    return found
