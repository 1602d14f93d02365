"""Slow truths for growth: every split of a node enumerated, every instance moved by hand, in plain Python numbers.

Written from the definitions (impurity, gain, gain ratio, missing values) and not from the core. `check_tree` follows a
grown tree from the root: at each node it makes the instances anew and asks whether the node's split, its weight
and the numbers of its leaves are what the definitions say.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2_contingency

import oracles
from hedgerow import Forest
from hedgerow.forest.kinds import MissingPolicy, NodeKind

# Values are relative to what they are made of: the node's weight, or its squares about the root's mean. The core calls
# two values within 1e-12 a tie. Its sums differ from ours by rounding: what is closer than CLOSE is a tie for both,
# what is further apart than APART for neither, and between the two lies a grey zone in which nothing is claimed.
CLOSE = 1e-13
APART = 1e-9


class Instance(NamedTuple):
    """A training row, or the part of one that reached a node."""

    row: int
    weight: float
    fraction: float


Instances = tuple[Instance, ...]


@dataclass(frozen=True)
class Problem:
    """Training data, a list for each column with NaN where missing, and the settings of growth."""

    columns: list[list[float]]
    n_categories: list[int]
    targets: list[float]  # numbers, or the codes of classes
    weights: list[float]
    n_classes: int = 0  # 0: regression
    criterion: str = "squared_error"
    nominal: str = "multiway"
    missing: str = "fractional"
    min_fraction: float = 1 / 64
    max_depth: int | None = None
    min_samples_split: int = 2
    min_samples_leaf: int = 1
    min_weight_fraction_leaf: float = 0.0
    min_impurity_decrease: float = 0.0
    max_leaf_nodes: int | None = None
    significance: float = 1.0
    class_costs: list[list[float]] | None = None
    feature_costs: list[float] | None = None

    @property
    def total_weight(self) -> float:
        return math.fsum(self.weights)

    def with_rows(self, rows: Sequence[int]) -> Problem:
        """These rows in this order."""
        return replace(
            self,
            columns=[[column[row] for row in rows] for column in self.columns],
            targets=[self.targets[row] for row in rows],
            weights=[self.weights[row] for row in rows],
        )


@dataclass(frozen=True)
class Split:
    """What a node may ask. `branches` are the instances that it looks at, in the order of the children."""

    feature: int
    kind: NodeKind
    policy: MissingPolicy
    threshold: float
    codes: tuple[int, ...]  # multiway: the child of each category, -1 for none
    branches: tuple[Instances, ...]
    gain: float = math.nan
    split_information: float = math.nan


# -- impurity, of absolute weight


def weight_of(instances: Sequence[Instance]) -> float:
    return math.fsum(instance.weight for instance in instances)


def rows_of(instances: Sequence[Instance]) -> float:
    return math.fsum(instance.fraction for instance in instances)


def class_counts(problem: Problem, instances: Sequence[Instance]) -> list[float]:
    weights: list[list[float]] = [[] for _ in range(problem.n_classes)]
    for instance in instances:
        weights[int(problem.targets[instance.row])].append(instance.weight)
    return [math.fsum(of_class) for of_class in weights]


def mean_and_squares(problem: Problem, instances: Sequence[Instance]) -> tuple[float, float]:
    """Mean and Σ w·(y − mean)²; from differences to one target, which are exact where targets are close."""
    origin = problem.targets[instances[0].row]
    parts = [(instance.weight, problem.targets[instance.row] - origin) for instance in instances]
    mean = math.fsum(w * y for w, y in parts) / math.fsum(w for w, _ in parts)
    return origin + mean, math.fsum(w * (y - mean) ** 2 for w, y in parts)


def impurity(problem: Problem, instances: Sequence[Instance]) -> float:
    """gini W·(1 − Σ p²), or W·Σ λ_ij·p_i·p_j, entropy W·(−Σ p·log2 p) in bits, squared_error Σ w·(y − mean)²."""
    if not instances:
        return 0.0
    if problem.n_classes == 0:
        return mean_and_squares(problem, instances)[1]
    counts = class_counts(problem, instances)
    total = math.fsum(counts)
    shares = [count / total for count in counts]
    if problem.class_costs is not None and problem.criterion == "gini":
        pairs = [(i, j) for i in range(len(shares)) for j in range(len(shares))]
        return total * math.fsum(problem.class_costs[i][j] * shares[i] * shares[j] for i, j in pairs)
    if problem.criterion == "gini":
        return total * (1 - math.fsum(p * p for p in shares))
    return -total * math.fsum(p * math.log2(p) for p in shares if p > 0)


def scale_of(problem: Problem, instances: Sequence[Instance]) -> float:
    """What values at a node are compared on the scale of."""
    if problem.n_classes:
        costs = problem.class_costs if problem.criterion == "gini" else None
        return weight_of(instances) * (max(map(max, costs)) if costs else 1.0)
    root_mean = mean_and_squares(problem, root_instances(problem))[0]
    return math.fsum(w * (problem.targets[row] - root_mean) ** 2 for row, w, _ in instances)


def root_instances(problem: Problem) -> Instances:
    return tuple(Instance(row, weight, 1.0) for row, weight in enumerate(problem.weights))


# -- every split of a column, in the order in which ties are broken


def splits(problem: Problem, instances: Instances, feature: int) -> list[Split]:
    column = problem.columns[feature]
    known = tuple(i for i in instances if not math.isnan(column[i.row]))
    unknown = tuple(i for i in instances if math.isnan(column[i.row]))
    enumerate_all = _thresholds if problem.n_categories[feature] == 0 else _CATEGORIES[problem.nominal]
    offered = enumerate_all(problem, feature, known, unknown)
    least_rows = float(problem.min_samples_leaf)
    if problem.criterion == "c45" and problem.n_categories[feature] == 0:
        least_rows = max(least_rows, min(25.0, 0.1 * rows_of(known) / problem.n_classes))
    valid = [_with_worth(problem, split, instances) for split in offered if _is_valid(problem, split, least_rows)]
    if problem.criterion == "c45" and problem.n_categories[feature] == 0:
        return [replace(split, gain=split.gain - math.log2(len(valid))) for split in valid]
    return valid


def _thresholds(problem: Problem, feature: int, known: Instances, unknown: Instances) -> list[Split]:
    column = problem.columns[feature]

    def ask(policy: MissingPolicy, threshold: float, *branches: Instances) -> Split:
        return Split(feature, NodeKind.THRESHOLD, policy, threshold, (), branches)

    found = _known_against_missing(problem, feature, known, unknown)
    for low, high in pairwise(sorted({column[i.row] for i in known})):
        middle = low / 2 + high / 2
        at = low if middle == high else middle
        if problem.criterion == "c45":
            at = max(value for value in column if value <= at)
        left = tuple(i for i in known if column[i.row] <= at)
        right = tuple(i for i in known if column[i.row] > at)
        if problem.missing == "fractional" or not unknown:
            found.append(ask(MissingPolicy.SPREAD, at, left, right))
        elif problem.missing == "category":
            found.append(ask(MissingPolicy.OWN_BRANCH, at, left, right, unknown))
        else:
            found.append(ask(MissingPolicy.FIRST_CHILD, at, left + unknown, right))
            found.append(ask(MissingPolicy.LAST_CHILD, at, left, right + unknown))
    return found


def _multiway(problem: Problem, feature: int, known: Instances, unknown: Instances) -> list[Split]:
    column = problem.columns[feature]
    present = sorted({int(column[i.row]) for i in known})
    if len(present) + bool(unknown and problem.missing != "fractional") < 2:
        return []
    if problem.criterion == "c45":  # every category has a branch
        present = list(range(problem.n_categories[feature]))
    codes = tuple(present.index(code) if code in present else -1 for code in range(problem.n_categories[feature]))
    branches = [tuple(i for i in known if column[i.row] == code) for code in present]
    if problem.missing == "fractional" or not unknown:
        return [Split(feature, NodeKind.MULTIWAY, MissingPolicy.SPREAD, math.nan, codes, tuple(branches))]
    branches.append(unknown)
    return [Split(feature, NodeKind.MULTIWAY, MissingPolicy.OWN_BRANCH, math.nan, codes, tuple(branches))]


def _one_against_rest(problem: Problem, feature: int, known: Instances, unknown: Instances) -> list[Split]:
    column = problem.columns[feature]

    def ask(policy: MissingPolicy, code: int, *branches: Instances) -> Split:
        return Split(feature, NodeKind.ONE_AGAINST_REST, policy, float(code), (), branches)

    found = _known_against_missing(problem, feature, known, unknown)
    for code in sorted({int(column[i.row]) for i in known}):
        one = tuple(i for i in known if column[i.row] == code)
        rest = tuple(i for i in known if column[i.row] != code)
        if problem.missing == "fractional" or not unknown:
            found.append(ask(MissingPolicy.SPREAD, code, one, rest))
            continue
        found.append(ask(MissingPolicy.LAST_CHILD, code, one, rest + unknown))
        if problem.missing == "learned":
            found.append(ask(MissingPolicy.FIRST_CHILD, code, one + unknown, rest))
    return found


_CATEGORIES: dict[str, Callable[[Problem, int, Instances, Instances], list[Split]]] = {
    "multiway": _multiway,
    "binary": _one_against_rest,
}


def _known_against_missing(problem: Problem, feature: int, known: Instances, unknown: Instances) -> list[Split]:
    if problem.missing == "fractional" or not unknown:
        return []
    return [Split(feature, NodeKind.THRESHOLD, MissingPolicy.LAST_CHILD, math.inf, (), (known, unknown))]


def _is_valid(problem: Problem, split: Split, least_rows: float) -> bool:
    least_weight = problem.min_weight_fraction_leaf * problem.total_weight
    large = [rows_of(branch) >= least_rows - 1e-9 and weight_of(branch) >= least_weight for branch in split.branches]
    return sum(large) >= 2


def _with_worth(problem: Problem, split: Split, instances: Instances) -> Split:
    looked_at = tuple(i for branch in split.branches for i in branch)
    gain = impurity(problem, looked_at) - math.fsum(impurity(problem, branch) for branch in split.branches)
    whole = weight_of(instances)
    shares = [weight_of(branch) / whole for branch in split.branches]
    shares.append(1 - math.fsum(shares))  # instances that are not looked at: nothing, unless missing is fractional
    if len(looked_at) == len(instances):
        shares.pop()
    information = -math.fsum(p * math.log2(p) for p in shares if p > 0)
    return replace(split, gain=gain, split_information=information)


# -- which split


@dataclass(frozen=True)
class Verdict:
    """The right split, None for a leaf. `allowed` are all that rounding could make right, None among them."""

    right: Split | None
    allowed: list[Split | None]

    @property
    def clear(self) -> bool:
        return len(self.allowed) == 1


def judge(problem: Problem, instances: Instances, depth: int) -> Verdict:
    if (
        len({problem.targets[i.row] for i in instances}) <= 1
        or rows_of(instances) < problem.min_samples_split - 1e-9
        or depth == problem.max_depth
    ):
        return Verdict(None, [None])
    by_column = [splits(problem, instances, feature) for feature in range(len(problem.columns))]
    choose = _CHOOSE.get(problem.criterion, _by_gain)
    return _if_significant(problem, choose(problem, [column for column in by_column if column], instances))


def _if_significant(problem: Problem, verdict: Verdict) -> Verdict:
    """A leaf where Pearson's test of branches and classes does not tell the split from chance."""
    if problem.significance >= 1 or verdict.right is None:
        return verdict
    counts = np.array([class_counts(problem, branch) for branch in verdict.right.branches])
    used = counts[np.ix_(counts.sum(axis=1) > 0, counts.sum(axis=0) > 0)]
    p_value = chi2_contingency(used, correction=False).pvalue if min(used.shape) > 1 else 1.0
    if abs(p_value - problem.significance) < 1e-9:
        return Verdict(verdict.right, [*verdict.allowed, None])
    if p_value > problem.significance:
        return Verdict(None, [None]) if verdict.clear else Verdict(None, [*verdict.allowed, None])
    return verdict if verdict.clear else Verdict(verdict.right, [*verdict.allowed, None])


def _worth(problem: Problem, split: Split, value: float) -> float:
    """±√(value²/cost)."""
    cost = 1.0 if problem.feature_costs is None else problem.feature_costs[split.feature] / min(problem.feature_costs)
    return math.copysign(math.sqrt(value**2 / cost), value)


def _first_of_best(offered: Sequence[Split], values: Sequence[float], scale: float, apart: float = APART) -> Verdict:
    """The first of those that tie for the best; more are allowed if one is in the grey zone."""
    best = max(values)
    gaps = [(best - value) / scale for value in values]
    right = next(split for split, gap in zip(offered, gaps, strict=True) if gap <= CLOSE)
    allowed = [split for split, gap in zip(offered, gaps, strict=True) if gap <= apart]
    grey = any(CLOSE < gap <= apart for gap in gaps)
    return Verdict(right, list(allowed) if grey else [right])


def _by_gain(problem: Problem, by_column: list[list[Split]], instances: Instances) -> Verdict:
    offered = [split for column in by_column for split in column]
    if not offered:
        return Verdict(None, [None])
    scale = scale_of(problem, instances)
    wanted = problem.min_impurity_decrease * problem.total_weight
    enough = [split for split in offered if split.gain - wanted >= -CLOSE * scale]
    unsure = any(CLOSE * scale < abs(split.gain - wanted) <= APART * scale for split in offered)
    if not enough:
        return Verdict(None, [None, *offered] if unsure else [None])
    verdict = _first_of_best(enough, [_worth(problem, split, split.gain) for split in enough], scale)
    return Verdict(verdict.right, [None, *offered]) if unsure else verdict


def _by_ratio(problem: Problem, by_column: list[list[Split]], instances: Instances) -> Verdict:
    """C4.5: of the columns' best splits those that gain at least the mean, and of them the largest ratio."""
    whole = weight_of(instances)
    best_of_columns = [_first_of_best(column, [q.gain for q in column], whole) for column in by_column]
    best = [verdict.right for verdict in best_of_columns if verdict.right is not None]
    unsure = any(not verdict.clear for verdict in best_of_columns)
    unsure |= any(CLOSE * whole < abs(split.gain) <= APART * whole for split in best)
    everything = [q for column in by_column for q in column]
    gaining = [q for q in best if q.gain > APART * whole and q.split_information > 0]
    if not gaining:
        return Verdict(None, [None, *everything] if unsure else [None])
    counted = [q.gain for q in gaining if _counts_in_mean(problem, q)]
    mean = math.fsum(counted) / len(counted) if counted else 0.0
    wanted = [mean, problem.min_impurity_decrease * problem.total_weight]
    unsure |= any(CLOSE * whole < abs(q.gain - bar) <= APART * whole for q in gaining for bar in wanted)
    rivals = [q for q in gaining if all(q.gain >= bar - CLOSE * whole for bar in wanted)]
    if not rivals:
        return Verdict(None, [None, *everything] if unsure else [None])
    ratios = [_worth(problem, q, q.gain / whole / q.split_information) for q in rivals]
    # A gain that is known up to rounding, divided by little information, is known less well.
    blur = max(1 / q.split_information for q in rivals)
    verdict = _first_of_best(rivals, ratios, 1.0, APART * max(1.0, blur))
    return Verdict(verdict.right, [None, *everything]) if unsure else verdict


def _counts_in_mean(problem: Problem, split: Split) -> bool:
    """Columns with very many categories gain much by chance: they count only if there are no others."""
    many = [n > 0 and n >= 0.3 * len(problem.targets) for n in problem.n_categories]
    return all(many) or not many[split.feature]


def _by_c45(problem: Problem, by_column: list[list[Split]], instances: Instances) -> Verdict:
    """Quinlan's release 8: mean gain of the columns that count, 0.001 bits of tolerance, then the largest ratio."""
    whole = weight_of(instances)
    best_of_columns = [_first_of_best(column, [q.gain for q in column], whole) for column in by_column]
    unsure = any(not verdict.clear for verdict in best_of_columns)
    best = [verdict.right for verdict in best_of_columns if verdict.right is not None]
    unsure |= any(CLOSE * whole < abs(q.gain) <= APART * whole for q in best)
    # A threshold must gain something; a split about categories counts even if it does not.
    best = [q for q in best if problem.n_categories[q.feature] > 0 or q.gain > CLOSE * whole]
    counted = [q.gain / whole for q in best if _counts_in_mean(problem, q)]
    if not counted:
        return Verdict(None, [None])
    wanted = (math.fsum(counted) / len(counted) - 1e-3, problem.min_impurity_decrease * problem.total_weight / whole)
    unsure |= any(abs(q.gain / whole - bar) <= APART for q in best for bar in wanted)
    gaining = [q for q in best if q.gain > APART * whole and q.split_information > 0]
    rivals = [q for q in gaining if q.gain / whole >= max(wanted)]
    everything = [q for column in by_column for q in column]
    if not rivals:
        return Verdict(None, [None, *everything] if unsure else [None])
    ratios = [_worth(problem, q, q.gain / whole / q.split_information) for q in rivals]
    blur = max(1 / q.split_information for q in rivals)
    verdict = _first_of_best(rivals, ratios, 1.0, APART * max(1.0, blur))
    return Verdict(verdict.right, [None, *everything]) if unsure else verdict


_CHOOSE = {"gain_ratio": _by_ratio, "c45": _by_c45}


# -- a split is made


def divide(problem: Problem, instances: Instances, split: Split) -> list[Instances] | None:
    """The instances of each child; None where rounding decides where a part goes."""
    children = [list(branch) for branch in split.branches]
    looked_at = {i.row for branch in split.branches for i in branch}
    unknown = [i for i in instances if i.row not in looked_at]
    if not unknown:
        return [tuple(child) for child in children]
    known = [weight_of(branch) for branch in split.branches]
    heaviest = known.index(max(known))
    whole_numbers = all(i.weight == int(i.weight) for branch in split.branches for i in branch)
    for instance in unknown:
        at_the_limit = abs(instance.fraction - problem.min_fraction) <= 1e-12 and instance.fraction != 1
        if at_the_limit and problem.min_fraction > 0:
            return None
        if instance.fraction < problem.min_fraction:
            if not whole_numbers and sum(weight > known[heaviest] * (1 - 1e-12) for weight in known) > 1:
                return None
            children[heaviest].append(instance)
            continue
        for child, weight in zip(children, known, strict=True):
            share = weight / math.fsum(known)
            if share == 0:
                continue
            child.append(Instance(instance.row, instance.weight * share, instance.fraction * share))
    return [tuple(child) for child in children]


# -- a grown tree, from the root down


@dataclass
class Tally:
    """How much of a tree was really compared."""

    n_nodes: int = 0
    n_clear: int = 0
    kinds: set[tuple[NodeKind, MissingPolicy]] = field(default_factory=set)


def asked(forest: Forest, node: int, offered: Sequence[Split]) -> Split:
    """The split among `offered` of a node."""
    kind, policy = NodeKind(forest.kind[node]), MissingPolicy(forest.missing[node])
    for split in offered:
        if (split.feature, split.kind, split.policy) != (forest.feature[node], kind, policy):
            continue
        if kind == NodeKind.MULTIWAY:
            codes = tuple(int(forest.payload_codes[i]) for i in oracles.payload(forest, node))
            if codes == split.codes:
                return split
        elif forest.threshold[node] == split.threshold:
            return split
    raise AssertionError(
        f"node {node} asks x{forest.feature[node]} {kind.name} {forest.threshold[node]!r} {policy.name}, "
        f"which is not among the {len(offered)} valid splits"
    )


def check_tree(problem: Problem, forest: Forest) -> Tally:
    """Assert that every node of a tree that was grown without `max_leaf_nodes` is right."""
    tally = Tally()
    stack = [(0, root_instances(problem), 0)]
    while stack:
        node, instances, depth = stack.pop()
        tally.n_nodes += 1
        check_numbers(problem, forest, node, instances)
        verdict = judge(problem, instances, depth)
        is_leaf = forest.kind[node] == NodeKind.LEAF
        tally.n_clear += verdict.clear
        if is_leaf:
            assert None in verdict.allowed, f"node {node} is a leaf, should ask {verdict.right}"
            continue
        assert verdict.allowed != [None], f"node {node} should be a leaf"
        split = asked(forest, node, [q for q in verdict.allowed if q is not None])
        tally.kinds.add((split.kind, split.policy))
        children = oracles.children(forest, 0, node)
        assert len(children) == len(split.branches)
        parts = divide(problem, instances, split)
        if parts is not None:
            stack.extend((child, part, depth + 1) for child, part in zip(children, parts, strict=True))
    return tally


def check_numbers(problem: Problem, forest: Forest, node: int, instances: Instances) -> None:
    """Weight of a node; class counts, or weight, mean and squares, of a leaf."""
    weight = weight_of(instances)
    np.testing.assert_allclose(forest.weight[node], weight, rtol=1e-9)
    if forest.kind[node] != NodeKind.LEAF:
        return
    leaf = int(forest.first_child[node])
    if problem.n_classes:
        counts = class_counts(problem, instances)
        np.testing.assert_allclose(forest.counts[leaf], counts, rtol=1e-9, atol=1e-12 * weight)
        return
    mean, squares = mean_and_squares(problem, instances)
    found_weight, found_mean, found_squares = forest.stats[leaf]
    spread = max(abs(target) for target in problem.targets)
    np.testing.assert_allclose(found_weight, weight, rtol=1e-9)
    np.testing.assert_allclose(found_mean, mean, rtol=1e-9, atol=1e-12 * spread)
    # Of targets that are all alike, what is left is the rounding of their mean, squared.
    rounding = weight * (1e-14 * spread) ** 2
    atol = 1e-12 * scale_of(problem, instances) + rounding
    np.testing.assert_allclose(found_squares, squares, rtol=1e-9, atol=atol)


# -- best first, literally


class UnclearError(Exception):
    """Rounding decides: the data say nothing about the order."""


@dataclass
class Grown:
    """A node of a tree grown by hand."""

    instances: Instances
    depth: int
    split: Split | None = None
    children: list[Grown] = field(default_factory=list)


def grow_best_first(problem: Problem) -> Grown:
    """The leaf whose split gains most is split, while no more than `max_leaf_nodes` come of it."""
    assert problem.max_leaf_nodes is not None
    root = Grown(root_instances(problem), 0)
    waiting: list[tuple[float, Grown, Split]] = []
    n_leaves = 1

    def consider(node: Grown) -> None:
        verdict = judge(problem, node.instances, node.depth)
        if not verdict.clear:
            raise UnclearError
        if verdict.right is not None:
            waiting.append((verdict.right.gain, node, verdict.right))

    consider(root)
    scale = scale_of(problem, root.instances)
    while waiting:
        waiting.sort(key=lambda one: one[0])
        if len(waiting) > 1 and waiting[-1][0] - waiting[-2][0] <= APART * scale:
            raise UnclearError
        _, node, split = waiting.pop()
        if n_leaves - 1 + len(split.branches) > problem.max_leaf_nodes:
            continue
        parts = divide(problem, node.instances, split)
        if parts is None:
            raise UnclearError
        n_leaves += len(parts) - 1
        node.split = split
        node.children = [Grown(part, node.depth + 1) for part in parts]
        for child in node.children:
            consider(child)
    return root


def check_against(problem: Problem, forest: Forest, root: Grown) -> int:
    """Assert that a tree is the one that was grown by hand; the number of its nodes."""
    stack = [(0, root)]
    n_nodes = 0
    while stack:
        node, truth = stack.pop()
        n_nodes += 1
        check_numbers(problem, forest, node, truth.instances)
        if truth.split is None:
            assert forest.kind[node] == NodeKind.LEAF
            continue
        asked(forest, node, [truth.split])
        stack.extend(zip(oracles.children(forest, 0, node), truth.children, strict=True))
    assert n_nodes == forest.n_nodes
    return n_nodes


# -- thresholds alone, for data that are too large to enumerate in plain Python


class ThresholdGains(NamedTuple):
    """Every threshold split of a node, gain by gain."""

    gain: NDArray[np.float64]
    feature: NDArray[np.int64]
    low: NDArray[np.float64]  # the values on both sides of the threshold
    high: NDArray[np.float64]

    def best(self) -> int:
        return int(np.argmax(self.gain))

    def of_split(self, feature: int, threshold: float) -> float:
        """The gain of "x <= threshold?", which must be half-way between two neighbouring values."""
        at = (self.feature == feature) & (self.low / 2 + self.high / 2 == threshold)
        assert at.sum() == 1, f"x{feature} <= {threshold} is not one of {len(self.gain)} splits"
        return float(self.gain[at][0])


def threshold_gains(
    X: NDArray[np.float64], targets: NDArray[np.float64], criterion: str, min_samples_leaf: int = 1
) -> ThresholdGains:
    """Gains of all valid thresholds in all columns of X, unit weights, no missing values.

    `targets`: (n, n_classes) of zeros and ones, or (n, 1) numbers.
    """
    gains, features, lows, highs = [], [], [], []
    whole = _impurities(targets.sum(axis=0, keepdims=True), (targets**2).sum(axis=0), len(targets), criterion)
    for feature, column in enumerate(X.T):
        order = np.argsort(column, kind="stable")
        ascending = column[order]
        cut = np.flatnonzero(ascending[1:] > ascending[:-1])
        cut = cut[(cut + 1 >= min_samples_leaf) & (len(targets) - cut - 1 >= min_samples_leaf)]
        left = np.cumsum(targets[order], axis=0)[cut]
        left_squares = np.cumsum(targets[order] ** 2, axis=0)[cut]
        n_left = cut + 1.0
        right = targets.sum(axis=0) - left
        right_squares = (targets**2).sum(axis=0) - left_squares
        below = _impurities(left, left_squares, n_left, criterion)
        above = _impurities(right, right_squares, len(targets) - n_left, criterion)
        gains.append(whole - below - above)
        features.append(np.full(len(cut), feature))
        lows.append(ascending[cut])
        highs.append(ascending[cut + 1])
    return ThresholdGains(*map(np.concatenate, (gains, features, lows, highs)))


def _impurities(
    sums: NDArray[np.float64], squares: NDArray[np.float64], n: float | NDArray[np.float64], criterion: str
) -> NDArray[np.float64]:
    if criterion == "squared_error":
        return np.asarray(squares[..., 0] - sums[..., 0] ** 2 / n)
    share = sums / np.reshape(n, (-1, 1))
    if criterion == "gini":
        return np.asarray(n * (1 - (share**2).sum(axis=1)))
    positive = np.where(share > 0, share, 1.0)
    return np.asarray(-n * (positive * np.log2(positive)).sum(axis=1))


# -- what the lecture works out by hand


def conditional_entropy(problem: Problem, split: Split) -> float:
    """H(class | answer) in bits."""
    looked_at = weight_of([i for branch in split.branches for i in branch])
    return math.fsum(impurity(problem, branch) for branch in split.branches) / looked_at


def exact_shares(parts: Sequence[int]) -> list[Fraction]:
    """Each part's share of the whole, without rounding."""
    return [Fraction(part, sum(parts)) for part in parts]
