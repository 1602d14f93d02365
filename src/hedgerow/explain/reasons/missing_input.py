"""Missing input: the row is spread over leaves that differ, because values are missing."""

from __future__ import annotations

from dataclasses import dataclass

from hedgerow._arrays import Floats
from hedgerow._printable import printable
from hedgerow.explain.reasons.levels import Levels
from hedgerow.explain.reasons.reason import Described, MissingColumn, RowFacts
from hedgerow.explain.sentences import listed

__all__ = ["MissingInput"]


@dataclass(frozen=True)
class MissingInput:
    """Doubt that goes if it is known which of its leaves the row belongs to."""

    name = "missing input"

    def part(self, levels: Levels) -> Floats:
        return levels.step(levels.exact, levels.complete)

    def describe(self, facts: RowFacts) -> Described:
        names = [printable(one.column) for one in facts.missing]
        text = f"{listed(names)} missing or new, which leaves of its trees depend on" if names else "it is spread"
        known = {"columns": [_as_dict(one) for one in facts.missing]}
        if not facts.missing:
            return Described(text, "Its value would help", None, known)
        best = facts.missing[0]
        if best.decides is None:
            return Described(text, f"Measure {printable(best.column)} first", None, known)
        certain = [one for one in facts.missing if one.decides == 1.0]
        if certain:
            column = printable(certain[0].column)
            return Described(text, f"{column} alone decides: {_values(certain[0])}", True, known)
        likely = max(facts.missing, key=lambda one: one.decides or 0.0)
        if not likely.decides:
            return Described(text, f"No single column decides; measure {printable(best.column)} first", False, known)
        said = f"{printable(likely.column)} decides with probability {likely.decides:.2f}: {_values(likely)}"
        return Described(text, said, False, known)


def _values(column: MissingColumn) -> str:
    single = sorted((one for one in column.values if one.single), key=lambda one: -one.probability)
    return listed([f"{printable(one.answer[0])} if {one.values} ({one.probability:.0%})" for one in single], at_most=4)


def _as_dict(column: MissingColumn) -> dict[str, object]:
    return {**column._asdict(), "values": [one._asdict() for one in column.values]}
