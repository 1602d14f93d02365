"""What rules are called in a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass

from hedgerow.rules import Rule

__all__ = ["rule_labels"]


def rule_labels(rules: Sequence[Rule]) -> list[str]:
    """The names of the rules; where several have the same, with the settings that are not the usual ones.

    >>> from hedgerow.rules import Evidence, Vote
    >>> rule_labels([Vote(), Evidence(), Evidence(correction=1.0)])
    ['vote', 'evidence', 'evidence, correction=1.0']
    """
    names = [rule.name for rule in rules]
    return [rule.name if names.count(rule.name) == 1 else ", ".join([rule.name, *_changed(rule)]) for rule in rules]


def _changed(rule: Rule) -> list[str]:
    if not is_dataclass(rule):
        return []
    settings = ((field, getattr(rule, field.name)) for field in fields(rule))
    return [f"{field.name}={value!r}" for field, value in settings if value != field.default]
