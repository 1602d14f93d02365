"""Explanations of single rows: the path down a tree, or the vote of several trees, and reasons for doubt.

``str`` of an explanation is a text for people; its fields are for programs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hedgerow._printable import printable
from hedgerow.explain.explained import Explained
from hedgerow.explain.reached_leaves import (
    ClassLeaf,
    NumberLeaf,
    class_mixture_lines,
    counts_text,
    number_mixture_lines,
)
from hedgerow.explain.sentences import listed
from hedgerow.forest.names import number_text

__all__ = ["FEW_ROWS", "ClassExplanation", "NumberExplanation", "say"]

FEW_ROWS = 10
_MOST_CLASSES = 6  # that a text names


@dataclass(frozen=True)
class ClassExplanation(Explained):
    """Explanation of a classifier's answer for one row.

    For a single tree `leaves` are those that it reaches: one, or several with weights where a value is missing; `path`
    leads to the heaviest, and `counts` are the weighted mean of their class counts. For several trees `leaves` is
    empty, `counts` are the mean of their leaves', `votes` how many trees have most rows of each class in their leaf,
    and `dissenters` the numbers of the trees whose vote is not `answer`. `bounds` (lower and upper for each class) and
    `set` are None where the model has none. A leaf without rows votes as the node above it. `doubt` is empty where
    there is no reason for any.

    Parameters
    ----------
    answer
        What is predicted.
    classes : tuple[object, ...]
        Labels, in the order of the other arrays.
    probabilities : tuple[float, ...]
        Probability of each class.
    counts : tuple[float, ...]
        Training rows of each class in the leaves that were reached.
    votes : tuple[int, ...]
        Number of trees for each class.
    dissenters : tuple[int, ...]
        Numbers of the trees that say another class.
    path : tuple[str, ...]
        Splits from the root to the leaf, of a single tree.
    leaves : tuple[ClassLeaf, ...]
        Leaves that a single tree's row reaches, with their weights.
    columns : dict[str, float]
        Columns on the paths, with their shares.
    bounds : tuple[tuple[float, float], ...] or None
        Lower and upper probability of each class; None where the model has none.
    set : tuple[object, ...] or None
        Classes that are not ruled out; None where the model has no sets.
    doubt : str
        What is in doubt, in words.
    why : tuple[ReasonForDoubt, ...], default=()
        Reasons for doubt, the largest share first.
    contributions : RowContributions or None, default=None
        What each column adds to the answer; None where it was not asked for.

    Examples
    --------
    >>> from hedgerow import TreeClassifier
    >>> tree = TreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "no", "yes"])
    >>> record = tree.explain([[4.0]])[0]
    >>> record.answer, record.path, record.counts
    ('yes', ('x0 is 4, above 3.5',), (0.0, 1.0))
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
        lines += self._agreement_lines(n_trees)
        return "\n".join([*lines, *_doubt_lines(self.doubt), *self.contribution_lines()])

    def _agreement_lines(self, n_trees: int) -> list[str]:
        """Sentence for an answer that all trees, or all training rows in the leaf, agree on."""
        code = self.classes.index(self.answer)
        if not self.leaves:
            agree = not self.dissenters and self.counts[code] == sum(self.counts)
            return [f"All {n_trees} trees agree."] if agree else []
        total = sum(self.counts)
        if len(self.leaves) > 1 or total < FEW_ROWS or self.counts[code] < total:
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
            said += ", " + listed([f"{n} {say(n)} {name}" for n, name in sorted(others, key=lambda pair: -pair[0])])
        lines = [said + "."]
        if self.dissenters:
            numbers = [str(number) for number in self.dissenters]
            lines.append(f"Dissenting trees: {listed(numbers, at_most=12)}.")
        return [*lines, *_column_lines(self.columns)]


@dataclass(frozen=True)
class NumberExplanation(Explained):
    """Explanation of a regressor's prediction for one row.

    `trees` are the predictions of the trees, `within` the standard deviation of the training targets in their leaves
    (the root of the mean variance), `n_rows` the mean weight of these leaves. `leaves` are those of a single tree that
    the row reaches: one, or several with weights where a value is missing. `interval` is None where the model has none.

    Parameters
    ----------
    answer : float
        What is predicted.
    trees : tuple[float, ...]
        Prediction of each tree.
    within : float
        Standard deviation of the training targets within the leaves.
    n_rows : float
        Mean number of training rows in the leaves.
    path : tuple[str, ...]
        Splits from the root to the leaf, of a single tree.
    leaves : tuple[NumberLeaf, ...]
        Leaves that a single tree's row reaches, with their weights.
    columns : dict[str, float]
        Columns on the paths, with their shares.
    interval : tuple[float, float] or None
        Lower and upper end; None where there are none.
    coverage : float or None
        Probability that the interval is to have.
    doubt : str
        What is in doubt, in words.
    why : tuple[ReasonForDoubt, ...], default=()
        Reasons for doubt, the largest share first.
    contributions : RowContributions or None, default=None
        What each column adds to the answer; None where it was not asked for.

    Examples
    --------
    >>> from hedgerow import ForestRegressor
    >>> forest = ForestRegressor(10, random_state=0).fit([[float(i)] for i in range(40)], range(40))
    >>> record = forest.explain([[20.0]], coverage=0.8)[0]
    >>> len(record.trees), record.coverage
    (10, 0.8)
    >>> record.interval[0] <= record.answer <= record.interval[1]
    True
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
        return "\n".join([*lines, *_doubt_lines(self.doubt), *self.contribution_lines()])


# --- Words --------------------------------------------------------------------------------------------------


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


def say(n: int) -> str:
    return "says" if n == 1 else "say"


def _bounds_line(classes: tuple[Any, ...], bounds: tuple[tuple[float, float], ...]) -> str:
    both = list(zip(bounds, classes, strict=True))
    if len(both) > _MOST_CLASSES:
        both.sort(key=lambda one: (-one[0][1], -one[0][0]))
    shown, rest = both[:_MOST_CLASSES], both[_MOST_CLASSES:]
    said = "Bounds: " + ", ".join(f"{printable(name)} {low:.2f} to {high:.2f}" for (low, high), name in shown)
    return said + (f"; {len(rest)} others, each at most {rest[0][0][1]:.2f}." if rest else ".")
