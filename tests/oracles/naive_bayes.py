"""A slow and literal NBTree: exact fractions, explicit folds and products, a recursion for everything.

Kohavi, Scaling up the accuracy of naive-Bayes classifiers, 1996; Fayyad and Irani, Multi-interval discretization, 1993.
Rows are given in the order in which folds are dealt: the i-th row of a node is in fold i mod 5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from hedgerow import building

NAN = math.nan
EQUAL = 1e-9
Part = list[tuple[int, Fraction]]
"""Rows of a node and how much of each."""


@dataclass(frozen=True)
class Data:
    rows: Sequence[Sequence[float]]
    labels: Sequence[int]
    n_classes: int
    n_categories: Sequence[int]
    smoothing: float = 0.0
    """Above 0: numbers are normal."""

    @property
    def columns(self) -> range:
        return range(len(self.n_categories))

    def whole(self) -> Part:
        return [(i, Fraction(1)) for i in range(len(self.rows))]

    def has_density(self, column: int) -> bool:
        return self.smoothing > 0 and not self.n_categories[column]


# -- entropy


def entropy(counts: Sequence[Fraction]) -> float:
    total = sum(counts)
    return -sum(float(n / total) * math.log2(n / total) for n in counts if n)


def class_counts(data: Data, part: Part) -> list[Fraction]:
    counts = [Fraction(0)] * data.n_classes
    for i, weight in part:
        counts[data.labels[i]] += weight
    return counts


def known(data: Data, part: Part, column: int) -> Part:
    return [(i, weight) for i, weight in part if not math.isnan(data.rows[i][column])]


def midpoint(low: float, high: float) -> float:
    middle = low / 2 + high / 2
    return middle if low <= middle < high else low


def best_cut(data: Data, part: Part, column: int) -> tuple[float, Part, Part] | None:
    """The first threshold of least mean entropy; None if all is of one value or one class."""
    values = sorted({data.rows[i][column] for i, _ in part})
    if sum(n > 0 for n in class_counts(data, part)) < 2 or len(values) < 2:
        return None
    found = []
    for low, high in pairwise(values):
        sides = [
            [(i, w) for i, w in part if data.rows[i][column] <= low],
            [(i, w) for i, w in part if data.rows[i][column] > low],
        ]
        bits = sum(float(sum(w for _, w in side)) * entropy(class_counts(data, side)) for side in sides)
        found.append((bits, midpoint(low, high), *sides))
    least = min(bits for bits, *_ in found)
    return next(tuple(rest) for bits, *rest in found if bits <= least + EQUAL)


def cut_points(data: Data, part: Part, column: int) -> list[float]:
    """Fayyad and Irani: the best cut, if it shortens the description, and those of its two sides."""
    best = best_cut(data, part, column)
    if best is None:
        return []
    threshold, left, right = best
    whole, first, second = (class_counts(data, one) for one in (part, left, right))
    n = float(sum(whole))
    k, k1, k2 = (sum(count > 0 for count in counts) for counts in (whole, first, second))
    remaining = float(sum(first)) / n * entropy(first) + float(sum(second)) / n * entropy(second)
    gain = entropy(whole) - remaining
    delta = math.log2(3**k - 2) - (k * entropy(whole) - k1 * entropy(first) - k2 * entropy(second))
    if not gain > (math.log2(max(n - 1, 1)) + delta) / n:
        return []
    return [*cut_points(data, left, column), threshold, *cut_points(data, right, column)]


# -- naive Bayes


class NaiveBayes:
    """Counted on `training`; the slots of columns are those of all rows of the node."""

    def __init__(self, data: Data, training: Part, node: Part) -> None:
        self.data, self.training = data, training
        self.counts = class_counts(data, training)
        self.cuts: dict[int, list[float]] = {}
        self.codes: dict[int, list[float]] = {}
        for j in data.columns:
            there = known(data, node, j)
            if data.n_categories[j]:
                self.codes[j] = sorted({data.rows[i][j] for i, _ in there})
            elif not data.has_density(j):
                self.cuts[j] = cut_points(data, there, j)

    def slot(self, column: int, x: float) -> float | None:
        if math.isnan(x):
            return None
        if column in self.codes:
            return x if x in self.codes[column] else None
        return sum(x > cut for cut in self.cuts[column])

    def share(self, column: int, slot: float, label: int) -> Fraction:
        n_slots = len(self.codes[column]) if column in self.codes else len(self.cuts[column]) + 1
        of_class = [(i, w) for i, w in known(self.data, self.training, column) if self.data.labels[i] == label]
        there = sum(w for i, w in of_class if self.slot(column, self.data.rows[i][column]) == slot)
        return (there + 1) / (sum(w for _, w in of_class) + Fraction(n_slots))

    def log_density(self, column: int, x: float, label: int) -> float:
        """Of the class; of everyone, if no number of the class is known; nothing, if all numbers are the same."""
        there = known(self.data, self.training, column)
        if math.isnan(x) or not there:
            return 0.0
        mean, variance = self._moments(column, there)
        if variance <= (1e-14 * mean) ** 2:
            return 0.0
        added = self.data.smoothing * variance
        if of_class := [(i, w) for i, w in there if self.data.labels[i] == label]:
            mean, variance = self._moments(column, of_class)
        variance += added
        return -math.log(variance) / 2 - (x - mean) ** 2 / (2 * variance)

    def _moments(self, column: int, part: Part) -> tuple[float, float]:
        numbers = [(self.data.rows[i][column], float(w)) for i, w in part]
        total = math.fsum(w for _, w in numbers)
        mean = math.fsum(x * w for x, w in numbers) / total
        return mean, math.fsum(w * (x - mean) ** 2 for x, w in numbers) / total

    def scores(self, row: Sequence[float]) -> tuple[list[Fraction], list[float]]:
        """For each class the product of prior and shares, exactly, and the logarithm of the densities."""
        n, data = sum(self.counts), self.data
        products, logs = [], []
        for label in range(data.n_classes):
            product = (self.counts[label] + 1) / (n + Fraction(data.n_classes))
            log = 0.0
            for j, x in enumerate(row):
                if data.has_density(j):
                    log += self.log_density(j, x, label)
                elif (slot := self.slot(j, x)) is not None:
                    product *= self.share(j, slot, label)
            products.append(product)
            logs.append(log)
        return products, logs

    def best(self, row: Sequence[float]) -> list[int]:
        """The most probable class, or several that are equally probable."""
        products, logs = self.scores(row)
        if self.data.smoothing == 0:
            return [label for label, product in enumerate(products) if product == max(products)]
        whole = [log + _log(product) for product, log in zip(products, logs, strict=True)]
        return [label for label, log in enumerate(whole) if log >= max(whole) - EQUAL]

    def probabilities(self, row: Sequence[float]) -> list[float]:
        products, logs = self.scores(row)
        whole = [log + _log(product) for product, log in zip(products, logs, strict=True)]
        weights = [math.exp(log - max(whole)) for log in whole]
        return [weight / math.fsum(weights) for weight in weights]


def _log(x: Fraction) -> float:
    return math.log(x.numerator) - math.log(x.denominator)


def hits(data: Data, node: Part) -> Fraction:
    """The weight of the rows that naive Bayes, learned from the four other folds, gets right."""
    right = Fraction(0)
    for fold in range(5):
        training = [one for number, one in enumerate(node) if number % 5 != fold]
        model = NaiveBayes(data, training, node)
        for i, weight in node[fold::5]:
            best = model.best(data.rows[i])
            if data.labels[i] in best:
                right += weight / len(best)
    return right


# -- the tree


@dataclass(frozen=True)
class Split:
    feature: int
    threshold: float
    """NaN: a branch for each of `codes`."""
    codes: tuple[int, ...]

    def branch(self, row: Sequence[float]) -> int | None:
        x = row[self.feature]
        if math.isnan(x):
            return None
        if math.isnan(self.threshold):
            return self.codes.index(int(x)) if int(x) in self.codes else None
        return int(x > self.threshold)

    @property
    def n_branches(self) -> int:
        return len(self.codes) or 2


def splits(data: Data, node: Part) -> list[Split]:
    found = []
    for j in data.columns:
        there = known(data, node, j)
        if data.n_categories[j]:
            codes = sorted({int(data.rows[i][j]) for i, _ in there})
            if len(codes) > 1:
                found.append(Split(j, NAN, tuple(codes)))
        elif (best := best_cut(data, there, j)) is not None:
            found.append(Split(j, best[0], ()))
    return found


def divide(data: Data, node: Part, split: Split) -> list[Part]:
    """Rows by branch; those without a value in parts, those of which there is little down the heaviest branch."""
    known_weight = [Fraction(0)] * split.n_branches
    for i, weight in node:
        if (branch := split.branch(data.rows[i])) is not None:
            known_weight[branch] += weight
    heaviest = known_weight.index(max(known_weight))
    branches: list[Part] = [[] for _ in known_weight]
    for i, weight in node:
        branch = split.branch(data.rows[i])
        if branch is None and weight < Fraction(1, 64):
            branch = heaviest
        if branch is not None:
            branches[branch].append((i, weight))
            continue
        for rows, share in zip(branches, known_weight, strict=True):
            rows.append((i, weight * share / sum(known_weight)))
    return branches


@dataclass(frozen=True)
class Tree:
    node: Part
    split: Split | None
    children: tuple[Tree, ...]


def grow(data: Data, node: Part, least: float, reduction: float) -> Tree:
    """Split where the best split saves enough of the error; then each branch."""
    weight, right = sum(w for _, w in node), hits(data, node)
    if float(weight) < least - EQUAL or weight == right:
        return Tree(node, None, ())
    best, most = None, Fraction(-1)
    for split in splits(data, node):
        found = sum((hits(data, branch) for branch in divide(data, node, split)), Fraction(0))
        if found > most:
            best, most = split, found
    if best is None or float(most - right) < reduction * float(weight - right) - EQUAL:
        return Tree(node, None, ())
    branches = divide(data, node, best)
    return Tree(node, best, tuple(grow(data, branch, least, reduction) for branch in branches))


def as_node(data: Data, tree: Tree) -> building.Node:
    if tree.split is None:
        return building.leaf(map(float, class_counts(data, tree.node)))
    children = [as_node(data, child) for child in tree.children]
    if tree.split.codes:
        return building.multiway(tree.split.feature, dict(zip(tree.split.codes, children, strict=True)))
    return building.threshold(tree.split.feature, tree.split.threshold, *children)


def predict_proba(data: Data, tree: Tree, row: Sequence[float]) -> list[float]:
    """The answer of the row's leaf; of the branches in proportion to their rows, where the row has no branch."""
    if tree.split is None:
        return NaiveBayes(data, tree.node, tree.node).probabilities(row)
    branch = tree.split.branch(row)
    if branch is not None:
        return predict_proba(data, tree.children[branch], row)
    weights = [float(sum(w for _, w in child.node)) for child in tree.children]
    answers = [predict_proba(data, child, row) for child in tree.children]
    shares = [weight / math.fsum(weights) for weight in weights]
    return [math.fsum(s * a[c] for s, a in zip(shares, answers, strict=True)) for c in range(data.n_classes)]
