"""Cautious forests without arguments, against the settings of the paper, on real data.

``HEDGEROW_DATA=folder python benchmarks/cautious_defaults.py`` fits on one half of every dataset and scores the sets of
the other half, for several stratified splits (those of ``defaults.py``). Candidates with a number s are read from one
forest, which is fitted once.
"""

import argparse
import os
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from defaults import Split, splits

from hedgerow import CautiousForestClassifier, credal, metrics

PAPER = {
    f"{'strict ' * strict}belief, {weighting}, s = {s}": (credal.Belief(weighting, strict), s)
    for strict, weighting, s in product((False, True), ("uniform", "samples", "epistemic"), (1, 3, 5))
} | {f"average, s = {s}": (credal.Average(), s) for s in (1, 3, 5)}

CHOSEN = {
    "default": lambda seed: CautiousForestClassifier(random_state=seed),
    "u80": lambda seed: CautiousForestClassifier(s="u80", random_state=seed),
    "belief, u65": lambda seed: CautiousForestClassifier(aggregate="belief", random_state=seed),
    "strict belief, uniform, u65": lambda seed: CautiousForestClassifier(
        aggregate=credal.Belief("uniform", strict=True), random_state=seed
    ),
    "best splits": lambda seed: CautiousForestClassifier(splitter="best", random_state=seed),
    "multiway splits": lambda seed: CautiousForestClassifier(nominal="multiway", random_state=seed),
    "leaves of 2": lambda seed: CautiousForestClassifier(min_samples_leaf=2, random_state=seed),
    "learned weights": lambda seed: CautiousForestClassifier(weighting="learned", random_state=seed),
    "belief, learned weights": lambda seed: CautiousForestClassifier(
        weighting="learned", aggregate="belief", random_state=seed
    ),
}


def scores(model: CautiousForestClassifier, split: Split) -> dict[str, float]:
    sets = model.predict_set(split.X_test)
    known = np.arange(len(model.classes_))
    return {
        "u65": metrics.u65_score(split.codes, sets, classes=known),
        "u80": metrics.u80_score(split.codes, sets, classes=known),
        "determinacy": metrics.determinacy(split.codes, sets),
        "single accuracy": metrics.single_accuracy(split.codes, sets, classes=known),
        "accuracy": float((np.searchsorted(model.classes_, model.predict(split.X_test)) == split.codes).mean()),
    }


def answers(split: Split, chosen: list[str]) -> Iterator[tuple[str, dict[str, float]]]:
    for name in chosen:
        yield name, scores(CHOSEN[name](split.number).fit(split.X, split.y), split)
    forest = CautiousForestClassifier(s=1, random_state=split.number).fit(split.X, split.y)
    for name, (aggregate, s) in PAPER.items():
        yield name, scores(forest.set_params(aggregate=aggregate, s=s), split)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--only", nargs="*", help="names of datasets")
    parser.add_argument("--chosen", nargs="*", default=list(CHOSEN), choices=list(CHOSEN), help="beside the paper's")
    parser.add_argument("--missing", action="store_true", help="also datasets with missing values")
    parser.add_argument("--out", type=Path, help="CSV file of all scores")
    arguments = parser.parse_args()
    folder = os.environ.get("HEDGEROW_DATA")
    if folder is None:
        sys.exit("set HEDGEROW_DATA to a folder with manifest.csv and Parquet files")
    rows = []
    for split in splits(Path(folder), arguments.splits, missing=arguments.missing, only=arguments.only):
        about = {"dataset": split.dataset, "split": split.number}
        rows += [about | {"candidate": name} | found for name, found in answers(split, arguments.chosen)]
        print(f"\r{split.dataset:<30}", end="", file=sys.stderr, flush=True)
    found = pd.DataFrame(rows)
    if arguments.out:
        found.to_csv(arguments.out, index=False)
    by_dataset = found.groupby(["candidate", "dataset"]).mean(numeric_only=True).drop(columns="split")
    table = by_dataset.groupby("candidate").mean().sort_values("u65", ascending=False)
    print(f"\n{found.dataset.nunique()} datasets")
    print(table.round(4).to_string())


if __name__ == "__main__":
    main()
