"""Writes a small model file of every kind of estimator into the folder of this script, for the version of the format.

    python tests/model_files/make_model_files.py [NAME ...]

Run it once when the format gets a new version, with names for estimators that are new, and commit what it writes: the
files of every version are read for ever.
Beside each file stands what the model must answer.
"""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.svm import LinearSVC

from hedgerow import (
    BoundaryClassifier,
    CautiousClassifier,
    CautiousForestClassifier,
    ConformalClassifier,
    ConformalRegressor,
    ForestClassifier,
    ForestRegressor,
    MeasuredBoostingClassifier,
    MeasuredBoostingRegressor,
    MeasuredForestClassifier,
    MeasuredForestRegressor,
    MeasuredTreeClassifier,
    MeasuredTreeRegressor,
    NaiveBayesTreeClassifier,
    ObliqueForestClassifier,
    ObliqueTreeClassifier,
    ObliqueTreeRegressor,
    RandomTreesClassifier,
    RuleClassifier,
    TreeClassifier,
    TreeRegressor,
    credal,
    rules,
    save,
)
from hedgerow.boundary import CrossValidated, Standard
from hedgerow.growth import Fractional, RidgeSplit
from hedgerow.measured import CostComplexity, KdePrior, Pinball, Student
from hedgerow.naive_bayes import Gaussian
from hedgerow.probability import MEstimate
from hedgerow.storage import FORMAT_VERSION

FOLDER = Path(__file__).parent


def rows(n: int = 30) -> np.ndarray:
    """Two columns of numbers, one of categories, some missing values."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3)).round(2)
    X[:, 2] = rng.integers(0, 4, size=n)
    X[::7, 1] = np.nan
    return X


def models() -> dict[str, Any]:
    X = rows()
    number = (X[:, 0] + X[:, 2]).round(2)
    labels = np.array(["few", "many", "some"])[np.digitize(number, [0.5, 2.0])]
    days = np.array(["2024-01-01", "2025-06-30"], dtype="M8[D]")[(number > 1).astype(int)]
    nominal = {"categorical_features": [2]}
    return {
        "tree_classifier": TreeClassifier(
            missing=Fractional(0.1), leaf_probability=MEstimate(2.0), class_weight={"few": 2.0}, **nominal
        ).fit(X, labels),
        "tree_classifier_dates": TreeClassifier.cart(max_depth=2).fit(X, days),
        "tree_classifier_objects": TreeClassifier(max_depth=2, nominal="subset", **nominal).fit(
            X, labels.astype(object)
        ),
        "tree_regressor": TreeRegressor(max_leaf_nodes=5, categorical_features=(2,)).fit(X, number),
        "forest_classifier": ForestClassifier(
            3, oob_score=True, tree_weights="oob", max_depth=3, random_state=0, n_jobs=2, **nominal
        ).fit(np.repeat(X, 3, axis=0), np.repeat(number > 1, 3)),
        "forest_regressor": ForestRegressor(3, max_samples=0.5, random_state=np.int64(1), **nominal).fit(X, number),
        "oblique_tree_classifier": ObliqueTreeClassifier(LinearSVC(C=0.5), random_state=0, **nominal).fit(X, labels),
        "oblique_tree_regressor": ObliqueTreeRegressor(RidgeSplit(0.3), max_leaf_nodes=5, **nominal).fit(X, number),
        "oblique_forest": ObliqueForestClassifier(3, max_depth=3, random_state=0, **nominal).fit(X, labels),
        "random_trees": RandomTreesClassifier(
            3, rule=rules.Dempster(prior=[0.5, 0.25, 0.25]), class_prior=np.array([0.5, 0.25, 0.25]), random_state=2
        ).fit(X, np.digitize(number, [0.5, 2.0])),
        "measured_tree_regressor": MeasuredTreeRegressor(
            {0: 0.2, "x1": 0.4}, {1: Student(4.0)}, max_leaf_nodes=6, pruning=CostComplexity(0.001), **nominal
        ).fit(X, number, y_err=np.linspace(0.5, 1.0, len(X))),
        "measured_tree_classifier": MeasuredTreeClassifier(
            0.2, "uniform", KdePrior(16), leaf="counts", max_leaf_nodes=5, nominal="binary", **nominal
        ).fit(X, labels),
        "measured_boosting_classifier": MeasuredBoostingClassifier(
            {0: 0.2}, "laplace", n_estimators=3, min_weight_leaf=3, **nominal
        ).fit(X, labels),
        "measured_boosting_regressor": MeasuredBoostingRegressor(
            {0: 0.2, "x1": 0.4}, prior="flat", loss=Pinball(0.75), n_estimators=3, min_weight_leaf=3, **nominal
        ).fit(X, number),
        "measured_forest_classifier": MeasuredForestClassifier(
            {0: 0.2}, "laplace", n_estimators=3, min_weight_leaf=3, random_state=1, **nominal
        ).fit(X, labels),
        "measured_forest_regressor": MeasuredForestRegressor(
            {0: 0.2, "x1": 0.4}, prior="flat", n_estimators=3, min_weight_leaf=3, random_state=1, **nominal
        ).fit(X, number),
        "measured_tree_exact": MeasuredTreeRegressor([0.3, 0.0, 0.0], prior="flat", max_leaf_nodes=6).fit(X, number),
        "rule_classifier": RuleClassifier.from_fitted(RandomTreesClassifier(3, random_state=3).fit(X, labels), "vote"),
        "boundary": BoundaryClassifier(
            TreeClassifier(max_depth=3, **nominal),
            metric=Standard(nominal_weight=0.5),
            bandwidth=CrossValidated((0.05, 0.2)),
            partition="separator",
            features=("distance", "position"),
        ).fit(X, labels),
        "cautious": CautiousClassifier(ForestClassifier(3, random_state=4), aggregate=credal.Vote("samples"), s=2).fit(
            X, labels
        ),
        "cautious_forest": CautiousForestClassifier(
            n_estimators=3, class_prior=(0.5, 0.25, 0.25), random_state=5, **nominal
        ).fit(X, labels),
        "conformal_classifier": ConformalClassifier(
            ForestClassifier(5, random_state=8, **nominal), coverage=0.8, groups="class", conformity_score="aps"
        ).fit(np.repeat(X, 2, axis=0), np.repeat(labels, 2)),
        "conformal_regressor": ConformalRegressor(
            ForestRegressor(5, random_state=9, **nominal), coverage=0.8, sides="each", method="cv", cv=3
        ).fit(X, number),
        "conformal_jackknife": ConformalRegressor(
            ForestRegressor(5, random_state=10, **nominal), coverage=0.8, method="jackknife+"
        ).fit(X, number),
        "naive_bayes_tree": NaiveBayesTreeClassifier(min_samples_split=10, random_state=6, **nominal).fit(
            np.repeat(X, 3, axis=0), np.repeat(labels, 3)
        ),
        "naive_bayes_tree_gaussian": NaiveBayesTreeClassifier(
            Gaussian(0.01), min_samples_split=5, random_state=7, **nominal
        ).fit(X, labels),
    }


def answers(model: Any) -> list[Any]:
    answer = (
        model.predict_set(rows())
        if isinstance(model, ConformalClassifier)
        else model.predict_interval(rows())
        if isinstance(model, ConformalRegressor)
        else model.predict_proba(rows())
        if hasattr(model, "classes_")
        else model.predict_quantiles(rows())
        if hasattr(model, "leaf_samples_")
        else model.predict(rows())
    )
    return [[float(x).hex() for x in np.atleast_1d(row)] for row in answer]


def main() -> None:
    wanted = sys.argv[1:]
    for name, model in models().items():
        if wanted and name not in wanted:
            continue
        path = FOLDER / f"v{FORMAT_VERSION}_{name}.hedgerow"
        save(model, path)
        path.with_suffix(".json").write_text(json.dumps(answers(model)) + "\n")
        print(path.name, path.stat().st_size)


if __name__ == "__main__":
    main()
