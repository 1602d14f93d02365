"""A tree as rules: one for each leaf, with the conditions of its path merged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from math import inf, nan
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from hedgerow._params import check_choice
from hedgerow._printable import printable
from hedgerow.data.table import Schema
from hedgerow.forest.forest import Forest
from hedgerow.forest.kinds import NodeKind
from hedgerow.forest.names import Names, number_text
from hedgerow.forest.splits import Split

__all__ = ["SORTS", "LeafRule", "LeafRules", "leaf_rules"]

Floats = NDArray[np.float64]

SORTS = ("coverage", "confidence")


@dataclass(frozen=True)
class LeafRule:
    """Conditions that lead to a leaf, and the figures of the leaf.

    Examples
    --------
    >>> from hedgerow import TreeClassifier
    >>> rule = TreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "no", "yes"]).to_rules()[0]
    >>> rule.conditions, rule.answer, rule.n_rows
    (('x0 <= 3.5',), 'no', 3.0)
    """

    conditions: tuple[str, ...]
    """All must hold; one for each column, but several for oblique splits. Empty: always."""
    answer: Any
    """Class or mean."""
    n_rows: float
    """Training rows in the leaf."""
    coverage: float
    """Their part of all training rows of the tree."""
    confidence: float
    """Part of them that has the class `answer`; NaN in regression, and without rows."""
    lift: float
    """Confidence divided by the part that the class has of all training rows; NaN where that is."""
    deviation: float
    """Regression: standard deviation of the targets; else NaN."""
    counts: tuple[float, ...]
    """Training rows of each class; empty in regression."""
    leaf: int
    """Its number, as `apply` returns it."""

    def __str__(self) -> str:
        when = " and ".join(self.conditions) or "always"
        if self.counts:
            answer = printable(self.answer)
            how_sure = f"confidence {self.confidence:.3g}, lift {self.lift:.3g}" if self.n_rows > 0 else "no rows"
        else:
            answer, how_sure = number_text(self.answer), f"± {number_text(self.deviation)}"
        rows = f"{number_text(round(self.n_rows, 2))} row{'s' * (self.n_rows != 1)}"
        return f"{when}: {answer} ({rows}, {self.coverage:.1%}; {how_sure})"


class LeafRules(Sequence[LeafRule]):
    """The rules of a tree, in order. They exclude each other: each row meets one, if no value is missing.

    Parameters
    ----------
    rules : sequence of LeafRule
        The rules.

    Examples
    --------
    >>> from hedgerow import TreeClassifier
    >>> rules = TreeClassifier().fit([[1], [2], [3], [4]], ["no", "no", "no", "yes"]).to_rules()
    >>> len(rules)
    2
    >>> print(rules)
    x0 <= 3.5: no (3 rows, 75.0%; confidence 1, lift 1.33)
    x0 > 3.5: yes (1 row, 25.0%; confidence 1, lift 4)
    """

    def __init__(self, rules: Sequence[LeafRule]) -> None:
        self._rules = tuple(rules)

    @overload
    def __getitem__(self, at: int) -> LeafRule: ...

    @overload
    def __getitem__(self, at: slice) -> LeafRules: ...

    def __getitem__(self, at: int | slice) -> LeafRule | LeafRules:
        return LeafRules(self._rules[at]) if isinstance(at, slice) else self._rules[at]

    def __len__(self) -> int:
        return len(self._rules)

    def __str__(self) -> str:
        return "\n".join(map(str, self._rules))

    def __repr__(self) -> str:
        return f"<{len(self)} rules>\n{self}"

    def to_frame(self) -> Any:
        """Return a pandas DataFrame, a row for each rule; conditions are one text.

        Returns
        -------
        pandas.DataFrame
            A row for each rule, a column for each field of :class:`LeafRule`.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        try:
            pandas = import_module("pandas")
        except ImportError as absent:
            raise ImportError("to_frame needs pandas: pip install pandas") from absent
        rows = [asdict(rule) | {"conditions": " and ".join(rule.conditions)} for rule in self._rules]
        return pandas.DataFrame(rows)


def leaf_rules(
    forest: Forest, tree: int, schema: Schema, names: Names, *, answers: Sequence[Any], codes: Sequence[int], sort: str
) -> LeafRules:
    """Rules of one tree; `answers` has the label of each leaf of a classification forest, `codes` its position.

    Parameters
    ----------
    forest : Forest
        The trees.
    tree : int
        Number of the tree, from 0.
    schema : Schema
        Names, kinds and categories of the columns.
    names : Names
        Texts of columns, categories and classes.
    answers : sequence
        Label of each leaf, or number.
    codes : sequence of int
        Position of the class of each leaf.
    sort : {"coverage", "confidence"}
        Order of the rules, the largest first.

    Returns
    -------
    LeafRules
        The rules, sorted.

    Raises
    ------
    ValueError
        If there is no such tree, or `sort` is neither "coverage" nor "confidence".

    Examples
    --------
    >>> from hedgerow import TreeRegressor
    >>> from hedgerow.codegen import leaf_rules
    >>> from hedgerow.forest.names import Names
    >>> tree = TreeRegressor(max_leaf_nodes=2).fit([[1], [2], [3]], [10, 10, 40])
    >>> names = Names.of(tree.forest_, ["age"], None, None)
    >>> print(leaf_rules(tree.forest_, 0, tree.schema_, names, answers=[10.0, 40.0], codes=[], sort="coverage"))
    age <= 2.5: 10 (2 rows, 66.7%; ± 0)
    age > 2.5: 40 (1 row, 33.3%; ± 0)
    """
    check_choice("sort", sort, SORTS)
    if not 0 <= tree < forest.n_trees:
        raise ValueError(f"tree is {tree}, this forest has trees 0 .. {forest.n_trees - 1}")
    root = int(forest.tree_start[tree])
    is_regression = forest.leaf_counts is None
    totals = forest.node_stats() if is_regression else forest.node_counts()
    rules = []
    for node, path in _paths(forest, root, schema):
        first = int(forest.leaf_start[tree])
        number = int(forest.first_child[node])
        make = _number_rule if is_regression else _class_rule
        conditions = tuple(path.texts(schema, names))
        answer = {} if is_regression else {"answer": answers[first + number], "code": codes[first + number]}
        rules.append(make(conditions, totals[node], totals[root], number, **answer))
    return LeafRules(sorted(rules, key=_BY[sort]))


_BY: dict[str, Any] = {
    "coverage": lambda rule: (-rule.coverage, rule.leaf),
    # Of means, the least uncertain first; rules without rows last.
    "confidence": lambda rule: (
        rule.n_rows == 0,
        -rule.confidence if rule.counts else rule.deviation,
        -rule.coverage,
        rule.leaf,
    ),
}


def _class_rule(
    conditions: tuple[str, ...], counts: Floats, all_counts: Floats, leaf: int, *, answer: Any, code: int
) -> LeafRule:
    n, n_all = float(counts.sum()), float(all_counts.sum())
    confidence = float(counts[code]) / n if n > 0 else nan
    share = float(all_counts[code]) / n_all if n_all > 0 else 0.0
    lift = confidence / share if share > 0 else nan
    coverage = n / n_all if n_all > 0 else 0.0
    return LeafRule(conditions, answer, n, coverage, confidence, lift, nan, tuple(counts.tolist()), leaf)


def _number_rule(conditions: tuple[str, ...], stats: Floats, all_stats: Floats, leaf: int) -> LeafRule:
    weight, mean, squares = stats.tolist()
    deviation = float(np.sqrt(squares / weight)) if weight > 0 else 0.0
    coverage = weight / float(all_stats[0]) if all_stats[0] > 0 else 0.0
    return LeafRule(conditions, mean, weight, coverage, nan, nan, deviation, (), leaf)


# --- Conditions of a path -----------------------------------------------------------------------------------


@dataclass
class _Path:
    """Condition of a path on each column."""

    bounds: dict[int, tuple[float, float]] = field(default_factory=dict)
    """Lower < x ≤ upper."""
    codes: dict[int, frozenset[int]] = field(default_factory=dict)
    """Categories that are left."""
    known: dict[int, bool] = field(default_factory=dict)
    """Whether the value must be known, or must be missing."""
    others: list[str] = field(default_factory=list)
    """Conditions of oblique splits."""

    def to_child(self, split: Split, child: int, schema: Schema, text: str) -> _Path:
        """The path that goes on to a child."""
        path = _Path(dict(self.bounds), dict(self.codes), dict(self.known), list(self.others))
        feature = split.feature
        if split.kind == NodeKind.OBLIQUE:
            path.others.append(text)
        elif split.is_missing_branch(child):
            path.known[feature] = False
        elif split.tests_presence:
            path.known[feature] = True
        elif categories := schema.columns[feature].categories:
            before = self.codes.get(feature, frozenset(range(len(categories))))
            path.codes[feature] = frozenset(code for code in before if split.child_of(float(code)) == child)
        else:
            low, high = self.bounds.get(feature, (-inf, inf))
            at = split.threshold
            path.bounds[feature] = (low, min(high, at)) if child == 0 else (max(low, at), high)
        return path

    def texts(self, schema: Schema, names: Names) -> Iterator[str]:
        """Conditions in the order of the columns."""
        for feature in sorted({*self.bounds, *self.codes, *self.known}):
            name = names.features[feature]
            if self.known.get(feature) is False:
                yield f"{name} is missing"
            elif feature in self.codes:
                yield from self._categories(feature, schema, names)
            elif feature in self.bounds:
                yield _interval(name, *self.bounds[feature])
            else:
                yield f"{name} is known"
        yield from self.others

    def _categories(self, feature: int, schema: Schema, names: Names) -> Iterator[str]:
        column, name, left = schema.columns[feature], names.features[feature], sorted(self.codes[feature])
        n = len(column.categories)
        texts = [names.category(feature, code) for code in left]
        if len(left) == n:
            return
        if len(left) == 1:
            yield f"{name} = {texts[0]}"
        elif column.kind != "nominal" and left == list(range(len(left))):
            yield f"{name} <= {texts[-1]}"
        elif column.kind != "nominal" and left == list(range(n - len(left), n)):
            yield f"{name} > {names.category(feature, left[0] - 1)}"
        elif column.kind == "nominal" and 2 * len(left) > n and n - len(left) <= 3:
            rest = [names.category(feature, code) for code in range(n) if code not in self.codes[feature]]
            yield f"{name} != {rest[0]}" if len(rest) == 1 else f"{name} not in {{{', '.join(rest)}}}"
        else:
            yield f"{name} in {{{', '.join(texts)}}}"


def _interval(name: str, low: float, high: float) -> str:
    if low == -inf:
        return f"{name} <= {number_text(high)}"
    if high == inf:
        return f"{name} > {number_text(low)}"
    return f"{number_text(low)} < {name} <= {number_text(high)}"


def _paths(forest: Forest, root: int, schema: Schema) -> Iterator[tuple[int, _Path]]:
    """Leaves of a tree and the paths to them."""
    names = Names.of(forest, schema.names, None, [column.categories for column in schema.columns])
    stack = [(root, _Path())]
    while stack:
        node, path = stack.pop()
        if forest.kind[node] == NodeKind.LEAF:
            yield node, path
            continue
        split = Split(forest, node)
        texts = split.branch_texts(names)
        stack += [
            (child, path.to_child(split, number, schema, texts[number])) for number, child in enumerate(split.children)
        ]
