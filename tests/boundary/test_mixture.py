"""Mixtures of the boundary's estimate with the tree's own probabilities, chosen by rows that trees have not seen."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss
from sklearn.tree import DecisionTreeClassifier

from hedgerow import BoundaryClassifier, TreeClassifier, boundary, checks
from hedgerow.boundary import mixture
from hedgerow.data.training import Training
from hedgerow.estimators.fitting.held_out import held_out_weights

NAN = math.nan


def noisy(n: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 3))
    return X, np.digitize(X[:, 0] + X[:, 1] ** 2 + rng.normal(size=n) / 2, [0.5, 2])


@pytest.mark.parametrize("tree", [TreeClassifier(max_depth=4), DecisionTreeClassifier(max_depth=4, random_state=0)])
def test_the_answer_mixes_the_estimate_and_the_trees_own_probability(tree: Any) -> None:
    X, y = noisy(200)
    smooth, own, both = (
        BoundaryClassifier(tree, bandwidth=0.1, boundary_weight=weight).fit(X, y) for weight in (1, 0, 0.3)
    )
    np.testing.assert_array_equal(own.predict_proba(X), own.estimator_.predict_proba(X))
    expected = 0.3 * smooth.predict_proba(X) + 0.7 * own.predict_proba(X)
    np.testing.assert_allclose(both.predict_proba(X), expected, rtol=1e-12)
    assert both.boundary_weight_ == 0.3


def test_weight_and_bandwidth_have_the_least_loss_of_rows_that_trees_have_not_seen() -> None:
    X, y = noisy(240)
    model = BoundaryClassifier(TreeClassifier(max_depth=4)).fit(X, y)
    amount = model.estimator_.leaf_probability_
    table = Training(np.asfortranarray(X), np.zeros(3, dtype=np.int32), np.ones(240), y.astype(np.int32), None, 3)
    losses: dict[tuple[float, float], float] = {}
    for held_out in held_out_weights(table, 3, 0) > 0:
        for fraction in boundary.HeldOut().fractions:
            for weight in mixture.WEIGHTS:
                fold = BoundaryClassifier(
                    TreeClassifier(max_depth=4, leaf_probability=amount), bandwidth=fraction, boundary_weight=weight
                ).fit(X[~held_out], y[~held_out])
                loss = log_loss(y[held_out], fold.predict_proba(X[held_out]), normalize=False)
                losses[fraction, weight] = losses.get((fraction, weight), 0.0) + loss
    fraction, weight = min(losses, key=losses.__getitem__)
    assert model.boundary_weight_ == weight
    np.testing.assert_allclose(model.bandwidth_, fraction * np.ptp(model.algebraic_distance(X), axis=0))


def test_a_bandwidth_or_a_weight_can_be_given_alone() -> None:
    X, y = noisy(150)
    tree = TreeClassifier(max_depth=3)
    by_weight = BoundaryClassifier(tree, boundary_weight=0.25).fit(X, y)
    assert by_weight.boundary_weight_ == 0.25
    by_width = BoundaryClassifier(tree, bandwidth=boundary.Absolute(0.4)).fit(X, y)
    assert by_width.bandwidth_.tolist() == [0.4] * 3
    assert by_width.boundary_weight_ in mixture.WEIGHTS
    only = BoundaryClassifier(tree, bandwidth=boundary.HeldOut((0.07,), folds=2), boundary_weight=1).fit(X, y)
    same = BoundaryClassifier(tree, bandwidth=0.07, boundary_weight=1).fit(X, y)
    assert checks.outputs(only, X) == checks.outputs(same, X)


def test_a_frozen_tree_has_the_papers_bandwidth_and_half_of_the_weight() -> None:
    X, y = noisy(100)
    tree = TreeClassifier(max_depth=3).fit(X, y)
    default = BoundaryClassifier.from_fitted(tree, X, y)
    given = BoundaryClassifier.from_fitted(tree, X, y, bandwidth=0.1, boundary_weight=0.5)
    assert checks.outputs(default, X) == checks.outputs(given, X)


def test_frames_with_categories_and_missing_values_are_held_out_too() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"kind": rng.choice(list("abcd"), size=120), "size": rng.normal(size=120)})
    y = np.where((frame["kind"] == "a") | (frame["size"] > 0.5), "yes", "no")
    y[0] = "once"  # a class that no tree of two thirds and none of the held-out rows share
    frame.loc[::7, "size"] = NAN
    model = BoundaryClassifier().fit(frame, y)
    p = model.predict_proba(frame)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert (model.classes_[p.argmax(axis=1)] == model.predict(frame)).all()
    polars = BoundaryClassifier().fit(pl.from_pandas(frame), y)
    assert polars.boundary_weight_ == model.boundary_weight_
    np.testing.assert_array_equal(polars.predict_proba(pl.from_pandas(frame)), p)


def test_thresholds_of_the_default_tree_are_not_data_values() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    assert (BoundaryClassifier().fit(X, y).algebraic_distance(X) != 0).all()
