"""Trees for measured inputs keep scikit-learn's contract and the family's own."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from hedgerow import CautiousClassifier, MeasuredTreeClassifier, MeasuredTreeRegressor, RuleClassifier, checks

ESTIMATORS = [
    MeasuredTreeRegressor(),
    MeasuredTreeRegressor(0.2, "student", prior="flat", max_leaf_nodes=6),
    MeasuredTreeRegressor(0.2, risk="node", max_leaf_nodes=None, min_weight_leaf=8.0, nominal="binary"),
    MeasuredTreeRegressor(0.1, pruning="cost_complexity", max_leaf_nodes=6),
    MeasuredTreeClassifier(),
    MeasuredTreeClassifier(0.1, "laplace", leaf="counts", max_leaf_nodes=8),
    MeasuredTreeClassifier(0.1, prior="kde", max_leaf_nodes=8),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore:column .* has a variance of")
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learns_checks_pass(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(check, id=f"{estimator}-{name}")
        for estimator in ESTIMATORS
        for name, check in checks.contract_checks(estimator)
    ],
)
@pytest.mark.filterwarnings("ignore:column .* has a variance of")
def test_measured_trees_keep_the_contract(check: Any) -> None:
    check()


@pytest.mark.parametrize("wrapper", [RuleClassifier, CautiousClassifier])
def test_wrappers_answer_a_row_alike_alone_and_among_others(wrapper: Any) -> None:
    soft = MeasuredTreeClassifier(0.1, max_leaf_nodes=8)
    checks.check_a_row_is_answered_alike_alone_and_among_others(wrapper(soft))
