"""Candidates for the defaults of each family of estimators, and the defaults of other libraries.

A candidate is a function of the training frame, its labels, the frame to answer and a seed; it returns probabilities in
the order of the sorted labels, or None where it can't run.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier

import hedgerow as hr
from hedgerow.probability import MEstimate, Shrinkage
from hedgerow.pruning import Pessimistic

Candidate = Callable[[pd.DataFrame, np.ndarray, pd.DataFrame, int], np.ndarray | None]


def ours(make: Callable[..., Any], **settings: Any) -> Candidate:
    def answer(X: pd.DataFrame, y: np.ndarray, X_test: pd.DataFrame, seed: int) -> np.ndarray:
        seeded = {"random_state": seed} if "random_state" in make().get_params() else {}
        found: np.ndarray = make(**settings, **seeded).fit(X, y).predict_proba(X_test)
        return found

    return answer


def one_hot(model: Callable[..., Any], **settings: Any) -> Candidate:
    """A classifier of scikit-learn's on one-hot columns; medians for missing numbers."""

    def answer(X: pd.DataFrame, y: np.ndarray, X_test: pd.DataFrame, seed: int) -> np.ndarray:
        train, test = one_hot_tables(X, X_test)
        found: np.ndarray = model(**settings, random_state=seed).fit(train, y).predict_proba(test)
        return found

    return answer


def one_hot_tables(X: pd.DataFrame, X_test: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Training and test rows with a column for each category; medians for missing numbers."""
    nominal = [name for name in X if not pd.api.types.is_numeric_dtype(X[name])]
    both = pd.get_dummies(pd.concat([X, X_test]), columns=nominal, dummy_na=True).astype(float)
    both = both.fillna(both.iloc[: len(X)].median()).fillna(0.0).to_numpy()
    return both[: len(X)], both[len(X) :]


def ydf_forest(X: pd.DataFrame, y: np.ndarray, X_test: pd.DataFrame, seed: int) -> np.ndarray | None:
    try:
        import ydf
    except ImportError:
        return None
    ydf.verbose(0)
    train, test = (plain_text(frame) for frame in (X, X_test))
    model = ydf.RandomForestLearner(label="target", num_trees=100, random_seed=seed).train(
        train.assign(target=y), verbose=0
    )
    found = model.predict(test)
    found = np.stack([1 - found, found], axis=1) if found.ndim == 1 else found
    return np.asarray(found[:, [model.label_classes().index(label) for label in np.unique(y)]])


def lightgbm_boosting(X: pd.DataFrame, y: np.ndarray, X_test: pd.DataFrame, seed: int) -> np.ndarray | None:
    try:
        import lightgbm
    except ImportError:
        return None
    train, test = plain_text(X), plain_text(X_test)
    for name in train.select_dtypes(exclude="number"):
        train[name] = train[name].astype("category")
        test[name] = test[name].astype(train[name].dtype)
    found: np.ndarray = (
        lightgbm.LGBMClassifier(random_state=seed, verbose=-1, n_jobs=1).fit(train, y).predict_proba(test)
    )
    return found


def plain_text(frame: pd.DataFrame) -> pd.DataFrame:
    """Numbered columns (names with signs that not every library takes), and text instead of categories."""
    plain = frame.set_axis([f"c{i}" for i in range(frame.shape[1])], axis=1)
    text = [name for name in plain if not pd.api.types.is_numeric_dtype(plain[name])]
    return plain.astype(dict.fromkeys(text, object))


PAPERS_ESTIMATE = {"bandwidth": 0.1, "boundary_weight": 1}
FAMILIES: dict[str, dict[str, Candidate]] = {
    "random-trees": {
        "default": ours(hr.RandomTreesClassifier),
        "tempered, leaves of 1": ours(hr.RandomTreesClassifier, min_samples_leaf=1),
        "tempered, leaves of 4": ours(hr.RandomTreesClassifier, min_samples_leaf=4),
        "probability": ours(hr.RandomTreesClassifier, rule="probability"),
        "probability, leaves of 1": ours(hr.RandomTreesClassifier, rule="probability", min_samples_leaf=1),
        "evidence": ours(hr.RandomTreesClassifier, rule="evidence"),
        "evidence as published": ours(hr.RandomTreesClassifier, rule="evidence-published"),
        "before: evidence, leaves of 1": ours(hr.RandomTreesClassifier, rule="evidence", min_samples_leaf=1),
    },
    "rules": {
        "default": ours(hr.RuleClassifier),
        **{rule: ours(hr.RuleClassifier, rule=rule) for rule in ("probability", "laplace", "evidence", "vote", "pool")},
    },
    "bootstrap": {
        "multinomial": ours(hr.ForestClassifier),
        "poisson": ours(hr.ForestClassifier, bootstrap="poisson"),
    },
    "forests": {
        "default": ours(hr.ForestClassifier),
        "not calibrated": ours(hr.ForestClassifier, calibration=None),
        "full trees": ours(hr.ForestClassifier, min_samples_split=2),
        "best splits": ours(hr.ForestClassifier, splitter="best"),
        "drawn splits": ours(hr.ForestClassifier, splitter="random"),
        "multiway splits": ours(hr.ForestClassifier, nominal="multiway"),
        "subset splits": ours(hr.ForestClassifier, nominal="subset"),
        "tempered evidence": ours(hr.ForestClassifier, rule="tempered"),
        "before": ours(hr.ForestClassifier, calibration=None, min_samples_split=2, splitter="best", nominal="multiway"),
    },
    "trees": {
        "default": ours(hr.TreeClassifier),
        "frequency": ours(hr.TreeClassifier, leaf_probability="frequency"),
        "laplace": ours(hr.TreeClassifier, leaf_probability="laplace"),
        **{f"m = {m}": ours(hr.TreeClassifier, leaf_probability=MEstimate(m)) for m in (1, 2, 4, 8)},
        **{f"shrinkage {m}": ours(hr.TreeClassifier, leaf_probability=Shrinkage(m)) for m in (10, 20, 50)},
        **{f"{m} folds": ours(hr.TreeClassifier, leaf_probability=Shrinkage(folds=m)) for m in (2, 5)},
        "leaves of 2": ours(hr.TreeClassifier, min_samples_leaf=2),
        "leaves of 5": ours(hr.TreeClassifier, min_samples_leaf=5),
        "confidence 0.1": ours(hr.TreeClassifier, pruning=Pessimistic(confidence=0.1)),
        "cost complexity": ours(hr.TreeClassifier, pruning="cost_complexity"),
        "criterion c45": ours(hr.TreeClassifier, criterion="c45"),
        "entropy": ours(hr.TreeClassifier, criterion="entropy"),
        "nominal binary": ours(hr.TreeClassifier, nominal="binary"),
        "C4.5": ours(hr.TreeClassifier.c45),
        "C4.5, shrinkage": ours(hr.TreeClassifier.c45, leaf_probability="shrinkage"),
        "CART": ours(hr.TreeClassifier.cart),
        "CART, shrinkage": ours(hr.TreeClassifier.cart, leaf_probability="shrinkage"),
    },
    "boundary": {
        "default": ours(hr.BoundaryClassifier),
        "its tree": ours(hr.TreeClassifier),
        "its tree, laplace": ours(hr.TreeClassifier, leaf_probability="laplace"),
        "the paper's": ours(hr.BoundaryClassifier, estimator=hr.TreeClassifier.c45(), **PAPERS_ESTIMATE),
        "the paper's, local": ours(
            hr.BoundaryClassifier, estimator=hr.TreeClassifier.c45(), partition="separator", **PAPERS_ESTIMATE
        ),
        "C4.5, laplace": ours(hr.TreeClassifier.c45, leaf_probability="laplace"),
        "the paper's, default tree": ours(hr.BoundaryClassifier, **PAPERS_ESTIMATE),
        "leave-one-out": ours(hr.BoundaryClassifier, bandwidth="cv", boundary_weight=1),
        "leave-one-out, mixed": ours(hr.BoundaryClassifier, bandwidth="cv"),
        "bandwidth 0.1": ours(hr.BoundaryClassifier, bandwidth=0.1),
        "bandwidth 0.1, half": ours(hr.BoundaryClassifier, bandwidth=0.1, boundary_weight=0.5),
        "separator": ours(hr.BoundaryClassifier, partition="separator"),
        "C4.5": ours(hr.BoundaryClassifier, estimator=hr.TreeClassifier.c45(leaf_probability="shrinkage")),
    },
}

PEERS: dict[str, Candidate] = {
    "scikit-learn forest": one_hot(RandomForestClassifier),
    "scikit-learn extra trees": one_hot(ExtraTreesClassifier),
    "scikit-learn boosting": one_hot(HistGradientBoostingClassifier),
    "ydf forest": ydf_forest,
    "lightgbm": lightgbm_boosting,
}
