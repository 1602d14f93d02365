"""Trees for measured inputs keep scikit-learn's contract and the family's own."""

from __future__ import annotations

from typing import Any

import pytest

from hedgerow import CautiousClassifier, MeasuredTreeClassifier, RuleClassifier, checks


@pytest.mark.parametrize("wrapper", [RuleClassifier, CautiousClassifier])
def test_wrappers_answer_a_row_alike_alone_and_among_others(wrapper: Any) -> None:
    soft = MeasuredTreeClassifier(0.1, max_leaf_nodes=8)
    checks.check_a_row_is_answered_alike_alone_and_among_others(wrapper(soft))
