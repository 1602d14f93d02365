"""Unlike the training data: outside of its range, or in leaves that no training row reached."""

from __future__ import annotations

from dataclasses import dataclass

from hedgerow._arrays import Floats
from hedgerow._printable import printable
from hedgerow.explain.reasons.levels import Levels
from hedgerow.explain.reasons.reason import Described, Outside, RowFacts
from hedgerow.explain.sentences import listed
from hedgerow.forest.names import number_text

__all__ = ["UnlikeTraining"]


@dataclass(frozen=True)
class UnlikeTraining:
    """Doubt that goes if the row is within the range of the training data, and every leaf has rows."""

    name = "unlike the training data"

    def part(self, levels: Levels) -> Floats:
        return levels.step(levels.now, levels.inside)

    def describe(self, facts: RowFacts) -> Described:
        said = [_text(one) for one in facts.outside]
        if facts.empty > 0:
            columns = [printable(name) for name in facts.empty_columns]
            by = f", by their splits on {listed(columns)}" if columns else ""
            said.append(f"{facts.empty:.0%} of its trees lead to leaves without training rows{by}")
        known = {
            "outside": [one._asdict() for one in facts.outside],
            "empty_leaves": facts.empty,
            "empty_by_column": dict(facts.empty_columns),
        }
        text = "; ".join(said) or "it is unlike all calibration rows"
        return Described(text, "Check its values, or train with rows like it", None, known)


def _text(one: Outside) -> str:
    side, bound = ("below", one.low) if one.value < one.low else ("above", one.high)
    return f"{printable(one.column)} {number_text(one.value)} is {side} the training range, {number_text(bound)}"
