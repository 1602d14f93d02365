"""Conformal prediction written out: one row and one class at a time."""

import math

import numpy as np
from sklearn.isotonic import IsotonicRegression


def threshold(scores, coverage):
    """The ⌈(n + 1)·c⌉-th smallest score; infinite if there is none."""
    ordered = sorted(scores)
    rank = math.ceil((len(ordered) + 1) * coverage - 1e-9)
    return ordered[rank - 1] if rank <= len(ordered) else math.inf


def lac(probabilities):
    return [1 - p for p in probabilities]


def aps(probabilities):
    return [sum(q for q in probabilities if q >= p) for p in probabilities]


def raps(probabilities, penalty, free):
    ranks = [sum(q >= p for q in probabilities) for p in probabilities]
    return [one + penalty * max(rank - free, 0) for one, rank in zip(aps(probabilities), ranks, strict=True)]


def dominance(bounds):
    return [
        max([low for j, (low, _) in enumerate(bounds) if j != k], default=0.0) - high
        for k, (_, high) in enumerate(bounds)
    ]


def venn_abers(scores, events, weights, new):
    """Isotonic regression at the new score, which is added as a non-event, and as an event."""
    return [
        float(IsotonicRegression().fit([*scores, new], [*events, added], [*weights, 1.0]).predict([new])[0])
        for added in (0, 1)
    ]


def out_of_bag(bags, leaf_values):
    """Mean over the trees that each row is out of the bag of of the values of its leaf; None where there are none."""
    from hedgerow.walk import route

    leaves = route(bags.forest, bags.rows) + bags.forest.leaf_start[:-1]
    seen = np.unpackbits(bags.seen, axis=1, count=len(bags.rows), bitorder="little").T.astype(bool)
    found = []
    for row, in_bag in zip(leaves, seen, strict=True):
        values = [leaf_values[leaf] for leaf, seen_by in zip(row, in_bag, strict=True) if not seen_by]
        found.append(np.mean(values, axis=0) if values else None)
    return found
