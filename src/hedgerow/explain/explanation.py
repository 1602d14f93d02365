"""Explanations of single rows: the path down a tree, or the vote of several trees, and reasons for doubt.

``str`` of an explanation is a text for people; its fields are for programs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hedgerow._printable import printable
from hedgerow.data.table import Schema
from hedgerow.explain.reached_leaves import (
    ClassLeaf,
    NumberLeaf,
    class_leaves,
    class_mixture_lines,
    counts_text,
    heaviest_leaf,
    number_leaves,
    number_mixture_lines,
)
from hedgerow.explain.sentences import listed, path_sentences
from hedgerow.forest.forest import Forest
from hedgerow.forest.kinds import NodeKind
from hedgerow.forest.names import number_text
from hedgerow.forest.splits import Split
from hedgerow.walk import ForestWalk, Walk, route

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["ClassExplanation", "NumberExplanation", "explain_classes", "explain_numbers"]

Floats = NDArray[np.float64]
LeafProbabilities = Callable[[Floats, NDArray[np.int64]], Floats]
"""Probabilities (n, n_classes) of rows (n, n_features) in the leaf whose number is given for each."""

_FEW_ROWS = 10
_MOST_CLASSES = 6  # that a text names


@dataclass(frozen=True)
class RowPaths:
    """Paths of a row down the trees."""

    path: tuple[str, ...]
    """Splits of a single tree, as sentences; empty for several trees."""
    leaves: NDArray[np.int64]
    """Numbers of the leaves of a single tree that the row reaches; several where a value is missing."""
    weights: Floats
    """Weight with which it reaches each of them."""
    columns: dict[str, float]
    """Share of each column in the splits on the paths of all trees; the largest first."""
    missing: tuple[str, ...]
    """Columns whose value is missing, or is a category that was not seen in `fit`."""


@dataclass(frozen=True)
class ClassExplanation:
    """Explanation of a classifier's answer for one row.

    For a single tree `leaves` are those that it reaches: one, or several with weights where a value is missing; `path`
    leads to the heaviest, and `counts` are the weighted mean of their class counts. For several trees `leaves` is
    empty, `counts` are the mean of their leaves', `votes` how many trees have most rows of each class in their leaf,
    and `dissenters` the numbers of the trees whose vote is not `answer`. `bounds` (lower and upper for each class) and
    `set` are None where the model has none. A leaf without rows votes as the node above it. `doubt` is empty where
    there is no reason for any.
    """

    answer: Any
    classes: tuple[Any, ...]
    probabilities: tuple[float, ...]
    counts: tuple[float, ...]
    votes: tuple[int, ...]
    dissenters: tuple[int, ...]
    path: tuple[str, ...]
    leaves: tuple[ClassLeaf, ...]
    columns: dict[str, float]
    bounds: tuple[tuple[float, float], ...] | None
    set: tuple[Any, ...] | None
    doubt: str

    def __str__(self) -> str:
        n_trees = sum(self.votes)
        lines = _path_lines(self.answer, self.path) if n_trees == 1 else self._vote_lines(n_trees)
        if len(self.leaves) == 1:
            lines.append(f"Training rows in its leaf: {counts_text(self.classes, self.counts)}.")
        elif self.leaves:
            code = self.classes.index(self.answer)
            lines += [_mixture_title(self.leaves), *class_mixture_lines(self.leaves, self.classes, code)]
        lines.append(self._probability_line() if self.bounds is None else _bounds_line(self.classes, self.bounds))
        if self.set is not None:
            lines.append(f"Cannot be ruled out: {listed(list(map(printable, self.set)))}.")
        return "\n".join([*lines, *self._agreement_lines(n_trees), *_doubt_lines(self.doubt)])

    def _agreement_lines(self, n_trees: int) -> list[str]:
        """Sentence for an answer that all trees, or all training rows in the leaf, agree on."""
        code = self.classes.index(self.answer)
        if not self.leaves:
            agree = not self.dissenters and self.counts[code] == sum(self.counts)
            return [f"All {n_trees} trees agree."] if agree else []
        total = sum(self.counts)
        if len(self.leaves) > 1 or total < _FEW_ROWS or self.counts[code] < total:
            return []
        return [f'All {number_text(total)} training rows in its leaf are "{printable(self.answer)}".']

    def _probability_line(self) -> str:
        pairs = sorted(zip(self.probabilities, self.classes, strict=True), key=lambda pair: -pair[0])
        shown, rest = pairs[:_MOST_CLASSES], pairs[_MOST_CLASSES:]
        said = "Probabilities: " + ", ".join(f"{printable(name)} {p:.3g}" for p, name in shown)
        return said + (f"; {len(rest)} others, each at most {rest[0][0]:.3g}." if rest else ".")

    def _vote_lines(self, n_trees: int) -> list[str]:
        others = [
            (n, printable(name)) for n, name in zip(self.votes, self.classes, strict=True) if n and name != self.answer
        ]
        n_for = n_trees - len(self.dissenters)
        said = f"{printable(self.answer)}: {n_for} of {n_trees} trees say so"
        if others:
            said += ", " + listed([f"{n} {_say(n)} {name}" for n, name in sorted(others, key=lambda pair: -pair[0])])
        lines = [said + "."]
        if self.dissenters:
            numbers = [str(number) for number in self.dissenters]
            lines.append(f"Dissenting trees: {listed(numbers, at_most=12)}.")
        return [*lines, *_column_lines(self.columns)]


@dataclass(frozen=True)
class NumberExplanation:
    """Explanation of a regressor's prediction for one row.

    `trees` are the predictions of the trees, `within` the standard deviation of the training targets in their leaves
    (the root of the mean variance), `n_rows` the mean weight of these leaves. `leaves` are those of a single tree that
    the row reaches: one, or several with weights where a value is missing. `interval` is None where the model has none.
    """

    answer: float
    trees: tuple[float, ...]
    within: float
    n_rows: float
    path: tuple[str, ...]
    leaves: tuple[NumberLeaf, ...]
    columns: dict[str, float]
    interval: tuple[float, float] | None
    coverage: float | None
    doubt: str

    def __str__(self) -> str:
        answer = number_text(self.answer)
        if len(self.trees) == 1:
            lines = _path_lines(answer, self.path)
            if len(self.leaves) > 1:
                lines += [_mixture_title(self.leaves), *number_mixture_lines(self.leaves)]
            else:
                rows = f"{number_text(self.n_rows)} training row{'s' * (self.n_rows != 1)}"
                lines.append(f"Its leaf has {rows}: {answer} ± {number_text(self.within)}.")
        else:
            low, high = number_text(min(self.trees)), number_text(max(self.trees))
            lines = [f"{answer}: the mean of {len(self.trees)} trees, which say from {low} to {high}."]
            lines += _column_lines(self.columns)
        if self.interval is not None:
            low, high = map(number_text, self.interval)
            lines.append(f"Interval of {self.coverage:.0%}: {low} to {high}.")
        return "\n".join([*lines, *_doubt_lines(self.doubt)])


# --- Making them --------------------------------------------------------------------------------------------


def explain_classes(
    walk: Walk,
    schema: Schema,
    rows: Floats,
    *,
    classes: NDArray[Any],
    answers: NDArray[Any],
    probabilities: Floats,
    counts: Floats,
    votes: NDArray[np.intp],
    reached: csr_array | None = None,
    leaf_probabilities: LeafProbabilities | None = None,
    bounds: Floats | None = None,
    sets: NDArray[np.bool_] | None = None,
) -> list[ClassExplanation]:
    """Explain each row of a classification forest.

    `counts` are those of the leaf that it reaches in each tree, (n, n_trees, n_classes), `votes` the class that each
    tree votes for, (n, n_trees). `reached` is the spread of the rows of a single tree, where it is known. With
    `leaf_probabilities`, of a single tree, `probabilities` are their weighted mean over the leaves of a row.
    """
    forest = walk.forest
    labels = tuple(classes.tolist())
    explanations = []
    for i, row_paths in enumerate(_row_paths(walk, schema, rows, reached)):
        answer = answers[i].item() if isinstance(answers[i], np.generic) else answers[i]
        code = labels.index(answer)
        n_votes = np.bincount(votes[i], minlength=len(labels))
        allowed = None if sets is None else tuple(one for one, has in zip(labels, sets[i], strict=True) if has)
        mean = counts[i].mean(axis=0)
        of_leaves = None
        if leaf_probabilities is not None:
            of_leaves = leaf_probabilities(np.repeat(rows[i : i + 1], len(row_paths.leaves), axis=0), row_paths.leaves)
        leaves = class_leaves(forest, schema, row_paths.leaves, row_paths.weights, of_leaves)
        if len(leaves) > 1:
            doubt = _doubt_of_mixture(leaves, code, labels)
        elif leaves:
            doubt = _doubt_of_leaf(mean, code)
        else:
            doubt = _doubt_of_votes(n_votes, code, labels, mean)
        explanations.append(
            ClassExplanation(
                answer=answer,
                classes=labels,
                probabilities=tuple(probabilities[i].tolist()),
                counts=tuple(mean.tolist()),
                votes=tuple(n_votes.tolist()),
                dissenters=tuple(np.flatnonzero(votes[i] != code).tolist()),
                path=row_paths.path,
                leaves=leaves,
                columns=row_paths.columns,
                bounds=None if bounds is None else tuple((low, high) for low, high in bounds[i].tolist()),
                set=allowed,
                doubt="; ".join([*_doubt_of_set(allowed), *doubt, *_doubt_of_spread(row_paths)]),
            )
        )
    return explanations


def explain_numbers(
    walk: Walk,
    schema: Schema,
    rows: Floats,
    *,
    answers: Floats,
    reached: Floats,
    intervals: Floats | None = None,
    coverage: float | None = None,
) -> list[NumberExplanation]:
    """Explain each row of a regression forest.

    `reached` are weight, mean, squared mean and variance of the leaf that it reaches in each tree, (n, n_trees, 4).
    """
    forest = walk.forest
    explanations = []
    for i, row_paths in enumerate(_row_paths(walk, schema, rows, None)):
        n_rows, means, squared, inside = reached[i].T
        within = float(np.sqrt(np.maximum(inside + squared - means**2, 0.0).mean()))
        reasons = [*_doubt_of_number(means, within, n_rows, len(row_paths.leaves)), *_doubt_of_spread(row_paths)]
        explanations.append(
            NumberExplanation(
                answer=float(answers[i]),
                trees=tuple(means.tolist()),
                within=within,
                n_rows=float(n_rows.mean()),
                path=row_paths.path,
                leaves=number_leaves(forest, schema, row_paths.leaves, row_paths.weights),
                columns=row_paths.columns,
                interval=None if intervals is None else (float(intervals[i, 0]), float(intervals[i, 1])),
                coverage=coverage if intervals is not None else None,
                doubt="; ".join(reasons),
            )
        )
    return explanations


def _row_paths(walk: Walk, schema: Schema, rows: Floats, reached: csr_array | None) -> list[RowPaths]:
    forest = walk.forest
    single = forest.n_trees == 1
    if single and reached is None:
        reached = walk.spread(rows)
    if reached is None or not isinstance(walk, ForestWalk):
        leaves = route(forest, rows) + forest.leaf_start[:-1]
    else:  # saves a walk
        of_rows = np.split(reached.indices.astype(np.int64), reached.indptr[1:-1])
        leaves = np.array([[heaviest_leaf(forest, found)] for found in of_rows], dtype=np.int64).reshape(-1, 1)
    n_splits = _splits_by_feature(forest, leaves)
    all_paths = []
    for i, row in enumerate(rows):
        total = n_splits[i].sum()
        order = np.argsort(-n_splits[i], kind="stable")
        of_row = slice(0, 0) if reached is None else slice(reached.indptr[i], reached.indptr[i + 1])
        all_paths.append(
            RowPaths(
                path_sentences(forest, schema, int(leaves[i, 0]), row) if single else (),
                np.empty(0, np.int64) if reached is None else reached.indices[of_row].astype(np.int64),
                np.empty(0) if reached is None else reached.data[of_row],
                {schema.names[j]: float(n_splits[i, j] / total) for j in order if n_splits[i, j]},
                tuple(printable(schema.names[j]) for j in np.flatnonzero(np.isnan(row))),
            )
        )
    return all_paths


def _splits_by_feature(forest: Forest, leaves: NDArray[np.int64]) -> Floats:
    """Count the splits on each feature on the paths to these leaves, (n, n_features).

    An oblique split counts for its columns in equal parts.
    """
    n_splits = np.zeros((len(leaves), forest.n_features))
    nodes = forest.parent[forest.leaf_nodes[leaves]]
    row = np.broadcast_to(np.arange(len(leaves))[:, np.newaxis], nodes.shape)
    while (inner := nodes >= 0).any():
        feature = forest.feature[nodes]
        counted = inner & (feature >= 0)
        np.add.at(n_splits, (row[counted], feature[counted]), 1)
        oblique = inner & (forest.kind[nodes] == NodeKind.OBLIQUE)
        for of_row, node in zip(row[oblique].tolist(), nodes[oblique].tolist(), strict=True):
            columns = Split(forest, node).features
            n_splits[of_row, columns] += 1 / len(columns)
        nodes = np.where(inner, forest.parent[nodes], -1)
    return n_splits


# --- Words --------------------------------------------------------------------------------------------------


def _doubt_of_set(allowed: tuple[Any, ...] | None) -> list[str]:
    if allowed is None or len(allowed) == 1:
        return []
    return [f"the evidence does not tell {listed(list(map(printable, allowed)))} apart"]


def _doubt_of_leaf(counts: Floats, code: int) -> list[str]:
    total, other = float(counts.sum()), float(counts.sum() - counts[code])
    if total == 0:
        return ["no training row reached this leaf, and the answer is that of its parent node"]
    reasons = []
    if other > 0:
        reasons.append(f"{number_text(other)} of {number_text(total)} rows in its leaf are of another class")
    if total < _FEW_ROWS:
        reasons.append(f"its leaf has only {number_text(total)} {'row' if total == 1 else 'rows'}")
    return reasons


def _doubt_of_mixture(leaves: tuple[ClassLeaf, ...], code: int, labels: tuple[Any, ...]) -> list[str]:
    otherwise = sum(leaf.weight for leaf in leaves if int(np.argmax(leaf.probabilities or leaf.counts)) != code)
    if otherwise > 0:
        return [f"{otherwise:.0%} of it is in leaves where another class is more probable"]
    return [f"in all its leaves {printable(labels[code])} is the most probable class"]


def _doubt_of_votes(votes: NDArray[np.intp], code: int, labels: tuple[Any, ...], counts: Floats) -> list[str]:
    n_trees, n_for = int(votes.sum()), int(votes[code])
    other = 1.0 - float(counts[code] / counts.sum()) if counts.sum() > 0 else 0.0
    reasons = []
    if n_for < n_trees:
        others = np.where(np.arange(len(votes)) == code, 0, votes)
        rival = printable(labels[int(np.argmax(others))])
        one_rival = np.count_nonzero(others) == 1
        said = f"{_say(n_trees - n_for)} {rival}" if one_rival else f"say otherwise, most of them {rival}"
        reasons.append(f"{n_trees - n_for} of {n_trees} trees {said}")
    elif other > 0:
        reasons.append(f"all trees agree, but {other:.0%} of the rows in their leaves are of another class")
    return reasons


def _doubt_of_number(means: Floats, within: float, n_rows: Floats, n_leaves: int) -> list[str]:
    if n_leaves > 1:
        return [f"within its leaves ± {_rounded(within)}"]
    if len(means) == 1:
        few = [f"its leaf has only {number_text(n_rows[0])} {'row' if n_rows[0] == 1 else 'rows'}"]
        return [f"within its leaf ± {_rounded(within)}", *(few if n_rows[0] < _FEW_ROWS else [])]
    return [f"between trees ± {_rounded(float(means.std()))}, within leaves ± {_rounded(within)}"]


def _rounded(value: float) -> str:
    """Three significant digits, with separators of thousands: "63,300", "0.0123"."""
    text = f"{value:.3g}"
    return f"{float(text):,.0f}" if 1000 <= float(text) < 1e9 else text


def _doubt_of_spread(row_paths: RowPaths) -> list[str]:
    reasons = []
    if len(row_paths.leaves) > 1:
        reasons.append(f"it is spread over {len(row_paths.leaves)} leaves")
    if row_paths.missing:
        reasons.append(f"missing or new: {listed(list(row_paths.missing))}")
    return reasons


def _doubt_lines(doubt: str) -> list[str]:
    return [f"Doubt: {doubt}."] if doubt else []


def _mixture_title(leaves: Sequence[Any]) -> str:
    return f"It is spread over {len(leaves)} leaves, mixed with these weights:"


def _path_lines(answer: Any, path: tuple[str, ...]) -> list[str]:
    if not path:
        return [f"{printable(answer)}: the tree has no splits."]
    return [f"{printable(answer)}, because", *(f"  {sentence}" for sentence in path)]


def _column_lines(columns: dict[str, float]) -> list[str]:
    if not columns:
        return []
    shares = [f"{printable(name)} {share:.0%}" for name, share in columns.items()]
    return [f"Features on its paths: {listed(shares)}."]


def _say(n: int) -> str:
    return "says" if n == 1 else "say"


def _bounds_line(classes: tuple[Any, ...], bounds: tuple[tuple[float, float], ...]) -> str:
    both = list(zip(bounds, classes, strict=True))
    if len(both) > _MOST_CLASSES:
        both.sort(key=lambda one: (-one[0][1], -one[0][0]))
    shown, rest = both[:_MOST_CLASSES], both[_MOST_CLASSES:]
    said = "Bounds: " + ", ".join(f"{printable(name)} {low:.2f} to {high:.2f}" for (low, high), name in shown)
    return said + (f"; {len(rest)} others, each at most {rest[0][0][1]:.2f}." if rest else ".")
