"""Forests against scikit-learn and, where they are installed, its Intel extension, ydf and lightgbm.

One process, the same data, one thread, interleaved, best of several. Run all sizes with --all (about ten minutes).
"""

import argparse
import gc
import os
import resource
from collections.abc import Callable
from functools import partial

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.metrics import mean_pinball_loss, roc_auc_score
from timing import best_of, median_latency, print_ratios

from hedgerow import ForestClassifier, ForestRegressor

N_TREES = 100
# rows, columns, rounds, trees; large sizes with fewer trees, which is against us: columns are prepared once a forest
SIZES = {"569 x 30": (569, 30, 40, N_TREES), "20k x 20": (20_000, 20, 3, N_TREES)}
LARGE = {"2k x 2000": (2_000, 2_000, 2, N_TREES), "200k x 50": (200_000, 50, 1, 10), "1M x 10": (1_000_000, 10, 1, 10)}


def data(n_rows: int, n_features: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(n_rows, n_features, n_informative=8, flip_y=0.1, random_state=seed)
    return X.astype(np.float32).astype(float), y


def classifiers(seed: int = 0, n_trees: int = N_TREES) -> dict[str, Callable[[np.ndarray, np.ndarray], object]]:
    """Name to a function that fits full trees on one thread."""
    peers: dict[str, Callable[[np.ndarray, np.ndarray], object]] = {
        "scikit-learn": lambda X, y: RandomForestClassifier(n_trees, n_jobs=1, random_state=seed).fit(X, y),
        "hedgerow": lambda X, y: ForestClassifier(n_trees, n_jobs=1, random_state=seed).fit(X, y),
        "hedgerow, full trees of best splits, not calibrated": lambda X, y: ForestClassifier(
            n_trees, calibration=None, min_samples_split=2, splitter="best", n_jobs=1, random_state=seed
        ).fit(X, y),
    }
    try:
        from sklearnex.ensemble import RandomForestClassifier as Intel

        peers["scikit-learn-intelex"] = lambda X, y: Intel(n_trees, n_jobs=1, random_state=seed).fit(X, y)
    except ImportError:
        pass
    try:
        import ydf

        def fit_ydf(X: np.ndarray, y: np.ndarray) -> object:
            learner = ydf.RandomForestLearner(
                label="y", num_trees=n_trees, num_threads=1, max_depth=-1, min_examples=1, random_seed=seed + 1,
                compute_oob_performances=False, winner_take_all=False,
            )  # fmt: skip
            return learner.train({"x": X.astype(np.float32), "y": y}, verbose=0)

        peers["ydf"] = fit_ydf
    except ImportError:
        pass
    try:
        import lightgbm

        def fit_lightgbm(X: np.ndarray, y: np.ndarray) -> object:
            settings = {"boosting_type": "rf", "subsample": 0.632, "subsample_freq": 1, "min_child_samples": 1}
            fraction = {"feature_fraction_bynode": X.shape[1] ** -0.5, "num_leaves": min(len(y), 4096), "verbose": -1}
            return lightgbm.LGBMClassifier(
                n_estimators=n_trees, n_jobs=1, random_state=seed, **settings, **fraction
            ).fit(X, y)

        peers["lightgbm, forest mode"] = fit_lightgbm
    except ImportError:
        pass
    return peers


def fits(sizes: dict[str, tuple[int, int, int, int]], leave_out: str = "") -> None:
    for title, (n_rows, n_features, rounds, n_trees) in sizes.items():
        X, y = data(n_rows, n_features)
        jobs = {name: partial(fit, X, y) for name, fit in classifiers(0, n_trees).items() if name != leave_out}
        print_ratios(f"fit {title}, {n_trees} full trees, one thread", best_of(jobs, rounds), "scikit-learn")
        gc.collect()


def growth_of_cost() -> None:
    """Milliseconds a tree as rows grow."""
    print("\ngrowth with the number of rows (20 columns, 20 trees): nanoseconds a row and doubling, for each tree")
    X, y = data(200_000, 20)
    fit = classifiers(0, 20)["hedgerow"]
    for n in (10_000, 20_000, 50_000, 100_000, 200_000):
        seconds = best_of({"hedgerow": partial(fit, X[:n], y[:n])}, 2)["hedgerow"]
        print(f"  {n:>7} rows  {seconds * 1e3:9.1f} ms   {seconds * 1e9 / (20 * n * np.log2(n)):6.2f}")


def noisy(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 20)).astype(np.float32).astype(float)
    return X, X[:, 0] * 2 + np.sin(3 * X[:, 1]) + rng.normal(size=n_rows)


def regression() -> None:
    X, y = noisy(20_000, seed=0)
    settings = {"max_features": 1 / 3, "min_samples_leaf": 5, "n_jobs": 1, "random_state": 0}
    alike = {"splitter": "best", "min_samples_split": 2} | settings
    jobs = {
        "scikit-learn": lambda: RandomForestRegressor(N_TREES, **settings).fit(X, y),
        "hedgerow": lambda: ForestRegressor(N_TREES, **alike).fit(X, y),
    }
    print_ratios("fit 20k x 20, regression, the same settings", best_of(jobs, 3), "scikit-learn")
    jobs = {
        "scikit-learn": lambda: RandomForestRegressor(N_TREES, n_jobs=1, random_state=0).fit(X, y),
        "hedgerow": lambda: ForestRegressor(N_TREES, n_jobs=1, random_state=0).fit(X, y),
    }
    print_ratios("fit 20k x 20, regression, defaults", best_of(jobs, 2), "scikit-learn")
    try:
        from quantile_forest import RandomForestQuantileRegressor
    except ImportError:
        return
    ours = ForestRegressor(N_TREES, **alike).fit(X, y)
    theirs = RandomForestQuantileRegressor(N_TREES, max_samples_leaf=None, **settings).fit(X, y)
    q = [0.05, 0.5, 0.95]
    jobs = {
        "quantile-forest": lambda: theirs.predict(X[:10_000], quantiles=q),
        "hedgerow": lambda: ours.predict_quantiles(X[:10_000], q),
    }
    print_ratios("quantiles (.05, .5, .95) of 10,000 rows", best_of(jobs, 3), "quantile-forest")
    fresh, target = noisy(10_000, seed=1)
    a, b = ours.predict_quantiles(fresh, q), theirs.predict(fresh, quantiles=q)
    for name, found in (("hedgerow", a), ("quantile-forest", b)):
        losses = [round(mean_pinball_loss(target, found[:, i], alpha=p), 4) for i, p in enumerate(q)]
        print(f"  pinball losses on fresh rows, {name}: {losses}")
    difference = np.abs(a - b).mean(axis=0).round(3)
    print(f"  mean absolute difference of the two packages: {difference}; standard deviation of y: {y.std():.3f}")


def peak_share(job: Callable[[], np.ndarray]) -> float:
    """By how much a process grows while it makes an array, over the array's bytes; in a child, which starts small."""
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        made = job()
        growth = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        os.write(writing, str(growth * 1024 / made.nbytes).encode())
        os._exit(0)
    os.waitpid(child, 0)
    return float(os.read(reading, 100))


def predictions() -> None:
    X, y = data(70_000, 20)
    rows = X[20_000:]
    peer = RandomForestClassifier(N_TREES, n_jobs=1, random_state=0).fit(X[:20_000], y[:20_000])
    ours = ForestClassifier(N_TREES, n_jobs=1, random_state=0).fit(X[:20_000], y[:20_000])

    def evidence_by_hand() -> np.ndarray:
        leaves = peer.apply(rows)
        counts = np.empty((len(rows), N_TREES, 2))
        for t, tree in enumerate(peer.estimators_):
            counts[:, t] = tree.tree_.value[leaves[:, t], 0]
        return counts

    jobs: dict[str, Callable[[], object]] = {
        "scikit-learn": lambda: peer.predict_proba(rows),
        "hedgerow": lambda: ours.predict_proba(rows),
    }
    models: dict[str, object] = {"scikit-learn": peer, "hedgerow": ours}
    try:
        from sklearnex.ensemble import RandomForestClassifier as Intel

        intel = Intel(N_TREES, n_jobs=1, random_state=0).fit(X[:20_000], y[:20_000])
        jobs["scikit-learn-intelex"] = lambda: intel.predict_proba(rows)
        models["scikit-learn-intelex"] = intel
    except ImportError:
        pass
    print_ratios("predict_proba, 50,000 rows, one thread", best_of(jobs, 12), "scikit-learn")
    evidence = {"scikit-learn": evidence_by_hand, "hedgerow": lambda: ours.leaf_counts(rows)}
    print_ratios("leaf evidence of 50,000 rows against apply and gathering", best_of(evidence, 8), "scikit-learn")
    print(f"  memory that hedgerow's takes, as a share of its output: {peak_share(lambda: ours.leaf_counts(rows)):.2f}")
    one = {name: lambda i, m=model: m.predict_proba(rows[i : i + 1]) for name, model in models.items()}
    calls = {name: 1000 if name == "hedgerow" else 100 for name in one}
    print_ratios("one row, an array, median", median_latency(one, calls, 3), "scikit-learn")
    try:
        import pandas as pd
    except ImportError:
        return
    frame = pd.DataFrame(rows[:1000], columns=[f"x{i}" for i in range(20)])
    train = pd.DataFrame(X[:20_000], columns=frame.columns)
    peer.fit(train, y[:20_000])
    ours.fit(train, y[:20_000])
    one = {
        "scikit-learn": lambda i: peer.predict_proba(frame.iloc[i : i + 1]),
        "hedgerow": lambda i: ours.predict_proba(frame.iloc[i : i + 1]),
    }
    print_ratios("one row, a frame, median", median_latency(one, dict.fromkeys(one, 100), 3), "scikit-learn")
    states = [tree.tree_.__getstate__() for tree in peer.estimators_]
    theirs, mine = sum(s["nodes"].nbytes + s["values"].nbytes for s in states), ours.forest_.nbytes
    print(f"\nbytes of the forest: scikit-learn {theirs:,}, hedgerow {mine:,}: {theirs / mine:.2f} x")


def quality() -> None:
    """AUC over ten seeds: no worse than by 0.002 and two standard errors."""
    X, y = data(40_000, 20)
    auc: dict[str, list[float]] = {}
    for seed in range(10):
        for name, fit in classifiers(seed).items():
            if name in ("scikit-learn", "hedgerow"):
                score = fit(X[:20_000], y[:20_000]).predict_proba(X[20_000:])[:, 1]
                auc.setdefault(name, []).append(roc_auc_score(y[20_000:], score))
    print("\nAUC on 20,000 rows, ten seeds")
    for name, scores in auc.items():
        print(f"  {name:<16} {np.mean(scores):.5f} +- {np.std(scores) / np.sqrt(10):.5f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="the large sizes and the AUC over ten seeds too")
    arguments = parser.parse_args()
    fits(SIZES)
    regression()
    predictions()
    if arguments.all:
        growth_of_cost()
        fits(LARGE, leave_out="lightgbm, forest mode")
        quality()
