"""Permutation importance against scikit-learn's, each on a forest of its own: one thread, processor time.

    python benchmarks/bench_importance.py [--rows 20000] [--repeats 5] [--rounds 1] [--ranger PROGRAM]

100 trees on 20,000 rows of 20 columns. scikit-learn permutes a column in all rows and asks the whole forest; ours
permutes it among the rows out of each tree's bag. The third line asks every tree about all rows. ranger's command-line
program permutes as ours does, once; its time is that of a fit with importance less that of one without.
"""

import argparse
import resource
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.inspection import permutation_importance as of_scikit_learn
from timing import best_of, print_ratios

from hedgerow import ForestClassifier
from hedgerow.inspection import permutation_importance

N_TREES = 100


def main(n_rows: int, n_repeats: int, rounds: int) -> None:
    X, y = make_classification(n_rows, 20, n_informative=10, random_state=0)
    theirs = RandomForestClassifier(N_TREES, n_jobs=2, random_state=0).fit(X, y).set_params(n_jobs=1)
    ours = ForestClassifier(N_TREES, n_jobs=2, random_state=0).fit(X, y)
    repeats = {"n_repeats": n_repeats, "random_state": 0}
    jobs = {
        "scikit-learn": lambda: of_scikit_learn(theirs, X, y, **repeats),
        "hedgerow, out of bag": lambda: permutation_importance(ours, X, y, **repeats),
        "hedgerow, all rows": lambda: permutation_importance(ours, X, y, rows="all", **repeats),
        "hedgerow, out of bag, conditional": lambda: permutation_importance(ours, X, y, conditional=0.1, **repeats),
    }
    title = f"{n_rows} rows, {N_TREES} trees, {n_repeats} repeats"
    print_ratios(title, best_of(jobs, rounds, time.process_time), "scikit-learn")


def compare_ranger(program: str, n_rows: int) -> None:
    X, y = make_classification(n_rows, 20, n_informative=10, random_state=0)
    ours = ForestClassifier(N_TREES, n_jobs=2, random_state=0).fit(X, y)
    start = time.process_time()
    found = permutation_importance(ours, X, y, random_state=0, n_repeats=1).importances_mean
    seconds = time.process_time() - start
    names = [f"x{j}" for j in range(X.shape[1])]
    with tempfile.TemporaryDirectory() as folder:
        data, out = Path(folder, "data.csv"), Path(folder, "out")
        np.savetxt(data, np.c_[X, y], fmt="%.17g", delimiter=",", header=",".join([*names, "y"]), comments="")
        command = [program, "--file", data, "--depvarname", "y", "--ntree", str(N_TREES), "--nthreads", "1"]
        taken = []
        for measure in ("0", "3"):  # none; permutation, not scaled
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            subprocess.run([*command, "--outprefix", out, "--impmeasure", measure], check=True, capture_output=True)
            taken.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
        lines = dict(
            line.split(": ") for line in out.with_suffix(".importance").read_text().splitlines() if ": " in line
        )
    theirs = [float(lines[name]) for name in names]
    times = {"ranger": taken[1] - taken[0], "hedgerow, out of bag": seconds}
    print_ratios(f"{n_rows} rows, {N_TREES} trees, once", times, "ranger")
    print(f"  correlation of the importances of the columns: {np.corrcoef(found, theirs)[0, 1]:.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--ranger", metavar="PROGRAM", help="compare with this program instead")
    arguments = parser.parse_args()
    if arguments.ranger:
        compare_ranger(arguments.ranger, arguments.rows)
    else:
        main(arguments.rows, arguments.repeats, arguments.rounds)
