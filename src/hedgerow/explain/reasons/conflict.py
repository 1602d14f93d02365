"""Conflict: trees are sure of different answers."""

from __future__ import annotations

from dataclasses import dataclass

from hedgerow._arrays import Floats
from hedgerow._printable import printable
from hedgerow.explain.reasons.levels import Levels
from hedgerow.explain.reasons.reason import Described, RowFacts, number
from hedgerow.explain.sentences import listed

__all__ = ["Conflict"]


@dataclass(frozen=True)
class Conflict:
    """Doubt that goes if it is known which tree is right."""

    name = "conflict"

    def part(self, levels: Levels) -> Floats:
        return levels.step(levels.away, levels.agreed)

    def describe(self, facts: RowFacts) -> Described:
        remedy = "A column that tells such rows apart would help, or a change of the row (counterfactual)"
        if not facts.of_classes:
            low, high = facts.trees or (0.0, 0.0)
            text = f"trees say from {number(low)} to {number(high)}, ± {number(facts.part**0.5)} between them"
            return Described(text, remedy, None, {"lowest": low, "highest": high, "deviation": facts.part**0.5})
        some = sorted(((bel, label) for label, bel in facts.sure.items() if bel > 0), key=lambda pair: -pair[0])
        said = [f"{bel:.0%} of {printable(label)}" for bel, label in some]
        text = "trees lean to different classes"
        if said:
            text = "trees are sure of different classes: by weight " + listed(said)
        return Described(text, remedy, None, {"belief": dict(facts.sure)})
