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


def without_each_row(bags, rows, leaf_values):
    """Mean over the trees that each training row is out of the bag of of their values about new rows, (k, n, …)."""
    from hedgerow.walk import route

    leaves = route(bags.forest, rows) + bags.forest.leaf_start[:-1]
    seen = np.unpackbits(bags.seen, axis=1, count=len(bags.rows), bitorder="little").T.astype(bool)
    return [
        [
            np.mean([leaf_values[leaf] for leaf, seen_by in zip(row, in_bag, strict=True) if not seen_by], axis=0)
            for in_bag in seen
            if not in_bag.all()
        ]
        for row in leaves
    ]


def jackknife_interval(predictions, errors, coverage):
    """Interval for one new row: what the ensemble of each training row says, less and plus that row's error.

    Kim, Xu and Barber, 2020, algorithm 1: the ⌊α(n + 1)⌋-th smallest lower end and the ⌈(1 − α)(n + 1)⌉-th upper one.
    """
    pairs = list(zip(predictions, errors, strict=True))
    below = [-(one - error) for one, error in pairs]
    return -threshold(below, coverage), threshold([one + error for one, error in pairs], coverage)


def jackknife_set(scores, own, coverage):
    """Classes less strange than enough calibration rows: `scores` (n, n_classes) by the ensemble of each of them."""
    n_classes = len(scores[0])
    smaller = [sum(mine < of[k] - 1e-9 for mine, of in zip(own, scores, strict=True)) for k in range(n_classes)]
    return [one < coverage * (len(own) + 1) - 1e-9 for one in smaller]
