"""Slow, literal truths for trees of soft regions: integrals by quadrature, a solve for every candidate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import integrate, stats

Floats = NDArray[np.float64]


# --- laws ---------------------------------------------------------------------------------------------------


def error_density(name: str, df: float = 5.0) -> Any:
    """The frozen law of ε/σ from scipy, standard deviation 1."""
    return {
        "normal": stats.norm(),
        "uniform": stats.uniform(-np.sqrt(3), 2 * np.sqrt(3)),
        "laplace": stats.laplace(scale=1 / np.sqrt(2)),
        "student": stats.t(df, scale=np.sqrt((df - 2) / df)),
    }[name]


def posterior(
    prior: Callable[[float], float], ends: list[float], error: Any, x: float, sigma: float, at: float
) -> float:
    """∫ up to `at` of prior(u)·f((x − u)/σ) over the whole integral; `ends` are where either may bend."""
    low, high = (x + sigma * end for end in error.support())
    places = sorted(
        {*np.clip(ends, low, high), *np.clip(x + sigma * np.array([-30, -8, -2, 0, 2, 8, 30]), low, high), at}
    )
    places = [place for place in places if low <= place <= high]
    peak = max(prior(place) * error.pdf((x - place) / sigma) for place in places)

    def mass(begin: float, end: float) -> float:
        return integrate.quad(
            lambda u: prior(u) * error.pdf((x - u) / sigma) / peak, begin, end, epsabs=1e-13, epsrel=1e-12, limit=200
        )[0]

    pieces = [(a, b, mass(a, b)) for a, b in pairwise(places)]
    return sum(m for _, b, m in pieces if b <= at) / sum(m for *_, m in pieces)


def normal_cdf(z: float) -> Decimal:
    """½ + (z − z³/(2·1!·3) + z⁵/(2²·2!·5) − …)/√(2π), with more digits than its terms cancel; for |z| below 12."""
    with localcontext(prec=120):
        x = Decimal(z)
        term = total = x
        k = 0
        while abs(term) > Decimal("1e-110"):
            k += 1
            term *= -x * x / (2 * k)
            total += term / (2 * k + 1)
        pi = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534")
        return Decimal("0.5") + total / (2 * pi).sqrt()


# --- regions ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Box:
    """Bounds of numeric columns, sets of nominal ones."""

    bounds: dict[int, tuple[float, float]]
    sets: dict[int, frozenset[int]]


def share(box: Box, laws: Any, row: Floats, sigma: Floats) -> float:
    """P(U ∈ box | x) of one row, factor by factor."""
    product = 1.0
    for j, (low, high) in box.bounds.items():
        ends = laws[j].below(row[j : j + 1], sigma[j : j + 1], np.array([low, high]))[0]
        product *= (1.0 if high == np.inf else ends[1]) - (0.0 if low == -np.inf else ends[0])
    for j, inside in box.sets.items():
        product *= (
            sum(p for code, p in enumerate(laws[j].shares) if code in inside)
            if np.isnan(row[j])
            else float(row[j] in inside)
        )
    return product


def shares(box: Box, laws: Any, values: Floats, sigma: Floats) -> Floats:
    return np.array([share(box, laws, *row) for row in zip(values, sigma, strict=True)])


def seen(box: Box, laws: Any, values: Floats) -> Floats:
    """Whether the observed values are in the box; missing ones as far as their laws are."""
    return shares(box, laws, values, np.zeros_like(values))


# --- growth -------------------------------------------------------------------------------------------------


def solve(columns: Floats, weight: Floats, targets: Floats) -> Floats:
    root = np.sqrt(weight)[:, np.newaxis]
    return columns @ np.linalg.lstsq(root * columns, root * targets, rcond=1e-12)[0]


def risk(columns: Floats, weight: Floats, targets: Floats, rows: Floats | float = 1.0) -> float:
    """Weighted squared residuals of least squares on these columns, over rows that count so much."""
    return float((weight * rows * ((targets - solve(columns, weight, targets)) ** 2).sum(axis=1)).sum())


def parts(box: Box, feature: int, where: Any) -> tuple[Box, Box]:
    if isinstance(where, frozenset):
        before = box.sets.get(feature, frozenset(range(1000)))
        return (
            Box(box.bounds, box.sets | {feature: before & where}),
            Box(box.bounds, box.sets | {feature: before - where}),
        )
    low, high = box.bounds.get(feature, (-np.inf, np.inf))
    return Box(box.bounds | {feature: (low, where)}, box.sets), Box(box.bounds | {feature: (where, high)}, box.sets)


@dataclass(frozen=True)
class Truth:
    """Everything that growth is told."""

    values: Floats
    sigma: Floats
    laws: Any
    weight: Floats
    precision: Floats
    targets: Floats
    candidates: dict[int, list[Any]]
    least: float
    risk: str

    def allowed(self, column: Floats, other: Floats, columns: Floats) -> bool:
        """The rules of growth, from their words: enough rows, rows far enough inside, and something new."""
        w = self.weight * self.precision
        for part in (column, other):
            rows = (self.weight * part).sum()
            if rows < self.least - 1e-9 or (w * part).sum() <= 0:
                return False
            if ((w * part**2).sum() / (w * part).sum()) ** 2 * rows < 1 - 1e-8:
                return False
        new = (w * (column - solve(columns, w, column[:, np.newaxis])[:, 0]) ** 2).sum()
        return new > 0.1 * min((w * column**2).sum(), (w * other**2).sum()) * (1 + 1e-9)

    def gain(self, boxes: list[Box], number: int, feature: int, where: Any) -> float:
        """The drop in the risk if this region were divided there; −∞ if it may not be."""
        w = self.weight * self.precision
        columns = np.stack([shares(box, self.laws, self.values, self.sigma) for box in boxes], axis=1)
        first, second = (
            shares(part, self.laws, self.values, self.sigma) for part in parts(boxes[number], feature, where)
        )
        if not self.allowed(first, second, columns):
            return -np.inf
        rows = seen(boxes[number], self.laws, self.values) if self.risk == "node" else 1.0
        more = np.column_stack([columns, first])
        return (risk(columns, w, self.targets, rows) - risk(more, w, self.targets, rows)) / w.sum()

    def inside(self, box: Box, feature: int, where: Any) -> bool:
        if isinstance(where, frozenset):
            rows = shares(box, self.laws, self.values, self.sigma) > 0
            present = {int(code) for code in self.values[rows, feature] if not np.isnan(code)}
            return bool(where & present) and bool(present - where)
        low, high = box.bounds.get(feature, (-np.inf, np.inf))
        return low < where < high

    def best_first(self, max_leaf_nodes: int) -> list[tuple[Box, int, Any, float]]:
        """The splits that growth should make, with their gains: every candidate of every region solved anew."""
        boxes, made = [Box({}, {})], []
        while len(boxes) < max_leaf_nodes:
            gains = [
                (self.gain(boxes, number, feature, where), -number, -feature, -i, where)
                for number, box in enumerate(boxes)
                for feature, places in self.candidates.items()
                for i, where in enumerate(places)
                if self.inside(box, feature, where)
            ]
            gains = [found for found in gains if found[0] > 1e-10]
            if not gains:
                break
            gain, number, feature, _, where = max(gains, key=lambda found: found[:4])
            made.append((boxes[-number], -feature, where, gain))
            boxes[-number : -number + 1] = parts(boxes[-number], -feature, where)
        return made


# --- costs --------------------------------------------------------------------------------------------------


def error_cost(boxes: Floats, values: Floats, laws: Any, row: Floats, sigma: Floats, feature: int) -> float:
    """Var(E[f(U) | U_j] | x) by adding up over all cells of the grid that the bounds make."""
    n_features = boxes.shape[1]
    ends = [np.unique(boxes[:, j]) for j in range(n_features)]
    masses = []
    for j in range(n_features):
        below = laws[j].below(row[j : j + 1], sigma[j : j + 1], ends[j])[0]
        below[ends[j] == -np.inf], below[ends[j] == np.inf] = 0.0, 1.0
        masses.append(np.diff(below))
    given = np.zeros(len(masses[feature]))
    for cell in np.ndindex(*(len(mass) for mass in masses)):
        low, high = (np.array([ends[j][c + more] for j, c in enumerate(cell)]) for more in (0, 1))
        (region,) = np.flatnonzero(((boxes[:, :, 0] <= low) & (high <= boxes[:, :, 1])).all(axis=1))
        others = np.prod([masses[j][c] for j, c in enumerate(cell) if j != feature])
        given[cell[feature]] += others * values[region]
    mean = masses[feature] @ given
    return float(masses[feature] @ (given - mean) ** 2)


# --- walks of many soft trees -------------------------------------------------------------------------------


def soft_shares(forest: Any, laws: Any, row: Floats, sigma: Floats) -> Floats:
    """P(U ∈ leaf | x) of every leaf of every tree: of its box, and of the set of its categories."""
    from hedgerow.measured.laws.column_laws import CategoryLaw

    found = []
    for leaf in forest.leaf_nodes:
        bounds, sets = {}, {}
        node = leaf
        while forest.parent[node] >= 0:
            parent = forest.parent[node]
            j = int(forest.feature[parent])
            first = node == forest.root[parent] + forest.first_child[parent]
            if isinstance(laws[j], CategoryLaw):
                codes = frozenset(range(len(laws[j].shares)))
                words = forest.payload_codes[forest.payload_start[forest.payload[parent]] :]
                taken = frozenset(c for c in codes if int(words[c // 32]) >> (c % 32) & 1)
                sets[j] = sets.get(j, codes) & (taken if first else codes - taken)
            else:
                low, high = bounds.get(j, (-np.inf, np.inf))
                at = forest.threshold[parent]
                bounds[j] = (low, min(high, at)) if first else (max(low, at), high)
            node = parent
        product = 1.0
        for j, (low, high) in bounds.items():
            ends = [
                0.0
                if end == -np.inf
                else 1.0
                if end == np.inf
                else laws[j].below(row[j : j + 1], sigma[j : j + 1], np.array([end]))[0, 0]
                for end in (low, high)
            ]
            product *= max(ends[1] - ends[0], 0.0)
        for j, codes in sets.items():
            inside = np.isin(np.arange(len(laws[j].shares)), list(codes))
            product *= laws[j].within(row[j : j + 1], inside[np.newaxis])[0, 0]
        found.append(product)
    return np.array(found)


# --- boosting -----------------------------------------------------------------------------------------------


def quadratic_by_differences(loss: Any, targets: Floats, answers: Floats) -> tuple[Floats, Floats]:
    """Gradient of the loss of one row, (n_outputs,), and its Hessian matrix, by central differences."""
    h, m = 1e-4, len(answers)
    eye = h * np.eye(m)

    def at(*moves: Floats) -> float:
        return float(loss.of_rows(targets[np.newaxis], (answers + sum(moves))[np.newaxis])[0])

    gradient = np.array([(at(one) - at(-one)) / (2 * h) for one in eye])
    hessian = np.array([[(at(a, b) - at(a, -b) - at(-a, b) + at(-a, -b)) / (4 * h * h) for b in eye] for a in eye])
    return gradient, hessian


def pinball_step(shares: Floats, residuals: Floats, weight: Floats, level: float) -> float:
    """The constant that lowers Σ w s ρ(r − c) most, the smallest of equals: one of the residuals."""
    inside = weight * shares

    def total(c: float) -> float:
        off = residuals - c
        return float((inside * np.where(off > 0, level * off, (level - 1) * off)).sum())

    candidates = np.unique(residuals[inside > 0])
    totals = np.array([total(c) for c in candidates])
    return float(candidates[np.flatnonzero(totals <= totals.min() * (1 + 1e-9))[0]])


def hidden(ask: Callable[[Floats, Floats], Floats], law: Any, row: Floats, sigma: Floats, j: int) -> float:
    """Standard deviation of the answer if U_j were known: at 4,000 quantiles of its law, each found by bisection."""
    low, high = np.full(4000, row[j] - 12 * sigma[j]), np.full(4000, row[j] + 12 * sigma[j])
    levels = (np.arange(4000) + 0.5) / 4000
    for _ in range(60):
        middle = 0.5 * (low + high)
        order = np.argsort(middle)
        below = np.empty(4000)
        below[order] = law.below(row[j : j + 1], sigma[j : j + 1], middle[order])[0]
        low, high = np.where(below < levels, middle, low), np.where(below < levels, high, middle)
    rows, errors = np.tile(row, (4000, 1)), np.tile(sigma, (4000, 1))
    rows[:, j], errors[:, j] = high, 0.0
    return float(ask(rows, errors).std())


# --- probabilities of regions -------------------------------------------------------------------------------


def simplex_risk(shares: Floats, targets: Floats, weight: Floats | None = None) -> float:
    """The least Σ w (y − Pγ)² over γ whose rows are probabilities, by sequential quadratic programming."""
    from scipy.optimize import minimize

    weight = np.ones(len(shares)) if weight is None else weight
    k, m = shares.shape[1], targets.shape[1]

    def risk(flat: Floats) -> float:
        return float((weight[:, np.newaxis] * (targets - shares @ flat.reshape(k, m)) ** 2).sum())

    def slope(flat: Floats) -> Floats:
        left = weight[:, np.newaxis] * (shares @ flat.reshape(k, m) - targets)
        return (2 * shares.T @ left).reshape(-1)

    sums = np.kron(np.eye(k), np.ones(m))
    found = minimize(
        risk,
        np.full(k * m, 1 / m),
        jac=slope,
        method="SLSQP",
        bounds=[(0, 1)] * (k * m),
        constraints={"type": "eq", "fun": lambda flat: sums @ flat - 1, "jac": lambda flat: sums},
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    return float(found.fun)


def coarse_below(law: Any, x: float, sigma: float, at: float) -> float:
    """P(U ≤ at | x); of a measured value under a normal law by the nearest 256th of a standard deviation."""
    normal = law.as_normal(np.array([x]), np.array([sigma])) if sigma > 0 and not np.isnan(x) else None
    if normal is None:
        return float(law.below(np.array([x]), np.array([sigma]), np.array([at]))[0, 0])
    steps = np.floor((at - normal[0][0]) * (256 / normal[1][0]) + 0.5)
    return float(stats.norm.cdf(np.clip(steps / 256, -8, 8)))


def point_means(
    forest: Any, laws: Any, row: Floats, sigma: Floats, strata: NDArray[np.uint8], values: Floats
) -> Floats:
    """Means of leaf values over the points of each tree, (n_trees, m): every point goes down as an exact row does.

    `strata`, (n_trees, n_points, columns that are split on): a point's value in a numeric column is the threshold that
    its quantile is at or below, in a nominal one the category that it is in, of cumulated shares.
    """
    from hedgerow.measured.laws.column_laws import CategoryLaw

    split_on = sorted(set(forest.feature[forest.feature >= 0].tolist()))
    means = np.zeros((forest.n_trees, values.shape[1]))
    for tree in range(forest.n_trees):
        for point in strata[tree]:
            quantile = dict(zip(split_on, (point + 0.5) / 256, strict=True))
            node = int(forest.tree_start[tree])
            while forest.feature[node] >= 0:
                j = int(forest.feature[node])
                if isinstance(laws[j], CategoryLaw):
                    shares = laws[j].within(row[j : j + 1], np.eye(len(laws[j].shares), dtype=bool))[0]
                    code = int(np.searchsorted(shares.cumsum(), quantile[j]))
                    words = forest.payload_codes[forest.payload_start[forest.payload[node]] :]
                    first = bool(int(words[code // 32]) >> (code % 32) & 1)
                else:
                    first = quantile[j] <= coarse_below(laws[j], row[j], sigma[j], forest.threshold[node])
                node = int(forest.tree_start[tree] + forest.first_child[node] + (0 if first else 1))
            means[tree] += values[forest.leaf_start[tree] + forest.first_child[node]] / len(strata[tree])
    return means


# --- residuals ----------------------------------------------------------------------------------------------


def residual_weights(
    forest: Any, laws: Any, row: Floats, sigma: Floats, training: Floats, errors: Floats, weight: Floats
) -> Floats:
    """1/T Σ_t Σ_k P(U ∈ R_tk | x)·1[R_tk is the most probable region of row i]·weight_i/Σ weight, (n,), scaled to 1."""
    here = soft_shares(forest, laws, row, sigma)
    there = np.array([soft_shares(forest, laws, x, s) for x, s in zip(training, errors, strict=True)])
    found = np.zeros(len(training))
    for first, last in pairwise(forest.leaf_start):
        likeliest = there[:, first:last].argmax(axis=1)
        for k in range(last - first):
            inside = likeliest == k
            if inside.any():
                found[inside] += here[first + k] * weight[inside] / weight[inside].sum() / forest.n_trees
    return found / found.sum()


def residual_quantile(residuals: Floats, weight: Floats, level: float) -> float:
    """Smallest residual with at least `level` of the weight at or below."""
    for value in sorted(residuals):
        if weight[residuals <= value].sum() >= level * (1 - 1e-9):
            return float(value)
    raise AssertionError


def convolved_quantile(residuals: Floats, y_err: Floats, weight: Floats, new: float, level: float) -> float:
    """Quantile of Σ w_i N(λ_i e_i, λ_i s_i² + new²), λ_i = v/(v + s_i²), by a root of its distribution function."""
    from scipy.optimize import brentq

    v = max(weight @ residuals**2 - weight @ y_err**2, 0.0)
    kept = v / (v + y_err**2)
    spread = np.sqrt(kept * y_err**2 + new**2)
    return float(
        brentq(lambda at: weight @ stats.norm.cdf((at - kept * residuals) / spread) - level, -100, 100, xtol=1e-12)
    )
