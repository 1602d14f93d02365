"""Mixed leaves: similar training rows have different classes, or numbers."""

from __future__ import annotations

from dataclasses import dataclass

from hedgerow._arrays import Floats
from hedgerow._printable import printable
from hedgerow.explain.reasons.levels import Levels
from hedgerow.explain.reasons.reason import Described, RowFacts, number
from hedgerow.explain.sentences import listed
from hedgerow.forest.names import number_text

__all__ = ["MixedLeaves"]


@dataclass(frozen=True)
class MixedLeaves:
    """Doubt that no number of rows takes away: rows in the same leaf differ."""

    name = "mixed leaves"

    def part(self, levels: Levels) -> Floats:
        return levels.step(levels.counted, 0.0)

    def describe(self, facts: RowFacts) -> Described:
        if facts.of_classes:
            text = f"{facts.part:.0%} of the training rows in its leaves are of another class than most there"
        else:
            text = f"the training targets in its leaves differ by ± {number(facts.part**0.5)}"
        known: dict[str, object] = {"other_share" if facts.of_classes else "variance": facts.part}
        if facts.similar is not None:
            known["similar"] = [one._asdict() for one in facts.similar]
            if facts.similar:
                text += f"; the nearest: {listed([_text(one) for one in facts.similar])}"
        return Described(text, "More such rows would not help: a column that tells them apart would", None, known)


def _text(one: object) -> str:
    label = getattr(one, "label", None)
    said = number_text(label) if isinstance(label, float) else printable(label)
    return f"row {getattr(one, 'row', 0)} ({said}, {getattr(one, 'proximity', 0.0):.0%} of leaves shared)"
