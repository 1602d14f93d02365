"""C4.5 trees against Weka's J48: accuracy, size and time, the same rows in every fold.

``HEDGEROW_DATA=folder python benchmarks/compare_j48.py [--weka weka.jar] [--repeats 10] [dataset ...]``: 10-fold
cross-validation, repeated, pruned, unpruned (which J48 collapses too) and with reduced-error pruning. Needs a JDK and
weka.jar (Debian: default-jdk, weka).
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold
from timing import best_of

from hedgerow import TreeClassifier
from hedgerow.pruning import ReducedError

DATASETS = (
    *(
        "soybean",
        "labor",
        "audiology",
        "anneal",
        "car",
        "kr-vs-kp",
        "zoo",
        "autos",
        "dermatology",
        "voting",
        "mushroom",
    ),
    *("breast-w", "glass", "vowel", "diabetes", "sonar", "ionosphere"),
)
N_FOLDS = 10


def tree(mode: str, seed: int = 0) -> TreeClassifier:
    """As J48 is with this mode; it holds out a third for reduced-error pruning too, and does not collapse there."""
    if mode == "pruned":
        return TreeClassifier.c45()
    if mode == "unpruned":
        return TreeClassifier.c45(pruning=None)
    return TreeClassifier.c45(pruning=ReducedError(fraction=1 / 3), collapse=False, random_state=seed)


MODES = ("pruned", "unpruned", "reduced_error")


@dataclass
class Results:
    """By mode: accuracy and size in every fold, and milliseconds of a fit on all rows, best of fifteen."""

    accuracy: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    size: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    milliseconds: dict[str, float] = field(default_factory=dict)
    first: float = 0.0  # milliseconds of the first fit of a process


def folds_of(y: np.ndarray, n_repeats: int) -> np.ndarray:
    """The fold of each row in each repetition."""
    folds = np.empty((len(y), n_repeats), dtype=int)
    for repeat in range(n_repeats):
        chosen = StratifiedKFold(N_FOLDS, shuffle=True, random_state=repeat)
        for number, (_, test) in enumerate(chosen.split(np.zeros(len(y)), y)):
            folds[test, repeat] = number
    return folds


def ours(frame: pd.DataFrame, y: np.ndarray, folds: np.ndarray) -> Results:
    results = Results()
    for repeat in range(folds.shape[1]):
        for number in range(N_FOLDS):
            test = folds[:, repeat] == number
            for mode in MODES:
                fitted = tree(mode, seed=repeat * N_FOLDS + number).fit(frame[~test], y[~test])
                results.accuracy[mode].append(float((fitted.predict(frame[test]) == y[test]).mean()))
                results.size[mode].append(fitted.forest_.n_nodes)
    jobs = {mode: partial(tree(mode).fit, frame, y) for mode in MODES}
    results.milliseconds = {mode: seconds * 1e3 for mode, seconds in best_of(jobs, 15).items()}
    return results


def theirs(frame: pd.DataFrame, y: np.ndarray, folds: np.ndarray, classpath: str) -> Results:
    with tempfile.TemporaryDirectory() as folder:
        arff, chosen = Path(folder) / "data.arff", Path(folder) / "folds.txt"
        arff.write_text(arff_of(frame, y))
        np.savetxt(chosen, folds, fmt="%d")
        command = ["java", "-cp", classpath, "J48Folds", str(arff), str(chosen)]
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    results = Results()
    for line in lines:
        first, *words = line.split()
        if first == "first":
            results.first = float(words[0])
        elif first == "time":
            results.milliseconds[words[0]] = float(words[1])
        else:
            results.accuracy[first].append(int(words[2]) / int(words[3]))
            results.size[first].append(int(words[4]))
    return results


def arff_of(frame: pd.DataFrame, y: np.ndarray) -> str:
    columns = [*(frame[name] for name in frame), pd.Series(pd.Categorical(y), name="target")]
    lines = ["@relation data"]
    cells = []
    for number, column in enumerate(columns):
        nominal = isinstance(column.dtype, pd.CategoricalDtype)
        kind = "{" + ",".join(map(quoted, column.cat.categories)) + "}" if nominal else "numeric"
        lines.append(f"@attribute a{number} {kind}")
        cells.append(["?" if pd.isna(value) else quoted(value) if nominal else repr(float(value)) for value in column])
    return "\n".join([*lines, "@data", *(",".join(row) for row in zip(*cells, strict=True)), ""])


def quoted(value: object) -> str:
    return "'" + str(value).replace("\\", "\\\\").replace("'", "\\'") + "'"


def read(folder: Path, name: str) -> tuple[pd.DataFrame, np.ndarray]:
    frame = pd.read_parquet(folder / f"{name}.parquet")
    frame = frame.sample(frac=1, random_state=0)  # J48 holds out every third row of a class in the order of the file
    target = frame.pop("target")
    for column in frame.select_dtypes(["object", "string"]):
        frame[column] = frame[column].astype("category")
    return frame, target.astype(str).to_numpy()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("datasets", nargs="*", default=DATASETS)
    parser.add_argument("--weka", default="/usr/share/java/weka.jar")
    parser.add_argument("--repeats", type=int, default=10)
    arguments = parser.parse_args()
    folder = os.environ.get("HEDGEROW_DATA")
    if folder is None or not Path(arguments.weka).exists():
        sys.exit("set HEDGEROW_DATA to a folder of Parquet files, and give --weka the path of weka.jar")
    with tempfile.TemporaryDirectory() as classes:
        source = str(Path(__file__).with_name("J48Folds.java"))
        subprocess.run(["javac", "-cp", arguments.weka, "-d", classes, source], check=True)
        classpath = os.pathsep.join([arguments.weka, classes])
        differences: dict[str, list[tuple[float, float]]] = defaultdict(list)
        print("accuracy and its difference; nodes and their ratio; milliseconds of a fit on all rows and their ratio")
        print("(best of fifteen, all of Java compiled), and of the first tree of the JVM")
        for name in arguments.datasets:
            frame, y = read(Path(folder), name)
            folds = folds_of(y, arguments.repeats)
            mine, other = ours(frame, y, folds), theirs(frame, y, folds, classpath)
            for mode in MODES:
                accuracy, peer = 100 * np.mean(mine.accuracy[mode]), 100 * np.mean(other.accuracy[mode])
                size, peer_size = np.mean(mine.size[mode]), np.mean(other.size[mode])
                time, peer_time = mine.milliseconds[mode], other.milliseconds[mode]
                differences[mode].append((accuracy - peer, size / peer_size))
                print(
                    f"{name:<12} {len(y):>5} {mode:<13} {accuracy:6.2f} J48 {peer:6.2f} {accuracy - peer:+5.2f}   "
                    f"{size:6.1f} J48 {peer_size:6.1f} {size / peer_size:5.2f}   "
                    f"{time:7.2f} J48 {peer_time:7.2f} {peer_time / time:5.2f} x"
                    + (f"   first {other.first:6.1f}" if mode == "pruned" else ""),
                    flush=True,
                )
        for mode, found in differences.items():
            accuracy, size = np.array(found).T
            print(
                f"{mode}: accuracy {accuracy.mean():+.2f} in the mean, {accuracy.min():+.2f} to {accuracy.max():+.2f}; "
                f"size {size.mean():.3f} in the mean, {size.min():.2f} to {size.max():.2f}"
            )


if __name__ == "__main__":
    main()
