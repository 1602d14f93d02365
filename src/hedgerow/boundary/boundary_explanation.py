"""Explanations of boundary classifiers: the tree's own explanation, the distances and the separator.

``str`` of an explanation is a text for people; its fields are for programs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow._printable import printable
from hedgerow.boundary.decision_boundary import Separators
from hedgerow.data.table import Schema
from hedgerow.explain.explained import Explained
from hedgerow.forest.names import highest_level, number_text

if TYPE_CHECKING:
    from hedgerow.explain.records import ClassExplanation

__all__ = ["BoundaryExplanation", "separator_texts"]


@dataclass(frozen=True)
class BoundaryExplanation(Explained):
    """Explanation of one prediction of a boundary classifier.

    `tree` is the explanation of the tree alone. `distances` are those to the region of each class, negative inside it
    (definitions 1 and 2 of Alvarez, Bernard and Deffuant, 2007), and `separator` is the split that the row would have
    to cross to change the tree's prediction; None if there is none. `probabilities` are the answer, in which the
    boundary's estimate has the weight `boundary_weight`, and the tree's own probability the rest.
    """

    answer: Any
    classes: tuple[Any, ...]
    probabilities: tuple[float, ...]
    distances: tuple[float, ...]
    separator: str | None
    tree: ClassExplanation
    boundary_weight: float = 1.0

    @property
    def doubt(self) -> str:
        """Reasons for doubt about the answer of the tree, as text."""
        return self.tree.doubt

    def __str__(self) -> str:
        lines = str(self.tree).splitlines()
        if self.answer != self.tree.answer:
            lines[0] = f"{printable(self.answer)} by its distance to the boundary, though the tree says {lines[0]}"
        far = [
            f"{printable(name)} {distance + 0.0:.3g}"  # not -0
            for name, distance in zip(self.classes, self.distances, strict=True)
            if np.isfinite(distance)
        ]
        if self.separator is not None:
            lines.append(f"Distance to the area of: {', '.join(far)}; the boundary is {self.separator}.")
        pairs = sorted(zip(self.probabilities, self.classes, strict=True), key=lambda pair: -pair[0])
        by = "distance" if self.boundary_weight == 1 else f"leaf and distance ({self.boundary_weight:.0%} distance)"
        lines.append(f"Probabilities by {by}: " + ", ".join(f"{printable(name)} {p:.3g}" for p, name in pairs) + ".")
        return "\n".join(lines)


def separator_texts(separators: Separators, schema: Schema) -> list[str | None]:
    """Describe the separator of each row in words."""
    return [
        _separator_text(schema, feature, threshold)
        for feature, threshold in zip(separators.feature.tolist(), separators.threshold.tolist(), strict=True)
    ]


def _separator_text(schema: Schema, feature: int, threshold: float) -> str | None:
    if feature == -1:
        return None
    if feature == -2:
        return "an oblique split"
    column = schema.columns[feature]
    name = printable(column.name)
    if np.isnan(threshold):
        return f"another {name}"
    level = highest_level(column.categories[:-1], threshold)
    if level is None:
        return f"{name} at {number_text(threshold)}"
    below, above = map(printable, column.categories[level : level + 2])
    return f"{name} between {below} and {above}"
