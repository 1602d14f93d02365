"""Walking against scikit-learn: the same forest (100 full trees of 20,000 × 20), the same rows, one thread."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from timing import best_of, median_latency, print_ratios

from hedgerow.adapt import from_sklearn
from hedgerow.forest.kinds import MissingPolicy
from hedgerow.walk import LeafTable, fold, route, spread

N_TRAIN, N_ROWS, N_FEATURES, N_TREES = 20_000, 50_000, 20, 100


def import_seconds() -> float:
    """Least time, of five fresh interpreters, that hedgerow takes to import once scikit-learn has been."""
    code = "import sklearn, time; t = time.perf_counter(); import hedgerow; print(time.perf_counter() - t)"
    return min(float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(5))


X, y = make_classification(N_TRAIN + N_ROWS, N_FEATURES, n_informative=8, flip_y=0.1, random_state=0)
peer = RandomForestClassifier(N_TREES, random_state=0, n_jobs=1).fit(X[:N_TRAIN], y[:N_TRAIN])
rows = X[N_TRAIN:]
forest = from_sklearn(peer)
frequency = LeafTable.of(forest.leaf_counts / forest.leaf_counts.sum(axis=1, keepdims=True))
print(forest, f"{forest.nbytes / forest.n_nodes:.1f} bytes a node")

difference = np.abs(fold(forest, rows, [frequency])[0] / N_TREES - peer.predict_proba(rows)).max()
print(f"largest difference from scikit-learn's probabilities: {difference:.1e}")

spreading = replace(forest, missing=np.full_like(forest.missing, MissingPolicy.SPREAD))
missing = rows.copy()
missing[np.random.default_rng(0).random(missing.shape) < 0.01] = np.nan
n_missing = int(np.isnan(missing).any(axis=1).sum())
print_ratios(
    f"{N_ROWS} rows, one thread",
    best_of(
        {
            "scikit-learn predict_proba": lambda: peer.predict_proba(rows),
            "hedgerow fold": lambda: fold(forest, rows, [frequency]),
            "hedgerow fold, two threads": lambda: fold(forest, rows, [frequency], n_jobs=2),
            "hedgerow route": lambda: route(forest, rows),
            f"hedgerow fold, {n_missing} rows spread": lambda: fold(spreading, missing, [frequency]),
            "hedgerow spread": lambda: spread(spreading, missing),
        },
        12,
    ),
    "scikit-learn predict_proba",
)
print_ratios(
    "one row, a new one each call, Python included (median)",
    median_latency(
        {
            "scikit-learn predict_proba": lambda i: peer.predict_proba(rows[i : i + 1]),
            "hedgerow fold": lambda i: fold(forest, rows[i : i + 1], [frequency]),
        },
        {"scikit-learn predict_proba": 100, "hedgerow fold": 2000},
        5,
    ),
    "scikit-learn predict_proba",
)
for n in (10, 100, 1000):
    print_ratios(
        f"{n} rows",
        best_of(
            {
                "scikit-learn predict_proba": lambda n=n: peer.predict_proba(rows[:n]),
                "hedgerow fold": lambda n=n: fold(forest, rows[:n], [frequency]),
            },
            20,
        ),
        "scikit-learn predict_proba",
    )
print(f"\nimport hedgerow after import sklearn: {import_seconds():.3f} s")
