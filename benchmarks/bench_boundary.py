"""Distances to the boundary against vectorised NumPy over all leaves; kernel sums by cells against all pairs."""

import numpy as np
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier
from timing import best_of, print_ratios

from hedgerow.boundary.decision_boundary import DecisionBoundary
from hedgerow.boundary.distance import boundary_of
from hedgerow.boundary.kernels import KernelSample

N_ROWS, N_FEATURES, N_LEAVES = 20_000, 30, 300
N_PLACES = 100_000
CHUNK = 500  # rows at a time: all at once would take 1.4 GB


def brute_force(boundary: DecisionBoundary, X: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Of two classes, to class 1: every row and leaf (algorithms 1 and 2 of the paper)."""
    boxes, positive = boundary.shape.boxes() / scale[:, np.newaxis], boundary.labels == 1
    lower, upper = np.ascontiguousarray(boxes[..., 0]), np.ascontiguousarray(boxes[..., 1])
    inside = boundary.labels[boundary.fractions(X).leaves] == 1
    out = np.empty(len(X))
    for first in range(0, len(X), CHUNK):
        y = (X[first : first + CHUNK] / scale)[:, np.newaxis]
        moves = np.clip(y, lower, upper) - y
        squared = np.einsum("ijk,ijk->ij", moves, moves)
        some = inside[first : first + CHUNK]
        way_out, way_in = squared[:, ~positive].min(axis=1), squared[:, positive].min(axis=1)
        out[first : first + CHUNK] = np.where(some, -np.sqrt(way_out), np.sqrt(way_in))
    return out


def distances() -> None:
    X, y = make_classification(2 * N_ROWS, N_FEATURES, n_informative=10, flip_y=0.1, random_state=0)
    tree = DecisionTreeClassifier(max_leaf_nodes=N_LEAVES, random_state=0).fit(X[:N_ROWS], y[:N_ROWS])
    boundary, rows, scale = boundary_of(tree), X[N_ROWS:], X.std(axis=0)
    nearest = boundary.measure(rows, scale)
    print(f"largest difference {np.abs(nearest.distance[:, 1] - brute_force(boundary, rows, scale)).max():.1e}")
    print(f"leaves looked at: {nearest.n_leaves.mean():.1f} of {N_LEAVES}")
    jobs = {
        "NumPy, all leaves": lambda: brute_force(boundary, rows, scale),
        "hedgerow, one thread": lambda: boundary.measure(rows, scale),
        "hedgerow, two threads": lambda: boundary.measure(rows, scale, n_jobs=2),
    }
    print_ratios(f"{N_ROWS} rows × {N_FEATURES} × {N_LEAVES} leaves", best_of(jobs, 3), "NumPy, all leaves")


def sums() -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(N_PLACES, 1))
    inside = rng.random(N_PLACES) < 0.3
    group = np.zeros(N_PLACES, dtype=np.int64)
    sample = KernelSample.of(group, 1, points, np.stack([inside, ~inside], axis=1).astype(float))
    sample = KernelSample(sample.start, sample.points, sample.weights, 0.1 * np.ptp(points) * np.ones((1, 1)))
    places = rng.normal(size=(N_PLACES, 1))
    some = places[: N_PLACES // 100]
    exact = sample.shares("gaussian", group[: len(some)], some, 0.0, None)
    fast = sample.shares("gaussian", group[: len(some)], some, 1e-6, None)
    print(f"\nlargest relative difference {np.abs(fast / exact - 1).max():.1e}")
    jobs = {
        "all pairs, a hundredth of the places": lambda: sample.shares("gaussian", group[: len(some)], some, 0.0, None),
        **{
            f"by cells, {kernel}": lambda kernel=kernel: sample.shares(kernel, group, places, 1e-6, None)
            for kernel in ("gaussian", "box", "epanechnikov")
        },
    }
    title = f"{N_PLACES} training rows, {N_PLACES} places, one thread"
    print_ratios(title, best_of(jobs, 3), "all pairs, a hundredth of the places")


distances()
sums()
