"""Explanations of sums of many soft trees: what they add up to, and what the error of each column hides."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._printable import printable
from hedgerow.data.table import Schema
from hedgerow.explain.explained import Explained
from hedgerow.explain.reasons.reason import MissingColumn
from hedgerow.explain.sentences import listed
from hedgerow.forest.text import number_text
from hedgerow.measured.explain.possible_regions import measured_text
from hedgerow.measured.laws.column_laws import CategoryLaw
from hedgerow.measured.laws.joint_law import JointLaw
from hedgerow.measured.many_trees.latent import Landmarks

__all__ = ["SumExplanation", "facts_of_errors", "hidden_by_errors", "pieces_of_columns"]

Floats = NDArray[np.float64]

_LEAST_MASS = 1e-4  # of a piece of a column that is asked about
_LEAST_SHARE = 0.005  # anything less is shown as 0 %


@dataclass(frozen=True)
class SumExplanation(Explained):
    """Explanation of one answer of a boosted model.

    `start` is the answer without trees (of a classifier the logits), `added` what the trees add to it. `measured` has
    the row's values with their errors. `hidden` has, by column, the standard deviation of what the answer (of a
    classifier, the probability of the answered class) would be if that value were known exactly; columns that the trees
    do not split, and exact ones, are left out.
    """

    answer: Any
    start: tuple[float, ...]
    added: tuple[float, ...]
    n_trees: int
    measured: tuple[str, ...]
    hidden: dict[str, float]
    classes: tuple[Any, ...] | None
    probabilities: tuple[float, ...] | None

    @property
    def doubt(self) -> str:
        """Text about what the errors hide, the largest first."""
        is_class = self.classes is not None
        least = _LEAST_SHARE if is_class else 0.0
        found = [
            f"{printable(name)} by ± {f'{size:.2f}' if is_class else number_text(size)}"
            for name, size in sorted(self.hidden.items(), key=lambda pair: -pair[1])
            if size > least
        ]
        if not found:
            return "none from the errors of its values"
        moved = "the probability" if is_class else "the answer"
        return f"exact values would move {moved}: {listed(found)}"

    def __str__(self) -> str:
        if self.classes is None or self.probabilities is None:
            total = number_text(self.answer)
            begin, more = number_text(self.start[0]), number_text(self.added[0])
            lines = [f"{total}: it starts at {begin}, and {self.n_trees} trees add {more}."]
        else:
            lines = [f"{printable(self.answer)}: {self.n_trees} trees add up to logits."]
            order = np.argsort(-np.array(self.probabilities), kind="stable").tolist()
            shown = [f"{printable(self.classes[k])} {self.probabilities[k]:.3g}" for k in order]
            lines.append(f"Probabilities: {listed(shown)}.")
        if self.measured:
            lines.append(f"Measured: {listed(list(self.measured))}.")
        return "\n".join([*lines, f"Doubt: {self.doubt}."])


def hidden_by_errors(
    marks: Landmarks,
    joint: JointLaw,
    schema: Schema,
    row: Floats,
    cells: Floats,
    ask: Callable[[Floats, Floats], Floats],
) -> tuple[dict[str, float], tuple[str, ...]]:
    """√Var(E[answer | x, U_j] | x) of each column j that is not exact, by name; and the values with their errors.

    `ask` answers rows with errors of these sizes. Between two neighbouring thresholds the answer is the same, so that
    one value of each piece is asked about, and weighted with the law's probability of the piece.
    """
    pieces = pieces_of_columns(marks, joint, row, cells)
    rows, errors = [], []
    for j, (values, _) in pieces.items():
        known, exact = joint.reveal(row, cells, j, values)
        rows.append(known)
        errors.append(exact)
    answers = ask(np.concatenate(rows), np.concatenate(errors)) if rows else np.empty(0)
    hidden: dict[str, float] = {}
    at = 0
    for j, (values, masses) in pieces.items():
        part = answers[at : at + len(values)]
        at += len(values)
        hidden[schema.names[j]] = float(np.sqrt(masses @ (part - masses @ part) ** 2))
    split = _split_columns(marks)
    texts = tuple(measured_text(schema.columns[j], float(row[j]), float(cells[j])) for j in split)
    return hidden, texts


def pieces_of_columns(
    marks: Landmarks, joint: JointLaw, row: Floats, cells: Floats
) -> dict[int, tuple[Floats, Floats]]:
    """Values that each column that is not exact may have, one for each piece, and their probabilities."""
    (row,), (sigma,) = joint.marginal(row[np.newaxis], cells[np.newaxis])
    return {j: _pieces(marks, j, row, sigma) for j in _split_columns(marks) if sigma[j] > 0 or np.isnan(row[j])}


def _split_columns(marks: Landmarks) -> list[int]:
    return np.flatnonzero(np.diff(marks.start)).tolist()


def facts_of_errors(hidden: Mapping[str, float], missing: Collection[str]) -> dict[str, Any]:
    """Facts about measurement errors and missing columns for reasons, by field of `RowFacts`.

    `hidden` has the standard deviation that each column hides of the answer.
    """
    variances = sorted(((name, size**2) for name, size in hidden.items()), key=lambda pair: -pair[1])
    return {
        "error_costs": {name: cost for name, cost in variances if name not in missing},
        "missing": tuple(MissingColumn(name, cost, None, ()) for name, cost in variances if name in missing),
    }


def _pieces(marks: Landmarks, j: int, row: Floats, sigma: Floats) -> tuple[Floats, Floats]:
    """A value of each piece between thresholds, or each category, and their probabilities."""
    numbers = marks.read_column(j, row[j : j + 1], sigma[j : j + 1])[0]
    at = marks.thresholds[j]
    if isinstance(marks.laws[j], CategoryLaw):
        values, masses = at, numbers
    else:
        values = np.append(at, np.nextafter(at[-1], np.inf))
        masses = np.diff(numbers, prepend=0.0, append=1.0)
    likely = masses >= _LEAST_MASS
    return values[likely], masses[likely] / masses[likely].sum()
