"""Trees for measured inputs: how much nearer to the latent truth than plain trees, and what they cost.

    python benchmarks/bench_measured.py [--all]

With --all thirty seeds and both readings of the risk, else five seeds. Processor time, one thread.
"""

import argparse
import inspect
import resource
import subprocess
import sys
import time

import numpy as np
from measured_data import friedman, pair
from threadpoolctl import threadpool_limits

from hedgerow import MeasuredTreeRegressor, TreeRegressor
from hedgerow.measured.one_tree.threshold_columns import candidate_thresholds

RATIOS = (0.3, 0.45, 0.6)
SIZES = {"friedman": 16, "3": 8, "5": 8, "8": 8}
N_ROWS, N_LEAVES, N_CANDIDATES = 2_000, 16, 64
LEFT_OUT = 16  # the slower solver is timed on a part of the candidates


def plain_tree(n_leaves: int) -> TreeRegressor:
    unpruned = {"pruning": None} if "pruning" in inspect.signature(TreeRegressor).parameters else {}
    return TreeRegressor(max_leaf_nodes=n_leaves, **unpruned)


def error(model, new, **errors) -> float:
    return float(np.mean((model.predict(new.X, **errors) - new.truth) ** 2))


def compare(n_seeds: int, risks: tuple[str, ...]) -> None:
    """Mean squared error against the latent truth: the share by which it is below a plain tree's of the same size."""
    print(f"\nmean squared error below the plain tree's of the same size, {n_seeds} seeds; runs that are no worse")
    for name, n_leaves in SIZES.items():
        for ratio in RATIOS:
            below = {(risk, prior): [] for risk in risks for prior in ("normal", "flat", "kde")}
            for seed in range(n_seeds):
                sample, new = pair(name, ratio, seed)
                plain = error(plain_tree(n_leaves).fit(sample.X, sample.y), new)
                for risk, prior in below:
                    soft = MeasuredTreeRegressor(sample.sigma, prior=prior, risk=risk, max_leaf_nodes=n_leaves)
                    below[risk, prior].append(1 - error(soft.fit(sample.X, sample.y), new) / plain)
            found = "; ".join(
                f"{risk}, {prior} {np.mean(drops):.3f} ({np.mean(np.array(drops) >= 0):.2f})"
                for (risk, prior), drops in below.items()
            )
            print(f"  {name:>8} sigma/sd {ratio}: {found}", flush=True)


def normal_equations(columns, y) -> float:
    """Equation 6 as it is written, and the residual sum of squares."""
    try:
        gamma = np.linalg.solve(columns.T @ columns, columns.T @ y)
    except np.linalg.LinAlgError:
        return np.inf
    return float(((y - columns @ gamma) ** 2).sum())


def orthogonal(columns, y) -> float:
    """The same by a solver that does not square the condition."""
    gamma = np.linalg.lstsq(columns, y, rcond=None)[0]
    return float(((y - columns @ gamma) ** 2).sum())


def solve_each_candidate(y, shares_below, n_leaves, solve, every=1) -> None:
    """Best-first growth as equation 7 is written: a solve for every candidate of every region, after every split."""
    n, regions = len(y), [({}, np.ones(len(y)))]

    def factor(limits, share, j):
        below = shares_below[j]
        low, high = limits.get(j, (-1, below.shape[1]))
        first = below[:, low] if low >= 0 else np.zeros(n)
        width = (below[:, high] if high < below.shape[1] else np.ones(n)) - first
        return low, high, first, np.divide(share, width, out=np.zeros(n), where=width > 0)

    while len(regions) < n_leaves:
        columns = np.stack([share for _, share in regions], axis=1)
        best = (np.inf, 0, 0, 0)
        for number, (limits, share) in enumerate(regions):
            for j, below in enumerate(shares_below):
                low, high, first, rest = factor(limits, share, j)
                for t in range(low + 1, high, every):
                    more = np.column_stack([columns, rest * (below[:, t] - first)])
                    best = min(best, (solve(more, y), number, j, t))
        _, number, j, t = best
        limits, share = regions.pop(number)
        low, high, first, rest = factor(limits, share, j)
        left = rest * (shares_below[j][:, t] - first)
        regions += [({**limits, j: (low, t)}, left), ({**limits, j: (t, high)}, share - left)]


def race() -> None:
    """2,000 rows, ten columns, 16 leaves: the least of three runs of each, in turn."""
    sample = friedman(np.random.default_rng(0), N_ROWS, 0.45)
    model = MeasuredTreeRegressor(sample.sigma, prior="flat", max_leaf_nodes=N_LEAVES, max_candidates=N_CANDIDATES)
    sizes = np.full(N_ROWS, sample.sigma)
    model.fit(sample.X, sample.y)
    below = [
        law.below(x, sizes, candidate_thresholds(x, np.ones(N_ROWS), N_CANDIDATES))
        for law, x in zip(model.laws_, sample.X.T, strict=True)
    ]
    peers = {normal_equations: 1, orthogonal: LEFT_OUT}
    ours, theirs = [], {solve: [] for solve in peers}
    for _ in range(3):
        ours.append(seconds(lambda: model.fit(sample.X, sample.y)))
        for solve, every in peers.items():
            taken = seconds(lambda: solve_each_candidate(sample.y, below, N_LEAVES, solve, every))  # noqa: B023
            theirs[solve].append(every * taken)
    print(f"\n{N_ROWS} x 10, {N_LEAVES} leaves, {N_CANDIDATES} candidates a column: {min(ours):.3f} s")
    for solve, every in peers.items():
        taken = min(theirs[solve])
        note = f", of every {every}th candidate, times {every}" if every > 1 else ""
        print(f"  a solve for each candidate, {solve.__name__}: {taken:.1f} s{note}: {taken / min(ours):.0f} x")


def seconds(job) -> float:
    start = time.process_time()
    job()
    return time.process_time() - start


def memory() -> None:
    """Peak of a process that fits 20,000 x 10 with 32 leaves; run in one of its own."""
    sample = friedman(np.random.default_rng(0), 20_000, 0.45)
    start = time.process_time()
    MeasuredTreeRegressor(sample.sigma, max_leaf_nodes=32).fit(sample.X, sample.y)
    taken = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\n20000 x 10, 32 leaves: {taken:.1f} s, peak of the whole process {peak:.0f} MiB")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--memory", action="store_true", help="only the largest fit")
    options = parser.parse_args()
    with threadpool_limits(1):
        if options.memory:
            memory()
        else:
            compare(30 if options.all else 5, ("global", "node") if options.all else ("global",))
            race()
            subprocess.run([sys.executable, __file__, "--memory"], check=True)
