"""A model as a C99 file that needs nothing but the standard library."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from hedgerow._printable import printable
from hedgerow.codegen.finish import Divide, Multiply, Normalise, Power, Scale, Step, summation_order
from hedgerow.codegen.program import CodeNode, Program
from hedgerow.codegen.python import added

__all__ = ["c_code"]

_HEAD = """\
/* {title}

   Written by hedgerow {version}. A row is an array of {n_columns} doubles, in the order of {name}_columns; NAN is a
   missing value. A category is given by its code, {name}_code(column, "its name"), which is NAN for one that was not
   there in training. Compile without -ffast-math. */

#include <math.h>
#include <string.h>

"""
_WALK = """
static int {name}_child(const struct {name}_node *node, const double *row) {{
    double value;
    if (node->kind == 3) {{
        int n_known = 0;
        for (int i = node->first; i < node->first + node->n; ++i) n_known += !isnan(row[{name}_features[i]]);
        value = 0.0;
        for (int i = node->first; i < node->first + node->n; ++i) {{
            const double number = row[{name}_features[i]];
            volatile double product = {name}_weights[i] * (isnan(number) && n_known > 0 ? {name}_means[i] : number);
            value += product; /* volatile: never fused into one rounding */
        }}
    }} else {{
        value = row[node->column];
    }}
    if (isnan(value)) return -1;
    if (node->kind == 2) {{
        if (!(value >= 0.0 && value < node->n) || value != (int)value) return -1;
        return {name}_taken[node->first + (int)value];
    }}
    return value <= node->threshold ? node->left : node->right;
}}

/* Adds what the leaves of a tree say, each as much as it is reached. */
static void {name}_add(const struct {name}_node *tree, int n_nodes, const double *values, double tree_weight,
                       const double *row, double *total) {{
    double weights[{most_nodes}], mean[{n_values}] = {{0.0}};
    int at = 0, child = 0;
    while (tree[at].kind != 0) {{
        child = {name}_child(&tree[at], row);
        if (child < 0 && tree[at].n_parts > 1) break;
        at = child < 0 ? {name}_part[tree[at].parts] : child;
    }}
    for (int i = at; i < n_nodes; ++i) weights[i] = 0.0;
    weights[at] = 1.0;
    for (int i = at; i < n_nodes; ++i) {{ /* children follow their parents */
        const struct {name}_node *node = &tree[i];
        if (weights[i] == 0.0) continue;
        if (node->kind == 0) {{
            for (int k = 0; k < {n_values}; ++k) {{
                volatile double product = weights[i] * values[node->n * {n_values} + k];
                mean[k] += product;
            }}
            if (weights[i] == 1.0) break; /* no other leaf is reached */
        }} else if ((child = {name}_child(node, row)) >= 0) {{
            weights[child] = weights[i];
        }} else {{
            for (int j = node->parts; j < node->parts + node->n_parts; ++j)
                weights[{name}_part[j]] = {name}_share[j] * weights[i];
        }}
    }}
    for (int k = 0; k < {n_values}; ++k) {{
        volatile double product = tree_weight * mean[k];
        total[k] += product;
    }}
}}
"""


def c_code(program: Program, version: str, name: str = "tree") -> str:
    """Write the file; all its names begin with `name`.

    Parameters
    ----------
    program : Program
        The model.
    version : str
        Version that is named in the first line.
    name : str, default="tree"
        What all names in the file begin with.

    Returns
    -------
    str
        The source of the file.

    Raises
    ------
    ValueError
        If `name` is not an identifier of C.

    Examples
    --------
    >>> from hedgerow import TreeRegressor
    >>> from hedgerow.codegen import c_code, make_program
    >>> tree = TreeRegressor(max_leaf_nodes=2).fit([[1], [2], [3]], [10, 10, 40])
    >>> program = make_program("two leaves", tree.forest_, tree.schema_, tree.forest_.leaf_stats[:, 1:2], [])
    >>> "double price_predict(" in c_code(program, version="0.1", name="price")
    True
    """
    if not re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError(f"name is {name!r}, must be a C identifier, such as 'tree'")
    writer = _Writer(program, name)
    most_nodes = max((len(tree.nodes) for tree in program.trees), default=1)
    fixed = {"name": name, "most_nodes": most_nodes, "n_values": program.n_values}
    title = printable(program.title).replace("*/", "* /")
    head = _HEAD.format(title=title, version=version, n_columns=len(program.columns), name=name)
    return "".join([head, *writer.data(), _WALK.format(**fixed), *writer.functions()])


class _Writer:
    def __init__(self, program: Program, name: str) -> None:
        self.program, self.name = program, name
        # Ragged parts of all nodes, one behind the other.
        self.taken: list[int] = []
        self.weights: list[float] = []
        self.means: list[float] = []  # stand in for missing values; NAN: nothing does
        self.features: list[int] = []
        self.part: list[int] = []
        self.share: list[float] = []

    def data(self) -> Iterator[str]:
        name, program = self.name, self.program
        columns = ", ".join(_text(column.name) for column in program.columns)
        yield f"const char *const {name}_columns[{len(program.columns)}] = {{{columns}}};\n"
        if program.classes is not None:
            labels = ", ".join(_text(str(label)) for label in program.classes)
            yield f"const char *const {name}_classes[{len(program.classes)}] = {{{labels}}};\n"
        yield (
            "\n/* kind: 0 a leaf, its number is n; 1 column <= threshold; 2 by category; 3 sum <= threshold.\n"
            "   Without a value a row goes to n_parts children, each with its share. */\n"
            f"struct {name}_node {{\n    int kind, column, first, n, left, right, parts, n_parts;\n"
            "    double threshold;\n};\n"
        )
        for number, tree in enumerate(program.trees):
            yield f"static const struct {name}_node {name}_tree_{number}[] = {{\n"
            yield from (f"    {{{self._node(node)}}},\n" for node in tree.nodes)
            yield "};\n"
            yield _array(f"double {name}_values_{number}", tree.values.ravel().tolist())
        yield _array(f"int {name}_taken", self.taken)
        yield _array(f"double {name}_weights", self.weights)
        yield _array(f"double {name}_means", self.means)
        yield _array(f"int {name}_features", self.features)
        yield _array(f"int {name}_part", self.part)
        yield _array(f"double {name}_share", self.share)

    def _node(self, node: CodeNode) -> str:
        if node.leaf >= 0:
            return f"0, 0, 0, {node.leaf}, 0, 0, 0, 0, 0.0"
        first, n, left, right = 0, 0, *(node.children[:2] if not node.child_of_category else (0, 0))
        kind, column = 1, node.features[0] if node.features else 0
        if node.child_of_category:
            kind, first, n = 2, len(self.taken), len(node.child_of_category)
            self.taken += node.child_of_category
        elif node.weights:
            kind, first, n = 3, len(self.weights), len(node.weights)
            self.weights += node.weights
            self.means += node.means or [float("nan")] * len(node.weights)
            self.features += node.features
        parts = len(self.part)
        self.part += [child for child, _ in node.without_value]
        self.share += [share for _, share in node.without_value]
        threshold = "0.0" if node.child_of_category else number(node.threshold)
        numbers = (kind, column, first, n, left, right, parts, len(node.without_value))
        return f"{', '.join(map(str, numbers))}, {threshold}"

    def functions(self) -> Iterator[str]:
        name, program = self.name, self.program
        yield from self._code_function()
        n = program.n_values
        yield f"\n/* {'Probability of each class' if program.classes is not None else 'The answer'}. */\n"
        returned = "double" if program.classes is None else "void"
        verb, out = ("predict", "") if program.classes is None else ("predict_proba", ", double *p")
        yield f"{returned} {name}_{verb}(const double *row{out}) {{\n"
        if program.classes is None:
            yield f"    double p[{n}];\n"
        yield f"    for (int k = 0; k < {n}; ++k) p[k] = 0.0;\n"
        for number_, tree in enumerate(program.trees):
            yield (
                f"    {name}_add({name}_tree_{number_}, {len(tree.nodes)}, {name}_values_{number_}, "
                f"{number(tree.weight)}, row, p);\n"
            )
        for step in program.steps:
            yield from (f"    {line}\n" for line in _step(step, n))
        yield "    return p[0];\n}\n" if program.classes is None else "}\n"
        if program.classes is not None:
            yield from self._predict(len(program.classes))

    def _predict(self, n: int) -> Iterator[str]:
        name, costs = self.name, self.program.costs
        best = "most probable class" if costs is None else "class of least expected cost"
        yield f"\n/* Number of the {best}, the first of equals; its label is {name}_classes[number]. */\n"
        yield f"int {name}_predict(const double *row) {{\n    double p[{n}];\n    int best = 0;\n"
        yield f"    {name}_predict_proba(row, p);\n"
        if costs is None:
            yield f"    for (int k = 1; k < {n}; ++k)\n        if (p[k] > p[best]) best = k;\n"
        else:
            rows = ", ".join(f"{{{', '.join(map(number, row))}}}" for row in costs.tolist())
            yield f"    static const double cost[{n}][{n}] = {{{rows}}};\n"
            yield f"    double expected[{n}] = {{0.0}};\n"
            yield f"    for (int i = 0; i < {n}; ++i)\n        for (int k = 0; k < {n}; ++k) {{\n"
            yield "            volatile double product = p[i] * cost[i][k];\n"
            yield "            expected[k] += product;\n        }\n"
            yield f"    for (int k = 1; k < {n}; ++k)\n        if (expected[k] < expected[best]) best = k;\n"
        yield "    return best;\n}\n"

    def _code_function(self) -> Iterator[str]:
        name = self.name
        yield "\n/* Code of a category of a column; NAN if it was not there in training. */\n"
        yield f"double {name}_code(int column, const char *category) {{\n    (void)category;\n    switch (column) {{\n"
        for number_, column in enumerate(self.program.columns):
            if column.categories:
                yield f"        case {number_}:\n"
                for code, category in enumerate(column.categories):
                    yield f"            if (strcmp(category, {_text(str(category))}) == 0) return {code}.0;\n"
                yield "            break;\n"
        yield "        default:\n            break;\n    }\n    return NAN;\n}\n"


def number(value: float) -> str:
    """A double that compilers read back to the last bit."""
    if value != value:
        return "NAN"
    if value in (float("inf"), -float("inf")):
        return "INFINITY" if value > 0 else "-INFINITY"
    return repr(float(value))


def _text(value: str) -> str:
    """A string literal: ASCII as it is, other bytes in octal, which can't swallow the next character."""
    return '"' + "".join(_character(byte) for byte in value.encode("utf-8", "surrogatepass")) + '"'


def _character(byte: int) -> str:
    plain = 32 <= byte < 127 and byte not in b'"\\?'  # "??" would begin a trigraph
    return chr(byte) if plain else f"\\{byte:03o}"


def _array(declared: str, values: Sequence[Any]) -> str:
    """An array, which has an entry even where none is needed: C has no empty arrays."""
    texts = [number(value) if isinstance(value, float) else str(value) for value in values] or ["0"]
    lines = [", ".join(texts[first : first + 8]) for first in range(0, len(texts), 8)]
    return f"static const {declared}[] = {{\n    " + ",\n    ".join(lines) + ",\n};\n"


def _step(step: Step, n: int) -> Iterator[str]:
    each = f"for (int k = 0; k < {n}; ++k)"
    match step:
        case Divide(by):
            yield f"{each} p[k] = p[k] / {number(by)};"
        case Scale(factor, offset):
            yield f"{each} {{ volatile double product = {number(factor)} * p[k]; p[k] = product + {number(offset)}; }}"
        case Power(exponent):
            yield f"{each} p[k] = pow(p[k], {number(exponent)});"
        case Multiply(factors):
            listed = ", ".join(map(number, factors))
            yield f"{{ static const double factor[] = {{{listed}}}; {each} p[k] *= factor[k]; }}"
        case Normalise(if_zero):
            total = added(summation_order(n), "p[{}]")
            value = "p[k] / total" if if_zero is None else f"total > 0.0 ? p[k] / total : {number(if_zero)}"
            yield f"{{ const double total = {total}; {each} p[k] = {value}; }}"
