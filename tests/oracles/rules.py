"""Slow truths of the combination rules, from Busch et al. and the papers that it cites; nothing here calls hedgerow.

A leaf is a sequence of class counts, a row a list of leaves; of two classes the second is the positive one. Masses are
dictionaries from subsets to numbers, exact fractions where their input is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache, reduce
from statistics import mean, median
from typing import Any

Leaf = Sequence[float]
Scores = list[float]
Masses = dict[frozenset[str], Any]

PLUS, MINUS = frozenset("+"), frozenset("-")
BOTH, NEITHER = PLUS | MINUS, frozenset[str]()
SUBSETS = (NEITHER, PLUS, MINUS, BOTH)
LEAST = Fraction(1, 100_000)  # "a small value (10⁻⁵) as the minimum value for certain steps"


def pair(leaf: Leaf, k: int) -> tuple[float, float]:
    """The count of a class and of all others."""
    return float(leaf[k]), math.fsum(count for j, count in enumerate(leaf) if j != k)


# -- degrees of plausibility (section 3.1)


@cache
def plausibility(w_for: float, w_against: float) -> float:
    """sup over θ of min(L(θ)/L(p), 2θ − 1), maximised as it stands: golden sections in 45 digits.

    Both parts are quasi-concave in θ, so their least is too. At θ ≤ ½ it is at most 0, which θ = ½ attains.
    """
    with localcontext() as context:
        context.prec = 45
        a, b = Decimal(w_for), Decimal(w_against)
        if a + b == 0:
            return 1.0  # every θ is as likely: sup of 2θ − 1
        log_best = sum((w * (w / (a + b)).ln() for w in (a, b) if w), Decimal(0))

        def log_least(theta: Decimal) -> Decimal:
            log_likelihood = (a * theta.ln() if a else Decimal(0)) + (b * (1 - theta).ln() if b else Decimal(0))
            return min(log_likelihood - log_best, (2 * theta - 1).ln())

        golden = (Decimal(5).sqrt() - 1) / 2
        low, high = Decimal("0.5"), Decimal(1)
        left, right = high - golden * (high - low), low + golden * (high - low)
        at_left, at_right = log_least(left), log_least(right)
        while high - low > Decimal("1e-24"):
            if at_left < at_right:
                low, left, at_left = left, right, at_right
                right = low + golden * (high - low)
                at_right = log_least(right)
            else:
                high, right, at_right = right, left, at_left
                left = high - golden * (high - low)
                at_left = log_least(left)
        return float(max(at_left, at_right).exp())


@cache
def quick_plausibility(w_for: float, w_against: float) -> float:
    """The same in doubles, where the falling likelihood meets the rising 2θ − 1; `plausibility` is its own truth."""
    n = w_for + w_against
    if w_against == 0:
        return 1.0
    low, high = max(w_for / n, 0.5), 1.0
    for _ in range(60):
        theta = (low + high) / 2
        if theta in (low, high):
            break
        log_likelihood = w_against * math.log((1 - theta) * n / w_against)
        if w_for:
            log_likelihood += w_for * math.log(theta * n / w_for)
        if log_likelihood > math.log(2 * theta - 1):
            low = theta
        else:
            high = theta
    return 2 * low - 1


def preferences(positive: float, negative: float) -> Scores:
    """[u_e, u_a, s⊕, s⊖], by the cases of the paper."""
    degree = quick_plausibility if positive + negative <= 300 else plausibility
    pi_plus, pi_minus = degree(positive, negative), degree(negative, positive)
    u_e, u_a = min(pi_plus, pi_minus), 1 - max(pi_plus, pi_minus)

    def preference(own: float, other: float) -> float:
        if own > other:
            return 1 - (u_a + u_e)
        return (1 - (u_a + u_e)) / 2 if own == other else 0.0

    return [u_e, u_a, preference(pi_plus, pi_minus), preference(pi_minus, pi_plus)]


# -- scores of one leaf, p(w) (section 3.1); own is w⁺, others w⁻


def share(own: float, others: float, correction: float = 0.0) -> float:
    n = own + others + 2 * correction
    return (own + correction) / n - 0.5 if n else 0.0


def preferred(own: float, others: float) -> float:
    _, _, s_plus, s_minus = preferences(own, others)
    return s_plus - s_minus


def confident(own: float, others: float) -> float:
    return (1 - middle_height(own, others)) * share(own, others)


def middle_height(own: float, others: float) -> float:
    """c(w) for whole counts as the paper says it; for fractional ones between the two heights at n/2 ± δ."""
    if own == int(own) and others == int(others) and own + others <= 60:
        heights = beta_binomial(int(own), int(others))
        n = len(heights) - 1
        return float((heights[n // 2] + heights[(n + 1) // 2]) / 2 / max(heights))
    with localcontext() as context:
        context.prec = 45
        a, b = Decimal(own), Decimal(others)
        n_ = a + b
        even = 2 * (n_ / 2).to_integral_value()
        delta = abs(n_ - even) / 2

        def log_height(k: Decimal) -> Decimal:
            return log_gamma(k + a + 1) + log_gamma(n_ - k + b + 1) - log_gamma(k + 1) - log_gamma(n_ - k + 1)

        heights_ = [min(log_height(n_ / 2 + side) - log_height(a), Decimal(0)).exp() for side in (-delta, delta)]
        return float(sum(heights_) / 2)


def beta_binomial(own: int, others: int) -> list[Fraction]:
    """P(k) for k = 0 .. n: n trials, α = own + 1, β = others + 1."""
    n = own + others

    def beta(a: int, b: int) -> Fraction:
        return Fraction(math.factorial(a - 1) * math.factorial(b - 1), math.factorial(a + b - 1))

    return [math.comb(n, k) * beta(k + own + 1, n - k + others + 1) / beta(own + 1, others + 1) for k in range(n + 1)]


def log_gamma(z: Decimal) -> Decimal:
    """Stirling's series from z + 40 on, less a constant: fourteen terms leave an error below 1e-38."""
    product = Decimal(1)
    for i in range(40):
        product *= z + i
    z += 40
    series = sum((term / z ** (2 * i - 1) for i, term in enumerate(_stirling(), 1)), Decimal(0))
    return (z - Decimal("0.5")) * z.ln() - z + series - product.ln()


@cache
def _stirling() -> tuple[Decimal, ...]:
    """B(2i)/(2i·(2i − 1)), the Bernoulli numbers by their recurrence."""
    bernoulli = [Fraction(1)]
    for m in range(1, 29):
        bernoulli.append(-sum(math.comb(m + 1, j) * bernoulli[j] for j in range(m)) / Fraction(m + 1))
    terms = [bernoulli[2 * i] / (2 * i * (2 * i - 1)) for i in range(1, 15)]
    return tuple(Decimal(term.numerator) / Decimal(term.denominator) for term in terms)


# -- values of the classes in a leaf: what the averages average


def shares(leaf: Leaf, correction: float = 0.0, centre: Sequence[float] | None = None) -> Scores:
    """(w + m·c)/(n + m), m as many as `correction` for each class; of nothing at all, c."""
    n_classes = len(leaf)
    centre = [1 / n_classes] * n_classes if centre is None else centre
    added = correction * n_classes
    n = math.fsum(leaf) + added
    return [(w + added * c) / n if n else c for w, c in zip(leaf, centre, strict=True)]


def preferred_values(leaf: Leaf) -> Scores:
    return [(1 + preferred(*pair(leaf, k))) / 2 for k in range(len(leaf))]


def confident_values(leaf: Leaf) -> Scores:
    return [0.5 + confident(*pair(leaf, k)) for k in range(len(leaf))]


def votes(leaf: Leaf) -> Scores:
    winners = [w == max(leaf) for w in leaf]
    return [won / sum(winners) for won in winners]


def normalised(values: Sequence[Any]) -> Scores:
    total = sum(values)
    return [float(value / total) if total else 1 / len(values) for value in values]


def averaged(row: Sequence[Leaf], values: Callable[[Leaf], Scores]) -> Scores:
    """Probabilities: the mean value of each class, normalised."""
    by_tree = [values(leaf) for leaf in row]
    return normalised([mean(of_class) for of_class in zip(*by_tree, strict=True)])


# -- sums of evidence (section 4)


def pooled(row: Sequence[Leaf]) -> Scores:
    return normalised([sum(map(Fraction, of_class)) for of_class in zip(*row, strict=True)])


def posterior(row: Sequence[Leaf], prior: Sequence[float], correction: float = 0.1) -> list[Fraction]:
    """P(y)·Π P(y|w)/P(y), normalised, in exact fractions. A leaf without counts says nothing."""
    a = Fraction(correction)
    beliefs = [Fraction(p) for p in prior]
    for leaf in row:
        if any(leaf):
            n = sum(map(Fraction, leaf)) + a * len(leaf)
            for k, w in enumerate(leaf):
                beliefs[k] *= (Fraction(w) + a) / n / Fraction(prior[k])
    return [belief / sum(beliefs) for belief in beliefs]


def tempered(row: Sequence[Leaf], prior: Sequence[float], temper: float) -> list[float]:
    """P(y)·Π (P(y|w)/P(y))^β, normalised, P(y|w) = (w_y + 0.1·C·P(y))/(n + 0.1·C)."""
    logs = [math.log(p) for p in prior]
    for leaf in row:
        n = math.fsum(leaf) + 0.1 * len(leaf)
        for k, w in enumerate(leaf):
            logs[k] += temper * (math.log((w + 0.1 * len(leaf) * prior[k]) / n) - math.log(prior[k]))
    return normalised_logs(logs)


def published_posterior(row: Sequence[Leaf], prior: Sequence[float]) -> list[float]:
    """Σ log P(y|w) − (K − 1)·P(y), as in the authors' code, normalised; P(y) for a leaf without counts."""
    logs = [-(len(row) - 1) * p for p in prior]
    for leaf in row:
        n = math.fsum(leaf) + 0.1 * len(leaf)
        for k, w in enumerate(leaf):
            logs[k] += math.log((w + 0.1) / n if any(leaf) else prior[k])
    return normalised_logs(logs)


def normalised_logs(logs: Sequence[float]) -> list[float]:
    odds = [math.exp(one - max(logs)) for one in logs]
    return [one / math.fsum(odds) for one in odds]


def log_of(p: Fraction) -> float:
    """log p to the last digits, also next to 1, where the logarithms of numerator and denominator cancel."""
    return math.log1p(float(p - 1)) if p > Fraction(1, 2) else math.log(p.numerator) - math.log(p.denominator)


def log_odds(probabilities: Sequence[Fraction]) -> float:
    negative, positive = probabilities
    odds = positive / negative
    return math.log(odds.numerator) - math.log(odds.denominator)


def trusted_posterior(row: Sequence[Leaf], prior: Sequence[float], correction: float = 0.1) -> Scores:
    """The posterior with each leaf's log P(y|w)/P(y) times 1 − u_e(w), the class against the rest."""
    logs = [math.log(p) for p in prior]
    for leaf in row:
        if any(leaf):
            for k, p in enumerate(shares(leaf, correction)):
                logs[k] += (1 - preferences(*pair(leaf, k))[0]) * math.log(p / prior[k])
    return normalised([math.exp(log - max(logs)) for log in logs])


# -- belief functions (section 4)


def leaf_masses(s_plus: Any, s_minus: Any, least: Fraction = LEAST) -> Masses:
    """m_w, in fractions; no more than 1 − `least` on one class."""
    plus, minus = (min(Fraction(s), 1 - least) for s in (s_plus, s_minus))
    return {NEITHER: Fraction(0), PLUS: plus, MINUS: minus, BOTH: 1 - plus - minus}


def conjunction(one: Masses, other: Masses) -> Masses:
    """Dempster's unnormalised rule: Σ over B ∩ C = A of m₁(B)·m₂(C)."""
    return {a: sum(one[b] * other[c] for b in SUBSETS for c in SUBSETS if b & c == a) for a in SUBSETS}


def weights(masses: Masses) -> Masses:
    """Denœux's canonical decomposition: w(A) = Π over B ⊇ A of q(B)^((−1)^(|B| − |A| + 1)), q the commonality."""
    q = {a: sum(masses[b] for b in SUBSETS if a <= b) for a in SUBSETS}
    return {
        a: math.prod((q[b] if (len(b) - len(a)) % 2 else 1 / q[b] for b in SUBSETS if a <= b), start=Fraction(1))
        for a in SUBSETS
        if a != BOTH
    }


def cautious_conjunction(one: Masses, other: Masses) -> Masses:
    """Denœux's cautious rule: the simple masses A^w of the lesser of both weights, conjunctively combined."""
    first, second = weights(one), weights(other)
    answer = {NEITHER: Fraction(0), PLUS: Fraction(0), MINUS: Fraction(0), BOTH: Fraction(1)}
    for a in first:
        w = min(first[a], second[a])
        answer = conjunction(answer, {b: 1 - w if b == a else w if b == BOTH else Fraction(0) for b in SUBSETS})
    return answer


def combined(sources: Iterable[Masses], rule: Callable[[Masses, Masses], Masses]) -> Masses:
    return reduce(rule, sources)


def sources_of(row: Sequence[Leaf], k: int) -> list[Masses]:
    """The masses of the leaves for a class and for all others."""
    return [leaf_masses(*preferences(*pair(leaf, k))[2:]) for leaf in row]


def prior_masses(p: float) -> Masses:
    """The least committed masses whose pignistic probability is p."""
    return leaf_masses(max(2 * p - 1, 0), max(1 - 2 * p, 0))


def pignistic(masses: Masses) -> Fraction:
    """Of +: each set's mass is divided over its members; the empty set's is left out."""
    shared = sum(masses[a] / len(a) for a in SUBSETS if a >= PLUS)
    return shared / (1 - masses[NEITHER])


def preference_of(masses: Masses) -> float:
    return float(masses[PLUS] - masses[MINUS])


# -- the nine by name


def score(name: str, row: Sequence[Leaf], prior: Sequence[float]) -> float:
    """The paper's score of two classes; of evidence the log-odds."""
    leaves = [(float(positive), float(negative)) for negative, positive in row]
    if name in LEAF_SCORES:
        return mean(LEAF_SCORES[name](*leaf) for leaf in leaves)
    if name == "pool":
        return share(math.fsum(w for w, _ in leaves), math.fsum(w for _, w in leaves))
    if name == "evidence":
        return log_odds(posterior(row, prior))
    return preference_of(combined(sources_of(row, 1), BELIEF[name]))


def probabilities(name: str, row: Sequence[Leaf], prior: Sequence[float]) -> Scores:
    """Of any number of classes: values averaged, posteriors, or pignistic probabilities of each class, normalised."""
    if name in VALUES:
        return averaged(row, VALUES[name])
    if name == "pool":
        return pooled(row)
    if name == "evidence":
        return [float(p) for p in posterior(row, prior)]
    return normalised([pignistic(combined(sources_of(row, k), BELIEF[name])) for k in range(len(prior))])


LEAF_SCORES: dict[str, Callable[[float, float], float]] = {
    "probability": share,
    "laplace": lambda own, others: share(own, others, correction=1.0),
    "plausibility": preferred,
    "confidence": confident,
    "vote": lambda own, others: float((own > others) - (own < others)),
}
VALUES: dict[str, Callable[[Leaf], Scores]] = {
    "probability": shares,
    "laplace": lambda leaf: shares(leaf, correction=1.0),
    "plausibility": preferred_values,
    "confidence": confident_values,
    "vote": votes,
}
BELIEF = {"dempster": conjunction, "cautious": cautious_conjunction}


# -- beyond the nine


def middle(values: Sequence[Scores]) -> Scores:
    return normalised([median(of_class) for of_class in zip(*values, strict=True)])


def most_committed(values: Sequence[Scores]) -> Scores:
    """Of two classes the score that is largest in absolute value; of more the tree with the greatest value."""
    if len(values[0]) == 2:
        signed = [positive - negative for negative, positive in values]
        score = mean(s for s in signed if abs(s) == max(map(abs, signed)))
        return [(1 - score) / 2, (1 + score) / 2]
    most = [one for one in values if max(one) == max(map(max, values))]
    return normalised([mean(of_class) for of_class in zip(*most, strict=True)])


def mixture(values: Sequence[Scores], centre: Callable[[Sequence[float]], float]) -> Scores:
    """H(x) = Σ θᵢ·xᵢ, θᵢ = (1 − |xᵢ − c|/Σ|xⱼ − c|)/(K − 1); the mean where all agree."""

    def mixed(x: Sequence[float]) -> float:
        distances = [abs(one - centre(x)) for one in x]
        if sum(distances) == 0 or len(x) == 1:
            return mean(x)
        thetas = [(1 - distance / sum(distances)) / (len(x) - 1) for distance in distances]
        return math.fsum(theta * one for theta, one in zip(thetas, x, strict=True))

    return normalised([mixed(of_class) for of_class in zip(*values, strict=True)])


def inverted_gini(row: Sequence[Leaf]) -> Scores:
    """Shares weighed by one less their Gini impurity."""
    of_trees = [shares(leaf) for leaf in row]
    purities = [1 - (1 - sum(p * p for p in values)) for values in of_trees]
    return normalised([sum(w * p for w, p in zip(purities, ps, strict=True)) for ps in zip(*of_trees, strict=True)])
