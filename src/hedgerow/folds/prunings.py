"""Bayesian average over the prunings of each tree: what its leaves know about a row, and how sure they are.

A fully grown leaf has too few rows to tell noise from ignorance. Its ancestors have more, and each of them might be the
leaf of a pruned tree. Given a prior over the prunings of a tree, the marginal likelihood of the counts weighs them, in
one pass up and one down the tree (Buntine, Learning classification trees, 1992; the recursion is that of context-tree
weighting, Willems, Shtarkov and Tjalkens, 1995):

- A node that is not split holds draws from class probabilities θ ~ Dirichlet(m·p), p being the classes' prior. Its
  counts n have the marginal likelihood L = Γ(m)/Γ(N + m) · Π Γ(n_k + m·p_k)/Γ(m·p_k), and the mean of θ is the
  m-estimate (n_k + m·p_k)/(N + m).
- A node of N rows is split with prior probability g = ½·N^(−½): a threshold that labels chose is a parameter, which
  costs ½·log N (Rissanen, Modeling by shortest data description, 1978). Where no label was seen, g = ½.
- W = (1 − g)·L + g·Π W over its children; W = L in a leaf. A node is split with posterior probability g·Π W/W.

Counts of nodes whose splits labels chose are worth half: rows that chose a split testify to it twice, and bootstrap
draws rows twice. Counts under splits that no label chose are worth what they are.

The posterior of a leaf's θ is the mixture over its ancestors, each as likely as it is to be the leaf of the pruning.
m is the one of a few with the largest marginal likelihood: small where leaves are pure, large where all are alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln

from hedgerow._arrays import Floats
from hedgerow.forest.forest import Forest

__all__ = ["LeafPosteriors", "Prunings", "dirichlet_entropy_bits"]

M = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0, 2.0, 4.0)
"""Candidates for m, the rows that the prior is worth."""

_WORTH_OF_CHOSEN = 0.5
_TREES_FOR_M = 10  # whose marginal likelihood chooses m: their means differ little
_NODES_AT_ONCE = 1 << 18
_LEAST_SHARE = 1e-9  # of a class in the prior: a Dirichlet distribution needs positive parameters


class LeafPosteriors(NamedTuple):
    """Posterior of the class probabilities θ of each leaf."""

    shares: Floats
    """Mean of θ, (n_leaves, n_classes)."""
    bits: Floats
    """Mean of the entropy of θ, (n_leaves,)."""
    m: float
    """The rows that the prior is worth."""


@dataclass(frozen=True)
class Prunings:
    """Prior over the prunings of trees, and what their counts are worth as evidence.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.folds import Prunings
    >>> from hedgerow.forest import build_forest, leaf, threshold
    >>> forest = build_forest([threshold(0, 2.0, leaf([3, 1]), leaf([0, 4]))], n_features=1)
    >>> found = Prunings().posteriors(forest, forest.counts, np.array([0.375, 0.625]))
    >>> found.shares.shape
    (2, 2)
    """

    chosen: bool = True
    """Whether labels chose the splits."""

    def posteriors(self, forest: Forest, counts: Floats, prior: Floats) -> LeafPosteriors:
        """Posterior of each leaf, given the counts of the leaves, (n_leaves, n_classes), and the classes' prior.

        Parameters
        ----------
        forest : Forest
            The trees.
        counts : array of shape (n_leaves, n_classes)
            Class counts of the leaves.
        prior : array of shape (n_classes,) or None
            Share of each class; None is uniform.

        Returns
        -------
        LeafPosteriors
            Mean class probabilities and their mean entropy, a row for each leaf.
        """
        prior = np.maximum(prior, _LEAST_SHARE)
        prior = prior / prior.sum()
        of_nodes = forest.node_counts(counts) * (_WORTH_OF_CHOSEN if self.chosen else 1.0)
        some = next(_parts(forest, of_nodes, min(forest.n_trees, _TREES_FOR_M)))
        evidence = [some.marginals(m, prior, self._log_split(some))[0][some.roots].sum() for m in M]
        m = M[int(np.argmax(evidence))]
        shares, bits = np.empty(counts.shape), np.empty(len(counts))
        for part in _parts(forest, of_nodes, forest.n_trees):
            leaves = slice(part.first_leaf, part.first_leaf + len(part.leaf_nodes))
            shares[leaves], bits[leaves] = part.average(m, prior, self._log_split(part))
        return LeafPosteriors(shares, bits, m)

    def _log_split(self, part: _Part) -> Floats:
        """Logarithm of the prior probability that each node is split."""
        if not self.chosen:
            return np.full(len(part.counts), np.log(0.5))
        n_rows = np.maximum(part.counts.sum(axis=1), 1.0)
        return np.log(0.5) - 0.5 * np.log(n_rows)


@dataclass(frozen=True)
class _Part:
    """Nodes of some successive trees."""

    counts: Floats
    """Of every node, (n_nodes, n_classes)."""
    parent: NDArray[np.int64]
    """Of every node; -1 for roots."""
    levels: list[NDArray[np.intp]]
    """The nodes of each depth, roots first."""
    roots: NDArray[np.intp]
    leaf_nodes: NDArray[np.intp]
    first_leaf: int

    def marginals(self, m: float, prior: Floats, log_split: Floats) -> tuple[Floats, Floats]:
        """Logarithm of W, and the posterior probability of a split, of every node."""
        alpha = m * prior
        n_rows = self.counts.sum(axis=1)
        alone = (gammaln(self.counts + alpha) - gammaln(alpha)).sum(axis=1) + gammaln(m) - gammaln(n_rows + m)
        marginal, below, split = alone.copy(), np.zeros(len(alone)), np.zeros(len(alone))
        is_leaf = np.zeros(len(alone), dtype=bool)
        is_leaf[self.leaf_nodes] = True
        for nodes in reversed(self.levels):
            inner = nodes[~is_leaf[nodes]]
            as_split = log_split[inner] + below[inner]
            marginal[inner] = np.logaddexp(as_split, np.log1p(-np.exp(log_split[inner])) + alone[inner])
            split[inner] = np.exp(as_split - marginal[inner])
            if self.parent[nodes[0]] >= 0:
                np.add.at(below, self.parent[nodes], marginal[nodes])
        return marginal, split

    def average(self, m: float, prior: Floats, log_split: Floats) -> tuple[Floats, Floats]:
        """Means of θ and of its entropy in every leaf, (n_leaves, n_classes) and (n_leaves,)."""
        _, split = self.marginals(m, prior, log_split)
        counts = self.counts + m * prior
        shares = counts / counts.sum(axis=1, keepdims=True)
        bits = dirichlet_entropy_bits(counts)
        reached = np.ones(len(counts))  # probability that no ancestor is the leaf of the pruning
        for nodes in self.levels:
            parent = self.parent[nodes]
            ends = 1.0 - split[nodes]
            if parent[0] < 0:
                shares[nodes] *= ends[:, np.newaxis]
                bits[nodes] *= ends
                continue
            reached[nodes] = reached[parent] * split[parent]
            weight = reached[nodes] * ends
            shares[nodes] = shares[parent] + weight[:, np.newaxis] * shares[nodes]
            bits[nodes] = bits[parent] + weight * bits[nodes]
        return shares[self.leaf_nodes], bits[self.leaf_nodes]


def _parts(forest: Forest, of_nodes: Floats, n_trees: int) -> Iterator[_Part]:
    """Nodes of the first `n_trees` trees, some trees at a time, with their counts."""
    depths, parent = forest.node_depths(), forest.parent
    first = 0
    while first < n_trees:
        most = np.searchsorted(forest.tree_start, forest.tree_start[first] + _NODES_AT_ONCE, side="right") - 1
        last = min(max(int(most), first + 1), n_trees)
        start, end = int(forest.tree_start[first]), int(forest.tree_start[last])
        of_part = depths[start:end]
        order = np.argsort(of_part, kind="stable")
        yield _Part(
            of_nodes[start:end],
            np.where(parent[start:end] < 0, -1, parent[start:end] - start),
            np.split(order, np.cumsum(np.bincount(of_part))[:-1]),
            forest.tree_start[first:last] - start,
            forest.leaf_nodes[forest.leaf_start[first] : forest.leaf_start[last]] - start,
            int(forest.leaf_start[first]),
        )
        first = last


def dirichlet_entropy_bits(alpha: Floats) -> Floats:
    """Mean entropy in bits of class probabilities θ ~ Dirichlet(α), (…), for α (…, n_classes).

    E[−Σ θ_k·ln θ_k] = ψ(A + 1) − Σ α_k/A·ψ(α_k + 1) with A = Σ α_k (Wolpert and Wolf, 1995).

    >>> import numpy as np
    >>> dirichlet_entropy_bits(np.array([[1.0, 1.0], [50.0, 50.0]])).round(3)
    array([0.721, 0.993])
    """
    total = alpha.sum(axis=-1, keepdims=True)
    nats = digamma(total[..., 0] + 1) - (alpha / total * digamma(alpha + 1)).sum(axis=-1)
    return np.maximum(nats, 0.0) / np.log(2)
