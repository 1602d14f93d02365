"""Trees to be pruned, with the rows that they were grown from: noise on a little structure, and every oddity."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

import oracles
from hedgerow import Forest
from hedgerow.forest.kinds import NodeKind
from hedgerow.growth import Fractional, Growth, Training, grow_forest
from strategies import forests, rows_of

CRITERIA = ("gini", "entropy", "gain_ratio", "squared_error")


@dataclass(frozen=True)
class Grown:
    """A tree, what it was grown from, and with what settings."""

    forest: Forest
    training: Training
    growth: Growth

    @property
    def X(self) -> NDArray[np.float64]:  # noqa: N802
        return np.ascontiguousarray(self.training.values)

    @property
    def y(self) -> NDArray[Any]:
        target = self.training.targets if self.training.labels is None else self.training.labels
        assert target is not None
        return target

    def grow(self, training: Training) -> Forest:
        options = self.growth.options(training.sample_weight, training.values.shape[1], CRITERIA, seed=0)
        return grow_forest(training, options).forest


def grown_from(training: Training, **settings: Any) -> Grown:
    growth = Growth(**settings)
    options = growth.options(training.sample_weight, training.values.shape[1], CRITERIA, seed=0)
    return Grown(grow_forest(training, options).forest, training, growth)


def noisy_rows(
    seed: int, n_rows: int, n_columns: int = 3, n_classes: int = 2, missing: float = 0.0, weighted: bool = False
) -> Training:
    """Columns of numbers with ties, every other nominal, and a target that depends on two of them and on chance."""
    rng = np.random.default_rng(seed)
    n_levels = int(rng.integers(2, 5))
    X = np.round(rng.normal(size=(n_rows, n_columns)), int(rng.integers(0, 3)))
    X[:, 1::2] = rng.integers(0, n_levels, size=X[:, 1::2].shape)
    n_categories = np.where(np.arange(n_columns) % 2 == 1, n_levels, 0).astype(np.int32)
    noisy = 2 * (X[:, 0] > 0) + (X[:, -1] == 1) + rng.normal(size=n_rows) * rng.choice([0.5, 1.0, 2.0])
    X[rng.random(X.shape) < missing] = np.nan
    weight = rng.choice([0.5, 1.0, 2.0, 3.0], size=n_rows) if weighted else np.ones(n_rows)
    if n_classes == 0:
        return Training(np.asfortranarray(X), n_categories, weight, targets=noisy)
    cuts = np.quantile(noisy, np.arange(1, n_classes) / n_classes)
    labels = np.digitize(noisy, cuts).astype(np.int32)
    return Training(np.asfortranarray(X), n_categories, weight, labels=labels, n_classes=n_classes)


@st.composite
def grown_trees(draw: st.DrawFn, regression: bool = False, max_rows: int = 60) -> Grown:
    training = noisy_rows(
        seed=draw(st.integers(0, 2**32 - 1)),
        n_rows=draw(st.integers(1, max_rows)),
        n_columns=draw(st.integers(1, 5)),
        n_classes=0 if regression else draw(st.integers(1, 4)),
        missing=draw(st.sampled_from([0.0, 0.0, 0.1, 0.4])),
        weighted=draw(st.booleans()),
    )
    missing = draw(st.sampled_from(["fractional", Fractional(0.0), Fractional(0.3), "category", "learned"]))
    return grown_from(
        training,
        criterion="squared_error" if regression else draw(st.sampled_from(CRITERIA[:3])),
        nominal=draw(st.sampled_from(["multiway", "multiway", "binary", "subset"])),
        missing=missing,
        max_depth=draw(st.sampled_from([None, None, 2, 4])),
        min_samples_leaf=draw(st.sampled_from([1, 2, 2, 4])),
    )


@st.composite
def refilled_trees(draw: st.DrawFn) -> Grown:
    """Trees of any shape, with every kind of node and policy, filled with rows: many branches stay empty."""
    shape = draw(forests(regression=False, max_trees=1))
    X = draw(rows_of(shape, max_rows=30))
    labels = np.array([draw(st.integers(0, shape.n_classes - 1)) for _ in X], dtype=np.int32)
    weights = np.array([draw(st.sampled_from([1.0, 1.0, 2.0, 0.5])) for _ in X])
    n_categories = np.zeros(shape.n_features, dtype=np.int32)
    training = Training(np.asfortranarray(X), n_categories, weights, labels=labels, n_classes=shape.n_classes)
    growth = Growth(criterion="gini", missing=Fractional(0.0))
    return Grown(refilled(shape, training), training, growth)


def refilled(forest: Forest, training: Training) -> Forest:
    """The same splits, with the weights and counts of these rows; whole rows and parts of rows by hand."""
    assert training.labels is not None
    weight = np.zeros(forest.n_nodes)
    counts = np.zeros((forest.n_leaves, training.n_classes))
    start = [(row, float(w)) for row, w in enumerate(training.sample_weight)]
    stack: list[tuple[int, list[tuple[int, float]]]] = [(0, start)]
    X = np.ascontiguousarray(training.values)
    while stack:
        node, rows = stack.pop()
        weight[node] = math.fsum(w for _, w in rows)
        if forest.kind[node] == NodeKind.LEAF:
            for row, w in rows:
                counts[forest.first_child[node], training.labels[row]] += w
            continue
        below = oracles.children(forest, 0, node)
        parts: list[list[tuple[int, float]]] = [[] for _ in below]
        unknown = []
        for row, w in rows:
            child = oracles.next_node(forest, 0, node, X[row])
            if child is None:
                unknown.append((row, w))
            else:
                parts[below.index(child)].append((row, w))
        known = [math.fsum(w for _, w in part) for part in parts]
        for row, w in unknown:
            for part, of_part in zip(parts, known, strict=True):
                share = of_part / math.fsum(known) if math.fsum(known) > 0 else 1 / len(parts)
                if share > 0:
                    part.append((row, w * share))
        stack.extend(zip(below, parts, strict=True))
    return replace(forest, weight=weight, leaf_counts=counts)
