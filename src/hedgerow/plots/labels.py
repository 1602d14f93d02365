"""Text in pictures: names given by users, and names of rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from hedgerow._printable import printable
from hedgerow.drawing.text_size import fit
from hedgerow.rules import Rule

__all__ = ["legend_label", "literal_label", "rule_labels", "short_label"]

_WIDEST = 20.0  # of the name of a column beside its bar, in parts of the font's size


def literal_label(name: Any) -> str:
    """Escape a name so that matplotlib draws it literally: no mathematics between dollar signs, no control characters.

    >>> print(literal_label("cost [$] of $x$"))
    cost [\\$] of \\$x\\$
    """
    return printable(name).replace("$", r"\$")


def legend_label(name: Any) -> str:
    """Escape a name for a legend, which would omit artists whose label starts with an underscore."""
    label = literal_label(name)
    return f" {label}" if label.startswith("_") else label


def short_label(name: Any, value: str = "") -> str:
    """Name of a column beside its bar, cut where it would take the width of the bars; `value` is appended.

    >>> short_label("concentration of total cholesterol in serum [mg/dl]", " = 212")
    'concentration of total cholesterol i… = 212'
    """
    return literal_label(fit(printable(name), _WIDEST, 1.0) + fit(printable(value), _WIDEST / 2, 1.0))


def rule_labels(rules: Sequence[Rule]) -> list[str]:
    """Name the rules; those that share a name get the parameters that differ from their defaults.

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
