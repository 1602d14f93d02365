"""A tree as text that a person can read: one line for each branch, the answer behind a colon at a leaf."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._printable import printable
from hedgerow.forest.kinds import MissingPolicy, NodeKind

if TYPE_CHECKING:
    from hedgerow.forest.forest import Forest

__all__ = [
    *("Names", "branch_members", "highest_level", "linear_form", "number_text", "threshold_branches"),
    "tree_text",
]

_INDENT = "|   "


@dataclass(frozen=True)
class Names:
    """What the numbers of a forest are called."""

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
        """Given names, checked against the forest; x0, x1, … and the codes where there are none."""
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


def threshold_branches(categories: Sequence[str], threshold: float) -> tuple[str, str] | None:
    """What leads to both children of a threshold between ordered categories, behind a column's name; None of numbers.

    >>> threshold_branches(("low", "middle", "high"), 0.5), threshold_branches(("False", "True"), 0.5)
    (('<= low', '> low'), ('= False', '= True'))
    """
    level = highest_level(categories, threshold)
    if level is None:
        return None
    if len(categories) == 2 and level == 0:
        return f"= {categories[0]}", f"= {categories[1]}"
    return f"<= {categories[level]}", f"> {categories[level]}"


def number_text(x: float) -> str:
    """Whole numbers in full, others with six significant digits."""
    return str(int(x)) if x == np.floor(x) and abs(x) < 1e15 else f"{x:.6g}"


def tree_text(
    forest: Forest, tree: int, names: Names, max_depth: int | None, leaf_answers: Sequence[str] | None = None
) -> str:
    """`leaf_answers` take the place of the most frequent class of each leaf of the forest."""
    if not 0 <= tree < forest.n_trees:
        raise ValueError(f"tree is {tree}, this forest has trees 0 .. {forest.n_trees - 1}")
    root = int(forest.tree_start[tree])
    totals = forest.node_counts() if forest.leaf_counts is not None else forest.node_stats()
    if forest.kind[root] == NodeKind.LEAF:
        return _leaf_answer(forest, names, totals, root, leaf_answers)
    if max_depth == 0:
        return _answer(forest, names, totals[root])
    lines = []
    stack = [(root, 0, _branches(forest, root, names))]
    while stack:
        node, depth, branches = stack[-1]
        try:
            number, question = next(branches)
        except StopIteration:
            stack.pop()
            continue
        child = root + int(forest.first_child[node]) + number
        line = _INDENT * depth + question
        if forest.kind[child] == NodeKind.LEAF:
            lines.append(f"{line}: {_leaf_answer(forest, names, totals, child, leaf_answers)}")
        elif max_depth is not None and depth + 1 >= max_depth:
            lines.append(f"{line}: … {_answer(forest, names, totals[child])}")
        else:
            lines.append(line)
            stack.append((child, depth + 1, _branches(forest, child, names)))
    return "\n".join(lines)


def _leaf_answer(
    forest: Forest, names: Names, totals: NDArray[np.float64], leaf: int, answers: Sequence[str] | None
) -> str:
    """An empty branch answers as the nearest node above it that has rows."""
    if answers is not None:
        return f"{answers[int(np.searchsorted(forest.leaf_nodes, leaf))]} ({_counts(names, totals[leaf])})"
    if totals[leaf].any() or forest.leaf_counts is None:
        return _answer(forest, names, totals[leaf])
    node = leaf
    while not totals[node].any() and forest.parent[node] >= 0:
        node = int(forest.parent[node])
    return f"{names.classes[int(np.argmax(totals[node]))]} (no rows)"


def _answer(forest: Forest, names: Names, total: NDArray[np.float64]) -> str:
    if forest.leaf_counts is None:
        weight, mean, squares = total
        with np.errstate(over="ignore"):
            spread = np.sqrt(squares / weight) if weight > 0 else 0.0
        return f"{number_text(mean)} ± {number_text(spread)} (n = {number_text(weight)})"
    return f"{names.classes[int(np.argmax(total))]} ({_counts(names, total)})"


def _counts(names: Names, total: NDArray[np.float64]) -> str:
    counts = ", ".join(f"{name} {number_text(n)}" for name, n in zip(names.classes, total, strict=True) if n > 0)
    return counts or "no rows"


def _branches(forest: Forest, node: int, names: Names) -> Iterator[tuple[int, str]]:
    """Number and question of each child of a node."""
    kind, feature = NodeKind(forest.kind[node]), int(forest.feature[node])
    name = linear_form(forest, node, names) if kind == NodeKind.OBLIQUE else names.features[feature]
    threshold = float(forest.threshold[node])
    if kind == NodeKind.THRESHOLD and threshold == np.inf:
        questions = [f"{name} is known", f"{name} is missing"]
    elif kind in (NodeKind.THRESHOLD, NodeKind.OBLIQUE):
        levels = names.categories[feature] if kind == NodeKind.THRESHOLD else ()
        sides = threshold_branches(levels, threshold) or (f"<= {number_text(threshold)}", f"> {number_text(threshold)}")
        questions = [f"{name} {side}" for side in sides]
    elif kind == NodeKind.ONE_AGAINST_REST:
        category = names.category(feature, int(threshold))
        questions = [f"{name} = {category}", f"{name} != {category}"]
    elif kind == NodeKind.SUBSET:
        members = ", ".join(branch_members(forest, node, names, 0) or [])
        questions = [f"{name} in {{{members}}}", f"{name} not in {{{members}}}"]
    else:
        questions = _multiway_questions(_payload(forest, node), names, feature)
    if forest.missing[node] == MissingPolicy.OWN_BRANCH:
        questions.append(f"{name} is missing")
    return enumerate(questions).__iter__()


def _payload(forest: Forest, node: int) -> NDArray[np.int32]:
    start = forest.payload_start[forest.payload[node] : forest.payload[node] + 2]
    return forest.payload_codes[start[0] : start[1]]


def _set_bits(words: NDArray[np.int32]) -> list[int]:
    return [32 * at + bit for at, word in enumerate(words.tolist()) for bit in range(32) if word >> bit & 1]


def branch_members(forest: Forest, node: int, names: Names, child: int) -> list[str] | None:
    """The categories that lead to a child of a question about them; None: all others."""
    feature, kind = int(forest.feature[node]), NodeKind(forest.kind[node])
    if kind == NodeKind.MULTIWAY:
        return _members(_payload(forest, node), names, feature, child)
    if child > 0:
        return None
    if kind == NodeKind.ONE_AGAINST_REST:
        return [names.category(feature, int(forest.threshold[node]))]
    return [names.category(feature, code) for code in _set_bits(_payload(forest, node))]


def _members(children: NDArray[np.int32], names: Names, feature: int, number: int) -> list[str]:
    return [names.category(feature, int(code)) for code in np.flatnonzero(children == number)]


def _multiway_questions(children: NDArray[np.int32], names: Names, feature: int) -> list[str]:
    name = names.features[feature]
    questions = []
    for number in range(int(children.max()) + 1):
        members = _members(children, names, feature, number)
        questions.append(f"{name} = {members[0]}" if len(members) == 1 else f"{name} in {{{', '.join(members)}}}")
    return questions


def linear_form(forest: Forest, node: int, names: Names) -> str:
    begin, end = forest.payload_start[forest.payload[node] : forest.payload[node] + 2]
    text = ""
    for feature, weight in zip(forest.payload_codes[begin:end], forest.payload_weights[begin:end], strict=True):
        sign = "-" if weight < 0 else "+"
        text += f" {sign} {number_text(abs(weight))}·{names.features[feature]}"
    return text.removeprefix(" + ").replace(" - ", "-", 1) if text.startswith(" - ") else text.removeprefix(" + ")
