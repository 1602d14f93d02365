"""A model as a Python module that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from typing import Any

from hedgerow.codegen.finish import Divide, Multiply, Normalise, Power, Scale, Step, summation_order
from hedgerow.codegen.program import CodeNode, Program

__all__ = ["python_code"]

_HEAD = '''\
"""{title}

Written by hedgerow {version}. `predict` and `predict_proba` take one row: a mapping from the names in COLUMNS to
values, or a sequence of values in that order. None and NaN are missing values.
"""

from math import inf, isinf

COLUMNS = {columns}
CATEGORIES = {categories}  # code of each category, by column; None: numbers
'''
_WALK = '''

def _encoded(row):
    """The numbers of a row; NaN where a value is missing, or a category that was not there in training."""
    values = [row[name] for name in COLUMNS] if hasattr(row, "keys") else row
    if len(values) != len(COLUMNS):
        raise ValueError(f"the row has {len(values)} values, must have {len(COLUMNS)}")
    numbers = []
    for name, codes, value in zip(COLUMNS, CATEGORIES, values):
        if codes is not None:
            number = float("nan") if value is None else codes.get(value, float("nan"))
        else:
            number = float("nan") if value is None else float(value)
            if isinf(number):
                raise ValueError(f"{name} is infinite")
        numbers.append(number)
    return numbers


def _child(node, row):
    """The child that a row takes; None without a value."""
    kind, test, at, children, _ = node
    if kind == "number":
        value = row[test]
    elif kind == "sum":
        value = 0.0
        known = any(row[column] == row[column] for _, column, _ in test)
        for weight, column, mean in test:
            number = row[column]
            if number != number and known and mean is not None:  # its mean stands in for a missing value
                number = mean
            value += weight * number
    else:
        value = row[test]
        return None if value != value else at[int(value)]
    return None if value != value else children[0] if value <= at else children[1]


def _add(tree, tree_weight, row, total):
    """Add what the leaves of a tree say, each as much as it is reached."""
    at = 0
    while isinstance(tree[at], list):
        child = _child(tree[at], row)
        if child is None:
            parts = tree[at][4]
            if len(parts) > 1:
                break
            child = parts[0][0]
        at = child
    else:
        for k, value in enumerate(tree[at]):
            total[k] += tree_weight * value
        return
    weights = [0.0] * len(tree)
    weights[at] = 1.0
    mean = [0.0] * len(total)
    for at in range(at, len(tree)):  # children follow their parents
        weight, node = weights[at], tree[at]
        if weight == 0.0:
            continue
        if isinstance(node, list):
            child = _child(node, row)
            for child, share in node[4] if child is None else [(child, 1.0)]:
                weights[child] = share * weight
        else:
            for k, value in enumerate(node):
                mean[k] += weight * value
    for k, value in enumerate(mean):
        total[k] += tree_weight * value
'''


def python_code(program: Program, version: str) -> str:
    """Write the module.

    Parameters
    ----------
    program : Program
        The model.
    version : str
        Version that is named in the first line.

    Returns
    -------
    str
        The source of the module.

    Examples
    --------
    >>> from hedgerow import TreeRegressor
    >>> from hedgerow.codegen import make_program, python_code
    >>> tree = TreeRegressor(max_leaf_nodes=2).fit([[1], [2], [3]], [10, 10, 40])
    >>> program = make_program("two leaves", tree.forest_, tree.schema_, tree.forest_.leaf_stats[:, 1:2], [])
    >>> module = {}
    >>> exec(python_code(program, version="0.1"), module)
    >>> module["predict"]([3.0])
    40.0
    """
    columns = tuple(column.name for column in program.columns)
    categories = tuple(_codes(column) for column in program.columns)
    parts = [_HEAD.format(title=_docstring(program.title), version=version, columns=columns, categories=categories)]
    if program.classes is not None:
        parts.append(f"CLASSES = {program.classes!r}\n")
    parts += ["\n", *_trees(program), _WALK, "\n\n", "\n".join(_finish(program)), "\n"]
    return "".join(parts)


def _docstring(title: str) -> str:
    return title.replace("\\", "\\\\").replace('"""', "'''")


def _codes(column: Any) -> dict[Any, float] | None:
    if not column.categories or column.kind == "numeric":  # truth values are numbers
        return None
    return {category: float(code) for code, category in enumerate(column.categories)}


def _trees(program: Program) -> Iterator[str]:
    yield "# Nodes of each tree: the numbers of a leaf as a tuple, or a split as a list: what it tests and where\n"
    yield "# (the child of each category), its children, and those of a row without a value, with their parts.\n"
    yield "TREES = [\n"
    for tree in program.trees:
        yield f"    ({tree.weight!r}, [\n"
        for node in tree.nodes:
            written = tuple(tree.values[node.leaf].tolist()) if node.leaf >= 0 else _split(node)
            yield f"        {written!r},\n"
        yield "    ]),\n"
    yield "]\n"


def _split(node: CodeNode) -> list[Any]:
    parts = list(node.without_value)
    if node.weights:
        means = node.means or [None] * len(node.weights)
        known_means = [None if mean is None or isnan(mean) else mean for mean in means]
        test = list(zip(node.weights, node.features, known_means, strict=True))
        return ["sum", test, node.threshold, list(node.children), parts]
    if node.child_of_category:
        taken = [None if child < 0 else child for child in node.child_of_category]
        return ["category", node.features[0], taken, list(node.children), parts]
    return ["number", node.features[0], node.threshold, list(node.children), parts]


def _finish(program: Program) -> Iterator[str]:
    name = "predict" if program.classes is None else "predict_proba"
    yield f"def {name}(row):"
    yield '    """The answer for a row."""' if program.classes is None else '    """Probability of each of CLASSES."""'
    yield "    row = _encoded(row)"
    yield f"    p = [0.0] * {program.n_values}"
    yield "    for tree_weight, tree in TREES:"
    yield "        _add(tree, tree_weight, row, p)"
    for step in program.steps:
        yield from (f"    {line}" for line in _step(step, program.n_values))
    if program.classes is None:
        yield "    return p[0]"
        return
    yield "    return p"
    yield ""
    yield ""
    yield "def predict(row):"
    if program.costs is None:
        yield '    """The most probable class; the first of equals."""'
        yield "    p = predict_proba(row)"
        yield "    return CLASSES[max(range(len(p)), key=p.__getitem__)]"
    else:
        yield '    """The class of least expected cost; the first of equals."""'
        yield f"    costs = {program.costs.tolist()!r}"
        yield "    expected = [0.0] * len(CLASSES)"
        yield "    for share, of_class in zip(predict_proba(row), costs):"
        yield "        expected = [total + share * cost for total, cost in zip(expected, of_class)]"
        yield "    return CLASSES[min(range(len(expected)), key=expected.__getitem__)]"


def _step(step: Step, n: int) -> Iterator[str]:
    match step:
        case Divide(by):
            yield f"p = [value / {by!r} for value in p]"
        case Scale(factor, offset):
            yield f"p = [{factor!r} * value + {offset!r} for value in p]"
        case Power(exponent):
            yield f"p = [value ** {exponent!r} for value in p]"
        case Multiply(factors):
            yield f"p = [value * factor for value, factor in zip(p, {factors!r})]"
        case Normalise(if_zero):
            yield f"total = {added(summation_order(n), 'p[{}]')}"
            rest = "" if if_zero is None else f" if total > 0 else {if_zero!r}"
            yield f"p = [value / total{rest} for value in p]"


def added(order: Any, form: str) -> str:
    """A sum in a given order; `form` writes one summand by its number."""
    if not isinstance(order, list):
        return form.format(order)
    left, right = order
    text = f"{added(left, form)} + {added(right, form)}"
    return f"({text})"
