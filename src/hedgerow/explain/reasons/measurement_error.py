"""Measurement error: the latent values may be in regions that differ."""

from __future__ import annotations

from dataclasses import dataclass

from hedgerow._arrays import Floats
from hedgerow._printable import printable
from hedgerow.explain.reasons.levels import Levels
from hedgerow.explain.reasons.reason import Described, RowFacts
from hedgerow.explain.sentences import listed

__all__ = ["MeasurementError"]


@dataclass(frozen=True)
class MeasurementError:
    """Doubt that goes if values were measured without error."""

    name = "measurement error"

    def part(self, levels: Levels) -> Floats:
        return levels.step(levels.agreed, levels.exact)

    def describe(self, facts: RowFacts) -> Described:
        total = sum(facts.error_costs.values())
        some = [(name, cost) for name, cost in facts.error_costs.items() if cost > 0]
        known = {"cost_of_column": dict(facts.error_costs)}
        if not some:
            return Described("its values may lie in several regions", "Measure it more exactly", None, known)
        said = [f"{printable(name)} {cost / total:.0%}" for name, cost in some]
        text = f"its values may lie in several regions; of the cost of errors {listed(said)}"
        return Described(text, f"Measure {printable(some[0][0])} more exactly", None, known)
