"""The one reader of nodes in Python: what an inner node tests, which child a value takes, and its text.

``core/forest/splits.hpp`` is its counterpart in the core; both take the same branches.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._arrays import Floats
from hedgerow._lazy import lazy
from hedgerow.forest.kinds import NO_CHILD, MissingPolicy, NodeKind
from hedgerow.forest.names import Names, highest_level, number_text

if TYPE_CHECKING:
    from hedgerow.forest.forest import Forest

__all__ = ["NOMINAL", "Split", "restore_missing", "splits_by_kind"]

NOMINAL = (NodeKind.ONE_AGAINST_REST, NodeKind.SUBSET, NodeKind.MULTIWAY)
_WORD = 32  # categories per entry of a subset's payload
_DOWN = 2.0**-40  # scales weights whose sum overflows


@dataclass(frozen=True, eq=False)
class Split:
    """An inner node of a forest. Children are numbered from 0 within the node."""

    forest: Forest
    node: int

    # -- what it tests

    @lazy
    def kind(self) -> NodeKind:
        return NodeKind(self.forest.kind[self.node])

    @property
    def is_nominal(self) -> bool:
        return self.kind in NOMINAL

    @property
    def feature(self) -> int:
        """The column that is tested; negative for oblique splits."""
        return int(self.forest.feature[self.node])

    @property
    def features(self) -> NDArray[np.int32]:
        """All columns that are tested."""
        return self.codes if self.kind == NodeKind.OBLIQUE else self.forest.feature[self.node : self.node + 1]

    @property
    def threshold(self) -> float:
        return float(self.forest.threshold[self.node])

    @property
    def tests_presence(self) -> bool:
        """Whether it tests only whether the value is known."""
        return self.kind == NodeKind.THRESHOLD and self.threshold == np.inf

    @property
    def missing(self) -> MissingPolicy:
        return MissingPolicy(self.forest.missing[self.node])

    @lazy
    def codes(self) -> NDArray[np.int32]:
        """Its part of `payload_codes`."""
        return self.forest.payload_codes[self._payload]

    @property
    def weights(self) -> Floats:
        """Weight of each of the `features` of an oblique split."""
        return self.forest.payload_weights[self._payload]

    @property
    def means(self) -> Floats | None:
        """Substitute for a missing value of each of the `features` of an oblique split; NaN and None: none."""
        if self.forest.payload_means is None or self.kind != NodeKind.OBLIQUE:
            return None
        return self.forest.payload_means[self._payload]

    @property
    def _payload(self) -> slice:
        begin, end = self.forest.payload_start[self.forest.payload[self.node] :][:2]
        return slice(int(begin), int(end))

    def normal(self) -> Floats:
        """w of the test w·x ≤ threshold, with an entry for every column."""
        w = np.zeros(self.forest.n_features)
        w[self.features] = self.weights if self.kind == NodeKind.OBLIQUE else 1.0
        return w

    # -- which child a value takes

    @property
    def children(self) -> range:
        """Its children, as positions in the arrays of the forest."""
        first = int(self.forest.root[self.node] + self.forest.first_child[self.node])
        return range(first, first + int(self.forest.n_children[self.node]))

    def value(self, row: Floats) -> float:
        """The number that is tested; NaN if it is missing."""
        if self.kind != NodeKind.OBLIQUE:
            return float(row[self.feature])
        values, means = row[self.codes], self.means
        if means is not None and not np.isnan(values).all():
            values = np.where(np.isnan(values), means, values)
        total = 0.0
        for weight, x in zip(self.weights.tolist(), values.tolist(), strict=True):  # in the order of the core
            total += weight * x
        return total

    def child_of(self, value: float) -> int | None:
        """Number of the child that a value takes; None if it is missing, or a category without a branch."""
        if math.isnan(value):
            return None
        if self.kind == NodeKind.ONE_AGAINST_REST:
            return int(value != self.threshold)
        if not self.is_nominal:
            return int(not value <= self.threshold)
        per_entry = _WORD if self.kind == NodeKind.SUBSET else 1
        if not 0 <= value < per_entry * len(self.codes) or value != int(value):
            return None
        code = int(value)
        if self.kind == NodeKind.SUBSET:
            return 1 - (int(self.codes[code // _WORD]) >> code % _WORD & 1)
        child = int(self.codes[code])
        return None if child == NO_CHILD else child

    def children_without_value(self) -> list[int]:
        """Children that take rows for which :meth:`child_of` is None, as positions in the arrays of the forest."""
        children = self.children
        if self.missing == MissingPolicy.SPREAD:
            return list(children)
        return [children[0 if self.missing == MissingPolicy.FIRST_CHILD else -1]]

    def is_missing_branch(self, child: int) -> bool:
        """Whether a child takes only missing values."""
        own = self.missing == MissingPolicy.OWN_BRANCH and child == len(self.children) - 1
        return own or (self.tests_presence and child == 1)

    def spread_share(self, child: int) -> float:
        """Fraction of a spread row that takes a child, to the last bit as the core has it."""
        weights = self.forest.weight[self.children.start : self.children.stop]
        total = float(np.add.accumulate(weights)[-1])  # one after the other: NumPy's sum adds in pairs
        if total == np.inf:
            weights = weights * _DOWN
            total = float(np.add.accumulate(weights)[-1])
        return float(weights[child]) / total if total > 0 else 1 / len(weights)

    # -- which values lead to a child

    @property
    def n_codes(self) -> int:
        """Number of category codes that it distinguishes."""
        if self.kind == NodeKind.ONE_AGAINST_REST:
            return int(self.threshold) + 2
        return len(self.codes) * (_WORD if self.kind == NodeKind.SUBSET else 1)

    def child_of_codes(self, n_categories: int) -> NDArray[np.int64]:
        """Number of the child that each of the category codes 0 .. n_categories - 1 takes; -1 for none."""
        if self.kind == NodeKind.ONE_AGAINST_REST:
            return np.where(np.arange(n_categories) == self.threshold, 0, 1)
        taken: NDArray[Any] = self.codes
        if self.kind == NodeKind.SUBSET:
            taken = 1 - np.unpackbits(self.codes.astype("<i4").view(np.uint8), bitorder="little").astype(np.int64)
        children = np.full(n_categories, NO_CHILD, dtype=np.int64)
        children[: len(taken)] = taken[:n_categories]
        return children

    def codes_to(self, child: int, n_categories: int = 0) -> list[int]:
        """Category codes below `n_categories` that lead to a child; 0: below :attr:`n_codes`."""
        return np.flatnonzero(self.child_of_codes(n_categories or self.n_codes) == child).tolist()

    def categories_to(self, child: int, names: Names) -> list[str] | None:
        """Names of the categories that lead to a child; None: all that lead to no other."""
        if child > 0 and self.kind != NodeKind.MULTIWAY:
            return None
        return [names.category(self.feature, code) for code in self.codes_to(child)]

    def levels(self, names: Names) -> tuple[str, ...]:
        """Ordered categories that a threshold divides; empty where it divides numbers."""
        return names.categories[self.feature] if self.kind == NodeKind.THRESHOLD else ()

    def level(self, names: Names) -> int | None:
        """Code of the last ordered category at or below the threshold."""
        return highest_level(self.levels(names), self.threshold)

    # -- text

    def subject(self, names: Names) -> str:
        """Name of the tested column, or the linear form: ``0.5·x0 - 2·x1``."""
        if self.kind != NodeKind.OBLIQUE:
            return names.features[self.feature]
        text = ""
        for feature, weight in zip(self.codes, self.weights, strict=True):
            factor = "" if abs(weight) == 1 else f"{number_text(abs(weight))}·"
            text += f" {'-' if weight < 0 else '+'} {factor}{names.features[feature]}"
        return text.replace(" - ", "-", 1) if text.startswith(" - ") else text.removeprefix(" + ")

    def branch_texts(self, names: Names) -> list[str]:
        """Condition of each child: ``age <= 30``, ``colour in {red, blue}``, ``age is missing``."""
        subject = self.subject(names)
        return [f"{subject} {condition}" for condition in self.conditions(names)]

    def conditions(self, names: Names) -> list[str]:
        """Condition of each child without its subject: ``<= 30``, ``in {red, blue}``, ``is missing``."""
        own = ["is missing"] if self.missing == MissingPolicy.OWN_BRANCH else []
        return [*self._of_values(names), *own]

    def _of_values(self, names: Names) -> list[str]:
        if self.tests_presence:
            return ["is known", "is missing"]
        if not self.is_nominal:
            return self._sides(names)
        named = [self.categories_to(child, names) for child in range(len(self.children))]
        if self.kind == NodeKind.MULTIWAY:
            return [f"= {few[0]}" if len(few) == 1 else f"in {{{', '.join(few)}}}" for few in named if few]
        members = ", ".join(named[0] or [])
        if self.kind == NodeKind.ONE_AGAINST_REST:
            return [f"= {members}", f"!= {members}"]
        return [f"in {{{members}}}", f"not in {{{members}}}"]

    def _sides(self, names: Names) -> list[str]:
        levels, level = self.levels(names), self.level(names)
        if level is None:
            at = number_text(self.threshold)
        elif level == 0 and len(levels) == 2:
            return [f"= {one}" for one in levels]
        else:
            at = levels[level]
        return [f"<= {at}", f"> {at}"]


# --- Many splits at once ----------------------------------------------------------------------------------------


def splits_by_kind(forest: Forest) -> dict[NodeKind, tuple[NDArray[np.intp], NDArray[np.int32]]]:
    """Inner nodes of each kind that occurs, and the column that each of them tests (negative for oblique splits)."""
    nodes_of = {kind: np.flatnonzero(forest.kind == kind) for kind in NodeKind if kind != NodeKind.LEAF}
    return {kind: (nodes, forest.feature[nodes]) for kind, nodes in nodes_of.items() if len(nodes)}


def restore_missing(forest: Forest, largest: Floats, code: NDArray[np.int64]) -> Forest:
    """Convert splits on imputed values, of a forest grown from them, to splits that route missing values.

    A missing number of column j was imputed by one above ``largest[j]``, a missing category by ``code[j]``, the last
    of the column. Columns without missing values have NaN and -1.
    """
    feature = np.maximum(forest.feature, 0)
    numeric = (forest.kind == NodeKind.THRESHOLD) & ~np.isnan(largest[feature])
    # Only a missing value exceeds the largest known one: the split tests whether the value is known.
    presence = numeric & (forest.threshold >= np.where(numeric, largest[feature], np.inf))
    threshold = np.where(presence, np.inf, forest.threshold)
    missing = np.where(numeric, MissingPolicy.LAST_CHILD, forest.missing).astype(np.uint8)
    multiway = np.flatnonzero((forest.kind == NodeKind.MULTIWAY) & (code[feature] >= 0))
    if not len(multiway):
        return replace(forest, threshold=threshold, missing=missing)
    payload = forest.payload[multiway]
    last = forest.payload_start[payload + 1] - 1  # entry of the code of missing; its child is the last too
    missing[multiway[forest.payload_codes[last] != NO_CHILD]] = MissingPolicy.OWN_BRANCH
    n_codes = np.diff(forest.payload_start)
    n_codes[payload] -= 1
    return replace(
        forest,
        threshold=threshold,
        missing=missing,
        payload_start=np.concatenate([[0], np.cumsum(n_codes)]).astype(np.int64),
        payload_codes=np.delete(forest.payload_codes, last),
    )
