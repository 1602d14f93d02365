"""Slow truth of the average over prunings: every pruning of a tree, one by one.

Nothing here calls hedgerow. A tree is a list of class counts (a leaf) or a tuple of trees.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from scipy.integrate import quad
from scipy.special import betaln

Counts = Sequence[float]


def counts_of(tree: Any) -> list[float]:
    if isinstance(tree, list):
        return tree
    return [sum(one) for one in zip(*map(counts_of, tree), strict=True)]


def prunings(tree: Any) -> Iterator[Any]:
    """Each pruning, as nested tuples with the counts of its leaves."""
    yield counts_of(tree)
    if isinstance(tree, tuple):
        yield from product(*(list(prunings(child)) for child in tree))


def likelihood(counts: Counts, alpha: Counts) -> float:
    """Marginal likelihood of labels in a node under Dirichlet(α): a ratio of multivariate beta functions."""
    return math.exp(_log_beta(np.add(counts, alpha)) - _log_beta(alpha))


def _log_beta(alpha: Any) -> float:
    return sum(map(math.lgamma, alpha)) - math.lgamma(sum(alpha))


def weight(tree: Any, pruning: Any, alpha: Counts, chosen: bool) -> float:
    """Prior times likelihood of a pruning."""
    if isinstance(tree, list):
        return likelihood(tree, alpha)
    split = 0.5 / math.sqrt(max(sum(counts_of(tree)), 1)) if chosen else 0.5
    if isinstance(pruning, list):
        return (1 - split) * likelihood(pruning, alpha)
    return split * math.prod(weight(child, part, alpha, chosen) for child, part in zip(tree, pruning, strict=True))


def evidence(tree: Any, alpha: Counts, chosen: bool) -> float:
    return sum(weight(tree, one, alpha, chosen) for one in prunings(tree))


def leaves(tree: Any, pruning: Any) -> list[Counts]:
    """For each leaf of the tree, the counts of the node that it is part of in the pruning."""
    if isinstance(tree, list):
        return [pruning]
    if isinstance(pruning, list):
        return [pruning for child in tree for _ in leaves(child, counts_of(child))]
    return [found for child, part in zip(tree, pruning, strict=True) for found in leaves(child, part)]


def average(tree: Any, alpha: Counts, chosen: bool) -> tuple[np.ndarray, np.ndarray]:
    """Mean probabilities (n_leaves, n_classes), and mean entropy in bits of two classes by quadrature, (n_leaves,)."""
    shares: Any = 0.0
    bits: Any = 0.0
    for pruning in prunings(tree):
        nodes = np.array(leaves(tree, pruning)) + alpha
        w = weight(tree, pruning, alpha, chosen)
        shares = shares + w * nodes / nodes.sum(axis=1, keepdims=True)
        bits = bits + w * np.array([_entropy(*node) if len(node) == 2 else np.nan for node in nodes])
    total = evidence(tree, alpha, chosen)
    return shares / total, bits / total


def _entropy(a: float, b: float) -> float:
    """Mean entropy of p ~ Beta(a, b) in bits; over the log-odds t of p, where the integrand has no poles."""

    def integrand(t: float) -> float:
        log_p, log_q = -math.log1p(math.exp(-t)), -math.log1p(math.exp(t))
        bits = -(math.exp(log_p) * log_p + math.exp(log_q) * log_q) / math.log(2)
        return math.exp(a * log_p + b * log_q - betaln(a, b)) * bits

    mode = math.log(a / b)
    return (
        quad(integrand, -60, mode, epsabs=0, epsrel=1e-9, limit=200)[0]
        + quad(integrand, mode, 60, epsabs=0, epsrel=1e-9, limit=200)[0]
    )
