"""Few cases: leaves have so few training rows that any of them might have turned out otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hedgerow._arrays import Floats
from hedgerow.explain.reasons.levels import Levels
from hedgerow.explain.reasons.reason import Described, RowFacts, number

__all__ = ["FewCases"]


@dataclass(frozen=True)
class FewCases:
    """Doubt that goes if leaves have as many rows as one likes, with the same frequencies."""

    name = "few cases"

    def part(self, levels: Levels) -> Floats:
        return levels.step(levels.complete, levels.counted)

    def describe(self, facts: RowFacts) -> Described:
        rows = "row" if number(facts.n_rows) == "1" else "rows"
        text = f"its leaves have {number(facts.n_rows)} training {rows} on average"
        known: dict[str, Any] = {"rows_in_leaf": facts.n_rows, "training_rows": facts.n_training}
        if not facts.sets:
            by = number(facts.part) if facts.of_classes else f"± {number(facts.part**0.5)}"
            return Described(text, f"Many more rows like these would lower the doubt by {by}", None, known)
        known |= {"factor": facts.factor}
        if facts.factor is None:
            return Described(text, "Ten times as many rows like these would not decide it", False, known)
        needed = facts.factor * facts.n_training
        known |= {"training_rows_needed": needed}
        times = "twice" if facts.factor == 2 else f"{facts.factor} times"
        remedy = (
            f"With {times} as many rows like these ({number(needed)} instead of {number(facts.n_training)} in training)"
            " the answer would be single"
        )
        return Described(text, remedy, True, known)
