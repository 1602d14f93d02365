"""Soft trees against plain trees of the same size, by the latent truth: the figures of docs/measured.md.

    python tests/slow/check_measured_bar.py [seeds]

Friedman 1 and step functions with 3 to 8 steps, errors of 0.3, 0.45 and 0.6 standard deviations, 500 rows, thirty
seeds: 90 and 540 runs. Fails unless the mean squared error is at least 20 % (12 % on steps) below the plain tree's in
the mean over all runs, and no worse in at least 95 % of them. It also prints how much the drop of a single run varies;
divided by the root of the number of runs, that is what the mean is known to.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import numpy as np
from bench_measured import RATIOS, error, plain_tree
from measured_data import pair

from hedgerow import MeasuredTreeRegressor

CASES = {"Friedman 1": (["friedman"], 16, 0.20), "steps": ([str(n) for n in range(3, 9)], 8, 0.12)}


def drops(names: list[str], n_leaves: int, n_seeds: int) -> np.ndarray:
    """By what share the error is below the plain tree's, (names, ratios, seeds)."""
    found = np.empty((len(names), len(RATIOS), n_seeds))
    for i, name in enumerate(names):
        for j, ratio in enumerate(RATIOS):
            for seed in range(n_seeds):
                sample, new = pair(name, ratio, seed)
                plain = error(plain_tree(n_leaves).fit(sample.X, sample.y), new)
                soft = MeasuredTreeRegressor(sample.sigma, max_leaf_nodes=n_leaves).fit(sample.X, sample.y)
                found[i, j, seed] = 1 - error(soft, new) / plain
    return found


def main(n_seeds: int = 30) -> int:
    failed = False
    for title, (names, n_leaves, wanted) in CASES.items():
        found = drops(names, n_leaves, n_seeds)
        mean, no_worse = found.mean(), (found >= 0).mean()
        good = mean >= wanted and no_worse >= 0.95
        failed |= not good
        print(
            f"{title}, {n_leaves} leaves, {found.size} runs: {mean:.3f} below (wanted {wanted}), no worse in "
            f"{no_worse:.3f}; the drop of a single run varies by {found.std(axis=2).mean():.3f}"
        )
        print(f"  by sigma/sd {dict(zip(RATIOS, found.mean(axis=(0, 2)).round(3).tolist(), strict=True))}")
        if len(names) > 1:
            print(f"  by steps {dict(zip(names, found.mean(axis=(1, 2)).round(3).tolist(), strict=True))}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(*(int(argument) for argument in sys.argv[1:2])))
