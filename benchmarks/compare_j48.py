"""C4.5 trees against Weka's J48: accuracy, size and time, the same rows in every fold.

``HEDGEROW_DATA=folder python benchmarks/compare_j48.py [--weka weka.jar] [--repeats 10] [dataset ...]``: 10-fold
cross-validation, repeated, pruned, unpruned (which J48 collapses too) and with reduced-error pruning. Needs a JDK and
weka.jar (Debian: default-jdk, weka). Each side has the data in memory as it likes them: a pandas frame, and Weka's
Instances. Starting the JVM and reading the file are not timed.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import IO

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

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
ROUNDS = 15


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
    """By mode: accuracy, size and milliseconds of a fit in every fold, and those of fits on all rows once warm."""

    accuracy: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    size: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    in_folds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    on_all: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    first: float = 0.0  # milliseconds of the first fit of a JVM


def folds_of(y: np.ndarray, n_repeats: int) -> np.ndarray:
    """The fold of each row in each repetition."""
    folds = np.empty((len(y), n_repeats), dtype=int)
    for repeat in range(n_repeats):
        chosen = StratifiedKFold(N_FOLDS, shuffle=True, random_state=repeat)
        for number, (_, test) in enumerate(chosen.split(np.zeros(len(y)), y)):
            folds[test, repeat] = number
    return folds


def compared(frame: pd.DataFrame, y: np.ndarray, folds: np.ndarray, classpath: str) -> tuple[Results, Results]:
    """Ours and theirs. Folds one after the other; then both take turns with all rows."""
    mine, other = ours(frame, y, folds), Results()
    with java(frame, y, folds, classpath) as (requests, answers):
        read_folds(answers, other)
        for mode in MODES:
            for _ in range(ROUNDS):
                mine.on_all[mode].append(milliseconds(partial(tree(mode).fit, frame, y)))
                print(mode, file=requests, flush=True)
                other.on_all[mode].append(float(answers.readline()))
    return mine, other


def ours(frame: pd.DataFrame, y: np.ndarray, folds: np.ndarray) -> Results:
    results = Results()
    for repeat in range(folds.shape[1]):
        for number in range(N_FOLDS):
            test = folds[:, repeat] == number
            train, y_train = frame[~test], y[~test]
            for mode in MODES:
                model = tree(mode, seed=repeat * N_FOLDS + number)
                results.in_folds[mode].append(milliseconds(partial(model.fit, train, y_train)))
                results.accuracy[mode].append(float((model.predict(frame[test]) == y[test]).mean()))
                results.size[mode].append(model.forest_.n_nodes)
    return results


def milliseconds(job: partial) -> float:
    start = perf_counter()
    job()
    return (perf_counter() - start) * 1e3


@contextmanager
def java(frame: pd.DataFrame, y: np.ndarray, folds: np.ndarray, classpath: str) -> Iterator[tuple[IO[str], IO[str]]]:
    """J48Folds on these data: where to write to it, and to read from."""
    with tempfile.TemporaryDirectory() as folder:
        arff, chosen = Path(folder) / "data.arff", Path(folder) / "folds.txt"
        arff.write_text(arff_of(frame, y))
        np.savetxt(chosen, folds, fmt="%d")
        command = ["java", "-cp", classpath, "J48Folds", str(arff), str(chosen)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            yield process.stdin, process.stdout
            process.stdin.close()
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, command)


def read_folds(answers: IO[str], results: Results) -> None:
    results.first = float(answers.readline().split()[1])
    for line in iter(answers.readline, "warm\n"):
        mode, right, n_rows, size, taken = line.split()
        results.accuracy[mode].append(int(right) / int(n_rows))
        results.size[mode].append(int(size))
        results.in_folds[mode].append(float(taken))


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
        print("accuracy and its difference; nodes and their ratio; milliseconds of a fit, ours, J48's and their ratio:")
        print(f"on all rows (least of {ROUNDS}, all of Java compiled), and in folds (mean, of a fresh JVM); its first")
        for name in arguments.datasets:
            frame, y = read(Path(folder), name)
            mine, other = compared(frame, y, folds_of(y, arguments.repeats), classpath)
            for mode in MODES:
                accuracy, peer = 100 * np.mean(mine.accuracy[mode]), 100 * np.mean(other.accuracy[mode])
                size, peer_size = np.mean(mine.size[mode]), np.mean(other.size[mode])
                time, peer_time = min(mine.on_all[mode]), min(other.on_all[mode])
                mean, peer_mean = np.mean(mine.in_folds[mode]), np.mean(other.in_folds[mode])
                differences[mode].append((accuracy - peer, size / peer_size))
                print(
                    f"{name:<12} {len(y):>5} {mode:<13} {accuracy:6.2f} J48 {peer:6.2f} {accuracy - peer:+5.2f}   "
                    f"{size:6.1f} J48 {peer_size:6.1f} {size / peer_size:5.2f}   "
                    f"{time:7.2f} J48 {peer_time:7.2f} {peer_time / time:5.2f} x   "
                    f"folds {mean:7.2f} J48 {peer_mean:7.2f} {peer_mean / mean:5.2f} x"
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
