"""Contributions against shap's TreeExplainer, on the same forest of scikit-learn: one thread, processor time.

    python benchmarks/bench_contributions.py [--rows 1000] [--rounds 3]

100 full trees on 20,000 rows of 20 columns. Without shap (pip install shap) our times stand alone.
"""

import argparse
import time

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from timing import best_of, print_ratios

from hedgerow import RuleClassifier

N_TRAIN, N_TREES, N_BACKGROUND = 20_000, 100, 100


def main(n_rows: int, rounds: int) -> None:
    X, y = make_classification(N_TRAIN + n_rows, 20, n_informative=10, random_state=0)
    X = X.astype(np.float32).astype(np.float64)  # as scikit-learn reads it
    theirs = RandomForestClassifier(N_TREES, n_jobs=2, random_state=0).fit(X[:N_TRAIN], y[:N_TRAIN])
    ours = RuleClassifier.from_fitted(theirs.set_params(n_jobs=1))
    rows, background = X[N_TRAIN:], X[:N_BACKGROUND]
    few, fewest = rows[: max(1, n_rows // 10)], rows[: max(1, n_rows // 100)]
    cases = {
        f"{n_rows} rows, path-dependent": (
            lambda: ours.contributions(rows).values,
            lambda shap: shap.TreeExplainer(theirs).shap_values(rows, check_additivity=False),
        ),
        f"{len(few)} rows, {N_BACKGROUND} background rows": (
            lambda: ours.contributions(few, background).values,
            lambda shap: shap.TreeExplainer(theirs, background).shap_values(few, check_additivity=False),
        ),
        f"{len(fewest)} rows, pairs of columns": (
            lambda: ours.contributions(fewest, interactions=True).interactions,
            lambda shap: shap.TreeExplainer(theirs).shap_interaction_values(fewest),
        ),
    }
    try:
        import shap
    except ImportError:
        shap = None
    for title, (own, peer) in cases.items():
        jobs = {"hedgerow": own}
        if shap is not None:
            jobs["shap"] = lambda peer=peer: peer(shap)
            print(f"\nlargest difference: {abs(own() - np.asarray(jobs['shap']())).max():.1e}", end="")
        seconds = best_of(jobs, rounds, time.process_time)
        print_ratios(title, seconds, "shap" if shap is not None else "hedgerow")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    main(arguments.rows, arguments.rounds)
