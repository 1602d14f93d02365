"""Oblique trees and forests beside axis-parallel ones and other libraries' oblique forests, on 20 numeric datasets.

``HEDGEROW_DATA=folder python benchmarks/oblique_accuracy.py [trees|forests|penalties|...]`` fits each candidate on one
half of every dataset and scores it on the other half, for several stratified splits, as ``defaults.py`` does; the
folder is the same. ``--only`` names other datasets, ``--out`` keeps one line for each dataset, split and candidate.
"""

import argparse
import os
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from default_candidates import Candidate, one_hot, ours
from defaults import run, summary
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.svm import LinearSVC

import hedgerow as hr
from hedgerow.growth import RidgeSplit

DATASETS = (
    *("banknote", "biodeg", "breast-cancer", "bupa", "cardiotocography", "climate", "diabetes", "glass"),
    *("heart-statlog", "ionosphere", "pendigits", "satimage", "segment", "sonar", "spambase"),
    *("telescope", "vehicle-statlog", "vowel", "wine", "wine-quality-red"),
)


def ydf_oblique(X: pd.DataFrame, y: np.ndarray, X_test: pd.DataFrame, seed: int) -> np.ndarray | None:
    try:
        import ydf
    except ImportError:
        return None
    ydf.verbose(0)
    plain = [frame.set_axis([f"c{i}" for i in range(frame.shape[1])], axis=1) for frame in (X, X_test)]
    learner = ydf.RandomForestLearner(
        label="target", num_trees=100, split_axis="SPARSE_OBLIQUE", random_seed=seed, num_threads=1
    )
    model = learner.train(plain[0].assign(target=y), verbose=0)
    found = model.predict(plain[1])
    found = np.stack([1 - found, found], axis=1) if found.ndim == 1 else found
    return np.asarray(found[:, [model.label_classes().index(label) for label in np.unique(y)]])


def treeple_oblique(X: pd.DataFrame, y: np.ndarray, X_test: pd.DataFrame, seed: int) -> np.ndarray | None:
    try:
        from treeple import ObliqueRandomForestClassifier
    except ImportError:
        return None
    model = ObliqueRandomForestClassifier(100, random_state=seed, n_jobs=1).fit(X.to_numpy(), y)
    found: np.ndarray = model.predict_proba(X_test.to_numpy())
    return found


SPLITTERS = {
    "LinearSVC": LinearSVC(),
    "LogisticRegression": LogisticRegression(),
    "RidgeClassifier": RidgeClassifier(),
    "LinearDiscriminantAnalysis": LinearDiscriminantAnalysis(),
}
TREE, FOREST = hr.ObliqueTreeClassifier, hr.ObliqueForestClassifier
FAMILIES: dict[str, dict[str, Candidate]] = {
    "trees": {
        "axis-parallel tree": ours(hr.TreeClassifier),
        "oblique tree": ours(TREE),
        "axis-parallel tree, gini": ours(hr.TreeClassifier, criterion="gini"),
        "oblique tree, gini": ours(TREE, criterion="gini"),
        "oblique tree, entropy": ours(TREE, criterion="entropy"),
    },
    "splitters": {"ridge": ours(TREE), **{name: ours(TREE, splitter=one) for name, one in SPLITTERS.items()}},
    "penalties": {f"penalty {one}": ours(TREE, splitter=RidgeSplit(one)) for one in (0.001, 0.01, 0.03, 0.1, 0.3, 1.0)},
    "forests": {
        "axis-parallel forest": ours(hr.ForestClassifier),
        "oblique forest": ours(FOREST),
        "scikit-learn's forest": one_hot(RandomForestClassifier),
        "ydf's sparse oblique forest": ydf_oblique,
        "treeple's oblique forest": treeple_oblique,
    },
    "forest settings": {
        "oblique forest": ours(FOREST),
        **{f"penalty {one}": ours(FOREST, splitter=RidgeSplit(one)) for one in (0.001, 0.1, 0.3, 1.0)},
        **{f"{one} of the columns": ours(FOREST, max_features=one) for one in (0.33, 0.5, 1.0)},
        "log2 of the columns": ours(FOREST, max_features="log2"),
    },
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("family", nargs="?", choices=sorted(FAMILIES), default="forests")
    parser.add_argument("--splits", type=int, default=2)
    parser.add_argument("--only", nargs="*", default=list(DATASETS), help="names of datasets")
    parser.add_argument("--missing", action="store_true", help="also datasets with missing values")
    parser.add_argument("--candidates", nargs="*", help="names of candidates")
    parser.add_argument("--out", type=Path, help="CSV file of all scores")
    arguments = parser.parse_args()
    folder = os.environ.get("HEDGEROW_DATA")
    if folder is None:
        sys.exit("set HEDGEROW_DATA to a folder with manifest.csv and Parquet files")
    candidates = FAMILIES[arguments.family]
    if arguments.candidates:
        candidates = {name: candidates[name] for name in arguments.candidates}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = run(candidates, Path(folder), arguments)
    if arguments.out:
        found.to_csv(arguments.out, index=False)
    print(summary(found, list(candidates)).to_string())


if __name__ == "__main__":
    main()
