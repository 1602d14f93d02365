"""A model as an SQL expression.

Rows with all values take the branches of a CASE. A row without a value may reach several leaves: its answer is computed
by a subquery without a table, whose common table expressions only give names to intermediate numbers: weights of
branches and of leaves, then sums over leaves and trees, then what is done with these.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from math import isnan
from typing import Any

import numpy as np

from hedgerow._params import check_choice
from hedgerow.codegen.finish import Divide, Multiply, Normalise, Power, Scale, Step, summation_order
from hedgerow.codegen.program import CodeNode, CodeTree, Program
from hedgerow.codegen.python import added
from hedgerow.data.table import Column

__all__ = ["DIALECTS", "MOST_NODES", "OUTPUTS", "sql_expression"]

OUTPUTS = ("label", "proba")
MOST_NODES = 5_000
_MOST_SPREAD = 1_200  # nodes: databases take expressions of 1,000 levels, and SQLite 2,000 columns of a subquery
_MOST_BRANCHES = 40_000
_MOST_NESTED = 8  # CASEs in each other: the parser of older SQLite has a stack of 100


class _Dialect(ABC):
    """How a database writes names and numbers."""

    limit = ""
    """Ends every subquery."""

    @abstractmethod
    def name(self, identifier: str) -> str: ...

    @abstractmethod
    def number(self, value: float) -> str:
        """A double, to the last bit."""

    @abstractmethod
    def is_known(self, value: str) -> str:
        """Whether a number is neither NULL nor NaN; called where NULL may count as no."""

    def literal(self, value: Any) -> str:
        if isinstance(value, str):
            if "\x00" in value:
                raise ValueError(f"{value!r} has a NUL character, which SQL can't hold: rename it before fit")
            quoted = value.replace("'", "''")
            return f"'{quoted}'"
        if isinstance(value, bool | np.bool_):
            return "TRUE" if value else "FALSE"
        return str(value) if isinstance(value, int) else self.number(value)


class _DuckDB(_Dialect):
    def name(self, identifier: str) -> str:
        quoted = identifier.replace('"', '""')
        return f'"{quoted}"'

    def number(self, value: float) -> str:
        text = repr(float(value))
        return text if "e" in text else f"{text.removesuffix('.0')}e0"  # without an exponent it would be a DECIMAL

    def is_known(self, value: str) -> str:
        return f"NOT isnan({value})"


class _SQLite(_Dialect):
    # A subquery with a limit in a query with one is not merged into it, so that an expression that is used several
    # times is written and computed once.
    limit = " LIMIT 1"

    def name(self, identifier: str) -> str:
        quoted = identifier.replace("`", "``")
        return f"`{quoted}`"  # "…" would be a text if there is no such column

    def number(self, value: float) -> str:
        if value == int(value) and abs(value) < 2**53:
            return f"{int(value)}.0"
        # SQLite reads decimals to 15 digits or so, but whole numbers and quotients exactly.
        numerator, denominator = float(value).as_integer_ratio()
        text, power = f"CAST({numerator} AS REAL)", denominator.bit_length() - 1
        if numerator.bit_length() > 63:
            excess = numerator.bit_length() - 53
            text, power = f"CAST({numerator >> excess} AS REAL)", -excess
        while power:
            step = max(-62, min(62, power))
            text += f" {'/' if step > 0 else '*'} {2 ** abs(step)}"
            power -= step
        return f"({text} /* {value:.6g} */)"

    def is_known(self, value: str) -> str:
        return f"{value} IS NOT NULL"


DIALECTS: dict[str, _Dialect] = {"duckdb": _DuckDB(), "sqlite": _SQLite()}


def sql_expression(program: Program, dialect: str = "duckdb", output: str = "label", table: str | None = None) -> str:
    """Write the expression of the answer, or those of all probabilities, each with a name.

    Parameters
    ----------
    program : Program
        The model.
    dialect : {"duckdb", "sqlite"}, default="duckdb"
        Database that is to understand the expression.
    output : {"label", "proba"}, default="label"
        The answer of `predict`; or the probability of each class, as expressions with the names ``p(class)``.
    table : str or None, default=None
        Name of the table that columns are prefixed with; None for none.

    Returns
    -------
    str
        The expression; of probabilities one for each class, separated by commas.

    Raises
    ------
    ValueError
        If probabilities are asked for of a model that predicts numbers, or the expression would have too many branches.

    Examples
    --------
    >>> from hedgerow import TreeRegressor
    >>> from hedgerow.codegen import make_program, sql_expression
    >>> tree = TreeRegressor(max_leaf_nodes=2).fit([[1], [2], [3]], [10, 10, 40])
    >>> program = make_program("two leaves", tree.forest_, tree.schema_, tree.forest_.leaf_stats[:, 1:2], [])
    >>> "CASE WHEN" in sql_expression(program)
    True
    """
    check_choice("dialect", dialect, DIALECTS)
    check_choice("output", output, OUTPUTS)
    if output == "proba" and program.classes is None:
        raise ValueError("output is 'proba', and this model predicts numbers: use output='label'")
    n_written = program.n_nodes * program.n_values
    if n_written > _MOST_BRANCHES:
        raise ValueError(
            f"to_sql writes at most {_MOST_BRANCHES:,} branches, and {program.size_text()} for each of "
            f"{program.n_values} classes: fit fewer or smaller trees (n_estimators=, max_leaf_nodes=), or use to_c() "
            "or `hedgerow predict`"
        )
    return _Writer(program, DIALECTS[dialect], table).write(output)


class _Steps:
    """Common table expressions, each with named numbers that are computed from those of the one before."""

    def __init__(self, mark: str, limit: str) -> None:
        self.mark, self.limit = mark, limit
        self.texts: list[str] = []
        self.last: list[str] = []
        """Names of the numbers of the last one."""

    def add(self, named: Iterable[tuple[str, str]], carried: Sequence[str] = ()) -> None:
        pairs = list(named)
        listed = ", ".join([*carried, *(f"{text} AS {name}" for name, text in pairs)])
        self.texts.append(f"{self.mark}q{len(self.texts)} AS (SELECT {listed}{self._origin()})")
        self.last = [*carried, *(name for name, _ in pairs)]

    def select(self, value: str) -> str:
        """A subquery for a value that is computed from the last ones."""
        return f"(WITH {', '.join(self.texts)}\n SELECT {value}{self._origin()})"

    def _origin(self) -> str:
        return f" FROM {self.mark}q{len(self.texts) - 1}{self.limit}" if self.texts else self.limit


class _Writer:
    def __init__(self, program: Program, dialect: _Dialect, table: str | None) -> None:
        self.program, self.dialect = program, dialect
        prefix = "" if table is None else f"{dialect.name(table)}."
        self.columns = [prefix + dialect.name(column.name) for column in program.columns]
        taken = {name.lower() for name in (*(column.name for column in program.columns), table or "")}
        self.mark = "_"  # names of intermediate numbers begin with it, and names of columns do not
        while any(name.startswith(self.mark) for name in taken):
            self.mark += "_"
        self.zero = dialect.number(0.0)
        self.reached: dict[int, str] = {}  # name of the node that a row has reached, by tree

    def write(self, output: str) -> str:
        classes = self.program.classes
        if classes is None:
            return self._answer(None if self._needs_sums else self._leaf_numbers(0), 0)
        if output == "label":
            labels = [self.dialect.literal(classes[code]) for code in self.program.leaf_codes]
            return self._answer(None if self._needs_sums else labels, None)
        numbers = [None if self._needs_sums else self._leaf_numbers(k) for k in range(len(classes))]
        named = zip(numbers, (self.dialect.name(f"p({label})") for label in classes), strict=True)
        return ",\n".join(f"{self._answer(of_leaves, k)} AS {name}" for k, (of_leaves, name) in enumerate(named))

    @property
    def _needs_sums(self) -> bool:
        """Whether the answer of a row that reaches one leaf is not that of the leaf."""
        program = self.program
        one = len(program.trees) == 1 and program.trees[0].weight == 1
        return not one or any(not (isinstance(step, Divide) and step.by == 1) for step in program.steps)

    def _leaf_numbers(self, k: int) -> list[str]:
        return self._numbers(self.program.trees[0], k)

    def _numbers(self, tree: CodeTree, k: int) -> list[str]:
        """Number k of each leaf."""
        return [self.dialect.number(value + 0.0) for value in tree.values[:, k].tolist()]

    def _answer(self, leaf_answers: Sequence[str] | None, number: int | None) -> str:
        """The answer; `number` is that of a probability, None the label."""
        if leaf_answers is None:
            return self._computed(number)
        tree = self.program.trees[0]
        if _depth(tree) <= _MOST_NESTED:
            found = self._case(tree, 0, self.columns, lambda node: leaf_answers[node.leaf], _MOST_NESTED)
        else:
            steps = self._columns()
            self._add_routes([(0, tree)], steps)
            found = steps.select(self._of_leaf(0, tree, leaf_answers))
        return f"COALESCE({found}, {self._computed(number)})" if tree.spreads else found

    # -- which branch

    def _case(
        self,
        tree: CodeTree,
        at: int,
        columns: Sequence[str],
        end: Callable[[CodeNode], str],
        levels: int,
        indent: int = 0,
    ) -> str:
        """Nested CASE of some levels below a node; NULL where a row would be spread."""
        node = tree.nodes[at]
        if node.leaf >= 0 or levels == 0:
            return end(node) if node.leaf >= 0 else str(at)
        below = partial(self._case, tree, columns=columns, end=end, levels=levels - 1, indent=indent + 1)
        tests = self._tests(node, columns)
        rest = "NULL" if node.spreads else below(node.without_value[0][0])
        if not tests:
            return rest
        line = "\n" + "  " * (indent + 1)
        texts = [f"{line}WHEN {test} THEN {below(child)}" for test, child in tests]
        return f"CASE{''.join(texts)}{line}ELSE {rest}{line[:-2]} END"

    def _tests(self, node: CodeNode, columns: Sequence[str]) -> list[tuple[str, int]]:
        """Condition of each child in turn, and the child; the first that holds counts.

        None of the child that all rows without a value take: it stands once, in ELSE.
        """
        if node.weights:
            return self._sides(self._sum(node, columns), node)
        feature = node.features[0]
        if not self.program.columns[feature].categories:
            return self._sides(columns[feature], node)
        return self._sets(self.program.columns[feature], columns[feature], node)

    def _sides(self, value: str, node: CodeNode) -> list[tuple[str, int]]:
        left, right = node.children[:2]
        known, goes_left = self.dialect.is_known(value), node.without_value == ((left, 1.0),)
        if node.threshold == np.inf:
            return [] if goes_left else [(known, left)]
        at = self.dialect.number(node.threshold)
        if goes_left:
            return [(f"{value} > {at} AND {known}", right)]
        tests = [(f"{value} <= {at}", left)]
        return tests if node.without_value == ((right, 1.0),) else [*tests, (known, right)]

    def _sets(self, column: Column, name: str, node: CodeNode) -> list[tuple[str, int]]:
        """Categories by child; those of a column that is divided by a threshold are in its order."""
        left, right = node.children[:2]
        taken = node.child_of_category or tuple(
            left if code <= node.threshold else right for code in range(len(column.categories))
        )
        tests = []
        for child in node.children:
            if node.without_value == ((child, 1.0),):
                continue
            pairs = zip(column.categories, taken, strict=True)
            found = [self.dialect.literal(category) for category, to in pairs if to == child]
            if found:
                tests.append((f"{name} = {found[0]}" if len(found) == 1 else f"{name} IN ({', '.join(found)})", child))
        return tests

    def _sum(self, node: CodeNode, columns: Sequence[str]) -> str:
        """Sum of an oblique split, with means for missing values; NULL where all are missing."""
        numbers = [self._as_number(feature, columns) for feature in node.features]
        known = [self.dialect.is_known(number) for number in numbers]
        if node.means:
            numbers = [
                number if isnan(mean) else f"CASE WHEN {there} THEN {number} ELSE {self.dialect.number(mean)} END"
                for there, number, mean in zip(known, numbers, node.means, strict=True)
            ]
        weights = map(self.dialect.number, node.weights)
        terms = (f"{weight} * {number}" for weight, number in zip(weights, numbers, strict=True))
        total = f"({self.zero} + {' + '.join(terms)})"
        return f"CASE WHEN {' OR '.join(known)} THEN {total} END" if node.means else total

    def _as_number(self, feature: int, columns: Sequence[str]) -> str:
        """Number that an oblique split takes of a column."""
        column, name = self.program.columns[feature], columns[feature]
        if not column.categories:
            return name
        codes = (
            f"WHEN {self.dialect.literal(category)} THEN {self.dialect.number(code)}"
            for code, category in enumerate(column.categories)
        )
        return f"CASE {name} {' '.join(codes)} END"

    # -- intermediate numbers

    def _columns(self) -> _Steps:
        """The columns that are split; all else refers to these, so that the outer query is read once."""
        nodes = (node for tree in self.program.trees for node in tree.nodes)
        used = sorted({feature for node in nodes for feature in node.features})
        steps = _Steps(self.mark, self.dialect.limit)
        steps.add([(self._own(j), self.columns[j]) for j in used] or [(self._own(0), self.zero)])
        self.carried = list(steps.last)
        return steps

    def _own(self, feature: int) -> str:
        return f"{self.mark}c{feature}"

    @property
    def _own_columns(self) -> list[str]:
        return [self._own(feature) for feature in range(len(self.columns))]

    def _add_routes(self, trees: Sequence[tuple[int, CodeTree]], steps: _Steps) -> None:
        """The node that a row reaches in each tree, some levels at a time; NULL where it would be spread."""
        fronts = {t: [0] for t, _ in trees}
        while any(fronts.values()):
            named, before = [], dict(self.reached)
            for t, tree in trees:
                if not fronts[t]:
                    continue
                ahead: list[int] = []
                cases = {at: self._stage(tree, at, ahead) for at in fronts[t]}
                self.reached[t] = f"{before.get(t, f'{self.mark}n{t}')}_"
                if t in before:
                    listed = " ".join(f"WHEN {at} THEN {case}" for at, case in cases.items())
                    named.append((self.reached[t], f"CASE {before[t]} {listed} ELSE {before[t]} END"))
                else:
                    named.append((self.reached[t], cases[0]))
                fronts[t] = ahead
            kept = [name for t, name in before.items() if self.reached[t] == name]
            steps.add(named, [*self.carried, *kept])

    def _stage(self, tree: CodeTree, at: int, ahead: list[int]) -> str:
        """Some levels below a node; the nodes from which it goes on are added to `ahead`."""
        numbers = {id(node): number for number, node in enumerate(tree.nodes)}
        level = [at]
        for _ in range(_MOST_NESTED):
            level = [child for node in level for child in tree.nodes[node].children]
        ahead += [node for node in level if tree.nodes[node].leaf < 0]
        return self._case(tree, at, self._own_columns, lambda node: str(numbers[id(node)]), _MOST_NESTED)

    def _of_leaf(self, t: int, tree: CodeTree, answers: Sequence[str]) -> str:
        """Answer of the leaf that a row has reached."""
        listed = (f"WHEN {at} THEN {answers[node.leaf]}" for at, node in enumerate(tree.nodes) if node.leaf >= 0)
        return f"CASE {self.reached[t]} {' '.join(listed)} END"

    # -- sums

    def _computed(self, number: int | None) -> str:
        """The answer by sums over leaves and trees; `number` is that of a probability, None the label."""
        program = self.program
        trees = list(enumerate(program.trees))
        spread = [(t, tree) for t, tree in trees if tree.spreads]
        if sum(len(tree.nodes) for _, tree in spread) > _MOST_SPREAD:
            raise ValueError(
                f"to_sql writes at most {_MOST_SPREAD:,} nodes where rows with a missing value reach several leaves, "
                f"and {program.size_text()}: fit fewer or smaller trees, or with missing='learned', or use to_c() or "
                "`hedgerow predict`"
            )
        self.reached.clear()
        steps, n = self._columns(), program.n_values
        if self._needs_sums:
            self._add_routes(trees, steps)
        if spread:
            routed = list(self.reached.values())
            steps.add((one for t, tree in spread for one in self._branch_weights(t, tree)), routed)
            steps.add((one for t, tree in spread for one in self._leaf_weights(t, tree)), routed)
        steps.add((f"{self.mark}t{t}_{k}", self._of_tree(t, tree, k)) for t, tree in trees for k in range(n))
        current = self._named("s", n)
        steps.add((current[k], self._over_trees(k)) for k in range(n))
        for layer, step in enumerate(program.steps):
            if not (isinstance(step, Divide) and step.by == 1):
                following = self._named(f"f{layer}_", n)
                steps.add(zip(following, self._step(step, current), strict=True))
                current = following
        if number is not None:
            return steps.select(current[number])
        if program.costs is None:
            return steps.select(self._best(current, ">="))
        expected = self._named("e", n)
        costs = []
        for of_class in program.costs.T.tolist():
            terms = (f"{p} * {self.dialect.number(cost)}" for p, cost in zip(current, of_class, strict=True))
            costs.append(" + ".join([self.zero, *terms]))
        steps.add(zip(expected, costs, strict=True))
        return steps.select(self._best(expected, "<="))

    def _named(self, kind: str, n: int) -> list[str]:
        return [f"{self.mark}{kind}{k}" for k in range(n)]

    def _branch_weights(self, t: int, tree: CodeTree) -> Iterator[tuple[str, str]]:
        """Fraction of a row at a node that takes each of its branches."""
        for node in tree.nodes:
            tests = self._tests(node, self._own_columns) if node.leaf < 0 else []
            for child in node.children:
                shares = [f"WHEN {test} THEN {self.dialect.number(to == child)}" for test, to in tests]
                rest = self.dialect.number(dict(node.without_value).get(child, 0.0))
                yield self._branch(t, child), f"CASE {' '.join(shares)} ELSE {rest} END" if shares else rest

    def _branch(self, t: int, node: int) -> str:
        return f"{self.mark}w{t}_{node}"

    def _leaf_weights(self, t: int, tree: CodeTree) -> Iterator[tuple[str, str]]:
        """Fraction of a row that reaches each leaf."""
        path: list[list[str]] = [[] for _ in tree.nodes]
        for at, node in enumerate(tree.nodes):
            for child in node.children:
                path[child] = [*path[at], self._branch(t, child)]
            if node.leaf >= 0:
                yield self._leaf(t, node.leaf), " * ".join(path[at])

    def _leaf(self, t: int, leaf: int) -> str:
        return f"{self.mark}l{t}_{leaf}"

    def _of_tree(self, t: int, tree: CodeTree, k: int) -> str:
        numbers = self._numbers(tree, k)
        if not tree.spreads:
            return self._of_leaf(t, tree, numbers)
        total = " + ".join([self.zero, *(f"{self._leaf(t, leaf)} * {number}" for leaf, number in enumerate(numbers))])
        # Without other sums, rows that reach one leaf have been answered before.
        return f"COALESCE({self._of_leaf(t, tree, numbers)}, {total})" if self._needs_sums else total

    def _over_trees(self, k: int) -> str:
        terms = [self.zero]
        for t, tree in enumerate(self.program.trees):
            weight = "" if tree.weight == 1 else f"{self.dialect.number(tree.weight)} * "
            terms.append(f"{weight}{self.mark}t{t}_{k}")
        return " + ".join(terms)

    def _step(self, step: Step, current: Sequence[str]) -> list[str]:
        number = self.dialect.number
        match step:
            case Divide(by):
                return [f"{p} / {number(by)}" for p in current]
            case Scale(factor, offset):
                return [f"{number(factor)} * {p} + {number(offset)}" for p in current]
            case Power(exponent):
                return [f"pow({p}, {number(exponent)})" for p in current]
            case Multiply(factors):
                return [f"{p} * {number(factor)}" for p, factor in zip(current, factors, strict=True)]
            case Normalise(if_zero):
                total = re.sub(r"\d+", lambda found: current[int(found[0])], added(summation_order(len(current)), "{}"))
                if if_zero is None:
                    return [f"{p} / {total}" for p in current]
                rest = f"ELSE {number(if_zero)} END"
                return [f"CASE WHEN {total} > {self.zero} THEN {p} / {total} {rest}" for p in current]

    def _best(self, values: Sequence[str], ahead: str) -> str:
        """Label of the first of the best."""
        assert self.program.classes is not None
        labels = [self.dialect.literal(label) for label in self.program.classes]
        tests = [
            f"WHEN {' AND '.join(f'{value} {ahead} {other}' for other in values[k + 1 :])} THEN {labels[k]}"
            for k, value in enumerate(values[:-1])
        ]
        return f"CASE {' '.join(tests)} ELSE {labels[-1]} END" if tests else labels[0]


def _depth(tree: CodeTree) -> int:
    """Splits above each other."""
    depth = [0] * len(tree.nodes)
    for at, node in enumerate(tree.nodes):
        for child in node.children:
            depth[child] = depth[at] + 1
    return max(depth)
