"""The two-separator example of Alvarez, Bernard and Deffuant (2007, section 5.2): which partition is nearer the truth.

    python tests/slow/boundary_example.py [n_samples]

1,000 rows in a square; the probability of the class depends on the first column alone, and the tree asks for its two
thresholds, -1/4 and 1/4. With a box kernel of total width 0.1 the separator partition must be closer to the truth than
the leaf partition. With a Gaussian of standard deviation 0.1 the result is only reported.
"""

import sys
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator

from hedgerow import BoundaryClassifier, TreeClassifier
from hedgerow.boundary import Absolute
from hedgerow.forest.build import build_forest, leaf, threshold


def sigmoid(u: Any) -> Any:
    return 1 / (1 + np.exp(-u))


def truth(x: Any) -> Any:
    return np.where(x < 0, 0.1 + 0.8 * sigmoid(20 * (x + 0.25)), 1 - sigmoid(100 * (x - 0.25)))


def tree_of(X: Any, y: Any) -> TreeClassifier:
    """The tree of the paper's Figure 2, with the counts of these rows."""
    part = np.digitize(X[:, 0], [-0.25, 0.25], right=True)
    left, middle, right = (leaf(np.bincount(y[part == i], minlength=2)) for i in range(3))
    tree = TreeClassifier(max_depth=1).fit(X, y)
    tree.forest_ = build_forest([threshold(0, -0.25, left, threshold(0, 0.25, middle, right))], n_features=2)
    return tree


def mean_error(seed: int, partition: str, **settings: Any) -> float:
    """The root of the mean squared difference from the truth along the first column."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-0.5, 0.5, size=(1000, 2))
    y = (rng.random(1000) < truth(X[:, 0])).astype(int)
    model = BoundaryClassifier(
        FrozenEstimator(tree_of(X, y)), metric=[1.0, 1.0], partition=partition, boundary_weight=1, **settings
    )
    line = np.column_stack([np.linspace(-0.5, 0.5, 1001), np.zeros(1001)])
    found = model.fit(X, y).predict_proba(line)[:, 1]
    return float(np.sqrt(np.mean((found - truth(line[:, 0])) ** 2)))


def main(n_samples: int = 100) -> int:
    kernels = {"box, total width 0.1": ("box", 0.05), "gaussian, standard deviation 0.1": ("gaussian", 0.1)}
    wins = {}
    for name, (kernel, width) in kernels.items():
        settings = {"kernel": kernel, "bandwidth": Absolute(width)}
        errors = {
            p: np.array([mean_error(seed, p, **settings) for seed in range(n_samples)]) for p in ("separator", "leaf")
        }
        wins[name] = int((errors["separator"] < errors["leaf"]).sum())
        means = ", ".join(f"{p} {e.mean():.4f}" for p, e in errors.items())
        print(f"{name}: error {means}; the separator partition is closer in {wins[name]} of {n_samples} samples")
    return int(wins["box, total width 0.1"] < 0.95 * n_samples)


if __name__ == "__main__":
    sys.exit(main(*(int(argument) for argument in sys.argv[1:2])))
