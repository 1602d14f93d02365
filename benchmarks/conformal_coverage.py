"""Coverage and size of conformal sets and intervals on real data, beside MAPIE with the same forest and the same rows.

``HEDGEROW_DATA=folder python benchmarks/conformal_coverage.py`` draws at most 2,000 rows of each of 12 datasets with
classes and 8 with numbers, `--splits` times halves for fitting and for testing, and prints tables in Markdown. Every
method is given the same half: those that hold rows out give away a fifth of it. MAPIE's cross method is timed in the
first `--timed` splits. ``--out`` keeps a line for each dataset, split, method and level. ``--probabilities`` compares
Venn-Abers probabilities with the models' own instead.
"""

import argparse
import os
import re
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.model_selection import train_test_split

from hedgerow import (
    CautiousForestClassifier,
    ConformalClassifier,
    ConformalRegressor,
    ForestClassifier,
    ForestRegressor,
    RandomTreesClassifier,
    TreeClassifier,
)

LEVELS = (0.8, 0.9, 0.95)
MOST_ROWS = 2000
CLASSES = (
    *("biodeg", "car", "cardiotocography", "diabetes", "electricity", "saheart", "satimage", "segment", "spambase"),
    *("telescope", "vehicle-statlog", "webdata"),
)
NUMBERS = (
    *("abalone", "auto-mpg", "boston", "california-housing", "diabetes-sklearn", "energy-heating", "kin8nm"),
    "power-plant",
)


def read(folder, name):
    frame = pd.read_parquet(folder / f"{name}.parquet")
    y = frame.pop("target")
    for column in frame.columns:  # codes: MAPIE and scikit-learn take numbers only
        if not pd.api.types.is_numeric_dtype(frame[column]):
            frame[column] = frame[column].astype("category").cat.codes
    X = frame.to_numpy(dtype=np.float64)
    y = pd.factorize(y.astype(str), sort=True)[0] if name in CLASSES else y.to_numpy(dtype=np.float64)
    kept = ~np.isnan(X).any(axis=1)
    X, y = X[kept], y[kept]
    drawn = np.random.default_rng(0).permutation(len(y))[:MOST_ROWS]
    X, y = X[drawn], y[drawn]
    if name in CLASSES:
        kept = np.isin(y, np.flatnonzero(np.bincount(y) >= 8))
        X, y = X[kept], np.unique(y[kept], return_inverse=True)[1]
    return X, y


def class_methods(seed):
    """Name, estimator and scores of each method; fitted once, asked with every score."""
    forest = ForestClassifier(random_state=seed)
    by_default = ConformalClassifier(forest, 0.8, allow_empty=True, random_state=seed)
    yield "oob", by_default, ("lac", "aps", "raps")
    fixed = ConformalClassifier(forest, 0.8, randomized=False, allow_empty=True)
    yield "oob, not randomized", fixed, ("aps", "raps")
    many = ForestClassifier(400, random_state=seed)
    yield "oob, 400 trees", ConformalClassifier(many, 0.8, allow_empty=True), ("lac",)
    yield "jackknife+", ConformalClassifier(forest, 0.8, method="jackknife+", allow_empty=True), ("lac",)
    yield "oob, by class", ConformalClassifier(forest, 0.8, groups="class", allow_empty=True), ("lac",)
    cautious = CautiousForestClassifier(random_state=seed)
    yield "oob", ConformalClassifier(cautious, 0.8, "bounds", allow_empty=True), ("bounds",)
    trees = RandomTreesClassifier(random_state=seed)
    yield "loo, random trees", ConformalClassifier(trees, 0.8, allow_empty=True), ("lac",)
    yield "cv", ConformalClassifier(forest, 0.8, method="cv", allow_empty=True, random_state=seed), ("lac",)
    yield "split", ConformalClassifier(forest, 0.8, method="split", allow_empty=True, random_state=seed), ("lac",)


def number_methods(seed):
    forest = ForestRegressor(random_state=seed)
    for score in ("absolute", "normalized", "cqr"):
        for level in LEVELS if score == "cqr" else (None,):
            yield f"oob, {score}", ConformalRegressor(forest, level or 0.8, score), (level,) if level else LEVELS
    many = ForestRegressor(400, random_state=seed)
    yield "oob, 400 trees, absolute", ConformalRegressor(many, 0.8, "absolute"), LEVELS
    for score in ("absolute", "normalized"):
        yield f"jackknife+, {score}", ConformalRegressor(forest, 0.8, score, "jackknife+"), LEVELS
    yield "oob, normalized, each side", ConformalRegressor(forest, 0.8, "normalized", sides="each"), LEVELS
    yield "cv, absolute", ConformalRegressor(forest, 0.8, "absolute", "cv", random_state=seed), LEVELS
    yield "split, absolute", ConformalRegressor(forest, 0.8, "absolute", "split", random_state=seed), LEVELS


class OneQuantile(RegressorMixin, BaseEstimator):
    """One quantile of a fitted forest, for MAPIE."""

    def __init__(self, forest, q):
        self.forest = forest
        self.q = q
        self.fitted_ = True

    def fit(self, X, y):  # MAPIE wants one
        return self

    def predict(self, X):
        return self.forest.predict_quantiles(X, self.q)[:, 0]


def coverage_of_sets(sets, y):
    return sets[np.arange(len(y)), y].mean()


def try_classes(X, y, X_new, y_new, seed, timed, wanted):
    from mapie.classification import CrossConformalClassifier, SplitConformalClassifier

    for name, model, scores in class_methods(seed):
        if not wanted(name):
            continue
        start = time.process_time()
        try:
            model.fit(X, y)
        except ValueError:  # a class with too few rows for 0.8
            continue
        spent = time.process_time() - start
        for score in scores:
            model.set_params(conformity_score=score)
            for level in LEVELS:
                start = time.process_time()
                try:
                    sets = model.predict_set(X_new, coverage=level)
                except ValueError:
                    continue
                asked = time.process_time() - start
                line = {"method": f"{name}, {score}", "level": level, "time": spent + asked}
                line |= {"coverage": coverage_of_sets(sets, y_new), "size": sets.sum(axis=1).mean()}
                yield line
                for k in np.unique(y_new) if score == "lac" and name.startswith("oob") else ():
                    own = y_new == k
                    yield line | {"of_class": k, "coverage": coverage_of_sets(sets[own], y_new[own])}
                if (name, score) == ("oob", "lac"):
                    whole = model.set_params(allow_empty=False).predict_set(X_new, coverage=level)
                    model.set_params(allow_empty=True)
                    yield {
                        "method": "oob, lac, never empty", "level": level,
                        "coverage": coverage_of_sets(whole, y_new), "size": whole.sum(axis=1).mean(),
                    }  # fmt: skip
    X_fit, X_cal, y_fit, y_cal = train_test_split(X, y, test_size=0.2, random_state=seed)
    forest = ForestClassifier(random_state=seed)
    if wanted("MAPIE split, lac"):
        start = time.process_time()
        theirs = SplitConformalClassifier(forest.fit(X_fit, y_fit), LEVELS, "lac", random_state=seed)
        _, sets = theirs.conformalize(X_cal, y_cal).predict_set(X_new)
        spent = time.process_time() - start
        known = np.isin(y_new, forest.classes_)
        column = np.searchsorted(forest.classes_, np.where(known, y_new, forest.classes_[0]))
        for i, level in enumerate(LEVELS):
            covered = sets[np.arange(len(y_new)), column, i] & known
            yield {
                "method": "MAPIE split, lac", "level": level, "time": spent,
                "coverage": covered.mean(), "size": sets[:, :, i].sum(axis=1).mean(),
            }  # fmt: skip
    if timed:
        for name, one in (
            ("MAPIE cross, the same forest", ForestClassifier(random_state=seed)),
            ("MAPIE cross, scikit-learn's forest", RandomForestClassifier(random_state=seed)),
        ):
            start = time.process_time()
            cross = CrossConformalClassifier(one, LEVELS, "lac", cv=5, random_state=seed).fit_conformalize(X, y)
            _, sets = cross.predict_set(X_new)
            spent = time.process_time() - start
            for i, level in enumerate(LEVELS):
                yield {
                    "method": name, "level": level, "time": spent,
                    "coverage": coverage_of_sets(sets[:, :, i], y_new), "size": sets[:, :, i].sum(axis=1).mean(),
                }  # fmt: skip


def try_numbers(X, y, X_new, y_new, seed, timed, wanted):
    from mapie.regression import ConformalizedQuantileRegressor, CrossConformalRegressor, SplitConformalRegressor

    unit = y.std()

    def scores(ends):
        inside = (ends[:, 0] <= y_new) & (y_new <= ends[:, 1])
        return {"coverage": inside.mean(), "size": (ends[:, 1] - ends[:, 0]).mean() / unit}

    spread, (values, times) = np.random.default_rng(seed), np.unique(np.concatenate([y, y_new]), return_counts=True)
    gap = np.diff(values).min() if (times > 1).any() else 0.0
    untied = y + spread.uniform(-gap / 2, gap / 2, len(y))
    untied_new = y_new + spread.uniform(-gap / 2, gap / 2, len(y_new))
    forest = ForestRegressor(random_state=seed)
    for level in LEVELS if wanted("oob, cqr, ties of targets broken") else ():
        ends = ConformalRegressor(forest, level, "cqr").fit(X, untied).predict_interval(X_new)
        inside = (ends[:, 0] <= untied_new) & (untied_new <= ends[:, 1])
        size = (ends[:, 1] - ends[:, 0]).mean() / unit
        yield {"method": "oob, cqr, ties of targets broken", "level": level, "coverage": inside.mean(), "size": size}
    for name, model, levels in number_methods(seed):
        if not wanted(name):
            continue
        start = time.process_time()
        model.fit(X, y)
        spent = time.process_time() - start
        for level in levels:
            start = time.process_time()
            ends = model.predict_interval(X_new, coverage=level)
            yield {"method": name, "level": level, "time": spent + time.process_time() - start, **scores(ends)}
    X_fit, X_cal, y_fit, y_cal = train_test_split(X, y, test_size=0.2, random_state=seed)
    if wanted("MAPIE split, absolute"):
        start = time.process_time()
        theirs = SplitConformalRegressor(ForestRegressor(random_state=seed).fit(X_fit, y_fit), LEVELS, "absolute")
        _, ends = theirs.conformalize(X_cal, y_cal).predict_interval(X_new)
        spent = time.process_time() - start
        for i, level in enumerate(LEVELS):
            yield {"method": "MAPIE split, absolute", "level": level, "time": spent, **scores(ends[:, :, i])}
    ours = ForestRegressor(random_state=seed).fit(X_fit, y_fit)
    for level in LEVELS if wanted("MAPIE split, cqr") else ():
        three = [OneQuantile(ours, q) for q in ((1 - level) / 2, (1 + level) / 2, 0.5)]
        theirs = ConformalizedQuantileRegressor(three, level, prefit=True).conformalize(X_cal, y_cal)
        ends = theirs.predict_interval(X_new, symmetric_correction=True)[1]
        yield {"method": "MAPIE split, cqr", "level": level, **scores(ends[:, :, 0])}
    if timed:
        for name, one in (
            ("MAPIE cross, the same forest", ForestRegressor(random_state=seed)),
            ("MAPIE cross, scikit-learn's forest", RandomForestRegressor(random_state=seed)),
        ):
            start = time.process_time()
            cross = CrossConformalRegressor(one, LEVELS, "absolute", cv=5, random_state=seed).fit_conformalize(X, y)
            _, ends = cross.predict_interval(X_new)
            spent = time.process_time() - start
            for i, level in enumerate(LEVELS):
                yield {"method": name, "level": level, "time": spent, **scores(ends[:, :, i])}


def trials(folder, numbers, n_timed, wanted):
    for number in numbers:
        for name in (*CLASSES, *NUMBERS):
            X, y = read(folder, name)
            strata = y if name in CLASSES else None
            X_fit, X_new, y_fit, y_new = train_test_split(X, y, test_size=0.5, random_state=number, stratify=strata)
            attempt = try_classes if name in CLASSES else try_numbers
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for line in attempt(X_fit, y_fit, X_new, y_new, number, number < n_timed, wanted):
                    task = "classes" if name in CLASSES else "numbers"
                    yield {"task": task, "dataset": name, "split": number, "rows": len(y_new), "of_class": -1, **line}
        print(f"split {number}", file=sys.stderr, flush=True)


def print_tables(found):
    """Means over datasets; ± is the standard error over datasets of their mean coverage.

    "within" counts the datasets whose mean coverage is within 1.96 binomial standard deviations of one test half.
    """
    for task, of_task in found[found.of_class < 0].groupby("task"):
        size = "classes in a set" if task == "classes" else "width / standard deviation of the target"
        print(f"\n{task}: coverage ± standard error over datasets, and {size}\n")
        print("| method | " + " | ".join(f"{level}: coverage | within | size" for level in LEVELS) + " | s | splits |")
        print("|---" * (3 * len(LEVELS) + 3) + "|")
        whole = of_task.groupby("dataset").size().index
        for method, of_method in of_task.groupby("method", sort=False):
            cells = []
            for level in LEVELS:
                means = of_method[of_method.level == level].groupby("dataset")[["coverage", "size", "rows"]].mean()
                error = means.coverage.std() / np.sqrt(len(means))
                band = 1.96 * np.sqrt(level * (1 - level) / means.rows)
                within = f"{int((abs(means.coverage - level) <= band).sum())} of {len(means)}"
                few = "" if len(means) == len(whole) else f" ({len(means)} datasets)"
                cells.append(f"{means.coverage.mean():.4f} ± {error:.4f}{few} | {within} | {means['size'].mean():.3f}")
            seconds = of_method.time.mean()
            cells += ["" if np.isnan(seconds) else f"{seconds:.2f}", str(of_method.split.nunique())]
            print(f"| {method} | {' | '.join(cells)} |")
        first = of_task[of_task.split.isin(of_task[of_task.method.str.contains("cross")].split.unique())]
        if first.empty:
            continue
        seconds = first.groupby("method").time.sum() / first.groupby("method").size()
        ours = seconds["oob, lac" if task == "classes" else "oob, absolute"]
        for name in seconds.index[seconds.index.str.contains("MAPIE") & (seconds > 0)]:
            print(f"\n{name} takes {seconds[name] / ours:.1f} times the time of ours, out of bag.")
    print("\nclasses: coverage of each class, mean over splits\n")
    print("| method | level | mean over classes | lowest | highest | classes |")
    print("|---" * 6 + "|")
    by_class = found[found.of_class >= 0].groupby(["method", "level", "dataset", "of_class"]).coverage.mean()
    for (method, level), of_method in by_class.groupby(["method", "level"]):
        figures = f"{of_method.mean():.3f} | {of_method.min():.3f} | {of_method.max():.3f} | {len(of_method)}"
        print(f"| {method} | {level} | {figures} |")


def compare_probabilities(folder, n_splits):
    """Losses of a model's own probabilities, and of Venn-Abers ones from the same model."""
    lines = []
    for number in range(n_splits):
        models = {
            "`ForestClassifier()`": ForestClassifier(random_state=number),
            "`ForestClassifier(calibration=None)`": ForestClassifier(calibration=None, random_state=number),
            "`RandomTreesClassifier()`": RandomTreesClassifier(random_state=number),
            "`TreeClassifier()`": TreeClassifier(),
        }
        for dataset in CLASSES:
            X, y = read(folder, dataset)
            X_fit, X_new, y_fit, y_new = train_test_split(X, y, test_size=0.5, random_state=number, stratify=y)
            for name, model in models.items():
                venn_abers = ConformalClassifier(model, probabilities="venn_abers", random_state=number)
                for kind, one in (("own", model), ("Venn-Abers", venn_abers)):
                    p = one.fit(X_fit, y_fit).predict_proba(X_new)
                    of_truth = p[np.arange(len(y_new)), y_new]
                    losses = {
                        "log-loss": -np.log(np.maximum(of_truth, 1e-15)).mean(),
                        "Brier": (p**2).sum(axis=1).mean() - 2 * of_truth.mean() + 1,
                    }
                    lines += [(name, dataset, kind, loss, value) for loss, value in losses.items()]
    found = pd.DataFrame(lines, columns=["model", "dataset", "kind", "loss", "value"])
    means = found.groupby(["model", "loss", "dataset", "kind"], sort=False).value.mean().unstack("kind")
    print("| model | loss | own | Venn-Abers | lower with it |")
    print("|---" * 5 + "|")
    for (model, loss), part in means.groupby(["model", "loss"], sort=False):
        lower = f"{(part['Venn-Abers'] < part['own']).sum()} of {len(part)}"
        print(f"| {model} | {loss} | {part['own'].mean():.4f} | {part['Venn-Abers'].mean():.4f} | {lower} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=50)
    parser.add_argument("--first", type=int, default=0, help="number of the first split")
    parser.add_argument("--timed", type=int, default=2)
    parser.add_argument("--methods", default=".*", help="regular expression; of classes without the score")
    parser.add_argument("--out", help="CSV file for every line")
    parser.add_argument("--table", nargs="+", help="print the tables of these CSV files instead")
    parser.add_argument("--probabilities", action="store_true", help="compare Venn-Abers probabilities instead")
    given = parser.parse_args()
    if given.table:
        print_tables(pd.concat(map(pd.read_csv, given.table)))
        sys.exit()
    if "HEDGEROW_DATA" not in os.environ:
        sys.exit("set HEDGEROW_DATA to the folder with the Parquet files")
    if given.probabilities:
        compare_probabilities(Path(os.environ["HEDGEROW_DATA"]), given.splits)
        sys.exit()
    lines = []
    for number in range(given.first, given.first + given.splits):  # kept split by split: an interrupted run is of use
        lines += trials(Path(os.environ["HEDGEROW_DATA"]), [number], given.timed, re.compile(given.methods).fullmatch)
        if given.out:
            pd.DataFrame(lines).to_csv(given.out, index=False)
    print_tables(pd.DataFrame(lines))
