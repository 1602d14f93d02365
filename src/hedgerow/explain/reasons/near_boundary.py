"""Near the boundary: the answer depends on the distance to the region of another class, and the row is close to it."""

from __future__ import annotations

from dataclasses import dataclass

from hedgerow._arrays import Floats
from hedgerow.explain.reasons.levels import Levels
from hedgerow.explain.reasons.reason import Described, RowFacts, number

__all__ = ["NearBoundary"]


@dataclass(frozen=True)
class NearBoundary:
    """Doubt that goes if the row is as sure as its leaf is, wherever in it the row is."""

    name = "near the boundary"

    def part(self, levels: Levels) -> Floats:
        return levels.step(levels.inside, levels.away)

    def describe(self, facts: RowFacts) -> Described:
        known = {"separator": facts.separator, "distance": facts.distance, "in_units_of_column": facts.away}
        if facts.separator is None:
            return Described("it is close to another class", "A row further inside would be surer", None, known)
        text = f"the boundary is {facts.separator}"
        if facts.away is not None:
            text = f"it is {number(facts.away)} away from {facts.separator}"
        return Described(text, "A row further away from it would be surer", None, known)
