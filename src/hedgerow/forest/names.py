"""Names of columns, categories and classes, and numbers as text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow._printable import printable

if TYPE_CHECKING:
    from hedgerow.forest.forest import Forest

__all__ = ["Names", "highest_level", "number_text"]


@dataclass(frozen=True)
class Names:
    """Names for the numbers of a forest."""

    features: tuple[str, ...]
    classes: tuple[str, ...]
    categories: tuple[tuple[str, ...], ...]  # per feature; empty where it has none

    @classmethod
    def of(
        cls,
        forest: Forest,
        features: Sequence[str] | None,
        classes: Sequence[Any] | None,
        categories: Sequence[Sequence[Any]] | None,
    ) -> Names:
        """Given names, checked against the forest; x0, x1, … and codes where there are none."""
        n_classes = 0 if forest.leaf_counts is None else forest.n_classes
        for parameter, given, n in (
            ("feature_names", features, forest.n_features),
            ("class_names", classes, n_classes),
            ("categories", categories, forest.n_features),
        ):
            if given is not None and len(given) != n:
                raise ValueError(f"{parameter} has {len(given)} entries, this forest needs {n}")
        return cls(
            tuple(map(printable, features if features is not None else (f"x{i}" for i in range(forest.n_features)))),
            tuple(map(printable, classes if classes is not None else (f"class {i}" for i in range(n_classes)))),
            tuple(
                tuple(map(printable, known))
                for known in (categories if categories is not None else ((),) * forest.n_features)
            ),
        )

    def category(self, feature: int, code: int) -> str:
        known = self.categories[feature]
        return known[code] if code < len(known) else str(code)


def highest_level(categories: Sequence[Any], threshold: float) -> int | None:
    """Code of the last category at or below a threshold between codes; None if there is none."""
    return int(np.floor(threshold)) if categories and 0 <= threshold < len(categories) else None


def number_text(x: float) -> str:
    """Whole numbers in full, others with six significant digits."""
    return str(int(x)) if x == np.floor(x) and abs(x) < 1e15 else f"{x:.6g}"
