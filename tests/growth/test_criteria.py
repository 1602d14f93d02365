"""A split criterion takes one entry in the core and one in Python: shown with one that no estimator offers.

Misclassification error took two places: a class with its line in the table of core/grow/criteria.hpp, and the entry of
`CRITERIA` that `misclassification` adds below.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from hedgerow import ForestClassifier, TreeClassifier
from hedgerow._core import Criterion, GrowOptions, TrainMissing, grow
from hedgerow._criteria import CRITERIA, SplitCriterion
from hedgerow.forest.importance import impurity_of, weighted_impurity


def error_rate(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    rates: NDArray[np.float64] = 1.0 - shares.max(axis=1)
    return rates


@pytest.fixture
def misclassification(monkeypatch: pytest.MonkeyPatch) -> str:
    entry = SplitCriterion(Criterion["misclassification"], "misclassification", error_rate)
    monkeypatch.setitem(CRITERIA, "misclassification", entry)
    return "misclassification"


def table() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Three classes by a noisy function of two of four columns."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    return X, np.digitize(X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=300), [0.0, 1.5])


def best_error_decrease(X: NDArray[np.float64], y: NDArray[np.int64]) -> float:
    """Largest decrease of training errors by one threshold, over all of them."""

    def errors(labels: NDArray[np.int64]) -> int:
        return len(labels) - int(np.bincount(labels, minlength=3).max())

    return max(
        errors(y) - errors(y[column <= threshold]) - errors(y[column > threshold])
        for column in X.T
        for threshold in np.unique(column)[:-1]
    )


def test_a_criterion_of_the_table_grows_trees(misclassification: str) -> None:
    X, y = table()
    tree = TreeClassifier(misclassification, max_depth=1, pruning=None).fit(X, y)
    errors = weighted_impurity(tree.forest_, misclassification)
    assert errors[0] - errors[1:].sum() == pytest.approx(best_error_decrease(X, y))
    assert tree.feature_importances_.sum() == pytest.approx(1)
    assert ForestClassifier(3, criterion=misclassification, random_state=0).fit(X, y).score(X, y) > 0.8


def test_a_criterion_is_known_only_by_the_table() -> None:
    X, y = table()
    for model in (TreeClassifier("misclassification"), ForestClassifier(2, criterion="misclassification")):
        with pytest.raises(ValueError, match=r"criterion is 'misclassification', must be one of 'gini', 'entropy'"):
            model.fit(X, y)
    with pytest.raises(ValueError, match="criterion is 'misclassification'"):
        impurity_of("misclassification")
    with pytest.raises(ValueError, match="impurity is 'misclassification', must be one of 'gini', 'entropy'"):
        weighted_impurity(TreeClassifier().fit(X, y).forest_, "misclassification")


@pytest.mark.parametrize("name", ["gain_ratio", "misclassification"])
def test_the_core_refuses_bins_for_criteria_that_need_exact_growth(name: str) -> None:
    X, y = table()
    options = GrowOptions()
    options.criterion, options.max_bins, options.missing = Criterion[name], 16, TrainMissing.random
    categories, weight = np.zeros(4, np.int32), np.ones(len(y))
    with pytest.raises(ValueError, match="can't be grown from bins"):
        grow(np.asfortranarray(X), categories, weight, y.astype(np.int32), None, 3, options, None)
